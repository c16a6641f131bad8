"""The block diagram of a model as HTML: boxes from the input at the foot to the output on top."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Text = object  # a string, or what the page knows how to write as HTML


@dataclass(frozen=True)
class Box:
    """A step: its name, what it does here, the shape of what leaves it, and its weights.

    `address` is what an address changes to for the view that shows it, empty where none does. What
    has numbers may be more than a string, see `diagram`.
    """

    kind: str
    title: str
    detail: str
    shape: Text
    weights: Text
    address: str = ""


@dataclass(frozen=True)
class Boxes:
    """A column of boxes: the sublayers of a block stand in a frame that says how often."""

    title: str
    given: Text
    before: Sequence[Box]
    sublayers: Sequence[Sequence[Box]]
    times: Text
    after: Sequence[Box]


def diagram(columns: Sequence[Boxes], say: Callable[..., str] = html.escape) -> str:
    """The columns side by side; in a block each sublayer has its residual connection beside it.

    `say` makes HTML of a text.
    """
    inside = "".join(_column(column, say) for column in columns)
    return f'<div class="hl-diagram" role="group" aria-label="Block diagram">{inside}</div>'


def _column(column: Boxes, say: Callable[..., str]) -> str:
    def made(boxes: Sequence[Box]) -> str:
        return "".join(_box(box, say) for box in boxes)

    sublayers = "".join(
        f'<div class="hl-sublayer">{made(boxes)}</div>' for boxes in column.sublayers
    )
    block = f'<div class="hl-block"><span>{say(column.times)}</span>{sublayers}</div>'
    before, after = made(column.before), made(column.after)
    return (
        f'<section class="hl-column"><h3>{html.escape(column.title)}</h3>'
        f'<p class="hl-given">{say(column.given)}</p>{before}{block}{after}</section>'
    )


def _box(box: Box, say: Callable[..., str]) -> str:
    texts = (("strong", box.title), ("span", box.detail), ("code", box.shape), ("i", box.weights))
    inside = "".join(f"<{tag}>{say(text)}</{tag}>" for tag, text in texts if text)
    kind = f'class="hl-box hl-box-{html.escape(box.kind)}"'
    if not box.address:
        return f"<div {kind}>{inside}</div>"
    address = html.escape(box.address)
    return f'<a {kind} href="?{address}" data-with="{address}">{inside}</a>'
