"""Scaling: how large a model and how much text a compute pays for, by two laws and by our own."""

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from model.analysis.scaling import (
    COMPUTES,
    KNOWN_RUNS,
    LAWS,
    OCTAVES,
    PRINTED,
    REFITTED,
    Choice,
    Law,
    chosen,
    iso_compute,
)
from model.analysis.scaling_fit import DELTA, residuals
from viz.digits import digits
from viz.figures.scaling import best_sizes, equal_compute, own_runs
from viz.formulas import scaling as formulas
from viz.frame import controls, inspector, layout, scenes, tables, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Said
from viz.frame.settings import SCALING_COMPUTE, SCALING_COUNTED, SCALING_LAW, SCALING_TIMES
from viz.frame.view import View
from viz.runs import scaling

BILLION = 1e9
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
GRID = 2.0 ** np.linspace(16, 26, 41)  # tokens: 65,536 to 67,108,864
UNKNOWNS = {
    "E": "floor",
    "A": "a",
    "B": "b",
    "α": "alpha",
    "β": "beta",
    "β / (α + β)": "exponent",
}
UNITS = {"trillion": 1e12, "billion": 1e9, "million": 1e6, "thousand": 1e3}


def in_words(value: float) -> str:
    """A number of parameters, tokens or operations in trillions, billions …"""
    unit, size = next((one for one in UNITS.items() if value >= one[1]), ("thousand", 1e3))
    return f"{digits(value / size, 1)} {unit}"


def operations(power: float) -> str:
    """A power of ten, as 6.3 × 10²³."""
    whole = math.floor(power)
    return f"{digits(10 ** (power - whole), 1)} × 10{str(whole).translate(RAISED)}"


def _compute() -> float:
    """The power of ten of the compute that is chosen."""
    with scenes.to_set():
        return controls.slider(SCALING_COMPUTE)


def _law() -> Law:
    with scenes.to_set():
        return LAWS[controls.select(SCALING_LAW, width=220)]


# --- two laws ---------------------------------------------------------------------------------


def _laws(_: View) -> Numbers:
    """Lines of all laws, and models that were really trained."""
    compute, law = 10 ** _compute(), _law()
    here = chosen(law, compute)
    names = [f"{run.name}, {digits(run.parameters / BILLION, 0)}" for run in KNOWN_RUNS]
    computes = np.array([run.compute for run in KNOWN_RUNS])
    sizes = np.array([run.parameters for run in KNOWN_RUNS])
    laws = {law.name: law.best_size(COMPUTES) for law in LAWS.values()}
    chart = best_sizes(COMPUTES, laws, (names, computes, sizes), (compute, here.size))
    layout.show_chart(chart, key="scaling-sizes")
    _show_formula(law, here)
    both = {x.name: _answer(x, compute) for x in (law, LAWS["kaplan"])}
    return {"answer": "; for ".join(both.values())}


def _answer(law: Law, compute: float) -> str:
    """What twice the compute pays for best, by a law."""
    once, twice = (chosen(law, times * compute) for times in (1, 2))
    size, tokens = (digits(x, 2) for x in (twice.size / once.size, twice.tokens / once.tokens))
    return f"{size} times the parameters and {tokens} times the text by {law.name}"


def _table(_: View) -> Numbers:
    """What every law says of the compute that is chosen."""
    power = _compute()
    found = [chosen(law, 10**power) for law in LAWS.values()]
    words.table(
        {
            "law": [law.name for law in LAWS.values()],
            "N grows as C to the": [digits(law.exponent, 3) for law in LAWS.values()],
            "parameters": [in_words(one.size) for one in found],
            "tokens": [in_words(one.tokens) for one in found],
            "tokens per parameter": [digits(one.tokens / one.size, 2) for one in found],
            "loss, nats": ["–" if np.isnan(one.loss) else digits(one.loss) for one in found],
            "source": [law.source for law in LAWS.values()],
        },
        texts=["source"],
    )
    return {"operations": operations(power)}


def _equal(_: View) -> Numbers:
    """Loss of all sizes at this compute, at a tenth and at ten times of it."""
    power = _compute()
    with scenes.to_set():
        octave = controls.steps(SCALING_TIMES)
    law = _law()
    here = chosen(law, 10**power, octave)
    assert law.loss is not None  # the laws to choose from have one
    curves, best = [], []
    for at in (power - 1, power, power + 1):
        compute = 10**at
        sizes = float(law.best_size(np.array(compute))) * 2.0**OCTAVES
        curves.append((operations(at), sizes, iso_compute(law.loss, compute, sizes)))
        best.append(chosen(law, compute))
    at_best = np.array([one.size for one in best]), np.array([one.loss for one in best])
    title = f"Loss at equal compute, {law.name}"
    chart = equal_compute(curves, at_best, (here.size, here.loss), title)
    layout.show_chart(chart, key="scaling-equal")
    _show_formula(law, here)
    return {
        "law": law.name,
        "operations": operations(power),
        "size": in_words(here.size),
        "tokens": in_words(here.tokens),
        "loss": digits(here.loss),
        "best": digits(best[1].loss) if octave else None,
    }


def _show_formula(law: Law, here: Choice) -> None:
    at = (here.size, here.tokens, here.loss)
    given = {LAWS["printed"]: PRINTED, LAWS["refitted"]: REFITTED}.get(law)
    inspector.formula(
        "model.analysis.scaling.iso_compute",
        formulas.parametric(given, *at, law.source) if given else formulas.kaplan(*at),
    )


# --- a law of our own ---------------------------------------------------------------------------


def _counted() -> str:
    with scenes.to_set():
        return controls.segments(SCALING_COUNTED, has_label=True)


def _own(view: View) -> Numbers:
    """Models trained here, their losses, the law that is fitted to them, and one far outside."""
    stored, counted = scaling.stored(), _counted()
    held, beside = scaling.fitted(counted), stored.beside
    n, d = (float(x) for x in (beside.size(counted), beside.tokens))
    by_size = [stored.of_width(width) for width in stored.widths]
    sizes = [
        (
            f"{in_words(runs[0].size(counted))} parameters",
            np.array([run.tokens for run in runs]),
            np.array([run.loss for run in runs]),
            held.law.loss(np.array(float(runs[0].size(counted))), GRID),
        )
        for runs in by_size
    ]
    far = beside.name, beside.tokens, beside.loss, held.law.loss(np.array(n), GRID)
    layout.show_chart(own_runs(GRID, sizes, far), key="scaling-own")
    inspector.formula("model.analysis.scaling_fit.fit", formulas.huber(DELTA))
    with st.expander("Every training, and how well the law holds"):
        _fit(view, counted)
    most = min(runs[-1].tokens for runs in by_size)  # that models of every size were trained on
    small, *_, large = (run for runs in by_size for run in runs if run.tokens == most)
    by_fit, *others = (
        float(law.loss(np.array(n), np.array(d))) for law in (held.law, *held.without)
    )
    return {
        "runs": str(len(stored.runs)),
        "most": f"{most:,}",
        "times": digits(large.size(counted) / small.size(counted), 1),
        "small": digits(small.loss, 2),
        "large": digits(large.loss, 2),
        "beside": f"“{beside.name}”, {in_words(n)} parameters, {in_words(d)} tokens",
        "measured": digits(beside.loss, 2),
        "fit": digits(by_fit, 2),
        "lowest": digits(min(others), 2),
        "highest": digits(max(others), 2),
    }


def _fit(view: View, counted: str) -> None:
    """The law's numbers with and without one run, and every run with what the law says of it."""
    stored, held = scaling.stored(), scaling.fitted(counted)
    points = stored.points(counted)
    spread: dict[str, Sequence[Said]] = {
        "": ["all runs", "lowest without one run", "highest without one run"]
    }
    for name, field in UNKNOWNS.items():
        whole, *others = (getattr(law, field) for law in (held.law, *held.without))
        spread[name] = [digits(x) for x in (whole, min(others), max(others))]
    words.table(spread)
    runs = {
        "d_model × layers": [f"{run.d_model} × {run.n_layers}" for run in stored.runs],
        "parameters": [run.size(counted) for run in stored.runs],
        "tokens": [run.tokens for run in stored.runs],
        "operations": [run.flops for run in stored.runs],
        "measured": points.loss.tolist(),
        "fit": held.law.loss(points.n, points.d).tolist(),
        "measured − fit": residuals(held.law, points).tolist(),
        "measured − fit to the others": (points.loss - held.left_out(points)).tolist(),
    }
    as_text = {"parameters": "{:,}".format, "tokens": "{:,}".format, "operations": in_words}
    words.table(
        {name: list(map(as_text.get(name, _rounded), values)) for name, values in runs.items()}
    )
    inspector.export(view, {"Own runs": lambda: tables.csv(runs)}, has_charts=False)


def _rounded(value: str | float) -> str:
    return value if isinstance(value, str) else digits(value, 3)


PAGE = Page(
    "Scaling",
    ":material/trending_up:",
    "Is a larger model better, and by how much?",
    needs=("decoder",),
    scenes={"own": _own, "laws": _laws, "equal": _equal, "why": _table},
    wide=("why",),
    source=(
        "model.analysis.scaling.Parametric",
        "model.analysis.scaling.kaplan_loss",
        "model.analysis.scaling.kaplan_size",
        "model.analysis.scaling_fit.fit",
    ),
)
