"""What figures show beyond a trace, worked out once more from the independent run.

Each entry of `DERIVED` makes one array from the arrays of `model.reference` and from the files
alone, in plain numpy float64: nothing here calls the code that made the figures.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from model import reference
from model.verify.stated import NEITHER, leading_ids
from model.verify.texts import NO_WORDS, Vocabulary

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Ran:
    """An independent run: the files it read, all of its arrays, and what tokens stand for."""

    files: reference.Files
    arrays: Mapping[str, Array]
    vocabulary: Vocabulary = NO_WORDS
    before: "Ran | None" = None  # of a run with parts off: the same with nothing off

    @property
    def unedited(self) -> "Ran":
        """The run with nothing off."""
        return self.before or self

    @property
    def model(self) -> reference.Reader:
        """Its weights by their names."""
        return reference.Reader(self.files)

    @property
    def n_layers(self) -> int:
        """How many blocks there are."""
        return int(self.files.config["n_layers"])

    def each_layer(self, name: str) -> Array:
        """One array of every layer's attention, (L, …)."""
        layers = range(self.n_layers)
        return np.stack([self.arrays[f"decoder.blocks.{layer}.attn.{name}"] for layer in layers])


# --- heads ------------------------------------------------------------------------------------


def product(ran: Ran, site: str) -> Array:
    """q·kᵀ of each head, (H, Tq, Tk)."""
    q, k = ran.arrays[f"{site}.q"], ran.arrays[f"{site}.k"]
    return q @ np.repeat(k, len(q) // len(k), axis=0).swapaxes(-2, -1)


def scaled(ran: Ran, site: str) -> Array:
    """q·kᵀ / √Dh of each head, (H, Tq, Tk)."""
    return product(ran, site) / math.sqrt(ran.arrays[f"{site}.q"].shape[-1])


def unmasked(name: str) -> Callable[[Ran, str], Array]:
    """An array of each head as it is drawn, (H, Tq, Tk): NaN where it is masked."""

    def drawn(ran: Ran, site: str) -> Array:
        return np.where(ran.arrays[f"{site}.mask"], ran.arrays[f"{site}.{name}"], np.nan)

    return drawn


def mean_pattern(ran: Ran, site: str) -> Array:
    """The mean of the heads of a site, (Tq, Tk); of decoder.cross_attn that of all its layers."""
    stack, _, module = site.rpartition(".")
    name = re.compile(rf"{re.escape(stack)}\.blocks\.\d+\.{re.escape(module)}\.pattern")
    own = f"{site}.pattern"
    wanted = [own] if own in ran.arrays else [x for x in ran.arrays if name.fullmatch(x)]
    if not wanted:
        raise KeyError(site)
    return np.concatenate([ran.arrays[x] for x in wanted]).mean(axis=0)


OF_A_SITE: dict[str, Callable[[Ran, str], Array]] = {
    "product": product,
    "scaled": scaled,
    "mean_pattern": mean_pattern,
    **{f"unmasked_{name}": unmasked(name) for name in ("pattern", "scores", "bias")},
}


# --- what the model would say -----------------------------------------------------------------


def log_softmax(logits: Array) -> Array:
    """ln of the softmax of each row."""
    from_top = logits - logits.max(axis=-1, keepdims=True)
    return from_top - np.log(np.exp(from_top).sum(axis=-1, keepdims=True))


@lru_cache(maxsize=1)  # three figures of one page are made of it
def lens(ran: Ran) -> Array:
    """Log probabilities of the vocabulary at each height, (L + 1, T, V).

    The stream before the first block and after each, through the final norm, where there is one,
    and the unembedding (nostalgebraist 2020).
    """
    after = [ran.arrays[f"decoder.blocks.{i}.resid_post"] for i in range(ran.n_layers)]
    heights = [ran.arrays["decoder.blocks.0.resid_pre"], *after]
    if ran.files.config["norm_placement"] == "pre":
        heights = [ran.model.norm("final_norm", x) for x in heights]
    return log_softmax(np.stack([reference.unembedded(ran.model, x, "embed") for x in heights]))


def log_probability(files: reference.Files, prompt: Sequence[int], text: Sequence[int]) -> float:
    """Σ ln p of the tokens of a text after a prompt, each given all before it, of a decoder."""
    arrays = dict(reference.arrays(files, [*prompt, *text]))
    log_probs = log_softmax(arrays["output"])
    places = np.arange(len(prompt) - 1, len(prompt) + len(text) - 1)
    return float(log_probs[places, np.array(text)].sum())


def lens_top(ran: Ran) -> Array:
    """The probability of the most likely token, (L + 1, T)."""
    return np.exp(lens(ran).max(axis=-1))


def lens_entropy(ran: Ran) -> Array:
    """−Σ p ln p in nats, (L + 1, T)."""
    log_probs = lens(ran)
    return -(np.exp(log_probs) * log_probs).sum(axis=-1)


def lens_place(ran: Ran) -> Array:
    """The place of the last row's answer among all tokens, from 1, (L + 1, T)."""
    log_probs = lens(ran)
    answers = log_probs[-1].argmax(axis=-1)[None, :, None]  # (1, T, 1)
    of_answer = np.take_along_axis(log_probs, np.repeat(answers, len(log_probs), axis=0), -1)
    return 1 + (log_probs > of_answer).sum(axis=-1)


MOST_LIKELY = 16


def lens_falling(ran: Ran) -> Array:
    """The largest probabilities, largest first, (L + 1, T, at most 16)."""
    return np.exp(-np.sort(-lens(ran), axis=-1)[..., :MOST_LIKELY])


def lens_words(ran: Ran) -> Array:
    """Ids of the most likely tokens, (L + 1, T, 16), see `leading_ids`."""
    return leading_ids(lens(ran), MOST_LIKELY)


def lens_bold(ran: Ran) -> Array:
    """1 where the final answer is the most likely already, (L + 1, T), else 0.

    NaN where rounding decides.
    """
    best, answers = lens_words(ran)[..., 0], lens_words(ran)[-1, :, 0]
    is_open = (best == NEITHER) | (answers == NEITHER)
    return np.where(is_open, np.nan, best == answers)


def given(ran: Ran) -> Array:
    """The probability predicted for each token, (T,); NaN for the first."""
    log_probs, ids = log_softmax(ran.arrays["output"]), ran.arrays["decoder.ids"]
    predicted = log_probs[np.arange(len(ids) - 1), ids[1:]]
    return np.concatenate([[np.nan], np.exp(predicted)])


def losses(ran: Ran) -> Array:
    """−ln of the probability predicted for each token but the first, (T − 1,)."""
    return -np.log(given(ran)[1:])


# --- order ------------------------------------------------------------------------------------


def position_table(ran: Ran) -> Array:
    """The vectors added at every position of the context, (max_seq_len, D)."""
    return reference.position_vectors(ran.model, ran.files.config["max_seq_len"])


def position_cosines(ran: Ran) -> Array:
    """a·b / |a||b| of every two of them, (max_seq_len, max_seq_len); 0 of a vector of zeros."""
    table = position_table(ran)
    lengths = np.sqrt((table**2).sum(axis=-1, keepdims=True))
    unit = table / np.where(lengths > 0, lengths, 1.0)
    return unit @ unit.T


def position_wavelengths(ran: Ran) -> Array:
    """2π · base^(2i/D) positions for pair i (Vaswani et al. 2017, §3.5), (D / 2,)."""
    d_model, base = ran.files.config["d_model"], ran.files.config["position_base"]
    return 2 * math.pi * base ** (np.arange(0, d_model, 2) / d_model)


def embedded(ran: Ran) -> Array:
    """Embedding and position vector together, (T, D)."""
    return ran.arrays["decoder.embed"] + ran.arrays["decoder.positions"]


def slopes(ran: Ran) -> Array:
    """The slope of each head under ALiBi, (H,)."""
    return np.array(reference.alibi_slopes(ran.files.config["n_heads"]))


# --- masks ------------------------------------------------------------------------------------


def allowed(ran: Ran) -> Array:
    """1 where a query may attend, NaN where it may not, (T, T); a mask that all heads share."""
    return np.where(ran.arrays["decoder.blocks.0.attn.mask"], 1.0, np.nan)


def reach(ran: Ran) -> Array:
    """Layers until a token can be influenced by another, (T, T); NaN where it never is.

    Paths of n steps along the mask: the n-th power of it, as a matrix of truth values.
    """
    step = ran.arrays["decoder.blocks.0.attn.mask"].astype(np.int64)
    step = np.minimum(step + np.eye(len(step), dtype=np.int64), 1)  # the residual keeps a token
    found = np.full(step.shape, np.nan)
    np.fill_diagonal(found, 0)
    reached = np.eye(len(step), dtype=np.int64)
    for n in range(1, len(step) + 1):
        reached = np.minimum(reached @ step, 1)
        found[np.isnan(found) & (reached > 0)] = n
    return found


def future(ran: Ran) -> Array:
    """The share of each head's weight that lies on later tokens, (L, H)."""
    pattern = ran.each_layer("pattern")  # (L, H, T, T)
    later = np.triu(np.ones(pattern.shape[-2:]), 1)
    return (pattern * later).sum(axis=(-2, -1)) / pattern.sum(axis=(-2, -1))


# --- the cache --------------------------------------------------------------------------------


def key_lengths(ran: Ran) -> Array:
    """√(Σ k²) of each key, (L, G, T)."""
    return np.sqrt((ran.each_layer("k") ** 2).sum(axis=-1))


def value_lengths(ran: Ran) -> Array:
    """√(Σ v²) of each value, (L, G, T)."""
    return np.sqrt((ran.each_layer("v") ** 2).sum(axis=-1))


DERIVED: dict[str, Callable[[Ran], Array]] = {
    "lens.top": lens_top,
    "lens.entropy": lens_entropy,
    "lens.place": lens_place,
    "lens.falling": lens_falling,
    "lens.words": lens_words,
    "lens.bold": lens_bold,
    "given": given,
    "losses": losses,
    "positions.table": position_table,
    "positions.cosines": position_cosines,
    "positions.wavelengths": position_wavelengths,
    "positions.embedded": embedded,
    "positions.slopes": slopes,
    "mask.allowed": allowed,
    "mask.reach": reach,
    "mask.future": future,
    "cache.keys": key_lengths,
    "cache.values": value_lengths,
    "cache.mean_keys": lambda ran: key_lengths(ran).mean(axis=1),
    "cache.mean_values": lambda ran: value_lengths(ran).mean(axis=1),
}
