"""A figure made in Python, drawn again in its place when it changes."""

import plotly.graph_objects as go

from viz.kit.part import Part

HEIGHT = 450  # pixels of a figure that does not say


def figure_part(
    figure: go.Figure, *, name: str, alt: str, image_format: str, is_clickable: bool = False
) -> Part:
    """A figure and what it shows in words. Its camera saves `name` as png or svg.

    With `is_clickable` a click is told, as `picked`: x and y as the axes have them.
    """
    spec = {
        "figure": figure.to_json(),
        "height": int(getattr(figure.layout, "height", None) or HEIGHT),
        "alt": alt,
        "name": f"headlight-{name}",
        "image_format": image_format,
        "is_clickable": is_clickable,
    }
    return Part("figure", spec, {"picked": None})
