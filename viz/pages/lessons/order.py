"""Order: the same words in another order, without positions and with them, masked and not."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from model.analysis.order import SAME, Reordered
from model.lines import quoted
from viz import runs
from viz.digits import digits
from viz.figures.schemes import Part, output_maps
from viz.frame import controls, inspector, layout, memory, tables, words
from viz.frame.page import Page
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
TWICE = "the dog saw the man and the cat"


@dataclass(frozen=True, eq=False)
class Case:
    """One model under its mask or none, and what became of its outputs."""

    view: View
    name: str
    is_masked: bool
    found: Reordered


def render(view: View) -> None:
    """Draw the page."""
    with layout.beside_heading():
        text = controls.text(ORDER_TEXT, placeholder="two words or more")
    cases = _cases(view, _with_two_tokens(view, text))
    inspector.formula("model.positions.Position")
    _draw(view, cases)
    inspector.source("model.analysis.order.reordered", "model.positions.Position")
    inspector.export(view, _tables(cases))


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


def _cases(view: View, text: str) -> list[Case]:
    """The model without positions and the running one, each without a mask and with its own."""
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
    return found


def _order(n: int) -> tuple[int, ...]:
    """The first and the last of n tokens exchanged."""
    return (n - 1, *range(1, n - 1), 0)


def _draw(view: View, cases: list[Case]) -> None:
    first = cases[0]
    if first.name == "the running model" and view.config.position != SCHEMELESS:
        words.notice(
            "No checkpoint positions-none is here to compare with: copy it to assets/checkpoints."
        )
    else:
        _maps(first, "order-open")
        if first.found.error <= SAME:
            words.caption(
                "Without positions and mask every row comes out as before, in another place: what "
                "is left in the last map is float32’s own rounding."
            )
        _under_the_mask(cases[1])
    layout.section(
        "With positions",
        "The running model without a mask: its positions alone tell the two orders apart."
        if view.config.position != SCHEMELESS
        else "The running model has no positions.",
    )
    _maps(cases[-2], "order-running")
    _table(cases)
    words.ask(
        "A text has “the” three times. Without positions and mask, how do their rows differ?",
        see="order-open",
        **{ORDER_TEXT.name: TWICE},
    )
    words.ways(
        [
            words.Way(
                "Positional encoding",
                "Five schemes, each in a model that runs.",
                page="Positional encoding",
            ),
            words.Way("Masks", "Who may attend to whom, and what that gives away.", page="Masks"),
        ]
    )


def _under_the_mask(case: Case) -> None:
    """The model without positions with its own mask: what the mask alone tells."""
    tells = case.found.error > SAME
    layout.section(
        "A causal mask alone tells order" if tells else "The mask alone tells nothing here",
        "The same model under the mask it was trained with.",
        "No position is added anywhere, yet rows differ: each token now attends to those "
        "before it, and these are others."
        if tells
        else "The tokens that change places are alike, so no row has others before it than it had.",
    )
    _maps(case, "order-causal")


def _maps(case: Case, key: str) -> None:
    """Outputs in both orders, and what differs when the rows are put back."""
    tokens, found = case.view.tokens, case.found
    other = [tokens[i] for i in _order(len(tokens))]
    largest = float(np.abs(found.first).max())
    same = " = 0, but for rounding" if found.error <= SAME else ""
    with st.container(key=f"narrow-chart-{key}"):
        parts = [
            Part("one order", tokens, found.first),
            Part("the other order", other, found.second),
            Part(f"difference{same}", tokens, found.difference),
        ]
        layout.show_chart(output_maps(parts, IN_COLOURS), key=key)
    row = int(np.abs(found.difference).max(axis=1).argmax())
    label = Word(visible(tokens[row]))
    at = [" at “", label, "”"] if found.error > SAME else []
    words.caption(
        [
            f"{case.name}, {MASKS[case.is_masked]}: rows put back differ by at most {_most(case)}",
            *at,
            f"; the largest output is {digits(largest, 2)}; colours end where "
            f"{digits(100 * IN_COLOURS, 0)} % of them lie.",
        ]
    )


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
    "The first and the last token change places; the tokens are the same ones, so nothing but "
    "their order differs. Attention is a sum over keys, and a sum has no order: without "
    "positions and mask each token comes out the same wherever it stands (Vaswani et al. 2017, "
    "§3.5, which is why they add positions). A causal mask tells order too: the first token "
    "attends to one, the next to two. Decoders without positions learn from that alone where "
    "tokens stand (Haviv et al. 2022, Kazemnejad et al. 2023). The last of three maps "
    "has the rows of the second put back in the order of the first, less the first. Colours "
    "end where 99 % of the outputs lie; a few dimensions are far larger.",
    render,
    needs=("decoder", "text", "residuals", "readout"),
)
