"""Lens: what every layer would say comes next, read with the model's own unembedding."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis.lens import LogitLens
from viz import controls, runs, say, ui
from viz.figures.labels import clipped, token_labels, visible
from viz.figures.lens import (
    MOST_POSITIONS,
    Grid,
    entropy_scale,
    lens_map,
    likeliest_bars,
    probability_scale,
    rank_curve,
    row_names,
    said_label,
    window_of,
)
from viz.formulas import lens_with_numbers

TITLE = "Lens"
ICON = ":material/search_insights:"

COLORS = ("probability", "entropy")
AROUND = -1  # the window that follows the chosen token
ALLOWED = 1e-5
LABEL_CHARACTERS = 24


@dataclass(frozen=True, eq=False)
class Reading:
    """The lens on this page's run, and the cell that is looked at."""

    view: ui.View
    lens: LogitLens
    vocabulary: list[str]
    row: int
    position: int

    @property
    def cell_name(self) -> str:
        """The chosen layer and token, as plain text."""
        label = clipped(token_labels(self.view.tokens)[self.position], LABEL_CHARACTERS)
        return f"L{self.view.layer}, after “{label}”"

    def words(self, row: int, position: int) -> list[str]:
        """Labels of a cell's likeliest tokens."""
        before = self.view.tokens[position]
        return [said_label(before, self.vocabulary[i]) for i in self.lens.ids[row, position]]


def render() -> None:
    """Draw the page."""
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "What would the model say comes next if it stopped after a layer? The logit lens reads the "
        "residual stream there as the last layer's is read: through the final norm and the "
        "unembedding. Bold tokens are already the final answer.",
    )
    if view.run.trace.config.norm_placement == "post":
        say.notice("This model has no final norm; the unembedding reads the stream as it is.")
    reading, color, window = _controls(view)
    controls.show_complaints()
    _grid(reading, color, window)
    _cell(reading)
    _formulas(reading)
    ui.source("model.analysis.lens.logit_lens")
    _check(reading.lens)
    ui.export(view, "lens", _tables(reading))


def _controls(view: ui.View) -> tuple[Reading, str, range]:
    """The cell that is looked at, what the colours mean, and which positions are drawn."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        color = controls.choice("Colour", "lens_color", COLORS, COLORS[0], width=150)
        position = ui.position_picker(view)
        window = _window(len(view.tokens), position)
        st.caption(f"The framed cell is the chosen token after the chosen layer, L{view.layer}.")
    lens = runs.lens(view.model, view.device, view.sentence)
    vocabulary = runs.vocabulary(view.model, view.device)
    return Reading(view, lens, vocabulary, view.layer + 1, position), color, window


def _window(n_tokens: int, position: int) -> range:
    """Which positions are drawn; a person chooses where a long sentence's window starts."""
    last = max(n_tokens - MOST_POSITIONS, 0)
    starts = [*range(0, last, MOST_POSITIONS // 2), last] if last else []

    def name(start: int) -> str:
        shown = window_of(n_tokens, start, position)
        span = f"{shown[0]} to {shown[-1]}"
        if not last:
            return f"all: {span}" if n_tokens > 1 else "the one token"
        return f"around the token: {span}" if start == AROUND else span

    start = controls.choice("Window", "lens_start", [AROUND, *starts], AROUND, name, width=240)
    return window_of(n_tokens, start, position)


def _grid(reading: Reading, color: str, window: range) -> None:
    lens, columns = reading.lens, slice(window.start, window.stop)
    rows = range(len(lens.rank))
    grid = Grid(
        words=[[reading.words(row, position) for position in window] for row in rows],
        probs=lens.probs[:, columns],
        entropy=lens.entropy[:, columns],
        is_answer=lens.rank[:, columns] == 0,
        labels=token_labels(reading.view.tokens)[columns],
        start=window.start,
    )
    by_entropy = color == "entropy"
    figure = lens_map(
        grid,
        grid.entropy if by_entropy else grid.probs[..., 0],
        entropy_scale(lens.entropy) if by_entropy else probability_scale(),
        (reading.row, reading.position),
        reading.view.colors,
    )
    _say_window(reading, window)
    end = "-end" if grid.is_far_right(reading.position) else ""
    with st.container(key=f"wide-chart{end}" if grid.is_wide else "chart"):
        ui.show_figure(figure, key="lens", alt=_grid_alt(reading, grid, color))


def _say_window(reading: Reading, window: range) -> None:
    n_tokens = len(reading.view.tokens)
    if len(window) == n_tokens:
        return
    text = f"A window: positions {window[0]} to {window[-1]} of 0 to {n_tokens - 1} are drawn."
    if reading.position not in window:
        text += f" The chosen token, {reading.position}, is outside it."
    say.notice(text)


def _grid_alt(reading: Reading, grid: Grid, color: str) -> str:
    found = int(grid.is_answer[-2].sum())
    return (
        f"Grid of {len(grid.rows)} rows by {len(grid.labels)} tokens, coloured by {color}: the "
        f"likeliest next token at each. One layer before the end, {found} of {len(grid.labels)} "
        f"are the final answer already."
    )


def _cell(reading: Reading) -> None:
    """The chosen position through the layers, and the chosen cell's likeliest tokens."""
    lens, position = reading.lens, reading.position
    places = lens.rank[:, position] + 1
    answer = clipped(reading.words(-1, position)[0], LABEL_CHARACTERS)
    words = reading.words(reading.row, position)
    probs = lens.probs[reading.row, position]
    with st.container(key="two-up"):
        left, right = st.columns(2)
        with left:
            ui.show_figure(
                rank_curve(
                    lens.rank[:, position],
                    reading.row,
                    len(reading.vocabulary),
                    reading.view.colors,
                    f"Rank of the final answer “{answer}”",
                ),
                key="rank",
                alt=f"Rank of the final answer “{answer}” by layer: "
                + ", ".join(
                    f"{name} {place:,}"
                    for name, place in zip(row_names(len(places)), places, strict=True)
                ),
            )
        with right:
            ui.show_figure(
                likeliest_bars(
                    words, probs, reading.view.colors, f"Likeliest tokens: {reading.cell_name}"
                ),
                key="likeliest",
                alt=f"Likeliest tokens at {reading.cell_name}: "
                + ", ".join(f"{word} {p:.3f}" for word, p in zip(words, probs, strict=True)),
            )


def _formulas(reading: Reading) -> None:
    lens, at = reading.lens, (reading.row, reading.position)
    ui.formula("model.analysis.lens.logit_lens")
    say.token_line(
        f"The likeliest token after L{reading.view.layer} at position {reading.position}:",
        reading.vocabulary[lens.ids[at][0]],
    )
    ui.formula(
        "model.analysis.lens.logit_lens",
        lens_with_numbers(
            float(lens.logits[at][0]),
            float(lens.log_total[at]),
            len(reading.vocabulary),
            float(lens.entropy[at]),
            int(lens.rank[at]) + 1,
        ),
    )
    st.caption(
        "p is the probability of that token, H the entropy, rank the place of the final answer. "
        "Only the last layer is what the model says. Earlier ones were not trained to be read so: "
        f"a token that is low there may be on its way all the same.{_tied(reading.view)}",
        text_alignment="center",
    )


def _tied(view: ui.View) -> str:
    if not view.run.trace.config.tied_embeddings:
        return ""
    return " The unembedding is the embedding itself, so the input row tends to repeat its token."


def _check(lens: LogitLens) -> None:
    passed = lens.error <= ALLOWED
    text = (
        f"Check {'passed' if passed else 'FAILED'}: the last row's logits are the model's own, "
        f"largest difference {lens.error:.1e}, allowed {ALLOWED:.0e}."
    )
    if passed:
        st.caption(f":material/verified: {text}")
    else:
        say.notice(text, kind="error")


def _tables(reading: Reading) -> dict[str, Callable[[], bytes]]:
    return {
        "Lens top tokens": lambda: _tokens_csv(reading),
        "Lens ranks": lambda: _ranks_csv(reading),
    }


def _tokens_csv(reading: Reading) -> bytes:
    """One line for each of the likeliest tokens of each cell of the whole sentence."""
    lens = reading.lens
    rows, positions, places = np.indices(lens.ids.shape).reshape(3, -1)
    names = row_names(len(lens.rank))
    frame = pd.DataFrame(
        {
            "after_layer": [names[row] for row in rows],
            "position": positions,
            "after_token": [visible(reading.view.tokens[t]) for t in positions],
            "place": places + 1,
            "id": lens.ids.ravel(),
            "token": [visible(reading.vocabulary[i]) for i in lens.ids.ravel()],
            "probability": lens.probs.ravel(),
        }
    )
    return frame.to_csv(index=False).encode("utf-8-sig")


def _ranks_csv(reading: Reading) -> bytes:
    """One line for each cell: rank of the final answer, from 1, and the entropy."""
    lens = reading.lens
    rows, positions = np.indices(lens.rank.shape).reshape(2, -1)
    names = row_names(len(lens.rank))
    answers = lens.ids[-1, positions, 0]
    frame = pd.DataFrame(
        {
            "after_layer": [names[row] for row in rows],
            "position": positions,
            "after_token": [visible(reading.view.tokens[t]) for t in positions],
            "answer_id": answers,
            "answer": [visible(reading.vocabulary[i]) for i in answers],
            "rank": lens.rank.ravel() + 1,
            "entropy_nats": lens.entropy.ravel(),
        }
    )
    return frame.to_csv(index=False).encode("utf-8-sig")
