"""Figures of the lesson on several heads: W_O, what heads write, their spectra, their likeness."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, build
from viz.figures.heatmap import Axis, Look, Scale, heat_map, signed
from viz.figures.lines import frame
from viz.labels import axis_labels
from viz.theme import Palette

HEIGHT = 400
FEW = 8  # numbered rows of a large matrix
SIDE = 430  # pixels of a map of heads by heads


def side_by_side(z: np.ndarray, head: int, colors: Palette, title: str) -> go.Figure:
    """Each head's slice of one token, (H, Dh), a row for each; the chosen one framed."""
    axes = Axis("head", _heads(len(z))), Axis("column of its slice", _numbers(z.shape[1]))
    framed = _framed((head, head), (0, z.shape[1] - 1), colors)
    return heat_map(z, axes, signed("z", z), colors, title=title, look=_look(framed))


def output_map(w_o: np.ndarray, heads: tuple[int, int], colors: Palette, title: str) -> go.Figure:
    """W_O, (D, H·Dh), the columns that meet one head's z framed. heads: which, and how many."""
    head, n_heads = heads
    width = w_o.shape[1] // n_heads
    axes = (
        Axis("row: a column of the stream", _numbers(len(w_o))),
        Axis("columns by head", _numbers(w_o.shape[1])),
    )
    framed = _framed((0, len(w_o) - 1), (head * width, (head + 1) * width - 1), colors)
    figure = heat_map(w_o, axes, signed("weight", w_o), colors, title=title, look=_look(framed))
    shown = _numbers(len(w_o))[:: max(1, len(w_o) // FEW)]
    middles = [str(h * width + width // 2) for h in range(n_heads)]
    figure.update_xaxes(tickvals=middles, ticktext=_heads(n_heads))
    figure.update_yaxes(tickvals=shown, ticktext=shown)
    return figure


def written_map(
    lengths: np.ndarray, tokens: Sequence[str], head: int, colors: Palette, title: str
) -> go.Figure:
    """How much each head writes for each token, (H, T); the chosen head framed."""
    axes = Axis("head", _heads(len(lengths))), Axis("token", axis_labels(tokens))
    scale = Scale("length", 0.0, float(lengths.max(initial=0.0)) or 1.0)
    framed = _framed((head, head), (0, len(tokens) - 1), colors)
    look = Look(square=False, height=HEIGHT, shapes=[framed])
    return heat_map(lengths, axes, scale, colors, title=title, look=look)


def spectrum_lines(values: np.ndarray, head: int, colors: Palette, title: str) -> go.Figure:
    """Singular values of each head, (H, Dh), falling; the chosen head's line is strong."""
    lines = [
        go.Scatter(
            x=list(range(1, values.shape[1] + 1)),
            y=row,
            name=f"H{h}",
            mode="lines",
            line={
                "color": colors.series[0] if h == head else colors.muted,
                "width": 4 if h == head else 1.2,
            },
            opacity=1.0 if h == head else 0.6,
            hovertemplate=f"H{h}, number %{{x}}: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for h, row in enumerate(values)
    ]
    return build(
        lines,
        colors,
        Sheet(HEIGHT, title),
        x={"title": "number, largest first", "showgrid": False},
        y={"title": "singular value", "rangemode": "tozero"},
        extras=Extras(layout=LEGEND_BELOW),
    )


def alike_map(
    cosines: np.ndarray, heads: tuple[int, int | None], colors: Palette, title: str
) -> go.Figure:
    """The cosine of every two heads, (H, H). heads: the chosen one, and the one most like it."""
    head, other = heads
    labels = _heads(len(cosines))
    others = [] if other is None else [other]
    return heat_map(
        cosines,
        (Axis("head", labels), Axis("head ", labels)),
        Scale("cosine", -1.0, 1.0, signed=True),
        colors,
        title=title,
        look=Look(
            turned=0,
            height=SIDE,
            shapes=[_framed((head, head), (one, one), colors) for one in others],
        ),
    )


def _look(framed: dict[str, Any]) -> Look:
    return Look(square=False, turned=0, height=HEIGHT, shapes=[framed])


def _framed(rows: tuple[int, int], columns: tuple[int, int], colors: Palette) -> dict[str, Any]:
    return frame(rows, columns, {"color": colors.frame, "width": 3})


def _heads(n_heads: int) -> list[str]:
    return [f"H{head}" for head in range(n_heads)]


def _numbers(n: int) -> list[str]:
    return list(map(str, range(n)))
