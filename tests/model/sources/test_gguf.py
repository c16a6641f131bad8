"""Protects files in GGUF: they open as folders do, or one line says why not, before any weight."""

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import run
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers as hf
from safetensors.torch import load_file, save
from tokenizers import pre_tokenizers

from headlight import opening
from model.__main__ import main
from model.commands import check
from model.files import GGUF
from model.sources import converted, places, table
from model.sources.folder import refuse_unopenable
from model.sources.gguf import reading, tokenizer
from model.sources.keys import passed_over
from model.sources.places import HOME, WHERE
from model.sources.table import open_named, open_runnable
from model.sources.transformers import get_ready
from model.verify.check import relative_error
from tests.model.adopted.families import tokens
from tests.model.adopted.gguf_families import GGUF_FAMILIES, YARN
from tests.model.adopted.gguf_files import written
from tests.model.conftest import Command

TEXT = "the red ball gave a dog"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written(tmp_path / "little.Q8_0.gguf", "llama", kind="Q8_0")
    return tmp_path / "little.Q8_0.gguf"


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_1", "BF16"])
def test_logits_are_those_of_the_model_that_was_written(kind: str, tmp_path: Path) -> None:
    expected = written(tmp_path / "little.gguf", "llama", kind=kind)
    model = open_runnable(str(tmp_path / "little.gguf"), "cpu")
    assert model.off == ()
    trace = model.trace(TEXT).trace
    given = {"pretrained_model_name_or_path": tmp_path, "gguf_file": "little.gguf"}
    theirs = hf.AutoModelForCausalLM.from_pretrained(**given, dtype=torch.float32).state_dict()
    ours = model.model.inner.state_dict()
    assert all(torch.equal(theirs[name], weight) for name, weight in ours.items())
    own = hf.AutoTokenizer.from_pretrained(**given)
    assert trace.ids.tolist() == own(TEXT)["input_ids"] and "".join(trace.tokens) == TEXT
    with torch.inference_mode():
        found = expected(torch.tensor([trace.ids.tolist()]), output_attentions=True)
    np.testing.assert_allclose(trace.logits, found.logits[0], atol=1e-5)
    patterns = [record.pattern for record in trace.groups[0].records]
    np.testing.assert_allclose(patterns, torch.cat(found.attentions), atol=1e-6)


@pytest.mark.parametrize("family", GGUF_FAMILIES)
def test_a_file_of_each_family_opens_as_the_model_that_was_written(
    family: str, tmp_path: Path
) -> None:
    expected = written(file := tmp_path / "little.gguf", family)
    model = open_runnable(str(file), "cpu")
    assert model.off == ()
    given = {"input_ids": (ids := torch.randperm(250, generator=torch.manual_seed(3))[None, :40])}
    if expected.config.is_encoder_decoder:
        given["decoder_input_ids"] = ids[:, 5:30]
    with torch.inference_mode():
        theirs = expected(**given, use_cache=False)
        ours = model.model(tuple(given.values()) if len(given) > 1 else ids)
    assert relative_error(ours.numpy(), theirs.logits.numpy()) < 1e-5
    assert [*passed_over(reading.read(file).config, model.model.inner)] == []
    loaded = open_named(str(file), "cpu")
    assert all(one.passed for one in loaded.check(loaded.trace(f"{TEXT} {TEXT}").trace))


# Ways of a header that mean what another one does, with what the model in memory has for it.
ALIKE_HEADERS: list[tuple[str, dict[str, Any]]] = [
    ("llama linear", {"without": ["llama.rope.scaling.type", "llama.rope.scaling.factor"],
                      "header": {"llama.rope.scale_linear": 4.0}}),
    ("llama3", {"header": {"llama.rope.scaling.type": "linear"}}),
    # attn_factor comes on top of what YaRN does by itself, 1 + 0.1 ln 4 = 1.1386294, or is told.
    ("llama yarn", {"without": ["llama.rope.scaling.yarn_attn_factor"],
                    "header": {"llama.rope.scaling.attn_factor": 1.25},
                    "rope_parameters": {**YARN, "attention_factor": 1.25 * 1.1386294361}}),
    ("llama yarn", {"header": {"llama.rope.scaling.attn_factor": 1.25,
                               "llama.rope.scaling.yarn_attn_factor": 0.8},
                    "rope_parameters": {**YARN, "attention_factor": 1.0}}),
    ("gemma3", {"header": {"gemma3.final_logit_softcapping": 0.0},
                "final_logit_softcapping": None}),
    ("gemma3", {"without": ["gemma3.attention.sliding_window"],
                "layer_types": ["full_attention"] * 7}),
    ("gemma3", {"header": {"gemma3.attention.sliding_window_pattern": 0},
                "layer_types": ["sliding_attention"] * 7}),
    ("qwen3", {"header": {"qwen3.attention.head_count_kv": [2, 2, 2]}}),
]  # fmt: skip


@pytest.mark.parametrize(("family", "given"), ALIKE_HEADERS)
def test_a_header_says_the_same_in_other_words(
    family: str, given: dict[str, Any], tmp_path: Path
) -> None:
    expected = written(file := tmp_path / "little.gguf", family, **given)
    loaded = open_named(str(file), "cpu")
    trace = loaded.trace(f"{TEXT} {TEXT}").trace
    with torch.inference_mode():
        logits = expected(torch.tensor([trace.ids.tolist()])).logits[0]
    assert relative_error(trace.output, logits.numpy()) < 1e-5
    assert loaded.off == () and all(one.passed for one in loaded.check(trace))


def test_a_scale_of_all_pairs_comes_on_top_of_that_of_each(tmp_path: Path) -> None:
    scaled = {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}
    written(file := tmp_path / "little.gguf", "llama3", header=scaled)
    about = reading.read(file)
    expected = [4.0 * float(x) for x in about.factors["rope_freqs.weight"]]
    assert about.config["rope_parameters"]["short_factor"] == pytest.approx(expected)
    loaded = open_named(str(file), "cpu")
    assert all(one.passed for one in loaded.check(loaded.trace(TEXT).trace))


def test_files_are_read_at_once_and_the_packages_are_as_before(tmp_path: Path) -> None:
    own = [getattr(module, name) for module, name, _ in reading._quicker()]
    for name in ("llama", "qwen2"):
        written(tmp_path / name, name)
    inside, outside = Event(), Event()

    def hold() -> None:
        with reading.taken(tmp_path / "qwen2"):
            inside.set()
            outside.wait()

    other = Thread(target=hold)
    with reading.taken(tmp_path / "llama"):
        other.start()
        inside.wait()
    assert [getattr(module, name) for module, name, _ in reading._quicker()] != own
    outside.set()
    other.join()
    assert [getattr(module, name) for module, name, _ in reading._quicker()] == own


# The package imports its first module, and waits until another thread waits for the package.
IMPORTED_TWICE = """
import builtins, sys, threading
from pathlib import Path
from model.sources.folder import config_in
from model.sources.transformers import _transformers
own, faults = builtins.__import__, []
def read():
    try: print(config_in(Path(sys.argv[1]))["model_type"], _transformers().PreTrainedModel.__name__)
    except BaseException as fault: faults.append(fault)
other = threading.Thread(target=read)
def waiting(name, globals=None, *more, **named):
    if (globals or {}).get("__name__") == "transformers" and not other.ident:
        other.start()
        while other.is_alive() and "_ModuleLock" not in stack(): pass
    return own(name, globals, *more, **named)
def stack():
    frame, names = sys._current_frames().get(other.ident), []
    while frame:
        names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return " ".join(names)
builtins.__import__ = waiting
import transformers
other.join()
for fault in faults: raise fault
"""


def test_a_file_is_read_while_the_library_is_being_imported(file: Path) -> None:
    done = run([sys.executable, "-c", IMPORTED_TWICE, file], capture_output=True, text=True)
    assert (done.stderr, done.stdout) == ("", "llama PreTrainedModel\n")


NO_PLACE = {"blk.0.attn_q.bias": (64,), "blk.2.ffn_up.weight": (64, 32)}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (
            {"beside": {name: np.ones(size, np.float32)}},
            f"no place in the model that its header means: its tensors {name}",
        )
        for name, size in NO_PLACE.items()
    ]
    + [
        ({"header": {"llama.logit_scale": 0.25}}, "says llama.logit_scale = 0.25, which is not"),
        ({"header": {"llama.rope.scaling.alpha": 1.5}}, "says llama.rope.scaling.alpha = 1.5, wh"),
        (
            {"header": {"tokenizer.ggml.pre": "odd"}},
            "tokenizer.ggml.pre is odd, which is not known",
        ),
        ({"without": ["tokenizer.ggml.pre"]}, "it has no tokenizer.ggml.pre: text may be cut into"),
    ],
)
def test_what_has_no_place_is_named_and_check_ends_with_one(
    given: dict[str, Any], named: str, tmp_path: Path, command: Command
) -> None:
    written(tmp_path / "little.gguf", "llama", **given)
    result = command(check, "--checkpoint", tmp_path / "little.gguf")
    off = [line for line in result.out if line.startswith("OFF ")]
    assert len(off) == 1 and named in off[0] and result.code == 1


def _cut(file: Path, text: str, **said: object) -> list[str]:
    """The pieces of a text, whose vocabulary has a word that no merge makes."""
    model = json.loads(tokens().backend_tokenizer.to_str())["model"]
    names = [*model["vocab"]][:-1]
    merges = [" ".join(pair) for pair in model["merges"] if "".join(pair) in names]
    key = "tokenizer.ggml"
    more = {f"{key}.tokens": [*names, "abcd"], f"{key}.merges": merges, f"{key}.bos_token_id": 0}
    written(file, "llama", header={**more, **{f"{key}.{x}": value for x, value in said.items()}})
    own = open_named(str(file), "cpu").tokenizer
    return list(own.token_strings(own.encode(text)))


@pytest.mark.parametrize(
    ("said", "text", "expected"),
    [
        ({"pre": "llama-bpe"}, "abcd", ["</s>", "abcd"]),
        ({"pre": "llama-bpe", "add_bos_token": False}, "abcd", ["abcd"]),
        ({"pre": "gpt-2"}, "abcd", ["a", "b", "c", "d"]),
        ({"pre": "gpt-2", "add_bos_token": True}, "a", ["</s>", "a"]),
        ({"pre": "gpt-2", "add_eos_token": True}, "a", ["a", "</s>"]),
    ],
)
def test_what_stands_around_a_text_is_as_llama_cpp_has_it(
    said: dict[str, object], text: str, expected: list[str], tmp_path: Path
) -> None:
    assert _cut(tmp_path / "little.gguf", text, **said) == expected


def test_a_text_ends_where_keys_and_tokens_say() -> None:
    said = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.eos_token_id": 9}
    said["tokenizer.ggml.eot_token_id"] = 4
    known = {"<|im_end|>": 7, "<|end|>": 5}
    assert tokenizer.end_ids(said, known) == [9, 4, 5, 7]
    assert tokenizer.end_ids({}, {**known, "<|return|>": 3}) == [3, 5, 7]
    of_messages = {"<|return|>": 3, "<|call|>": 8, "<|end|>": 5}  # the last parts messages alone
    assert tokenizer.end_ids({}, of_messages) == [3, 8]


# How kinds split where they differ: digits, what is before them, brackets, quotes, line ends.
PARTS = "a  12 (1234) 'tis\n\n x=1.5"
CUTS = {
    "gpt-2": "a| | 12| (|1234|)| '|tis|\n\n| x|=|1|.|5",
    "smollm": "a|  |1|2| (|1|2|3|4|)| '|tis|\n\n| x|=|1|.|5",
    "falcon": "a| | 12| |(|123|4|)| |'|tis|\n\n| x|=|1|.|5",
    "default": "a| | |12| |(|123|4|)| |'|tis|\n\n| x|=|1|.|5",
    "bloom": "a| | 12| (|1234|)| 'tis|\n\n| x=1|.|5",
    "viking": "a| | |1|2| (|1|2|3|4|)| 'tis|\n\n| x=|1|.|5",
    "deepseek-coder": "a|  |1|2| (|1|2|3|4|)| '|tis|\n|\n| x|=|1|.|5",
    "glm4": "a| | |12| (|123|4|)| '|tis|\n\n| x|=|1|.|5",
    "stablelm2": "a| | |1|2| (|1|2|3|4|)| '|tis|\n\n| x|=|1|.|5",
}


@pytest.mark.parametrize("pre", CUTS)
def test_text_is_split_as_its_kind_does(pre: str, tmp_path: Path) -> None:
    written(file := tmp_path / "little.gguf", "llama", header={"tokenizer.ggml.pre": pre})
    model = open_named(str(file), "cpu")
    assert model.off == ()
    parts = model.tokenizer.backend.pre_tokenizer.pre_tokenize_str(PARTS)
    assert (
        "|".join(part for part, _ in parts).translate({ord("Ġ"): " ", ord("Ċ"): "\n"}) == CUTS[pre]
    )


def test_a_kind_of_one_digit_each_splits_as_its_folder_does() -> None:
    """Folders of SmolLM2 have `Digits` where the header names a kind."""
    backend = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.set_split(backend, "smollm")
    folder = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    odd = [
        " ",
        "  ",
        "\n",
        "12",
        "3.14",
        "½",
        "²",
        "٣٤",
        "a",
        "don't",
        "é",
        "日本",
        "😀",
        "(",
        "x = ",
    ]
    for one, other, third in itertools.product(odd, repeat=3):
        text = f"{one}{other}{third}{one}"
        assert backend.pre_tokenizer.pre_tokenize_str(text) == folder.pre_tokenize_str(text)


def test_a_header_is_read_once_and_no_tokenizer_is_copied(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, written, header = [], [], reading._Header
    monkeypatch.setattr(reading, "_Header", lambda place: (read.append(place), header(place))[1])
    copy = tokenizers.Tokenizer.to_str
    monkeypatch.setattr(
        "tokenizers.Tokenizer.to_str", lambda *given: (written.append(1), copy(*given))[1]
    )
    open_named(str(file), "cpu")
    assert (read, written) == ([str(file)], [])


def test_a_file_is_offered_and_opens_by_its_name(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(file.parent / "home"))
    imported: list[str] = []
    monkeypatch.setattr("model.sources.transformers.import_module", imported.append)
    get_ready()
    assert imported == []  # nobody needs the library
    monkeypatch.setenv(WHERE, str(file.parent))
    get_ready()
    assert "transformers.modeling_utils" in imported
    handle = table.handle_of("little.Q8_0.gguf", "cpu")
    assert (handle.source, table.architecture_of(handle)) == ("transformers", "decoder")
    said = ("llama", "0.0 M", "2 × 4", "weights of Q8_0, dequantised")
    assert table.described(handle)[::3] == said[::3] and table.described(handle)[2] == said[2]
    report = [one.text for one in table.open_model(handle).report]
    assert any(text.startswith(f"{said[3]}: its tensors are 16 Q8_0, 5 F32") for text in report)
    blob = file.rename(file.parent / "sha256-0a1b")  # as Ollama calls it
    monkeypatch.delenv(WHERE)
    assert opening.address(str(blob), None) == {"model": "sha256-0a1b"}
    assert places.remembered() == [blob] and open_named(str(blob), "cpu").offers >= {"decoder"}
    assert table.handle_of("sha256-0a1b", "cpu").revision != handle.revision


def test_a_copy_is_kept_where_it_is_wanted_and_gives_the_same(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(HOME, str(home := file.parent / "home"))
    first = open_runnable(str(file), "cpu")
    expected = first.trace(TEXT).trace
    assert not home.exists()  # nothing is written unasked
    assert converted.is_to_be_kept(first)
    converted.keep(first)
    assert not converted.is_to_be_kept(first)
    copy = converted.kept(file)
    assert copy is not None and [copy] == list((home / "converted").iterdir())
    monkeypatch.setattr(reading, "dequantize", None)  # it is not called
    again = open_runnable(str(file), "cpu")
    found = again.trace(TEXT).trace
    assert (found.tokens, again.report) == (expected.tokens, first.report)
    np.testing.assert_array_equal(found.logits, expected.logits)
    monkeypatch.undo()
    monkeypatch.setenv(HOME, str(home))
    own = load_file(weights := copy / "model.safetensors")
    cut = save({**own, "model.norm.weight": torch.ones(3)}, {"format": "pt"})
    for damaged in (b"cut", cut):
        weights.write_bytes(damaged)
        report = open_named(str(file), "cpu").report
        (said,) = {x.text for x in report} - {x.text for x in first.report}
        assert said.startswith("its converted copy could not be read") and not copy.exists()
        converted.keep(first)
    written(file, "llama", kind="Q4_1")
    assert converted.kept(file) is None  # it is of another file
    copy.with_name(f"{copy.name}.7.new").mkdir()  # of a process that was killed
    converted.keep(open_runnable(str(file), "cpu"))
    assert [converted.kept(file)] == list((home / "converted").iterdir())
    with pytest.raises(SystemExit):
        main([])
    n_bytes = sum(path.stat().st_size for path in places.copies().glob("*/*"))
    assert f"{n_bytes / 1e6:.1f} MB in {places.copies()} are" in capsys.readouterr().out


def test_no_copy_is_begun_that_has_no_room(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(file.parent / "home"))
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=5e6))
    with pytest.raises(ValueError, match=r"a copy needs 100 MB in .*, and 5 MB are free"):
        converted.keep(open_named(str(file), "cpu"))
    assert list((file.parent / "home" / "converted").iterdir()) == []
    monkeypatch.setenv(HOME, str(file))
    with pytest.raises(ValueError, match=r"^cannot write .*converted: Not a directory; choose"):
        converted.keep(open_named(str(file), "cpu"))


def _said(key: str, value: object) -> Callable[[Path], object]:
    return lambda file: written(file, "llama", kind="Q8_0", header={key: value})


def _lacking(key: str) -> Callable[[Path], object]:
    return lambda file: written(file, "llama", kind="Q8_0", without=[key])


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(change(file.read_bytes()))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (_bytes(lambda x: b""), "does not begin as GGUF does; copy it again"),
    "Git LFS": (
        _bytes(lambda x: b"version https://git-lfs.github.com/spec/v1\nsize 98362432\n"),
        "pointer of Git LFS to a file of 98 MB; run git lfs pull",
    ),
    "cut": (_bytes(lambda x: x[:-100]), "it may be cut, copy it again"),
    "cut in its header": (_bytes(lambda x: x[:700]), "it may be cut, copy it again"),
    "cut in its tokens": (_bytes(lambda x: x[:3000]), "it may be cut, copy it again"),
    "far too many": (_bytes(lambda x: x[:16] + bytes([255] * 8) + x[24:]), "it may be cut, copy"),
    "version": (_bytes(lambda x: GGUF + bytes([1, 0, 0, 0]) + x[8:]), "of version 1 of GGUF, and"),
    "family": (
        _said("general.architecture", "zork"),
        "zork is no architecture that is opened from GGUF; these are: gemma2, gemma3, ",
    ),
    "part": (_said("split.count", 3), "one of 3 parts; join them and open what you get: ll"),
    "adapter": (_said("general.type", "adapter"), "holds no model but its adapter; open the"),
    "too deep": (_said("llama.block_count", 10**6), "1,000,000 layers, and its weights are 21"),
}


TOKENS = "tokenizer.ggml"
# Keys of the tokenizer that say what they cannot mean; None: that are not there.
ODD_TOKENS: list[tuple[str, object, str]] = [
    ("model", None, f"its header has no {TOKENS}.model"),
    ("model", "bert", f"{TOKENS}.model is bert; it must be one of those that are read: gpt2, gem"),
    ("pre", 7, f"{TOKENS}.pre is 7; it must be a text"),
    ("tokens", None, f"its header has no {TOKENS}.tokens"),
    ("tokens", "a b", f"{TOKENS}.tokens is a b; it must be a list of texts"),
    ("tokens", [1, 2], f"{TOKENS}.tokens is a list of 2 whole numbers; it must be a list of texts"),
    ("merges", None, f"its header has no {TOKENS}.merges"),
    ("merges", [0.5], f"{TOKENS}.merges is a list of 1 numbers; it must be a list of texts"),
    ("token_type", [1] * 9, f"{TOKENS}.token_type is a list of 9 whole numbers; it must be as lo"),
    ("token_type", ["a"], f"{TOKENS}.token_type is a list of 1 texts; it must be a list of whole"),
    ("scores", [0.5] * 9, f"{TOKENS}.scores is a list of 9 numbers; it must be as long as "),
    ("model", "llama", f"its header has no {TOKENS}.scores"),
    ("add_bos_token", "yes", f"{TOKENS}.add_bos_token is yes; it must be true or false"),
    ("add_eos_token", 1, f"{TOKENS}.add_eos_token is 1; it must be true or false"),
    ("add_space_prefix", 0.5, f"{TOKENS}.add_space_prefix is 0.5; it must be true or false"),
    ("bos_token_id", "one", f"{TOKENS}.bos_token_id is one; it must be a whole number"),
    ("unknown_token_id", 0.5, f"{TOKENS}.unknown_token_id is 0.5; it must be a whole number"),
    ("eot_token_id", 999, f"{TOKENS}.eot_token_id is 999; it must be a token, of which there ar"),
]  # fmt: skip
BROKEN |= {
    f"{key} {value}": (
        _said(f"{TOKENS}.{key}", value) if value is not None else _lacking(f"{TOKENS}.{key}"),
        expected,
    )
    for key, value, expected in ODD_TOKENS
}


@pytest.mark.parametrize("name", [*BROKEN, "too large"])
def test_a_broken_file_is_one_line_and_no_weight_is_read(
    name: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, expected = BROKEN.get(name, (Path.exists, "GB in float32 while they are dequantised"))
    change(file)
    free = 1e5 if name == "too large" else 1e9
    monkeypatch.setattr("model.sources.transformers.free_on", lambda device: free)
    monkeypatch.delattr("model.sources.transformers.as_transformers_reads")
    lines = []
    for way in (open_named, lambda place: refuse_unopenable(places.given_folder(place), free)):
        with pytest.raises(ValueError) as caught:
            way(str(file))
        lines.append(str(caught.value))
    assert expected in lines[0] and lines[0] == lines[1]
    assert "\n" not in lines[0] and len(lines[0]) < 500


@pytest.mark.parametrize(
    ("merges", "expected"),
    [
        (["abc"], "“abc” in it is not two pieces"),
        (["a b c"], "“a b c” in it is not two pieces"),
        (["a zork"], "Token `zork` out of vocabulary"),
    ],
)
def test_merges_that_cannot_be_done_are_one_line(
    merges: list[str], expected: str, tmp_path: Path
) -> None:
    written(file := tmp_path / "my.gguf", "llama", header={f"{TOKENS}.merges": merges})
    with pytest.raises(ValueError) as caught:
        open_named(str(file), "cpu")
    line = str(caught.value)
    assert line.startswith(f"{file}: {TOKENS}.merges cannot be used: ") and expected in line
    assert line.endswith(f"; {reading.OWN_FORMAT}") and "\n" not in line


def test_kinds_of_tokens_may_be_missing(tmp_path: Path) -> None:
    written(file := tmp_path / "my.gguf", "llama", without=[f"{TOKENS}.token_type"])
    model = open_named(str(file), "cpu")
    assert model.off == () and model.trace(TEXT).trace.tokens


def test_without_its_packages_one_line_says_how_to_get_them(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.sources.folder.find_spec", lambda name: None)
    line = r"pip install transformers==5\.23\.0 gguf==0\.19\.0 accelerate==1\.15\.0$"
    with pytest.raises(ValueError, match=line):
        open_named(str(file), "cpu")
