"""How long one more token takes with a cache and without, measured here when a person asks."""

from functools import partial

import streamlit as st

from model.analysis.timing import TimingSummary, growth, summarise
from viz.figures.cache import timing_lines
from viz.frame import inspector, layout
from viz.frame.measured import UNSTEADY, measured_when_asked, say_disturbed
from viz.frame.view import View
from viz.runs.measuring import measure

ALLOWED_ERROR = 1e-5  # as in model.verify for cached decoding
MEASURING = "measuring"  # the measurement of this visitor


def section(view: View) -> None:
    """Measure, and show the last measurement of this model on this device."""
    layout.section(
        "Speed-up",
        "Without a cache, each new token means running the whole text again.",
        "Both ways really run here, on this model, at growing lengths, on one CPU thread where "
        "there is no GPU, so that other work disturbs little; the medians are shown.",
    )
    begin = partial(measure, view.handle)
    summary = measured_when_asked(MEASURING, view.handle, begin, summarise)
    if summary is not None:
        _measured(summary)


def _measured(summary: TimingSummary) -> None:
    """Both lines, the rates, how they grow, and whether both ways gave the same logits."""
    lines = {"without cache": summary.without, "with cache": summary.with_cache}
    longest = max(summary.without)
    slow, fast = summary.without[longest], summary.with_cache[longest]
    lengths = sorted(summary.without)
    fitted_from = lengths[(len(lengths) - 1) // 2]
    fits = {
        name: growth({n: s for n, s in seconds.items() if n >= fitted_from})
        for name, seconds in lines.items()
        if summary.spread <= UNSTEADY
    }
    rates = (summary.prefill, summary.decode)
    prefill, decode = ("–" if rate is None else f"{rate:,.0f}" for rate in rates)
    metrics = {
        f"Token {longest:,} without cache": f"{1000 * slow:.2f} ms",
        f"Token {longest:,} with cache": f"{1000 * fast:.2f} ms",
        "Prefill, tokens/s": prefill,
        "Decode, tokens/s": decode,
    }
    for column, (label, text) in zip(st.columns(4), metrics.items(), strict=True):
        column.metric(label, text)
    title = f"Time for one more token: {slow / fast:.1f} times shorter at {longest} tokens"
    chart = timing_lines(lines, fits, fitted_from, title)
    layout.show_chart(chart, key="pace")
    dotted = (
        f" Dotted: the power of the length n that fits from {fitted_from} tokens on; before that, "
        "starting each operation costs more than the arithmetic. With more tokens the power nears "
        "2 without the cache, since every token is compared with every other, and 1 with it."
    )
    st.caption(
        f"Medians of {summary.n_rounds} rounds. Prefill takes all tokens at once, decoding one at "
        f"a time.{dotted if fits else ''}"
    )
    inspector.source(
        "model.analysis.timing.time_tokens",
        "model.analysis.timing.medians",
        "model.analysis.timing.growth",
    )
    inspector.check(
        summary.difference <= ALLOWED_ERROR,
        f"both ways gave the same logits, max error {summary.difference:.1e} (allowed "
        f"{ALLOWED_ERROR:.0e}).",
    )
    say_disturbed(summary.spread)
