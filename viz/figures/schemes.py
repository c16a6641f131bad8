"""Position schemes as charts: angles, slopes, other orders, and models side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viz.charts.chart import (
    Axis,
    Bars,
    Cells,
    Chart,
    Hidden,
    Line,
    Pen,
    Row,
    Rule,
    Scale,
    numbered,
    signed,
    tokens,
    weights,
)

MOST_WRITTEN = 16  # bars with room for their numbers
TURN = 2 * np.pi


def angle_map(frequencies: np.ndarray, n_positions: int) -> Chart:
    """How far each pair is rotated at each position, in turns from 0 to 1, where 1 is 0 again.

    frequencies: (Dh/2,), radians per position.
    """
    turns = np.outer(np.arange(n_positions), frequencies) / TURN % 1
    cells = Cells(turns, Scale("angle", 0.0, 1.0, "cyclic", unit="of a turn"))
    pair, position = (Axis(name, kind="whole") for name in ("pair", "position"))
    return Chart("Angle by position and pair", pair, position, [cells])


def slope_bars(slopes: np.ndarray, title: str) -> Chart:
    """The slope of each head, (H,), on a scale where equal ratios are equal steps."""
    texts = [f"{slope:.4g}" for slope in slopes] if len(slopes) <= MOST_WRITTEN else ()
    y = Axis("slope", is_log=True, ends=(slopes.min() / 2, slopes.max() * 2))
    heads = numbered("head", "H", len(slopes))
    return Chart(title, heads, y, [Bars(slopes, texts=texts)])


@dataclass(frozen=True, eq=False)
class Part:
    """One of several maps: its title, the tokens of its rows, and values (rows, columns)."""

    title: str
    tokens: Sequence[str]
    values: np.ndarray
    hidden: np.ndarray | None = None


def vector_maps(parts: Sequence[Part], share: float = 1.0, n_scaled: int = 2) -> Row:
    """Vectors of tokens, such as outputs of two orders and their difference, (T, D) each.

    The one colour scale ends where this `share` of the first `n_scaled` lies; what is larger has
    the colour of the end.
    """
    reach = np.concatenate([part.values for part in parts[:n_scaled]])
    scale = signed("value", np.quantile(np.abs(reach), [share]) if share < 1 else reach)
    dimension = Axis("dimension", kind="whole")
    charts = [
        Chart(part.title, dimension, tokens("token", part.tokens), [Cells(part.values, scale)])
        for part in parts
    ]
    return Row(charts)


def pattern_row(parts: Sequence[Part]) -> Row:
    """The same head of several models on one sentence, patterns (T, T) in one colour scale."""
    n = max(len(part.tokens) for part in parts)
    charts = []
    for part in parts:  # a shorter one keeps its scale, and ends where it ends
        names = tokens("", part.tokens).names
        keys = Axis("key", names=names, numbered=True, ends=(-0.5, n - 0.5))
        queries = Axis("query", names=names, numbered=True, ends=(n - 0.5, -0.5))
        hidden = None if part.hidden is None else Hidden(part.hidden)
        charts.append(Chart(part.title, keys, queries, [Cells(part.values, weights(), hidden)]))
    return Row(charts, tallest=420)


def loss_curves(curves: Mapping[str, tuple[np.ndarray, int]], n_trained: int | None) -> Chart:
    """Loss by position for several models; a line marks where training ended, the same for all.

    curves: mean losses, (N,), and over how many positions each is.
    """
    lines = []
    for name, (losses, bin_size) in curves.items():
        first = np.arange(len(losses)) * bin_size
        more = {"from position": first, "to": first + bin_size - 1}
        lines.append(Line(first + bin_size / 2, losses, name, Pen(size=4), more=more))
    ended = [Rule("x", n_trained, "training ended here")] if n_trained else []
    title = "Loss by position on held-out text"
    x, y = Axis("position in the window"), Axis("loss", "nats per token")
    return Chart(title, x, y, [*lines, *ended])
