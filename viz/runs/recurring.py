"""The translators of the lesson on recurrence: one row of letters in all three."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.recurrent import Recurrent
from model.device import one_thread
from model.recurrence import stored
from model.recurrence.reading import (
    Attended,
    attended,
    cross_patterns,
    n_right,
    on_own_letter,
    written,
)
from model.recurrence.steps import Steps, steps


@dataclass(frozen=True, eq=False)
class Row:
    """What one row of letters gives in each model, by its name."""

    written: dict[str, tuple[int, ...]]
    n_right: dict[str, int]
    attended: Attended  # of the recurrent one with attention
    patterns: np.ndarray  # of the Transformer, (L, H, Tt, Ts)
    own: np.ndarray  # mean weight of each head on the letter that is due, (L, H)


@st.cache_data(max_entries=64, show_spinner=False)
def row_of(task: str, letters: tuple[int, ...]) -> Row:
    """Translate a row in all three models."""
    models = {name: stored.shipped(name) for name in stored.NAMES}
    additive, transformer = models["additive"], models["transformer"]
    assert isinstance(additive, Recurrent), "its config says so"
    assert isinstance(transformer, EncoderDecoderTransformer), "its config says so"
    with one_thread():
        targets = {name: written(model, task, letters) for name, model in models.items()}
        patterns = cross_patterns(transformer, task, letters, targets["transformer"])
        return Row(
            targets,
            {name: n_right(task, letters, target) for name, target in targets.items()},
            attended(additive, task, letters, targets["additive"]),
            patterns,
            on_own_letter(patterns, task, len(letters)),
        )


def sizes(n_letters: int) -> dict[str, tuple[int, Steps]]:
    """Parameters of each model, and its steps for a row of so many letters."""
    models = {name: stored.shipped(name) for name in stored.NAMES}
    return {
        name: (sum(weight.numel() for weight in model.parameters()), steps(model.config, n_letters))
        for name, model in models.items()
    }
