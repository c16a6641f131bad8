"""Input and target, shifted by one: what each position is trained to say."""

import numpy as np
import streamlit as st

from viz import runs, ui
from viz.formulas import loss_with_numbers
from viz.runs import masks


def draw(view: ui.View) -> None:
    """Draw the view."""
    st.markdown(
        "One sentence gives as many lessons as it has tokens. The input begins with a start token "
        "(here the end of the text before); the target is the same sentence, one place on. Each "
        "position reads what stands up to it, itself included, and must say the target below. The "
        "causal mask is what keeps the target out of sight: it is the very next input."
    )
    trace = view.run.trace
    context = trace.config.max_seq_len
    start = masks.filler_id(view.model, view.device)
    ids = trace.ids.tolist()[: context - 1]
    if len(ids) < len(trace.ids):
        ui.notice("The start token takes one place of the context: the last token is left out.")
    inputs, targets = (start, *ids), (*ids, start)
    mask = masks.own(trace.config, len(inputs))
    run = masks.masked(view.model, view.device, inputs, mask)
    probs = runs.target_probabilities(run.trace, targets)
    names = masks.token_strings(view.model, view.device, (*inputs, start))
    ui.lessons(["start", *names[1:-1]], [*names[1:-1], "end"], probs)
    losses = -np.log(probs)
    ui.formula("model.analysis.next_token_losses")
    ui.formula(
        "model.analysis.next_token_losses", loss_with_numbers(float(losses.sum()), len(losses))
    )
    st.caption(
        f"Over all {len(losses)} lessons, start and end included. The end of a text is a token "
        "too, and has to be learnt like the others.",
        text_alignment="center",
    )
    ui.checked("with the start token", run.checks, "mask")
    ui.source("model.masks.causal", "model.evaluate.token_losses")
    ui.export(
        view,
        "masks",
        {"Lessons": lambda: ui.lessons_csv(names[:-1], [*names[1:-1], names[-1]], probs)},
        camera=False,
    )
