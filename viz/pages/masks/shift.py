"""Input and target, shifted by one: what each position is trained to say."""

import numpy as np
import streamlit as st

from viz import runs, say, ui
from viz.formulas import loss_with_numbers
from viz.runs import masks

START, END = "⟨start⟩", "⟨end⟩"


def draw(view: ui.View) -> None:
    """Draw the view."""
    st.markdown(
        "One sentence gives as many lessons as it has tokens. The input begins with a start token "
        "(here the end of the text before); the target is the same sentence, one place on. Each "
        "position reads what stands up to it, itself included, and must say the target below. The "
        "causal mask is what keeps the target out of sight: it is the very next input."
    )
    trace = view.run.trace
    edge = masks.filler_id(view.model, view.device)  # the end-of-text token is start and end
    ids = trace.ids.tolist()
    room = trace.config.max_seq_len - 1
    inputs, targets = (edge, *ids[:room]), (*ids, edge)[: room + 1]
    is_whole = len(targets) > len(ids)
    if not is_whole:
        say.notice(
            f"With the start token {room} of {len(ids)} tokens fit the context of {room + 1}: the "
            "last one is a target only, and there is no lesson on the end."
        )
    mask = masks.own(trace.config, len(inputs))
    run = masks.masked(view.model, view.device, inputs, mask)
    probs = runs.target_probabilities(run.trace, targets)
    words = masks.token_strings(view.model, view.device, tuple(ids))
    read, said = [START, *words[:room]], [*words, END][: room + 1]
    say.lessons(read, said, probs)
    losses = -np.log(probs)
    ui.formula("model.analysis.probabilities.next_token_losses")
    ui.formula(
        "model.analysis.probabilities.next_token_losses",
        loss_with_numbers(float(losses.sum()), len(losses)),
    )
    end = "The end of a text is a token too. " if is_whole else ""
    st.caption(
        f"Over all {len(losses)} lessons. {end}The start token is read by all, so the other "
        "numbers differ from those without it.",
        text_alignment="center",
    )
    ui.checked("with the start token", run.checks, "mask")
    ui.source("model.masks.causal", "model.evaluate.token_losses")
    ui.export(
        view,
        "masks",
        {"Lessons": lambda: ui.lessons_csv(read, said, probs)},
        camera=False,
    )
