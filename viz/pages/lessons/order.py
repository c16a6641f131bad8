"""Order: the same words in another order, without positions and with them, masked and not."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from model.analysis.order import SAME, Reordered
from model.lines import quoted
from viz import runs
from viz.digits import digits
from viz.figures.schemes import Part, vector_maps
from viz.frame import controls, inspector, layout, memory, scenes, tables, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Word
from viz.frame.settings import ORDER_TEXT
from viz.frame.view import View
from viz.labels import visible
from viz.pages.ideas.positions.compare import NAMES
from viz.runs import positions
from viz.runs.kept import Asked

SCHEMELESS = "none"
MASKS = {False: "without a mask", True: "with its own mask"}
IN_COLOURS = 0.99  # of the outputs; a few dimensions are so large that all others would be pale
LAST_GOOD = "order-text"  # of this visitor


@dataclass(frozen=True, eq=False)
class Case:
    """One model under its mask or none, and what became of its outputs."""

    view: View
    name: str
    is_masked: bool
    found: Reordered


def _cases(view: View) -> list[Case]:
    """The model without positions and the running one, each without a mask and with its own."""
    with scenes.to_set():
        text = _with_two_tokens(view, controls.text(ORDER_TEXT, placeholder="two words or more"))
    inspector.formula("model.positions.Position")
    schemeless = positions.family(view.handle.device).get(SCHEMELESS)
    handles = {"the running model": view.handle}
    if schemeless is not None and schemeless != view.handle:
        handles = {schemeless.name: schemeless, **handles}
    found = []
    for name, handle in handles.items():
        asked = Asked(partial(runs.run, handle, text))
        own = replace(view, handle=handle, asked=asked, layer=0, head=0)
        order = _order(len(own.tokens))
        found += [
            Case(own, name, masked, positions.reordered(handle, text, order, masked))
            for masked in MASKS
        ]
    inspector.export(view, _tables(found))
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
    case = _cases(view)[is_masked]
    if case.name == "the running model" and view.config.position != SCHEMELESS:
        words.notice(
            "No checkpoint positions-none is here to compare with: copy it to assets/checkpoints."
        )
    return _maps(case, "order-causal" if is_masked else "order-open")


def _running(view: View) -> Numbers:
    """The running model without a mask; and what tells order, in all cases."""
    cases = _cases(view)
    numbers = _maps(cases[-2], "order-running")
    _table(cases)
    return numbers


def _maps(case: Case, key: str) -> Numbers:
    """Outputs in both orders, and what differs when the rows are put back."""
    tokens, found = case.view.tokens, case.found
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
    label = Word(visible(tokens[row]))
    tells = found.error > SAME
    return {
        "model": case.name,
        "most": [_most(case), " at “", label, "”"] if tells else _most(case),
        "largest": digits(float(np.abs(found.first).max()), 2),
        "verdict": "so order shows" if tells else "which is float32’s own rounding",
    }


def _most(case: Case) -> str:
    """The largest difference, as it is or as the rounding it is."""
    most = float(np.abs(case.found.difference).max())
    return f"{most:.1e}" if most < 0.01 else digits(most, 2)


def _table(cases: list[Case]) -> None:
    """Largest differences of all cases, and whether the order shows."""
    open_ones = [case for case in cases if not case.is_masked]
    masked = [case for case in cases if case.is_masked]
    st.caption("Largest difference with the rows put back:")
    words.table(
        {
            "model": [_called(case) for case in open_ones],
            MASKS[False]: [_most(case) for case in open_ones],
            MASKS[True]: [_most(case) for case in masked],
            "what tells order": [
                _tells(*both) for both in zip(open_ones, masked, strict=True)
            ],
        },
        texts=["what tells order"],
    )  # fmt: skip


def _called(case: Case) -> str:
    scheme = case.view.config.position
    named = "no positions" if scheme == SCHEMELESS else NAMES.get(scheme, "positions of its own")
    return f"{case.name} ({named})"


def _tells(without: Case, masked: Case) -> str:
    """What the two differences say; a model with both may need but one."""
    by_position, by_either = without.found.error > SAME, masked.found.error > SAME
    if by_position:
        return "its positions" + (", and its mask" if by_either else "")
    return "its mask alone" if by_either else "nothing"


def _tables(cases: list[Case]) -> inspector.Tables:
    """The differences of every case, a row for each token."""
    return {
        f"{case.name} {MASKS[case.is_masked]}": partial(
            tables.matrix_csv, case.found.difference, corner="token \\ dimension"
        )
        for case in cases
    }


PAGE = Page(
    "Order",
    ":material/swap_horiz:",
    "“dog bites man” and “man bites dog” are the same words: what tells a model their order?",
    "",
    needs=("decoder", "text", "residuals", "readout"),
    scenes={
        "open": partial(_schemeless, is_masked=False),
        "masked": partial(_schemeless, is_masked=True),
        "running": _running,
    },
    wide=("open", "masked", "running"),
    source=("model.analysis.order.reordered", "model.positions.Position"),
)
