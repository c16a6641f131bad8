"""The tokenizer of a folder that transformers saved, or of a file in GGUF."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from model.adopted.python_tokenizer import PythonTokenizer
from model.adopted.tokenizer import AdoptedTokenizer
from model.data.tokenizer import read_backend
from model.files import LARGEST_TOKENIZER, is_gguf, read_json
from model.lines import spelled
from model.sources.folder import config_in, in_one_line

OF_TOKENIZER = r"(tokenizer(_config)?|vocab)\.json|vocab\.txt|.*\.(spm|model)"
OPTIONAL = {"tokenizer.json", "target_vocab.json"}


def adopted_tokenizer(own: Any, n_ids: int, start_id: int | None) -> AdoptedTokenizer:  # noqa: ANN401
    """A tokenizer of transformers for a model with so many ids, which begins a target so."""
    return (AdoptedTokenizer if own.is_fast else PythonTokenizer)(own, n_ids, start_id)


def tokenizer_in(
    hf: Any,  # noqa: ANN401
    folder: Path,
    n_ids: int,
    start_id: int | None,
) -> AdoptedTokenizer | None:
    """The folder's own, or what the library builds of its vocabulary; None where it has none."""
    options = {"local_files_only": True, "trust_remote_code": False}
    if is_gguf(folder):
        from model.sources.gguf import reading  # here, as in `about_gguf`

        own = reading.tokenizer_of(folder)
        with in_one_line(folder, "its tokenizer cannot be read"):
            return adopted_tokenizer(own, n_ids, start_id)
    about, file = folder / "tokenizer_config.json", folder / "tokenizer.json"
    names = {path.name for path in folder.iterdir() if path.is_file()}
    if not any(re.fullmatch(OF_TOKENIZER, name) for name in names):
        return None
    of_sentencepiece = [name for name in names if name.endswith((".spm", ".model"))]
    if of_sentencepiece and not file.is_file() and find_spec("sentencepiece") is None:
        raise ValueError(
            f"{spelled(folder)}: {sorted(of_sentencepiece)[0]} is read by the package "
            "sentencepiece, which is not installed; install it: pip install sentencepiece"
        )
    try:
        with in_one_line(folder, "its tokenizer cannot be read"):
            own = hf.AutoTokenizer.from_pretrained(folder, **options)
            if own.is_fast and file.is_file():
                kind = type(read_backend(file).model)
                if kind is not type(own.backend_tokenizer.model):  # but its family's usual one
                    own = hf.PreTrainedTokenizerFast(tokenizer_file=str(file))
            elif names.isdisjoint(own.vocab_files_names.values()):  # built of nothing
                return None
            highest = max(own.get_vocab().values(), default=0)
            if highest > 2 * n_ids:  # the library writes a list of all ids up to it
                raise ValueError(f"it has a token {highest:,}, and the model rows for {n_ids:,}")
            return adopted_tokenizer(own, n_ids, start_id)
    except ValueError:
        if about.is_file():
            read_json(about, LARGEST_TOKENIZER)  # the one that is damaged is named
        if file.is_file():
            read_backend(file)
        else:
            _refuse_lacking(hf, folder, names)
        raise


def _refuse_lacking(hf: Any, folder: Path, names: set[str]) -> None:  # noqa: ANN401
    """ValueError where files are not there that its class of tokenizer is built of."""
    about = folder / "tokenizer_config.json"
    said = read_json(about, LARGEST_TOKENIZER) if about.is_file() else {}
    own = getattr(hf, str(said.get("tokenizer_class")), None)
    kind = own or hf.TOKENIZER_MAPPING.get(hf.CONFIG_MAPPING[config_in(folder)["model_type"]], None)
    lacking = set(getattr(kind, "vocab_files_names", {}).values()) - names - OPTIONAL
    if lacking:
        raise ValueError(
            f"{spelled(folder)} has no tokenizer.json, nor {' and '.join(sorted(lacking))}; copy "
            "the whole folder"
        ) from None
