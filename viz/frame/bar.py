"""The bar above every page: sentence, examples, model, head, and what the checks found."""

from collections.abc import Sequence
from concurrent.futures import wait

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis.probabilities import given_probabilities
from model.lines import quoted
from model.verify.check import Check
from viz import VERSION, runs
from viz.frame import admission, controls, inspector, memory, notices, state, words
from viz.frame.examples import examples
from viz.frame.settings import CELL, DEVICE, HEAD, HEAD_GROUP, LAYER, MODEL, SENTENCE
from viz.frame.view import View
from viz.live import component
from viz.live.core.wire import Option, Settings
from viz.live.pickers.data import Picker
from viz.live.sentence_box.data import sentence_data
from viz.theme import palette

CHECK_EVERY = 0.1  # seconds
EXAMPLE, SWITCHED = "example", "model-was-switched"


def place() -> DeltaGenerator:
    """Where the bar stands; its two rows are drawn before and after the model runs."""
    return st.container(key="bar")


def open_view(where: DeltaGenerator, *, has_caret: bool = False) -> View:
    """Draw the controls every page has into the bar, and run the model on the sentence.

    `has_caret` has the sentence box take the keyboard when the page is opened.

    ValueError where there is no checkpoint, or the chosen one cannot be used.
    """
    admission.admit()
    notices.begin()
    names = runs.model_names()
    if not names:
        raise ValueError("no checkpoint in assets/checkpoints; train one, see README")
    with where, st.container(horizontal=True, vertical_alignment="top", key="controls"):
        text, count = _sentence_box(has_caret=has_caret)
        # Before the run: beside a model that cannot be used, another one can be chosen.
        handle = runs.handle_of(*_model_pickers(names))
        takes_text = runs.opened(handle).input_kind == "text"
        sentence = (text if text.strip() else examples()[0].sentence) if takes_text else ""
        run = runs.run(handle, sentence)
        memory.keep_alive("run", run)
        if takes_text:
            _count_tokens(count, run, has_text=bool(text.strip()))
        attention, layer, head = _head_pickers(run)
    colors = palette(st.context.theme.type)
    view = View(sentence, handle, run, attention, layer, head, colors)
    for line in runs.unusable_models():
        notices.add(line)
    notices.show()
    if not takes_text:
        words.notice(f"{view.model} takes no sentence: it shows an input of its own.")
    _say_what_became_of_the_text(view)
    return view


def show_tokens(where: DeltaGenerator, view: View, *, is_elsewhere: bool) -> DeltaGenerator:
    """The second row of the bar: the tokens with what was predicted of them, and room for a badge.

    Where the page shows them itself, it says what the model is instead. Returns the badge's place.
    """
    trace = view.run.trace
    given = given_probabilities(trace) if "logits" in view.offers else None
    with where, st.container(horizontal=True, vertical_alignment="center", key="status"):
        if is_elsewhere:
            st.caption(f"{view.model}: {_described(view)}")
        elif len(trace.streams) == 1:
            words.token_strip(trace.tokens, given)
        else:
            for stream in trace.streams:
                words.token_row(stream.name, stream.labels)
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


def _sentence_box(*, has_caret: bool) -> tuple[str, DeltaGenerator]:
    """What is typed, and the place in its box where its tokens are counted after the run."""
    text = state.value(SENTENCE.given(default=examples()[0].sentence))
    with st.container(key="sentence"):
        data = sentence_data(text, has_caret=has_caret)
        component.show_control("sentence-box", data, on_change=state.take_over)
        count = st.empty()
    if not text.strip():
        notices.add("Type a sentence to see it here. Until then, this is the example.")
    return text, count


def _count_tokens(place: DeltaGenerator, run: runs.Run, *, has_text: bool) -> None:
    """How many tokens the sentence has of those that fit; an example stands in for none."""
    n_tokens = len(run.trace.tokens) + run.n_cut if has_text else 0
    context = run.trace.facts.max_seq_len
    if context is None:
        place.html(f'<p class="hl-count">{n_tokens} tokens</p>')
        return
    excess = " hl-excess" if run.n_cut else ""
    place.html(f'<p class="hl-count{excess}">{n_tokens} / {context} tokens</p>')


def _model_pickers(names: Sequence[str]) -> tuple[str, str]:
    """Examples, models, and devices where there is a choice; gives back model and device."""
    options = [Option(example.title, example.title) for example in examples()]
    model = MODEL.given(options=names, default=names[0], words=runs.described)
    devices = runs.device_names()
    device = DEVICE.given(options=devices, default=devices[0])
    controls.pickers(
        "pickers-model",
        Picker(EXAMPLE, "Examples", options, "", placeholder="choose one"),
        controls.picker(model),
        *([controls.picker(device)] if len(devices) > 1 else []),
        on_change=_take_over,
    )
    return state.value(model), state.value(device)


def _take_over(changes: Settings) -> None:
    """Open the example that was chosen; keep what else was."""
    title = changes.pop(EXAMPLE, None)
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
    state.take_over(changes)


def _head_pickers(run: runs.Run) -> tuple[str, int, int]:
    """The group of heads, where there is more than one, and layer and head in it."""
    titles, first = {group.name: group.title for group in run.trace.groups}, examples()[0]
    names = list(titles)
    kind = HEAD_GROUP.given(options=names, default=names[0], words=titles.get)
    group = run.trace.group(state.value(kind))
    layers, heads = range(len(group.records)), range(group.n_heads)
    layer = LAYER.given(options=layers, default=min(first.layer, layers[-1]))
    head = HEAD.given(options=heads, default=min(first.head, heads[-1]))
    if st.session_state.pop(SWITCHED, False):  # nobody asked for another layer or head
        state.settle_quietly(layer)
        state.settle_quietly(head)
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
    with st.popover(inspector.verdict(checks, f"{device} · "), key="badge"):
        st.markdown(f"**{view.model}**: {_described(view)}, running on **{device}**")
        n_of_run = len(view.run.checks)
        st.caption(
            f"{n_of_run} checks of this run{_of_page(len(checks) - n_of_run)}. "
            f"{_how_checked(view)} Attention is also recomputed in float64 from q, k, v and the "
            "mask, and the whole sentence runs again without capture. Errors are the largest "
            "difference found, relative to the largest value where above one."
        )
        words.checks_table(checks)
        if card := runs.card(view.handle):
            st.caption("What was written about this model:")
            with st.container(height=220, key="card"):
                st.text(card)
        st.caption(f"Headlight {VERSION}")


def _of_page(n: int) -> str:
    """How many checks a page adds, where it adds any."""
    return f", {n} of what this page shows" if n else ""


def _how_checked(view: View) -> str:
    """What a run is compared with."""
    if view.run.independent is None:
        return "There are no files of this model to run once more."
    return (
        "Every array is compared with an independent run, numpy in float64 from the model's files; "
        "so is what the browser draws, as the line at the foot of the page says."
    )


def _described(view: View) -> str:
    """The sizes of the model, as far as they are known."""
    facts, group = view.run.trace.facts, view.group
    parts = [f"{len(group.records)} layers × {group.n_heads} heads"]
    parts += [f"d_model {facts.d_model}"] if facts.d_model else []
    parts += [f"context {facts.max_seq_len}"] if facts.max_seq_len else []
    return ", ".join(parts)


def _say_what_became_of_the_text(view: View) -> None:
    if view.run.reads is not None:
        words.notice(
            f"The tokenizer of {view.model} turns the sentence into “{quoted(view.run.reads)}”."
        )
    n_shown, n_cut = len(view.tokens), view.run.n_cut
    if n_cut:
        words.notice(
            f"The sentence has {n_shown + n_cut} tokens, the model's context is {n_shown}: "
            f"the first {n_shown} are shown, the last {n_cut} are cut."
        )
