"""The law L = E + A/N^α + B/D^β fitted to measured losses, and how firmly they hold it.

Approach 3 of Hoffmann et al. 2022, §3.3: the Huber loss of ln L, from many starts. They take δ =
10⁻³ for over 400 runs; of ten, that would meet five exactly and ignore how far off the others are,
so δ is larger here. In place of L-BFGS each step is Newton's, from all starts at once.
"""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from model.analysis.scaling import Parametric

DELTA = 0.1  # of Huber's loss
N_UNKNOWN = 5
STEPS, LONGEST, STUCK = 200, 2.0, 1e3
LEAST_FLOOR = 0.01  # nats per token; below it an E is none
STARTS = tuple(product((-3.0, 0.5), (2.0, 6.0), (2.0, 6.0), (0.2, 0.6), (0.2, 0.6)))


@dataclass(frozen=True, eq=False)
class Runs:
    """Sizes N, tokens D and losses of some runs, (P,) each. ValueError where they are not alike."""

    n: np.ndarray
    d: np.ndarray
    loss: np.ndarray

    def __post_init__(self) -> None:
        shapes = [array.shape for array in (self.n, self.d, self.loss)]
        if len(set(shapes)) > 1:
            raise ValueError(f"sizes, tokens and losses of shapes {shapes}; give one of each a run")
        if len(self.n) <= N_UNKNOWN:
            raise ValueError(
                f"{len(self.n)} runs for {N_UNKNOWN} unknowns; train more than {N_UNKNOWN}"
            )


def huber(residuals: np.ndarray) -> np.ndarray:
    """Squares near 0 and lengths beyond δ, as Huber 1964 has it; the shape of `residuals`."""
    size = np.abs(residuals)
    return np.where(size <= DELTA, 0.5 * residuals**2, DELTA * (size - 0.5 * DELTA))


@dataclass(frozen=True, eq=False)
class _Problem:
    """Some fits at once, from one start each: unknowns e, a, b, α, β by rows, (S, 5).

    `terms` is what the logarithm of each of the K terms is times the unknowns, (K, P, 5);
    `counts` is 0 where a run is left out of a fit and 1 elsewhere, (S, P).
    """

    terms: np.ndarray
    log_loss: np.ndarray
    counts: np.ndarray

    def value(self, at: np.ndarray) -> np.ndarray:
        """The Huber loss of each fit, (S,)."""
        law = np.logaddexp.reduce(self._logs(at), axis=1)  # (S, P)
        return (huber(law - self.log_loss) * self.counts).sum(-1)

    def slopes(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Its gradient, (S, 5), and curvature, (S, 5, 5)."""
        logs, flat = self._logs(at), self.terms.reshape(-1, N_UNKNOWN)
        law = np.logaddexp.reduce(logs, axis=1)
        shares = np.exp(logs - law[:, None])  # (S, K, P), 1 over all
        first = (shares[..., None] * self.terms).sum(axis=1)  # (S, P, 5)
        residuals = law - self.log_loss
        pull = np.clip(residuals, -DELTA, DELTA) * self.counts
        inside = (np.abs(residuals) <= DELTA) * self.counts
        squares = (flat[:, :, None] * flat[:, None]).reshape(len(flat), -1)  # (KP, 25)
        bent = (shares * pull[:, None]).reshape(len(at), -1) @ squares
        straight = first.swapaxes(1, 2) @ ((inside - pull)[:, :, None] * first)
        return (pull[:, None] @ first)[:, 0], straight + bent.reshape(straight.shape)

    def _logs(self, at: np.ndarray) -> np.ndarray:
        """The logarithms of the terms, (S, K, P)."""
        return (at @ self.terms.reshape(-1, N_UNKNOWN).T).reshape(len(at), len(self.terms), -1)


def _problem(runs: Runs, counts: np.ndarray, *, has_floor: bool) -> _Problem:
    terms = np.zeros((3, len(runs.n), N_UNKNOWN))
    terms[0, :, 0] = 1 if has_floor else 0  # ln E = e
    terms[1, :, 1], terms[1, :, 3] = 1, -np.log(runs.n)  # ln A/N^α = a − α ln N
    terms[2, :, 2], terms[2, :, 4] = 1, -np.log(runs.d)  # ln B/D^β = b − β ln D
    return _Problem(terms if has_floor else terms[1:], np.log(runs.loss), counts)


def _descend(problem: _Problem, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Damped Newton's steps from each start: where they end, (S, 5), and the loss there, (S,)."""
    value, damping = problem.value(at), np.full(len(at), 1e-6)
    for _ in range(STEPS):
        if np.all(damping > STUCK):  # no step leads further down
            break
        step = _step(*problem.slopes(at), damping)
        tried = problem.value(at + step)
        better = tried < value
        at, value = np.where(better[:, None], at + step, at), np.where(better, tried, value)
        damping = np.maximum(np.where(better, damping / 4, damping * 10), 1e-14)
    return at, value


def _step(gradient: np.ndarray, curvature: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """A damped step downhill, (S, 5), also where the loss is not convex; never a long one."""
    values, vectors = np.linalg.eigh(curvature)
    along = (gradient[:, None] @ vectors)[:, 0]
    step = -(vectors @ (along / (np.abs(values) + damping[:, None]))[:, :, None])[:, :, 0]
    length = np.linalg.norm(step, axis=1, keepdims=True)
    return step * np.minimum(1, LONGEST / np.maximum(length, 1e-300))


def _law(unknowns: np.ndarray) -> Parametric:
    e, a, b, alpha, beta = unknowns.tolist()
    return Parametric(math.exp(e), math.exp(a), math.exp(b), alpha, beta)


def fit(runs: Runs) -> Parametric:
    """The law of the lowest Huber loss that any start leads to."""
    return _law(_lowest(runs, np.ones((1, len(runs.n))), np.array(STARTS))[0])


def _lowest(runs: Runs, counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The best unknowns of each fit, (F, 5), for the runs that count in it, (F, P).

    Where no floor above `LEAST_FLOOR` fits better than none, there is none: e is −∞.
    """
    free, free_value = _best(runs, counts, starts, has_floor=True)
    none, none_value = _best(runs, counts, starts, has_floor=False)
    is_free = (free[:, 0] > math.log(LEAST_FLOOR)) & (free_value < none_value)
    return np.where(is_free[:, None], free, none)


def _best(
    runs: Runs, counts: np.ndarray, starts: np.ndarray, *, has_floor: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The best end of each fit over all starts, (F, 5), and the loss there, (F,)."""
    n_fits, n_starts = len(counts), len(starts)
    problem = _problem(runs, np.repeat(counts, n_starts, axis=0), has_floor=has_floor)
    first = starts if has_floor else np.column_stack([np.zeros(n_starts), starts[:, 1:]])
    ends, values = _descend(problem, np.tile(first, (n_fits, 1)))
    if not has_floor:
        ends[:, 0] = -np.inf
    best = values.reshape(n_fits, n_starts).argmin(axis=1)
    rows = np.arange(n_fits)
    return (
        ends.reshape(n_fits, n_starts, N_UNKNOWN)[rows, best],
        values.reshape(n_fits, n_starts)[rows, best],
    )


@dataclass(frozen=True)
class Held:
    """A fitted law, and those fitted to all runs but one, by the run that was left out."""

    law: Parametric
    without: tuple[Parametric, ...]

    def left_out(self, runs: Runs) -> np.ndarray:
        """What the other runs say of each one, nats per token, (P,)."""
        laws = zip(self.without, runs.n, runs.d, strict=True)
        return np.array([float(law.loss(n, d)) for law, n, d in laws])


def fit_all(runs: Runs) -> Held:
    """Fit to all runs, then to all but each."""
    n_runs = len(runs.n)
    whole = _lowest(runs, np.ones((1, n_runs)), np.array(STARTS))
    starts = np.concatenate([np.maximum(whole, -5), STARTS[::3]])
    without = _lowest(runs, 1.0 - np.eye(n_runs), starts)
    return Held(_law(whole[0]), tuple(map(_law, without)))


def residuals(law: Parametric, runs: Runs) -> np.ndarray:
    """Measured − fitted, nats per token, (P,)."""
    return runs.loss - law.loss(runs.n, runs.d)
