"""Learned positions: one trained row per position, and nothing past the last row."""

import numpy as np

from model.analysis.cosine import cosine_similarity
from model.analysis.order import answer_past_the_context
from model.analysis.positions import wave_table
from viz import runs
from viz.digits import digits
from viz.figures.positions import similarity_map, wave_map
from viz.formulas import learned_position
from viz.frame import inspector, layout, verdicts, words
from viz.frame.view import View
from viz.labels import visible
from viz.pages.ideas.positions.shared import MOST_POSITIONS, apart, embedding_sum, neighbours
from viz.runs import positions

NAMED = 12  # tokens without a position that are named


def draw(view: View) -> None:
    """Draw the tab."""
    table = positions.table(view.handle)
    assert table is not None  # this scheme adds one
    _say_without(view, len(table))
    _table(view, table)
    _past_the_end(view, len(table))
    embedding_sum(view)
    inspector.source(positions.SOURCES["learned"])
    inspector.export(view, {})


def _say_without(view: View, n_rows: int) -> None:
    """Name the tokens of the sentence that the table has no row for."""
    if not view.run.n_cut:
        return
    ids = runs.tokenizer(view.handle).encode(view.sentence)[n_rows:]
    shown = map(visible, runs.tokenizer(view.handle).token_strings(ids[:NAMED]))
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    words.notice(
        f"The table ends at position {n_rows - 1}: these tokens have no position, "
        f"{', '.join(f'{n_rows + i} “{word}”' for i, word in enumerate(shown))}{more}."
    )


def _table(view: View, table: np.ndarray) -> None:
    config = view.config
    layout.section(
        "The trained table",
        "Each position has a row of its own, drawn at random and trained like an embedding.",
        "Nothing tells the model what a position is: what order there is in the table, training "
        "has put there. Below it, how similar its rows are, beside a sinusoidal table of the same "
        "size.",
    )
    n = min(len(table), MOST_POSITIONS)
    learned = cosine_similarity(table[:n])
    waves = cosine_similarity(wave_table(n, config.d_model, config.position_base))
    layout.show_chart(wave_map(table, len(view.tokens), "The table as trained"), key="wave")
    left, right = layout.two_up("similarity")
    pairs = (
        (left, learned, "similarity", "Similarity between positions: learned"),
        (right, waves, "similarity-waves", "The same for sinusoidal positions"),
    )
    for column, values, key, title in pairs:
        with column:
            says = f"Neighbours have a cosine of {digits(neighbours(values), 3)} on average."
            layout.show_chart(similarity_map(values, title, says), key=key)
    _say_cosines(learned, waves)
    verdicts.properties(positions.checks(view.handle, view.sentence))
    written = learned_position(scale_embeddings=config.scale_embeddings)
    inspector.formula("model.positions.LearnedPosition", written.latex, written.reference)


def _say_cosines(learned: np.ndarray, waves: np.ndarray) -> None:
    """How alike positions are, beside one another and far apart, in both tables."""
    words.notice(
        f"Cosine of neighbouring positions: {digits(neighbours(learned), 3)} on average in the "
        f"learned table, {digits(neighbours(waves), 3)} in the sinusoidal one. Of positions half a "
        f"table apart: {digits(apart(learned), 3)} and {digits(apart(waves), 3)}."
    )


def _past_the_end(view: View, n_rows: int) -> None:
    layout.section(
        "Past its end",
        f"Position {n_rows} has no row: this is what the model answers to {n_rows + 1} tokens.",
        "There is nothing to add, so it cannot run on a longer text at all, while the other "
        "schemes can (see Compare).",
    )
    words.notice(answer_past_the_context(runs.decoder(view.handle)), kind="hint")
