"""Masks: who may read whom, what it costs, what leaks without, and one to edit by hand."""

from collections.abc import Callable

from viz import controls, ui
from viz.pages.masks import edit, kinds, leak, order, padding, shift

TITLE = "Masks"
ICON = ":material/visibility_off:"

VIEWS = {
    "kinds": "Kinds",
    "edit": "Edit one",
    "leak": "Without it",
    "padding": "Padding",
    "order": "Before softmax, not after",
    "shift": "Shift by one",
}
DRAW: dict[str, Callable[[ui.View], None]] = {
    "kinds": kinds.draw,
    "edit": edit.draw,
    "leak": leak.draw,
    "padding": padding.draw,
    "order": order.draw,
    "shift": shift.draw,
}


def render() -> None:
    """Draw the page."""
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "A mask says who may read whom: the token in the row may read the one in the column, "
        "unless the cell is hatched. Here the model runs on your sentence under any of them.",
    )
    DRAW[controls.segments("View", "masks", VIEWS, "kinds")](view)
