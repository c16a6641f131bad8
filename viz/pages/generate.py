"""Generate: the text token by token as it is drawn, and the attention of each new token."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from model.decoding.beam import BeamStep, Candidate
from model.decoding.filters import GREEDY, Sampling
from model.sources.handle import ModelHandle
from viz import runs
from viz.figures.beam import Node, beam_tree
from viz.figures.labels import visible
from viz.formulas import score_with_numbers
from viz.frame import controls, inspector, layout, memory, notices, settings, words
from viz.frame.sampling import drawing
from viz.frame.view import View
from viz.live import component
from viz.live.core.wire import Data
from viz.live.writer.data import WRITER, WrittenText, step_data, writer_data
from viz.runs.writing import Writing, write

TITLE = "Generate"
ICON = ":material/edit_note:"
NEEDS = ("decoder", "text", "vocabulary", "logits")

WRITE_SECONDS = 0.05  # how long to write before the page is drawn again
UNSEEN = {"step": None, "averaged": False}  # what the writer shows before anything is chosen
WRITING = "writing"  # the text of this visitor, and the buttons that steer it


@dataclass(frozen=True)
class Request:
    """Everything a text depends on: the model, the prompt's ids, and how tokens are drawn."""

    handle: ModelHandle
    ids: tuple[int, ...]
    sampling: Sampling
    n_tokens: int
    slides: bool


def prepare() -> None:
    """Let the browser load the writer while the model runs."""
    component.preload()


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "The model continues your text, one token at a time. Pause when you like, step back and "
        "forth, click an outlined token: you see the distribution it was drawn from and what the "
        "model attended to when it predicted it. Temperature, top-k, top-p and min-p are set on "
        "the Predict page.",
    )
    decoding = controls.select(settings.DECODING, width=160)
    if decoding == "beam":
        _beam(view)
        inspector.source("model.decoding.beam.beam_search", "model.decoding.beam.normalised_score")
        return
    request = _request(view, decoding)
    notices.show()
    _stream(view, request)
    inspector.source(
        "model.decoding.sampling.generate",
        "model.decoding.sampling.sample",
        "model.decoding.kv_cache.KVCache",
    )


def _request(view: View, decoding: str) -> Request:
    drawn = drawing(view)
    with layout.row("request"):
        seed = controls.number(settings.SEED)
        n_tokens = controls.number(settings.NEW_TOKENS)
        slides = controls.select(settings.AT_LIMIT, width=190) == "slide"
        if decoding == "sampling":
            st.caption(
                f"temperature {drawn.temperature:g} · top-k {drawn.top_k or 'all'} · "
                f"top-p {drawn.top_p:g} · min-p {drawn.min_p or 'off'}"
            )
    if slides:
        words.notice(
            "A full context drops its older half. What remains is numbered from position 0 again "
            "and computed again: the model can no longer attend to what was dropped."
        )
    # Greedy decoding depends on neither filters nor seed.
    sampling = GREEDY if decoding == "greedy" else replace(drawn, seed=seed)
    return Request(view.handle, view.ids, sampling, n_tokens, slides)


# --- beam search ------------------------------------------------------------------------------


def _beam(view: View) -> None:
    """The tree of a beam search, its winner, and what greedy decoding would have written."""
    most = min(settings.BEAM_WIDTH.high, view.config.vocab_size)
    with layout.row("beam"):
        width = controls.number(settings.BEAM_WIDTH.given(high=most))
        n_tokens = controls.number(settings.BEAM_TOKENS)
        penalty = controls.slider(settings.LENGTH_PENALTY)
    notices.show()
    steps = runs.beams(view.handle, view.ids, width, n_tokens, penalty)
    greedy = runs.beams(view.handle, view.ids, 1, n_tokens, penalty)
    winner, greedy_winner = _winner(steps), _winner(greedy)
    st.caption(
        "At each step every beam is continued by every token; the top k are kept (filled), k "
        "being the beam width, the runners-up are pruned (open). The winner has the best score: "
        "the log probability of its text, divided by ((5 + n)/6)^α for n new tokens. Width 1 is "
        "greedy."
    )
    layout.show_figure(
        beam_tree(_nodes(view, steps), view.tokens[-1], view.colors),
        key="beam",
        alt=f"A tree of {sum(len(step.candidates) for step in steps)} candidates in {len(steps)} "
        f"steps. The winner's score is {winner.score:.3f}.",
    )
    if winner.score < greedy_winner.score - 1e-9:
        words.notice(
            "Greedy found the better text here: its path was pruned on the way. Beam search looks "
            "at more, but does not always find the best."
        )
    for name, found in (("Beam search", winner), ("Greedy", greedy_winner)):
        st.caption(f"{name}: log probability {found.total:.4f}, score {found.score:.4f}")
        _show_text(view, list(found.ids))
    inspector.formula("model.decoding.beam.normalised_score")
    inspector.formula(
        "model.decoding.beam.normalised_score",
        score_with_numbers(winner.total, len(winner.ids), penalty, winner.score),
    )


def _winner(steps: Sequence[BeamStep]) -> Candidate:
    winner = steps[-1].winner
    assert winner is not None  # the last step has one
    return winner


def _nodes(view: View, steps: Sequence[BeamStep]) -> list[Node]:
    vocabulary = runs.vocabulary(view.handle)
    path = _winner(steps).ids
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


# --- the stream -------------------------------------------------------------------------------


@st.fragment
def _stream(view: View, request: Request) -> None:
    """The text; while it runs, the browser asks for more once it has shown the last tokens."""
    notices.guarded(lambda: _write_on(view, request))()


def _write_on(view: View, request: Request) -> None:
    """Buttons, the next tokens while it runs, and the text so far."""
    pressed = memory.pressed(WRITING)
    writing = _after_press(pressed, request)
    buttons = st.container()  # above the text, but what they offer depends on the next tokens
    if writing is not None and (pressed == "step" or writing.is_running):
        seconds = 0 if pressed == "step" else WRITE_SECONDS
        notices.guarded(lambda: writing.advance(seconds))()
    with buttons:
        _buttons(writing)
    _show(view, request, writing)


def _after_press(pressed: str | None, request: Request) -> Writing | None:
    """The text of this request after a button was pressed, or none was."""
    writing: Writing | None = memory.remembered(WRITING, request)
    if _begins(pressed, writing):
        writing = write(
            request.handle, request.ids, request.sampling, request.n_tokens, request.slides
        )
        memory.remember(WRITING, request, writing)
        memory.keep_choices(WRITER, {"step": None})
    if pressed and writing is not None:
        writing.is_running = pressed == "start"
        if pressed == "stop":
            writing.stopped = "stopped by hand"
    return writing


def _begins(pressed: str | None, writing: Writing | None) -> bool:
    """Whether this press begins a new text: the first one, or one after the last has ended."""
    if writing is None:
        return pressed in ("start", "step")
    return pressed == "start" and writing.stopped is not None


def _buttons(writing: Writing | None) -> None:
    """Start, pause, step, stop."""
    is_running = writing is not None and writing.is_running
    is_over = writing is not None and writing.stopped is not None
    label = "Start" if writing is None else "Start again" if is_over else "Resume"
    with st.container(horizontal=True):
        if is_running:
            controls.button(WRITING, "pause", "Pause", "pause")
        else:
            controls.button(WRITING, "start", label, "play_arrow", primary=True)
        controls.button(WRITING, "step", "Step", "skip_next", disabled=is_running or is_over)
        controls.button(WRITING, "stop", "Stop", "stop", disabled=writing is None or is_over)


def _show(view: View, request: Request, writing: Writing | None) -> None:
    if writing is None:
        writing = _earlier(request)
    steps = writing.steps if writing else []
    if writing is not None and writing.stopped:
        words.notice(_why_stopped(writing.stopped, len(steps), view.config.max_seq_len))
    if steps:
        _show_text(view, [step.token_id for step in steps])
    component.show(
        _writer_data(view, hash(request), writing),
        on_change=lambda changes: memory.keep_choices(WRITER, changes),
    )


def _earlier(request: Request) -> Writing | None:
    """The text last drawn from this prompt with other settings, said to be so."""
    made_with, writing = memory.last(WRITING)
    is_of_prompt = made_with and (made_with.handle, made_with.ids) == (request.handle, request.ids)
    if writing is None or not is_of_prompt or not writing.steps:
        return None
    words.notice("This text was drawn with other settings; Start draws one with the new ones.")
    return writing


def _show_text(view: View, new_ids: list[int]) -> None:
    """The prompt and its continuation."""
    prompt = runs.decode(view.handle, list(view.ids)).removeprefix(" ")
    words.continued(prompt, runs.decode(view.handle, new_ids))


def _why_stopped(reason: str, n_tokens: int, context: int) -> str:
    """What ended a text, in words."""
    if reason == "context full":
        return (
            f"Stopped: the context of {context} tokens is full. Choose “slide window” to continue "
            "without the older half."
        )
    if reason == "max_new_tokens":
        return f"Done: {n_tokens} new tokens."
    words_of = {"end of text": "the model ended the text"}
    return f"Stopped after {n_tokens} new tokens: {words_of.get(reason, reason)}."


def _writer_data(view: View, key: int, writing: Writing | None) -> Data:
    """The text and its steps as the browser takes them; a step is prepared once for a head."""
    vocabulary = runs.vocabulary(view.handle)
    steps = writing.steps if writing else []
    sent = writing.sent.setdefault((view.layer, view.head), []) if writing else []
    sent += [step_data(step, vocabulary, view.layer, view.head) for step in steps[len(sent) :]]
    text = WrittenText(
        tokens=[*view.tokens, *(vocabulary[step.token_id] for step in steps)],
        steps=sent,
        head_name=view.head_name,
        is_running=writing is not None and writing.is_running,
    )
    return writer_data(f"{view.run.key}-{key}", text, memory.choices(WRITER, UNSEEN))
