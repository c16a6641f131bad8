"""Figures of the lesson on the block: the stream step by step, norms, neurons, all blocks."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import Extras, Sheet, TickLabels, build
from viz.figures.heatmap import Axis, Look, Scale, heat_map, signed, ticks
from viz.theme import Palette

STEPS_HEIGHT, HEIGHT = 400, 400  # pixels
MOST_TICKS = 6
BESIDE_MAP = 80  # pixels above the bars that stand beside the map, as above the map
LEGEND = 84  # pixels above a figure with a title and a legend, and above one that stands beside it


def step_map(
    values: np.ndarray, names: Sequence[str], colors: Palette, *, title: str, is_shared: bool
) -> go.Figure:
    """The vector of one token after each step, (steps, D).

    Where the steps do not share their colours, values are shares of their step's largest magnitude.
    """
    dimensions = [str(number) for number in range(values.shape[-1])]
    scale = signed("value", values) if is_shared else Scale("÷ its largest", -1.0, 1.0, signed=True)
    figure = heat_map(
        values,
        (Axis("", names), Axis("dimension", dimensions)),
        scale,
        colors,
        title=title,
        look=Look(square=False, height=STEPS_HEIGHT, turned=0),
    )
    shown = dimensions[:: -(-len(dimensions) // MOST_TICKS)]  # as many as a phone has room for
    return figure.update_xaxes(tickvals=shown, ticktext=shown)


def length_bars(lengths: np.ndarray, names: Sequence[str], colors: Palette) -> go.Figure:
    """The length of that vector after each step, (steps,)."""
    bars = go.Bar(
        x=lengths,
        y=list(names),
        orientation="h",
        marker={"color": colors.series[0]},
        hovertemplate=f"%{{y}}: length <b>%{{x:{HOVER}}}</b><extra></extra>",
    )
    return build(
        [bars],
        colors,
        Sheet(STEPS_HEIGHT, "Its length", top=BESIDE_MAP),
        x={"title": "length", "rangemode": "tozero"},
        y={"autorange": "reversed", "showgrid": False, "ticks": "outside", "ticklen": 5,
           **ticks(names)},
        labels=TickLabels(names),
    )  # fmt: skip


def norm_scatter(
    before: np.ndarray, after: Mapping[str, np.ndarray], colors: Palette, title: str
) -> go.Figure:
    """Each number of one vector before and after kinds of norm, (D,) each."""
    points = [
        go.Scatter(
            x=before,
            y=values,
            name=name,
            mode="markers",
            marker={"color": colors.series[number], "size": 5, "symbol": symbol},
            hovertemplate=f"{name}: %{{x:{HOVER}}} → <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, ((name, values), symbol) in enumerate(
            zip(after.items(), ("circle", "diamond-open", "cross-thin-open"), strict=True)
        )
    ]
    return _sheet(points, colors, title, "before", "after, without gain")


def gain_bars(weights: Mapping[str, np.ndarray], colors: Palette, title: str) -> go.Figure:
    """What each number is multiplied by after its norm, (D,), and what is added where any is."""
    lines = [
        go.Bar(
            x=list(range(len(values))),
            y=values,
            name=name,
            marker={"color": colors.series[number], "line": {"width": 0}},
            hovertemplate=f"dimension %{{x}}: {name} <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, (name, values) in enumerate(weights.items())
    ]
    return _sheet(lines, colors, title, "dimension", " and ".join(weights))


def activation_points(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    own: str,
    points: tuple[np.ndarray, np.ndarray],
    colors: Palette,
    title: str,
) -> go.Figure:
    """Activation functions, the model's own drawn thick, and where each neuron stands on it."""
    others = iter(colors.series[1:])
    text = f"%{{x:{HOVER}}} → <b>%{{y:{HOVER}}}</b><extra></extra>"
    drawn = [
        go.Scatter(
            x=places,
            y=heights,
            name=f"{name}, the model’s" if name == own else name,
            mode="lines",
            line={"color": colors.muted, "width": 3}
            if name == own
            else {"color": next(others), "width": 1.5, "dash": "dot"},
            hovertemplate=f"{name}: {text}",
        )
        for name, (places, heights) in curves.items()
    ]
    neurons = go.Scatter(
        x=points[0],
        y=points[1],
        name="neurons",
        mode="markers",
        marker={"color": colors.series[0], "size": 5, "opacity": 0.6},
        customdata=list(range(len(points[0]))),
        hovertemplate=f"neuron %{{customdata}}: {text}",
    )
    return _sheet([*drawn, neurons], colors, title, "pre-activation", "f(pre-activation)")


def neuron_bars(activation: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """The activation of each neuron, (F,)."""
    bars = go.Bar(
        x=list(range(len(activation))),
        y=activation,
        marker={"color": colors.series[0], "line": {"width": 0}},
        hovertemplate=f"neuron %{{x}}: <b>%{{y:{HOVER}}}</b><extra></extra>",
    )
    return _sheet([bars], colors, title, "neuron", "activation")


def heights(
    stream: np.ndarray, added: Mapping[str, np.ndarray], colors: Palette, title: str
) -> go.Figure:
    """The length of the stream before each block and after the last, (L + 1,), and what is added.

    added: lengths of what each block's sublayers give, (L,) each.
    """
    names = [f"L{layer}" for layer in range(len(stream) - 1)]
    line = go.Scatter(
        x=[*names, "end"],
        y=stream,
        name="stream",
        mode="lines+markers",
        line={"color": colors.series[0], "width": 3},
        hovertemplate=f"stream before %{{x}}: <b>%{{y:{HOVER}}}</b><extra></extra>",
    )
    bars = [
        go.Bar(
            x=names,
            y=values,
            name=name,
            marker={"color": colors.series[number]},
            hovertemplate=f"%{{x}}, {name}: <b>%{{y:{HOVER}}}</b><extra></extra>",
        )
        for number, (name, values) in enumerate(added.items(), start=1)
    ]
    return _sheet(
        [line, *bars], colors, title, "block", "length", {"type": "category", "showgrid": False}
    )


def _sheet(
    data: Sequence[go.Scatter | go.Bar],
    colors: Palette,
    title: str,
    x: str,
    y: str,
    x_axis: Mapping[str, object] | None = None,
    labels: TickLabels | None = None,
) -> go.Figure:
    return build(
        data,
        colors,
        Sheet(HEIGHT, title, top=LEGEND),
        x={"title": x, **(x_axis or {})},
        y={"title": y},
        labels=labels or TickLabels(),
        extras=Extras(layout={"showlegend": len(data) > 1, "barmode": "group"}),
    )
