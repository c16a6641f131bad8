"""The tokenizer of a file in GGUF, which cuts a text as llama.cpp does (src/llama-vocab.cpp).

transformers builds one of the lists in a file. How text is split before pieces are merged, what is
put around it and where a text ends is set here.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Never

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers

from model.lines import quoted
from model.sources.gguf.header import Listed

KEY = "tokenizer.ggml"
# Kinds, as `tokenizer.ggml.model` names them.
BYTES, PIECES, UNIGRAM, PARTS = "gpt2", "llama", "t5", "gemma4"
# Lists without which text is cut in no known way; kinds of tokens may be missing, as in llama.cpp.
NEEDED = {
    BYTES: ("tokens", "merges"), PARTS: ("tokens", "merges"),
    PIECES: ("tokens", "scores"), UNIGRAM: ("tokens", "scores"),
}  # fmt: skip
EACH = ("token_type", "scores")  # have one entry for each token
TEXTS, NUMBERS, WHOLE_NUMBERS = "texts", "numbers", "whole numbers"

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
THREE = "[0-9][0-9][0-9]"
BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
UNSAID = (r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", THREE)
# How text is split before merging, by what `tokenizer.ggml.pre` says; each pattern splits what the
# one before it left. Those of transformers' own table stand there.
SPLITS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
         "mellum2"),
        (r"\p{N}", GPT2),
    ),
    "falcon": (r"[\p{P}\$\+<=>\^~\|`]+", GPT2, THREE),
    "default": UNSAID,
    **dict.fromkeys(("bloom", "poro-chat", "gpt3-finnish"), (BLOOM,)),
    "viking": (BLOOM, r"\p{N}"),
    "deepseek-coder": (
        r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥\u0800-一가-\ud7ff]+", r"\p{N}",
    ),
}  # fmt: skip
ALIKE = {  # kinds that split as another one of transformers' table does
    **dict.fromkeys(("glm4", "chatglm-bpe"), "llama3"),
    **dict.fromkeys(("stablelm2", "hunyuan", "solar-open", "grok-2"), "qwen2"),
}
LIKE_GPT2 = {
    "gpt-2", "phi-2", "mpt", "olmo", "jais", "jina-v1-en", "jina-v2-code", "jina-v2-de",
    "jina-v2-es", "jina-de", "jina-es", "roberta-bpe", "gigachat", "a.x-4.0", "mellum",
    "modern-bert", "exaone4", "trillion", "granite-docling",
}  # fmt: skip
LLAMA3 = {
    "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
    "jina-v5-nano",
}  # fmt: skip
STARTED = LLAMA3 | {"tekken", "chameleon"}  # which begin with a token unless a file says not
WHOLE = LLAMA3 | {"tekken", "minicpm5", "youtu", "granite-embed-multi-97m"}  # a word is one token

# Ids that hold where a file is silent.
USUAL: dict[str, dict[str, int]] = {
    PIECES: {"bos": 1, "eos": 2, "unknown": 0},
    UNIGRAM: {"eos": 1, "unknown": 2, "padding": 0},
}
ROLES = {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}
# Where a text ends: keys, and tokens by their text.
END_KEYS = ("eot", "eom", "fim_pad", "fim_rep", "fim_sep")
ENDS = (
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>",
    "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>",
    "<end_of_utterance>", "<eos>", "<turn|>", "<｜end▁of▁sentence｜>", "[e~[",
)  # fmt: skip
TAGGED, BETWEEN = {"<|return|>", "<|call|>"}, "<|end|>"  # with both, the last only parts messages

# What keys may say, of those that are read here, or by what transformers builds of a file.
MEANT: dict[str, str] = {
    "model": "a text", "pre": "a text", "tokens": TEXTS, "token_type": WHOLE_NUMBERS,
    "scores": NUMBERS, "merges": TEXTS,
    **{f"{role}_token_id": "a whole number" for role in (*ROLES, *END_KEYS)},
    **dict.fromkeys(("add_bos_token", "add_eos_token", "add_space_prefix"), "true or false"),
    "precompiled_charsmap": WHOLE_NUMBERS, "remove_extra_whitespaces": "true or false",
}  # fmt: skip
TYPES = {"a text": str, "a whole number": int, "true or false": bool}
READ = tuple(f"{KEY}.{name}" for name in MEANT)

Said = Mapping[str, Any]


def _word(said: Said, name: str) -> str:
    """What a key says in a word; empty where it is not there."""
    return str(said.get(f"{KEY}.{name}", ""))


def special_id(said: Said, role: str) -> int | None:
    """The id of a special token: as a file says, else as its kind has it; None for none."""
    usual = USUAL.get(_word(said, "model"), {}).get(role)
    return said.get(f"{KEY}.{role}_token_id", usual)


def special_ids(said: Said) -> dict[str, int]:
    """Ids of all special tokens that a file says, or has of its kind, by their keys."""
    ids = {f"{KEY}.{x}_token_id": special_id(said, x) for x in (*ROLES, *END_KEYS)}
    return {key: token_id for key, token_id in ids.items() if token_id is not None}


def refuse_odd(said: Said) -> None:
    """ValueError for a key that says what it cannot mean, or is needed and not there."""
    for name, meant in MEANT.items():
        if f"{KEY}.{name}" in said and not _is(said[f"{KEY}.{name}"], meant):
            _refuse(said, name, f"{'' if meant in TYPES else 'a list of '}{meant}")
    kind = _word(said, "model")
    if kind not in NEEDED:
        _refuse(said, "model", f"one of those that are read: {', '.join(NEEDED)}")
    for name in NEEDED[kind]:
        if f"{KEY}.{name}" not in said:
            _refuse(said, name, "")
    n = said[f"{KEY}.tokens"].n
    for name in EACH:
        if f"{KEY}.{name}" in said and said[f"{KEY}.{name}"].n != n:
            _refuse(said, name, f"as long as {KEY}.tokens, which has {n:,}")
    for key, token_id in special_ids(said).items():
        if not 0 <= token_id < n:
            _refuse(said, key.removeprefix(f"{KEY}."), f"a token, of which there are {n:,}")


def _is(value: object, meant: str) -> bool:
    if meant in TYPES:
        return type(value) is TYPES[meant]
    return isinstance(value, Listed) and value.of == meant


def _refuse(said: Said, name: str, must_be: str) -> Never:
    key = f"{KEY}.{name}"
    if key not in said:
        raise ValueError(f"its header has no {key}")
    raise ValueError(f"{key} is {quoted(str(said[key]))}; it must be {must_be}")


def end_ids(said: Said, known: Mapping[str, int]) -> list[int]:
    """All tokens that end a text. known: ids of those of `ENDS` that the vocabulary has."""
    by_key = [special_id(said, role) for role in ("eos", *END_KEYS)]
    is_tagged = known.keys() >= TAGGED
    by_text = [i for text, i in known.items() if not (is_tagged and text == BETWEEN)]
    return list(dict.fromkeys(i for i in (*by_key, *sorted(by_text)) if i is not None))


def oddities(said: Said) -> Iterator[str]:
    """What cannot be known of how text is cut, in words; nothing where all is."""
    pre, kind = _word(said, "pre"), _word(said, "model")
    other = "text may be cut into other tokens than those it was trained on"
    if kind == BYTES and pre not in known_kinds():
        how = f"{KEY}.pre is {quoted(pre)}, which is not known" if pre else f"it has no {KEY}.pre"
        yield f"{how}: {other}"
    if kind == UNIGRAM and said.get(f"{KEY}.remove_extra_whitespaces") is False:
        yield f"{KEY}.remove_extra_whitespaces is false, and they are removed here: {other}"


def known_kinds() -> set[str]:
    """All that `tokenizer.ggml.pre` of a byte-level vocabulary may say."""
    return {*SPLITS, *ALIKE, *LIKE_GPT2, *_table()}


def _table() -> dict[str, str]:
    """The patterns that transformers has."""
    reading: Any = import_module("transformers.integrations.gguf.gguf_tokenizer_mapping")
    return reading.GGUF_PRE_TOKENIZER_SPLITS


def build(file: Path, said: Said) -> Any:  # noqa: ANN401
    """A fast tokenizer of transformers. file: read as `reading.taken` lets it be."""
    from transformers import PreTrainedTokenizerFast

    backend, tokens = _built(file)
    kind = _word(said, "model")
    if kind == BYTES:
        set_split(backend, _word(said, "pre"))
    if kind == PIECES and not said.get(f"{KEY}.add_space_prefix", True):
        _without_space(backend)
    if kind == UNIGRAM:
        _normalise(backend, file)
    ids = {ROLES[role]: special_id(said, role) for role in ROLES}
    special = {name: None if i is None else tokens[i] for name, i in ids.items()}
    own = PreTrainedTokenizerFast(tokenizer_object=_Uncopied(backend), **special)
    own.add_bos_token, own.add_eos_token = _around(said)
    if isinstance(template := said.get("tokenizer.chat_template"), str):
        own.chat_template = template
    return own


def _built(file: Path) -> tuple[Tokenizer, list[str]]:
    """What the library makes of the lists, and the tokens; ValueError names the list."""
    reading: Any = import_module("transformers.integrations.gguf.gguf_tokenizer_mapping")
    try:
        architecture, lists, _ = reading.get_gguf_tokenizer(str(file))
    except UnicodeDecodeError as error:
        raise ValueError(f"{KEY}.tokens or {KEY}.merges is not UTF-8 ({error})") from None
    merges = lists.get("merges", ())
    try:
        backend, _ = reading.convert_gguf_tokenizer(architecture, lists)
    except Exception as error:  # whatever the packages make of merges that nobody can do
        odd = next((x for x in merges if x.count(" ") != 1), None)
        why = str(error) if odd is None else f"“{quoted(odd)}” in it is not two pieces"
        name = "merges" if merges else "tokens"
        raise ValueError(f"{KEY}.{name} cannot be used: {why}") from None
    return backend, lists["tokens"]


class _Uncopied:
    """A tokenizer whose copy it is itself: the library copies it, which takes seconds."""

    def __init__(self, backend: Tokenizer) -> None:
        self.backend = backend

    def __deepcopy__(self, _: object) -> Tokenizer:
        return self.backend


def _around(said: Said) -> tuple[bool, bool]:
    """Whether a token is put before a text, and one after it."""
    kind, pre = _word(said, "model"), _word(said, "pre")
    starts = kind in (PIECES, PARTS) or (kind == BYTES and pre in STARTED)
    is_started = kind == PARTS or said.get(f"{KEY}.add_bos_token", starts)
    return bool(is_started), bool(said.get(f"{KEY}.add_eos_token", kind == UNIGRAM))


def set_split(backend: Tokenizer, pre: str) -> None:
    """Split text before merging as a kind does, and take a word whole where the kind does."""
    table = _table()
    patterns = SPLITS.get(pre, ()) if pre in known_kinds() else UNSAID
    if pre in ALIKE:
        patterns = (table[ALIKE[pre]],)
    if patterns:
        parts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
        symbols = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        backend.pre_tokenizer = pre_tokenizers.Sequence([*parts, symbols])
    if pre in WHOLE:
        backend.model.ignore_merges = True


def _without_space(backend: Tokenizer) -> None:
    """Put no space before a text, and take none away when it is read back."""
    if isinstance(backend.pre_tokenizer, pre_tokenizers.Metaspace):
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    elif "Prepend" in str(backend.normalizer):
        backend.normalizer = normalizers.Replace(" ", "▁")
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )


def _normalise(backend: Tokenizer, file: Path) -> None:
    """Exchange characters by the table that sentencepiece was trained with, where a file has it."""
    reading: Any = import_module("transformers.integrations.gguf.reader")
    table = reading.read_gguf_metadata(str(file))[0].get(f"{KEY}.precompiled_charsmap")
    if table:
        backend.normalizer = normalizers.Precompiled(bytes(x % 256 for x in table))
