"""Translation: to be written."""

from viz.frame import layout, notices
from viz.frame.view import View

TITLE = "Translation"
ICON = ":material/translate:"
NEEDS = ()
ARCHITECTURE = "encoder_decoder"


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "An encoder reads the English; a decoder writes the German and attends to both.",
    )
    notices.show()
