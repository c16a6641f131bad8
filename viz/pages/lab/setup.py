"""What a training will be: its task, all its fields, what it costs, and its learning rates."""

import json
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model.data.text import text_of
from model.lines import quoted
from model.training import runs as trainings
from model.training.needs import needed_memory, planned, vocab_size_of
from model.training.presets import presets, title
from model.training.recipe import Entry, Recipe
from model.training.sized import recipe_for
from model.training.speed import expected_seconds
from viz.digits import NONE, duration
from viz.figures.cache import bytes_text
from viz.figures.lab import schedule
from viz.frame import controls, folder, gradual, layout, notices, state, words
from viz.frame.fields import can_be_set, field, put
from viz.frame.settings import LAB_FIELDS, LAB_RUN, LAB_TASK, LAB_VIEW
from viz.inside_streamlit import unbroken
from viz.pages.lab.sharing import slowing

OWN = "text"
FIRST = ("name", "steps", "n_layers", "n_heads", "d_model", "position", "seed")
FIXED = ("objective", "tokenizer_of", "weights_of", "architecture")  # not of what is begun here
COLUMNS = 4
LARGEST_FILE = 100  # MB; of a larger one the terminal trains
MOST_DRAWN = 500  # points of a learning rate
MINUTES, MOST_OFFERED = (2, 10, 60), 1_000_000  # times that are offered, and steps in one


def draw() -> None:
    """The task, the fields, the cost, and the button that begins it."""
    if not folder.is_local():
        words.notice("Trainings are begun by whoever runs this server; here they can be watched.")
        return
    shipped = presets()
    names = {name: name.replace("_", " ") for name in shipped} | {OWN: "your own text"}
    options, usual = list(names), "induction"
    task = controls.segments(
        LAB_TASK.given(options=options, default=usual, words=lambda name: names.get(name, name))
    )
    state.only_for(task, LAB_FIELDS)
    if task == OWN:
        text = _own_text()
        if not text:
            words.caption("Paste a text or choose a file: the model is sized by it.")
            return
        begin = partial(_set_up, recipe_for(len(text.encode()), "my-text"), text)
    else:
        words.paragraph(title(shipped[task]))
        begin = partial(_set_up, Recipe.load(shipped[task]), None)
    notices.guarded(begin)()


def _own_text() -> str:
    """What was pasted, or else the file that was chosen; empty where there is neither.

    ValueError where the file is no text.
    """
    pasted = st.text_area(
        "Text",
        key="lab-pasted",
        height=110,
        placeholder="Paste a text here",
        persist_state="session",  # while another task is looked at
    )
    if pasted.strip():
        return pasted
    file = st.file_uploader("or a text file", key="lab-file", max_upload_size=LARGEST_FILE)
    return text_of(file.getvalue(), quoted(file.name)) if file else ""


def _set_up(base: Recipe, text: str | None) -> None:
    changes = state.value(LAB_FIELDS).splitlines()
    try:
        recipe = _changed(base, changes)
        vocab_size = vocab_size_of(recipe, text)
        _, n_weights = planned(recipe, vocab_size)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        _fields(base, _as_typed(base, changes))
        raise ValueError(f"{error}; change a field to go on") from None
    _fields(base, recipe.entries)
    known = [
        (f"{n_weights:,}", "parameters"),
        (f"{recipe.plan.tokens_until(recipe.total_steps):,}", "tokens in all"),
        (bytes_text(needed_memory(recipe, vocab_size)), "memory, at most"),
    ]
    left, right = layout.two_up("lab-before")
    with left:
        costs = st.empty()
        with costs:
            words.facts([*known, ("…", "one step is being timed")])
        st.button(
            "Start training",
            icon=":material/play_arrow:",
            type="primary",
            on_click=unbroken(partial(_begin, recipe, text)),
        )
        if line := slowing(trainings.live_names(), is_one_more=True):
            words.caption(line)
    with right:
        steps = np.unique(np.linspace(1, recipe.total_steps, MOST_DRAWN).astype(int))
        shares = np.array([recipe.lr_share(int(step) - 1) for step in steps])
        rates = {"hidden matrices": recipe.matrix_lr, "all else": recipe.other_lr}
        layout.show_chart(schedule(steps, shares, rates), key="lab-schedule")
    # Last: it takes seconds, in which all else is there already.
    seconds = gradual.kept(
        "lab-seconds", (recipe, vocab_size), lambda: expected_seconds(recipe, vocab_size or 1)
    )
    with costs:
        takes = f"about {duration(seconds)}" if seconds else NONE
        words.facts([*known, (takes, "of steps, on one core")])
    with left:
        if seconds is None:
            words.caption("It is too large for a step of it to be timed while you wait.")
        else:
            _offer_times(base, recipe, seconds / recipe.total_steps)


def _changed(base: Recipe, changes: Sequence[str]) -> Recipe:
    """With fields set otherwise; ValueError, too, for one that makes it another task."""
    for change in changes:
        key = change.partition("=")[0].strip().removeprefix("model.")
        if key in (*FIXED, "stages", "model"):
            raise ValueError(f"{key} follows from the task and is not set here")
    return base.with_changes(changes)


def _offer_times(base: Recipe, recipe: Recipe, seconds_per_step: float) -> None:
    """How many steps fit into some minutes, as it was timed; a click takes so many."""
    if len(recipe.stages) != 1:
        return
    usual = base.total_steps
    words.caption("Set the steps by the time they take:")
    with st.container(horizontal=True, key="lab-times"):
        for minutes in MINUTES:
            n = int(_rounded_down(60 * minutes / seconds_per_step))
            if not 1 <= n <= MOST_OFFERED:
                continue
            st.button(
                f"{duration(60 * minutes)}: {n:,} steps",
                key=f"lab-minutes-{minutes}",
                disabled=n == recipe.total_steps,
                on_click=unbroken(partial(put, LAB_FIELDS, "steps", n, usual)),
            )


def _rounded_down(number: float) -> float:
    """To two digits: it was timed, not counted."""
    unit = 10.0 ** max(math.floor(math.log10(number)) - 1, 0) if number >= 1 else 1.0
    return math.floor(number / unit) * unit


def _begin(recipe: Recipe, text: str | None) -> None:
    try:
        name = trainings.start(recipe, text=text).name
    except ValueError as error:
        notices.add(str(error))
    else:
        state.put((LAB_RUN, name), (LAB_VIEW, "watch"))


# --- any field ----------------------------------------------------------------------------------


def _as_typed(base: Recipe, changes: Sequence[str]) -> list[Entry]:
    """The fields as a person set them, though no recipe has them so.

    What no field can hold, such as a word for a number in an address, is let go.
    """
    kept, entries = [], {x.key: x for x in base.entries}
    for change in changes:
        key, _, text = change.partition("=")
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            if key not in entries or not _fits(value, entries[key].value):
                continue
            if can_be_set(as_set := replace(entries[key], value=value)):
                entries[key] = as_set
                kept.append(change)
    if kept != changes:
        state.put((LAB_FIELDS, "\n".join(kept)))
    return list(entries.values())


def _fits(value: object, usual: object) -> bool:
    """Whether a control of a field that is usually so can hold a value."""
    if isinstance(usual, bool | str):
        return isinstance(value, type(usual))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fields(base: Recipe, every: Iterable[Entry]) -> None:
    """A control for each field: a few in sight, the others where they are asked for."""
    entries = {x.key: x for x in every if x.key not in FIXED}
    usual = {x.key: x.value for x in base.entries}
    with st.container(horizontal=True, vertical_alignment="bottom"):  # on a phone below each other
        for key in filter(entries.get, FIRST):
            field(LAB_FIELDS, entries.pop(key), usual)
    with st.expander("Every field"):
        columns = st.columns(COLUMNS)
        for number, entry in enumerate(entries.values()):
            with columns[number % COLUMNS]:
                field(LAB_FIELDS, entry, usual)
