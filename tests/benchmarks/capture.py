"""What a capture costs over the same forward pass without it. Asked: at most 1.15 times."""

import torch

from model.capture import capture
from model.memory import keep_freed_memory
from model.sources import checkpoint
from tests.benchmarks.rounds import medians

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
        variants = [
            lambda ids=ids: loaded.model(ids),
            lambda ids=id_list, tokens=tokens: capture(loaded.model, ids, tokens),
            lambda trace=trace: loaded.check(trace),
        ]
        with torch.inference_mode():
            plain, captured, checked = medians(variants, ROUNDS, warm_up=5)
        figures[f"forward, {length} tokens, ms"] = plain
        figures[f"capture, {length} tokens, ms"] = captured
        figures[f"capture / forward, {length} tokens (asked ≤ 1.15)"] = captured / plain
        figures[f"self-check, {length} tokens, ms"] = checked
    return figures
