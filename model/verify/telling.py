"""What is told of arrows: how two numbers rank them alike, and those by which the two part."""

from collections.abc import Mapping

import numpy as np

from model.verify.named import Array, Made, Named

HEAVY, LIGHT = 0.5, 0.1  # weights that are much and little
ROUNDING = 1e-6  # of a weight at these bounds


def places(values: Array) -> Array:
    """How many are smaller, and half of those as large, itself included. (n,)."""
    order = np.sort(values)
    below, upto = (np.searchsorted(order, values, side=side) for side in ("left", "right"))
    return (below + upto) / 2


def rank_correlation(first: Array, second: Array) -> Array:
    """Spearman's ρ: Pearson's correlation of the places. NaN where all of one are alike."""
    x, y = (places(np.ravel(values)) for values in (first, second))
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return np.asarray(x @ y / size if size > 0 else np.nan)


def parted(weights: Array, effects: Array) -> Mapping[str, Array]:
    """Numbers of the arrows that may be called idle, strong or against; NaN of all others.

    The first is |effect| of heavy ones, least; the second that of light ones, largest; the third
    the effect of heavy ones below zero, least.
    """
    heavy = weights >= HEAVY - ROUNDING
    light = (weights <= LIGHT + ROUNDING) & (weights > 0)
    sizes = np.abs(effects)
    return {
        "idle": np.where(heavy, sizes, np.nan),
        "strong": np.where(light, sizes, np.nan),
        "against": np.where(heavy & (effects < 0), effects, np.nan),
    }


MEASURES = ("weights", "norms", "gradients")
PARTED = ("idle", "strong", "against")


def told_of_arrows(page: Named, shape: tuple[int, ...]) -> Made:
    """What makes explain.rho.weights, of a measure and the effects, and explain.rho_sizes.weights.

    explain.idle, explain.strong and explain.against have the `shape` (L, H, T), see `parted`.
    """

    def of(name: str) -> Array:
        return page.array(f"explain.{name}").reshape(shape)

    def sizes(name: str) -> Array:
        return rank_correlation(np.abs(of(name)), np.abs(of("effects")))

    return {
        **{
            f"explain.rho.{name}": lambda name=name: rank_correlation(of(name), of("effects"))
            for name in MEASURES
        },
        **{f"explain.rho_sizes.{name}": lambda name=name: sizes(name) for name in MEASURES},
        **{
            f"explain.{name}": lambda name=name: parted(of("weights"), of("effects"))[name]
            for name in PARTED
        },
    }
