"""The proof of what a lens says: from which layer on a second prompt's stream turns the answer."""

from collections.abc import Sequence

from model.analysis.turning import Turning
from viz import runs
from viz.digits import digits
from viz.figures.lens import turning_curve
from viz.frame import gradual, inspector, layout, second, words
from viz.frame.said import Said, Word
from viz.frame.view import View
from viz.labels import clipped, told_apart
from viz.runs import Run, lenses

TURNING = "turning"  # of this visitor
ALLOWED = 1e-5
SOON = 0.3  # seconds in which a small model runs them all: then nobody sees a bar
LABEL_CHARACTERS = 24


def draw(view: View) -> None:
    """From which layer on the stream of a second prompt turns the answer, by runs of the model."""
    layout.section(
        "Is it there?",
        "Put the stream of a second prompt in, after one layer: from where on does it turn the "
        "answer?",
        "Each layer is a run of its own: the stream at the last token of the sentence is replaced, "
        "after that layer alone, by that of the second prompt (activation patching, Meng et al. "
        "2022). A lens says what can be read; this says what the model goes on to use.",
    )
    other = second.run(view)
    if other is None:
        words.notice(second.ASKS)
        return
    try:
        work = gradual.kept(
            TURNING, (view.handle, view.run.key, other.key), lambda: _turning(view, other)
        )
    except ValueError as error:
        words.notice(f"{str(error).capitalize()}.")
        return
    names = told_apart(runs.vocabulary(view.handle), (work.answer, work.other))
    answers = tuple(clipped(names[i], LABEL_CHARACTERS) for i in (work.answer, work.other))

    def figure() -> None:
        chart = turning_curve(work.filling.exact, view.layer, answers)
        layout.show_chart(chart, key="turning")

    gradual.draw(work.filling, figure, lambda: _how_many(work), TURNING)
    words.notice(_turned(work, answers, view.layer))
    if work.turns_at is not None:
        inspector.check(
            work.error <= ALLOWED * max(1.0, abs(work.full)),
            "with the last layer’s stream put in, the logits are the second prompt’s own, error "
            f"{work.error:.1e}.",
        )


def _turning(view: View, other: Run) -> Turning:
    work = lenses.turned(view.handle, view.run, other)
    work.filling.is_running = gradual.begins_unasked(view, len(work.filling.exact))
    work.filling.advance(SOON)
    return work


def _how_many(work: Turning) -> str:
    filling = work.filling
    return "" if filling.is_done else f"{filling.n_done} of {len(filling.exact)} layers are run."


def _turned(work: Turning, answers: Sequence[str], layer: int) -> Said:
    answer, other = map(Word, answers)
    at = work.turns_at
    if at is None:
        return "Not all layers are run yet."
    here = float(work.filling.exact[layer])
    there = "turns it" if here > 0 else "does not turn it"
    return [
        "Put in from the second prompt, the stream turns “", answer, "” into “", other,
        f"” from L{at} on. After L{layer} it {there}: the logits differ by {digits(here, 2)}.",
    ]  # fmt: skip
