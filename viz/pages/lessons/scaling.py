"""Scaling: how large a model and how much text a compute pays for, by two laws and by our own."""

from collections.abc import Iterable, Sequence

import numpy as np

from model.analysis.scaling import (
    COMPUTES,
    KNOWN_RUNS,
    LAWS,
    OCTAVES,
    PRINTED,
    REFITTED,
    Choice,
    chosen,
    iso_compute,
)
from model.analysis.scaling_fit import DELTA, Held, residuals
from model.analysis.scaling_runs import Stored, StoredRun
from viz import formulas_scaling as formulas
from viz.digits import digits
from viz.figures.scaling import best_sizes, equal_compute, own_runs, training_curves
from viz.formulas import Formula
from viz.frame import controls, inspector, layout, scenes, tables, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Said
from viz.frame.settings import SCALING_COMPUTE, SCALING_COUNTED, SCALING_LAW, SCALING_TIMES
from viz.frame.view import View
from viz.runs import scaling

BILLION = 1e9
GIVEN = {"printed": PRINTED, "refitted": REFITTED}
GRID = 2.0 ** np.linspace(16, 26, 41)  # tokens: 65,536 to 67,108,864
UNKNOWNS = {"E": "floor", "A": "a", "B": "b", "α": "alpha", "β": "beta"}
UNITS = {"trillion": 1e12, "billion": 1e9, "million": 1e6, "thousand": 1e3}


def in_words(value: float) -> str:
    """A number of parameters, tokens or operations in trillions, billions …"""
    unit, size = next((one for one in UNITS.items() if value >= one[1]), ("thousand", 1e3))
    return f"{digits(value / size, 1)} {unit}"


def _compute() -> float:
    """The power of ten of the compute that is chosen."""
    with scenes.to_set():
        return controls.slider(SCALING_COMPUTE)


def _law() -> str:
    with scenes.to_set():
        return controls.select(SCALING_LAW, width=220)


# --- two laws ---------------------------------------------------------------------------------


def _laws(_: View) -> Numbers:
    """Lines of all laws, and models that were really trained."""
    compute, name = 10 ** _compute(), _law()
    here = chosen(LAWS[name], compute)
    names = [f"{run.name}, {digits(run.parameters / BILLION, 0)}" for run in KNOWN_RUNS]
    computes = np.array([run.compute for run in KNOWN_RUNS])
    sizes = np.array([run.parameters for run in KNOWN_RUNS])
    laws = {law.name: law.best_size(COMPUTES) for law in LAWS.values()}
    chart = best_sizes(COMPUTES, laws, (names, computes, sizes), (compute, here.size))
    layout.show_chart(chart, key="scaling-sizes")
    _show_formula(name, here)
    return {"answer": _answer(compute, dict.fromkeys((name, "kaplan")))}


def _answer(compute: float, names: Iterable[str]) -> str:
    """What twice the compute pays for best, by these laws."""
    said = []
    for name in names:
        once, twice = (chosen(LAWS[name], times * compute) for times in (1, 2))
        more = [twice.size / once.size, twice.tokens / once.tokens]
        said.append(
            f"{digits(more[0], 2)} times the parameters and {digits(more[1], 2)} times the text by "
            f"{SCALING_LAW.words(name)}"
        )
    return "; for ".join(said)


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
    words.caption(
        "Losses of Kaplan and of approach 3 are of other texts and tokenizers: the smaller one "
        "does not win. The approaches are Chinchilla’s; 1 and 2 are drawn through the 67 and 63 "
        "billion parameters that the paper gives for Gopher’s compute. The third as printed asks "
        "for smaller models than the other two: its printed constants are rounded, and the fit "
        "had stopped too early (Besiroglu et al. 2024); fitted again it agrees with them."
    )
    return {"power": digits(power, 1)}


def _equal(_: View) -> Numbers:
    """Loss of all sizes at this compute, at a tenth and at ten times of it."""
    power = _compute()
    with scenes.to_set():
        octave = controls.steps(SCALING_TIMES)
    name = _law()
    law, here = LAWS[name], chosen(LAWS[name], 10**power, octave)
    assert law.loss is not None  # the laws to choose from have one
    curves, best = [], []
    for at in (power - 1, power, power + 1):
        compute = 10**at
        sizes = float(law.best_size(np.array(compute))) * 2.0**OCTAVES
        curves.append((f"10^{digits(at, 1)}", sizes, iso_compute(law.loss, compute, sizes)))
        best.append(chosen(law, compute))
    at_best = np.array([one.size for one in best]), np.array([one.loss for one in best])
    title = f"Loss at equal compute, {SCALING_LAW.words(name)}"
    chart = equal_compute(curves, at_best, (here.size, here.loss), title)
    layout.show_chart(chart, key="scaling-equal")
    _show_formula(name, here)
    if name == "kaplan":
        words.caption(
            "Kaplan’s L(N, D) alone is lowest at smaller sizes than the law’s best (the diamonds): "
            "along equal compute its minimum grows as C^0.58. Their 0.73 comes from the other of "
            "their formulas, for loss during training with one schedule (eq. 1.6)."
        )
    return {
        "law": SCALING_LAW.words(name),
        "power": digits(power, 1),
        "size": in_words(here.size),
        "tokens": in_words(here.tokens),
        "loss": digits(here.loss),
        "best": digits(chosen(law, 10**power).loss),
    }


def _show_formula(name: str, here: Choice) -> None:
    formula = _formula(name, here)
    inspector.formula("model.analysis.scaling.iso_compute", formula.latex, formula.reference)


def _formula(name: str, here: Choice) -> Formula:
    if name in GIVEN:
        at = (here.size, here.tokens, here.loss)
        return formulas.parametric(GIVEN[name], *at, LAWS[name].source)
    return formulas.kaplan(here.size, here.tokens, here.loss)


# --- a law of our own ---------------------------------------------------------------------------


def _counted() -> str:
    with scenes.to_set():
        return controls.segments(SCALING_COUNTED, has_label=True)


def _own(view: View) -> Numbers:
    """Models trained here, their losses, and the law that is fitted to them."""
    stored, counted = scaling.stored(), _counted()
    held = scaling.fitted(counted)
    left, right = layout.two_up("scaling-own")
    with left:
        _points(stored, counted, held)
    with right:
        _curves(stored)
    inspector.export(view, {"Own runs": lambda: _csv(stored, counted, held)})
    return {"runs": str(len(stored.runs)), **_beside(stored.beside, counted, held)}


def _fit(view: View) -> Numbers:
    """The law's five numbers, and every run with what the law says of it."""
    stored, counted = scaling.stored(), _counted()
    held = scaling.fitted(counted)
    _spread(held)
    _runs(stored, counted, held)
    inspector.export(view, {"Own runs": lambda: _csv(stored, counted, held)})
    return {"runs": str(len(held.without))}


def _name(run: StoredRun, counted: str) -> str:
    return f"{in_words(run.size(counted))} parameters"


def _points(stored: Stored, counted: str, held: Held) -> None:
    """Measured losses and the fitted law, by tokens."""
    sizes = [stored.of_width(width) for width in stored.widths]
    beside = stored.beside
    chart = own_runs(
        GRID,
        [
            (
                _name(runs[0], counted),
                np.array([run.tokens for run in runs]),
                np.array([run.loss for run in runs]),
                held.law.loss(np.array(float(runs[0].size(counted))), GRID),
            )
            for runs in sizes
        ],
        (
            beside.name,
            beside.tokens,
            beside.loss,
            held.law.loss(np.array(float(beside.size(counted))), GRID),
        ),
    )
    layout.show_chart(chart, key="scaling-own")
    formula = formulas.huber(DELTA)
    inspector.formula("model.analysis.scaling_fit.fit", formula.latex, formula.reference)


def _curves(stored: Stored) -> None:
    """The logs, thinned."""
    drawn = [
        (f"{run.d_model} × {run.n_layers}, {run.tokens:,} tokens",
         stored.widths.index(run.d_model), run.curve)
        for run in stored.runs
    ]  # fmt: skip
    layout.show_chart(training_curves(drawn), key="scaling-curves")


def _spread(held: Held) -> None:
    """The five numbers of the law, and how far they move when one run is left out."""
    columns: dict[str, Sequence[Said]] = {
        "": ["all runs", "lowest without one run", "highest without one run"]
    }
    for name, field in UNKNOWNS.items():
        others = [getattr(law, field) for law in held.without]
        values = (getattr(held.law, field), min(others), max(others))
        columns[name] = list(map(digits, values))
    others = [law.exponent for law in held.without]
    columns["β / (α + β)"] = [*map(digits, (held.law.exponent, min(others), max(others)))]
    words.table(columns)


def _runs(stored: Stored, counted: str, held: Held) -> None:
    """Every run with what the law says of it, and what the other runs say."""
    points = stored.points(counted)
    columns = {
        "measured": points.loss,
        "fit": held.law.loss(points.n, points.d),
        "measured − fit": residuals(held.law, points),
        "measured − fit to the others": points.loss - held.left_out(points),
    }
    words.table(
        {
            "d_model × layers": [f"{run.d_model} × {run.n_layers}" for run in stored.runs],
            "parameters": [f"{run.size(counted):,}" for run in stored.runs],
            "tokens": [f"{run.tokens:,}" for run in stored.runs],
            "operations": [in_words(run.flops) for run in stored.runs],
            **{name: [digits(value, 3) for value in values] for name, values in columns.items()},
        }
    )


def _beside(beside: StoredRun, counted: str, held: Held) -> Numbers:
    """What the law says of a model far outside of what it was fitted to."""
    n, d = np.array(float(beside.size(counted))), np.array(float(beside.tokens))
    others = [float(law.loss(n, d)) for law in held.without]
    return {
        "beside": f"{beside.name}, {in_words(float(n))} parameters, {in_words(float(d))} tokens",
        "measured": digits(beside.loss),
        "fit": digits(float(held.law.loss(n, d))),
        "lowest": digits(min(others)),
        "highest": digits(max(others)),
    }


def _csv(stored: Stored, counted: str, held: Held) -> bytes:
    points = stored.points(counted)
    return tables.csv(
        {
            "d_model": [run.d_model for run in stored.runs],
            "layers": [run.n_layers for run in stored.runs],
            "parameters": [run.parameters for run in stored.runs],
            "without embeddings": [run.without_embeddings for run in stored.runs],
            "tokens": [run.tokens for run in stored.runs],
            "operations": [run.flops for run in stored.runs],
            "loss": points.loss.tolist(),
            "fit": held.law.loss(points.n, points.d).tolist(),
            "fit to the others": held.left_out(points).tolist(),
        }
    )


PAGE = Page(
    "Scaling",
    ":material/trending_up:",
    "Twice the compute: what is it best spent on?",
    "",
    needs=("decoder",),
    scenes={"laws": _laws, "equal": _equal, "why": _table, "own": _own, "fit": _fit},
    wide=("why", "own", "fit"),
    source=(
        "model.analysis.scaling.Parametric",
        "model.analysis.scaling.kaplan_loss",
        "model.analysis.scaling.kaplan_size",
        "model.analysis.scaling_fit.fit",
    ),
)
