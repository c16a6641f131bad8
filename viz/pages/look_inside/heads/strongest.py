"""The chosen head: its words, its numbers, and the sentence of the text that wakes it most."""

from urllib.parse import urlencode

from model.survey.stored import Strongest
from viz.digits import digits
from viz.figures.labels import visible
from viz.frame import layout, words
from viz.frame.view import View
from viz.pages.look_inside.heads.measures import MEASURES, NO_ROLE, TRAITS
from viz.pages.look_inside.heads.reading import Reading


def draw(view: View, reading: Reading, axes: tuple[str, str, str]) -> None:
    """Draw what is said of the chosen head."""
    head = view.layer * reading.n_heads + view.head
    said = reading.traits[head]
    text = ", ".join(TRAITS[trait].word for trait in said) or NO_ROLE
    layout.section(
        reading.names[head],
        text,
        "Each word is a measure that reaches its bound; the counts below have the bounds.",
    )
    names = list(dict.fromkeys([*axes, *(name for name, _ in said)]))
    words.facts([(reading.number(view, name, head), MEASURES[name].short) for name in names])
    if reading.strongest:
        _woken(view, reading.strongest[view.layer][view.head])
    else:
        words.ways(
            [
                words.Way(
                    f"{reading.names[head]} under the microscope",
                    "Its map on this sentence, step by step.",
                    query=f"?{urlencode(_own_address(view))}",
                )
            ]
        )


def _woken(view: View, found: Strongest) -> None:
    """The input on which an arrow of this head moves most."""
    query, key = _labels(found)
    if not found.text:
        words.caption(f"Wakes most on test picture {found.number}.")
    else:
        words.caption("The text that wakes it most; the arrow that moves most in it:")
        words.quote(found.text, found.target)
    words.pair(query, key, "")
    words.caption(
        f"weight {digits(found.weight, 3)}, ‖αv·W_O‖ {digits(found.norm, 2)}, as the survey has it"
    )
    words.ways(
        [
            words.Way(
                "Open on this " + ("sentence" if found.text else "picture"),
                f"{view.head_name} under the microscope.",
                query=f"?{urlencode(_address(view, found))}",
            )
        ]
    )


def _labels(found: Strongest) -> tuple[str, str]:
    query, key = (visible(token) for token in (found.query_token, found.key_token))
    return query, key


def _own_address(view: View) -> dict[str, str]:
    head = {"layer": str(view.layer), "head": str(view.head), "attention": view.attention}
    return {"page": "Attention", "model": view.model, "sentence": view.sentence, **head}


def _address(view: View, found: Strongest) -> dict[str, str]:
    """Attention with that input and this head; of a text in one stream with the arrow."""
    address = _own_address(view) | {"sentence": found.text}
    if not found.text:
        address.pop("sentence")
        return address | {"digit": str(found.number)}
    return address if found.target else address | {"cell": f"{found.query}-{found.key}"}
