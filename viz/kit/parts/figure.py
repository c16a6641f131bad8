"""A figure made in Python, drawn again in its place when it changes."""

from collections.abc import Sequence

from viz.kit.part import Part


def figure_part(
    figure: str,
    height: int,
    *,
    name: str,
    alt: str,
    image_format: str,
    is_clickable: bool = False,
    plays: Sequence[str] = (),
) -> Part:
    """A figure in Plotly's JSON, its pixels, and what it shows in words.

    Its camera saves `name` as png or svg.

    With `is_clickable` a click is told, as `picked`: x and y as the axes have them. `plays` are
    earlier pictures of it, shown one after the other before it where it is opened.
    """
    spec = {
        "figure": figure,
        "height": height,
        "alt": alt,
        "name": f"headlight-{name}",
        "image_format": image_format,
        "is_clickable": is_clickable,
        "plays": list(plays),
    }
    return Part("figure", spec, {"picked": None})
