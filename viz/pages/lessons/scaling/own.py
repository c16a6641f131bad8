"""The second half of the lesson: models trained here, the law fitted to them, and its error."""

from collections.abc import Sequence

import numpy as np

from model.analysis.scaling_fit import DELTA, Held, residuals
from model.analysis.scaling_runs import Stored, StoredRun
from viz import formulas_scaling as formulas
from viz.digits import digits
from viz.figures.scaling import own_runs, training_curves
from viz.frame import controls, inspector, layout, tables, words
from viz.frame.inspector import Tables
from viz.frame.said import Said
from viz.frame.settings import SCALING_COUNTED
from viz.frame.view import View
from viz.pages.lessons.scaling.quantities import in_words
from viz.runs import scaling

GRID = 2.0 ** np.linspace(16, 26, 41)  # tokens: 65,536 to 67,108,864
UNKNOWNS = {"E": "floor", "A": "a", "B": "b", "α": "alpha", "β": "beta"}


def section(_: View) -> Tables:
    """Draw it; returns its tables as CSV."""
    stored = scaling.stored()
    layout.section(
        "A law of our own",
        f"{len(stored.runs)} models trained on the texts of stories, each with a whole schedule.",
        "Recipes as close to that of stories as the sizes allow: the same tokenizer, blocks and "
        "mix of books and TinyStories, windows of 128 tokens, smaller batches, higher learning "
        "rates, float32. Loss is the mean over all tokens of both held-out texts, each window of "
        "128 tokens by itself; that of stories is measured in the same way. "
        "The command `python -m model scale` trains and measures all of them again; "
        "assets/scaling/recipe.toml says how. Hoffmann et al. 2022 take δ = 0.001 for over 400 "
        "runs; of ten, that would meet five exactly and ignore the rest, so δ is 0.1 here.",
    )
    with layout.slim_row("scaling-own"):
        counted = controls.segments(SCALING_COUNTED, has_label=True)
    held = scaling.fitted(counted)
    left, right = layout.two_up("scaling-own", (3, 2))
    with left:
        _points(stored, counted, held)
    with right:
        _curves(stored)
    _spread(held)
    _runs(stored, counted, held)
    _beside(stored.beside, counted, held)
    words.ways([words.Way("Cost", "Parameters and operations of any model, by part.", page="Cost")])
    return {"Own runs": lambda: _csv(stored, counted, held)}


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
    words.caption(
        f"Five unknowns from {len(held.without)} runs, one seed each, are barely held: leaving out "
        "a single run moves them as far as the two lower rows say. β / (α + β) is the power of C "
        "with which the best size would grow. E is 0 where no floor fits better than none: losses "
        "of trainings this short do not yet show one."
    )


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


def _beside(beside: StoredRun, counted: str, held: Held) -> None:
    """What the law says of a model far outside of what it was fitted to."""
    n, d = np.array(float(beside.size(counted))), np.array(float(beside.tokens))
    others = [float(law.loss(n, d)) for law in held.without]
    words.caption(
        f"{beside.name}, {in_words(float(n))} parameters, {in_words(float(d))} tokens: measured "
        f"{digits(beside.loss)}, by the fit {digits(float(held.law.loss(n, d)))}, without one run "
        f"{digits(min(others))} to {digits(max(others))}. An extrapolation, far beyond the largest "
        "and longest run, and of another recipe."
    )


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
