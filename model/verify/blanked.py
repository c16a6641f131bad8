"""What figures show of tokens hidden in turn, worked out once more: see `derived`.

The run these are asked of is of the text as it stands; each hidden token is a forward pass of its
own, the [MASK] taken from tokenizer.json.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from model import reference

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
HIDES = b"[MASK]"


@lru_cache(maxsize=4)  # by the files and ids: of independent runs fewer are kept
def _both(files: reference.Files, ids: tuple[int, ...], hiding: int, n: int) -> tuple[Array, Array]:
    """−ln p of each of the first n tokens behind [MASK], (n,): without a mask, and a causal one."""
    weights = {name: np.asarray(files.weights[name]) for name in files.weights}
    kept = reference.Files(files.config, weights)  # read once, not for each pass
    found: tuple[list[float], list[float]] = [], []
    for place, token in enumerate(ids[:n]):
        given = np.array([*ids[:place], hiding, *ids[place + 1 :]])
        past = np.tril(np.ones((place + 1, place + 1), bool))  # of what follows nothing is seen
        for losses, (text, mask) in zip(
            found, ((given, None), (given[: place + 1], past)), strict=True
        ):
            logits = dict(reference.arrays(kept, text, mask))["output"][place]
            from_true = logits - logits[token]  # −ln p = ln Σ e^(ℓ − ℓ of the token)
            top = from_true.max()
            losses.append(top + np.log(np.exp(from_true - top).sum()))
    return np.array(found[0]), np.array(found[1])


def _losses(ran: "Ran", n: int, is_causal: bool) -> Array:
    ids = tuple(np.asarray(ran.arrays["encoder.ids"]).tolist())
    (hiding,) = (number for number, text in ran.vocabulary.items() if text == HIDES)
    return _both(ran.files, ids, hiding, min(n, len(ids)))[is_causal]


def _total(ran: "Ran", n: int, is_causal: bool) -> Array:
    """Of all but the first token, as a model that looks back alone predicts no first one."""
    return np.asarray(_losses(ran, n, is_causal)[1:].sum())


def _perplexity(ran: "Ran", n: int, is_causal: bool) -> Array:
    losses = _losses(ran, n, is_causal)
    return np.asarray(np.prod(np.exp(losses / len(losses))))


def _before(ran: "Ran", n: int) -> Array:
    """−ln p of tokens 1 to n − 1 of a decoder's run, each given those before it."""
    logits, ids = ran.arrays["output"], ran.arrays["decoder.ids"]
    rows = logits[np.arange(min(n, len(ids)) - 1)]
    top = rows.max(axis=-1)
    whole = top + np.log(np.exp(rows - top[:, None]).sum(axis=-1))
    return whole - rows[np.arange(len(rows)), ids[1 : len(rows) + 1]]


def _hidden_mean(ran: "Ran", *pairs: int) -> Array:
    """Mean of −ln p of what stood in some places: place and id by turns."""
    places, ids = np.array(pairs).reshape(-1, 2).T
    logits = ran.arrays["output"][places]
    from_true = logits - logits[np.arange(len(ids)), ids][:, None]
    top = from_true.max(axis=-1)
    return np.mean(top + np.log(np.exp(from_true - top[:, None]).sum(axis=-1)))


BLANKED: dict[str, Callable[..., Array]] = {
    "pseudo.losses": lambda ran, n: _losses(ran, n, False),
    "pseudo.total": lambda ran, n: _total(ran, n, False),
    "pseudo.perplexity": lambda ran, n: _perplexity(ran, n, False),
    "pseudo.causal_losses": lambda ran, n: _losses(ran, n, True),
    "pseudo.causal_total": lambda ran, n: _total(ran, n, True),
    "pseudo.causal_perplexity": lambda ran, n: _perplexity(ran, n, True),
    "hidden.mean": _hidden_mean,
    "before.losses": _before,
    "before.total": lambda ran, n: _before(ran, n).sum(),
    "before.perplexity": lambda ran, n: np.exp(_before(ran, n).sum() / len(_before(ran, n))),
}
