"""Word order: two tokens change places, without positions and mask, and as the model runs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import streamlit as st

from model.analysis.order import SAME
from model.analysis.probabilities import leading_tokens, probabilities
from model.sources.handle import ModelHandle
from viz import runs
from viz.charts.chart import Chart
from viz.digits import NONE, digits
from viz.figures.ablation import answer_bars
from viz.frame import controls, inspector, layout, scenes, verdicts, words
from viz.frame.page import Numbers
from viz.frame.said import Word
from viz.frame.settings import OTHER_TOKEN, TOKEN
from viz.frame.view import View
from viz.labels import token_labels, told_apart
from viz.pages.ideas.positions.compare import NAMES
from viz.runs import positions

SCHEMELESS = "none"
ORDERS = ("as written", "exchanged")
LEADING = 3  # tokens of each order
HEIGHT = 290  # of the charts: both stand below the words on a small screen
Pair = tuple[np.ndarray, np.ndarray]  # logits after the last token in both orders, (V,) each


class Case(NamedTuple):
    """A model, and what it predicts of both orders without a mask and with its own."""

    handle: ModelHandle
    scheme: str
    without: Pair
    masked: Pair


def draw(view: View) -> Numbers:
    """What comes next in both orders; and what tells them apart, in both models."""
    chosen = _exchanged(view)
    schemeless = positions.family(view.handle.device).get(SCHEMELESS)
    running = _case(view.handle, view, chosen)
    cases = {running.handle: running}
    if schemeless is None:
        words.notice(
            "No checkpoint positions-none is here to compare with: copy it to assets/checkpoints."
        )
    elif schemeless != view.handle:
        cases = {schemeless: _case(schemeless, view, chosen), **cases}
    bare = cases.get(schemeless) if schemeless else None
    tokens = token_labels(view.tokens)
    with scenes.to_set():
        words.token_row(ORDERS[1], [view.tokens[i] for i in chosen])
    beside = _bars(running, running.masked, f"{view.handle.name} as it runs")
    if bare is None:
        layout.show_chart(beside, key="order-running")
    else:
        first = _bars(bare, bare.without, "No positions, no mask")
        layout.show_charts({"order": first, "order-running": beside})
    _table([*cases.values()])
    if schemeless is not None:
        verdicts.properties(positions.checks(schemeless, view.sentence))
    inspector.formula("model.positions.Position")
    moved = [i for i, place in enumerate(chosen) if i != place] or [0, 0]
    return {
        **{name: Word(tokens[i]) for name, i in zip(("first", "second"), moved, strict=True)},
        "after": Word(tokens[-1]),
        "model": view.handle.name,
        "open": _percent(bare.without) if bare else None,
        "running": _percent(running.masked),
    }


def _exchanged(view: View) -> tuple[int, ...]:
    """Where each token of the other order stands in the sentence: two change places.

    At first the last but one is one of them, so that both orders end alike.
    """
    order = [*range(len(view.tokens))]
    with scenes.to_set():
        one = controls.token(TOKEN.given(label="Swap"), view.tokens, 0, "first")
        other = max(len(order) - 2, 1)
        two = controls.token(OTHER_TOKEN.given(label="with"), view.tokens, other, "last but one")
    order[one], order[two] = order[two], order[one]
    if view.tokens[one] == view.tokens[two]:
        words.notice("Both are the same token: choose two to see another order.")
    return tuple(order)


def _case(handle: ModelHandle, view: View, order: Sequence[int]) -> Case:
    """A model on the sentence; one with other tokens than the running has its own exchanged."""
    given = view.given if handle == view.handle else view.sentence
    tokens, scheme = runs.run(handle, given).trace.tokens, runs.decoder(handle).config.position
    if [*tokens] != [*view.tokens]:
        n = len(tokens)
        order = (max(n - 2, 0), *range(1, n - 2), 0, n - 1)[-n:]
        words.notice(
            f"{handle.name} has other tokens: here its first and last but one are swapped."
        )
    both = (positions.in_two_orders(handle, given, order, x) for x in (False, True))
    return Case(handle, scheme, *both)


def _bars(case: Case, pair: Pair, what: str) -> Chart:
    """The most likely next tokens of either order, and how much of the probability moves."""
    leading = leading_tokens(*pair, LEADING)
    names = told_apart(runs.vocabulary(case.handle), [i for i, _, _ in leading])
    both = tuple(np.array(probs) for probs in zip(*(probs for _, *probs in leading), strict=True))
    title = f"{what}: {_percent(pair)} moves"
    chart = answer_bars([names[i] for i, _, _ in leading], both, title, ORDERS)
    return replace(chart, height=HEIGHT)


def _table(cases: Sequence[Case]) -> None:
    """How much moves in each model without a mask and with its own, and what that says."""
    st.caption("Share of the probability that moves from one order to the other:")
    words.table(
        {
            "model": [f"{x.handle.name} ({_positions_of(x.scheme)})" for x in cases],
            "without a mask": [_percent(x.without) for x in cases],
            "with its own mask": [_percent(x.masked) for x in cases],
            "what tells order": [_tells(_moved(x.without), _moved(x.masked)) for x in cases],
        },
        texts=["what tells order"],
    )


def _moved(pair: Pair) -> float:
    """How much of the probability stands on other tokens in the second than in the first."""
    one, other = map(probabilities, pair)
    return float((one - other).abs().sum()) / 2


def _percent(pair: Pair) -> str:
    moved = _moved(pair)
    return "0 %" if moved <= SAME else f"{digits(100 * moved, 1)} %"


def _positions_of(scheme: str) -> str:
    if scheme == SCHEMELESS:
        return "no positions"
    return NAMES.get(scheme, "positions of its own")


def _tells(without: float, masked: float) -> str:
    """What two shares say; a model with both may need but one."""
    if not np.isfinite(without + masked):
        return NONE
    if without > SAME:
        return "its positions" + (", and its mask" if masked > SAME else "")
    return "its mask alone" if masked > SAME else "nothing"
