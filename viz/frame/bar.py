"""The bar above every page: sentence, examples, model, head, and what the checks found."""

from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.given import space_at_end
from model.sources.adopted import Adopted
from model.sources.checkpoint import Checkpoint
from model.sources.handle import ModelHandle
from model.sources.offers import REASONS, missing
from model.verify.check import Check, Finding
from viz import VERSION, runs
from viz.frame import (
    admission,
    controls,
    folder,
    given,
    inspector,
    map_strip,
    notices,
    state,
    verdicts,
    words,
)
from viz.frame.examples import examples
from viz.frame.kinds import Choice
from viz.frame.page import Page
from viz.frame.pairs import pairs
from viz.frame.settings import (
    AT,
    CELL,
    DEVICE,
    HEAD,
    HEAD_GROUP,
    LAYER,
    MODEL,
    MODELS,
    SENTENCE,
    SOURCE,
)
from viz.frame.view import View
from viz.kit.wire import Option, Settings
from viz.live.pickers.data import Picker
from viz.runs.kept import Asked
from viz.theme import palette

CHECK_EVERY = 0.1  # seconds
SEE_README = ", see README"
# Why pages for one kind do not open every model of transformers, and where others are seen.
NEEDED = {
    "encoder": "It hides words, so it needs an encoder whose tokenizer has a mask token; Attention "
    "shows others that read text.",
    "encoder_decoder": "It writes by beams and damages the source, so it needs an encoder and a "
    "decoder that run apart, as Headlight’s own do; Home shows what others write, Attention their "
    "cross-attention.",
    "vision": "It needs a model laid out as Headlight’s own; Home and Attention show others.",
}
HOW_TO_TRAIN = {"encoder": ": python -m model train assets/recipes/blank.toml --corpus … --out …"}
EXAMPLE, VARIANT, SWITCHED = "example", "variant", "model-was-switched"
ALIKE = "positions-"  # what the names of models begin with that differ in their positions alone


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

    A page for one architecture has a model of that kind, and where it takes only ours one that
    is laid out as those that come with Headlight. Where the chosen model lacks what the page
    needs, another one stands in, and a line says so. `has_caret` has the sentence box take the
    keyboard when the page is opened. `meanwhile` is told which model it is before anything is
    worked out.

    ValueError where there is no such checkpoint, or the chosen one cannot be used.
    """
    admission.admit()
    notices.begin()
    architecture = getattr(page, "ARCHITECTURE", "")
    fills_blanks = getattr(page, "FILLS_BLANKS", False)
    model = _model_setting(architecture, getattr(page, "ONLY_OURS", False))
    asks = given.ON_HOME if fills_blanks else given.ON_OWN_PAGE if architecture else given.ASKS
    chosen = state.value(model)
    kind = runs.architecture_of(chosen)
    # Known before anything is opened: the bar asks for a sentence at once.
    reason = REASONS["decoder"] if "decoder" in page.NEEDS and kind in asks else ""
    ask = given.ask_of("" if reason else kind, asks)
    with where, st.container(horizontal=True, vertical_alignment="top", key="controls"):
        typed = ask.draw(has_caret)
        # Before the run: beside a model that cannot be used, another one can be chosen.
        handle = runs.handle_of(*_model_pickers(model))
        if reason:
            handle = _standing_in(handle)
        meanwhile(handle.spelled)
        # Seconds, where weights are large or dequantised.
        with where, st.spinner("Opening the model…"):
            kind = runs.opened(handle).input_kind
        opened = handle
        sentence = typed.sentence if kind == "text" else ""
        asked = Asked(partial(ask.run, handle, sentence))
        if lacking := missing(page.NEEDS, asked.answer.offers):
            reason, handle = lacking[0], _standing_in(handle)
            own = given.OWN_SENTENCE
            sentence = sentence or state.value(own) or own.default
            asked = Asked(partial(runs.run, handle, sentence))
        run = asked.answer
        if kind == "text":
            _count_tokens(typed, run, runs.runnable(handle).model.config.max_seq_len)
        at = (
            _own_head(run, handle.spelled)
            if architecture
            else _any_head(run, has_pickers=not getattr(page, "SHOWS_HEADS", False))
        )
    colors = palette(st.context.theme.type)
    view = View(sentence, handle, asked, *at, colors)
    for line in runs.unusable_models():
        notices.add(line)
    notices.show()
    _say_what_is_off(opened)
    if reason:
        it = f"{runs.called(chosen)}: {reason}. Shown instead: {view.called}."
        words.notice(f"{page.TITLE} does not apply to {it}")
    elif architecture:
        _say_whose_page(view, architecture)
    elif kind is None:
        words.notice(f"{view.called} takes no sentence: it shows an input of its own.")
    _say_what_became_of_the_text(view)
    return view


def _standing_in(handle: ModelHandle) -> ModelHandle:
    """The model that has what every page needs, on the same device."""
    return runs.handle_of(runs.FIRST_MODEL, handle.device)


def show_map(
    where: DeltaGenerator, view: View, page: Page, pages: Sequence[Page]
) -> DeltaGenerator:
    """The second row of the bar: the map of the model, and room for a badge.

    Where the page shows the tokens itself, the map says what the model is instead; Home is the map.
    Returns the badge's place.
    """
    trace = view.run.trace
    is_elsewhere = getattr(page, "SHOWS_TOKENS", False) and len(trace.streams) == 1
    is_elsewhere = is_elsewhere or trace.main.kind == "patches"
    with where, st.container(horizontal=True, vertical_alignment="center", key="status"):
        if getattr(page, "SHOWS_HEADS", False):
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


def switch_model(name: str) -> None:
    """Run another model from the next run on; of layer and head, the nearest it has."""
    state.put((MODEL, name))
    st.session_state[SWITCHED] = True


def _count_tokens(typed: given.Typed, run: runs.Run, most: int) -> None:
    """How many tokens the sentence has of those that fit; an example stands in for none."""
    n_shown = len(run.trace.streams[0]) if typed.has_text else 0
    n_cut = run.n_cut if typed.has_text else 0
    excess = " hl-excess" if n_cut else ""
    typed.place.html(f'<p class="hl-count{excess}">{n_shown + n_cut:,} / {most:,} tokens</p>')


def _model_setting(architecture: str, only_ours: bool = False) -> Choice[str]:
    """The choice of a model, on a page for one architecture of that kind alone.

    There it is the one that other pages show, if it is among them, until another is chosen.
    """
    names = runs.model_names(architecture)
    if only_ours:
        names = [name for name in names if not runs.is_of_transformers(name)]
    if not names:
        kind = f"{architecture.replace('_', '-')} " if architecture else ""
        how = HOW_TO_TRAIN.get(architecture, SEE_README)
        raise ValueError(f"no {kind}checkpoint in assets/checkpoints; train one{how}")
    setting = MODELS[architecture]
    shown = state.value(_model_setting("")) if architecture else ""
    usual = shown if shown in names else names[0]
    return setting.given(options=names, default=usual, words=runs.described)


def _model_pickers(model: Choice[str]) -> tuple[str, str]:
    """Examples, models, and devices where there is a choice; gives back model and device.

    Models that differ in one thing alone are one entry, with a list of their own beside it.
    """
    devices = runs.device_names()
    device = DEVICE.given(options=devices, default=devices[0])
    controls.pickers(
        "pickers-model",
        *_examples(runs.architecture_of(state.value(model))),
        *_of_models(model),
        *([controls.picker(device)] if len(devices) > 1 else []),
        on_change=_take_over,
    )
    folder.ask(state.value(device), switch_model)
    return state.value(model), state.value(device)


def _of_models(model: Choice[str]) -> list[Picker]:
    chosen, alike = state.value(model), [x for x in model.options if x.startswith(ALIKE)]
    one = chosen if chosen in alike else next(iter(alike), "")
    shown = [name for name in model.options if name == one or name not in alike]
    pickers = [folder.with_way_in(controls.picker(replace(model, options=shown)))]
    if chosen in alike:
        options = [Option(name, name.removeprefix(ALIKE)) for name in alike]
        pickers.append(Picker(VARIANT, "Encoding", options, chosen))
    return pickers


def _examples(architecture: str) -> list[Picker]:
    """The examples for this kind of model, if there are any."""
    offered = {
        "decoder": [example.title for example in examples()],
        "encoder_decoder": [pair.source for pair in pairs()],
    }.get(architecture, [])
    options = [Option(title, title) for title in offered]
    return [Picker(EXAMPLE, "Examples", options, "", placeholder="choose")] if options else []


def _take_over(changes: Settings) -> None:
    """Open the example that was chosen; keep what else was."""
    folder.take_over(changes)
    if variant := changes.pop(VARIANT, None):
        changes[MODEL.name] = variant
    title = changes.pop(EXAMPLE, None)
    if title in {pair.source for pair in pairs()}:
        state.put((SOURCE, title))
    for example in examples():
        if example.title == title:
            state.put(
                (SENTENCE, example.sentence),
                (MODEL, example.model),
                (LAYER, example.layer),
                (HEAD, example.head),
                (CELL, example.cell),
                chosen_for=example.sentence,
            )
            at = f"decoder.attn.{example.layer}.{example.head}"
            state.put((AT, at), chosen_for=example.model)
    if MODEL.name in changes:
        st.session_state[SWITCHED] = True
    state.take_over(changes)


def _own_head(run: runs.Run, model: str) -> tuple[str, int, int]:
    """The head of a page that has a model of its own, and chooses heads itself.

    Until one is chosen the first head of the last layer of the last group.
    """
    heads = {
        f"{group.name}.{layer}.{head}": (group.name, layer, head)
        for group in run.trace.groups
        for layer in range(len(group.records))
        for head in range(group.n_heads)
    }
    last = run.trace.groups[-1]
    heads[""] = (last.name, len(last.records) - 1, 0)
    state.only_for(model, AT)
    return heads[state.value(AT.given(options=list(heads)))]


def _any_head(run: runs.Run, *, has_pickers: bool) -> tuple[str, int, int]:
    """The group of heads, where there is more than one, and layer and head in it."""
    titles, first = {group.name: group.title for group in run.trace.groups}, examples()[0]
    names = list(titles)
    kind = HEAD_GROUP.given(options=names, default=names[0], words=titles.get)
    is_new = st.session_state.pop(SWITCHED, False)  # then nobody asked for another layer or head
    if is_new or not has_pickers:  # nor does the page say which head it is
        state.settle_quietly(kind)
    group = run.trace.group(state.value(kind))
    layers, heads = range(len(group.records)), range(group.n_heads)
    layer = LAYER.given(options=layers, default=min(first.layer, layers[-1]))
    head = HEAD.given(options=heads, default=min(first.head, heads[-1]))
    if is_new:
        state.settle_quietly(layer)
        state.settle_quietly(head)
    if has_pickers:
        controls.pickers(
            "pickers-head",
            *([controls.picker(kind)] if len(names) > 1 else []),
            controls.picker(layer),
            controls.picker(head),
            on_change=state.take_over,
        )
    return group.name, state.value(layer), state.value(head)


def _badge(view: View, checks: Sequence[Check]) -> None:
    """Model, device, and how many checks this run passed, with the list behind it."""
    device = view.handle.device.upper()
    key = "badge" if all(one.passed for one in checks) else "badge-failed"
    with st.popover(inspector.verdict(checks, f"{device} · "), key=key):
        words.caption(f"{view.called}: {_described(view)}, running on {device}")
        n_of_run = len(view.run.checks)
        st.caption(
            f"{n_of_run} checks of this run{_of_page(len(checks) - n_of_run)}. "
            f"{_how_checked(view)} Errors are the largest difference found, relative to the "
            "largest value where above one. Red: a check failed, and its line says what is off."
        )
        verdicts.checks_table(checks)
        _show_report(view)
        folder.offer_copy(runs.opened(view.handle))
        if card := runs.card(view.handle):
            st.caption("What was written about this model:")
            with st.container(height=220, key="card"):
                st.text(card)
        st.caption(f"Headlight {VERSION}")


def _report(handle: ModelHandle) -> tuple[Finding, ...]:
    """What was found when the model was opened; empty for those whose files are checked whole."""
    found = runs.opened(handle)
    return found.report if isinstance(found, Adopted) else ()


def _show_report(view: View) -> None:
    """What was found when the model was opened, what is off first."""
    report = sorted(_report(view.handle), key=lambda one: not one.is_off)
    if report:
        st.caption("When it was opened, its files and a short run were looked through:")
    for one in report:
        words.notice(one.text, kind="error" if one.is_off else "note")


def _say_whose_page(view: View, architecture: str) -> None:
    """A page for one architecture shows another model than that of one's own that is chosen."""
    chosen = state.value(_model_setting(""))
    if chosen != view.handle.spelled and runs.is_of_transformers(chosen):
        why = NEEDED[architecture]
        words.notice(f"This page is not for {runs.called(chosen)}: it shows {view.called}. {why}")


def _say_what_is_off(handle: ModelHandle) -> None:
    called, report = runs.called(handle.spelled), _report(handle)
    for one in report:
        if one.is_said:
            words.notice(f"Of {called} {one.text}.")
    off = [one.text for one in report if one.is_off]
    if off:
        things = "One thing is" if len(off) == 1 else f"{len(off)} things are"
        words.notice(
            f"{things} off with {called}: {off[0]}. The badge beside the sentence has the list."
        )


def _of_page(n: int) -> str:
    """How many checks a page adds, where it adds any."""
    return f", {n} that this page adds" if n else ""


def _how_checked(view: View) -> str:
    """What a run is compared with."""
    found = runs.opened(view.handle)
    if isinstance(found, Adopted):
        return (
            "Attention is recomputed in float64 from q, k, v and the mask, and the output is "
            "compared with a run that nothing looks at."
        )
    if not isinstance(found, Checkpoint):
        return "Attention is recomputed in float64 from q, k, v and the mask."
    return (
        "Every array is compared with an independent run, numpy in float64 from the model’s files. "
        "Attention is also recomputed from q, k, v and the mask."
    )


def _described(view: View) -> str:
    """The sizes of the model, as far as they are known."""
    facts, group = view.run.trace.facts, view.group
    said = f"{len(group.records):,} layers × {group.n_heads:,} heads"
    if facts.d_model:
        said += f", d_model {facts.d_model:,}"
    if facts.max_seq_len:
        said += f", context {facts.max_seq_len:,}"
    return said


def _say_what_became_of_the_text(view: View) -> None:
    space = space_at_end(view.run.trace.tokens) if "decoder" in view.offers else ""
    if space:
        words.notice(space)
    n_shown, n_cut = len(view.run.trace.streams[0]), view.run.n_cut
    if n_cut:
        limit = runs.runnable(view.handle).model.limit
        words.notice(
            f"The sentence has {n_shown + n_cut} tokens, more than {limit}: "
            f"the first {n_shown} are shown, the last {n_cut} are cut."
        )
