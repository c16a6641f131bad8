"""What the page Findings picks out of a run, searched for once more among all there is.

Entries of `FOUND_IN_A_GROUP` are of all heads of one kind of attention, (L, H, Tq, Tk), so that an
address can state where their largest is.
"""

from collections.abc import Callable, Iterator

import numpy as np

from model.verify.derived import Ran, lens_place
from model.verify.habits import norms
from model.verify.of_heads import open_of, patterns_of, sites_of

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


def copies(ran: Ran, group: str) -> Array:
    """The weights on what came right after a copy of the query, 0 elsewhere, (L, H, T, T)."""
    weights = patterns_of(ran, group)
    ids = ran.arrays[f"{group.split('.')[0]}.ids"].tolist()
    found = np.zeros_like(weights)
    for query, own in enumerate(ids):
        for key in range(1, query):
            if ids[key - 1] == own:
                found[..., query, key] = weights[..., query, key]
    return found


def arrows(ran: Ran, group: str) -> Array:
    """‖αv·W_O‖ of each arrow, 0 of queries that have no choice, (L, H, Tq, Tk)."""
    weights, chooses = patterns_of(ran, group), open_of(ran, group).sum(axis=-1) > 1
    lengths = np.stack([norms(ran, site, weights.shape[1]) for site in sites_of(ran, group)])
    return weights * lengths[..., None, :] * chooses[..., None]


def settled(ran: Ran, position: int) -> Array:
    """The first row of the lens from which on the answer stays the most likely; 0: the input."""
    places = lens_place(ran)[:, position]
    row = len(places) - 1
    while row and places[row - 1] == 1:
        row -= 1
    return np.array(row)


FOUND_IN_A_GROUP: dict[str, Callable[[Ran, str], Array]] = {"copies": copies, "arrows": arrows}
FOUND: dict[str, Callable[..., Array]] = {
    "found.copy": copy,
    "found.longest": longest,
    "found.settled": settled,
    "found.settled_layer": lambda ran, position: settled(ran, position) - 1,
}
