"""What the pages on masks, on the next token and on the cache show beyond a trace.

Worked out once more from the independent run. Entries as those of `model.verify.derived`; some take
whole numbers, which end their address: masks.causal.4.3.1.2.1. Nothing here calls the code that
made the figures.
"""

import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from model import reference
from model.verify.derived import Ran, future, log_softmax, losses, reach

Array = np.ndarray
LENGTHS = (4, 8, 16, 32, 64, 128, 256, 512)  # of texts whose pairs are counted
BYTES = 4  # of a float32
KNOWN = Path(__file__).parents[2] / "assets" / "known_models.toml"


# --- kinds of masks ---------------------------------------------------------------------------


def kind_of_mask(kind: str, n: int, sizes: tuple[int, ...]) -> Array:
    """Which of n queries may attend to which keys, (n, n), from the definition of each kind.

    sizes: window, prefix, global tokens, pad tokens, and 1 where a two-sided one is causal too.
    """
    window, prefix, n_global, n_pads, is_causal = sizes
    i, j = np.indices((n, n))
    past = j <= i
    near = np.abs(i - j) < window
    two_sided = {
        "sliding_window": near,
        "global_tokens": near | (i < n_global) | (j < n_global),
        "padding": j < n - n_pads,
    }
    if kind in two_sided:
        return two_sided[kind] & past if is_causal else two_sided[kind]
    if kind == "prefix":
        return past | ((i < prefix) & (j < prefix))
    return past | (kind == "everything")


def mask(kind: str) -> Callable[..., Array]:
    """1 where a query may attend under a kind of mask, NaN where it may not, (T, T)."""

    def made(ran: Ran, *sizes: int) -> Array:
        n = len(ran.arrays["decoder.ids"])
        return np.where(kind_of_mask(kind, n, _five(sizes)), 1.0, np.nan)

    return made


def pairs(kind: str) -> Callable[..., Array]:
    """How many pairs may attend in texts of `LENGTHS`, (8,)."""

    def counted(ran: Ran, *sizes: int) -> Array:
        return _pairs(kind, _five(sizes))

    return counted


@lru_cache(maxsize=64)
def _pairs(kind: str, sizes: tuple[int, ...]) -> Array:
    return np.array([int(kind_of_mask(kind, n, sizes).sum()) for n in LENGTHS])


def _five(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if len(sizes) != 5:
        raise ValueError(f"a kind of mask has five sizes, not {len(sizes)}")
    return sizes


KINDS = ("causal", "sliding_window", "prefix", "global_tokens", "padding", "everything")


def known(ran: Ran, row: int) -> Array:
    """How many tokens can influence one after 0, 1, 2, … layers, at least those the model has."""
    layers = reach(ran)[row]
    n = max(ran.n_layers, int(np.nanmax(layers)))
    return np.array([(layers <= depth).sum() for depth in range(n + 1)])


# --- order of mask and softmax ----------------------------------------------------------------


def kept(how: str) -> Callable[[Ran, str], Array]:
    """What the cells that a query may attend to sum to, of each head, (H, T).

    Masked `before` softmax, with `score_zero` in masked cells, or `after` it.
    """

    def sums(ran: Ran, site: str) -> Array:
        allowed, scores = np.asarray(ran.arrays[f"{site}.mask"]), ran.arrays[f"{site}.scores"]
        handed = {"before": np.where(allowed, scores, -np.inf), "after": scores}
        handed["score_zero"] = np.where(allowed, scores, 0.0)
        return np.where(allowed, reference.softmax(handed[how]), 0.0).sum(axis=-1)

    return sums


# --- what is predicted ------------------------------------------------------------------------


def _probabilities(ran: Ran) -> Array:
    return np.exp(log_softmax(ran.arrays["output"]))


def probabilities_of(ran: Ran, token: int) -> Array:
    """The probability of one token after each, (T,)."""
    return _probabilities(ran)[:, token]


def past(ran: Ran, token: int) -> Array:
    """The largest change of a next-token probability at each token when the last is another.

    Under the run's own mask. (T,).
    """
    ids = [*ran.arrays["decoder.ids"][:-1].tolist(), token]
    mask = ran.arrays["decoder.blocks.0.attn.mask"]
    other = dict(reference.arrays(ran.files, ids, mask))["output"]
    return np.abs(np.exp(log_softmax(other)) - _probabilities(ran)).max(axis=-1)


def mean_pattern(ran: Ran) -> Array:
    """The mean pattern of all heads of all layers, (T, T)."""
    return ran.each_layer("pattern").mean(axis=(0, 1))


# --- padding ----------------------------------------------------------------------------------


def pad_shares(ran: Ran, start: int, stop: int) -> Array:
    """The share of each head's weight that the other tokens give to keys start to stop, (L, H)."""
    is_pad = np.zeros(len(ran.arrays["decoder.ids"]), bool)
    is_pad[start:stop] = True
    pattern = ran.each_layer("pattern")[:, :, ~is_pad]  # (L, H, own, T)
    return pattern[..., is_pad].sum(axis=(-2, -1)) / (~is_pad).sum()


def pad_change(ran: Ran, start: int, stop: int) -> Array:
    """How far logits are from those of the text without tokens start to stop; relative."""
    own = np.r_[0:start, stop : len(ran.arrays["decoder.ids"])]
    alone = dict(reference.arrays(ran.files, ran.arrays["decoder.ids"][own]))["output"]
    difference = np.abs(ran.arrays["output"][own] - alone).max()
    return difference / max(1.0, np.abs(alone).max())


# --- the cache --------------------------------------------------------------------------------


def cache_bytes(ran: Ran, n_tokens: int) -> Array:
    """Bytes of keys and values of so many tokens in all layers, in float32."""
    k = ran.arrays["decoder.blocks.0.attn.k"]  # (G, T, Dh)
    return np.array(ran.n_layers * 2 * len(k) * k.shape[-1] * n_tokens * BYTES)


def known_bytes(ran: Ran, n_tokens: int) -> Array:
    """Bytes of the cache of each known model, as published and in four other layouts, (models, 5).

    The sizes of assets/known_models.toml: layers × what a layer keeps of a token × bytes of a value
    × the tokens that are kept. NaN where the heads cannot share 8 key-value heads.
    """
    rows = []
    for entry in tomllib.loads(KNOWN.read_text(encoding="utf-8"))["model"]:
        d_head, window = entry["d_head"], entry.get("window", 0)
        tokens = entry["n_layers"] * (min(n_tokens, window) if window else n_tokens)
        published = entry.get("latent", 0) or 2 * entry["n_kv_heads"] * d_head
        grouped = np.nan if entry["n_heads"] % 8 else 2 * 8 * d_head * 2
        full, latent = 2 * entry["n_heads"] * d_head * 2, (4 * d_head + d_head // 2) * 2
        rows.append([tokens * kept for kept in (2 * published, published, full, grouped, latent)])
    return np.array(rows)


SIZES = ("n_layers", "n_heads", "n_kv_heads", "d_head", "latent", "max_seq_len")


def known_sizes(ran: Ran) -> Array:
    """The sizes of each known model, (models, 6), in the order of `SIZES`; 0 of what it has not."""
    models = tomllib.loads(KNOWN.read_text(encoding="utf-8"))["model"]
    return np.array([[entry.get(name, 0) for name in SIZES] for entry in models])


COUNTED: dict[str, Callable[..., Array]] = {
    **{f"masks.{kind}": mask(kind) for kind in KINDS},
    **{f"pairs.{kind}": pairs(kind) for kind in KINDS},
    "mask.known": known,
    "mask.future_mean": lambda ran: future(ran).mean(),
    "mask.future_most": lambda ran: future(ran).max(),
    "mask.longest": lambda ran: np.nanmax(reach(ran)),
    "mask.never": lambda ran: np.isnan(reach(ran)).sum(),
    "losses.mean": lambda ran: losses(ran).mean(),
    "losses.without_pads": lambda ran, n: losses(ran)[: len(losses(ran)) - n].mean(),
    "probabilities": probabilities_of,
    "past.changes": past,
    "past.largest": lambda ran, token: past(ran, token)[:-1].max(),
    "attention.mean": mean_pattern,
    "pads.shares": pad_shares,
    "pads.mean": lambda ran, start, stop: pad_shares(ran, start, stop).mean(),
    "pads.change": pad_change,
    "cache.bytes": cache_bytes,
    "known.bytes": known_bytes,
    "known.sizes": known_sizes,
}
COUNTED_OF_A_SITE: dict[str, Callable[..., Array]] = {
    f"kept_{how}": kept(how) for how in ("before", "score_zero", "after")
}
