"""What a page says of a model itself: its sizes, from the arrays of a run and from config.json."""

from collections.abc import Callable

import numpy as np

from model.verify.derived import Array, Ran
from model.verify.merged import typed


def n_layers(ran: Ran, site: str) -> Array:
    """How many layers have attention of the same kind as a site's."""
    stack, _, rest = site.partition(".blocks.")
    kind = rest.partition(".")[2]
    first, last = f"{stack}.blocks.", f".{kind}.pattern"
    return np.asarray(sum(x.startswith(first) and x.endswith(last) for x in ran.arrays))


def n_heads(ran: Ran, site: str) -> Array:
    """How many heads a site has."""
    return np.asarray(len(ran.arrays[f"{site}.pattern"]))


def width(ran: Ran) -> Array:
    """How many numbers the residual stream has for each token."""
    return np.asarray(next(x.shape[-1] for name, x in ran.arrays.items() if "resid_pre" in name))


def context(ran: Ran) -> Array:
    """How many tokens it takes at most."""
    return np.asarray(int(ran.files.config["max_seq_len"]))


def n_tokens(ran: Ran) -> Array:
    """How many tokens what was typed has, as far as they fit."""
    return np.asarray(len(typed(ran)))


FACTS: dict[str, Callable[[Ran], Array]] = {
    "facts.d_model": width,
    "facts.context": context,
    "facts.n_tokens": n_tokens,
}
FACTS_OF_A_SITE: dict[str, Callable[[Ran, str], Array]] = {
    "n_layers": n_layers,
    "n_heads": n_heads,
}
