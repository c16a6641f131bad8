"""What several schemes show: tables, and how positions join the embeddings."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from viz.digits import digits
from viz.figures.schemes import Part, vector_maps
from viz.formulas import operand, with_base
from viz.frame import inspector, layout, state
from viz.frame.page import Numbers
from viz.frame.settings import FIRST_POSITION, SECOND_POSITION
from viz.frame.view import View
from viz.kit.parts.rotation import Rotation, rotation_part
from viz.live import component
from viz.runs import positions
from viz.runs.kept import held

MOST_POSITIONS = 256  # rows of a table in similarity maps; more would be a megabyte


class Tab(NamedTuple):
    """What a scheme has of a page in scenes: its scenes, those that are wide, and functions."""

    scenes: Mapping[str, Callable[[View], Numbers]]
    wide: tuple[str, ...]
    source: tuple[str, ...]


def wave_formula(view: View, name: str) -> None:
    """A formula with the base of the model's waves, and its reference."""
    formula = with_base(name, view.config.position_base)
    inspector.formula(name, formula.latex, formula.reference)


def table_of(view: View) -> np.ndarray:
    """The vectors that the scheme adds, one for each position of the context, (N, D)."""
    table = positions.table(view.handle)
    assert table is not None  # such a scheme adds one
    return table


def embedding_sum(view: View) -> Numbers:
    """Embedding + position = input, for the typed sentence."""
    trace = view.run.trace
    total = trace.residuals[0].resid_pre
    parts = {"embedding": trace.embed, "+ position": trace.positions, "= input": total}
    maps = [Part(name, trace.tokens, values) for name, values in parts.items()]
    layout.show_chart(vector_maps(maps, n_scaled=3), key="sum")
    token = len(trace.tokens) - 1
    inspector.numbers(
        rf"{operand(trace.embed[token, 0])} \;+\; ({operand(trace.positions[token, 0])}) \;=\; "
        rf"{operand(total[token, 0])} \qquad \text{{(last token, dimension 0)}}"
    )
    return {
        "embedding": "√d_model · embedding" if view.config.scale_embeddings else "embedding",
        "size": _size(trace.embed),
        "position size": _size(trace.positions),
        "input size": _size(total),
    }


def _size(values: np.ndarray) -> str:
    return digits(float(np.sqrt(np.mean(values**2))), 3)


def cosines(similarity: np.ndarray) -> tuple[str, str]:
    """Mean cosine of positions next to each other, and of those that are half of all apart."""
    n = len(similarity)
    near = float(np.diagonal(similarity, 1).mean()) if n > 1 else 1.0
    return digits(near, 3), digits(float(np.diagonal(similarity, n // 2).mean()), 3)


def two_positions(view: View, first: int, second: int, chosen_for: object) -> dict[str, int]:
    """Two positions to be moved in the browser; back to these where they are of something else."""
    most = view.config.max_seq_len - 1
    pair = {
        "first": FIRST_POSITION.given(default=first, high=most),
        "second": SECOND_POSITION.given(default=second, high=most),
    }
    state.only_for(chosen_for, *pair.values())
    return {name: int(state.number(setting)) for name, setting in pair.items()}


def show_rotor(key: str, rotation: Rotation, places: dict[str, int]) -> None:
    """The rotor of two sides."""
    component.show(held(rotation_part(key, rotation, places)), on_change=take_over_positions)


def take_over_positions(changes: dict[str, object]) -> None:
    """Keep the positions a person set in the browser."""
    state.take_over(changes, prefix="place_")
