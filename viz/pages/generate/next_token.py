"""Next token: the text while it is written, and what each of its tokens is drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from model.analysis.probabilities import distribution
from model.decoding.course import Course, changes_of, course_of
from model.decoding.filters import GREEDY, Sampling
from model.decoding.sampling import CONTEXT_FULL
from model.decoding.writing import Writing, write
from model.given import Chat
from model.sources.handle import ModelHandle
from viz import runs
from viz.frame import (
    address,
    ahead,
    box,
    controls,
    inspector,
    layout,
    memory,
    notices,
    settings,
    state,
    tables,
)
from viz.frame.page import Page
from viz.frame.sampling import DECODING, drawing, is_greedy, sliders
from viz.frame.sliders import sampling_of
from viz.frame.view import View
from viz.inside_streamlit import is_awaited
from viz.kit.growth import Growth, Prompt, Shown, another_seed
from viz.kit.part import Part
from viz.kit.sampling import sampling_data
from viz.kit.wire import Settings
from viz.labels import visible
from viz.live import component
from viz.runs import Run
from viz.runs.kept import Asked

WRITE_SECONDS = 0.1  # how long to write, unasked, before the page is drawn again
WRITING, PUBLISHED = "writing", "written-in-the-address"
UNSEEN = {"at": None, "averaged": False}  # before anything is chosen in the browser


@dataclass(frozen=True)
class Request:
    """What a text depends on that is not changed while it is written."""

    handle: ModelHandle
    ids: tuple[int, ...]
    slides: bool
    seed: int


def render(view: View) -> None:
    """Draw the page."""
    shown = Shown(view.run.trace.logits[-1], drawing(view))
    _stream(view, shown)
    inspector.formula("model.decoding.filters.filter_logits")
    inspector.source(
        "model.decoding.sampling.generate",
        "model.decoding.sampling.sample",
        "model.decoding.filters.filter_logits",
        "model.decoding.filters.scale_temperature",
        "model.decoding.filters.top_k",
        "model.decoding.filters.top_p",
        "model.decoding.filters.min_p",
    )
    inspector.export(view, {"Distribution": lambda: _csv(shown, runs.vocabulary(view.handle))})


@st.fragment
def _stream(view: View, shown: Shown) -> None:
    """The text; while it is written the browser asks for more by itself, see `growth`."""
    notices.guarded(lambda: _write_on(view, shown))()


def _write_on(view: View, shown: Shown) -> None:
    """Controls, the next tokens while it runs, and all that is to be seen of the text."""
    pressed = memory.pressed(WRITING)
    if pressed == "seed":
        state.put((settings.SEED, another_seed(int(state.number(settings.SEED)))))
    with layout.row("writing"):
        buttons = layout.cells("writing")  # what they say depends on what is written
        request, n_tokens = _request(view)
    now = drawing(view)
    growth = _text(view, request, now)
    if pressed == "keep":
        _keep(view, growth.writing)
    with growth.writing.lock:
        growth.prompt, growth.is_greedy = _prompt(view), is_greedy()
        growth = _write(growth, view, request, now, pressed, n_tokens)
        with buttons:
            _buttons(growth.writing, is_chat=isinstance(view.given, Chat))
        note = " ".join(filter(None, (growth.state(), _note_in_address(growth))))
        now_shown = _show(view, growth, note)
    _answer_ahead(view, request, memory.choices(WRITING, UNSEEN)["averaged"])
    shown.logits, shown.sampling = now_shown.logits, now_shown.sampling
    address.write(PAGE.title, WRITING)


def _write(
    growth: Growth, view: View, request: Request, now: Sampling, pressed: str | None, n_tokens: int
) -> Growth:
    """Do what was asked for, and write on, unless the browser itself asks for more."""
    is_steered = growth.writing.steer(now)  # what that does shall be seen at once
    if pressed in ("seed", "restart"):
        growth = _anew(view, request, now)
    writing = growth.writing
    _press(writing, pressed, n_tokens)
    if not writing.is_fed:
        seconds = 0 if is_steered else WRITE_SECONDS
        notices.guarded(lambda: writing.advance(seconds, is_awaited))()
    return growth


def _request(view: View) -> tuple[Request, int]:
    """What is asked for: a text, and how many tokens of it."""
    controls.select(DECODING, width=125)
    seed = int(controls.number(settings.SEED))
    n_tokens = int(controls.number(settings.NEW_TOKENS))
    slides = controls.select(settings.AT_LIMIT, width=130) == "slide"
    return Request(view.handle, view.ids, slides, seed), n_tokens


# --- which text -------------------------------------------------------------------------------


def _text(view: View, request: Request, now: Sampling) -> Growth:
    """The text of this request: the one at hand, what the address says, or an empty one."""
    is_set = settings.WRITTEN.name in state.unsettled()
    changes = state.value(settings.CHANGES.given(n_tokens=view.config.vocab_size))
    linked = n_written, _ = int(state.number(settings.WRITTEN)), changes
    growth: Growth | None = memory.remembered(WRITING, request)
    is_other = linked != memory.last(PUBLISHED)[1]
    if is_other or (is_set and growth is None):  # by a link; with another seed, as many tokens
        return _anew(view, request, now, course_of(changes, now), n_written)
    return growth or _anew(view, request, now)


def _anew(
    view: View, request: Request, now: Sampling, course: Course | None = None, target: int = 0
) -> Growth:
    """A text of this request, which is kept in the place of the last one."""
    begun_with, begun = ahead.of_visitor().begun
    is_begun = course is None and begun_with == request and memory.last(WRITING)[0] != request
    growth = begun if is_begun else _begin(request, _prompt(view), now, course, target)
    memory.remember(WRITING, request, growth)
    memory.keep_choices(WRITING, {"at": None})
    return growth


def _begin(
    request: Request, prompt: Prompt, now: Sampling, course: Course | None = None, target: int = 0
) -> Growth:
    model, ends = runs.decoder(request.handle), runs.end_ids(request.handle)
    slide = request.slides
    writing = write(model, ends, request.ids, now, slide=slide, course=course, target=target)
    words, special = runs.vocabulary(request.handle), runs.runnable(request.handle).special_ids
    start = "".join(words[i] for i in request.ids[:1] if i in special)
    return Growth(prompt, writing, words, sampling_of, start)


def _prompt(view: View) -> Prompt:
    """The text of a view, whose run is not held by what is written after it."""
    asked = view.asked
    return Prompt(view.run.key, lambda: asked.answer.trace, view.layer, view.head, view.head_name)


def _answer_ahead(view: View, request: Request, averaged: object) -> None:
    """Have a text that is typed shown before the page runs again; nothing is written after it."""
    vocab_size, greedy = view.config.vocab_size, is_greedy()
    visitor = ahead.of_visitor()

    def of_run(run: Run, text: str, chosen: Settings) -> Part:
        own = replace(request, ids=tuple(run.trace.ids.tolist()))
        sampling = sampling_of(chosen, vocab_size)
        now = replace(GREEDY if greedy else sampling, seed=request.seed)
        asked = Asked(partial(runs.run, view.handle, text))
        at = view.layer, view.head, view.head_name
        growth = _begin(own, Prompt(run.key, lambda: asked.answer.trace, *at), now)
        growth.is_greedy = greedy
        visitor.begun = own, growth
        is_averaged = chosen.get("averaged", averaged)
        rest = {"at": None, "averaged": is_averaged, "rests": 0}
        part, _ = growth.whole(None, {**sampling_data(sampling), **rest}, growth.state())
        return part

    ahead.also("writing", of_run)
    ahead.answers()


def _note_in_address(growth: Growth) -> str:
    """Let the address bring the text back: all of it while it runs, so that it changes once.

    Returns what there is to say where it cannot.
    """
    writing = growth.writing
    n_written = writing.target if writing.is_running else len(writing.steps)
    changes = changes_of(writing.course, writing.now) if n_written else ()
    is_too_long = len(changes) > settings.CHANGES.most
    if is_too_long:
        n_written, changes = 0, ()
    state.put((settings.WRITTEN, n_written), (settings.CHANGES, changes))
    state.value(settings.WRITTEN)
    state.value(settings.CHANGES.given(n_tokens=len(growth.vocabulary)))
    memory.remember(PUBLISHED, None, (n_written, changes))
    if not is_too_long:
        return ""
    return (
        f"Settings changed more than {settings.CHANGES.most} times on the way: a copied link opens "
        "without this text."
    )


# --- what a person does -----------------------------------------------------------------------


def _press(writing: Writing, pressed: str | None, n_tokens: int) -> None:
    """Start, stop, or write one token."""
    n, most = len(writing.steps), int(settings.WRITTEN.high)
    if pressed in ("start", "seed", "restart"):
        writing.run(min((n // n_tokens + 1) * n_tokens, most))
    elif pressed == "step":
        writing.run(min(n + 1, most))
    elif pressed == "stop":
        writing.is_running = False


def _keep(view: View, writing: Writing) -> None:
    """Have the chat go on with what was written, as the assistant's answer."""
    assert isinstance(view.given, Chat), "the button is there for a chat"
    ends = runs.end_ids(view.handle)
    ids = (step.token_id for step in writing.steps if step.token_id not in ends)
    box.go_on(view, view.given._replace(answer=(*view.given.answer, *ids)))
    notices.run_again()


def _buttons(writing: Writing, *, is_chat: bool) -> None:
    is_full = writing.stopped == CONTEXT_FULL or len(writing.steps) >= settings.WRITTEN.high
    with layout.cell("start-or-stop"):
        if writing.is_running:
            controls.button(WRITING, "stop", "Stop", "stop")
        else:
            label = "Continue" if writing.steps else "Start"
            controls.button(WRITING, "start", label, "play_arrow", primary=True, disabled=is_full)
    controls.button(WRITING, "step", "Step", "skip_next", disabled=writing.is_running or is_full)
    controls.button(WRITING, "seed", "New seed", "casino")
    controls.button(WRITING, "restart", "Start again", "replay", disabled=not writing.steps)
    if is_chat:
        is_off = writing.is_running or not writing.steps
        controls.button(WRITING, "keep", "Keep as answer", "reply", disabled=is_off)


def _take_over(view: View, changes: dict[str, object]) -> None:
    """Keep what a person changed in the browser; a place in the prompt goes into the address."""
    changes = {name: changes[name] for name in changes if name != "rests"}  # nobody chose it
    state.take_over(changes)
    memory.keep_choices(WRITING, {name: changes[name] for name in UNSEEN if name in changes})
    if "at" in changes:
        at = changes["at"]
        in_prompt = isinstance(at, int) and 0 < at < len(view.ids)
        state.put((settings.TOKEN, at - 1 if isinstance(at, int) and in_prompt else -1))


# --- what is shown ----------------------------------------------------------------------------


def _place(growth: Growth) -> int | None:
    """The token of the whole text whose distribution is shown; None for the next one."""
    prompt, writing = growth.prompt, growth.writing
    after = state.value(settings.TOKEN.given(options=range(-1, len(prompt.ids))))
    at = after + 1 if after >= 0 else memory.choices(WRITING, UNSEEN)["at"]
    n_all = len(prompt.ids) + len(writing.steps)
    return at if isinstance(at, int) and 0 < at < n_all else None


def _show(view: View, growth: Growth, note: str) -> Shown:
    """The text in the browser; gives back the distribution beside it."""
    at, averaged = _place(growth), memory.choices(WRITING, UNSEEN)["averaged"]
    now = {**sampling_data(sliders(view)), "at": at, "averaged": averaged, "rests": 0}
    part, shown = growth.whole(at, now, note)
    component.show(part, on_change=lambda changes: _take_over(view, changes))
    return shown


def _csv(shown: Shown, vocabulary: Sequence[str]) -> bytes:
    spread = distribution(shown.logits, shown.sampling)
    frame = tables.frame(
        {
            "id": np.arange(len(vocabulary)),
            "token": [visible(token) for token in vocabulary],
            "logit": spread.logits,
            "model": spread.before,
            "sampled_from": spread.after,
            "kept": spread.kept,
        }
    )
    return tables.frame_csv(frame.sort_values("model", ascending=False, kind="stable"))


PAGE = Page(
    "Next token",
    ":material/edit_note:",
    "Each token is drawn from a distribution over the whole vocabulary.",
    "The sliders reshape the distribution and act from the next token on, also while the model "
    "writes; a ◆ in the text says where they changed. Click a token to see what it was drawn "
    "from, and a bar to put that token instead. The same seed and settings give the same text.",
    render,
    needs=("decoder", "text", "vocabulary", "logits"),
    opens_inspector=False,  # the text and its sliders fill a screen
)
