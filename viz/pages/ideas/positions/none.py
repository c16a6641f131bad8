"""No positions: another order of the words gives the same outputs in another order."""

from functools import partial

import streamlit as st

from model.analysis.mask_kinds import own_mask
from viz.digits import digits
from viz.figures.schemes import Part, vector_maps
from viz.frame import controls, inspector, layout, scenes, state, verdicts, words
from viz.frame.page import Numbers
from viz.frame.said import Said, Word
from viz.frame.settings import OTHER_TOKEN, SENTENCE, TOKEN
from viz.frame.view import View
from viz.inside_streamlit import unbroken
from viz.labels import visible
from viz.runs import positions

DOG = "dog bites man"
SAME = 1e-5  # of the largest output; less is float32's own rounding


def _order(view: View) -> tuple[int, ...]:
    """The other order: two tokens change places."""
    last = len(view.tokens) - 1
    with scenes.to_set():
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


def _outputs(view: View, key: str, *, is_masked: bool) -> Numbers:
    """What comes out for each token in both orders, with the model's mask or without one."""
    order = _order(view)
    found = positions.reordered(view.handle, view.given, order, is_masked)
    other = [view.tokens[i] for i in order]
    parts = [
        Part("one order", view.tokens, found.first),
        Part("the other", other, found.second),
        Part("difference", view.tokens, found.difference),
    ]
    layout.show_chart(vector_maps(parts), key=key)
    difference = abs(found.difference)
    most, label = float(difference.max()), view.tokens[int(difference.max(axis=1).argmax())]
    where: Said = (
        [f"{most:.1e}"] if most < 0.01 else [digits(most, 2), ", at “", Word(visible(label)), "”"]
    )
    seen = own_mask(view.config, len(view.tokens)).sum(axis=1).tolist()
    return {
        "most": where,
        "largest": digits(float(abs(found.first).max()), 2),
        "verdict": "Both orders are the same."
        if other == [*view.tokens]
        else _verdict(found.error),
        "mask": view.config.mask.replace("_", " "),
        "counts": f"{', the next to '.join(map(str, seen[:3]))} token{'s' * (seen[:3] != [1])}",
        "tells": "so the mask tells the model where each stands. This is how a model without "
        "positions still learns order."
        if len(set(seen)) > 1
        else "so the mask tells these apart by which tokens they attend to, if at all.",
    }


def _verdict(error: float) -> str:
    """What the largest difference means, relative to the largest output."""
    if error <= SAME:
        return f"Relative to that, {error:.1e}: the order makes no difference beyond rounding."
    return f"Relative to that, {digits(error, 2)}: the order makes a difference."


def unmasked(view: View) -> Numbers:
    """Outputs in both orders where every token attends to every token."""
    numbers = _outputs(view, "no-mask", is_masked=False)
    verdicts.properties(positions.checks(view.handle, view.given))
    inspector.formula("model.positions.Position")
    return numbers


masked = partial(_outputs, key="causal", is_masked=True)
