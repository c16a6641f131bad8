"""No positions: another order of the words gives the same outputs in another order."""

import streamlit as st

from viz import controls, say, ui
from viz.figures.labels import visible
from viz.figures.schemes import output_maps
from viz.figures.sides import Part
from viz.runs import positions

DOG = "dog bites man"
SAME = 1e-5  # of the largest output; less is float32's own rounding
WAYS = (
    (
        "no-mask",
        False,
        "Without a mask",
        "Every token sees every token, so nothing tells the first from the last.",
    ),
    (
        "causal",
        True,
        "With its causal mask",
        "The first token sees one token, the second two: the mask tells the model where each "
        "stands. This is how a model without positions still learns order.",
    ),
)


def draw(view: ui.View) -> None:
    """Draw the tab."""
    order = _order(view)
    for key, is_masked, title, text in WAYS:
        _outputs(view, order, key, is_masked, title, text)
    ui.source(positions.SOURCES["none"], "model.analysis.positions.permutation_error")
    ui.export(view, "positions", {})


def _order(view: ui.View) -> tuple[int, ...]:
    """The other order: two tokens change places."""
    ui.section(
        "The same words in another order",
        "This model is told nothing about positions. Let two tokens change places, and compare "
        "what comes out for each token, in both orders: the numbers from which the next token is "
        "predicted, one row a token.",
    )
    last = len(view.tokens) - 1
    with ui.row("swap"):
        first = ui.token_picker(view, "Swap token", "swap", 0, "first")
        second = ui.token_picker(view, "Swap it with", "swap_with", last, "last")
        st.button(f"Try “{DOG}”", on_click=_try_dog)
    order = list(range(last + 1))
    order[first], order[second] = second, first
    controls.show_complaints()
    say.words("One order", view.tokens)
    say.words("The other", [view.tokens[i] for i in order])
    if first == second:
        say.notice("Both are the same token: choose two to see another order.")
    return tuple(order)


def _try_dog() -> None:
    st.session_state.update(sentence=DOG, swap=-1, swap_with=-1)


def _outputs(
    view: ui.View, order: tuple[int, ...], key: str, is_masked: bool, title: str, text: str
) -> None:
    ui.section(title, text)
    found = positions.reordered(view.model, view.device, view.sentence, order, is_masked)
    other = [view.tokens[i] for i in order]
    ui.show_figure(
        output_maps(
            [
                Part("outputs, one order", view.tokens, found.first),
                Part("outputs, the other order", other, found.second),
                Part("rows put back, difference", view.tokens, found.difference),
            ],
            view.colors,
        ),
        key=key,
        alt=f"{title}: outputs of both orders and their difference, at most "
        f"{abs(found.difference).max():.2g}.",
    )
    most = float(abs(found.difference).max())
    token = int(abs(found.difference).max(axis=1).argmax())
    size = f"{most:.1e}" if most < 0.01 else f"{most:.2f}, at “{visible(view.tokens[token])}”"
    say.notice(
        f"{title}: with the rows put back, outputs differ by at most {size}; the largest output is "
        f"{abs(found.first).max():.2f}. {_verdict(order, found.error)}"
    )
    if not is_masked:
        say.identities(positions.checks(view.model, view.device, view.sentence))
        ui.formula("model.positions.Position")


def _verdict(order: tuple[int, ...], difference: float) -> str:
    if order == tuple(sorted(order)):
        return "Both orders are the same."
    if difference <= SAME:
        return f"Relative to that, {difference:.1e}: the order makes no difference beyond rounding."
    return f"Relative to that, {difference:.2f}: the order makes a difference."
