"""Masks: which tokens may attend to which, the cost, what leaks without, and one to edit."""

from collections.abc import Callable

from viz.frame import controls, layout
from viz.frame.page import Page
from viz.frame.settings import MASK_VIEW
from viz.frame.view import View
from viz.pages.ideas.masks import edit, kinds, leak, order, padding, shift

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


MORE = (
    "The model runs under any of these masks. The row's token, the query, may attend to the "
    "column's, the key, unless the cell is hatched.",
    "*Edit a mask*: the model runs again under your mask: its pattern on the left, what it "
    "predicts on the right.",
    "*Padding*: a batch is a rectangle: sentences of different length are padded to the longest, "
    "here with the end-of-text token. Pad tokens mean nothing, and no token should attend to them.",
    "*Training targets*: one sentence gives one training example per token. The input begins "
    "with a start token (here the end of the text before); the target is the same sentence, "
    "shifted by one.",
)


def render(view: View) -> None:
    """Draw the page."""
    setting = MASK_VIEW.given(options=list(VIEWS), words=VIEWS.get)
    with layout.beside_heading():
        shown = controls.segments(setting)
    DRAW[shown](view)


PAGE = Page(
    "Masks",
    ":material/visibility_off:",
    "Which tokens may attend to which.",
    "\n\n".join(MORE),
    render,
    needs=("decoder", "text", "vocabulary", "logits", "mask"),
)
