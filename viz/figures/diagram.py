"""The block diagram of a model as HTML: boxes from the input at the foot to the output on top."""

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """A step: its name, what it does here, the shape of what leaves it, and its weights.

    `address` is what an address changes to for the view that shows it, empty where none does.
    """

    kind: str
    title: str
    detail: str
    shape: str
    weights: str
    address: str = ""


@dataclass(frozen=True)
class Boxes:
    """A column of boxes: the sublayers of a block stand in a frame that says how often."""

    title: str
    given: str
    before: Sequence[Box]
    sublayers: Sequence[Sequence[Box]]
    times: str
    after: Sequence[Box]


def diagram(columns: Sequence[Boxes]) -> str:
    """The columns side by side; in a block each sublayer has its residual connection beside it."""
    inside = "".join(map(_column, columns))
    return f'<div class="hl-diagram" role="group" aria-label="Block diagram">{inside}</div>'


def _column(column: Boxes) -> str:
    sublayers = "".join(
        f'<div class="hl-sublayer">{"".join(map(_box, boxes))}</div>' for boxes in column.sublayers
    )
    block = f'<div class="hl-block"><span>{html.escape(column.times)}</span>{sublayers}</div>'
    before, after = ("".join(map(_box, boxes)) for boxes in (column.before, column.after))
    return (
        f'<section class="hl-column"><h3>{html.escape(column.title)}</h3>'
        f'<p class="hl-given">{html.escape(column.given)}</p>{before}{block}{after}</section>'
    )


def _box(box: Box) -> str:
    texts = (("strong", box.title), ("span", box.detail), ("code", box.shape), ("i", box.weights))
    inside = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for tag, text in texts if text)
    kind = f'class="hl-box hl-box-{html.escape(box.kind)}"'
    if not box.address:
        return f"<div {kind}>{inside}</div>"
    address = html.escape(box.address)
    return f'<a {kind} href="?{address}" data-with="{address}">{inside}</a>'
