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
from viz.frame import controls, inspector, layout, verdicts, words
from viz.frame.settings import DIMENSIONS, PICTURE
from viz.frame.view import View
from viz.kit.parts.rotation import Rotation
from viz.pages.ideas.positions.shared import (
    MOST_POSITIONS,
    apart,
    embedding_sum,
    neighbours,
    show_rotor,
    two_positions,
    wave_formula,
)
from viz.runs import positions

FIRST_DIMENSIONS = (0, 20, 50, 100)


def draw(view: View) -> None:
    """Draw the tab."""
    table = positions.table(view.handle)
    assert table is not None  # this scheme adds one
    _waves(view, table)
    _curves(view, table)
    _rotation(view)
    embedding_sum(view)
    inspector.source(positions.SOURCES["sinusoidal"], "model.positions.shift_waves")
    inspector.export(view, {})


def _waves(view: View, table: np.ndarray) -> None:
    config = view.config
    lengths = 2 * np.pi / rotation_speeds(config.d_model, config.position_base)
    with layout.section(
        "Sinusoidal table",
        "Each pair of dimensions is a sine and a cosine of its own wavelength.",
        f"The first repeats every {lengths[0]:.1f} positions, the last every {lengths[-1]:,.0f}; "
        f"the context has {config.max_seq_len:,}.",
    ):
        picture = controls.segments(PICTURE)
    left, right = layout.two_up("waves", (6, 5))
    with left:
        if picture == "map":
            layout.show_chart(wave_map(table, len(view.tokens)), key="wave")
        else:
            alt = f"Surface of {len(table)} position vectors of {table.shape[1]} dimensions."
            layout.show_figure(wave_surface(table, view.colors), key="wave", alt=alt)
    with right:
        shown = cosine_similarity(table[:MOST_POSITIONS])
        says = (
            f"{digits(neighbours(shown), 3)} of neighbours on average, {digits(apart(shown), 3)} "
            "of positions half of these apart."
        )
        layout.show_chart(similarity_map(shown, says=says), key="similarity")


def _curves(view: View, table: np.ndarray) -> None:
    config = view.config
    layout.section(
        "One dimension at a time",
        "From left to right the waves grow longer, each pair by the same factor.",
    )
    n_dimensions = table.shape[1]
    first = tuple(dimension for dimension in FIRST_DIMENSIONS if dimension < n_dimensions)
    chosen = controls.several(DIMENSIONS.given(options=range(n_dimensions), default=first))
    frequencies = rotation_speeds(config.d_model, config.position_base)
    left, right = layout.two_up("curves", (3, 2))
    with left:
        if chosen:
            chart = dimension_curves(table, chosen, len(view.tokens))
            layout.show_chart(chart, key="curves")
        else:
            words.notice("Choose at least one dimension to see its curve.")
    lengths = 2 * np.pi / frequencies
    with right:
        chart = wavelength_curve(frequencies, len(table), "pair i of dimensions")
        layout.show_chart(chart, key="wavelengths")
    _one_value(view, table, lengths, chosen[-1] if chosen else 0)


def _one_value(view: View, table: np.ndarray, lengths: np.ndarray, dimension: int) -> None:
    """The formula, and one value of a dimension with its numbers."""
    config = view.config
    first, last, base = float(lengths[0]), float(lengths[-1]), float(config.position_base)
    words.caption(
        f"Wavelengths from 2π = {first:.2f} to {last:,.0f} positions. They approach "
        f"{base:,.0f} · 2π = {2 * np.pi * base:,.0f}, which a next pair would have."
    )
    wave_formula(view, "model.positions.sinusoidal_encoding")
    position = len(view.tokens) - 1
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
    pair = dimension // 2
    length = float(lengths[pair])
    inspector.beside_formula(
        lambda: words.caption(f"Dimension {dimension} repeats every {length:,.1f} positions.")
    )


def _rotation(view: View) -> None:
    """Two positions as rotated pairs of dimensions, and the identity behind it, measured."""
    config = view.config
    layout.section(
        "Shifting is rotation",
        "To shift by k positions, every pair rotates by an angle of its own.",
        "Each pair of dimensions is a point on a circle, like the hand of a clock, and its angle "
        "is the same wherever it starts. So the angle between two points, and the dot product of "
        "two positions, depend on their distance. Shift both: nothing changes.",
    )
    frequencies = rotation_speeds(config.d_model, config.position_base)
    owner = (view.model, view.sentence)
    places = two_positions(view, len(view.tokens) - 1, 0, chosen_for=owner)
    upright = np.tile(np.array([1.0, 0.0], np.float32), (len(frequencies), 1))
    rotation = Rotation(
        kind="wave",
        first=upright,
        second=upright,
        frequencies=frequencies,
        divisor=1.0,
        last_position=config.max_seq_len - 1,
        names=("the first", "the second"),
    )
    show_rotor(view.run.key, rotation, places)
    verdicts.properties(positions.checks(view.handle, view.sentence))
    wave_formula(view, "model.positions.shift_waves")
    pair = len(frequencies) // 4
    offset = places["first"] - places["second"]
    inspector.formula(
        "model.positions.shift_waves", rotation_with_numbers(pair, offset, float(frequencies[pair]))
    )
    inspector.formula("model.positions.wave_product")
