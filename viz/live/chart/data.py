"""What a chart is sent: a Plotly figure as JSON, and how it is saved."""

import plotly.graph_objects as go

from viz.kit.wire import Data

CHART = "chart"
HEIGHT = 450  # pixels of a figure that does not say


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
) -> Data:
    """A figure and what it shows in words. Its camera saves `name` as png or svg.

    With `is_clickable` the browser tells where a person clicked.
    """
    return {
        "instrument": CHART,
        "key": name,
        "spec": figure.to_json(),
        "height": height_of(figure),
        "alt": alt,
        "name": f"headlight-{name}",
        "image_format": image_format,
        "is_clickable": is_clickable,
    }
