"""Encoder: to be written."""

from viz.frame import layout, notices
from viz.frame.view import View

TITLE = "Encoder"
ICON = ":material/format_ink_highlighter:"
NEEDS = ()
ARCHITECTURE = "encoder"


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON, TITLE, "Click a word to blank it: what does the model put there, seeing both sides?"
    )
    notices.show()
