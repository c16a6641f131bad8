"""No positions: another order of the words gives the same outputs in another order."""

from dataclasses import dataclass

import streamlit as st

from model.analysis.mask_kinds import own_mask
from viz.digits import digits
from viz.figures.schemes import Part, output_maps
from viz.frame import controls, inspector, layout, state, verdicts, words
from viz.frame.said import Word
from viz.frame.settings import OTHER_TOKEN, SENTENCE, TOKEN
from viz.frame.view import View
from viz.inside_streamlit import unbroken
from viz.labels import visible
from viz.runs import positions

DOG = "dog bites man"
SAME = 1e-5  # of the largest output; less is float32's own rounding


@dataclass(frozen=True)
class Way:
    """With the mask or without it: the key of its figure, and what is to be seen."""

    key: str
    is_masked: bool
    title: str
    text: str
    more: str = ""


def draw(view: View) -> None:
    """Draw the tab."""
    order = _order(view)
    for way in _ways(view):
        _outputs(view, order, way)
    words.token_row("One order", view.tokens)
    words.token_row("The other", [view.tokens[i] for i in order])
    inspector.source(positions.SOURCES["none"], "model.analysis.positions.permutation_error")
    inspector.export(view, {})


def _ways(view: View) -> tuple[Way, Way]:
    """Without a mask, and with the model's own."""
    seen = own_mask(view.config, len(view.tokens)).sum(axis=1).tolist()
    counts = "the first token attends to " + ", the next to ".join(map(str, seen[:3]))
    tells = (
        "so the mask tells the model where each stands. This is how a model without positions "
        "still learns order."
        if len(set(seen)) > 1
        else "so the mask tells these apart by which tokens they attend to, if at all."
    )
    name = view.config.mask.replace("_", " ")
    return (
        Way(
            "no-mask",
            False,
            "Without a mask",
            "Every token attends to every token, so nothing tells the first from the last.",
        ),
        Way(
            "causal",
            True,
            f"With its {name} mask",
            "The mask tells the model where a token stands." if len(set(seen)) > 1 else "",
            f"Here {counts} tokens, {tells}",
        ),
    )


def _order(view: View) -> tuple[int, ...]:
    """The other order: two tokens change places."""
    row = layout.section(
        "The same words in another order",
        "",
        "This model is told nothing about positions. Let two tokens change places, and compare "
        "what comes out for each token, in both orders: the values from which the next token is "
        "predicted, one row per token.",
    )
    last = len(view.tokens) - 1
    with row, layout.slim_row("swap"):
        first = controls.token(TOKEN.given(label="Swap token"), view.tokens, 0, "first")
        second = controls.token(OTHER_TOKEN.given(label="Swap it with"), view.tokens, last, "last")
        st.button(f"Try “{DOG}”", on_click=unbroken(_try_dog))
    order = list(range(last + 1))
    order[first], order[second] = second, first
    if first == second:
        words.notice("Both are the same token: choose two to see another order.")
    return tuple(order)


def _try_dog() -> None:
    state.put((SENTENCE, DOG), (TOKEN, TOKEN.default), (OTHER_TOKEN, OTHER_TOKEN.default))


def _outputs(view: View, order: tuple[int, ...], way: Way) -> None:
    layout.section(way.title, way.text, way.more)
    found = positions.reordered(view.handle, view.sentence, order, way.is_masked)
    other = [view.tokens[i] for i in order]
    most = float(abs(found.difference).max())
    parts = [
        Part("outputs, one order", view.tokens, found.first),
        Part("outputs, the other order", other, found.second),
        Part("difference", view.tokens, found.difference),
    ]
    largest = float(abs(found.first).max())
    layout.show_chart(output_maps(parts), key=way.key)
    token = int(abs(found.difference).max(axis=1).argmax())
    label = Word(visible(view.tokens[token]))
    at = [] if most < 0.01 else [", at “", label, "”"]
    text = f"{most:.1e}" if most < 0.01 else digits(most, 2)
    words.notice(
        [
            f"{way.title}: with the rows put back, outputs differ by at most {text}",
            *at,
            f"; the largest output is {digits(largest, 2)}. {_verdict(order, found.error)}",
        ]
    )
    if not way.is_masked:
        verdicts.properties(positions.checks(view.handle, view.sentence))
        inspector.formula("model.positions.Position")


def _verdict(order: tuple[int, ...], error: float) -> str:
    """What the largest difference means, relative to the largest output."""
    if order == tuple(sorted(order)):
        return "Both orders are the same."
    if error <= SAME:
        return f"Relative to that, {error:.1e}: the order makes no difference beyond rounding."
    return f"Relative to that, {digits(error, 2)}: the order makes a difference."
