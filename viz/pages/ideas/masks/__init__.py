"""Masks: which tokens may attend to which, the cost, what leaks without, and one to edit."""

from viz.frame.page import Page
from viz.pages.ideas.masks import edit, kinds, leak, order, padding, shift

SCENES = {
    "kinds": kinds.draw,
    "shift": shift.draw,
    "leak": leak.draw,
    "loss": leak.draw_loss,
    "order": order.draw,
    "reach": kinds.draw_reach,
    "cost": kinds.draw_cost,
    "padding": padding.draw,
    "edit": edit.draw,
}
PAGE = Page(
    "Masks",
    ":material/visibility_off:",
    "Why can a word not look ahead?",
    "",
    needs=("decoder", "text", "vocabulary", "logits", "mask"),
    scenes=SCENES,
    wide=tuple(SCENES)[1:],  # the first has words beside it: on a wall, too, nothing is cut
    needs_two=("leak", "loss"),
)
