"""Positions: the wave the model adds, its dimensions, its similarity, and the sum it makes."""

import numpy as np
import streamlit as st

from viz import runs, ui
from viz.figures.positions import dimension_curves, similarity_map, sum_maps, wave_map
from viz.formulas import wave_with_numbers

TITLE = "Positions"
ICON = ":material/waves:"

FIRST_DIMENSIONS = (0, 20, 50, 100)


def render() -> None:
    """Draw the page."""
    view = ui.open_page()
    table = runs.position_table(view.model, view.device)
    config = view.run.trace.config
    if table is None:
        ui.heading(
            ICON,
            TITLE,
            f"This model adds nothing to its embeddings: its position scheme is "
            f"`{config.position}`, so there is no wave to show. Its input is the embedding alone.",
        )
        _sum(view)
        ui.source(runs.POSITION_SOURCES[config.position])
        ui.export(view, "positions", {})
        return
    ui.heading(
        ICON,
        TITLE,
        "Attention alone cannot tell the order of tokens. This model adds a vector to each "
        "embedding that depends on the position alone; these are those vectors, as it uses them.",
    )
    _wave(view, table)
    _curves(view, table)
    _sum(view)
    ui.source(runs.POSITION_SOURCES[config.position])
    ui.export(
        view,
        "positions",
        {
            "Position table": lambda: ui.numbers_csv(table, "position \\ dimension"),
            "Similarity": lambda: ui.numbers_csv(
                runs.similarity(view.model, view.device), "position \\ position"
            ),
        },
    )


def _wave(view: ui.View, table: np.ndarray) -> None:
    with st.container(key="two-up"):
        left, right = st.columns([6, 5])
        with left:
            ui.show_figure(
                wave_map(table, view.colors, n_used=len(view.tokens)),
                key="wave",
                alt=f"Heat map of {len(table)} position vectors of {table.shape[1]} dimensions.",
            )
        with right:
            similarity = runs.similarity(view.model, view.device)
            nearest = float(np.diagonal(similarity, 1).mean())
            ui.show_figure(
                similarity_map(similarity, view.colors),
                key="similarity",
                alt="Cosine similarity between positions; neighbours have "
                f"{nearest:.3f} on average, positions far apart have less.",
            )


def _curves(view: ui.View, table: np.ndarray) -> None:
    config = view.run.trace.config
    first = [dimension for dimension in FIRST_DIMENSIONS if dimension < table.shape[1]]
    chosen = st.multiselect(
        "Dimensions",
        range(table.shape[1]),
        default=first,
        key="dimensions",
        persist_state="session",
        max_selections=6,
    )
    if not chosen:
        ui.notice("Choose at least one dimension to see its curve.")
        return
    ui.show_figure(
        dimension_curves(table, chosen, view.colors, n_used=len(view.tokens)),
        key="curves",
        alt=f"Value over position of dimensions {', '.join(map(str, chosen))}.",
    )
    if config.position == "sinusoidal":
        ui.formula("model.positions.sinusoidal_encoding")
        position, dimension = len(view.tokens) - 1, chosen[-1]
        ui.formula(
            "model.positions.sinusoidal_encoding",
            wave_with_numbers(
                position,
                dimension,
                config.d_model,
                config.position_base,
                float(table[position, dimension]),
            ),
        )
        wavelength = 2 * np.pi * config.position_base ** (2 * (dimension // 2) / config.d_model)
        st.caption(f"Dimension {dimension} repeats every {wavelength:,.1f} positions.")


def _sum(view: ui.View) -> None:
    trace = view.run.trace
    total = trace.residuals[0].resid_pre
    st.markdown("For this sentence: embedding + position = what enters layer 0.")
    ui.show_figure(
        sum_maps(trace.embed, trace.positions, total, trace.tokens, view.colors),
        key="sum",
        alt="Three heat maps, token by dimension: embedding, position, and their sum.",
    )
    sizes = [float(np.sqrt(np.mean(x**2))) for x in (trace.embed, trace.positions, total)]
    st.caption(
        f"Typical size (root mean square): embedding {sizes[0]:.3f}, position {sizes[1]:.3f}, "
        f"input {sizes[2]:.3f}."
    )
    token = len(trace.tokens) - 1
    st.latex(
        rf"{trace.embed[token, 0]:.4f} \;+\; ({trace.positions[token, 0]:.4f}) \;=\; "
        rf"{total[token, 0]:.4f} \qquad \text{{(last token, dimension 0)}}"
    )
