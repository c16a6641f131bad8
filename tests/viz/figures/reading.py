"""What a figure shows, as lines of plain text: any Plotly figure, to be stored and compared.

What is only layout (margins, fonts, where a legend stands) is left out; all else is written down.
"""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.theme import LIGHT, color_scale, weight_scale

MOST = 60  # values that are written out; of more both ends, and two sums
LONG = 160  # letters of one text; of more both ends
QUIET = {
    "template", "margin", "font", "annotations", "shapes", "constrain", "constraintoward",
    "showgrid", "tickmode", "ticklen", "standoff", "borderpad", "showarrow",
    "hoverongaps", "cliponaxis", "lighting", "camera", "hoverinfo", "hovertemplate", "hovertext",
}  # fmt: skip
BAR = ("title", "tickvals", "ticktext", "tickformat")  # of a colour bar
SCALES = {
    str(np.array(color_scale(getattr(LIGHT, name))).tolist()): name
    for name in ("sequential", "diverging", "cyclic")
}
SCALES[str(np.array(weight_scale(LIGHT)).tolist())] = "sequential by the square root"
INKS = {
    **{color: f"series {number}" for number, color in enumerate(LIGHT.series)},
    **{color: name for field in fields(LIGHT)
       if isinstance(color := getattr(LIGHT, name := field.name), str)},
    LIGHT.diverging[1]: "below 0",
    LIGHT.diverging[-2]: "above 0",
}  # fmt: skip
FIELD = re.compile(r"%\{(\w+)(?:\[(\d+)\])?(?::([^}]*))?\}")


def reading(figure: go.Figure) -> list[str]:
    """Title, axes, legend, each trace with its values and hover lines, shapes and words."""
    layout = figure.layout.to_plotly_json()
    traces = [trace.to_plotly_json() for trace in figure.data]
    axes = [name for name in layout if name[1:].startswith("axis")]
    lines = list(_written("figure", _without(layout, "legend", *axes)))
    for name in sorted(axes, key=lambda name: (name[5:], name[0])):
        lines += _written(name.replace("axis", ""), layout[name])
    lines += _legend(layout, traces)
    for trace in traces:
        lines += _written(trace["type"], _without(trace, "type"))
        lines += _hover(trace)
    for kind, found in (("shape", layout.get("shapes")), ("note", layout.get("annotations"))):
        for one in found or ():
            lines += _written(kind, one)
    return lines


def _without(owner: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in owner.items() if name not in names}


def _written(kind: str, owner: Mapping[str, Any]) -> Iterator[str]:
    """All that is set: what is one value in one line, then a line for each array."""
    leaves = dict(_leaves(owner))
    if np.array_equal(leaves.get("tickvals", 0), leaves.get("ticktext", 1)):
        del leaves["tickvals"]
    single = [name for name, value in leaves.items() if not _is_array(name, value)]
    heads = ("name", "title.text", "text")
    head = [_one(leaves[name]) for name in heads if name in single]
    rest = [f"{name} {_one(leaves[name])}" for name in single if name not in heads]
    yield f"{kind:7} {' · '.join([*head, *rest])}".rstrip()
    for name, value in leaves.items():
        if name not in single:
            yield f"  {name:5} {_values(value)}".rstrip()


def _legend(layout: Mapping[str, Any], traces: list[dict[str, Any]]) -> Iterator[str]:
    shown = [_text(x["name"]) for x in traces if x.get("name") and x.get("showlegend", True)]
    if shown and layout.get("showlegend", len(traces) > 1):
        order = layout.get("legend", {}).get("traceorder")
        yield f"legend  {' | '.join(shown)}{f', in {order} order' if order else ''}"


def _hover(trace: dict[str, Any]) -> Iterator[str]:
    """What is said under the hand of its first and of its last point."""
    if trace.get("hoverinfo") == "skip":
        return
    said = trace.get("hovertemplate") or ("%{hovertext}" if "hovertext" in trace else "by itself")
    if trace["type"] == "waterfall":
        trace |= {"delta": trace["y"], "final": np.nancumsum(trace["y"])}
    for place in _ends(trace):
        text = FIELD.sub(lambda field, at=place: _field(trace, at, *field.groups()), said)
        text = re.sub(r"</?b>|<extra></extra>", "", text.replace("<br>", " | "))
        yield f"  hover {_text(html.unescape(text))}"


def _ends(trace: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """The first and the last place that has a value, as indices; of maps row and column."""
    main = "z" if "z" in trace else "x" if trace.get("orientation") == "h" else "y"
    places = np.argwhere(~np.isnan(np.array(trace[main], dtype=float))).tolist()
    return [tuple(place) for place in (*places[:1], *places[1:][-1:])]


def _field(
    trace: Mapping[str, Any], place: tuple[int, ...], name: str, part: str | None, form: str | None
) -> str:
    """A field of a hover template at a place, in the format of d3 that it asks for."""
    along = {"x": place[-1:], "y": place[:1]}.get(name, place)
    value = trace.get(name, along[0])
    for index in (*along, *([int(part)] if part else [])):
        value = value if np.isscalar(value) else value[index]
    if isinstance(value, str):
        return value
    if not form:
        return _one(value)
    if form.endswith("s"):
        power = max(0, int(np.log10(abs(value) or 1) // 3))
        return f"{format(value / 1000**power, f'{form[:-1]}g')}{['', *'kMGTPEZY'][power]}"
    number = int(value) if form in (",", "d") and value == int(value) else float(value)
    return format(number, form.replace("~", "").replace("r", "g"))


def _leaves(owner: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Everything that is set, by dotted name."""
    for name, value in sorted(owner.items()):
        if name in QUIET or value is None:
            continue
        if name == "colorscale":
            yield name, SCALES.get(str(np.array(value).tolist()), _one(value))
        elif isinstance(value, dict):
            inside = {x: value[x] for x in BAR if x in value} if name == "colorbar" else value
            yield from ((f"{name}.{inner}", x) for inner, x in _leaves(inside))
        else:
            yield name, value


def _is_array(name: str, value: object) -> bool:
    is_range = name.endswith(("range", "domain"))  # of two numbers
    return isinstance(value, (list, tuple, np.ndarray)) and not is_range


def _values(values: Any) -> str:  # noqa: ANN401
    """In order, rows behind each other; of many the ends, a sum, and one by which places count."""
    array = np.array(values, dtype=object)
    flat = array.ravel()
    if len(flat) <= MOST:
        rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else [flat]
        return " / ".join(", ".join(map(_one, row)) for row in rows)
    ends = f"{', '.join(map(_one, flat[:4]))} … {', '.join(map(_one, flat[-2:]))}"
    size = " × ".join(map(str, array.shape))
    if any(isinstance(x, str) for x in flat):
        return f"{ends} ({size})"
    numbers = np.nan_to_num(flat.astype(float))
    by_place = float(numbers @ np.arange(len(flat))) / len(flat)
    return f"{ends} ({size}, sum {numbers.sum():.4g}, by place {by_place:.4g})"


def _one(value: object) -> str:
    if isinstance(value, (list, tuple, np.ndarray)):
        return ", ".join(map(_one, value))
    if isinstance(value, (float, np.floating)):
        return "–" if np.isnan(value) else f"{value:.4g}"
    return "–" if value is None else INKS.get(value, _text(str(value)))


def _text(text: str) -> str:
    """A text on one line; of characters without width one is seen, but not those that end it."""
    shown = text.removesuffix("\u200b").rstrip("\u00a0") if "\u00a0" in text else text
    shown = shown.replace("\u200b", "′")
    return shown if len(shown) <= LONG else f"{shown[:100]} … {shown[-20:]} ({len(shown)} letters)"
