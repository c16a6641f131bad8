"""What pages tell of a run in words: its most likely tokens, and the class a picture has.

Worked out once more, see `derived`: from the arrays of the independent run and from files alone.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from model.verify.stated import NEITHER, leading_ids

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
SHIPPED = Path(__file__).parents[2] / "assets" / "digits.npz"


def best_ids(ran: "Ran") -> Array:
    """The most likely token after each, (T,), see `leading_ids`."""
    return leading_ids(ran.arrays["output"], 1)[:, 0]


def best_of_both(ran: "Ran", position: int, n: int) -> Array:
    """The n most likely tokens with nothing off, then those of the run that are not among them.

    Where rounding may exchange two of a run, all are −1: it may exchange the others with them.
    """
    runs = (ran.unedited, ran)
    first, second = (leading_ids(one.arrays["output"][position], n) for one in runs)
    found = np.array([*first, *(i for i in second if i not in first)])
    is_clear = NEITHER not in first and NEITHER not in second
    return found if is_clear else np.full(2 * n, NEITHER)


def _following(ran: "Ran") -> Array:
    """Each token but the first, (T − 1,)."""
    return ran.arrays["decoder.ids"][1:]


def other_ids(ran: "Ran") -> Array:
    """The most likely token where another came, (T − 1,); −1 where it came."""
    best = best_ids(ran)[:-1]
    return np.where(best == _following(ran), NEITHER, best)


def agreeing(ran: "Ran") -> Array:
    """Whether each token but the first was the most likely one, (T − 1,)."""
    return ran.arrays["output"][:-1].argmax(axis=-1) == _following(ran)


def first_other(ran: "Ran") -> Array:
    """The number, from 1, of the first token that was not the most likely one."""
    return np.array(1 + int(np.argmin(agreeing(ran))))


def shipped_class(ran: "Ran", row: int) -> Array:
    """The class that a shipped picture has in its file."""
    with np.load(SHIPPED) as arrays:
        return arrays["test_labels"][row]


ANSWERED: dict[str, Callable[..., Array]] = {
    "best.ids": best_ids,
    "best.both": best_of_both,
    "best.others": other_ids,
    "best.agrees": lambda ran: agreeing(ran).sum(),
    "best.first": first_other,
    "shipped.class": shipped_class,
}
