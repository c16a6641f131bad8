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
        "norms, softmax and the MLP are not.",
    )
    filling = shown.work.filling
    if np.isnan(filling.estimate).all():
        words.notice("The text is too long for a backward pass: nothing is estimated.")
        return
    exact, estimate = shown.shares(filling.exact), shown.shares(filling.estimate)
    rho = {name: or_none(spearman(exact[name], estimate[name]), 3) for name in GRIDS}
    grids = ({TITLES[name]: shares[name] for name in GRIDS} for shares in (exact, estimate))
    layout.show_chart(estimate_scatter(*grids), key="patching-estimate")
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
