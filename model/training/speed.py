"""How long a training will take on this machine, by a step of its model that is timed."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import cast

import torch
import torch.nn.functional as F

from model.config import BlockConfig
from model.device import one_thread
from model.training.needs import planned
from model.training.optimizers import OPTIMIZERS, split_parameters
from model.training.recipe import Recipe
from model.training.trainer import build_model

# A person waits while it is timed: so many weights, whose optimizers take a second, and so many
# multiplications; a step has so many times the windows. A layer takes some time whatever its size.
MOST_WEIGHTS = 20_000_000
MOST_WORK, WORK_OF_LAYER = 4_000_000_000, 20_000_000
ROUNDS = 3


def expected_seconds(recipe: Recipe, vocab_size: int) -> float | None:
    """Seconds that the steps of a decoder's recipe take on one thread; None where it is too large.

    Any tokens are learnt from, some windows of a step, and the optimizers' share is timed by
    itself: it does not grow with the tokens. Evaluations and saves come on top. ValueError as
    `planned`.
    """
    config, n_weights = planned(recipe, vocab_size)
    work = [_work(cast("BlockConfig", config), n_weights, stage.seq_len) for stage in recipe.stages]
    if n_weights > MOST_WEIGHTS or max(work) > MOST_WORK:
        return None
    model = build_model(recipe, vocab_size).train()
    optimizers = OPTIMIZERS[recipe.optimizer](
        *split_parameters(model),
        matrix_lr=recipe.matrix_lr,
        other_lr=recipe.other_lr,
        weight_decay=recipe.weight_decay,
    )
    seconds = 0.0
    with one_thread():
        for stage, of_window in zip(recipe.stages, work, strict=True):
            n_windows = max(1, min(recipe.batch_tokens // stage.seq_len, MOST_WORK // of_window))
            ids = torch.arange(n_windows * stage.seq_len).view(n_windows, -1) % vocab_size

            def learn(ids: torch.Tensor = ids) -> None:
                F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()

            def change() -> None:
                for optimizer in optimizers:
                    optimizer.step()
                    optimizer.zero_grad()

            learning, changing = _fastest(learn, change)
            seconds += stage.steps * (learning * recipe.batch_tokens / ids.numel() + changing)
    return seconds


def _work(config: BlockConfig, n_weights: int, n_tokens: int) -> int:
    """Multiplications of a window, roughly: by weights, and of queries with keys and values."""
    attention = 2 * config.n_layers * config.d_model * n_tokens
    return n_tokens * (n_weights + attention) + config.n_layers * WORK_OF_LAYER


def _fastest(*parts: Callable[[], None]) -> list[float]:
    """The least seconds of each part, of rounds in which all follow each other.

    The first round, which takes memory, does not count.
    """
    rounds = []
    for _ in range(1 + ROUNDS):
        at = [time.perf_counter()]
        for part in parts:
            part()
            at.append(time.perf_counter())
        rounds.append([end - start for start, end in pairwise(at)])
    return [min(times) for times in zip(*rounds[1:], strict=True)]
