"""What the page Findings picks out of a run, searched for once more among all there is."""

from collections.abc import Callable, Iterator

import numpy as np

from model.verify.derived import Ran, lens_place
from model.verify.habits import norms

Array = np.ndarray


def _sites(ran: Ran) -> Iterator[tuple[str, Array]]:
    """Every place where the model attends, and the weights there, (H, Tq, Tk)."""
    for name, array in ran.arrays.items():
        site, _, last = name.rpartition(".")
        if last == "pattern":
            yield site, array


def copy(ran: Ran) -> Array:
    """The largest weight on a token that came right after a copy of the query's; 0: none."""
    largest = 0.0
    for site, weights in _sites(ran):
        ids = ran.arrays.get(f"{site.split('.', 1)[0]}.ids")
        if ids is None or site.endswith("cross_attn"):
            continue
        for query in range(len(ids)):
            for key in range(1, query):
                if ids[key - 1] == ids[query]:
                    largest = max(largest, float(weights[:, query, key].max()))
    return np.array(largest)


def longest(ran: Ran) -> Array:
    """The largest ‖αv·W_O‖ of all arrows of queries that have a choice, 0 where none has."""
    largest = 0.0
    for site, weights in _sites(ran):
        lengths = weights * norms(ran, site, len(weights))[:, None, :]
        for head, query in np.ndindex(weights.shape[:2]):
            if (weights[head, query] > 0).sum() > 1:
                largest = max(largest, float(lengths[head, query].max()))
    return np.array(largest)


def settled(ran: Ran, position: int) -> Array:
    """The first row of the lens from which on the answer stays the most likely; 0: the input."""
    places = lens_place(ran)[:, position]
    row = len(places) - 1
    while row and places[row - 1] == 1:
        row -= 1
    return np.array(row)


FOUND: dict[str, Callable[..., Array]] = {
    "found.copy": copy,
    "found.longest": longest,
    "found.settled": settled,
}
