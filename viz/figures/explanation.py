"""What arrows weigh against what they change, and what tokens are worth by several measures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER, digits
from viz.figures.build import LEGEND_BELOW, Extras, Sheet, TickLabels, build
from viz.figures.heatmap import Scale, colored
from viz.labels import clipped, escape, thinned
from viz.theme import Palette

HEIGHT = 440
LABEL_CHARACTERS = 14
RELATIVE = Scale("of the row’s largest", -1.0, 1.0, signed=True)


@dataclass(frozen=True, eq=False)
class Cloud:
    """Arrows as points: a measure (N,), the effect of removing each (N,), and what each is called.

    `marked` are the numbers of those to ring, by what their ring is called. The names are plain
    text. Effects that are `estimated` are hollow.
    """

    measure: np.ndarray
    effects: np.ndarray
    names: Sequence[str]
    marked: dict[str, int]
    estimated: np.ndarray


def arrow_scatter(cloud: Cloud, title: str, words: tuple[str, str], colors: Palette) -> go.Figure:
    """Every arrow: the measure across, what its removal takes from the metric upward.

    words: the measure's name, and the unit of the metric.
    """
    measure, unit = words
    names = [
        f"{escape(name)}{', estimate' if is_estimate else ''}"
        for name, is_estimate in zip(cloud.names, cloud.estimated, strict=True)
    ]
    symbols = np.where(cloud.estimated, "circle-open", "circle").tolist()
    dots = go.Scatter(
        x=cloud.measure,
        y=cloud.effects,
        mode="markers",
        marker={"color": colors.series[0], "size": 6, "opacity": 0.55, "symbol": symbols},
        customdata=names,
        hovertemplate=f"<b>%{{customdata}}</b><br>{measure} <b>%{{x:{HOVER}}}</b><br>"
        f"removed, the metric loses <b>%{{y:{HOVER}}}</b><extra></extra>",
        showlegend=False,
    )
    rings = [
        go.Scatter(
            x=[cloud.measure[number]],
            y=[cloud.effects[number]],
            mode="markers",
            name=name,
            marker={
                "color": color,
                "size": 13,
                "symbol": "circle-open",
                "line": {"width": 3},
            },
            hoverinfo="skip",
        )
        for (name, number), color in zip(
            cloud.marked.items(),
            (*colors.series[1:4], colors.frame),
            strict=False,
        )
    ]
    return build(
        [dots, *rings],
        colors,
        Sheet(HEIGHT, title),
        x={"title": measure},
        y={"title": f"lost without the edge, {unit}"},
        extras=Extras(layout=LEGEND_BELOW),
    )


def token_rows(
    rows: dict[str, np.ndarray], names_of_tokens: Sequence[str], colors: Palette, title: str
) -> go.Figure:
    """What each token is worth by each measure, (T,) each; colours: of the row's largest.

    On hover the number itself. The first row is on top.
    """
    labels = [escape(clipped(label, LABEL_CHARACTERS)) for label in names_of_tokens]
    shown = thinned(len(labels), 40, each=1)
    values = np.stack(list(rows.values()))
    largest = np.abs(values).max(axis=1, keepdims=True)
    names = list(rows)
    cells = go.Heatmap(
        z=values / np.where(largest > 0, largest, 1.0),
        x=list(range(len(labels))),
        y=list(range(len(names))),
        **colored(RELATIVE, colors, xref="container", x=0.01),
        xgap=1,
        ygap=2,
        hovertext=[
            [f"<b>{label}</b><br>{name}<br>{digits(float(value), 4)}" for label, value in found]
            for name, found in (
                (n, zip(labels, values[i], strict=True)) for i, n in enumerate(names)
            )
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    return build(
        [cells],
        colors,
        Sheet(170 + 34 * len(names), title, top=84),
        x={
            "tickvals": list(shown),
            "ticktext": [labels[i] for i in shown],
            "tickangle": -50,
            "showgrid": False,
            "zeroline": False,
        },
        y={
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
        labels=TickLabels(names, labels),
    )
