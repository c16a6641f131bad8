"""Is attention explanation? What arrows weigh, beside what removing them changes in the answer.

An arrow is one weight of one head: a query that attends to a key. Removed, its weight is zero and
the others of the row stay as they are, unlike in Jain & Wallace 2019, §4, who put other
distributions in place of the whole row. Each removal is a run of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import Branch, Index, logits_at
from model.analysis.interventions import Given, run_rows
from model.analysis.metrics import Metric
from model.architectures.decoder import DecoderTransformer
from model.architectures.stack import Stack
from model.attention import share_kv_heads
from model.decoding.kv_cache import KVCache
from model.masks import bidirectional_prefix
from model.tap import Edit, Gradients, attach

MOST_AT_ONCE = 512  # tokens of a batch: a piece of work that keeps nobody waiting
MOST_HELD = 8192  # tokens whose keys and values a batch has beside its own
HEAVY, LIGHT = 0.5, 0.1  # weights that are much and little


@dataclass(frozen=True, eq=False)
class Question:
    """A number of one prediction of a stack of blocks; its query is where it is predicted."""

    model: Stack
    given: Given
    metric: Metric

    @property
    def query(self) -> int:
        """The position that predicts, whose arrows these are."""
        return self.metric.position

    @property
    def sites(self) -> list[str]:
        """Where the layers attend."""
        return [f"{self.model.name}.blocks.{i}.attn" for i in range(len(self.model.blocks))]


@dataclass(frozen=True, eq=False)
class Measured:
    """What one run says of the arrows of its query, (L, H, T) each, and of all patterns.

    weights: α. norms: ‖α · v · W_O‖ (Kobayashi et al. 2020, §3). gradients: α · ∂metric/∂α.
    patterns: (L, H, T, T). value: the metric.
    """

    weights: np.ndarray
    norms: np.ndarray
    gradients: np.ndarray
    patterns: np.ndarray
    value: float


@dataclass(frozen=True, eq=False)
class Removed:
    """Effects of some arrows of one layer: what the metric loses without each.

    heads and keys say which arrows, (n,); effects: metric with all − metric without this one.
    """

    layer: int
    heads: np.ndarray
    keys: np.ndarray
    effects: np.ndarray


def measure(question: Question) -> Measured:
    """One run, forward and back."""
    gradients = Gradients(("pattern", "v"))
    with torch.enable_grad():
        logits = logits_at(question.model, question.given, question.query, attach(gradients))
        metric = question.metric.of(logits)[0]
        found = gradients.of(metric)
    patterns = torch.cat([gradients.values[f"{site}.pattern"] for site in question.sites])
    slopes = torch.cat([found[f"{site}.pattern"] for site in question.sites])
    weights = patterns[:, :, question.query].detach()  # (L, H, T)
    lengths = torch.stack(
        [
            _written_lengths(question, layer, gradients.values[f"{site}.v"][0].detach())
            for layer, site in enumerate(question.sites)
        ]
    )
    return Measured(
        _numpy(weights),
        _numpy(weights * lengths),
        _numpy(weights * slopes[:, :, question.query]),
        _numpy(patterns.detach()),
        float(metric.detach()),
    )


def _written_lengths(question: Question, layer: int, v: Tensor) -> Tensor:
    """‖v · W_O‖ of each head's values, as its share of the output projection. (H, T)."""
    attention = question.model.blocks[layer].attn
    values = share_kv_heads(v[None], attention.n_heads)[0]  # (H, T, Dh)
    weights = attention.out_proj.weight.unflatten(1, (attention.n_heads, -1))  # (D, H, Dh)
    return torch.einsum("htd,ohd->hto", values, weights).norm(dim=-1)


def _numpy(value: Tensor) -> np.ndarray:
    return value.double().cpu().numpy()


# --- arrows -----------------------------------------------------------------------------------


def removals(question: Question, measured: Measured) -> Iterator[Removed]:
    """The exact effect of every arrow of the query that has a weight, a few at a time."""
    tokens = len(np.asarray(question.given))
    before = _held_before(question, tokens)
    size = min(MOST_AT_ONCE, MOST_HELD // tokens) if before else MOST_AT_ONCE // tokens
    size = max(1, size)
    for layer in range(len(question.sites)):
        heads, keys = np.nonzero(measured.weights[layer])
        for first in range(0, len(heads), size):
            some = slice(first, first + size)
            found = _without(question, layer, heads[some], keys[some], before)
            yield Removed(layer, heads[some], keys[some], measured.value - found)


def _held_before(question: Question, n_tokens: int) -> KVCache | None:
    """Keys and values of all tokens before a query that is the last; None where they may change.

    They may where the query is not the last, or a mask lets tokens attend to later ones.
    """
    model = question.model
    if not isinstance(model, DecoderTransformer) or n_tokens < 2:
        return None
    if question.query != n_tokens - 1 or bidirectional_prefix(model.config) >= n_tokens:
        return None
    ids = torch.tensor(np.asarray(question.given), device=model.device)[None, :-1]
    cache = _cache_like(model, n_tokens)
    with torch.inference_mode():
        model.stream(ids, cache=cache)
    return cache


def _cache_like(model: DecoderTransformer, n_tokens: int) -> KVCache:
    return KVCache(model.config, n_tokens, device=model.device, dtype=model.dtype)


@torch.inference_mode()
def _without(
    question: Question, layer: int, heads: np.ndarray, keys: np.ndarray, before: KVCache | None
) -> np.ndarray:
    """The metric without each of these arrows, (n,)."""
    model, query = question.model, 0 if before else question.query
    changes: list[tuple[Index, float]] = [
        ((head, query, key), 0.0) for head, key in zip(heads.tolist(), keys.tolist(), strict=True)
    ]
    tap = attach(Branch(f"{question.sites[layer]}.pattern", changes))
    if before is None or not isinstance(model, DecoderTransformer):
        return _numpy(question.metric.of(logits_at(model, question.given, query, tap)))
    last = torch.tensor(np.asarray(question.given), device=model.device)[None, -1:]
    cache = _branching(model, before, layer, len(changes))
    return _numpy(question.metric.of(model(last, tap=tap, cache=cache)[:, -1]))


def _branching(model: DecoderTransformer, before: KVCache, layer: int, n_rows: int) -> KVCache:
    """The same keys and values, in one row up to a layer and in n rows after it."""
    cache = _cache_like(model, before.capacity)
    rows = torch.zeros(n_rows, dtype=torch.long, device=model.device)
    for number, (new, old) in enumerate(zip(cache.layers, before.layers, strict=True)):
        new.append(*old.held())
        new.length = old.length
        if number > layer:
            new.reorder(rows)
    return cache


@torch.inference_mode()
def unseen(question: Question) -> Iterator[tuple[int, np.ndarray]]:
    """What the metric loses where no token attends to a key, itself included, in any head.

    Yields the first key of a few, and the effects (n,) of these.
    """
    n_tokens = len(np.asarray(question.given))
    size = max(1, MOST_AT_ONCE // n_tokens)
    whole = float(question.metric.of(logits_at(question.model, question.given, question.query))[0])
    for first in range(0, n_tokens, size):
        keys = range(first, min(first + size, n_tokens))
        rows = [[_hiding(f"{site}.pattern", key) for site in question.sites] for key in keys]
        logits = run_rows(question.model, question.given, rows)[:, question.query]
        yield first, whole - _numpy(question.metric.of(logits))


def _hiding(address: str, key: int) -> Edit:
    """Zero in a key's whole column; the rows are not normalised again."""

    def change(pattern: Tensor) -> Tensor:
        changed = pattern.clone()
        changed[..., key] = 0.0
        return changed

    return Edit(address, change)


# --- beside each other ------------------------------------------------------------------------


def ranks(values: np.ndarray) -> np.ndarray:
    """The place of each value from 0, the smallest first; equal ones share the mean. (n,)."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts + 1) / 2)[inverse]


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation ρ; NaN where all of one are equal. (n,) each."""
    x, y = ranks(np.asarray(first).ravel()), ranks(np.asarray(second).ravel())
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


Arrow = tuple[int, int, int]  # layer, head, key


def telling_arrows(weights: np.ndarray, effects: np.ndarray) -> dict[str, Arrow]:
    """Arrows by which weight and effect part, (L, H, T) each: those of these that there are.

    idle: of the heavy ones that with the least effect. strong: of the light ones that with the
    greatest. against: of the heavy ones that whose removal helps the answer most.
    """
    heavy, light = weights >= HEAVY, (weights <= LIGHT) & (weights > 0)
    sizes = np.abs(effects)
    wanted = {
        "idle": (heavy, -sizes),
        "strong": (light, sizes),
        "against": (heavy & (effects < 0), -effects),
    }
    found: dict[str, Arrow] = {}
    for name, (allowed, merit) in wanted.items():
        if allowed.any():
            best = np.where(allowed, merit, -np.inf).argmax()
            layer, head, key = np.unravel_index(best, weights.shape)
            found[name] = (int(layer), int(head), int(key))
    return found
