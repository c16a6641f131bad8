"""Sinusoidal positions: fixed waves, and the one rotation that shifts them all."""

import numpy as np

from model.analysis.cosine import cosine_similarity
from model.analysis.positions import rotation_speeds
from viz.digits import digits
from viz.figures.positions import (
    dimension_curves,
    similarity_map,
    wave_map,
    wave_surface,
    wavelength_curve,
)
from viz.formulas import rotation_with_numbers, wave_with_numbers
from viz.frame import controls, inspector, layout, scenes, verdicts, words
from viz.frame.page import Numbers
from viz.frame.settings import DIMENSIONS, PICTURE
from viz.frame.view import View
from viz.kit.parts.rotation import Rotation
from viz.pages.ideas.positions.shared import (
    MOST_POSITIONS,
    Tab,
    cosines,
    embedding_sum,
    show_rotor,
    table_of,
    two_positions,
    wave_formula,
)
from viz.runs import positions

FIRST_DIMENSIONS = (0, 20, 50, 100)


def _speeds(view: View) -> np.ndarray:
    """By how many radians per position each pair of dimensions is rotated, (D/2,)."""
    return rotation_speeds(view.config.d_model, view.config.position_base)


def _table(view: View) -> Numbers:
    """The vectors of all positions, as a map or as a surface."""
    table, lengths = table_of(view), 2 * np.pi / _speeds(view)
    with scenes.to_set():
        picture = controls.segments(PICTURE)
    if picture == "map":
        layout.show_chart(wave_map(table, len(view.tokens)), key="wave")
    else:
        alt = f"Surface of {len(table)} position vectors of {table.shape[1]} dimensions."
        layout.show_figure(wave_surface(table, view.colors), key="wave", alt=alt)
    wave_formula(view, "model.positions.sinusoidal_encoding")
    return {
        "shortest": f"{lengths[0]:.1f}",
        "longest": f"{lengths[-1]:,.0f}",
        "context": f"{view.config.max_seq_len:,}",
    }


def _similarity(view: View) -> Numbers:
    """The cosine of every two positions."""
    shown = cosine_similarity(table_of(view)[:MOST_POSITIONS])
    near, far = cosines(shown)
    says = f"{near} of neighbours on average, {far} of positions half of these apart."
    layout.show_chart(similarity_map(shown, says=says), key="similarity")
    inspector.formula("model.positions.wave_product")
    return {"neighbours": near, "apart": far, "half": str(len(shown) // 2)}


def _curves(view: View) -> Numbers:
    """Single dimensions of the table."""
    config, table = view.config, table_of(view)
    n_dimensions, position = table.shape[1], len(view.tokens) - 1
    first = tuple(dimension for dimension in FIRST_DIMENSIONS if dimension < n_dimensions)
    with scenes.to_set():
        chosen = controls.several(DIMENSIONS.given(options=range(n_dimensions), default=first))
    if chosen:
        layout.show_chart(dimension_curves(table, chosen, len(view.tokens)), key="curves")
    else:
        words.notice("Choose at least one dimension to see its curve.")
    dimension = chosen[-1] if chosen else 0
    wave_formula(view, "model.positions.sinusoidal_encoding")
    inspector.formula(
        "model.positions.sinusoidal_encoding",
        wave_with_numbers(
            position,
            dimension,
            config.d_model,
            config.position_base,
            float(table[position, dimension]),
        ),
    )
    length = float(2 * np.pi / _speeds(view)[dimension // 2])
    return {"dimension": str(dimension), "length": f"{length:,.1f}"}


def _wavelengths(view: View) -> Numbers:
    """After how many positions each pair of dimensions is back where it was."""
    speeds, base = _speeds(view), float(view.config.position_base)
    chart = wavelength_curve(speeds, view.config.max_seq_len, "pair i of dimensions")
    layout.show_chart(chart, key="wavelengths")
    wave_formula(view, "model.positions.sinusoidal_encoding")
    return {
        "shortest": f"{2 * np.pi / speeds[0]:.2f}",
        "longest": f"{2 * np.pi / speeds[-1]:,.0f}",
        "base": f"{base:,.0f}",
        "limit": f"{2 * np.pi * base:,.0f}",
    }


def _rotation(view: View) -> Numbers:
    """Two positions as rotated pairs of dimensions, and the identity behind it, measured."""
    frequencies = _speeds(view)
    owner = (view.model, view.sentence)
    places = two_positions(view, len(view.tokens) - 1, 0, chosen_for=owner)
    upright = np.tile(np.array([1.0, 0.0], np.float32), (len(frequencies), 1))
    rotation = Rotation(
        kind="wave",
        first=upright,
        second=upright,
        frequencies=frequencies,
        divisor=1.0,
        last_position=view.config.max_seq_len - 1,
        names=("the first", "the second"),
    )
    show_rotor(view.run.key, rotation, places)
    verdicts.properties(positions.checks(view.handle, view.sentence))
    wave_formula(view, "model.positions.shift_waves")
    pair, offset = len(frequencies) // 4, places["first"] - places["second"]
    inspector.formula(
        "model.positions.shift_waves", rotation_with_numbers(pair, offset, float(frequencies[pair]))
    )
    inspector.formula("model.positions.wave_product")
    product = float(np.cos(offset * frequencies).sum())
    return {"distance": str(abs(offset)), "product": digits(product, 2)}


TAB = Tab(
    scenes={
        "table": _table,
        "similarity": _similarity,
        "curves": _curves,
        "wavelengths": _wavelengths,
        "rotation": _rotation,
        "sum": embedding_sum,
    },
    wide=("rotation", "sum"),
    source=(positions.SOURCES["sinusoidal"], "model.positions.shift_waves"),
)
