"""How the three translators are trained: the same rows of letters, in the same order, for each."""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from model.config import EncoderDecoderConfig
from model.fields import from_fields
from model.recurrence.task import TASKS, TRAINED, VOCAB_SIZE, begun, examples
from model.recurrence.translators import (
    RECURRENT,
    OfTransformer,
    Recurrent,
    RecurrentConfig,
    Translator,
)

LOG_EVERY = 100
CONTEXT = 258  # tokens of a Transformer whose recipe says no other


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Steps of Adam, its rate rising to `lr` over `warmup_steps`, then falling as a cosine.

    It would reach nothing after `horizon` steps, by default the last one.
    """

    steps: int
    lr: float
    horizon: int = 0
    warmup_steps: int = 200

    def rate(self, step: int) -> float:
        """The rate of a step of the stage, steps counted from 0."""
        if step < self.warmup_steps:
            return self.lr * (step + 1) / self.warmup_steps
        whole = (self.horizon or self.steps) - self.warmup_steps
        done = (step - self.warmup_steps) / max(whole, 1)
        return self.lr * (1 + math.cos(math.pi * done)) / 2


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """`batch` rows of one length per step, as many of each task; the length is drawn each time.

    A further stage begins with the weights as they are stored, in float16, and a new Adam.
    """

    stages: tuple[Stage, ...]
    batch: int
    max_grad_norm: float = 1.0
    seed: int = 0
    model: dict[str, Any]

    @property
    def steps(self) -> int:
        """Of all stages."""
        return sum(stage.steps for stage in self.stages)


def read_recipe(path: Path) -> Recipe:
    """A recipe in a TOML file; ValueError when a field is unknown, missing or of another type."""
    return from_fields(Recipe, tomllib.loads(path.read_text(encoding="utf-8")), path.name)


def built(fields: Mapping[str, Any]) -> Translator:
    """A translator with fresh weights, of the architecture and the sizes that the fields name."""
    if fields.get("architecture") == RECURRENT:
        own = {name: x for name, x in fields.items() if name != "architecture"}
        return Recurrent(from_fields(RecurrentConfig, own, "config"))
    sizes = {"vocab_size": VOCAB_SIZE, "max_seq_len": CONTEXT}
    return OfTransformer(EncoderDecoderConfig.from_dict({**sizes, **fields}))


def batch_of(step: int, recipe: Recipe) -> tuple[torch.Tensor, torch.Tensor]:
    """Sources (B, n + 2) and answers (B, n + 1) of one step, by its number and the seed alone."""
    rng = np.random.default_rng((recipe.seed, step))
    n = int(rng.integers(1, TRAINED + 1))
    rows = rng.integers(0, 26, (len(TASKS), recipe.batch // len(TASKS), n))
    parts = [examples(task, letters) for task, letters in zip(TASKS, rows, strict=True)]
    sources, answers = (torch.cat(part) for part in zip(*parts, strict=True))
    return sources, answers


def started(recipe: Recipe) -> Translator:
    """The model of a recipe as it is drawn from its seed."""
    torch.manual_seed(recipe.seed)
    return built(recipe.model)


def train(recipe: Recipe, model: Translator, first: int = 0) -> Iterator[dict[str, float]]:
    """Take the steps of all stages from the `first` on; a line of the log every `LOG_EVERY`."""
    model.requires_grad_().train()
    done = sum(stage.steps for stage in recipe.stages[:first])
    for number, stage in enumerate(recipe.stages[first:], first):
        if number > 0:
            as_stored(model)
        yield from _train_stage(recipe, stage, model, done)
        done += stage.steps


@torch.no_grad()
def as_stored(model: Translator) -> None:
    """Round all weights as float16 does."""
    for weight in model.parameters():
        weight.copy_(weight.half().float())


def _train_stage(
    recipe: Recipe, stage: Stage, model: Translator, done: int
) -> Iterator[dict[str, float]]:
    """The steps of one stage after so many of others."""
    optimizer = torch.optim.Adam(model.parameters(), lr=stage.lr, betas=(0.9, 0.98))
    total, n_summed = 0.0, 0
    for step in range(stage.steps):
        for group in optimizer.param_groups:
            group["lr"] = stage.rate(step)
        sources, answers = batch_of(done + step, recipe)
        logits = model(sources, begun(answers))  # (B, n + 1, V)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.max_grad_norm)
        optimizer.step()
        total, n_summed = total + loss.item(), n_summed + 1
        if (step + 1) % LOG_EVERY == 0 or step + 1 == stage.steps:
            yield {"step": done + step + 1, "loss": total / n_summed, "lr": stage.rate(step)}
            total, n_summed = 0.0, 0
