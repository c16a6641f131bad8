"""Folders that transformers saves, of any family whose attention can be seen.

transformers itself builds the model and reads its weights; no code of a folder runs, nothing is
unpickled and nothing is fetched.
"""

import logging
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import nn

from model import progress
from model.adopted.adopt import adopt
from model.adopted.model import AdoptedModel
from model.adopted.pictures import FILE as PREPROCESSOR
from model.adopted.pictures import USUAL, pictures_of
from model.device import choose_device, free_on
from model.files import is_gguf
from model.lines import in_millions, quoted, spelled
from model.sources import converted, nanogpt
from model.sources.adopted import Adopted
from model.sources.folder import (
    INDEX,
    SIZES,
    VERSION,
    WHOLE,
    about_gguf,
    class_name,
    config_in,
    declared_in,
    in_one_line,
    kind_of,
    n_numbers,
    reads_chats,
    refuse_unopenable,
    stored_in,
    templates_in,
)
from model.sources.hub import FETCHED
from model.sources.keys import passed_over
from model.sources.loaded import (
    UNSEEN,
    in_files,
    of_layers,
    of_rules,
    of_run,
    of_vocabulary,
    plain_output,
)
from model.sources.places import WHERE, folders, is_of_transformers
from model.sources.tokenizers import adopted_tokenizer, tokenizer_in
from model.sources.weights import named
from model.verify.check import Finding

LOST_COPY = "its converted copy could not be read, so the file itself was; the copy is removed"
_BUILDING = Lock()  # the library builds without memory in all threads at once, where one does
PREFIXES = r"^((_orig_mod|module)\.)+"  # of a model that was compiled or wrapped when saved


class TransformersSource:
    """Folders whose config.json is one of transformers."""

    def names(self) -> list[str]:
        """Names of the folders found."""
        return [name for name, folder in folders().items() if is_of_transformers(folder)]

    def revision(self, name: str) -> str:
        """What changes with config, weights or tokenizer; ValueError when there is no such one."""
        folder = _folder(name)
        every = [folder] if is_gguf(folder) else sorted(folder.iterdir())
        files = (x for x in every if x == folder or any(map(x.match, FETCHED)))
        return " ".join(f"{x.name}.{x.stat().st_mtime_ns}.{x.stat().st_size}" for x in files)

    def architecture(self, name: str) -> str:
        """What its class or the sizes in its config say; empty where they say nothing.

        An encoder fills blanks: one whose tokenizer hides nothing is none.
        """
        kind = kind_of(config_in(_folder(name)))
        return "" if kind == "encoder" and not _can_hide(_folder(name)) else kind

    def described(self, name: str) -> tuple[str, ...]:
        """Its family, parameters, layers × heads, and what memory much needs, by headers alone."""
        folder = _folder(name)
        config, stored = config_in(folder), stored_in(folder)
        n_parameters = n_numbers(stored)
        size = [f"{4e-9 * n_parameters:.1f} GB in float32"] if n_parameters > 1e8 else []
        sizes = [config.get(names[0], config.get(names[1])) for names in SIZES]
        heads = [" × ".join(map(str, sizes))] if all(isinstance(n, int) for n in sizes) else []
        if kind_of(config) == "vision" and not (folder / PREPROCESSOR).is_file():
            size.append(f"no {PREPROCESSOR}: mean and deviation {USUAL}")
        if about := about_gguf(folder):
            size.append(about.weights)
        return (str(config["model_type"]), in_millions(n_parameters), *heads, *size)

    def has_template(self, name: str) -> bool:
        """Whether its files have a template of chats."""
        return reads_chats(_folder(name))

    def folder(self, name: str) -> Path:
        """Where it lies."""
        return _folder(name)

    def open(self, name: str, device: str) -> Adopted:
        """See `load`."""
        return load(_folder(name), device)


def get_ready() -> None:
    """Import what takes seconds to import, where there are models that need it."""
    with suppress(ValueError):  # whoever opens one is told
        if TransformersSource().names():
            _import_library()


def _import_library() -> None:
    with suppress(ImportError):  # whoever needs it is told
        for name in ("", ".modeling_utils", ".generation.utils"):
            import_module(f"transformers{name}")


def load(folder: Path, device: str = "auto") -> Adopted:
    """Open a folder of transformers, in float32.

    Raises ValueError, one line with cause and remedy, for what cannot be opened or seen.
    """
    progress.begin(progress.READING, "Loading transformers")
    _import_library()
    progress.begin(progress.READING, "Reading its header")
    where = choose_device(device)
    config = refuse_unopenable(folder, free_on(where))
    hf = _transformers()
    kind = _class_of(hf, folder, config)
    with in_one_line(folder, "it cannot be opened"):
        _refuse_larger(hf, kind, folder)
    inner, loading = as_transformers_reads(kind, folder)
    if mismatched := sorted(map(str, loading["mismatched_keys"])):
        raise ValueError(
            f"{spelled(folder)}: {len(mismatched)} weights have other shapes than its config "
            f"means, as {quoted(mismatched[0])}; the two belong to different models"
        )
    progress.begin(progress.CHECKING, "Checking")
    sees = inner.main_input_name == "pixel_values"
    if not sees:
        _refuse_other_than_text(inner, spelled(folder))
    with in_one_line(folder, "its pictures cannot be made ready"):
        pictures = pictures_of(folder, inner.config) if sees else None
    notes = [
        *in_files(inner, loading),
        *_of_names(folder),
        *_of_index(folder),
        *_of_gguf(folder, inner),
        *(Finding(LOST_COPY) for _ in loading.get("lost_copy", ())),
        *_of_code(config, kind),
        *_of_templates(folder),
        *(() if is_gguf(folder) else passed_over(config, inner)),
        *of_rules(inner),
    ]
    inner = inner.to(where)
    with in_one_line(folder, "it does not run"):
        plain = plain_output(inner, pictures and pictures.side)
    model = adopt(inner, pictures)
    ran = [*of_layers(model), *of_run(model, plain)]
    progress.begin(progress.TOKENIZER, "Reading its tokenizer")
    n_rows = model.facts.vocab_size or 0
    tokenizer = tokenizer_in(hf, folder, n_rows, _start_id(model))
    # Of GGUF both come of one list, and the library adds a token that its class has by default.
    if tokenizer is not None and not is_gguf(folder):
        notes.extend(of_vocabulary(n_rows, tokenizer.n_tokens))
    if kind is hf.AutoModel:
        notes.append(Finding("config.json names no class of transformers with a head: it has none"))
    declared = declared_in(folder, config)
    if declared is None:
        text = f"what its files say of attention in {quoted(config['model_type'])!r} is not known"
        notes.append(Finding(f"{text} here: it is not checked beside transformers"))
    report = (*notes, *ran, UNSEEN)
    return Adopted(folder.name, folder, model, tokenizer, report, declared)


def lent(inner: Any, own: Any) -> Adopted:  # noqa: ANN401
    """Open a model of transformers that is in memory, where it is, with its tokenizer.

    It is put to evaluation; all else of it, as which weights are trained, stays as it is.
    ValueError where it cannot be opened or seen.
    """
    is_compiled = hasattr(inner, "_orig_mod")
    inner = inner._orig_mod if is_compiled else inner
    name = type(inner).__name__
    if not isinstance(inner, nn.Module) or not hasattr(inner, "main_input_name"):
        raise ValueError(f"{name} is no model of transformers; give one, a folder, or a name")
    if hasattr(inner, "peft_type") or any(hasattr(x, "base_layer") for x in inner.modules()):
        raise ValueError(
            f"{name} has adapters of peft that are not merged; give what "
            "copy.deepcopy(model).merge_and_unload() gives"
        )
    if not hasattr(own, "is_fast"):
        raise ValueError(f"{name} needs its tokenizer: AutoTokenizer.from_pretrained(FOLDER)")
    if inner.dtype != torch.float32:
        raise ValueError(f"{name} computes in {inner.dtype}; give copy.deepcopy(model).float()")
    _refuse_other_than_text(inner, name)
    trained = [weight for weight in inner.parameters() if weight.requires_grad]
    try:
        model = adopt(inner)
    finally:
        for weight in trained:
            weight.requires_grad_(True)
    tokenizer = adopted_tokenizer(deepcopy(own), model.facts.vocab_size or 0, _start_id(model))
    notes = [Finding(f"{name} was compiled: the model inside runs")] if is_compiled else []
    return Adopted(name, Path(), model, tokenizer, (*notes, *of_layers(model)))


def _refuse_other_than_text(inner: Any, name: str) -> None:  # noqa: ANN401
    if inner.main_input_name != "input_ids":
        raise ValueError(
            f"{name} does not read text but {inner.main_input_name}; models of text and of "
            "pictures are opened, of any family that attends through transformers' interface"
        )


def _start_id(model: AdoptedModel) -> int | None:
    """What a target begins with, where the config of a model says so."""
    token_id = getattr(model.inner.config, "decoder_start_token_id", None)
    is_known = isinstance(token_id, int) and 0 <= token_id < (model.facts.vocab_size or 0)
    return token_id if is_known else None


def as_transformers_reads(kind: Any, folder: Path) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401
    """A model of a class as transformers reads it from a folder, and what it says of that.

    Of a file in GGUF the converted copy is read, where one was kept that can be.
    """
    if copy := converted.kept(folder):
        with suppress(ValueError):
            inner, loading = _read(kind, folder, copy)
            if not loading["missing_keys"] and not loading["mismatched_keys"]:
                return inner, loading
        converted.discard(folder)
    inner, loading = _read(kind, folder, folder)
    return inner, {**loading, "lost_copy": [str(copy)] if copy else []}


def _read(kind: Any, folder: Path, where: Path) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401
    packed = _transformers().GgufConfig(dequantize=True) if is_gguf(where) else None
    progress.begin(progress.WEIGHTS, "Reading its weights")
    with in_one_line(folder, "it cannot be opened"), _place(where) as place, _BUILDING:
        return kind.from_pretrained(
            **place,
            quantization_config=packed,
            config=_settings(folder),
            key_mapping={PREFIXES: ""},
            dtype=torch.float32,
            attn_implementation="eager",
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,  # `load` names them
            output_loading_info=True,
        )


@contextmanager
def _place(folder: Path) -> Iterator[dict[str, Any]]:
    """Where `from_pretrained` has the weights from, or the weights."""
    if is_gguf(folder):
        from model.sources.gguf import reading  # here, as in `about_gguf`

        with reading.taken(folder) as place:
            yield place
    else:
        weights = nanogpt.weights(folder)
        yield {
            "pretrained_model_name_or_path": folder if weights is None else None,
            "state_dict": weights,
        }


def _can_hide(folder: Path) -> bool:
    """Whether the tokenizer of a folder can be read, and has a token that hides another."""
    n_ids = config_in(folder).get("vocab_size", 0)
    with suppress(ValueError):
        own = tokenizer_in(_transformers(), folder, n_ids, None)
        return own is not None and own.can_hide
    return False


def _folder(name: str) -> Path:
    folder = folders().get(name)
    if folder is None or not is_of_transformers(folder):
        raise ValueError(
            f"no model {quoted(name)!r} of transformers; set {WHERE} to the folder that it is in"
        )
    return folder


def _transformers() -> Any:  # noqa: ANN401
    """The library, told to keep quiet; ValueError where it is not there.

    The package puts another module in its own place when it is imported: whoever imports a name of
    it while another thread imports it is given the first one, which has none, and whoever imports a
    module of it does not wait. So it is imported alone before, and then taken from its place.
    """
    if find_spec("transformers") is None:
        raise ValueError(
            "models of transformers need the package transformers, which is not installed; install "
            f"it: pip install transformers=={VERSION}"
        )
    import_module("transformers")
    transformers: Any = sys.modules["transformers"]
    transformers.logging.set_verbosity(logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    return transformers


def _of_templates(folder: Path) -> list[Finding]:
    """A word where it has two templates of chats."""
    read, *others = templates_in(folder) or [""]
    return [Finding(f"{name} has a chat template too; {read}’s is read") for name in others]


def _class_of(hf: Any, folder: Path, config: dict[str, Any]) -> Any:  # noqa: ANN401
    """The class its config names, of the family it names; ValueError where they do not agree."""
    family, name = config["model_type"], class_name(config)
    named_class: Any = getattr(hf, name, None)
    is_known = isinstance(named_class, type) and issubclass(named_class, hf.PreTrainedModel)
    if "auto_map" in config and not (is_known and family in hf.CONFIG_MAPPING):
        raise ValueError(
            f"{spelled(folder)} brings code of its own, which is never run here; open a model "
            "whose family transformers has"
        )
    if family not in hf.CONFIG_MAPPING:
        raise ValueError(
            f"{spelled(folder)} is of the family {quoted(family)!r}, which transformers "
            f"{hf.__version__} does not have; install one that has it"
        )
    if not is_known:
        return hf.AutoModel
    own = getattr(named_class.config_class, "model_type", family)
    if own != family:
        raise ValueError(
            f"{spelled(folder / 'config.json')} says model_type {quoted(family)!r} but names "
            f"{quoted(name)!r}, which is of {own!r}; use the file the model was saved with"
        )
    return named_class


def _settings(folder: Path) -> Any:  # noqa: ANN401
    """What config.json says, as transformers holds it."""
    config = config_in(folder)
    return _transformers().CONFIG_MAPPING[config["model_type"]].from_dict(config)


def _of_names(folder: Path) -> Iterator[Finding]:
    """What was taken off the names of weights."""
    stored = stored_in(folder)
    names = Counter(re.sub(PREFIXES, "", name) for name in stored)
    if twice := [name for name, times in names.items() if times > 1]:
        yield Finding(f"{named(twice)} is in its files under several names", is_off=True)
    matches = (re.match(PREFIXES, name) for name in stored)
    if prefixes := sorted({one.group() for one in matches if one}):
        text = f"{named(prefixes)} was taken off the names of its weights"
        yield Finding(f"{text}: it was compiled or wrapped when it was saved")


def _of_index(folder: Path) -> Iterator[Finding]:
    """What is said of an index of shards that nothing is read by."""
    if (folder / WHOLE).is_file() and (folder / INDEX).is_file():
        yield Finding(f"its weights are those of {WHOLE}; {INDEX} beside it is not read")


def _of_gguf(file: Path, inner: nn.Module) -> Iterator[Finding]:
    """How a file in GGUF keeps its weights, and what of it has no place in the model."""
    if about := about_gguf(file):
        from model.sources.gguf import tensors  # here, as in `about_gguf`

        kinds = Counter(tensor.dtype for tensor in about.stored.values())
        said = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
        yield Finding(f"{about.weights}: its tensors are {said}, and all are float32 here")
        yield from (Finding(odd, is_off=True) for odd in about.odd)
        if lost := tensors.lost(file, inner):
            text = "no place in the model that its header means"
            yield Finding(f"{text}: its tensors {named(lost)}", is_off=True)


def _of_code(config: dict[str, Any], kind: type) -> Iterator[Finding]:
    """What is said of a folder that brings code for a family that transformers has."""
    if "auto_map" in config:
        text = "the code that its folder brings was not run"
        yield Finding(f"{text}: transformers' own {kind.__name__} was opened")


def _refuse_larger(hf: Any, kind: Any, folder: Path) -> None:  # noqa: ANN401
    """ValueError for a config whose model, built without memory, is not that of the files."""
    config = _settings(folder)
    with torch.device("meta"):
        built = kind.from_config(config) if kind is hf.AutoModel else kind(config)
    meant, stored = sum(x.numel() for x in built.parameters()), n_numbers(stored_in(folder))
    if meant > 2 * stored:
        raise ValueError(f"its config means {meant:,} weights, and its files have {stored:,}")
