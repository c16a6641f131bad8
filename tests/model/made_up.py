"""A made-up source: two streams, self- and cross-attention, nothing else.

No tokenizer, no weights, no logits; every head has its own mask; scale 1; a bias. What the house
does with it, it can do with any model.
"""

import numpy as np

from model.sources.handle import Traced
from model.trace import AttentionRecord, Facts, Site, Stream, Trace
from model.verify.check import Check
from model.verify.self_check import check

LEFT = Stream("left", "patches", tuple(f"<patch {i}>" for i in range(5)))
RIGHT = Stream("right", "text", ("seven", " words", " with", " no", " vocabulary", " at", " all"))
HEADS, WIDTH, LAYERS = 3, 4, 2


def record(site: Site, queries: Stream, keys: Stream, seed: int) -> AttentionRecord:
    """Attention of random q, k and v, computed here."""
    rng = np.random.default_rng(seed)
    shape = (HEADS, len(queries), len(keys))
    q, k, v, bias = (
        rng.normal(size=size).astype(np.float32)
        for size in (
            (HEADS, len(queries), WIDTH),
            (HEADS, len(keys), WIDTH),
            (HEADS, len(keys), WIDTH),
            shape,
        )
    )
    mask = rng.random(shape) < 0.7
    mask[..., 0] = True  # no row is empty
    scores = q @ k.swapaxes(1, 2) + bias
    weights = np.where(mask, np.exp(scores), 0)
    pattern = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    named = {"site": site, "queries": queries.name, "keys": keys.name, "scale": 1.0}
    arrays = {"q": q, "k": k, "v": v, "bias": bias, "mask": mask, "z": pattern @ v}
    return AttentionRecord(**named, **arrays, scores=scores, pattern=pattern)


def made_up_trace() -> Trace:
    """Two layers of: left reads itself, right reads itself, right reads left."""
    attention = [
        record(Site(stack, kind, layer), queries, keys, seed=10 * layer + number)
        for layer in range(LAYERS)
        for number, (stack, kind, queries, keys) in enumerate(
            (
                ("left", "self", LEFT, LEFT),
                ("right", "self", RIGHT, RIGHT),
                ("right", "cross", RIGHT, LEFT),
            )
        )
    ]
    return Trace(Facts(architecture="made-up"), (LEFT, RIGHT), tuple(attention))


class MadeUp:
    """The source and, once opened, its only model."""

    name = "two-streams"
    input_kind = None
    offers: frozenset[str] = frozenset()

    def names(self) -> list[str]:
        return [self.name]

    def revision(self, name: str) -> str:
        return "1"

    def open(self, name: str, device: str) -> "MadeUp":
        return self

    def trace(self, text: str) -> Traced:
        return Traced(made_up_trace(), n_cut=0)

    def check(self, trace: Trace) -> tuple[Check, ...]:
        return check(trace)
