"""How long a head takes at growing lengths: exact, in a window, as a running sum; when asked."""

from collections.abc import Sequence
from functools import partial

from model.analysis.cheaper import Head
from model.analysis.cheaper_timing import EXACT, LINEAR, WINDOW
from model.analysis.timing import Timing, WaysSummary, growth_by_round, summarise_ways
from viz.digits import digits
from viz.figures.cache import timing_lines
from viz.frame import inspector, layout, words
from viz.frame.measured import fits_of, measured_when_asked, say_disturbed
from viz.frame.view import View
from viz.runs.measuring import measure_ways

ALLOWED_ERROR = 1e-5  # of a window as long as the text against the exact way
MEASURING = "measuring-ways"  # the measurement of this visitor


def section(view: View, head: Head, window: int) -> None:
    """Measure, and show the last measurement of this head."""
    layout.section(
        "Time against length",
        "Exact attention takes n² pairs; a window and a running sum grow as the text does.",
        "All three really run here, one head at a time, in torch on one CPU thread, so that other "
        "work disturbs little; the medians are shown. The head’s q, k and v are repeated to each "
        "length: times do not depend on what the numbers are. The window and the running sum take "
        "64 queries at a time.",
    )
    made_with = (view.run.key, view.record.site.address, view.head, window)
    begin = partial(measure_ways, head, window)
    found = measured_when_asked(MEASURING, made_with, begin, _summed_up)
    if found is not None:
        _measured(*found, window)


def _summed_up(timings: Sequence[Timing]) -> tuple[WaysSummary, Sequence[Timing]] | None:
    summary = summarise_ways(timings, (EXACT, WINDOW, LINEAR))
    return None if summary is None else (summary, timings)


def _measured(summary: WaysSummary, timings: Sequence[Timing], window: int) -> None:
    names = {way: way if way != "window" else f"window of {window}" for way in summary.seconds}
    lines = {names[way]: seconds for way, seconds in summary.seconds.items()}
    fits, fitted_from = fits_of(lines, summary.spread)
    longest = max(lines[EXACT])
    times = ", ".join(
        f"{name} {digits(1000 * seconds[longest], 2)} ms" for name, seconds in lines.items()
    )
    quartiles = {names[way]: summary.quartiles[way] for way in names}
    chart = timing_lines(lines, fits, fitted_from, "Time of one head by length", quartiles)
    layout.show_chart(chart, key="way-times")
    ranges = {names[way]: growth_by_round(timings, way, fitted_from) for way in names}
    _say(summary, fits, ranges, fitted_from, f"At {longest:,} tokens: {times}.")
    inspector.source(
        "model.analysis.cheaper_timing.exact",
        "model.analysis.cheaper_timing.windowed",
        "model.analysis.cheaper_timing.linear",
    )
    inspector.check(
        summary.difference <= ALLOWED_ERROR,
        "a window as long as the text gives the exact z, max error "
        f"{summary.difference:.1e} (allowed {ALLOWED_ERROR:.0e}).",
    )


def _say(
    summary: WaysSummary,
    fits: dict[str, tuple[float, float]],
    ranges: dict[str, tuple[float, float]],
    fitted_from: int,
    times: str,
) -> None:
    growing = ", ".join(
        f"{name} as n^{digits(a, 2)} ({' – '.join(digits(end, 2) for end in ranges[name])})"
        for name, (a, _) in fits.items()
    )
    fitted = (
        f" From {fitted_from:,} tokens on they grow: {growing} (dotted; in brackets the middle "
        "half of what single rounds say). Other work on the machine moves these powers: trust "
        "none of them further than its bracket."
        if fits
        else ""
    )
    words.caption(
        f"{times} Medians of {summary.n_rounds} rounds; bars: the middle half of them.{fitted}"
    )
    say_disturbed(summary.spread)
