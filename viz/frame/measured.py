"""A measurement of time that a person asks for: the button, the bar while it runs, and Stop."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from model.analysis.timing import Timing
from viz.digits import digits
from viz.frame import gradual, words
from viz.runs.measuring import Measuring

BUTTON = gradual.Button("Measure on this machine", "Measure again", "timer")
UNSTEADY = 1.5  # spread of the times from which a page warns
Summary = TypeVar("Summary")


def measured_when_asked(
    key: str,
    made_with: object,
    begin: Callable[[], Measuring],
    summarise: Callable[[Sequence[Timing]], Summary | None],
) -> Summary | None:
    """The last measurement that was made with the same, summed up; None before and meanwhile.

    Nothing is to be drawn meanwhile: a browser at work on the same machine would be timed too.
    """
    work = gradual.when_asked(key, made_with, begin, BUTTON, lambda _: "Measuring …")
    summary = summarise(work.timings) if work is not None else None
    if work is not None and summary is None:
        words.notice("Stopped before enough was measured; there is nothing to show.")
    return summary


def say_disturbed(spread: float) -> None:
    """That the times of one length lie too far apart to trust, where they do."""
    if spread > UNSTEADY:
        words.notice(
            "Other work disturbed this measurement: half of the times of one length lie a factor "
            f"of {digits(spread, 1)} apart. Measure again when the machine is quiet.",
            kind="hint",
        )
