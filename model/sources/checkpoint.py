"""A trained model on disk: config.json, model.safetensors, tokenizer.json; nothing is pickled."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from safetensors.torch import save_file

from model import reference
from model.architectures.base import Model, Transformer
from model.architectures.decoder import DecoderTransformer
from model.architectures.table import architecture, config_of
from model.config import BlockConfig, ModelConfig, RecurrentConfig, TextConfig
from model.data.tokenizer import Tokenizer
from model.device import choose_device
from model.fields import from_fields
from model.files import (
    LARGEST_CONFIG,
    StoredTensor,
    folder_to_write,
    read_header,
    read_json,
    read_text,
    replacing,
)
from model.given import Given
from model.grown import Known, grown, nothing
from model.inputs import INPUTS
from model.lines import in_millions, quoted, spelled
from model.parts import are_sums
from model.sources import nanogpt
from model.sources.handle import Traced
from model.sources.offers import OF_KIND
from model.sources.places import folders, has_model, is_of_transformers, step_of
from model.sources.recorded import RECORDED, check_recorded, record
from model.sources.stored_weights import own_weights, read_weights, refuse_misfits
from model.sources.sums import SUMS, refuse_changed, write_sums
from model.tap import Attachment, Edit
from model.trace import Trace
from model.verify.check import Check, Finding
from model.verify.independent import check_independently, edited
from model.verify.records import check_records
from model.weights import Undrawn, to_column_major

TOKENIZER = "tokenizer.json"  # of models that read text
FILES = ("config.json", "model.safetensors", TOKENIZER)
LARGEST_CARD = 100_000  # bytes
TRAINING = "training.json"  # where a training stands that the checkpoint is of
OWN = (
    "readout",
    "mask",
    "projections",
    "answers",
    "blocks",
    "cache",
    "edits",
    "parts",
    "embeddings",
    "neurons",
    "weights",
)  # what every model of ours offers


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model ready to run, with the tokenizer it was trained with, if it reads text.

    `files` are those it was loaded from, read by the independent reference for its checks.
    """

    name: str
    folder: Path
    model: Transformer
    own_tokenizer: Tokenizer | None
    files: reference.Files

    @property
    def special_ids(self) -> frozenset[int]:
        """Ids of tokens that stand for no text; none where it reads none."""
        return self.own_tokenizer.special_ids if self.own_tokenizer else frozenset()

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer; ValueError where it takes pictures."""
        if self.own_tokenizer is None:
            raise ValueError(f"{self.name} takes pictures, not text; it has no tokenizer")
        return self.own_tokenizer

    @property
    def end_ids(self) -> frozenset[int]:
        """Tokens that end a text."""
        return frozenset({self.tokenizer.end_id})

    @property
    def config(self) -> BlockConfig:
        """Sizes and variants of the model."""
        return self.model.config

    @property
    def offers(self) -> frozenset[str]:
        """Its weights, and what its kind can."""
        sums = ("sums",) if are_sums(self.model.sublayers) else ()
        return OF_KIND[self.config.architecture].union(OWN, sums)

    @property
    def input_kind(self) -> str:
        """What the model takes."""
        return architecture(self.config.architecture).input_kind

    @property
    def decoder(self) -> DecoderTransformer:
        """The model, where a decoder is needed; ValueError when it is of another architecture."""
        if "decoder" not in self.offers:
            raise ValueError(
                f"{self.name} is of the architecture {self.config.architecture!r}; this needs a "
                "decoder"
            )
        return cast("DecoderTransformer", self.model)

    @property
    def report(self) -> tuple[Finding, ...]:
        """Nothing: what is off with its files is refused."""
        return ()

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return self.model.device

    def trace(self, text: Given, mask: np.ndarray | None = None, known: Known = nothing) -> Traced:
        """Capture one text; tokens beyond the context are cut from its end and counted.

        Of a source the target is what the model makes of it. A vision model takes a picture, (S, S)
        from 0 to 1, instead. mask: (T, T) bool, in one stack taken instead of the model's own.
        Where all but the last token is `known` to a decoder, the last one alone is run.
        Raises ValueError when the text is empty or the picture another size.
        """
        name = self.config.architecture
        prepared = INPUTS[name].prepare(self.model, self.own_tokenizer, text)
        more = {} if mask is None else {"mask": mask}
        goes_on = mask is None and "decoder" in self.offers
        trace = grown(self.model, known, *prepared.arguments) if goes_on else None
        trace = trace or self._capture(self.model, *prepared.arguments, **more)
        return Traced(trace.marked(self.special_ids), n_cut=prepared.n_cut, reads=prepared.reads)

    def captured(self, arguments: tuple[Any, ...], attachments: Sequence[Attachment] = ()) -> Trace:
        """Capture an input as its architecture's `capture` takes it, with something attached."""
        trace = self._capture(self.model, *arguments, attachments=attachments)
        return trace.marked(self.special_ids)

    @property
    def _capture(self) -> Callable[..., Trace]:
        capture = architecture(self.config.architecture).capture
        assert capture is not None, "a Transformer has one"
        return capture

    def check_edited(self, trace: Trace, edits: Sequence[Edit]) -> tuple[Check, ...]:
        """An edited run against the independent one, edited in the same way."""
        return check_independently(trace, edited(self.files, edits, self.device))

    def check(self, trace: Trace, mask: np.ndarray | None = None) -> tuple[Check, ...]:
        """All checks of a trace of this model, under its own mask or the one it was given."""
        independently = check_independently(trace, self.files, mask)
        return (*check_records(trace), *independently, *self.recorded)

    def independent_logits(self, ids: Sequence[int]) -> np.ndarray:
        """Logits (T, V) of a text, by the reference and its files alone."""
        return dict(reference.arrays(self.files, ids))["output"]

    @cached_property
    def recorded(self) -> tuple[Check, ...]:
        """Whether it gives the logits that were noted when it was saved."""
        return check_recorded(self.folder, self.model)


@dataclass(frozen=True)
class Training:
    """Where a training stands, by its steps; `held_out` is the loss where that was the best."""

    step: int
    steps: int
    held_out: float | None = None


def write_training(folder: Path, training: Training) -> None:
    """Note beside a checkpoint where its training stands."""
    with replacing(folder / TRAINING) as new:
        new.write_text(json.dumps(asdict(training)) + "\n", encoding="utf-8")


def read_training(folder: Path) -> Training | None:
    """What `write_training` noted; None without it. ValueError when it is something else."""
    path = folder / TRAINING
    if not path.is_file():
        return None
    try:
        return from_fields(Training, read_json(path, LARGEST_CONFIG), "training")
    except ValueError as error:
        raise ValueError(f"{spelled(path)}: {error}; remove it") from None


class CheckpointSource:
    """Folders of config.json, model.safetensors and tokenizer.json, by name or path."""

    def names(self) -> list[str]:
        """Names of the checkpoints found, those that come with Headlight first."""
        return found_names()

    def revision(self, name: str) -> str:
        """What changes with what is read of it; ValueError when there is no such one."""
        folder = find_folder(name)
        return " ".join(map(_state_of, (folder / file for file in (*FILES, TRAINING))))

    def described(self, name: str) -> tuple[str, ...]:
        """Parameters, layers × heads and context, by the config and the header of the weights.

        Of a model in training or stopped in it also the step.
        """
        folder = find_folder(name)
        config = read_config(folder / "config.json")
        stored = read_header(folder / "model.safetensors")
        n_parameters = sum(math.prod(tensor.shape) for tensor in stored.values())
        is_of_blocks = isinstance(config, BlockConfig)
        heads = f"{config.n_layers} × {config.n_heads}" if is_of_blocks else "no heads"
        training = read_training(folder)
        is_begun = training is not None and training.step < training.steps
        step = (f"step {training.step:,} of {training.steps:,}",) if training and is_begun else ()
        return (in_millions(n_parameters), heads, f"context {config.max_seq_len}", *step)

    def architecture(self, name: str) -> str:
        """The architecture its config names; ValueError when that is broken."""
        return read_config(find_folder(name) / "config.json").architecture

    def card(self, name: str) -> str:
        """The text of its card.md; empty where there is none."""
        path = find_folder(name) / "card.md"
        return read_text(path, LARGEST_CARD) if path.exists() else ""

    def open(self, name: str, device: str) -> Checkpoint:
        """See `load`."""
        return load(name, device)


def found_names() -> list[str]:
    """Names of the checkpoints found, those that come with Headlight first."""
    return [name for name, folder in folders().items() if not is_of_transformers(folder)]


def _state_of(path: Path) -> str:
    """What changes when a file does: its time and size, or that it is missing."""
    try:
        status = path.stat()
    except OSError:
        return "-"
    return f"{status.st_mtime_ns}.{status.st_size}"


def save(
    folder: Path,
    model: Model,
    tokenizer: Tokenizer | None,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Write a checkpoint folder, weights in `dtype`; each file appears whole or not at all.

    Beside them it notes the files' checksums, and of a Transformer the logits of one text.
    """
    weights = {name: x.detach().to(dtype).contiguous() for name, x in own_weights(model).items()}
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise ValueError(f"{name} has values that {dtype} cannot hold; save as torch.float32")
    folder_to_write(folder)
    for note in (SUMS, RECORDED):  # of files that are about to change
        (folder / note).unlink(missing_ok=True)
    config = json.dumps(model.config.to_dict(), indent=2) + "\n"
    with replacing(folder / "config.json") as path:
        path.write_text(config, encoding="utf-8")
    if tokenizer is not None:
        with replacing(folder / TOKENIZER) as path:
            tokenizer.save(path)
    with replacing(folder / "model.safetensors") as path:
        # Shapes do not tell the number of heads; the config in the file's header does.
        save_file(weights, path, {"config": json.dumps(model.config.to_dict())})
    if isinstance(model, Transformer):
        sample = INPUTS[model.config.architecture].sample(model.config, tokenizer)
        if all(batch[0] for batch in sample.values()):
            record(folder, sample)
    write_sums(folder, [name for name in FILES if (folder / name).is_file()])


def load(name_or_folder: str | Path, device: str = "auto") -> Checkpoint:
    """Load a checkpoint as `load_model`; ValueError for what is no Transformer, too."""
    folder = find_folder(name_or_folder)
    model, tokenizer = load_model(folder, device)
    if not isinstance(model, Transformer):
        raise ValueError(
            f"{spelled(folder)} is of the architecture {model.config.architecture!r}, which has no "
            "heads to look at; open a Transformer"
        )
    return Checkpoint(folder.name, folder, model, tokenizer, reference.read(folder))


def load_model(name_or_folder: str | Path, device: str = "auto") -> tuple[Model, Tokenizer | None]:
    """Load a model by its shipped name or its folder, in float32, and check what was loaded.

    Beside it is the tokenizer it was trained with, if it reads text. Raises ValueError, one line
    with cause and remedy, when a file is missing or broken, a weight is missing, unknown, of
    another shape or not finite, or the tokenizer does not fit.
    """
    folder = find_folder(name_or_folder)
    config = read_config(folder / "config.json")
    stored = read_header(folder / "model.safetensors")
    _refuse_missing_layers(folder, config, stored)
    reads_text = isinstance(config, TextConfig | RecurrentConfig)
    tokenizer = _tokenizer_of(config, folder) if reads_text else None
    model = _build(config, folder)
    refuse_misfits(folder / "model.safetensors", stored, own_weights(model))
    weights = read_weights(folder / "model.safetensors", config)
    model.load_state_dict(weights, strict=False, assign=True)
    model.tie_weights()
    to_column_major(model)
    refuse_changed(folder)
    model.requires_grad_(False).eval().to(choose_device(device))
    return model, tokenizer


def _tokenizer_of(config: TextConfig | RecurrentConfig, folder: Path) -> Tokenizer:
    """The tokenizer in a folder; ValueError when it is not that of the config."""
    tokenizer = Tokenizer.load(folder / TOKENIZER)
    if tokenizer.vocab_size != config.vocab_size:
        raise ValueError(
            f"{folder.name}: the tokenizer has {tokenizer.vocab_size} tokens but the config says "
            f"vocab_size {config.vocab_size}; use the tokenizer the model was trained with"
        )
    return tokenizer


def find_folder(name_or_folder: str | Path) -> Path:
    """Where a checkpoint lies, by its shipped name or its folder; ValueError when nowhere."""
    folder = folders().get(str(name_or_folder), Path(name_or_folder))
    if has_model(folder):
        return folder
    nanogpt.refuse_pickle(folder)
    names = [name for name in found_names() if step_of(name) is None]
    raise ValueError(
        f"no checkpoint {quoted(name_or_folder)!r}: give a folder with config.json, or "
        f"one of {', '.join(names) or '(none shipped)'}"
    )


def read_config(path: Path) -> ModelConfig:
    """The config in a JSON file; ValueError when it is broken."""
    fields = read_json(path, LARGEST_CONFIG)
    try:
        return config_of(fields)
    except ValueError as error:
        raise ValueError(f"{spelled(path)}: {error}") from None


def _refuse_missing_layers(
    folder: Path, config: ModelConfig, stored: dict[str, StoredTensor]
) -> None:
    """Compare the depth with the weights file before a layer is built: each has some tensor."""
    if isinstance(config, BlockConfig) and config.n_layers > len(stored):
        raise ValueError(
            f"{spelled(folder / 'config.json')}: n_layers is {config.n_layers} but the weights "
            f"file has only {len(stored)} tensors; the two files belong to different models"
        )


def _build(config: ModelConfig, folder: Path) -> Model:
    """A model without memory for its weights, which come from the file."""
    try:
        with torch.device("meta"), Undrawn():
            return architecture(config.architecture).build(config)
    except (
        RuntimeError,
        TypeError,
        OverflowError,
    ) as error:  # what fits neither in memory nor in 64 bits
        raise ValueError(
            f"{spelled(folder / 'config.json')}: the model does not fit in memory: {error}; lower "
            "its sizes"
        ) from None
