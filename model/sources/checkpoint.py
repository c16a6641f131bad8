"""A trained model on disk: config.json, model.safetensors, tokenizer.json; nothing is pickled."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.architectures.base import Transformer
from model.architectures.decoder import DecoderTransformer
from model.architectures.table import architecture, config_of
from model.config import BlockConfig
from model.data.tokenizer import Tokenizer
from model.device import choose_device
from model.sources.handle import Traced
from model.trace import Trace
from model.verify.check import Check
from model.verify.self_check import check
from model.weights import to_column_major

FILES = ("config.json", "model.safetensors", "tokenizer.json")
STORED_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SHIPPED = Path(__file__).resolve().parents[2] / "assets" / "checkpoints"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model ready to run, with the tokenizer it was trained with."""

    name: str
    folder: Path
    model: Transformer
    tokenizer: Tokenizer

    @property
    def config(self) -> BlockConfig:
        """Sizes and variants of the model."""
        return self.model.config

    @property
    def offers(self) -> frozenset[str]:
        """A vocabulary, other texts, and running again under other conditions as its kind can."""
        return frozenset(("vocabulary", "text", self.config.architecture))

    @property
    def input_kind(self) -> str:
        """What the model takes."""
        return architecture(self.config.architecture).input_kind

    @property
    def decoder(self) -> DecoderTransformer:
        """The model, where a decoder is needed; ValueError when it is of another architecture."""
        if not isinstance(self.model, DecoderTransformer):
            raise ValueError(
                f"{self.name} is of the architecture {self.config.architecture!r}; this needs a "
                "decoder"
            )
        return self.model

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return self.model.device

    def trace(self, text: str) -> Traced:
        """Capture one text; tokens beyond the context are cut from its end and counted.

        Raises ValueError when the text is empty.
        """
        ids = self.tokenizer.encode(text)
        if not ids:
            raise ValueError("the text is empty; give a sentence of at least one token")
        kept = ids[: self.config.max_seq_len]
        run = architecture(self.config.architecture).capture
        trace = run(self.model, kept, self.tokenizer.token_strings(kept))
        return Traced(trace, n_cut=len(ids) - len(kept))

    def check(self, trace: Trace) -> tuple[Check, ...]:
        """All checks of a trace of this model under its own mask."""
        return check(trace, self.model)


class CheckpointSource:
    """Folders of config.json, model.safetensors and tokenizer.json, by name or path."""

    def names(self) -> list[str]:
        """Names of the checkpoints found, those that come with Headlight first."""
        return found_names()

    def revision(self, name: str) -> str:
        """What changes with config, weights or tokenizer; ValueError when there is no such one."""
        folder = find_folder(name)
        return " ".join(map(_state_of, (folder / file for file in FILES)))

    def open(self, name: str, device: str) -> Checkpoint:
        """See `load`."""
        return load(name, device)


def folders() -> list[Path]:
    """Folders of checkpoints: the shipped ones, and HEADLIGHT_CHECKPOINTS if that is set."""
    own = os.environ.get("HEADLIGHT_CHECKPOINTS")
    if not own:
        return [SHIPPED]
    folder = Path(own).expanduser()
    try:
        is_folder = folder.is_dir()
    except OSError:  # a name that no file can have
        is_folder = False
    if not is_folder:
        raise ValueError(f"HEADLIGHT_CHECKPOINTS is {own[:200]!r}, which is not a folder; unset it")
    return [SHIPPED, folder]


def found_names() -> list[str]:
    """Names of the checkpoints found, those that come with Headlight first."""
    names = (
        path.parent.name
        for place in folders()
        for path in sorted(place.glob("*/config.json"))
        if path.is_file()
    )
    return list(dict.fromkeys(names))


def _state_of(path: Path) -> str:
    """What changes when a file does: its time and size, or that it is missing."""
    try:
        found = path.stat()
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}.{found.st_size}"


def save(
    folder: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Write a checkpoint folder, weights in `dtype`; each file appears whole or not at all."""
    weights = {name: x.detach().to(dtype).contiguous() for name, x in own_weights(model).items()}
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise ValueError(f"{name} has values that {dtype} cannot hold; save as torch.float32")
    folder.mkdir(parents=True, exist_ok=True)
    config = json.dumps(model.config.to_dict(), indent=2) + "\n"
    with replacing(folder / "config.json") as path:
        path.write_text(config, encoding="utf-8")
    with replacing(folder / "tokenizer.json") as path:
        tokenizer.save(path)
    with replacing(folder / "model.safetensors") as path:
        # Shapes do not tell the number of heads; the config in the file's header does.
        save_file(weights, path, {"config": json.dumps(model.config.to_dict())})


def load(name_or_folder: str | Path, device: str = "auto") -> Checkpoint:
    """Load a checkpoint by its shipped name or its folder, in float32, and check what was loaded.

    Raises ValueError, one line with cause and remedy, when a file is missing or broken, a weight
    is missing, unknown, of another shape or not finite, or the tokenizer does not fit.
    """
    folder = find_folder(name_or_folder)
    config = read_config(folder / "config.json")
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    vocab_size = getattr(config, "vocab_size", tokenizer.vocab_size)
    if tokenizer.vocab_size != vocab_size:
        raise ValueError(
            f"{folder.name}: the tokenizer has {tokenizer.vocab_size} tokens but the config says "
            f"vocab_size {vocab_size}; use the tokenizer the model was trained with"
        )
    model = _build(config, folder)
    weights = _read_weights(folder / "model.safetensors", own_weights(model), config)
    model.load_state_dict(weights, strict=False, assign=True)
    model.tie_weights()
    to_column_major(model)
    model.requires_grad_(False).eval().to(choose_device(device))
    return Checkpoint(folder.name, folder, model, tokenizer)


def own_weights(model: Transformer) -> dict[str, Tensor]:
    """The weights a file must hold: a tied one is another's and is not stored."""
    return {name: x for name, x in model.state_dict().items() if name not in model.tied_weights}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """`with replacing(path) as new:` write to `new`; on success it takes the place of `path`."""
    new = path.parent / f"{path.name}.{os.getpid()}.new"
    try:
        yield new
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def find_folder(name_or_folder: str | Path) -> Path:
    """Where a checkpoint lies, by its shipped name or its folder; ValueError when nowhere."""
    in_folders = (place / str(name_or_folder) for place in folders())
    for folder in (*in_folders, Path(name_or_folder)):
        with suppress(OSError):  # a name that no file can have
            if (folder / "config.json").is_file():
                return folder
    raise ValueError(
        f"no checkpoint {str(name_or_folder)!r}: give a folder with config.json, or one of "
        f"{', '.join(found_names()) or '(none shipped)'}"
    )


def read_config(path: Path) -> BlockConfig:
    """The config in a JSON file; ValueError when it is broken."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON: {error}; copy it again") from None
    if not isinstance(fields, dict):
        raise ValueError(f"{path} is not a JSON object; copy it again")
    try:
        return config_of(fields)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _build(config: BlockConfig, folder: Path) -> Transformer:
    """A model without memory for its weights, which come from the file."""
    try:
        with torch.device("meta"):
            return architecture(config.architecture).build(config)
    except (RuntimeError, TypeError) as error:  # what fits neither in memory nor in 64 bits
        raise ValueError(
            f"{folder / 'config.json'}: the model does not fit in memory: {error}; lower its sizes"
        ) from None


def _read_weights(
    path: Path, expected: dict[str, Tensor], config: BlockConfig
) -> dict[str, Tensor]:
    try:
        weights = load_file(path)
        with safe_open(path, framework="pt") as file:
            stored = (file.metadata() or {}).get("config")
    except FileNotFoundError:
        raise ValueError(f"{path} is missing; copy the whole checkpoint folder") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} cannot be read: {error}; it may be cut, copy it again") from None
    _refuse(path, "lacks", sorted(set(expected) - set(weights)))
    _refuse(path, "has unknown", sorted(set(weights) - set(expected)))
    for name, weight in weights.items():
        if weight.shape != expected[name].shape:
            raise ValueError(
                f"{path}: {name} has shape {tuple(weight.shape)} but config.json means "
                f"{tuple(expected[name].shape)}; the two files belong to different models"
            )
        if weight.dtype not in STORED_TYPES:
            raise ValueError(
                f"{path}: {name} is stored as {weight.dtype}; convert it to float16 or float32"
            )
        if not weight.isfinite().all():
            n_bad = int((~weight.isfinite()).sum())
            raise ValueError(
                f"{path}: {name} has {n_bad} NaN or infinite values; train or copy it again"
            )
    if stored is not None and not _is_config(stored, config):
        raise ValueError(f"{path} was saved with another config.json; copy both files again")
    return {name: x.float() for name, x in weights.items()}


def _is_config(stored: str, config: BlockConfig) -> bool:
    """Whether a file's header means this config; an older one lacks fields that have a default."""
    try:
        return config_of(json.loads(stored)) == config
    except (ValueError, TypeError):
        return False


def _refuse(path: Path, verb: str, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise ValueError(
            f"{path} {verb} {', '.join(names[:3])}{more}; the weights and config.json belong to "
            "different models"
        )
