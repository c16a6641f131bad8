"""The trainings that there are: how one goes, beside others, and what its heads attend to."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import streamlit as st

from model.lines import one_line
from model.sources import places
from model.training import runs as trainings
from model.training.run import RECIPE_FILE
from model.training.runs import LIVE, Frames, Run
from viz.digits import digits
from viz.figures.lab import curves
from viz.frame import address, controls, folder, layout, notices, state, words
from viz.frame.said import Link
from viz.frame.settings import (
    LAB_BESIDE,
    LAB_CURVE,
    LAB_CURVES,
    LAB_FOLDER,
    LAB_RUN,
    MODEL,
    PAGE,
    SENTENCE,
)
from viz.inside_streamlit import unbroken
from viz.pages.lab import forming
from viz.pages.lab.curves import AXES, CURVES, RIGHT, accuracy, last_held_out, named

EVERY = 1.0  # seconds between two looks at a training that runs
MOST_BESIDE = 4  # heads of a layer whose maps stand beside the curves
MOST_SAMPLES = 6


def draw(found: Sequence[Run]) -> None:
    """The training that is chosen, drawn again each second while it runs, and where others lie."""
    runs = {run.name: run for run in found}
    if not runs:
        words.caption("There is none yet: begin one under “New training”, or name a folder.")
        _folder()
        return
    with layout.row("lab-runs"):
        names = list(runs)
        chosen = controls.select(LAB_RUN.given(options=names, default=names[0]), width=260)
        others = [name for name in names if name != chosen]
        beside = [runs[name] for name in controls.some(LAB_BESIDE, others)]
    folders = [runs[chosen].folder, *(run.folder for run in beside)]

    def step() -> None:
        shown, *overlaid = map(trainings.read_run, folders)
        _show(shown, overlaid)
        address.write("Lab", "training")
        if is_live != (shown.state in LIVE):
            notices.run_again()  # the clock of the fragment is the whole page's

    is_live = runs[chosen].state in LIVE
    st.fragment(notices.guarded(step), run_every=EVERY if is_live else None)()
    _folder()


def _folder() -> None:
    if folder.is_local():
        controls.text(LAB_FOLDER, "of one that was begun in a terminal, such as ~/models/mine")


def elsewhere() -> Sequence[Path]:
    """The folder of a training that a person named, if any, and those that come with Headlight."""
    place = state.value(LAB_FOLDER)
    named = [Path(place).expanduser()] if place.strip() else []
    return [*named, *sorted(x.parent for x in places.SHIPPED.glob(f"*/{RECIPE_FILE}"))]


def _show(run: Run, others: Sequence[Run]) -> None:
    """Where it stands, what can be done, its curves, its heads, and what it writes."""
    with layout.slim_row("lab-stands"):
        words.paragraph(_stands(run))
        _buttons(run)
    if run.why:
        words.notice(run.why, kind="error")
    frames, every = trainings.read_frames(run.folder), [run, *others]
    _ways(run, frames)
    is_small = frames is not None and frames.patterns.shape[2] <= MOST_BESIDE
    left, right = layout.two_up("lab-live")
    with left if is_small else st.container():
        forming.draw(run, frames)
    with right if is_small else st.container():
        _curves(every, frames)
    _samples(run)


def _ways(run: Run, frames: Frames | None) -> None:
    """Where the model that it has come to is opened, on the text that is watched."""
    names = [name for name, there in places.folders().items() if there == run.folder]
    if names and frames:
        at = {MODEL.name: names[0], SENTENCE.name: "".join(frames.tokens)}
        attention, heads = (Link(page, {PAGE.name: page, **at}) for page in ("Attention", "Heads"))
        words.caption(["The model as it was saved last opens in ", attention, " and ", heads, "."])


def _curves(every: Sequence[Run], frames: Frames | None) -> None:
    """The numbers that are chosen, and how much is right; where a head is named for induction."""
    scores = forming.induction_scores(frames)
    options = [name for name in LAB_CURVES if name != "induction" or len(scores)]
    name = controls.segments(LAB_CURVE.given(options=options))
    if name == "induction":
        found = forming.induction_curves(frames, scores)
    else:
        found = [x for number, one in enumerate(every) for x in CURVES[name](number, one)]
    marked = forming.formed(frames, scores)
    title = LAB_CURVE.words(name).capitalize()
    layout.show_chart(curves(title, AXES[name], named(found), marked), key="lab-curve")
    right = [x for number, one in enumerate(every) for x in accuracy(number, one)]
    if right:
        layout.show_chart(curves("Accuracy", RIGHT, named(right), marked), key="lab-accuracy")


def _stands(run: Run) -> str:
    """As the terminal says it."""
    parts = [f"step {run.step:,} of {run.total_steps:,}"]
    if run.lines:
        last = run.lines[-1]
        parts += [f"loss {digits(last['loss'], 3)}"]
        if (held_out := last_held_out(run)) is not None:
            parts += [f"held out {digits(held_out, 3)}"]
        if speed := last["tokens_per_second"]:
            parts += [f"{speed / 1000:.1f} k tokens per second"]
            left = (run.total_steps - run.step) * last["tokens"] / last["step"] / speed
            if run.state == "running":
                parts += [f"{left:.0f} s left" if left < 90 else f"{left / 60:.0f} min left"]
    return " · ".join([f"{run.name}: {run.state}", *parts])


ACTS: Mapping[str, Sequence[tuple[str, str, Callable[[Path], object]]]] = {
    "running": (("Pause", "pause", trainings.pause), ("Stop", "stop", trainings.stop)),
    "paused": (("Go on", "play_arrow", trainings.go_on), ("Stop", "stop", trainings.stop)),
    "stopped": (("Resume", "play_arrow", trainings.resume), ("Delete", "delete", trainings.delete)),
    "failed": (("Delete", "delete", trainings.delete),),
    "finished": (("Delete", "delete", trainings.delete),),
}


def _buttons(run: Run) -> None:
    """What can be done; what was not begun here is neither resumed nor deleted here."""
    is_own = run.folder.resolve().parent == trainings.runs_folder().resolve()
    for label, icon, act in ACTS.get(run.state, ()) if is_own or run.state in LIVE else ():
        st.button(
            label,
            icon=f":material/{icon}:",
            key=f"lab-{label}",
            on_click=unbroken(partial(_act, act)),
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
