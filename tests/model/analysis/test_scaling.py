"""Protects scaling laws: published numbers, the lowest loss at equal compute, and the fit."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.scaling import GOPHER, LAWS, PRINTED, REFITTED, Parametric, chosen, iso_compute
from model.analysis.scaling_fit import DELTA, Runs, fit, huber

SHIPPED = Path(__file__).parents[3] / "assets" / "scaling" / "runs.json"
N, D = (x.ravel() for x in np.meshgrid([2.5e4, 1.5e5, 4.4e5], [9.8e4, 2.6e5, 7.9e5]))


def test_published_sizes_for_gophers_compute() -> None:
    sizes = {name: chosen(law, GOPHER).size for name, law in LAWS.items()}
    assert sizes["envelope"] == pytest.approx(67e9)
    assert sizes["profiles"] == pytest.approx(63e9)
    # The printed constants miss the paper's own 40 billion (Hoffmann et al. 2022, fig. 4).
    assert sizes["printed"] < 0.85 * 40e9
    assert 60e9 < sizes["refitted"] < 80e9
    assert LAWS["refitted"].exponent == pytest.approx(0.512, abs=2e-3)  # Besiroglu et al. 2024


def test_kaplan_at_one_pf_day_is_its_table() -> None:
    assert chosen(LAWS["kaplan"], 8.64e19).size == pytest.approx(1.3e9)


@pytest.mark.parametrize("law", [PRINTED, REFITTED])
def test_no_other_size_does_better_at_equal_compute(law: Parametric) -> None:
    best = float(law.best_size(np.array(1e22)))
    sizes = best * np.array([0.9, 0.99, 1.0, 1.01, 1.1])
    assert iso_compute(law.loss, 1e22, sizes).argmin() == 2


def test_a_fit_finds_the_law_that_made_the_losses() -> None:
    law = Parametric(1.5, 30.0, 900.0, 0.3, 0.5)
    found = fit(Runs(N, D, law.loss(N, D)))
    for name in ("floor", "a", "b", "alpha", "beta"):
        assert getattr(found, name) == pytest.approx(getattr(law, name), rel=1e-6)


def test_no_neighbour_of_a_fit_is_lower() -> None:
    noise = np.exp(0.02 * np.random.default_rng(0).standard_normal(len(N)))
    runs = Runs(N, D, Parametric(1.5, 30.0, 900.0, 0.3, 0.5).loss(N, D) * noise)
    law = fit(runs)
    lowest = _cost(law, runs)
    for name in ("floor", "a", "b", "alpha", "beta"):
        for factor in (0.999, 1.001):
            moved = {**law.__dict__, name: getattr(law, name) * factor}
            assert _cost(Parametric(**moved), runs) >= lowest


def _cost(law: Parametric, runs: Runs) -> float:
    return float(huber(np.log(law.loss(runs.n, runs.d) / runs.loss)).sum())


def test_huber_is_a_parabola_then_a_line() -> None:
    assert huber(np.array([DELTA / 2, 3 * DELTA])) == pytest.approx([DELTA**2 / 8, 2.5 * DELTA**2])


def test_runs_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ValueError, match="one of each"):
        Runs(N, D[:3], N)
    with pytest.raises(ValueError, match="5 runs for 5 unknowns"):
        Runs(N[:5], D[:5], N[:5])
