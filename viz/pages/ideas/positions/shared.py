"""What several schemes show: tables, and how positions join the embeddings."""

import numpy as np

from viz.digits import digits
from viz.figures.positions import sum_maps
from viz.formulas import operand, with_base
from viz.frame import inspector, layout, state, words
from viz.frame.settings import FIRST_POSITION, SECOND_POSITION
from viz.frame.view import View
from viz.kit.parts.rotation import Rotation, rotation_part
from viz.live import component
from viz.runs.kept import held

MOST_POSITIONS = 256  # rows of a table in similarity maps; more would be a megabyte


def wave_formula(view: View, name: str) -> None:
    """A formula with the base of the model's waves, and its reference."""
    formula = with_base(name, view.config.position_base)
    inspector.formula(name, formula.latex, formula.reference)


def embedding_sum(view: View) -> None:
    """Embedding + position = input, for the typed sentence."""
    trace = view.run.trace
    total = trace.residuals[0].resid_pre
    is_scaled = view.config.scale_embeddings
    embedding = "√d_model · embedding" if is_scaled else "Embedding"
    layout.section("In this sentence", f"{embedding} + position = what enters layer 0.")
    layout.show_chart(sum_maps(trace.embed, trace.positions, total, trace.tokens), key="sum")
    words.caption(
        f"Typical size (root mean square): {embedding.lower()} {_size(trace.embed)}, position "
        f"{_size(trace.positions)}, input {_size(total)}."
    )
    token = len(trace.tokens) - 1
    inspector.numbers(
        rf"{operand(trace.embed[token, 0])} \;+\; ({operand(trace.positions[token, 0])}) \;=\; "
        rf"{operand(total[token, 0])} \qquad \text{{(last token, dimension 0)}}"
    )


def _size(values: np.ndarray) -> str:
    return digits(float(np.sqrt(np.mean(values**2))), 3)


def neighbours(similarity: np.ndarray) -> float:
    """Mean cosine of positions next to each other."""
    return float(np.diagonal(similarity, 1).mean()) if len(similarity) > 1 else 1.0


def apart(similarity: np.ndarray) -> float:
    """Mean cosine of positions that are half of all apart."""
    return float(np.diagonal(similarity, len(similarity) // 2).mean())


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
