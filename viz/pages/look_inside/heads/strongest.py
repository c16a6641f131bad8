"""The chosen head: its words, its numbers, and the sentence of the text that wakes it most."""

from model.survey.stored import Strongest
from viz.digits import digits
from viz.frame import layout, links, words
from viz.frame.said import Word
from viz.frame.view import View
from viz.labels import visible
from viz.pages.look_inside.heads.measures import MEASURES, NO_ROLE, TRAITS
from viz.pages.look_inside.heads.reading import Reading


def draw(view: View, reading: Reading, axes: tuple[str, str, str]) -> None:
    """Draw what is said of the chosen head."""
    head = view.layer * reading.n_heads + view.head
    said = reading.traits[head]
    layout.section(
        reading.names[head],
        ", ".join(TRAITS[trait].word for trait in said) or NO_ROLE,
        "Each word is a measure that reaches its bound; the counts below have the bounds.",
    )
    names = list(dict.fromkeys([*axes, *(name for name, _ in said)]))
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
    words.pair(*_labels(found), "")
    weight, norm = digits(found.weight, 3), digits(found.norm, 2)
    words.caption(f"weight {weight}, ‖αv·W_O‖ {norm}, as the survey has it")


def _way_on(view: View, name: str, found: Strongest | None) -> words.Way:
    """To Attention: with the text that wakes the head, where there is one."""
    if found is None or not found.text:
        return words.Way(
            f"{name} on Attention",
            "Its map on this input, step by step.",
            query=_address(view),
        )
    return words.Way(
        "Open on this sentence",
        f"{view.head_name} on Attention.",
        query=_address(view, **_place(found)),
    )


def _labels(found: Strongest) -> tuple[str | Word, str | Word]:
    """Query and key; of a text they are tokens."""
    query, key = (visible(token) for token in (found.query_token, found.key_token))
    if not found.text:
        return query, key
    return Word(query), Word(key)


def _address(view: View, **more: str) -> str:
    head = {"layer": view.layer, "head": view.head, "attention": view.attention}
    return links.to(view, "Attention", **head, **more)


def _place(found: Strongest) -> dict[str, str]:
    """That text, and of one in one stream the arrow."""
    text = {"sentence": found.text}
    return text if found.target else text | {"cell": f"{found.query}-{found.key}"}
