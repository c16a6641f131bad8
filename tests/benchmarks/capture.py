"""What a capture costs over the same forward pass without it. Asked: at most 1.15 times."""

import statistics
import time
from collections.abc import Callable

import torch

from model.capture import capture
from model.memory import keep_freed_memory
from model.sources import checkpoint
from model.verify.self_check import check

ROUNDS = 60
LENGTHS = (64, 256)


def measure() -> dict[str, float]:
    """Medians over rounds in which each variant runs once, so that they share the machine."""
    keep_freed_memory()  # as the app does
    loaded = checkpoint.load("stories")
    figures: dict[str, float] = {}
    for length in LENGTHS:
        ids = torch.arange(1, length + 1)[None]
        id_list, tokens = ids[0].tolist(), ["x"] * length
        trace = capture(loaded.model, id_list, tokens)
        plain, captured, checked = _medians(
            lambda ids=ids: loaded.model(ids),
            lambda ids=id_list, tokens=tokens: capture(loaded.model, ids, tokens),
            lambda trace=trace: check(trace, loaded.model),
        )
        figures[f"forward, {length} tokens, ms"] = plain
        figures[f"capture, {length} tokens, ms"] = captured
        figures[f"capture / forward, {length} tokens (asked ≤ 1.15)"] = captured / plain
        figures[f"self-check, {length} tokens, ms"] = checked
    return figures


@torch.inference_mode()
def _medians(*variants: Callable[[], object]) -> list[float]:
    """Median milliseconds of each variant."""
    rounds = [[_milliseconds(variant) for variant in variants] for _ in range(ROUNDS)]
    return [statistics.median(times) for times in zip(*rounds[5:], strict=True)]


def _milliseconds(variant: Callable[[], object]) -> float:
    started = time.perf_counter()
    variant()
    return 1000 * (time.perf_counter() - started)
