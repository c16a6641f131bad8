"""Generate: the text as it is written, token by token, and what each new token read."""

import numpy as np
import streamlit as st

from viz import controls, runs, say, ui
from viz.figures.beam import Node, beam_tree
from viz.figures.labels import clipped, escape, token_labels, visible
from viz.formulas import score_with_numbers
from viz.live import component
from viz.sampling import sampling_settings

TITLE = "Generate"
ICON = ":material/edit_note:"

MODES = ("sampled", "greedy", "beam")
MOST_BEAMS = 12
WRITE_SECONDS = 0.05  # how long to write before the page is drawn again


def render() -> None:
    """Draw the page."""
    component.preload()
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "The model writes on, one token at a time. Pause when you like, step back and forth, click "
        "an outlined word: you see the distribution it was drawn from and what the model read to "
        "predict it. Temperature, top-k, top-p and min-p are set on the Predict page.",
    )
    mode = controls.choice("How", "mode", MODES, MODES[0], width=140)
    if mode == "beam":
        _beam(view)
        ui.source("model.decoding.beam.beam_search", "model.decoding.beam.normalised_score")
        return
    settings = _controls(view, mode)
    controls.show_complaints()
    _stream(view, settings)
    ui.source(
        "model.decoding.sampling.generate",
        "model.decoding.sampling.sample",
        "model.decoding.kv_cache.KVCache",
    )


def _controls(view: ui.View, mode: str) -> tuple:
    """Everything a text depends on."""
    chosen, sampling, order = sampling_settings(view)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = controls.number("Seed", "seed", 0, 2**31 - 1, 0)
        n_tokens = controls.number("New tokens", "new_tokens", 1, 1000, 40)
        full = controls.choice(
            "When the context is full", "full", ("stop", "slide"), "stop", width=190
        )
        if mode == "sampled":
            st.caption(
                f"temperature {chosen['temperature']:g} · top-k {chosen['top_k'] or 'all'} · "
                f"top-p {chosen['top_p']:g} · min-p {chosen['min_p'] or 'off'}"
            )
    if full == "slide":
        say.notice(
            "A full context drops its older half. What remains is numbered from position 0 again "
            "and computed afresh: the model knows nothing of what was dropped."
        )
    if mode == "greedy":  # which depends on neither
        sampling, order, seed = runs.Sampling(top_k=1), runs.DEFAULT_ORDER, 0
    ids = tuple(view.run.trace.ids.tolist())
    return (view.model, view.device, ids, sampling, order, n_tokens, seed, full == "slide")


def _beam(view: ui.View) -> None:
    """The tree of a beam search, its winner, and what greedy decoding would have written."""
    vocab_size = view.run.trace.config.vocab_size
    with st.container(horizontal=True, vertical_alignment="bottom"):
        width = controls.number("Beam width", "beam_width", 1, min(MOST_BEAMS, vocab_size), 3)
        n_tokens = controls.number("New tokens", "beam_tokens", 1, 24, 8)
        penalty = controls.slider("Length normalisation α", "alpha", 0.0, 2.0, 0.0, 0.1)
    controls.show_complaints()
    ids = tuple(view.run.trace.ids.tolist())
    settings = (view.model, view.device, ids)
    steps = runs.beams(*settings, width, n_tokens, penalty)
    greedy = runs.beams(*settings, 1, n_tokens, penalty)
    winner = steps[-1].winner
    st.caption(
        "At each step every beam is continued by every token; the best so many are kept (filled), "
        "the runners-up are pruned (open). The winner has the best score: the log probability of "
        "its text, divided by ((5 + n)/6)^α for n new tokens. Width 1 is greedy."
    )
    ui.show_figure(
        beam_tree(_nodes(view, steps), view.tokens[-1], view.colors),
        key="beam",
        alt=f"A tree of {sum(len(step.candidates) for step in steps)} candidates in {len(steps)} "
        f"steps. The winner's score is {winner.score:.3f}.",
    )
    prompt = runs.decode(view.model, view.device, list(ids)).removeprefix(" ")
    if winner.score < greedy[-1].winner.score - 1e-9:
        say.notice(
            "Greedy found the better text here: its path was pruned on the way. Beam search looks "
            "at more, but does not always find the best."
        )
    for name, found in (("Beam search", winner), ("Greedy", greedy[-1].winner)):
        st.caption(f"{name}: log probability {found.total:.4f}, score {found.score:.4f}")
        say.written(prompt, runs.decode(view.model, view.device, list(found.ids)))
    ui.formula("model.decoding.beam.normalised_score")
    ui.formula(
        "model.decoding.beam.normalised_score",
        score_with_numbers(winner.total, len(winner.ids), penalty, winner.score),
    )


def _nodes(view: ui.View, steps: tuple) -> list[Node]:
    vocabulary = runs.vocabulary(view.model, view.device)
    path = steps[-1].winner.ids
    return [
        Node(
            step=number,
            place=place,
            parent=candidate.parent,
            label=visible(vocabulary[candidate.token_id]),
            log_prob=candidate.log_prob,
            total=candidate.total,
            score=candidate.score,
            kept=candidate.kept,
            finished=candidate.finished,
            on_path=candidate.kept and candidate.ids == path[: number + 1],
        )
        for number, step in enumerate(steps)
        for place, candidate in enumerate(step.candidates)
    ]


@st.fragment
def _stream(view: ui.View, settings: tuple) -> None:
    """The text; while it runs, the browser asks for more once it has shown the last tokens."""
    ui.guarded(lambda: _write_on(view, settings))()


def _write_on(view: ui.View, settings: tuple) -> None:
    """Buttons, the next tokens while it runs, and the text so far."""
    wanted = st.session_state.pop("pressed", None)
    writing = _after_press(wanted, settings)
    above = st.container()
    if writing is not None and (wanted == "one" or writing.is_running):
        ui.guarded(lambda: writing.advance(0 if wanted == "one" else WRITE_SECONDS))()
    with above:
        _buttons(writing)
    _show(view, settings, writing)


def _after_press(wanted: str | None, settings: tuple) -> runs.Writing | None:
    """The text of these settings after a button was pressed, or none was."""
    writing = ui.remembered("writing", settings)
    is_over = writing is None or writing.stopped is not None
    if (wanted == "start" and is_over) or (wanted == "one" and writing is None):
        writing = runs.write(*settings)
        ui.remember("writing", settings, writing)
        _take_over({"step": None})
    if wanted and writing is not None:
        writing.is_running = wanted == "start"
        if wanted == "stop":
            writing.stopped = "stopped by hand"
    return writing


def _buttons(writing: runs.Writing | None) -> None:
    """Start, pause, one token, stop; what is pressed is noted before the page is drawn again."""
    is_running = writing is not None and writing.is_running
    is_over = writing is not None and writing.stopped is not None
    label = "Start" if writing is None else "Start again" if is_over else "Go on"
    with st.container(horizontal=True):
        if is_running:
            _button("Pause", "pause", "pause")
        else:
            _button(label, "start", "play_arrow", primary=True)
        _button("One token", "one", "skip_next", disabled=is_running or is_over)
        _button("Stop", "stop", "stop", disabled=writing is None or is_over)


def _button(
    label: str, meaning: str, icon: str, *, primary: bool = False, disabled: bool = False
) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        type="primary" if primary else "secondary",
        disabled=disabled,
        on_click=_press,
        args=(meaning,),
    )


def _press(meaning: str) -> None:
    """Note a press. A run that is cut short by another must not lose it."""
    st.session_state["pressed"] = meaning


def _show(view: ui.View, settings: tuple, writing: runs.Writing | None) -> None:
    before = None if writing else ui.last("writing")
    if before is not None and before[0][:3] == settings[:3] and before[1].steps:
        say.notice("This was drawn with other settings; Start writes with the new ones.")
        writing = before[1]
    steps = writing.steps if writing else []
    if writing is not None and writing.stopped:
        say.notice(_why_stopped(writing.stopped, len(steps), view.run.trace.config.max_seq_len))
    if steps:
        prompt = runs.decode(view.model, view.device, list(settings[2])).removeprefix(" ")
        new_ids = [step.token_id for step in steps]
        say.written(prompt, runs.decode(view.model, view.device, new_ids))
    component.show(component.WRITER, _writer_data(view, settings, writing), on_told=_take_over)


def _why_stopped(reason: str, n_tokens: int, context: int) -> str:
    """What ended a text, in words."""
    if reason == "context full":
        return (
            f"Stopped: the context of {context} tokens is full. Choose “slide” to go on without "
            "the older half."
        )
    names = {"end of text": "the model ended the text", "max_new_tokens": "all tokens are written"}
    return f"Stopped after {n_tokens} new tokens: {names.get(reason, reason)}."


def _writer_data(view: ui.View, settings: tuple, writing: runs.Writing | None) -> dict[str, object]:
    """The text and its steps as the browser takes them; a step is prepared once for a head."""
    vocabulary = runs.vocabulary(view.model, view.device)
    steps = writing.steps if writing else []
    sent = writing.sent.setdefault((view.layer, view.head), []) if writing else []
    sent += [_step_data(step, vocabulary, view.layer, view.head) for step in steps[len(sent) :]]
    tokens = [*view.tokens, *(vocabulary[step.token_id] for step in steps)]
    labels = token_labels(tokens)
    return {
        "instrument": component.WRITER,
        "key": f"{view.run.key}-{hash(settings)}",
        "headName": view.head_name,
        "vocab_size": len(vocabulary),
        "labels": labels,
        "axis": [escape(clipped(label, 16)) for label in labels],
        "n_prompt": len(view.tokens),
        "steps": sent,
        "running": writing is not None and writing.is_running,
        "settings": {"step": None, "averaged": False} | st.session_state.get("writer-view", {}),
    }


def _step_data(
    step: runs.Written, vocabulary: list[str], layer: int, head: int
) -> dict[str, object]:
    mean = sum(rows.mean(axis=0) for rows in step.attention) / len(step.attention)
    return {
        "token_id": step.token_id,
        "rank": step.rank,
        "before": step.before,
        "prob": step.prob,
        "kept": step.n_kept,
        "n_dropped": step.n_dropped,
        "row": _short(step.attention[layer][head]),
        "mean": _short(mean),
        "leading": [
            {"id": i, "label": visible(vocabulary[i]), "before": before, "after": after}
            for i, before, after in step.leading
        ],
    }


def _short(weights: np.ndarray) -> list[float]:
    """Weights to five places; float32 as it is would be written in seventeen."""
    return weights.astype(np.float64).round(5).tolist()


def _take_over(changes: component.Settings) -> None:
    st.session_state["writer-view"] = st.session_state.get("writer-view", {}) | changes
