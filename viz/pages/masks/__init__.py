"""Masks: which tokens may attend to which, the cost, what leaks without, and one to edit."""

from collections.abc import Callable

from viz.frame import controls, layout
from viz.frame.settings import MASK_VIEW
from viz.frame.view import View
from viz.pages.masks import edit, kinds, leak, order, padding, shift

TITLE = "Masks"
ICON = ":material/visibility_off:"
NEEDS = ("decoder", "text", "vocabulary", "logits")

VIEWS = {
    "kinds": "Kinds",
    "edit": "Edit a mask",
    "leak": "Remove the mask",
    "padding": "Padding",
    "order": "Why −∞ before softmax",
    "shift": "Training targets",
}
DRAW: dict[str, Callable[[View], None]] = {
    "kinds": kinds.draw,
    "edit": edit.draw,
    "leak": leak.draw,
    "padding": padding.draw,
    "order": order.draw,
    "shift": shift.draw,
}


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "A mask says which tokens may attend to which: the row's token, the query, may attend to "
        "the column's, the key, unless the cell is hatched. Here the model runs on your sentence "
        "under any of them.",
    )
    shown = MASK_VIEW.given(options=list(VIEWS), words=VIEWS.get)
    DRAW[controls.segments(shown)](view)
