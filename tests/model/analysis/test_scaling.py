"""Protects scaling laws: published numbers, the lowest loss at equal compute, and the fit."""

import numpy as np
import pytest

from model.analysis.scaling import LAWS, PRINTED, REFITTED, Parametric, chosen, iso_compute
from model.analysis.scaling_fit import DELTA, LEAST_FLOOR, Runs, fit, fit_all, huber

N, D = (x.ravel() for x in np.meshgrid([2.5e4, 1.5e5, 4.4e5], [9.8e4, 2.6e5, 7.9e5]))


def test_kaplan_at_one_pf_day_is_its_table() -> None:
    assert chosen(LAWS["kaplan"], 8.64e19).size == pytest.approx(1.3e9)


def test_gopher_s_compute_pays_for_the_sizes_that_are_published() -> None:
    """Hoffmann et al. 2022, fig. 2 and 3; Besiroglu et al. 2024: about 20 tokens a parameter."""
    found = {name: chosen(law, 5.76e23) for name, law in LAWS.items()}
    assert found["envelope"].size == pytest.approx(67e9, rel=0.01)
    assert found["profiles"].size == pytest.approx(63e9, rel=0.01)
    assert found["kaplan"].tokens < found["kaplan"].size
    assert 15 < found["refitted"].tokens / found["refitted"].size < 25


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


def _cost(law: Parametric, runs: Runs) -> float:
    return float(huber(np.log(law.loss(runs.n, runs.d) / runs.loss)).sum())


def test_huber_is_a_parabola_then_a_line() -> None:
    assert huber(np.array([DELTA / 2, 3 * DELTA])) == pytest.approx([DELTA**2 / 8, 2.5 * DELTA**2])


def test_runs_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ValueError, match="one of each"):
        Runs(N, D[:3], N)
    with pytest.raises(ValueError, match="5 runs for 5 unknowns"):
        Runs(N[:5], D[:5], N[:5])


def _far_off() -> Runs:
    """Runs of which two are farther from any law than where Huber's loss is a line."""
    off = 0.02 * np.random.default_rng(2).standard_normal(len(N))
    off[[2, 6]] = -3 * DELTA, 4 * DELTA
    return Runs(N, D, Parametric(1.5, 30.0, 900.0, 0.3, 0.5).loss(N, D) * np.exp(off))


def test_fits_are_the_lowest_of_finer_and_finer_grids() -> None:
    """The fit of all runs and those of all but one; exponents inside the last, smallest grid."""
    runs = _far_off()
    held = fit_all(runs)
    assert len(held.without) == len(runs.n) > 6
    for out, law in zip((None, *range(len(runs.n))), (held.law, *held.without), strict=True):
        n, d, loss = (x if out is None else np.delete(x, out) for x in (runs.n, runs.d, runs.loss))
        cost, alpha, beta, reach = _lowest_of_grids(n, d, loss)
        assert (law.alpha, law.beta) == pytest.approx((alpha, beta), abs=reach)
        assert _cost(law, Runs(n, d, loss)) <= cost * (1 + 1e-9)


def _lowest_of_grids(n: np.ndarray, d: np.ndarray, loss: np.ndarray) -> tuple[float, ...]:
    """Cost and exponents of a grid's best point, and its reach: the last grid, each half as wide.

    At each point E, A and B are by least squares that are weighted again and again, which finds the
    lowest Huber loss of ln L (Huber 1964); with E or without.
    """
    middle, spacing = (0.6, 0.6), 0.05
    while True:
        axes = (np.maximum(at + spacing * np.arange(-12, 13), 0.01) for at in middle)
        alpha, beta = (x.ravel()[:, None] for x in np.meshgrid(*axes, indexing="ij"))
        sizes, tokens = (n / n.mean()) ** -alpha, (d / d.mean()) ** -beta  # (points, runs)
        found = []
        for begin in ([np.ones_like(sizes)], []):
            terms = np.stack([*begin, sizes, tokens], axis=-1)
            law = np.broadcast_to(loss, sizes.shape)
            for _ in range(15):
                off = np.log(law / loss)
                weights = np.minimum(1, DELTA / np.maximum(np.abs(off), 1e-300))[..., None]
                slopes = terms / law[..., None]
                by_slopes = (weights * slopes).swapaxes(1, 2)
                right = by_slopes @ (1 - off)[..., None]  # slopes · x = 1 where x is as it was
                x = np.linalg.solve(by_slopes @ slopes, right)
                law = np.maximum((terms @ x)[..., 0], 1e-9)
            costs = huber(np.log(law / loss)).sum(axis=-1)
            least = x[:, 0, 0] if begin else LEAST_FLOOR
            found.append(np.where(least >= LEAST_FLOOR, costs, np.inf))
        best = np.min(found, axis=0).argmin()
        middle = float(alpha[best, 0]), float(beta[best, 0])
        if spacing < 1e-4:
            return float(np.min(found, axis=0)[best]), *middle, 12 * spacing
        spacing /= 2
