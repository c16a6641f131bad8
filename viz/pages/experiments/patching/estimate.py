"""Attribution patching: all cells at once from one gradient, beside the exact ones."""

import numpy as np

from model.analysis.exact import spearman
from model.analysis.patching import GRIDS
from viz.digits import or_none
from viz.figures.patching import estimate_scatter
from viz.frame import layout, words
from viz.pages.experiments.patching.shared import TITLES, Shown


def section(shown: Shown) -> None:
    """All cells at once from one gradient, beside the exact ones."""
    layout.section(
        "Attribution patching",
        "One backward pass estimates every cell at once.",
        "Gradient of the metric in the run that values are put into, times the difference of the "
        "values (Nanda 2023; Syed et al. 2023). It is exact where the metric is linear in a value; "
        "norms, softmax and the feed-forward are not.",
    )
    filling = shown.work.filling
    if np.isnan(filling.estimate).all():
        words.notice("The text is too long for a backward pass: nothing is estimated.")
        return
    exact, estimate = shown.shares(filling.exact), shown.shares(filling.estimate)
    rho = {name: or_none(spearman(exact[name], estimate[name]), 3) for name in GRIDS}
    layout.show_figure(
        estimate_scatter(
            {TITLES[name]: exact[name] for name in GRIDS},
            {TITLES[name]: estimate[name] for name in GRIDS},
            shown.view.colors,
        ),
        key="patching-estimate",
        alt="Exact share of every cell against its estimate. "
        + " ".join(f"{TITLES[name]}: ρ {rho[name]}." for name in GRIDS),
    )
    words.table(
        {
            "grid": [TITLES[name] for name in GRIDS],
            "runs": [str(exact[name].size) for name in GRIDS],
            "rank correlation ρ": [rho[name] for name in GRIDS],
            "largest error": [
                or_none(float(np.abs(exact[name] - estimate[name]).max()), 3) for name in GRIDS
            ],
        }
    )
