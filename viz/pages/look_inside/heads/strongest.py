"""The chosen head: its words, its numbers, and the sentence of the text that wakes it most."""

from model.analysis.measures import MEASURES
from model.survey.stored import Strongest
from viz.digits import digits
from viz.frame import layout, links, words
from viz.frame.view import View
from viz.labels import visible
from viz.pages.look_inside.heads.reading import Reading


def draw(view: View, reading: Reading, axes: tuple[str, str, str]) -> None:
    """Draw what is said of the chosen head."""
    head = view.layer * reading.n_heads + view.head
    layout.section(
        reading.names[head],
        reading.words(head),
        "Each word is a measure that reaches its bound; the counts below have the bounds.",
    )
    names = list(dict.fromkeys([*axes, *(x.measure for x in reading.traits[head])]))
    words.facts([(reading.number(name, head), MEASURES[name].short) for name in names])
    found = reading.strongest[view.layer][view.head] if reading.strongest else None
    if found is not None:
        _woken(found)
    words.ways([_way_on(view, reading.names[head], found)])


def _woken(found: Strongest) -> None:
    """The input on which an arrow of this head moves most."""
    if found.text:
        words.caption("Its top-activating text; the edge that moves most in it:")
        words.quote(found.text, found.target)
    else:
        words.caption(
            f"Test picture {found.number} activates it most; the edge that moves most in it:"
        )
    query = f"{visible(found.query_token)} ({found.query})"
    key = f"{visible(found.key_token)} ({found.key})"
    words.pair(query, key, "")
    weight, norm = digits(found.weight, 3), digits(found.norm, 2)
    words.caption(f"weight {weight}, ‖αv·W_O‖ {norm}, as the survey has it")


def _way_on(view: View, name: str, found: Strongest | None) -> words.Way:
    """To Attention: with the text that wakes the head, where there is one, and the arrow in it."""
    where = {"layer": view.layer, "head": view.head, "attention": view.attention}
    if found is None or not found.text:
        address = links.to(view, "Attention", **where)
        return words.Way(
            f"{name} on Attention", "Its map on this input, step by step.", "", address
        )
    where |= {"sentence": found.text}
    if not found.target:
        where |= {"cell": f"{found.query}-{found.key}"}
    address = links.to(view, "Attention", **where)
    return words.Way("Open on this sentence", f"{view.head_name} on Attention.", "", address)
