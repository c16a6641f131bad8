"""A run with parts off beside the run as it was, and what is left when head after head goes."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER, digits
from viz.figures.attribution import HEIGHT, NAME_CHARACTERS, ROW_PIXELS
from viz.figures.build import Extras, Sheet, TickLabels, build
from viz.figures.lines import mark_line
from viz.labels import clipped, escape
from viz.theme import Palette

NAMES = ("as it was", "with parts off")


def paired_answers(
    names: Sequence[str], both: tuple[np.ndarray, np.ndarray], colors: Palette, title: str
) -> go.Figure:
    """Probabilities of the same answers in two runs, two bars below each other for each name."""
    places = list(range(len(names)))
    shown = [escape(clipped(name, NAME_CHARACTERS)) for name in names]
    bars = [
        go.Bar(
            x=probs,
            y=places,
            orientation="h",
            name=name,
            marker={"color": color},
            text=[escape(digits(float(value), 3)) for value in probs],
            textposition="outside",
            cliponaxis=False,
            customdata=list(map(escape, names)),
            hovertemplate=f"<b>%{{customdata}}</b>, {name}<br>p <b>%{{x:{HOVER}}}</b>"
            "<extra></extra>",
        )
        for name, probs, color in zip(NAMES, both, colors.series, strict=False)
    ]
    return build(
        bars,
        colors,
        Sheet(max(HEIGHT, 110 + 2 * ROW_PIXELS * len(names)), title, top=84),
        x={"title": "probability", "range": [0, 1.15], "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        y={
            "tickvals": places,
            "ticktext": shown,
            "range": [len(names) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        labels=TickLabels(rows=shown),
        extras=Extras(layout={"barmode": "group", "bargap": 0.25}),
    )


def pruning_curve(
    losses: np.ndarray, names: Sequence[str], bound: float, colors: Palette, title: str
) -> go.Figure:
    """Mean loss by how many heads are off, (n + 1,); `names` say which went last. Plain text."""
    curve = go.Scatter(
        x=list(range(len(losses))),
        y=losses,
        mode="lines+markers",
        line={"color": colors.series[0], "width": 2},
        marker={"size": 6, "opacity": 1},
        customdata=list(map(escape, names)),
        hovertemplate="%{x} heads off, the last <b>%{customdata}</b><br>mean loss "
        f"<b>%{{y:{HOVER}}}</b> nats<extra></extra>",
    )
    return build(
        [curve],
        colors,
        Sheet(HEIGHT, escape(title)),
        x={"title": "heads off", "rangemode": "tozero"},
        y={"title": "mean loss (nats)"},
        extras=Extras(
            marks=[mark_line("y", bound, "the whole model’s + 5%", colors, place=("left", "top"))]
        ),
    )
