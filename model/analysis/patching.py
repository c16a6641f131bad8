"""Activation patching: which value of one run, put into another, brings its answer back.

Two inputs of equally many tokens are run. One value of the run that is the `source` replaces the
same value of the other, the `base`, and the rest is computed from there (Vig et al. 2020, §3; Meng
et al. 2022, §2.1; Wang et al. 2023). Each cell of a grid is a forward pass of its own.
Attribution patching estimates all cells at once: gradient times difference (Nanda 2023).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import Branch, Index, logits_at
from model.analysis.interventions import Given
from model.analysis.metrics import Metric
from model.architectures.base import Transformer
from model.architectures.encoder_decoder import ENCODER
from model.config import EncoderDecoderConfig
from model.lines import quoted
from model.tap import Gradients, Recorder, attach

OVER_POSITIONS = ("resid_pre", "attn_out", "ffn_out")  # (L, T) each
OVER_HEADS = "z"  # (L, H)
GRIDS = (*OVER_POSITIONS, OVER_HEADS)
MOST_AT_ONCE = 512  # tokens of a batch: a piece of work that keeps nobody waiting
SPACE = "␣"  # in words, of a token that is nothing else
EVEN = 1e-4  # of the largest; values this close differ by rounding alone
SAME = 1e-9  # metrics that differ by less leave nothing to bring back


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
        config = self.model.config
        if isinstance(config, EncoderDecoderConfig) and self.stack == ENCODER:
            return config.n_encoder_layers
        return config.n_layers

    def address(self, grid: str, layer: int) -> str:
        """Where the values of one row of a grid are."""
        part = f"attn.{grid}" if grid == OVER_HEADS else grid
        return f"{self.stack}.blocks.{layer}.{part}"


@dataclass(frozen=True, eq=False)
class Kept:
    """What both runs held: values (1, …) by address, and the metric of each."""

    base: dict[str, Tensor]
    source: dict[str, Tensor]
    of_base: float
    of_source: float

    @property
    def gap(self) -> float:
        """What there is to bring back; 0 where the metrics are the same."""
        found = self.of_source - self.of_base
        return found if abs(found) > SAME else 0.0

    def restored(self, values: np.ndarray) -> np.ndarray:
        """Metrics as shares of the gap: 0 as the base, 1 as the source. NaN without a gap."""
        return (values - self.of_base) / self.gap if self.gap else np.full(values.shape, np.nan)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some cells of one row of a grid, from column `first` on, as metrics (n,)."""

    grid: str
    layer: int
    first: int
    values: np.ndarray


@dataclass(eq=False)
class Patched:
    """Grids of metrics, (L, T) or (L, H), NaN where nothing was computed yet."""

    kept: Kept
    values: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def n_done(self) -> int:
        """Cells that are there."""
        return sum(int(np.isfinite(grid).sum()) for grid in self.values.values())

    @property
    def n_cells(self) -> int:
        """Cells in all."""
        return sum(grid.size for grid in self.values.values())

    def take(self, piece: Piece) -> None:
        """Fill in a piece."""
        last = piece.first + len(piece.values)
        self.values[piece.grid][piece.layer, piece.first : last] = piece.values


@torch.inference_mode()
def run_both(pair: Pair) -> Kept:
    """Both inputs, each run once. ValueError where they have different numbers of tokens."""
    check_lengths(pair.base, pair.source)

    def run(given: Given) -> tuple[dict[str, Tensor], float]:
        recorder = Recorder(GRIDS)
        logits = logits_at(pair.model, given, pair.metric.position, attach(recorder))
        return recorder.values, float(pair.metric.of(logits)[0])

    (base, of_base), (source, of_source) = run(pair.base), run(pair.source)
    return Kept(base, source, of_base, of_source)


def check_lengths(base: Given, source: Given) -> None:
    """ValueError where two inputs have different numbers of tokens."""
    sizes = [tuple(np.asarray(part).size for part in _parts(given)) for given in (base, source)]
    if sizes[0] != sizes[1]:
        first, second = (" + ".join(map(str, size)) for size in sizes)
        raise ValueError(
            f"the inputs have {first} and {second} tokens; a value can replace another only where "
            "both have as many"
        )


def parting(first: Sequence[str], second: Sequence[str]) -> str:
    """Why values of two texts cannot be exchanged, in words: how many tokens, where they part."""
    pairs = zip(first, second, strict=False)
    n_same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    here, there = (
        f"“{quoted(row[n_same].strip()) or SPACE}”" if n_same < len(row) else "the end"
        for row in (first, second)
    )
    return (
        f"the first sentence has {len(first)} tokens, the second {len(second)}; they part at "
        f"{here} and {there}: give both as many"
    )


def _parts(given: Given) -> Sequence[object]:
    return given if isinstance(given, tuple) else (given,)


def begin(pair: Pair) -> Patched:
    """Both runs, and grids with nothing in them."""
    kept = run_both(pair)
    columns = {grid: _n_columns(kept.base[pair.address(grid, 0)], grid) for grid in GRIDS}
    empty = {grid: np.full((pair.n_layers, n), np.nan) for grid, n in columns.items()}
    return Patched(kept, empty)


def _n_columns(value: Tensor, grid: str) -> int:
    """Heads of z (1, H, T, Dh), positions of all else (1, T, D)."""
    return value.shape[1]


def pieces(pair: Pair, kept: Kept, grids: Sequence[str] = GRIDS) -> Iterator[Piece]:
    """Every cell of the grids, exact, a few at a time, layer by layer.

    Where both runs hold the same numbers nothing is replaced, and the base's metric stands.
    """
    for layer in range(pair.n_layers):
        for grid in grids:
            address = pair.address(grid, layer)
            base, source = kept.base[address][0], kept.source[address][0]
            n_tokens = source.shape[-2]
            size = max(1, MOST_AT_ONCE // n_tokens)
            for first in range(0, len(source), size):
                last = min(first + size, len(source))
                values = np.full(last - first, kept.of_base)
                changed = [i for i in range(first, last) if not torch.equal(base[i], source[i])]
                if changed:
                    found = patched(pair, address, [((i,), source[i]) for i in changed])
                    values[np.array(changed) - first] = found
                yield Piece(grid, layer, first, values)


@torch.inference_mode()
def patched(
    pair: Pair, address: str, changes: Sequence[tuple[Index, Tensor | float]]
) -> np.ndarray:
    """The base's metric with each of these changes of one value made alone, (n,)."""
    branch = Branch(address, changes)
    position, tap = pair.metric.position, attach(branch)
    logits = logits_at(pair.model, pair.base, position, tap, len(changes))
    return pair.metric.of(logits).cpu().numpy()


def estimated(pair: Pair, kept: Kept) -> dict[str, np.ndarray]:
    """Attribution patching: the metric of each cell to first order, by grid.

    metric of the base + Σ gradient · (source − base), the gradient taken in the base (Nanda 2023;
    Syed et al. 2023).
    """
    gradients = Gradients(GRIDS)
    with torch.enable_grad():
        logits = logits_at(pair.model, pair.base, pair.metric.position, attach(gradients))
        found = gradients.of(pair.metric.of(logits)[0])

    def row(grid: str, layer: int) -> Tensor:
        address = pair.address(grid, layer)
        difference = kept.source[address] - kept.base[address]
        return (found[address].double() * difference.double())[0].flatten(1).sum(dim=1)

    return {
        grid: kept.of_base
        + torch.stack([row(grid, layer) for layer in range(pair.n_layers)]).cpu().numpy()
        for grid in GRIDS
    }


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's r of two arrays of one shape, over the cells both have.

    NaN where one is even: its values differ by no more than float32's rounding.
    """
    both = np.isfinite(first) & np.isfinite(second)
    x, y = first[both], second[both]
    if len(x) < 2 or any(np.ptp(row) <= EVEN * np.abs(row).max() for row in (x, y)):
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])
