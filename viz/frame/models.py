"""Which model runs: the chosen one, or one that offers what a page needs where that lacks it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from model.sources import places
from model.sources.handle import ModelHandle
from model.sources.places import step_of
from viz import runs
from viz.frame import admission, controls, folder, notices, opening, state
from viz.frame.examples import examples, pairs
from viz.frame.kinds import Choice
from viz.frame.page import Page
from viz.frame.settings import CELL, DEVICE, HEAD, LARGE, LAYER, MODEL, SENTENCE, SOURCE
from viz.frame.shipped import called, described
from viz.kit.parts.pickers import Picker
from viz.kit.wire import Option, Settings
from viz.runs.opening import Opening

EXAMPLE, VARIANT, SWITCHED = "example", "variant", "model-was-switched"
UNOPENED = "models-that-did-not-open"
ALIKE = "positions-"  # what the names of models begin with that differ in their positions alone


class Shown(NamedTuple):
    """The model that a page shows, and why it is not the chosen one; empty where it is."""

    name: str
    reason: str


def chosen() -> str:
    """The model that a person chose, for all pages; ValueError where there is none."""
    return state.value(_setting())


def is_ones_own() -> bool:
    """Whether a person chose the model: the first of all nobody need have chosen."""
    return chosen() != runs.model_names()[0]


def _setting() -> Choice[str]:
    names = runs.model_names()
    if not names:
        raise ValueError("no checkpoint in assets/checkpoints; train one, see README")
    return MODEL.given(options=names, default=names[0], words=described)


def why_not(page: Page) -> str:
    """Why the chosen model does not show a page itself, as far as is known; empty where it does."""
    try:
        if not runs.opens_at_once(_chosen_handle()):
            return ""  # its header would be read first
        reasons = runs.lacking(chosen(), page.needs)
    except ValueError:
        return ""  # the page says what is wrong
    return f"Does not apply to {called(chosen())}: {reasons[0]}" if reasons else ""


def shown_on(page: Page) -> Shown:
    """The chosen model, or the first whose files promise all that the page needs.

    ValueError where no model here does.
    """
    name = chosen()
    reasons = runs.lacking(name, page.needs)
    if not reasons:
        return Shown(name, "")
    for other in runs.model_names():
        if runs.architecture_of(other) and not runs.lacking(other, page.needs):
            return Shown(other, reasons[0])
    raise ValueError(
        f"{page.title} does not apply to {called(name)}: {reasons[0]}. No other model here "
        "can show it; train one, see README"
    )


def await_chosen() -> bool:
    """Whether a page can be drawn of the chosen model, or say why not; else it is being opened.

    What a person waited for is chosen once it is open.
    """
    try:
        admission.admit()
        _take_up()
        handle = _chosen_handle()
    except ValueError:
        return True  # the page says what is wrong
    if runs.opens_at_once(handle) or handle in _unopened():
        return True
    now = opening.coming()
    if now is None or now.place != places.folders()[handle.name]:
        now = _start(handle)
    if not now.wait(opening.PATIENCE):
        return False
    _take_up()
    return True


def _take_up() -> None:
    """Choose what is open now, or keep why it is not."""
    now = opening.coming()
    if now is None or not now.is_over:
        return
    try:
        name = opening.listed(now)
        if name != chosen():
            switch(name)
    except ValueError as error:
        if places.folders().get(chosen()) == now.place:
            _unopened()[_chosen_handle()] = str(error)
        else:
            notices.add(str(error))


def _unopened() -> dict[ModelHandle, str]:
    """Chosen models that could not be opened for this visitor, and why."""
    return st.session_state.setdefault(UNOPENED, {})


def refuse_unopened(handle: ModelHandle) -> None:
    """ValueError for a model that could not be opened."""
    if error := _unopened().get(handle):
        raise ValueError(error)


def stop_chosen() -> None:
    """Wait for the chosen model no longer, but go on with the first."""
    opening.stop()
    state.drop(_setting())


def _begins(name: str) -> bool:
    """Whether a model takes a while to open, which is begun: till then the page has its own."""
    try:
        handle = runs.handle_of(name, _device())
    except ValueError:
        return False  # the page says what is wrong
    if runs.opens_at_once(handle):
        return False
    _start(handle)
    return True


def _start(handle: ModelHandle) -> Opening:
    place = places.folders()[handle.name]
    return opening.start(place, handle.device, keeps_copy=folder.is_local())


def _device() -> str:
    devices = runs.device_names()
    return state.value(DEVICE.given(options=devices, default=devices[0]))


def _chosen_handle() -> ModelHandle:
    return runs.handle_of(chosen(), _device())


def switch(name: str) -> None:
    """Run another model from the next run on; of layer and head, the nearest it has."""
    state.put((MODEL, name))
    st.session_state[SWITCHED] = True


def was_switched() -> bool:
    """Whether another model was chosen since this was asked last."""
    return st.session_state.pop(SWITCHED, False)


def pickers(shown: str) -> ModelHandle:
    """Examples, models, and devices where there is a choice; gives back what is to run.

    Models that differ in one thing alone are one entry, with a list of their own beside it.
    """
    devices = runs.device_names()
    device = DEVICE.given(options=devices, default=devices[0])
    controls.pickers(
        "pickers-model",
        *_examples(runs.architecture_of(shown)),
        *_of_models(shown),
        *([controls.picker(device)] if len(devices) > 1 else []),
        on_change=_take_over,
    )
    folder.ask(state.value(device))
    return runs.handle_of(shown, state.value(device))


def _of_models(shown: str) -> list[Picker]:
    """Models, each once; beside the list what differs in one thing alone, and the steps of one."""
    setting = _setting()
    alike = [name for name in setting.options if name.startswith(ALIKE)]
    of, steps = _snapshots(shown, setting.options)
    one = of if of in alike else next(iter(alike), "")
    hidden = {*alike, *(name for name in setting.options if step_of(name) is not None)} - {one}
    options = [name for name in setting.options if name not in hidden]
    pickers = [folder.with_way_in(controls.picker(replace(setting, options=options), of))]
    if of in alike:
        variants = [Option(name, name.removeprefix(ALIKE)) for name in alike]
        pickers.append(Picker(VARIANT, "Encoding", variants, of))
    if steps:
        last = Option(of, "the last")
        every = [Option(name, f"{step_of(name):,}") for name in steps]
        pickers.append(Picker(VARIANT, "Step", [*every, last], shown, is_dragged=True))
    return pickers


def _snapshots(name: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """The model that one is of, and all that its training kept on its way, by their step."""
    of = name.rpartition("/")[0] if step_of(name) is not None else name
    own = [x for x in names if x.startswith(f"{of}/") and step_of(x) is not None]
    return of, sorted(own, key=lambda x: step_of(x) or 0)


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
        changes.setdefault(MODEL.name, variant)  # one of another model that is chosen already
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
            state.put((LARGE, True), chosen_for=example.model)
    if MODEL.name in changes and _begins(str(changes[MODEL.name])):
        del changes[MODEL.name]
    if MODEL.name in changes:
        st.session_state[SWITCHED] = True
    state.take_over(changes)
