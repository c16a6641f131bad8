"""Vision: to be written."""

from viz.frame import layout, notices
from viz.frame.view import View

TITLE = "Vision"
ICON = ":material/draw:"
NEEDS = ()
ARCHITECTURE = "vision"


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON, TITLE, "A picture is a row of patches, and they attend to each other as words do."
    )
    notices.show()
