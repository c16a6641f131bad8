"""Lens: what every layer would predict, decoded with the model's own norm and unembedding."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.analysis.fitted_lens import FittedLens, Fitting, operations
from model.analysis.lens import LogitLens
from model.sources.offers import missing
from viz import runs
from viz.charts.chart import from_zero, weights
from viz.digits import duration
from viz.figures.lens import (
    MOST_POSITIONS,
    Grid,
    agreement_curves,
    kl_curves,
    lens_map,
    most_likely_bars,
    predicted_label,
    rank_curve,
    row_names,
    says_nothing,
    window_of,
)
from viz.formulas import FORMULAS
from viz.formulas import parts as formulas
from viz.formulas.parts import lens_with_numbers
from viz.frame import controls, gradual, inspector, layout, state, tables, words
from viz.frame.page import Page
from viz.frame.said import Word
from viz.frame.settings import LAYER, LENS, LENS_COLOUR, LENS_START, LENSES, TOKEN
from viz.frame.view import View
from viz.labels import clipped, token_labels, told_apart, visible
from viz.pages.look_inside import turned
from viz.runs import lenses

AROUND = LENS_START.default  # the window that follows the chosen token
ALLOWED = 1e-5
LABEL_CHARACTERS = 24
FITTING = "fitting-lens"  # of this visitor
A_SECOND = 5e10  # operations of a core: to say how long a fit takes
MOST_SECONDS = 20  # what takes longer does not begin by itself


@dataclass(frozen=True, eq=False)
class Reading:
    """A lens on this page's run, at some positions, and the cell that is looked at."""

    view: View
    lens: LogitLens
    vocabulary: list[str]
    row: int
    position: int

    @property
    def at(self) -> int:
        """The column of the position."""
        return self.columns([self.position])[0]

    def columns(self, positions: Sequence[int]) -> list[int]:
        """Where positions are in the lens, which has not all of a long text."""
        return np.searchsorted(self.lens.positions, positions).tolist()

    def words(self, row: int, position: int) -> list[str]:
        """Labels of a cell's most likely tokens, told apart from all of its column."""
        (column,) = self.columns([position])
        before, ids = self.view.tokens[position], self.lens.ids[:, column]
        names = told_apart(
            self.vocabulary, ids.ravel().tolist(), lambda token: predicted_label(before, token)
        )
        return [names[i] for i in ids[row].tolist()]


def render(view: View) -> None:
    """Draw the page."""
    if not _has_final_norm(view):
        words.notice("This model has no final norm; the unembedding decodes the stream as it is.")
    with layout.beside_heading():
        chosen = controls.segments(LENS)
    colour, position, window = _controls(view)
    fitted = _fitted(view) if chosen == "fitted" else None
    _cell(view, position, fitted)
    reading = _read(view, (*window, position), position, fitted)
    _grid(reading, colour, window)
    _formulas(reading, fitted)
    turned.draw(view)
    if fitted:
        _errors(fitted)
    inspector.source("model.analysis.lens.logit_lens")
    inspector.check(
        reading.lens.error <= ALLOWED,
        "the last row's logits are the model's own, max error "
        f"{reading.lens.error:.1e}, allowed {ALLOWED:.0e}.",
    )
    inspector.export(view, {"Lens": lambda: _csv(reading)})


def _controls(view: View) -> tuple[str, int, range]:
    """What the colours mean, the position looked at, and which positions are drawn."""
    with layout.slim_row("lens"):
        colour = controls.select(LENS_COLOUR, width=150)
        position = controls.position(view)
        return colour, position, _window(len(view.tokens), position)


def _window(n_tokens: int, position: int) -> range:
    """Which positions are drawn; a person chooses where a long sentence's window starts."""
    last = max(n_tokens - MOST_POSITIONS, 0)
    if not last:
        return range(n_tokens)
    starts = [*range(0, last, MOST_POSITIONS // 2), last]

    def name(start: int) -> str:
        shown = window_of(n_tokens, start, position)
        span = f"{shown[0]} to {shown[-1]}"
        return f"around the token: {span}" if start == AROUND else span

    window = LENS_START.given(options=[AROUND, *starts], words=name)
    return window_of(n_tokens, controls.select(window, width=240), position)


def _read(
    view: View, positions: Sequence[int], position: int, fitted: FittedLens | None
) -> Reading:
    lens = runs.lens(view.handle, view.given, positions, fitted)
    return Reading(view, lens, runs.vocabulary(view.handle), view.layer + 1, position)


# --- the lens that is fitted ------------------------------------------------------------------


def _fitted(view: View) -> FittedLens | None:
    """The lens fitted to the model; while there is none, how far it has come, or why not."""
    if found := lenses.fitted(view.handle):
        return found
    for reason in missing(("cache",), view.offers):
        words.notice(f"No lens is fitted to this model: {reason}. This is the logit lens.")
        return None
    try:
        work = gradual.kept(FITTING, view.handle, lambda: _begun(view))
    except ValueError as error:
        words.notice(f"No lens is fitted to this model: {error}. This is the logit lens.")
        return None
    if work.found:
        lenses.keep(view.handle, work.found)
        return work.found
    gradual.draw(work, lambda: None, lambda: _how_far(view, work), FITTING)
    return None


def _begun(view: View) -> Fitting:
    work = lenses.fitting(view.handle)
    work.is_running = _seconds(view) <= MOST_SECONDS
    return work


def _seconds(view: View) -> float:
    return operations(runs.decoder(view.handle)) / A_SECOND


def _how_far(view: View, work: Fitting) -> str:
    line = "one affine map a layer, to text that the model writes. Until then: the logit lens."
    if work.is_running:
        return f"Fitting {line}"
    return f"Not fitted yet: {line} About {duration(_seconds(view) * (1 - work.progress))}."


def _errors(fitted: FittedLens) -> None:
    layout.section(
        "How good is the fitted lens?",
        f"Both lenses on {fitted.n_held:,} tokens that it was not fitted on.",
        "One affine map a layer was fitted by least squares to "
        f"{fitted.n_fitted:,} tokens of texts that the model wrote, each token drawn from its own "
        "distribution. These are tokens of other texts of its own; what begins as a text that it "
        "was fitted on is left out, and so is the first token of each. KL is that of the model’s "
        "last distribution to the lens’s: 0 where both are the same.",
    )
    both = {LENSES["logit"]: fitted.plain, LENSES["fitted"]: fitted.fitted}
    kl = kl_curves({name: errors.kl for name, errors in both.items()})
    top1 = agreement_curves({name: errors.top1 for name, errors in both.items()})
    layout.show_charts({"lens-kl": kl, "lens-top1": top1})


# --- what is read -----------------------------------------------------------------------------


def _cell(view: View, position: int, fitted: FittedLens | None) -> None:
    """When the answer is found at the chosen position, and the chosen cell's likely tokens."""
    plain = _read(view, (position,), position, None)
    shown = _read(view, (position,), position, fitted) if fitted else plain
    answer = clipped(shown.words(-1, position)[0], LABEL_CHARACTERS)
    ranks = {LENSES["logit"]: plain.lens.rank[:, plain.at]}
    if fitted:
        ranks[LENSES["fitted"]] = shown.lens.rank[:, shown.at]
    left, right = layout.two_up("cell")
    with left:
        chart = rank_curve(ranks, shown.row, len(shown.vocabulary), answer)
        layout.show_chart(chart, key="rank")
    with right:
        label = clipped(token_labels(view.tokens)[position], LABEL_CHARACTERS)
        title = f"Most likely tokens: L{view.layer}, after “{label}”"
        labels, probs = shown.words(shown.row, position), shown.lens.probs[shown.row, shown.at]
        layout.show_chart(most_likely_bars(labels, probs, title), key="most-likely")


def _grid(reading: Reading, colour: str, window: range) -> None:
    lens, columns = reading.lens, reading.columns(window)
    rows = range(len(lens.rank))
    grid = Grid(
        words=[[reading.words(row, position) for position in window] for row in rows],
        probs=lens.probs[:, columns],
        entropy=lens.entropy[:, columns],
        is_answer=lens.rank[:, columns] == 0,
        is_blank=_blank(reading)[:, columns],
        labels=token_labels(reading.view.tokens)[window.start : window.stop],
        start=window.start,
    )
    entropy = from_zero("entropy", lens.entropy, "nats")
    scale = entropy if colour == "entropy" else weights("probability of the token")
    chart = lens_map(grid, scale, (reading.row, reading.position))

    def look_at(row: int, column: int) -> None:
        """Choose the layer and the token of a cell; the input's row is of no layer."""
        state.put((TOKEN, window[column]), *([(LAYER, row - 1)] if row else []))

    _say_window(reading, window)
    with st.container(key=grid.frame(reading.position)):
        layout.show_chart(chart, key="lens", on_pick=look_at)
    if grid.is_faint.any():
        words.caption(
            "Grey: no word, and not the final answer. Before the last layers a stream is not made "
            "to be decoded so, and what it says then is often a space or a mark."
        )


def _blank(reading: Reading) -> np.ndarray:
    """Where what is on top is no word, (L + 1, N)."""
    special = runs.tokenizer(reading.view.handle).special_ids
    top = reading.lens.ids[..., 0]
    blank = {i: says_nothing(reading.vocabulary[i], is_special=i in special)
             for i in set(top.ravel().tolist())}  # fmt: skip
    return np.array([[blank[i] for i in row] for row in top.tolist()])


def _say_window(reading: Reading, window: range) -> None:
    n_tokens = len(reading.view.tokens)
    if len(window) == n_tokens:
        return
    text = f"A window: positions {window[0]} to {window[-1]} of 0 to {n_tokens - 1} are drawn."
    if reading.position not in window:
        text += f" The chosen token, {reading.position}, is outside it."
    words.notice(text)


# --- the rest ---------------------------------------------------------------------------------


def _formulas(reading: Reading, fitted: FittedLens | None) -> None:
    lens, at, name = reading.lens, (reading.row, reading.at), "model.analysis.lens.logit_lens"
    inspector.formula(name, formulas.lens(has_final_norm=_has_final_norm(reading.view)))
    if fitted:
        fit = "model.analysis.fitted_lens.fit"
        inspector.formula(fit, FORMULAS[fit])
    best = Word(visible(reading.vocabulary[lens.ids[at][0]]))
    line = f"The most likely token after L{reading.view.layer} at position {reading.position}:"
    inspector.beside_formula(lambda: words.token_line(line, best))
    numbers = lens_with_numbers(
        float(lens.logits[at][0]),
        float(lens.log_total[at]),
        len(reading.vocabulary),
        float(lens.entropy[at]),
        int(lens.rank[at]) + 1,
    )
    inspector.formula(name, numbers)
    inspector.note(
        "p is the probability of that token, H the entropy, rank the place of the final answer. "
        "Only the last layer is what the model predicts. Earlier ones need not be meant to be "
        "decoded so: a token that is low there may be on its way all the same."
        f"{_tied(reading)}"
    )


def _has_final_norm(view: View) -> bool:
    return view.config.norm_placement != "post"


def _said(view: View) -> tuple[str, str]:
    left_out = "" if _has_final_norm(view) else "the final norm and "
    return PAGE.line, PAGE.more.replace(left_out, "")


def _tied(reading: Reading) -> str:
    """Whether the unembedding is the embedding, and what that does to the input's row."""
    view = reading.view
    if not view.config.tied_embeddings:
        return ""
    there = reading.lens.positions
    n_same = int((reading.lens.ids[0, :, 0] == np.asarray(view.ids)[there]).sum())
    return (
        " The unembedding is the embedding itself: the input row has its own token on top at "
        f"{n_same} of {len(there)} positions."
    )


def _csv(reading: Reading) -> bytes:
    """A line for each of the most likely tokens of each cell, of a long text of those drawn.

    Rank, from 1, is the final answer's, in whose cells of the last layer it has place 1.
    """
    lens, names = reading.lens, row_names(len(reading.lens.rank))
    rows, columns, places = np.indices(lens.ids.shape).reshape(3, -1)
    positions = lens.positions[columns]
    return tables.csv(
        {
            "after_layer": [names[row] for row in rows],
            "position": positions,
            "after_token": [visible(reading.view.tokens[t]) for t in positions],
            "place": places + 1,
            "id": lens.ids.ravel(),
            "token": [visible(reading.vocabulary[i]) for i in lens.ids.ravel()],
            "probability": lens.probs.ravel(),
            "rank_of_answer": lens.rank[rows, columns] + 1,
            "entropy_nats": lens.entropy[rows, columns],
        }
    )


PAGE = Page(
    "Logit lens",
    ":material/search_insights:",
    "What would the model predict if it stopped after a layer?",
    "The logit lens decodes each layer's residual stream with the final norm and the unembedding; "
    "softmax makes probabilities of its logits. Bold tokens are already the final answer. The "
    "framed cell is the chosen token after the chosen layer: click another to look at it.",
    render,
    said=_said,
    needs=("decoder", "residuals", "vocabulary", "readout"),
)
