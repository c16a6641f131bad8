"""What a chart is sent: a Plotly figure as JSON, and how it is saved."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from zlib import crc32

import plotly.graph_objects as go

from viz.live.core.wire import ALLOWED_ERROR, Data

CHART = "chart"
TOKENS = "tokens"  # the address of what stands along an axis
HEIGHT = 450  # pixels of a figure that does not say


@dataclass(frozen=True)
class Place:
    """Where an independent run has the numbers of a trace.

    `property` says which: its x, y or z, or one row of that (`z.2`); the number that each label has
    (`text`), or its two hexadecimal digits (`hex`); the one in a line of what it says on hover
    (`said.1`); or the labels along an axis (`ticks.x`), which are then the run's TOKENS, or those
    from one on, as tokens[1:]. After `words.` stand words of tokens, with their ids at the address:
    `words.text`, `words.x`, `words.ticks.y`, or `words.said.1`, in quotes there. `run` is the key
    of the run; what is at the address is as (rows, columns) for a heat map, else as one row. Errors
    are relative to the largest number there, or to `size` where that is larger.
    """

    trace: int
    property: str
    run: str
    address: str
    size: float = 0.0


Origin = Sequence[Place]  # what a figure is drawn from, as far as it can be compared


def height_of(figure: go.Figure) -> int:
    """Pixels a figure takes from top to bottom."""
    return int(getattr(figure.layout, "height", None) or HEIGHT)


def chart_data(
    figure: go.Figure,
    *,
    name: str,
    alt: str,
    image_format: str,
    is_clickable: bool = False,
    origin: Origin = (),
) -> Data:
    """A figure and what it shows in words. Its camera saves `name` as png or svg.

    With `is_clickable` the browser tells where a person clicked. With an `origin` the browser
    compares what it drew with that, and the figure carries the addresses in its metadata.
    """
    places = list(map(asdict, origin))
    if places:
        figure.update_layout(meta={"addresses": [place.address for place in origin]})
    spec = figure.to_json()
    return {
        "instrument": CHART,
        "key": name,
        "spec": spec,
        "origin": places,
        "token": f"{crc32(json.dumps([spec, places]).encode()):08x}",
        "allowed_error": ALLOWED_ERROR,
        "height": height_of(figure),
        "alt": alt,
        "name": f"headlight-{name}",
        "image_format": image_format,
        "is_clickable": is_clickable,
    }
