"""The bar above every page: sentence, examples, model, head, and what the checks found."""

import html
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.architectures.base import Model
from model.given import Chat, space_at_end
from model.sources.handle import ModelHandle
from model.sources.offers import missing
from model.verify.check import Check, Finding
from viz import VERSION, runs
from viz.frame import (
    admission,
    ahead,
    box,
    folder,
    given,
    heads,
    inspector,
    map_strip,
    models,
    notices,
    state,
    verdicts,
    words,
)
from viz.frame.examples import examples
from viz.frame.page import Page
from viz.frame.settings import SMALL_WEIGHTS
from viz.frame.shipped import called
from viz.frame.view import View
from viz.runs.kept import Asked
from viz.theme import palette

CHECK_EVERY = 0.1  # seconds
# What stands on a page that shows nothing of the sentence and the model: they stay as they are.
NONE = "<style>.st-key-controls, .st-key-status { display: none; }</style>"


def place() -> DeltaGenerator:
    """Where the bar stands; its two rows are drawn before and after the model runs."""
    return st.container(key="bar")


def open_view(
    where: DeltaGenerator,
    page: Page,
    *,
    meanwhile: Callable[[str], None],
    has_caret: bool = False,
) -> View:
    """Draw the controls every page has into the bar, and run the model on what it is given.

    Where the chosen model lacks what the page needs, another one stands in, and a line says so.
    `has_caret` has the sentence box take the keyboard when the page is opened. `meanwhile` is told
    which model it is before anything is worked out.

    ValueError where there is no such checkpoint, or the chosen one cannot be used.
    """
    admission.admit()
    ahead.of_visitor().begin()
    notices.begin()
    shown = models.shown_on(page)
    # Known before anything is opened: the bar asks for a sentence at once.
    kind = given.kind_of(runs.architecture_of(shown.name))
    with where, st.container(horizontal=True, vertical_alignment="top", key="controls"):
        typed = given.draw(kind, shown.name, has_caret)
        # Before the run: beside a model that cannot be used, another one can be chosen.
        handle = models.pickers(shown.name)
        models.refuse_unopened(handle)
        meanwhile(handle.spelled)
        input_kind = runs.opened(handle).input_kind
        typed_in = typed.given if input_kind == "text" else ""
        asked = Asked(partial(kind.run, handle, typed_in, page.title))
        run = asked.answer
        if missing(page.needs, run.offers):  # only now is it known: begin with one that stands in
            runs.note_offers(handle, run.offers)
            notices.run_again()
        if input_kind == "text":
            _count_tokens(typed, run, runs.runnable(handle).model)
            _answer_ahead(typed, handle, kind)
            box.say_what_is_markup(typed, handle)
        at = heads.choose(
            run,
            handle.spelled,
            has_pickers=not page.shows_heads,
            is_new=models.was_switched() or bool(shown.reason),
        )
    colors = palette(st.context.theme.type, small_weights=state.value(SMALL_WEIGHTS))
    view = View(typed_in, handle, asked, *at, colors)
    _say(view, page, shown, takes_input=input_kind is not None)
    return view


def _say(view: View, page: Page, shown: models.Shown, *, takes_input: bool) -> None:
    """What a person must know of the models here, of this one and of what it was given."""
    for line in runs.unusable_models():
        notices.add(line)
    notices.show()
    chosen = models.chosen()
    if shown.reason and runs.has_lacked(chosen):
        _say_what_is_off(runs.handle_of(chosen, view.handle.device))
    _say_what_is_off(view.handle)
    if shown.reason and models.is_ones_own():
        it = f"{called(chosen)}: {shown.reason}. Shown instead: {view.called}."
        words.notice(f"{page.title} does not apply to {it}")
    elif not takes_input:
        words.notice(f"{view.called} takes no sentence: it shows an input of its own.")
    _say_what_became_of_the_text(view)


def show_map(
    where: DeltaGenerator, view: View, page: Page, pages: Sequence[Page]
) -> DeltaGenerator:
    """The second row of the bar: the map of the model, and room for a badge.

    Where the page shows the tokens itself, the map says what the model is instead; Home is the map.
    Returns the badge's place.
    """
    trace = view.run.trace
    is_elsewhere = page.shows_tokens and len(trace.streams) == 1
    is_elsewhere = is_elsewhere or trace.main.kind == "patches"
    with where, st.container(horizontal=True, vertical_alignment="center", key="status"):
        if page is pages[0]:  # Home
            words.caption(_described(view))
        else:
            map_strip.show(view, page, pages, _described(view) if is_elsewhere else "")
        with st.container(key="badge-place"):  # as large as any badge: it comes last
            slot = st.empty()
    if not view.run.checking.done():
        _show_pending(slot, view)  # else the badge of the last sentence would stand for this one
    return slot


def show_badge(slot: DeltaGenerator, view: View, more_checks: Sequence[Check]) -> Sequence[Check]:
    """The checks of this run and of the page, once they are there; drawn after all figures."""
    while not view.run.checking.done():
        wait([view.run.checking], timeout=CHECK_EVERY)
        if not view.run.checking.done():
            _show_pending(slot, view)  # where a person has gone on meanwhile, the script ends here
    checks = (*view.run.checks, *more_checks)
    with slot.container(width="content"):
        _badge(view, checks)
    return checks


def _show_pending(slot: DeltaGenerator, view: View) -> None:
    slot.html(f'<p class="hl-pending" role="status">{view.handle.device.upper()} · Checking…</p>')


def run_first_example() -> None:
    """Fill the caches with what a first visitor sees; needs no visitor."""
    names = runs.model_names()
    if names:
        handle = runs.handle_of(names[0], runs.device_names()[0])
        runs.run(handle, examples()[0].sentence)


def _count_tokens(typed: box.Box, run: runs.Run, model: Model) -> None:
    """How many tokens the sentence has of those that fit, and why no more do.

    An example stands in for none.
    """
    why = html.escape(f"At most {model.limit}")
    excess = " hl-excess" if typed.has_text and run.n_cut else ""
    count = _count(run if typed.has_text else None, model)
    typed.place.html(f'<p class="hl-count{excess}" title="{why}">{count}</p>')


def _count(run: runs.Run | None, model: Model) -> str:
    n = len(run.trace.streams[0]) + run.n_cut if run else 0
    return f"{n:,} / {model.config.max_seq_len:,} tokens"


def _answer_ahead(typed: box.Box, handle: ModelHandle, kind: given.Kind) -> None:
    """Let what is typed be answered before the page runs again, where the text is all it needs."""
    if kind.is_text_alone and isinstance(typed.given, str):
        model = runs.runnable(handle).model
        ahead.of_visitor().how = ahead.How(
            typed.setting, partial(runs.run, handle), lambda run: _count(run, model)
        )


def _badge(view: View, checks: Sequence[Check]) -> None:
    """Model, device, and how many checks this run passed, with the list behind it.

    What is off stands first there: below a long list nobody would see it.
    """
    device = view.handle.device.upper()
    key = "badge" if all(one.passed for one in checks) else "badge-failed"
    off, notes = _report(view.handle)
    with st.popover(inspector.verdict(checks, f"{device} · "), key=key):
        words.caption(f"{view.called}: {_described(view)}, running on {device}")
        if off:
            st.caption("Off with this model, found when it was opened:")
        for text in off:
            words.notice(text, kind="error")
        n_of_run = len(view.run.checks)
        st.caption(
            f"{n_of_run} checks of this run{_of_page(len(checks) - n_of_run)}. "
            f"{_how_checked(view)} Errors are the largest difference found, relative to the "
            "largest value where above one; what failed stands first."
        )
        verdicts.checks_table(checks)
        if notes:
            st.caption("When it was opened, its files and a short run were looked through:")
        for text in notes:
            words.notice(text)
        folder.offer_copy(runs.opened(view.handle))
        if card := runs.card(view.handle):
            st.caption("What was written about this model:")
            with st.container(height=220, key="card"):
                st.text(card)
        st.caption(f"Headlight {VERSION}")


def _findings(handle: ModelHandle) -> tuple[Finding, ...]:
    """What was found when the model was opened; empty for those whose files are checked whole."""
    return runs.opened(handle).report


def _report(handle: ModelHandle) -> tuple[list[str], list[str]]:
    """The same in words: what is off, and what is only to be known."""
    found = _findings(handle)
    off, notes = ([one.text for one in found if one.is_off == is_off] for is_off in (True, False))
    return off, notes


def _say_what_is_off(handle: ModelHandle) -> None:
    name = called(handle.spelled)
    for one in _findings(handle):
        if one.is_said:
            words.notice(f"Of {name} {one.text}.")
    off, _ = _report(handle)
    if len(off) == 1:
        verdicts.warning(f"One thing is off with {name}:", f"{off[0]}.")
    elif off:
        what = f"{len(off)} things are off with {name}:"
        verdicts.warning(what, f"{off[0]}. The red badge has them all.")


def _of_page(n: int) -> str:
    """How many checks a page adds, where it adds any."""
    return f", {n} that this page adds" if n else ""


def _how_checked(view: View) -> str:
    """What a run is compared with."""
    loaded = runs.opened(view.handle)
    if "weights" in loaded.offers:
        return (
            "Every array is compared with an independent run, numpy in float64 from the model’s "
            "files. Attention is also recomputed from q, k, v and the mask."
        )
    if loaded.input_kind is None:  # it does not run again
        return "Attention is recomputed in float64 from q, k, v and the mask."
    return (
        "Attention is recomputed in float64 from q, k, v and the mask, and the output is "
        "compared with a run that nothing looks at."
    )


def _described(view: View) -> str:
    """The sizes of the model, as far as they are known."""
    facts, group = view.run.trace.facts, view.group
    said = f"{len(group.records):,} layers × {group.n_heads:,} heads"
    if facts.d_model:
        said += f", d_model {facts.d_model:,}"
    if facts.max_seq_len:
        said += f", context {facts.max_seq_len:,}"
    most = getattr(getattr(runs.opened(view.handle), "model", None), "config", facts).max_seq_len
    if most and facts.max_seq_len and most < facts.max_seq_len:
        said += f", of which {most:,} tokens fit into a run here"
    return said


def _say_what_became_of_the_text(view: View) -> None:
    if isinstance(view.given, Chat):
        box.say_what_was_left_out(view.given, view.handle)
    ends = "decoder" in view.offers and not isinstance(view.given, Chat)
    space = space_at_end(view.run.trace.tokens) if ends else ""
    if space:
        words.notice(space)
    n_shown, n_cut = len(view.run.trace.streams[0]), view.run.n_cut
    if n_cut:
        limit = runs.runnable(view.handle).model.limit
        words.notice(
            f"The sentence has {n_shown + n_cut} tokens, more than {limit}: "
            f"the first {n_shown} are shown, the last {n_cut} are cut."
        )
