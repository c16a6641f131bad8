"""What the lesson on scaling shows, worked out once more from what is published and shipped.

Laws are 0 Kaplan's, 1 to 3 Chinchilla's approaches, 3 as printed, 4 the third refitted. A compute
is in tenths of a power of ten; sizes beside the best one are in octaves, 5 for the best. Counted is
0 for parameters without embeddings, 1 for all of them. Runs come as in assets/scaling/runs.json.
"""

import json
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from model.verify.refitted import refit

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
RUNS = Path(__file__).parents[2] / "assets" / "scaling" / "runs.json"
VOCABULARY, WINDOW = 4096, 128
PETAFLOPS_DAY = 8.64e19
# Parameters and tokens, as published.
KNOWN = {"gpt3": (175e9, 300e9), "gopher": (280e9, 300e9), "chinchilla": (70e9, 1.4e12)}
BILLION = 1e9
CONSTANTS = {3: (1.69, 406.4, 410.7, 0.34, 0.28), 4: (1.8172, 482.01, 2085.43, 0.3478, 0.3658)}


def _best(law: int, compute: float) -> float:
    if law == 0:
        return 1.3e9 * math.exp(0.73 * math.log(compute / PETAFLOPS_DAY))
    if law in (1, 2):
        at_gopher, power = {1: (67e9, 0.50), 2: (63e9, 0.49)}[law]
        return at_gopher * (compute / 5.76e23) ** power
    _, a, b, alpha, beta = CONSTANTS[law]
    # Where the derivative of A/N^α + B·(6N/C)^β by ln N is nothing.
    log_n = math.log(alpha * a) - math.log(beta * b) + beta * math.log(compute / 6)
    return math.exp(log_n / (alpha + beta))


def _loss(law: int, n: float, d: float) -> float:
    if law == 0:
        of_size = math.exp(0.076 / 0.103 * math.log(6.4e13 / n))
        return (of_size + 1.8e13 / d) ** 0.103
    if law not in CONSTANTS:
        return math.nan
    return _parametric(CONSTANTS[law], n, d)


def _parametric(constants: Any, n: float, d: float) -> float:  # noqa: ANN401  five numbers
    floor, a, b, alpha, beta = constants
    return floor + a * math.exp(-alpha * math.log(n)) + b * math.exp(-beta * math.log(d))


def _best_sizes(ran: "Ran", law: int) -> Array:
    return np.array([_best(law, 10 ** (17 + i / 4)) for i in range(41)])


def _choice(ran: "Ran", law: int, tenths: int, octave: int) -> Array:
    compute = 10 ** (tenths / 10)
    n = _best(law, compute) * 2.0 ** (octave - 5)
    d = compute / 6 / n
    return np.array([n, d, _loss(law, n, d), d / n])


def _iso_sizes(ran: "Ran", law: int, tenths: int) -> Array:
    best = _best(law, 10 ** (tenths / 10))
    return np.array([best * 2 ** (-5 + i / 4) for i in range(41)])


def _iso_losses(ran: "Ran", law: int, tenths: int) -> Array:
    compute = 10 ** (tenths / 10)
    return np.array([_loss(law, n, compute / 6 / n) for n in _iso_sizes(ran, law, tenths).tolist()])


# --- runs of our own ----------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _stored() -> dict[str, Any]:
    return json.loads(RUNS.read_text(encoding="utf-8"))


def _of(run: dict[str, Any], counted: int) -> int:
    """Weights: four d × d matrices and two d × 4d a layer, gains of all norms; the table."""
    width, depth = run["model"]["d_model"], run["model"]["n_layers"]
    hidden = depth * (4 * width * width + 2 * width * 4 * width) + (2 * depth + 1) * width
    return hidden + counted * VOCABULARY * width


def _mean_loss(run: dict[str, Any]) -> float:
    scores = run["held_out"].values()
    total = math.fsum(score["loss"] * score["tokens"] for score in scores)
    return total / sum(score["tokens"] for score in scores)


def _flops(run: dict[str, Any]) -> float:
    """Two for each weight of a matrix, and 4·d for each key in each layer, three times that."""
    width, depth = run["model"]["d_model"], run["model"]["n_layers"]
    matrices = _of(run, 1) - (2 * depth + 1) * width
    return 3.0 * run["tokens"] * (2 * matrices + 4 * width * WINDOW * depth)


def _runs() -> list[dict[str, Any]]:
    return _stored()["runs"]


def _points(counted: int) -> tuple[list[float], list[float], list[float]]:
    if counted not in (0, 1):
        raise KeyError(counted)
    runs = _runs()
    return (
        [float(_of(run, counted)) for run in runs],
        [float(run["tokens"]) for run in runs],
        [_mean_loss(run) for run in runs],
    )


@lru_cache(maxsize=2)
def _fit(counted: int) -> Array:
    return refit(*_points(counted))


@lru_cache(maxsize=2)
def _fits_without(counted: int) -> Array:
    points = _points(counted)
    return np.stack(
        [refit(*(row[:i] + row[i + 1 :] for row in points)) for i in range(len(_runs()))]
    )


def _fitted(counted: int) -> Array:
    n, d, _ = _points(counted)
    return np.array([_parametric(_fit(counted), *at) for at in zip(n, d, strict=True)])


def _left_out(counted: int) -> Array:
    rows = zip(_fits_without(counted), *_points(counted)[:2], strict=True)
    return np.array([_parametric(law, n, d) for law, n, d in rows])


def _widths() -> list[int]:
    return sorted({run["model"]["d_model"] for run in _runs()})


def _of_width(i: int) -> list[dict[str, Any]]:
    mine = [run for run in _runs() if run["model"]["d_model"] == _widths()[i]]
    return sorted(mine, key=lambda run: run["tokens"])


def _fit_curve(ran: "Ran", counted: int, i: int) -> Array:
    """The fitted law of one size over all tokens drawn; after the last size that of `stories`."""
    model = _stored()["beside"] if i == len(_widths()) else _of_width(i)[0]
    size = _of(model, counted)
    return np.array(
        [_parametric(_fit(counted), size, 2 ** (16 + j / 4)) for j in range(41)]
    )  # 65,536 to 67,108,864 tokens


def _exponents(laws: Array) -> Array:
    return laws[:, 4] / (laws[:, 3] + laws[:, 4])


def _beside(ran: "Ran", counted: int) -> Array:
    """The loss of `stories`, the fit's, and the lowest and highest of the fits without one run."""
    model = _stored()["beside"]
    at = (float(_of(model, counted)), float(model["tokens"]))
    others = [_parametric(law, *at) for law in _fits_without(counted)]
    return np.array(
        [_mean_loss(model), _parametric(_fit(counted), *at), min(others), max(others), *at]
    )


def _published(n: float) -> Callable[..., Array]:
    return lambda ran: np.array(n)


SCALED: dict[str, Callable[..., Array]] = {
    "scaling.best_sizes": _best_sizes,
    "scaling.choice": _choice,
    "scaling.powers": lambda ran: np.array(
        [math.log10(_best(i, 1e21) / _best(i, 1e20)) for i in range(5)]
    ),
    "scaling.iso_sizes": _iso_sizes,
    "scaling.iso_losses": _iso_losses,
    "scaling.known_sizes": lambda ran: np.array([n for n, _ in KNOWN.values()]),
    "scaling.known_compute": lambda ran: np.array([6 * n * d for n, d in KNOWN.values()]),
    "scaling.known_billions": lambda ran: np.array([n / BILLION for n, _ in KNOWN.values()]),
    **{f"scaling.size_of_{name}": _published(n) for name, (n, _) in KNOWN.items()},
    "scaling.run_sizes": lambda ran, counted: np.array(_points(counted)[0]),
    "scaling.run_tokens": lambda ran: np.array(_points(0)[1]),
    "scaling.run_losses": lambda ran: np.array(_points(0)[2]),
    "scaling.run_flops": lambda ran: np.array([_flops(run) for run in _runs()]),
    "scaling.tokens_of": lambda ran, i: np.array([float(run["tokens"]) for run in _of_width(i)]),
    "scaling.losses_of": lambda ran, i: np.array([_mean_loss(run) for run in _of_width(i)]),
    "scaling.curve_tokens": lambda ran, i: np.array([at for at, _ in _runs()[i]["curve"]]),
    "scaling.curve_losses": lambda ran, i: np.array([loss for _, loss in _runs()[i]["curve"]]),
    "scaling.fit": lambda ran, counted: _fit(counted),
    "scaling.fit_lowest": lambda ran, counted: _fits_without(counted).min(axis=0),
    "scaling.fit_highest": lambda ran, counted: _fits_without(counted).max(axis=0),
    "scaling.exponents": lambda ran, counted: np.array(
        [
            *_exponents(_fit(counted)[None]),
            _exponents(_fits_without(counted)).min(),
            _exponents(_fits_without(counted)).max(),
        ]
    ),
    "scaling.fitted": lambda ran, counted: _fitted(counted),
    "scaling.residuals": lambda ran, counted: np.array(_points(counted)[2]) - _fitted(counted),
    "scaling.left_out_off": lambda ran, counted: np.array(_points(counted)[2]) - _left_out(counted),
    "scaling.fit_curve": _fit_curve,
    "scaling.beside": _beside,
}
