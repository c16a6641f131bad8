"""How long a training will take on this machine, by a step of its model that is timed."""

import time
from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F

from model.device import one_thread
from model.training.needs import planned
from model.training.optimizers import OPTIMIZERS, split_parameters
from model.training.recipe import Recipe
from model.training.trainer import build_model

MOST_WEIGHTS = 20_000_000  # a larger model takes too long to be timed while a person waits
MOST_WORK = 2_000_000_000  # weights × tokens that are timed; a step has so many times the tokens
ROUNDS = 3


def expected_seconds(recipe: Recipe, vocab_size: int) -> float | None:
    """Seconds that the steps of a decoder's recipe take on one thread; None where it is too large.

    Random tokens are learnt from, a part of a step of them, and the optimizers' share is timed by
    itself: it does not grow with the tokens. Evaluations and saves come on top. ValueError as
    `planned`.
    """
    _, n_weights = planned(recipe, vocab_size)
    if n_weights > MOST_WEIGHTS:
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
        for stage in recipe.stages:
            n_tokens = min(recipe.batch_tokens, MOST_WORK // n_weights)
            n_windows = max(1, n_tokens // stage.seq_len)
            ids = torch.randint(vocab_size, (n_windows, stage.seq_len))

            def learn(ids: torch.Tensor = ids) -> None:
                F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()

            def change() -> None:
                for optimizer in optimizers:
                    optimizer.step()
                    optimizer.zero_grad()

            learning, changing = _fastest(learn, change)
            seconds += stage.steps * (learning * recipe.batch_tokens / ids.numel() + changing)
    return seconds


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
