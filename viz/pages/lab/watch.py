"""The trainings that there are: how one goes, beside others, and what its heads attend to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
import streamlit as st

from model.analysis.forming import formed
from model.files import folder_at
from model.lines import one_line, quoted
from model.names import head_name
from model.sources import places
from model.training import runs as trainings
from model.training.recipe import RECIPE_FILE
from model.training.runs import LIVE, Frames, Run
from viz.digits import digits, duration
from viz.figures.lab import Curve, curves
from viz.frame import address, box, controls, folder, layout, notices, state, words
from viz.frame.said import Link
from viz.frame.settings import (
    LAB_BESIDE,
    LAB_CURVE,
    LAB_CURVES,
    LAB_FOLDER,
    LAB_RUN,
    LAB_TEXT,
    MODEL,
    PAGE,
)
from viz.inside_streamlit import unbroken
from viz.pages.lab import forming
from viz.pages.lab.curves import (
    AXES,
    CURVES,
    RIGHT,
    about_smoothing,
    accuracy,
    last_of,
    losses,
    n_held_out,
    named,
    seconds_per_step,
    smoothing,
)
from viz.pages.lab.sharing import slowing
from viz.runs.forming import induction_scores

EVERY = 1.0  # seconds between two looks at a training that runs
MOST_SAMPLES = 6
OF_ONE = ("gradient", "induction")  # curves that are of the chosen training alone


def draw(found: Sequence[Run]) -> None:
    """The training that is chosen, beside others; drawn again each second while one runs."""
    folders, live = [run.folder for run in reversed(found)], _live(found)

    def step() -> None:
        if not all(folder.is_dir() for folder in folders):
            notices.run_again()  # one was deleted
        # Of two with one name the first is shown.
        runs = {run.name: run for run in map(trainings.run_of, folders)}
        if live != _live([*runs.values()]):
            # The clock of the fragment is the whole page's, and so is the rail. First of all: a
            # button that was drawn here could be pressed before the fragment is there again.
            notices.run_again()
        _show(runs)
        address.write("Lab", "training")

    st.fragment(notices.guarded(step), run_every=EVERY if live else None)()
    if folder.is_local():
        controls.text(LAB_FOLDER, "of one that was begun in a terminal, such as ~/models/mine")


def _live(runs: Sequence[Run]) -> set[str]:
    return {run.name for run in runs if run.state in LIVE}


def found() -> list[Run]:
    """Trainings that there are: one whose folder is named, those begun here, and the shipped."""
    place = state.value(LAB_FOLDER) if folder.is_local() else ""
    named = folder_at(place) if place.strip() else None
    if place.strip() and named is None:
        words.notice(
            f"{quoted(place)!r} is not a folder here; give that of a training", kind="error"
        )
    tops = trainings.shipped()
    shipped = sorted(x.parent for top in tops for x in top.glob(f"*/{RECIPE_FILE}"))
    runs = trainings.found_runs([*([named] if named else []), *shipped])
    return sorted(runs, key=lambda run: named is None or run.folder != named)


def _show(runs: Mapping[str, Run]) -> None:
    """The list of all, and of the one that is chosen where it stands and what it has become."""
    names = [*runs][::-1]
    setting = LAB_RUN.given(options=names, default=names[0], words=lambda name: _listed(runs[name]))
    run = runs[state.value(setting)]
    every = trainings.read_frames(run.folder)
    texts = LAB_TEXT.given(
        options=range(max(len(every), 1)), words=lambda i: every[i].text if every else ""
    )
    frames = every[state.value(texts)] if every else None
    with layout.row("lab"):
        # Lists of the kit: Streamlit's know an option by its words, and these change.
        lists = [setting, *([texts] if len(every) > 1 else [])]
        controls.pickers("pickers-lab", *map(controls.picker, lists), on_change=state.take_over)
        _buttons(run)
    words.paragraph(_stands(run))
    others = [f"{x.name}, {_how_far(x)}" for x in runs.values() if x.state in LIVE and x is not run]
    if line := slowing(others, is_one_more=run.state in LIVE):
        words.caption(line)
    if run.why:
        words.notice(run.why, kind="error")
    if run.recipe is None:
        return
    if run.lines or frames or run.state in LIVE:
        _film(run, frames, runs)
        _samples(run)
        _ways(run, frames)
    else:
        words.caption(_no_numbers(run))


def _listed(run: Run) -> str:
    """A training in the list of all: its name, what became of it and how far it has come."""
    if run.recipe is None:
        return f"{run.name} · cannot be read"
    far = "" if run.state == "finished" else f", {_how_far(run)}"
    return f"{run.name} · {_called(run)}{far}"


def _called(run: Run) -> str:
    return "ended by itself" if run.state == "failed" else run.state


def _how_far(run: Run) -> str:
    return f"step {run.step:,} of {run.total_steps:,}"


def _film(run: Run, frames: Frames | None, runs: Mapping[str, Run]) -> None:
    """The maps of all heads with their slider, and beside them a curve; below what is right."""
    scores = induction_scores(frames)
    found = formed(scores)
    maps, beside = layout.two_up("film", (2, 1)) if frames else (st.container(), st.container())
    with maps:
        forming.draw(run, frames, found)
    with beside:
        with layout.row("lab-curve"):
            name = _curve_of(run, scores)
            every = [run, *_overlaid(run, runs)]
        at = frames.steps[found.frame] if frames and found and len(every) == 1 else None
        if name == "induction":
            lines = forming.induction_curves(frames, scores, found)
        else:
            lines = [x for number, one in enumerate(every) for x in CURVES[name](number, one)]
        _curve(name, every, lines, at)
        if found and at is not None:
            head = head_name(*found.head)
            words.caption(f"Dotted: {head} attends after copies from step {at:,} on.")
    right = [x for number, one in enumerate(every) for x in accuracy(number, one)]
    if right:
        title = "Accuracy" if len(right) > 1 else f"Accuracy, {right[0].of}"
        layout.show_chart(curves(title, RIGHT, named(right), at), key="lab-accuracy")


def _overlaid(run: Run, runs: Mapping[str, Run]) -> list[Run]:
    """The trainings whose curves are drawn upon those of the chosen one."""
    chosen = controls.some(LAB_BESIDE, [name for name in runs if name != run.name])
    for name in {*state.value(LAB_BESIDE).splitlines()} - {*runs}:
        words.notice(f"There is no training {quoted(name)} to overlay.")
    for name in chosen:
        if runs[name].why:
            words.notice(f"{name}: {runs[name].why}", kind="error")
    return [runs[name] for name in chosen]


def _ways(run: Run, frames: Frames | None) -> None:
    """Where the model that it has come to is opened, on the text that is watched."""
    names = [name for name, there in places.folders().items() if there == run.folder]
    if names and frames:
        at = {MODEL.name: names[0], **box.address_of(frames.text)}
        attention, heads = (Link(page, {PAGE.name: page, **at}) for page in ("Attention", "Heads"))
        words.caption(["The model as it was saved last opens in ", attention, " and ", heads, "."])


def _curve_of(run: Run, scores: np.ndarray) -> str:
    """Which of its numbers are chosen."""
    there = {"induction": len(scores) > 0, "bits": bool(CURVES["bits"](0, run)[0].steps)}
    options = [name for name in LAB_CURVES if there.get(name, True)]
    return controls.select(LAB_CURVE.given(options=options))


def _curve(name: str, every: Sequence[Run], lines: Sequence[Curve], at: int | None) -> None:
    """These numbers over steps, of which one may be marked."""
    if not any(curve.steps for curve in lines):
        words.caption(_no_numbers(every[0]))
        return
    title = LAB_CURVE.words(name).capitalize()
    if name in OF_ONE and len(every) > 1:
        title = f"{title}, {every[0].name}"
    layout.show_chart(curves(title, AXES[name], named(lines), at), key="lab-curve")
    if name == "loss":
        for about in filter(None, map(about_smoothing, every)):
            words.caption(about)


def _no_numbers(run: Run) -> str:
    """Why there is no curve."""
    assert run.recipe is not None
    if run.lines:
        return "Its log has no such numbers."
    if run.state not in LIVE:
        return "It ended before the first line of its log: there are no numbers."
    return f"The first numbers come with step {min(run.recipe.log_every, run.total_steps):,}."


def _stands(run: Run) -> str:
    """As the terminal says it, at its step: a killed one had come further than what is saved."""
    run = replace(run, lines=tuple(line for line in run.lines if line["step"] <= run.step))
    parts = [f"{run.name}: {_called(run)}", _how_far(run)]
    if (loss := last_of(losses(0, run)[0])) is not None:
        parts += [f"{'smoothed ' if smoothing(run) else ''}loss {digits(loss, 3)}"]
    if (held_out := last_of(losses(0, run)[1])) is not None:
        parts += [f"held out {digits(held_out, 3)} on {n_held_out(run):,} tokens"]
    speed = last_of(CURVES["speed"](0, run)[0])
    if speed is not None:
        parts += [f"{speed / 1000:.1f} k tokens per second"]
    if run.state == "running" and (seconds := seconds_per_step(run)):
        parts += [f"{duration((run.total_steps - run.step) * seconds)} left"]
    return " · ".join(parts)


Act = tuple[str, str, Callable[[Path], object]]
PAUSE: Act = ("Pause", "pause", trainings.pause)
GO_ON: Act = ("Go on", "play_arrow", trainings.go_on)
STOP: Act = ("Stop", "stop", trainings.stop)
RESUME: Act = ("Resume", "play_arrow", trainings.resume)
DELETE: Act = ("Delete", "delete", trainings.delete)
ACTS: Mapping[str, Sequence[Act]] = {
    "starting": (PAUSE, STOP),
    "running": (PAUSE, STOP),
    "paused": (GO_ON, STOP),
    "stopping": (PAUSE, STOP),
    "stopped": (RESUME, DELETE),
    "failed": (RESUME, DELETE),
    "finished": (DELETE,),
}
# What stands there already, or still, so that no button moves under the hand that presses it.
NOT_NOW: Mapping[str, Sequence[Act]] = {"starting": (PAUSE,), "stopping": (PAUSE, STOP)}


def _buttons(run: Run) -> None:
    """What whoever runs the server can do; begun elsewhere, it is neither resumed nor deleted."""
    is_own = run.folder.resolve().parent == trainings.runs_folder().resolve()
    if not folder.is_local() or not (is_own or run.state in LIVE):
        return
    acts = [act for act in ACTS[run.state] if act is not RESUME or run.recipe is not None]
    with layout.cells("lab-acts"):
        for place, act in enumerate(acts):
            with layout.cell(f"lab-act-{place}"):
                if act is DELETE:
                    with st.popover("Delete", icon=":material/delete:"):
                        _button(("Delete it for good", *DELETE[1:]), run)
                else:
                    _button(act, run)


def _button(act: Act, run: Run) -> None:
    label, icon, does = act
    st.button(
        label,
        icon=f":material/{icon}:",
        key=f"lab-{label}",
        disabled=act in NOT_NOW.get(run.state, ()),
        on_click=unbroken(partial(_act, does)),
        args=(run.folder,),
    )


def _act(act: Callable[[Path], object], folder: Path) -> None:
    try:
        act(folder)
    except ValueError as error:
        notices.add(str(error))


def _samples(run: Run) -> None:
    """What the model wrote at evaluations, where it changed, the last few."""
    written = [(line["step"], one_line(line["sample"])) for line in run.lines if line.get("sample")]
    last = [next(same) for _, same in groupby(written, key=lambda x: x[1])][-MOST_SAMPLES:]
    if last:
        steps, texts = zip(*last, strict=True)
        table = {"from step": [f"{step:,}" for step in steps], "it writes": texts}
        words.table(table, texts=["it writes"])
