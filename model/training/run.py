"""One training run in one folder: the parts a recipe names, put together and watched."""

import math
from collections.abc import Generator, Sequence
from pathlib import Path

import torch

from model.data.text import Corpus
from model.data.tokenizer import TOKENIZERS, Tokenizer
from model.device import choose_device
from model.sources.checkpoint import replacing
from model.training.objectives import OBJECTIVES
from model.training.observers import CheckpointWriter, MetricsLog, Snapshots, StateSaver
from model.training.recipe import Recipe
from model.training.state import STATE_FILE, TrainingState
from model.training.trainer import Metrics, Observer, Trainer, build_model


def train(
    recipe: Recipe,
    corpus: Corpus,
    out: Path,
    *,
    resume: bool = False,
    max_minutes: float = math.inf,
    device: torch.device | None = None,
    observers: Sequence[Observer] = (),
) -> Generator[Metrics, None, None]:
    """Train and yield metrics; leave the finished checkpoint, in float16, in `out`.

    Stops early, with its state saved, after `max_minutes`, on a signal and when the iterator is
    closed; `resume` goes on from that state and gives the same weights bit for bit on CPU. Metrics
    are also written to `out/metrics.jsonl`.
    """
    _prepare(out, resume)
    tokenizer = _tokenizer(recipe, corpus, out, resume)
    model = build_model(recipe, tokenizer.vocab_size)
    objective = OBJECTIVES[recipe.objective](tokenizer, corpus, recipe.plan)
    trainer = Trainer(recipe, model, objective, device or choose_device())
    if resume:
        trainer.restore(TrainingState.read(out))
    with replacing(out / "tokenizer.json") as new:
        tokenizer.save(new)
    watching = (
        MetricsLog(out, trainer.steps_done),
        Snapshots(out, tokenizer, recipe.snapshot_every),
        StateSaver(out, recipe.save_every),
        CheckpointWriter(out, tokenizer),
        *observers,
    )
    yield from trainer.run(watching, max_minutes)


def _prepare(out: Path, resume: bool) -> None:
    """Make the folder; ValueError where a start would have nothing to go on from, or destroy."""
    state = out / STATE_FILE
    if resume and not state.is_file():
        raise ValueError(f"{state} is missing; start without --resume")
    if state.is_file() and not resume:
        raise ValueError(f"{out} holds a training run; add --resume or choose another folder")
    if (out / "model.safetensors").is_file() and not resume:
        raise ValueError(f"{out} holds a finished checkpoint; choose another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write to {out}: {error.strerror}; choose another") from None


def _tokenizer(recipe: Recipe, corpus: Corpus, out: Path, resume: bool) -> Tokenizer:
    if resume:
        return Tokenizer.load(out / "tokenizer.json")
    return TOKENIZERS[recipe.tokenizer](corpus.texts, recipe.vocab_size)
