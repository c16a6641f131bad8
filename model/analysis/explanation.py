"""Is attention explanation? What arrows weigh, beside what removing them changes in the answer.

An arrow is one weight of one head: a query that attends to a key. Removed, its weight is zero and
the others of the row stay as they are, unlike in Jain & Wallace 2019, §4, who put other
distributions in place of the whole row. Each removal is a run of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import (
    MOST_AT_ONCE,
    Branch,
    Branches,
    Changes,
    check_gradients,
    logits_at,
)
from model.analysis.exact import Filling
from model.analysis.interventions import Given, is_picture, run_rows
from model.analysis.metrics import Metric
from model.architectures.base import Transformer
from model.attention import share_kv_heads
from model.device import wide
from model.kv_cache import KVCache
from model.masks import CausalConfig, bidirectional_prefix
from model.tap import Edit, Gradients, attach
from model.trace import Site

MOST_HELD = 128e6  # bytes of keys and values that a batch has beside its own
HEAVY, LIGHT = 0.5, 0.1  # weights that are much and little


@dataclass(frozen=True, eq=False)
class Arrows:
    """A number of one prediction, and the arrows that are looked at.

    They are those of one query of one group of heads, such as decoder.cross_attn: without a
    `group` of the only stack there is, without `at` of the position that predicts.
    """

    model: Transformer
    given: Given
    metric: Metric
    group: str = ""
    at: int | None = None

    @property
    def query(self) -> int:
        """The position whose arrows these are."""
        return self.metric.position if self.at is None else self.at

    @property
    def sites(self) -> list[Site]:
        """Where the layers of the group attend."""
        group = self.group or self.model.sites[0].group
        return [site for site in self.model.sites if site.group == group]

    @property
    def lengths(self) -> dict[str, int]:
        """How many tokens go through each stack, by its name; of a picture the patches and one."""
        stacks, model = dict.fromkeys(site.stack for site in self.model.sites), self.model
        if is_picture(self.given):
            return dict.fromkeys(stacks, model.config.max_seq_len)
        rows = self.given if isinstance(self.given, tuple) and len(stacks) > 1 else (self.given,)
        return {stack: len(np.asarray(row)) for stack, row in zip(stacks, rows, strict=True)}

    @property
    def tokens(self) -> list[tuple[str, int]]:
        """Every token there is, as its stack and its place there."""
        return [(stack, i) for stack, n in self.lengths.items() for i in range(n)]


@dataclass(frozen=True, eq=False)
class Measured:
    """What one run says of the arrows of its query, (L, H, T) each, and of all patterns.

    weights: α. norms: ‖α · v · W_O‖ (Kobayashi et al. 2020, §3). gradients: α · ∂metric/∂α.
    patterns: (L, H, Tq, T). value: the metric. token_weights: of each of the question's tokens the
    mean weight, over all heads, by which the position that predicts attends to it.
    """

    weights: np.ndarray
    norms: np.ndarray
    gradients: np.ndarray
    patterns: np.ndarray
    value: float
    token_weights: np.ndarray


def measure(question: Arrows) -> Measured:
    """One run, forward and back. ValueError for a text of which there is too much to keep."""
    check_gradients(question.model, max(question.lengths.values()))
    gradients = Gradients(("pattern", "v"))
    with torch.enable_grad():
        logits = logits_at(
            question.model, question.given, question.metric.position, attach(gradients)
        )
        metric = question.metric.of(logits)[0]
        by_address = gradients.of(metric)
    addresses = [site.address for site in question.sites]
    patterns = torch.cat([gradients.values[f"{address}.pattern"] for address in addresses])
    slopes = torch.cat([by_address[f"{address}.pattern"] for address in addresses])
    weights = patterns[:, :, question.query].detach()  # (L, H, T)
    lengths = torch.stack(
        [
            _written_lengths(
                question.model, site, gradients.values[f"{site.address}.v"][0].detach()
            )
            for site in question.sites
        ]
    )
    return Measured(
        _numpy(weights),
        _numpy(weights * lengths),
        _numpy(weights * slopes[:, :, question.query]),
        _numpy(patterns.detach()),
        float(metric.detach()),
        _token_weights(question, gradients.values),
    )


def _token_weights(question: Arrows, values: Mapping[str, Tensor]) -> np.ndarray:
    """Mean weights of what predicts, of a translation on the source and then on the target."""
    own = [site for site in question.model.sites if site.stack == question.model.sites[-1].stack]
    means = []
    for kind in ("cross", "self"):
        patterns = [values[f"{site.address}.pattern"] for site in own if site.kind == kind]
        if patterns:  # (L, H, Tq, Tk)
            row = torch.cat(patterns).detach()[:, :, question.metric.position]
            means.append(row.mean(dim=(0, 1)))  # (Tk,)
    return _numpy(torch.cat(means))


def _written_lengths(model: Transformer, site: Site, v: Tensor) -> Tensor:
    """‖v · W_O‖ of each head's values, as its share of the output projection. (H, T)."""
    weights = model.output_weights(site)  # (H, Dh, D)
    values = share_kv_heads(v[None], len(weights))[0]  # (H, T, Dh)
    return (values @ weights).norm(dim=-1)


def _numpy(value: Tensor) -> np.ndarray:
    return wide(value).numpy()


# --- arrows -----------------------------------------------------------------------------------


def removals(question: Arrows, measured: Measured) -> Filling:
    """What the metric loses without each arrow of the query, (L · H · T,): gradient × weight first.

    Those that have no weight lose nothing.
    """
    tokens = len(question.tokens)
    before = _held_before(question, tokens)
    branches = Branches(question.model, question.given, question.metric.position)
    arrows = list(np.ndindex(measured.weights.shape))

    def effects(cells: Sequence[int]) -> np.ndarray:
        changes: Changes = [
            ((head, 0 if before else question.query, key), 0.0)
            for _, head, key in (arrows[cell] for cell in cells)
        ]
        layer = arrows[cells[0]][0]
        return measured.value - _without(question, layer, changes, before, branches)

    size = MOST_AT_ONCE // tokens if before is None else int(MOST_HELD / before.bytes_reserved)
    layers = [layer for layer, *_ in arrows]
    filling = Filling(measured.gradients.ravel(), layers, effects, min(MOST_AT_ONCE, size))
    filling.take(np.flatnonzero(measured.weights == 0), 0.0)
    return filling


def _held_before(question: Arrows, n_tokens: int) -> KVCache | None:
    """Room for keys and values of all tokens before a last query; None where they may change.

    They may where the query is not the last, or a mask lets tokens attend to later ones.
    """
    model = question.model
    if model.config.architecture != "decoder":
        return None
    config = cast("CausalConfig", model.config)
    is_last = question.query == question.metric.position == n_tokens - 1
    if n_tokens < 2 or not is_last or bidirectional_prefix(config) >= n_tokens:
        return None
    return _cache_like(model, n_tokens)


def _cache_like(model: Transformer, n_tokens: int) -> KVCache:
    return KVCache(model.config, n_tokens, device=model.device, dtype=model.dtype)


@torch.inference_mode()
def _without(
    question: Arrows, layer: int, changes: Changes, before: KVCache | None, branches: Branches
) -> np.ndarray:
    """The metric with each of these changes of a layer's pattern, (n,)."""
    model, address = question.model, f"{question.sites[layer].address}.pattern"
    if before is None:
        logits = branches.logits([address] * len(changes), changes)
        return _numpy(question.metric.of(logits))
    standing_in, first = branches.before(address)
    tap = attach(*standing_in, Branch(address, changes))
    ids = torch.tensor(np.asarray(question.given), device=model.device)[None]
    if not before.length:  # the first removal waits for it, no estimate does
        model(ids[:, :-1], cache=before)
    last = ids[:, -1:]
    cache = _branching(model, before, layer, len(changes))
    rows = last if model.splits else last.expand(len(changes), 1)
    beginning = {"first": first} if model.is_chain else {}
    logits = model(rows, tap=tap, cache=cache, **beginning)
    return _numpy(question.metric.of(logits[:, -1]))


def _branching(model: Transformer, before: KVCache, layer: int, n_rows: int) -> KVCache:
    """The same keys and values, in one row up to a layer and in n rows after it.

    It has n rows from the start where the model's modules take no more of them on the way.
    """
    cache = _cache_like(model, before.capacity)
    rows = torch.zeros(n_rows, dtype=torch.long, device=model.device)
    for number, (new, old) in enumerate(zip(cache.layers, before.layers, strict=True)):
        new.append(*old.held())
        new.length = old.length
        if not model.splits or number > layer:
            new.reorder(rows)
    return cache


@torch.inference_mode()
def unseen(question: Arrows) -> Iterator[tuple[int, np.ndarray]]:
    """What the metric loses where no token attends to one, itself included, in any head.

    Yields the number of the first of a few tokens, and the effects (n,) of these.
    """
    model, given, metric, tokens = (
        question.model,
        question.given,
        question.metric,
        question.tokens,
    )
    size = max(1, MOST_AT_ONCE // len(tokens))
    whole = float(metric.of(logits_at(model, given, metric.position))[0])
    for first in range(0, len(tokens), size):
        some = tokens[first : first + size]
        rows = [
            [_hiding(f"{site.address}.pattern", key) for site in model.sites if site.keys == stack]
            for stack, key in some
        ]
        logits = run_rows(model, given, rows)
        if logits.ndim > 2:  # (B, T, V)
            logits = logits[:, metric.position]
        yield first, whole - _numpy(metric.of(logits))


def _hiding(address: str, key: int) -> Edit:
    """Zero in a key's whole column; the rows are not normalised again."""

    def change(pattern: Tensor) -> Tensor:
        changed = pattern.clone()
        changed[..., key] = 0.0
        return changed

    return Edit(address, change)


# --- beside each other ------------------------------------------------------------------------


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
    arrows: dict[str, Arrow] = {}
    for name, (allowed, merit) in wanted.items():
        if allowed.any():
            best = np.where(allowed, merit, -np.inf).argmax()
            layer, head, key = np.unravel_index(best, weights.shape)
            arrows[name] = (int(layer), int(head), int(key))
    return arrows
