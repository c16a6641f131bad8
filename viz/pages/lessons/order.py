"""Order: the same words in another order, without positions and with them, masked and not."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from model.analysis.order import SAME, Reordered
from model.lines import quoted
from viz import runs
from viz.digits import NONE, digits
from viz.figures.schemes import Part, vector_maps
from viz.frame import controls, inspector, layout, memory, scenes, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Word
from viz.frame.settings import ORDER_TEXT
from viz.frame.view import View
from viz.labels import visible
from viz.pages.ideas.positions.compare import NAMES
from viz.runs import positions

SCHEMELESS, RUNNING = "none", "the running model"
IN_COLOURS = 0.99  # of the outputs; a few dimensions are so large that all others would be pale
LAST_GOOD = "order-text"  # of this visitor


class Case(NamedTuple):
    """A model on the tokens of a text, and what became of its outputs without a mask and with."""

    model: str
    scheme: str
    tokens: Sequence[str]
    without: Reordered
    masked: Reordered


def _cases(view: View) -> list[Case]:
    """The model without positions where there is one, and the running one."""
    with scenes.to_set():
        text = _with_two_tokens(view, controls.text(ORDER_TEXT, placeholder="two words or more"))
    inspector.formula("model.positions.Position")
    schemeless = positions.family(view.handle.device).get(SCHEMELESS)
    handles = {RUNNING: view.handle}
    if schemeless is not None and schemeless != view.handle:
        handles = {schemeless.name: schemeless, **handles}
    found = []
    for name, handle in handles.items():
        tokens, scheme = runs.run(handle, text).trace.tokens, runs.decoder(handle).config.position
        order = _order(len(tokens))
        both = (positions.reordered(handle, text, order, x) for x in (False, True))
        found.append(Case(name, scheme, tokens, *both))
    return found


def _with_two_tokens(view: View, text: str) -> str:
    """The text; where it has no two tokens one line, and the last that had."""
    run = runs.run(view.handle, text) if text.strip() else None
    n = len(run.trace.tokens) if run else 0
    if run is None or n < 2:
        text = memory.last(LAST_GOOD)[0] or ORDER_TEXT.default
        words.notice(
            f"Two tokens or more are needed to change places; this has {n}. Shown is still "
            f"“{quoted(text)}”.",
            kind="error",
        )
    elif run.n_cut:
        words.notice(
            f"The text has {n + run.n_cut} tokens, more than "
            f"{runs.decoder(view.handle).limit}: the last {run.n_cut} are cut, and "
            "the one before them changes places with the first."
        )
    memory.remember(LAST_GOOD, text, None)
    return text


def _order(n: int) -> tuple[int, ...]:
    """The first and the last of n tokens exchanged."""
    return (n - 1, *range(1, n - 1), 0)


def _schemeless(view: View, *, is_masked: bool) -> Numbers:
    """The model without positions, without a mask or with its own."""
    case = _cases(view)[0]
    if case.scheme != SCHEMELESS:
        words.notice(
            "No checkpoint positions-none is here to compare with: copy it to assets/checkpoints."
        )
    if is_masked:
        return _maps(case, case.masked, "order-causal")
    return _maps(case, case.without, "order-open")


def _running(view: View) -> Numbers:
    """The running model without a mask; and what tells order, in all cases."""
    cases = _cases(view)
    numbers = _maps(cases[-1], cases[-1].without, "order-running")
    st.caption("Largest difference with the rows put back:")
    words.table(
        {
            "model": [f"{x.model} ({_positions_of(x.scheme)})" for x in cases],
            "without a mask": [_most(case.without) for case in cases],
            "with its own mask": [_most(case.masked) for case in cases],
            "what tells order": [_tells(case.without.error, case.masked.error) for case in cases],
        },
        texts=["what tells order"],
    )
    return numbers


def _maps(case: Case, found: Reordered, key: str) -> Numbers:
    """Outputs in both orders, and what differs when the rows are put back."""
    tokens, tells = case.tokens, found.error > SAME
    other = [tokens[i] for i in _order(len(tokens))]
    same = " = 0, but for rounding" if found.error <= SAME else ""
    with st.container(key=f"narrow-chart-{key}"):
        parts = [
            Part("one order", tokens, found.first),
            Part("the other order", other, found.second),
            Part(f"difference{same}", tokens, found.difference),
        ]
        layout.show_chart(vector_maps(parts, IN_COLOURS), key=key)
    row = int(np.abs(found.difference).max(axis=1).argmax())
    at = [" at “", Word(visible(tokens[row])), "”"] if tells else []
    return {
        "model": case.model,
        "most": [_most(found), *at],
        "largest": digits(float(np.abs(found.first).max()), 2),
        "verdict": "so order shows" if tells else "which is float32’s own rounding",
    }


def _most(found: Reordered) -> str:
    """The largest difference, as it is or as the rounding it is."""
    most = float(np.abs(found.difference).max())
    return f"{most:.1e}" if most < 0.01 else digits(most, 2)


def _positions_of(scheme: str) -> str:
    if scheme == SCHEMELESS:
        return "no positions"
    return NAMES.get(scheme, "positions of its own")


def _tells(without: float, masked: float) -> str:
    """What two relative differences say; a model with both may need but one."""
    if not np.isfinite(without + masked):
        return NONE
    if without > SAME:
        return "its positions" + (", and its mask" if masked > SAME else "")
    return "its mask alone" if masked > SAME else "nothing"


PAGE = Page(
    "Order",
    ":material/swap_horiz:",
    "“dog bites man” and “man bites dog” are the same words: what tells a model their order?",
    needs=("decoder", "text", "residuals", "readout"),
    scenes={
        "open": partial(_schemeless, is_masked=False),
        "masked": partial(_schemeless, is_masked=True),
        "running": _running,
    },
    wide=("open", "masked", "running"),
    source=("model.analysis.order.reordered", "model.positions.Position"),
)
