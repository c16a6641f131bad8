"""Sinusoidal positions: fixed waves, and the one rotation that moves them all."""

import numpy as np
import streamlit as st

from viz import controls, say, ui
from viz.figures.positions import (
    dimension_curves,
    similarity_map,
    wave_map,
    wave_surface,
    wavelength_curve,
)
from viz.formulas import rotation_with_numbers, wave_with_numbers
from viz.live import component
from viz.pages.positions.shared import MOST_POSITIONS, embedding_sum, neighbours
from viz.runs import positions

FIRST_DIMENSIONS = (0, 20, 50, 100)
MOST_CURVES = 6
PICTURES = {"map": "Heat map", "surface": "Surface"}


def draw(view: ui.View) -> None:
    """Draw the tab."""
    component.preload()
    table = positions.table(view.model, view.device)
    _waves(view, table)
    _curves(view, table)
    _rotation(view)
    embedding_sum(view)
    ui.source(positions.SOURCES["sinusoidal"], "model.positions.shift_waves")
    ui.export(
        view,
        "positions",
        {
            "Position table": lambda: ui.numbers_csv(table, "position \\ dimension"),
            "Similarity": lambda: ui.numbers_csv(
                positions.similarity(table), "position \\ position"
            ),
        },
    )


def _waves(view: ui.View, table: np.ndarray) -> None:
    ui.section(
        "The waves",
        "Each pair of dimensions is a sine and a cosine of its own wavelength: the first turns "
        "once in six positions, the last has hardly begun when the text ends.",
    )
    picture = controls.segments("Picture", "picture", PICTURES, "map")
    left, right = ui.two_up("waves", (6, 5))
    with left:
        figure = (
            wave_map(table, view.colors, n_used=len(view.tokens))
            if picture == "map"
            else wave_surface(table, view.colors)
        )
        ui.show_figure(
            figure,
            key="wave",
            alt=f"{PICTURES[picture]} of {len(table)} position vectors of {table.shape[1]} "
            "dimensions.",
        )
    with right:
        shown = positions.similarity(table[:MOST_POSITIONS])
        ui.show_figure(
            similarity_map(shown, view.colors),
            key="similarity",
            alt="Cosine similarity between positions; neighbours have "
            f"{neighbours(shown):.3f} on average, positions far apart have less.",
        )


def _curves(view: ui.View, table: np.ndarray) -> None:
    config = view.run.trace.config
    ui.section(
        "One dimension at a time",
        "From left to right the waves grow longer, each pair by the same factor.",
    )
    first = [dimension for dimension in FIRST_DIMENSIONS if dimension < table.shape[1]]
    chosen = controls.several("Dimensions", "dimensions", range(table.shape[1]), first, MOST_CURVES)
    controls.show_complaints()
    frequencies = positions.frequencies(config.d_model, config.position_base)
    left, right = ui.two_up("curves", (3, 2))
    with left:
        if chosen:
            ui.show_figure(
                dimension_curves(table, chosen, view.colors, n_used=len(view.tokens)),
                key="curves",
                alt=f"Value over position of dimensions {', '.join(map(str, chosen))}.",
            )
        else:
            say.notice("Choose at least one dimension to see its curve.")
    lengths = 2 * np.pi / frequencies
    with right:
        ui.show_figure(
            wavelength_curve(
                frequencies, view.colors, context=len(table), pair_name="pair i of dimensions"
            ),
            key="wavelengths",
            alt=f"Wavelength of each pair, from {lengths[0]:.2f} to {lengths[-1]:,.0f} positions.",
        )
    _one_value(view, table, lengths, chosen[-1] if chosen else 0)


def _one_value(view: ui.View, table: np.ndarray, lengths: np.ndarray, dimension: int) -> None:
    """The formula, and one value of a dimension with its numbers."""
    config = view.run.trace.config
    st.caption(
        f"Wavelengths from 2π = {lengths[0]:.2f} to {lengths[-1]:,.0f} positions. They approach "
        f"{config.position_base:,.0f} · 2π = {2 * np.pi * config.position_base:,.0f}, which a next "
        "pair would have."
    )
    ui.formula("model.positions.sinusoidal_encoding")
    position = len(view.tokens) - 1
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
    st.caption(
        f"Dimension {dimension} repeats every {lengths[dimension // 2]:,.1f} positions.",
        text_alignment="center",
    )


def _rotation(view: ui.View) -> None:
    """Two positions as hands of clocks, and the identity behind it, measured."""
    config = view.run.trace.config
    ui.section(
        "To move is to turn",
        "Seen as a point on a circle, each pair of dimensions is the hand of a clock. To go k "
        "positions on, every hand turns by its own angle, the same wherever it starts. So the "
        "angle between the hands, and the dot product of two positions, tell their distance. Move "
        "both: nothing changes.",
    )
    frequencies = positions.frequencies(config.d_model, config.position_base)
    places = ui.places(len(view.tokens) - 1, 0, config.max_seq_len - 1, (view.model, view.sentence))
    controls.show_complaints()
    upright = np.tile(np.array([1.0, 0.0], np.float32), (len(frequencies), 1))
    component.show(
        component.ROTOR,
        component.rotor_data(
            "wave",
            view.run.key,
            upright,
            upright,
            frequencies,
            1.0,
            config.max_seq_len - 1,
            ("the first", "the second"),
            None,
            places,
        ),
        on_told=ui.take_over_places,
    )
    say.identities(positions.checks(view.model, view.device, view.sentence))
    ui.formula("model.positions.shift_waves")
    pair = len(frequencies) // 4
    ui.formula(
        "model.positions.shift_waves",
        rotation_with_numbers(pair, places["first"] - places["second"], float(frequencies[pair])),
    )
    ui.formula("model.positions.wave_product")
