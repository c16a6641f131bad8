"""Learned positions: one trained row per position, and nothing past the last row."""

from model.analysis.cosine import cosine_similarity
from model.analysis.order import answer_past_the_context
from model.analysis.positions import wave_table
from viz import runs
from viz.figures.positions import similarity_map, wave_map
from viz.formulas import learned_position
from viz.frame import inspector, layout, words
from viz.frame.page import Numbers
from viz.frame.view import View
from viz.labels import visible
from viz.pages.ideas.positions.shared import (
    MOST_POSITIONS,
    Tab,
    cosines,
    embedding_sum,
    table_of,
)
from viz.runs import positions

NAMED = 12  # tokens without a position that are named


def _table(view: View) -> Numbers:
    """The rows as trained."""
    table = table_of(view)
    layout.show_chart(wave_map(table, len(view.tokens), "The table as trained"), key="wave")
    written = learned_position(scale_embeddings=view.config.scale_embeddings)
    inspector.formula("model.positions.LearnedPosition", written.latex, written.reference)
    return {"rows": f"{len(table):,}", "dimensions": f"{table.shape[1]:,}"}


def _similarity(view: View) -> Numbers:
    """How similar the rows are, beside a sinusoidal table of the same size."""
    table = table_of(view)[:MOST_POSITIONS]
    waves = wave_table(len(table), view.config.d_model, view.config.position_base)
    shown = (
        ("learned", table, "similarity", "Similarity between positions: learned"),
        ("waves", waves, "similarity-waves", "The same for sinusoidal positions"),
    )
    numbers: dict[str, str] = {}
    columns = layout.two_up("similarity")
    for column, (name, vectors, key, title) in zip(columns, shown, strict=True):
        values = cosine_similarity(vectors)
        near, far = cosines(values)
        says = f"Neighbours have a cosine of {near} on average."
        with column:
            layout.show_chart(similarity_map(values, title, says), key=key)
        numbers |= {name: near, f"{name} apart": far}
    return numbers


def _end(view: View) -> Numbers:
    """What the model answers to one token more than it has rows, and the tokens without a row."""
    n_rows = view.config.max_seq_len
    words.notice(answer_past_the_context(runs.decoder(view.handle)), kind="hint")
    if view.run.n_cut:
        ids = runs.tokenizer(view.handle).encode(view.sentence)[n_rows:]
        shown = map(visible, runs.tokenizer(view.handle).token_strings(ids[:NAMED]))
        more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
        words.notice(
            f"The table ends at position {n_rows - 1}: these tokens have no position, "
            f"{', '.join(f'{n_rows + i} “{word}”' for i, word in enumerate(shown))}{more}."
        )
    return {"rows": str(n_rows), "more": str(n_rows + 1)}


TAB = Tab(
    scenes={"table": _table, "similarity": _similarity, "end": _end, "sum": embedding_sum},
    wide=("similarity", "end", "sum"),
    source=(positions.SOURCES["learned"],),
)
