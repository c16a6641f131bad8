"""Vectors that are added to the embeddings: waves, or rows that were trained."""

import numpy as np

from model.analysis.cosine import cosine_similarity
from model.analysis.order import answer_past_the_context
from model.analysis.positions import rotation_speeds, wave_table
from viz import runs
from viz.charts.chart import Chart
from viz.digits import digits
from viz.figures.positions import (
    dimension_curves,
    similarity_map,
    table_map,
    wave_rows,
    wave_surface,
)
from viz.figures.schemes import Part, vector_maps
from viz.formulas import operand
from viz.formulas.parts import learned_position, wave_with_numbers, with_base
from viz.frame import controls, inspector, layout, scenes, words
from viz.frame.page import Numbers
from viz.frame.settings import DIMENSIONS, PICTURE
from viz.frame.view import View
from viz.labels import visible
from viz.runs import positions

FIRST_DIMENSIONS = (0, 20, 50, 100)
MOST_POSITIONS = 256  # rows of a table in similarity maps; more would be a megabyte
NAMED = 12  # tokens without a position that are named


def wave_formula(view: View, name: str) -> None:
    """A formula with the base of the model's waves, and its reference."""
    formula = with_base(name, view.config.position_base)
    inspector.formula(name, formula)


def _table(view: View) -> np.ndarray:
    """The vectors that the scheme adds, one for each position of the context, (N, D)."""
    table = positions.table(view.handle)
    assert table is not None  # such a scheme adds one
    return table


def table(view: View) -> Numbers:
    """The vectors of all positions as a map, or waves as a surface."""
    vectors, config = _table(view), view.config
    lengths = 2 * np.pi / rotation_speeds(config.d_model, config.position_base)
    if config.position == "learned":
        layout.show_chart(table_map(vectors, len(view.tokens)), key="wave")
        written = learned_position(scale_embeddings=config.scale_embeddings)
        inspector.formula("model.positions.LearnedPosition", written)
    else:
        _waves(view, vectors)
        wave_formula(view, "model.positions.sinusoidal_encoding")
    return {
        "shortest": f"{lengths[0]:.1f}",
        "longest": f"{lengths[-1]:,.0f}",
        "rows": f"{len(vectors):,}",
        "dimensions": f"{vectors.shape[1]:,}",
    }


def _waves(view: View, vectors: np.ndarray) -> None:
    """Some of the waves as rows, or all as a surface."""
    with scenes.to_set():
        is_map = controls.segments(PICTURE) == "map"
    if is_map:
        layout.show_chart(wave_rows(vectors, len(view.tokens)), key="wave")
        return
    alt = f"Surface of {len(vectors)} position vectors of {vectors.shape[1]} dimensions."
    layout.show_figure(wave_surface(vectors, view.colors), key="wave", alt=alt)


def similarity(view: View) -> Numbers:
    """The cosine of every two positions; of trained rows, beside those of waves."""
    table = _table(view)[:MOST_POSITIONS]
    near, far, chart = _similarity(table, "Similarity between positions")
    numbers = {"neighbours": near, "apart": far, "half": str(len(table) // 2)}
    if view.config.position != "learned":
        layout.show_chart(chart, key="similarity")
        inspector.formula("model.positions.wave_product")
        return numbers
    waves = wave_table(len(table), view.config.d_model, view.config.position_base)
    near, far, beside = _similarity(waves, "The same for sinusoidal positions")
    layout.show_charts({"similarity": chart, "similarity-waves": beside})
    return numbers | {"waves": near, "waves apart": far}


def _similarity(table: np.ndarray, title: str) -> tuple[str, str, Chart]:
    """Mean cosine of neighbours, and of positions that are half of all apart; the map of all."""
    values = cosine_similarity(table)
    near, far = (
        digits(float(np.diagonal(values, apart).mean()), 3)
        for apart in (min(1, len(table) - 1), len(table) // 2)
    )
    says = f"{near} of neighbours on average, {far} of positions half of these apart."
    return near, far, similarity_map(values, title, says)


def curves(view: View) -> Numbers:
    """Single dimensions of the waves."""
    config, table = view.config, _table(view)
    position, width = len(view.tokens) - 1, table.shape[1]
    first = tuple(dimension for dimension in FIRST_DIMENSIONS if dimension < width)
    with scenes.to_set():
        chosen = controls.several(DIMENSIONS.given(options=range(width), default=first))
    if chosen:
        layout.show_chart(dimension_curves(table, chosen, len(view.tokens)), key="curves")
    else:
        words.notice("Choose at least one dimension to see its curve.")
    dimension = chosen[-1] if chosen else 0
    value, name = float(table[position, dimension]), "model.positions.sinusoidal_encoding"
    wave_formula(view, name)
    filled = wave_with_numbers(position, dimension, width, config.position_base, value)
    inspector.formula(name, filled)
    speeds = rotation_speeds(width, config.position_base)
    return {
        "dimension": str(dimension),
        "length": f"{2 * np.pi / speeds[dimension // 2]:,.1f}",
    }


def past_the_end(view: View) -> Numbers:
    """What the model answers to one token more than it has rows, and the tokens without a row."""
    n_rows, tokenizer = view.config.max_seq_len, runs.tokenizer(view.handle)
    words.notice(answer_past_the_context(runs.decoder(view.handle)), kind="hint")
    if view.run.n_cut:
        ids = tokenizer.encode(view.given)[n_rows:]
        shown = map(visible, tokenizer.token_strings(ids[:NAMED]))
        named = ", ".join(f"{place} “{word}”" for place, word in enumerate(shown, n_rows))
        more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
        words.notice(
            f"The table ends at position {n_rows - 1}: these tokens have no position, "
            f"{named}{more}."
        )
    return {"rows": str(n_rows), "more": str(n_rows + 1)}


def embedding_sum(view: View) -> Numbers:
    """Embedding + position = input, for the typed sentence."""
    trace = view.run.trace
    parts = (trace.embed, trace.positions, trace.residuals[0].resid_pre)
    titles = ("embedding", "+ position", "= input")
    maps = [Part(title, trace.tokens, part) for title, part in zip(titles, parts, strict=True)]
    layout.show_chart(vector_maps(maps, n_scaled=3), key="sum")
    embed, position, total = (operand(part[-1, 0]) for part in parts)
    inspector.numbers(
        rf"{embed} \;+\; ({position}) \;=\; {total} \qquad \text{{(last token, dimension 0)}}"
    )
    sizes = (digits(float(np.sqrt(np.mean(part**2))), 3) for part in parts)
    return {
        "embedding": "√d_model · embedding" if view.config.scale_embeddings else "embedding",
        **dict(zip(("size", "position size", "input size"), sizes, strict=True)),
    }
