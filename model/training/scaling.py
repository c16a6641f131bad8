"""Models of several sizes on several numbers of tokens, each a run of its own with its schedule.

A run that is stopped half-way has not had its learning rate fall; so none is cut out of a longer
one here (Hoffmann et al. 2022, §2).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from model.analysis.sizes import operations, parameters, shape_of
from model.config import BlockConfig
from model.data.text import read_text
from model.files import names_of, replacing
from model.sources import checkpoint
from model.training.evaluation import METRICS_FILE, evaluate
from model.training.objectives.base import Data
from model.training.plan import Stage
from model.training.recipe import Recipe
from model.training.run import train
from model.training.state import STATE_FILE

SIZES = ((32, 2), (64, 3), (96, 4))  # d_model and layers; heads of 32, as those of `stories`
TOKENS = (98_304, 262_144, 786_432)
D_HEAD, WARMUP_SHARE, LOGGED = 32, 16, 64
WINDOW = 128  # tokens of a window, in training and in what is held out
FORWARD_AND_BACKWARD = 3  # the backward pass takes twice the forward (Kaplan et al. 2020, §2.1)
EVALUATED, RUNS_FILE = "evaluated.json", "runs.json"


@dataclass(frozen=True)
class Planned:
    """One model of the grid: its sizes and the tokens it learns from."""

    d_model: int
    n_layers: int
    tokens: int

    @property
    def name(self) -> str:
        """What its folder is called."""
        return f"{self.d_model}-{self.tokens}"


def grid(
    sizes: Sequence[tuple[int, int]] = SIZES, tokens: Sequence[int] = TOKENS
) -> tuple[Planned, ...]:
    """Every size with every number of tokens, the cheapest first."""
    planned = [Planned(*size, n_tokens) for size in sizes for n_tokens in tokens]
    return tuple(sorted(planned, key=lambda one: one.d_model**2 * one.n_layers * one.tokens))


def recipe_of(base: Recipe, planned: Planned) -> Recipe:
    """The base recipe at one size, with a whole schedule of that many tokens.

    ValueError where the tokens fill no step.
    """
    steps = planned.tokens // base.batch_tokens
    if steps < 1:
        raise ValueError(
            f"{planned.tokens:,} tokens fill no step of {base.batch_tokens:,}; take more of them"
        )
    own = {
        "d_model": planned.d_model,
        "n_layers": planned.n_layers,
        "n_heads": max(planned.d_model // D_HEAD, 1),
        "d_ff": 4 * planned.d_model,
    }
    return replace(
        base,
        name=f"{base.name}-{planned.name}",
        model={**base.model, **own},
        stages=(Stage(steps=steps, seq_len=WINDOW),),
        warmup_steps=max(steps // WARMUP_SHARE, 1),
        log_every=max(steps // LOGGED, 1),
    )


def run_one(
    recipe: Recipe,
    corpus: Data,
    held_out: Sequence[Path],
    out: Path,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Train one model, or go on with it, measure it and say all of it; what is done is kept.

    `out` is a folder of its own; of a run that was measured the stored answer is given back.
    """
    stored = out / EVALUATED
    if stored.is_file():
        return json.loads(read_text(stored))
    if not (out / "model.safetensors").is_file():
        for metrics in train(recipe, corpus, out, resume=(out / STATE_FILE).is_file()):
            on_step(metrics.step, recipe.total_steps)
    facts = {"name": recipe.name, "model": recipe.model, **measured(out, held_out)}
    tokens = recipe.plan.tokens_until(recipe.total_steps)
    answer = {**facts, "steps": recipe.total_steps, "tokens": tokens, "curve": curve(out)}
    with replacing(stored) as new:
        new.write_text(json.dumps(answer), encoding="utf-8")
    return answer


def all_runs(out: Path) -> list[dict[str, Any]]:
    """Every measured run in the folders of `out`, by size and tokens."""
    runs = [json.loads(read_text(path)) for path in out.glob(f"*/{EVALUATED}")]
    return sorted(runs, key=lambda run: (run["parameters"], run["tokens"]))


def measured(folder: Path, held_out: Sequence[Path]) -> dict[str, Any]:
    """Sizes of a checkpoint and its loss on each text, in nats per token, on windows of 128."""
    loaded = checkpoint.load(str(folder), device="cpu")
    scores = {
        name: asdict(evaluate(loaded.decoder, loaded.tokenizer, read_text(path), window=WINDOW))
        for name, path in zip(names_of(held_out), held_out, strict=True)
    }
    kept = ("loss", "tokens", "bytes", "window")
    return {
        **counted(loaded.config),
        "held_out": {name: {key: score[key] for key in kept} for name, score in scores.items()},
    }


def counted(config: BlockConfig) -> dict[str, int]:
    """Parameters with and without embeddings, and operations of one token of training."""
    shape = shape_of(config)
    by_part = parameters(shape)
    total = sum(by_part.values())
    tables = by_part["embedding"] + by_part["unembedding"] + by_part["positions"]
    flops = FORWARD_AND_BACKWARD * sum(operations(shape, WINDOW).values())
    return {"parameters": total, "without_embeddings": total - tables, "flops_per_token": flops}


def curve(folder: Path) -> list[tuple[int, float]]:
    """Tokens and training loss of every line of a log, to four digits."""
    lines = map(json.loads, read_text(folder / METRICS_FILE).splitlines())
    return [(line["tokens"], round(line["loss"], 4)) for line in lines]
