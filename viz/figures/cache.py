"""The cache as pictures: keys or values as they enter it, and the time they save."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.heatmap import Axis, Hidden, Look, Scale, heat_map
from viz.figures.lines import Mark, frame, mark_line
from viz.labels import axis_labels
from viz.theme import Palette, template

UNITS = ("bytes", "kB", "MB", "GB", "TB")
BAR_ABOVE = 34  # pixels


def bytes_text(n_bytes: float) -> str:
    """Bytes as people write them, in powers of 1000 with three digits: 9.66 GB."""
    unit = 0
    while n_bytes >= 999.5 and unit < len(UNITS) - 1:
        n_bytes, unit = n_bytes / 1000, unit + 1
    return f"{n_bytes:.3g} {UNITS[unit]}" if n_bytes < 999.5 else f"{n_bytes:,.0f} {UNITS[unit]}"


def cache_map(
    lengths: np.ndarray,
    n_cached: int,
    n_prefill: int,
    tokens: Sequence[str],
    colors: Palette,
    title: str,
) -> go.Figure:
    """Length of each token's key or value in each layer, (L, T); what is not cached is hatched.

    Colours keep their meaning while the cache fills. A line marks the end of the prefill, a frame
    the tokens that the last step brought.
    """
    n_layers, n_tokens = lengths.shape
    empty = np.broadcast_to(np.arange(n_tokens) >= n_cached, lengths.shape)
    line = {"color": colors.frame, "width": 3}
    first = 0 if n_cached == n_prefill else n_cached - 1
    brought = [frame((0, n_layers - 1), (first, n_cached - 1), line)] if n_cached else []
    ends = [_prefill_end(n_prefill, n_tokens, colors)] if n_prefill < n_tokens else []
    figure = heat_map(
        lengths,
        (
            Axis("layer", [f"L{layer}" for layer in range(n_layers)]),
            Axis("token", axis_labels(tokens)),
        ),
        Scale("length", 0.0, float(lengths.max()) or 1.0),
        colors,
        title=title,
        hidden=Hidden(empty, "<b>empty</b>: not computed yet"),
        look=Look(
            square=False,
            shapes=[*(end.shape for end in ends), *brought],
            notes=[end.annotation for end in ends],
        ),
    )
    # Above the words on the prefill; hung by its middle, see heatmap.ABOVE.
    sheet: Any = figure.layout
    y = 1 + BAR_ABOVE / (sheet.height - sheet.margin.t - sheet.margin.b)
    figure.update_traces(colorbar_y=y, colorbar_yanchor="middle", selector=0)
    return figure


def _prefill_end(n_prefill: int, n_tokens: int, colors: Palette) -> Mark:
    """A line where the prefill ends, with words above it that stay within the figure."""
    is_left = n_prefill > n_tokens / 2
    shape, words = mark_line(
        "x",
        n_prefill - 0.5,
        "prefill ends" if is_left else "decoding starts here",
        colors,
        place=("left" if is_left else "right", "top"),
    )
    above = {"y": 1, "yref": "paper", "yanchor": "bottom", "font": {**words["font"], "size": 12}}
    return Mark(shape, words | above)


def timing_lines(
    lines: dict[str, dict[int, float]],
    fits: dict[str, tuple[float, float]],
    fitted_from: int,
    colors: Palette,
    title: str,
    between: Mapping[str, Mapping[int, tuple[float, float]]] | None = None,
) -> go.Figure:
    """Milliseconds of one more token by text length, one line per way, both axes logarithmic.

    lines: seconds by length. fits: exponent and factor of a line's power, for those that have
    one, drawn dotted from `fitted_from` tokens on. between: seconds at both ends of a bar at each
    length, for lines that have bars.
    """
    figure = go.Figure()
    for (name, seconds), color in zip(lines.items(), colors.series, strict=False):
        figure.add_trace(
            go.Scatter(
                x=list(seconds),
                y=[1000 * s for s in seconds.values()],
                name=name,
                mode="lines+markers",
                error_y=_bars(seconds, (between or {}).get(name)),
                line={"color": color, "width": 2},
                marker={"size": 7},
                hovertemplate=f"{name}<br>text of <b>%{{x}}</b> tokens: <b>%{{y:.2f}} ms</b>"
                "<extra></extra>",
            )
        )
        if name in fits:
            fitted = [n for n in seconds if n >= fitted_from]
            figure.add_trace(_power(fitted, *fits[name], color))
    _lay_out_timing(figure, lines, colors, title)
    return figure


def _bars(
    seconds: Mapping[int, float], between: Mapping[int, tuple[float, float]] | None
) -> dict[str, Any] | None:
    """From the lower to the upper end at each length, in milliseconds, as Plotly has it."""
    if between is None:
        return None
    ends = {n: between[n] for n in seconds}
    return {
        "symmetric": False,
        "array": [1000 * (high - seconds[n]) for n, (_, high) in ends.items()],
        "arrayminus": [1000 * (seconds[n] - low) for n, (low, _) in ends.items()],
        "thickness": 1.5,
    }


def _power(lengths: list[int], exponent: float, factor: float, color: str) -> go.Scatter:
    return go.Scatter(
        x=lengths,
        y=[1000 * factor * n**exponent for n in lengths],
        name=f"∝ n<sup>{exponent:.2f}</sup>",
        mode="lines",
        line={"color": color, "width": 2, "dash": "dot"},
        hoverinfo="skip",
    )


def _lay_out_timing(
    figure: go.Figure, lines: dict[str, dict[int, float]], colors: Palette, title: str
) -> None:
    sizes = sorted({n for seconds in lines.values() for n in seconds})
    ticks = [digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5)]
    figure.update_layout(template=template(colors), title=title, height=420, margin={"t": 92})
    figure.update_xaxes(
        title="tokens in the text", type="log", tickvals=sizes, ticktext=list(map(str, sizes))
    )
    figure.update_yaxes(
        title="milliseconds", type="log", tickvals=ticks, ticktext=[f"{t:g}" for t in ticks]
    )
