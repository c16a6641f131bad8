"""The bar above every page: sentence, examples, model, head, and what the checks found."""

from collections.abc import Sequence

import streamlit as st

from model.analysis.probabilities import given_probabilities
from model.verify.check import Check
from viz import VERSION, runs
from viz.frame import controls, inspector, memory, notices, state, words
from viz.frame.examples import examples
from viz.frame.settings import CELL, DEVICE, HEAD, HEAD_GROUP, LAYER, MODEL, SENTENCE
from viz.frame.view import View
from viz.theme import palette

EXAMPLE, SWITCHED = "example", "model-was-switched"


def open_view() -> View:
    """Draw the controls every page has and run the model on the sentence.

    ValueError where there is no checkpoint, or the chosen one cannot be used.
    """
    notices.begin()
    names = runs.model_names()
    if not names:
        raise ValueError("no checkpoint in assets/checkpoints; train one, see README")
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        sentence = _sentence_box()
        _example_picker()
        # Before the run: beside a model that cannot be used, another one can be chosen.
        model = controls.select(MODEL.given(options=names, default=names[0]), width=190)
        handle = runs.handle_of(model, _device_picker())
        takes_text = runs.opened(handle).input_kind == "text"
        sentence = sentence if takes_text else ""
        run = runs.run(handle, sentence)
        memory.keep_alive("run", run)
        attention, layer, head = _head_pickers(run)
    colors = palette(st.context.theme.type)
    view = View(sentence, handle, run, attention, layer, head, colors)
    notices.show()
    if not takes_text:
        words.notice(f"{view.model} takes no sentence: it shows an input of its own.")
    _say_cut(view)
    return view


def show_status(view: View, more_checks: Sequence[Check]) -> None:
    """The tokens with what was predicted of them, and the checks of this run and of the page."""
    trace = view.run.trace
    given = given_probabilities(trace) if "logits" in view.offers else None
    with st.container(horizontal=True, vertical_alignment="center", key="status"):
        if len(trace.streams) == 1:
            words.token_strip(trace.tokens, given)
        else:
            for stream in trace.streams:
                words.token_row(stream.name, stream.labels)
        _badge(view, (*view.run.checks, *more_checks))


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


def _sentence_box() -> str:
    first = examples()[0].sentence
    text = controls.text(SENTENCE.given(default=first), placeholder="Type a sentence")
    if text.strip():
        return text
    notices.add("Type a sentence to see it here. Until then, this is the example.")
    return first


def _example_picker() -> None:
    by_sentence = {example.sentence: example for example in examples()}

    def open_example() -> None:
        example = by_sentence[st.session_state[EXAMPLE]]
        state.put(
            (SENTENCE, example.sentence),
            (LAYER, example.layer),
            (HEAD, example.head),
            (CELL, example.cell),
            chosen_for=example.sentence,
        )
        st.session_state[EXAMPLE] = None

    st.selectbox(
        "Examples",
        list(by_sentence),
        index=None,
        key=EXAMPLE,
        placeholder="choose one",
        format_func=lambda sentence: f"{sentence[:24]}…",
        on_change=open_example,
        width=210,
    )


def _device_picker() -> str:
    """The device to run on, where there is a choice; else the only one there is."""
    devices = runs.device_names()
    if len(devices) == 1:
        return devices[0]
    return controls.select(DEVICE.given(options=devices, default=devices[0]), width=100)


def _head_pickers(run: runs.Run) -> tuple[str, int, int]:
    """The group of heads, where there is more than one, and layer and head in it."""
    titles, first = {group.name: group.title for group in run.trace.groups}, examples()[0]
    names = list(titles)
    setting = HEAD_GROUP.given(options=names, default=names[0], words=titles.get)
    name = controls.select(setting, width=190) if len(names) > 1 else state.value(setting)
    group = run.trace.group(name)
    layers, heads = range(len(group.records)), range(group.n_heads)
    layer = LAYER.given(options=layers, default=min(first.layer, layers[-1]))
    head = HEAD.given(options=heads, default=min(first.head, heads[-1]))
    if st.session_state.pop(SWITCHED, False):  # nobody asked for another layer or head
        state.settle_quietly(layer)
        state.settle_quietly(head)
    return name, controls.select(layer, width=90), controls.select(head, width=90)


def _badge(view: View, checks: Sequence[Check]) -> None:
    """Model, device, and how many checks this run passed, with the list behind it."""
    device = view.handle.device.upper()
    with st.popover(inspector.verdict(checks, f"{device} · "), key="badge"):
        st.markdown(f"**{view.model}**: {_described(view)}, running on **{device}**")
        st.caption(
            "Attention is recomputed in float64 from q, k, v and the mask; what needs weights runs "
            "again through the model's own modules, and the whole sentence without capture. Errors "
            "are the largest difference found, relative to the largest value where above one."
        )
        inspector.checks_table(checks)
        st.caption(f"Headlight {VERSION}")


def _described(view: View) -> str:
    """The sizes of the model, as far as they are known."""
    facts, group = view.run.trace.facts, view.group
    parts = [f"{len(group.records)} layers × {group.n_heads} heads"]
    parts += [f"d_model {facts.d_model}"] if facts.d_model else []
    parts += [f"context {facts.max_seq_len}"] if facts.max_seq_len else []
    return ", ".join(parts)


def _say_cut(view: View) -> None:
    n_shown, n_cut = len(view.tokens), view.run.n_cut
    if n_cut:
        words.notice(
            f"The sentence has {n_shown + n_cut} tokens, the model's context is {n_shown}: "
            f"the first {n_shown} are shown, the last {n_cut} are cut."
        )
