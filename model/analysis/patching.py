"""Activation patching: which value of one run, put into another, brings its answer back.

Two inputs of equally many tokens are run. One value of the run that is the `source` replaces the
same value of the other, the `base`, and the rest is computed from there (Vig et al. 2020, §3; Meng
et al. 2022, §2.1; Wang et al. 2023). Each cell of a grid is a forward pass of its own.
Attribution patching estimates all cells at once: gradient times difference (Nanda 2023).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import (
    MOST_AT_ONCE,
    Branches,
    check_gradients,
    logits_at,
    longest_of,
)
from model.analysis.exact import Filling
from model.analysis.interventions import Given, n_at_once
from model.analysis.metrics import Metric, rounding
from model.architectures.base import Transformer
from model.device import wide
from model.lines import quoted
from model.tap import Gradients, Recorder, attach

OVER_POSITIONS = ("resid_pre", "attn_out", "ffn_out")  # (L, T) each
OVER_HEADS = "z"  # (L, H)
GRIDS = (*OVER_POSITIONS, OVER_HEADS)
SPACE = "␣"  # in words, of a token that is nothing else


@dataclass(frozen=True, eq=False)
class Pair:
    """Two runs of one model: one value of `source` is to replace that of `base`.

    Both are inputs with equally many tokens. `stack` begins the addresses of what is patched.
    """

    model: Transformer
    base: Given
    source: Given
    metric: Metric
    stack: str = "decoder"

    @property
    def n_layers(self) -> int:
        """Blocks of the stack."""
        return self.model.n_blocks(self.stack)

    def address(self, grid: str, layer: int) -> str:
        """Where the values of one row of a grid are."""
        part = f"attn.{grid}" if grid == OVER_HEADS else grid
        return f"{self.stack}.blocks.{layer}.{part}"


@dataclass(frozen=True, eq=False)
class Kept:
    """What both runs held: values (1, …) by address, and the metric of each.

    `slopes` are the gradients of the base's metric by its values; none of a text too long for them.
    """

    base: dict[str, Tensor]
    source: dict[str, Tensor]
    of_base: float
    of_source: float
    slopes: dict[str, Tensor]
    rounding: float  # of the metrics

    @property
    def gap(self) -> float:
        """What there is to bring back; 0 where the metrics are the same, but for rounding."""
        gap = self.of_source - self.of_base
        return gap if abs(gap) > self.rounding else 0.0

    def restored(self, values: np.ndarray) -> np.ndarray:
        """Metrics as shares of the gap: 0 as the base, 1 as the source. NaN without a gap."""
        return (values - self.of_base) / self.gap if self.gap else np.full(values.shape, np.nan)


@dataclass(frozen=True, eq=False)
class Patched:
    """What both runs held, and metrics cell by cell as they come in."""

    kept: Kept
    filling: Filling
    shapes: dict[str, tuple[int, int]]

    @property
    def exact(self) -> dict[str, np.ndarray]:
        """Grids of metrics, (L, T) or (L, H), NaN where nothing was computed yet."""
        return self.grids(self.filling.exact)

    @property
    def estimate(self) -> dict[str, np.ndarray]:
        """The metric of each cell to first order; see `estimated`."""
        return self.grids(self.filling.estimate)

    def grids(self, cells: np.ndarray) -> dict[str, np.ndarray]:
        """A number of each cell as grids."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        rows = np.split(cells, ends[:-1])
        return {n: row.reshape(at) for (n, at), row in zip(self.shapes.items(), rows, strict=True)}

    def number(self, grid: str, layer: int, column: int) -> int:
        """Which cell of the filling one of a grid is."""
        return int(self.grids(np.arange(len(self.filling.exact)))[grid][layer, column])


def run_both(pair: Pair) -> Kept:
    """Both inputs, each run once. ValueError where they have different numbers of tokens."""
    check_lengths(pair.base, pair.source)
    base, source = Gradients(GRIDS), Recorder(GRIDS)

    def run(given: Given, recorder: Recorder) -> tuple[Tensor, float]:
        logits = logits_at(pair.model, given, pair.metric.position, attach(recorder))
        return pair.metric.of(logits)[0], rounding(logits.detach())

    try:
        check_gradients(pair.model, longest_of(pair.base))
    except ValueError:
        base = Recorder(GRIDS)
    with torch.set_grad_enabled(isinstance(base, Gradients)):
        of_base, about = run(pair.base, base)
        slopes = base.of(of_base) if isinstance(base, Gradients) else {}
    with torch.inference_mode():
        of_source, _ = run(pair.source, source)
    values = {address: value.detach() for address, value in base.values.items()}
    return Kept(values, source.values, of_base.item(), of_source.item(), slopes, about)


def check_lengths(base: Given, source: Given) -> None:
    """ValueError where two inputs have different numbers of tokens."""
    sizes = [tuple(np.asarray(part).size for part in _parts(given)) for given in (base, source)]
    if sizes[0] != sizes[1]:
        first, second = (" + ".join(map(str, size)) for size in sizes)
        raise ValueError(
            f"the inputs have {first} and {second} tokens; a value can replace another only where "
            "both have as many"
        )


def check_tokens(first: Sequence[str], second: Sequence[str]) -> None:
    """ValueError where two texts have different numbers of tokens: how many, where they part."""
    if len(first) == len(second):
        return
    pairs = zip(first, second, strict=False)
    n_same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    here, there = (
        f"“{quoted(row[n_same].strip()) or SPACE}”" if n_same < len(row) else "the end"
        for row in (first, second)
    )
    raise ValueError(
        f"the first sentence has {len(first)} tokens, the second {len(second)}; they part at "
        f"{here} and {there}: give both as many"
    )


def _parts(given: Given) -> Sequence[object]:
    return given if isinstance(given, tuple) else (given,)


def begin(pair: Pair) -> Patched:
    """Both runs and the estimate; every cell is a run of its own, which waits for its turn.

    Where both runs hold the same numbers nothing is replaced, and the base's metric stands. Of a
    text that is too long nothing is estimated.
    """
    kept = run_both(pair)
    shapes = {grid: (pair.n_layers, _n_columns(kept.base[pair.address(grid, 0)])) for grid in GRIDS}
    cells = [(name, i, j) for name, (n, m) in shapes.items() for i, j in np.ndindex(n, m)]
    estimate = np.full(len(cells), np.nan)
    if kept.slopes:
        estimate = np.concatenate([x.ravel() for x in estimated(pair, kept).values()])
    branches = Branches(pair.model, pair.base, pair.metric.position, kept.base)

    def metrics(numbers: Sequence[int]) -> np.ndarray:
        grid, layer, _ = cells[numbers[0]]
        address = pair.address(grid, layer)
        places = [cells[number][2] for number in numbers]
        changes = [((place,), kept.source[address][0, place]) for place in places]
        logits = branches.logits([address] * len(changes), changes)
        return pair.metric.of(logits).cpu().numpy()

    at_once = n_at_once(pair.base, MOST_AT_ONCE)
    filling = Filling(estimate, [cell[:2] for cell in cells], metrics, at_once, kept.of_base)
    for number, (grid, layer, place) in enumerate(cells):
        base, source = (x[pair.address(grid, layer)][0, place] for x in (kept.base, kept.source))
        if torch.equal(base, source):
            filling.take([number], kept.of_base)
    return Patched(kept, filling, shapes)


def _n_columns(value: Tensor) -> int:
    """Heads of z (1, H, T, Dh), positions of all else (1, T, D)."""
    return value.shape[1]


def estimated(pair: Pair, kept: Kept) -> dict[str, np.ndarray]:
    """Attribution patching: the metric of each cell to first order, by grid.

    metric of the base + Σ gradient · (source − base), the gradient taken in the base (Nanda 2023;
    Syed et al. 2023).
    """

    def row(grid: str, layer: int) -> Tensor:
        address = pair.address(grid, layer)
        difference = kept.source[address] - kept.base[address]
        return (wide(kept.slopes[address]) * wide(difference))[0].flatten(1).sum(dim=1)

    return {
        grid: kept.of_base
        + torch.stack([row(grid, layer) for layer in range(pair.n_layers)]).numpy()
        for grid in GRIDS
    }
