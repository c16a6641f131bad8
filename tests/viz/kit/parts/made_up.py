"""A made-up run of two streams: three kinds of attention, and nothing that a decoder would promise.

7 source tokens and 5 target tokens; self-attention in both, cross-attention between them. Masks of
the target are per head, and it has a soft cap and sinks; cross-attention has a bias and scale 1,
key-value heads are shared there.
There are no ids, no logits, no weights.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from model.trace import AttentionKind, AttentionRecord, Facts, HeadGroup, Site, Stream, Trace
from viz.kit.part import Part
from viz.kit.parts.attention import STATE, OtherRun, attention_part

SOURCE = ("Das", " <b>Tier</b>", " war", " zu", " müde", ".", "</s>")
TARGET = ("<s>", "The", " animal", " was", " tired")
N_LAYERS, N_HEADS, D_HEAD = 2, 4, 6
CROSS = "target.cross_attn"
LABELS = {  # as they are shown
    name: [token.strip() for token in tokens]
    for name, tokens in (("source", SOURCE), ("target", TARGET))
}
SOFTCAP, SINKS = 1.0, np.array([2.0, -1.0, 0.5, 3.0])


@cache
def two_streams(seed: int = 0) -> Trace:
    """The trace."""
    random = np.random.default_rng(seed)
    return Trace(
        Facts(architecture="made-up"),
        (Stream("source", "text", SOURCE), Stream("target", "text", TARGET)),
        tuple(
            _record(random, Site(stack, kind, layer))
            for stack, kind in (("source", "self"), ("target", "self"), ("target", "cross"))
            for layer in range(N_LAYERS)
        ),
    )


def group_of(name: str) -> HeadGroup:
    """A group of it."""
    return two_streams().group(name)


def attention(
    trace: Trace | None = None, runs: Sequence[OtherRun] = (), **settings: object
) -> Part:
    """All its heads, or those of a run like it; with other runs a person may type one."""
    chosen, takes_text = {**STATE, **settings}, bool(runs)
    of = trace or two_streams()
    return attention_part(of, "a key", "made-up", chosen, runs, takes_text=takes_text)


def _record(random: np.random.Generator, site: Site) -> AttentionRecord:
    """Attention as the definition has it: softmax of scale · q·kᵀ + bias where allowed, times v."""
    n_queries = len(SOURCE if site.stack == "source" else TARGET)
    n_keys = len(SOURCE) if site.kind == "cross" else n_queries
    n_kv_heads = 2 if site.kind == "cross" else N_HEADS
    q = random.normal(size=(N_HEADS, n_queries, D_HEAD))
    k, v = random.normal(size=(2, n_kv_heads, n_keys, D_HEAD))
    scale = 1.0 if site.kind == "cross" else D_HEAD**-0.5
    square = (N_HEADS, n_queries, n_keys)
    bias = random.normal(size=square) if site.kind == "cross" else None
    mask = _mask(site.kind, site.stack, square)
    shared = N_HEADS // n_kv_heads
    scores = scale * q @ np.repeat(k, shared, axis=0).swapaxes(1, 2)
    scores = scores if bias is None else scores + bias
    is_bent = site.stack == "target" and site.kind == "self"
    scores = SOFTCAP * np.tanh(scores / SOFTCAP) if is_bent else scores
    powers = np.where(mask, np.exp(scores), 0)
    totals = powers.sum(axis=-1, keepdims=True)
    totals = totals + (np.exp(SINKS)[:, None, None] if is_bent else 0)
    pattern = np.divide(powers, totals, out=np.zeros_like(powers), where=totals > 0)
    arrays = {"q": q, "k": k, "v": v, "scores": scores, "pattern": pattern}
    arrays["z"] = pattern @ np.repeat(v, shared, axis=0)
    floats = {name: array.astype(np.float32) for name, array in arrays.items()}
    return AttentionRecord(
        site=site,
        queries=site.stack,
        keys="source" if site.kind == "cross" else site.stack,
        scale=scale,
        bias=None if bias is None else bias.astype(np.float32),
        mask=mask,
        softcap=SOFTCAP if is_bent else None,
        sinks=SINKS.astype(np.float32) if is_bent else None,
        **floats,
    )


def _mask(kind: AttentionKind, stack: str, square: tuple[int, ...]) -> np.ndarray:
    """The source attends to all of itself, the target in windows per head; cross not to the end."""
    n_heads, n_queries, n_keys = square
    if kind == "cross":
        return np.broadcast_to(np.arange(n_keys) < n_keys - 1, (n_queries, n_keys)).copy()
    if stack == "source":
        return np.ones((n_queries, n_keys), dtype=bool)
    distance = np.arange(n_queries)[:, None] - np.arange(n_keys)
    return np.stack([(distance >= 0) & (distance <= head) for head in range(n_heads)])
