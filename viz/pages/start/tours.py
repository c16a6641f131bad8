"""Tours: ways through the views that somebody has thought about."""

from viz.frame import layout, notices, tours, words
from viz.frame.view import View

TITLE = "Tours"
ICON = ":material/map:"
NEEDS = ()


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "A tour leads through the views step by step; ← and → go back and on.",
        "Each step is a link with a place to look at and a question; begin at any. A tour is a "
        "file in assets/tours: copy one, change it, and share the link of its first step.",
    )
    notices.show()
    words.ways(map(_way, tours.found()))


def _way(tour: tours.Tour) -> words.Way:
    about = f"{len(tour.steps)} steps. {tour.about}"
    stops = tuple(
        (step.title, tours.link_to(tour, number)) for number, step in enumerate(tour.steps, 1)
    )
    return words.Way(tour.title, about, query=tours.link_to(tour, 1), stops=stops)
