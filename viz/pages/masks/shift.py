"""Training targets: the input shifted by one, and how likely the model finds each."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis.mask_kinds import own_mask
from model.analysis.probabilities import target_probabilities
from viz import runs
from viz.figures.labels import visible
from viz.formulas import loss_with_numbers
from viz.frame import inspector, tables, words
from viz.frame.view import View
from viz.runs import masks

START, END = "⟨start⟩", "⟨end⟩"


@dataclass(frozen=True, eq=False)
class Targets:
    """Inputs and targets as tokens to be shown, and the probability of each target, (T,)."""

    inputs: list[str]
    targets: list[str]
    probabilities: np.ndarray


def draw(view: View) -> None:
    """Draw the view."""
    st.markdown(
        "One sentence gives one training example per token. The input begins with a start token "
        "(here the end of the text before); the target is the same sentence, shifted by one. Each "
        "position attends to what stands up to it, itself included, and must predict the target "
        "below. The causal mask is what keeps the target out of sight: it is the very next input."
    )
    edge = runs.tokenizer(view.handle).end_id  # the end-of-text token is start and end
    ids, room = list(view.ids), view.config.max_seq_len - 1
    inputs, targets = (edge, *ids[:room]), (*ids, edge)[: room + 1]
    is_whole = len(targets) > len(ids)
    if not is_whole:
        words.notice(
            f"With the start token {room} of {len(ids)} tokens fit the context of {room + 1}: the "
            "last one is a target only, and there is no target after it."
        )
    run = masks.masked(view.handle, inputs, own_mask(view.config, len(inputs)))
    strings = runs.tokenizer(view.handle).token_strings(view.ids)
    shown = Targets(
        [START, *strings[:room]],
        [*strings, END][: room + 1],
        target_probabilities(run.trace.logits, targets),
    )
    words.training_targets(shown.inputs, shown.targets, shown.probabilities)
    _say_loss(shown, is_whole)
    inspector.checked("with the start token", run.checks, "mask")
    inspector.source("model.masks.causal", "model.training.evaluation.token_losses")
    csv_files = {"Training targets": lambda: _csv(shown)}
    inspector.export(view, "masks", csv_files, has_charts=False)


def _say_loss(shown: Targets, is_whole: bool) -> None:
    """The mean loss over all targets, and why it differs from the other pages'."""
    losses = -np.log(shown.probabilities)
    inspector.formula("model.analysis.probabilities.next_token_losses")
    inspector.formula(
        "model.analysis.probabilities.next_token_losses",
        loss_with_numbers(float(losses.sum()), len(losses)),
    )
    end = "The end of a text is a token too. " if is_whole else ""
    st.caption(
        f"Over all {len(losses)} training targets. {end}Other tokens attend to the start token, so "
        "the numbers differ from those without it.",
        text_alignment="center",
    )


def _csv(shown: Targets) -> bytes:
    frame = pd.DataFrame(
        {
            "position": range(len(shown.inputs)),
            "input": list(map(visible, shown.inputs)),
            "target": list(map(visible, shown.targets)),
            "probability": shown.probabilities,
        }
    )
    return tables.frame_csv(frame)
