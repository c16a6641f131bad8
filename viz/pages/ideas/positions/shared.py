"""What several schemes show: tables, and how positions join the embeddings."""

import numpy as np
import streamlit as st

from viz.figures.positions import sum_maps
from viz.formulas import with_base
from viz.frame import inspector, layout, state
from viz.frame.settings import FIRST_POSITION, SECOND_POSITION
from viz.frame.view import View

MOST_POSITIONS = 256  # rows of a table in similarity maps; more would be a megabyte


def wave_formula(view: View, name: str) -> None:
    """A formula with the base of the model's waves, and its reference."""
    formula = with_base(name, view.config.position_base)
    inspector.formula(name, formula.latex, formula.reference)


def embedding_sum(view: View) -> None:
    """Embedding + position = input, for the typed sentence."""
    trace = view.run.trace
    total = trace.residuals[0].resid_pre
    layout.section("In this sentence", "Embedding + position = what enters layer 0.")
    layout.show_figure(
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
    inspector.numbers(
        rf"{trace.embed[token, 0]:.4f} \;+\; ({trace.positions[token, 0]:.4f}) \;=\; "
        rf"{total[token, 0]:.4f} \qquad \text{{(last token, dimension 0)}}"
    )


def neighbours(similarity: np.ndarray) -> float:
    """Mean cosine of positions next to each other."""
    return float(np.diagonal(similarity, 1).mean()) if len(similarity) > 1 else 1.0


def two_positions(view: View, first: int, second: int, chosen_for: object) -> dict[str, int]:
    """Two positions to be moved in the browser; back to these where they are of something else."""
    most = view.config.max_seq_len - 1
    pair = {
        "first": FIRST_POSITION.given(default=first, high=most),
        "second": SECOND_POSITION.given(default=second, high=most),
    }
    state.only_for(chosen_for, *pair.values())
    return {name: int(state.number(setting)) for name, setting in pair.items()}


def take_over_positions(changes: dict[str, object]) -> None:
    """Keep the positions a person set in the browser."""
    state.take_over(changes, prefix="place_")
