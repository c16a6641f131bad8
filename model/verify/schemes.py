"""What the page on positions shows beyond a trace, worked out once more from the independent run.

Entries as those of `model.verify.derived`; some take whole numbers, which end their address:
waves.product.3.0. Nothing here calls the code that made the figures.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from model import reference
from model.verify.derived import Ran, log_softmax
from model.verify.stated import NEITHER

Array = np.ndarray
MOST_COMPARED = 256  # rows of a table that are compared with each other
ALIKE = 1e-3  # of the largest change: one that is nearer may be the largest in float32


# --- waves and tables -------------------------------------------------------------------------


def sinusoids(ran: Ran) -> Array:
    """The sinusoidal table of this size (Vaswani et al. 2017, §3.5), whatever the model's scheme.

    (max_seq_len, D).
    """
    config = {**ran.files.config, "position": "sinusoidal"}
    return reference.position_vectors(
        reference.Reader(reference.Files(config, {})), config["max_seq_len"]
    )


def cosines(table: Array) -> Array:
    """a·b / |a||b| of every two of the first rows, (N, N); 0 of a row of zeros."""
    rows = table[:MOST_COMPARED]
    lengths = np.sqrt((rows**2).sum(axis=-1, keepdims=True))
    unit = rows / np.where(lengths > 0, lengths, 1.0)
    return unit @ unit.T


def neighbours(table: Array) -> Array:
    """The mean cosine of rows next to each other; 1 of a single row."""
    found = cosines(table)
    return np.array(np.diagonal(found, 1).mean() if len(found) > 1 else 1.0)


def apart(table: Array) -> Array:
    """The mean cosine of rows that are half of the compared ones apart."""
    found = cosines(table)
    return np.array(np.diagonal(found, len(found) // 2).mean())


def own_table(ran: Ran) -> Array:
    """The vectors added at every position of the context, (max_seq_len, D)."""
    return reference.position_vectors(ran.model, ran.files.config["max_seq_len"])


def wave_speeds(ran: Ran) -> Array:
    """base^(−2i/D) radians per position for pair i, (D / 2,)."""
    return _speeds(ran, ran.files.config["d_model"])


def _speeds(ran: Ran, width: int) -> Array:
    return ran.files.config["position_base"] ** (-np.arange(0, width, 2) / width)


def wave_shares(ran: Ran, first: int, second: int) -> Array:
    """What each pair of dimensions adds to the dot product of two positions, (D / 2,)."""
    a, b = sinusoids(ran)[[first, second]]
    return (a * b).reshape(-1, 2).sum(axis=-1)


def typical(name: str) -> Callable[[Ran], Array]:
    """The root mean square of an array."""
    return lambda ran: np.sqrt((_summand(ran, name) ** 2).mean())


def _summand(ran: Ran, name: str) -> Array:
    if name == "embedded":
        return ran.arrays["decoder.embed"] + ran.arrays["decoder.positions"]
    return ran.arrays[f"decoder.{name}"]


def parameters(ran: Ran) -> Array:
    """How many trained numbers the scheme has, and the whole model, (2,)."""
    sizes = {name: ran.files.weights[name].size for name in ran.files.weights}
    of_scheme = [n for name, n in sizes.items() if name.startswith("position.")]
    return np.array([sum(of_scheme), sum(sizes.values())])


# --- RoPE -------------------------------------------------------------------------------------


def _d_head(ran: Ran) -> int:
    return ran.arrays["decoder.blocks.0.attn.q"].shape[-1]


def rope_speeds(ran: Ran) -> Array:
    """base^(−2i/Dh) radians per position for pair i (Su et al. 2021, eq. 15), (Dh / 2,)."""
    return _speeds(ran, _d_head(ran))


def rope_turns(ran: Ran) -> Array:
    """The angle of each pair at each position, as a share of a turn, (max_seq_len, Dh / 2)."""
    angles = np.outer(np.arange(ran.files.config["max_seq_len"]), rope_speeds(ran))
    return angles / (2 * math.pi) % 1


def rope_wavelengths(ran: Ran) -> Array:
    """How many positions each pair takes for one turn, (Dh / 2,)."""
    return 2 * math.pi / rope_speeds(ran)


def unrotated(name: str, n_heads: str) -> Callable[[Ran, str], Array]:
    """Queries or keys as their projection gives them, before any rotation, (H, T, Dh)."""

    def projected(ran: Ran, site: str) -> Array:
        where = site.removesuffix(".attn")
        block = ran.model.part(where.removeprefix("decoder."))
        x = ran.arrays[f"{where}.resid_pre"]
        if ran.files.config["norm_placement"] == "pre":
            x = block.norm("attn_norm", x)
        return reference.heads_of(block.part("attn").linear(name, x), ran.files.config[n_heads])

    return projected


unrotated_q = unrotated("q_proj", "n_heads")
unrotated_k = unrotated("k_proj", "n_kv_heads")


def unrotated_scores(ran: Ran, site: str) -> Array:
    """q·kᵀ / √Dh had nothing been rotated, (H, T, T); NaN where masked."""
    q, k = unrotated_q(ran, site), unrotated_k(ran, site)
    scores = q @ np.repeat(k, len(q) // len(k), axis=0).swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    return np.where(ran.arrays[f"{site}.mask"], scores, np.nan)


def moved_shares(ran: Ran, site: str, *at: int) -> Array:
    """What each pair adds to a score when a query stands at one position and a key at another.

    at: the two positions, then which query and which key. Each pair as a complex number, turned by
    e^(i·m·θ). (H, Dh / 2).
    """
    query_at, key_at, query, key = _four(at)
    q = _as_numbers(unrotated_q(ran, site)[:, query])
    k = _as_numbers(unrotated_k(ran, site)[:, key])
    turn = np.exp(1j * (query_at - key_at) * rope_speeds(ran))
    shares = q * turn * np.repeat(k, len(q) // len(k), axis=0).conj()
    return np.real(shares) / math.sqrt(2 * q.shape[-1])


def _four(numbers: tuple[int, ...]) -> tuple[int, ...]:
    if len(numbers) != 4:
        raise ValueError(f"a moved score has two positions, a query and a key, not {len(numbers)}")
    return numbers


def _as_numbers(x: Array) -> Array:
    """Dimensions i and i + Dh/2 as one complex number, (H, Dh / 2)."""
    half = x.shape[-1] // 2
    return x[..., :half] + 1j * x[..., half:]


# --- ALiBi ------------------------------------------------------------------------------------


def slopes(ran: Ran, n_heads: int) -> Array:
    """The slopes of so many heads, (n_heads,). ValueError for a number nobody asks for."""
    if not 1 <= n_heads <= 1024:
        raise ValueError(f"{n_heads} heads: slopes are worked out for 1 to 1024")
    return np.array(reference.alibi_slopes(n_heads))


def unbiased(ran: Ran, site: str) -> Array:
    """Each head's pattern had no bias been added, (H, T, T); NaN where masked."""
    mask = np.asarray(ran.arrays[f"{site}.mask"])
    scores = ran.arrays[f"{site}.scores"] - ran.arrays.get(f"{site}.bias", 0.0)
    return np.where(mask, reference.softmax(np.where(mask, scores, -np.inf)), np.nan)


def bias_effect(ran: Ran, site: str) -> Array:
    """Each head's pattern less that without the bias, (H, T, T); NaN where masked."""
    return ran.arrays[f"{site}.pattern"] - unbiased(ran, site)


def distances(ran: Ran, site: str) -> Array:
    """The mean distance between a query and what it attends to, of each head, (H,)."""
    return _mean_distances(ran.arrays[f"{site}.pattern"])


def unbiased_distances(ran: Ran, site: str) -> Array:
    """The same had no bias been added, (H,)."""
    return _mean_distances(np.nan_to_num(unbiased(ran, site)))


def _mean_distances(pattern: Array) -> Array:
    i, j = np.indices(pattern.shape[-2:])
    return (pattern * np.abs(i - j)).sum(axis=(-2, -1)) / pattern.shape[-1]


# --- another order ----------------------------------------------------------------------------


@lru_cache(maxsize=8)  # three figures of one page are made of two of them; two models at most
def _outputs(ran: Ran, order: tuple[int, ...], is_masked: bool) -> Array:
    ids = ran.arrays["decoder.ids"][list(order)]
    mask = None if is_masked else reference.all_of(ids)
    arrays = dict(reference.arrays(ran.files, ids, mask))
    stream = arrays[f"decoder.blocks.{ran.n_layers - 1}.resid_post"]
    if ran.files.config["norm_placement"] == "pre":
        return ran.model.norm("final_norm", stream)
    return stream


def _swapped(ran: Ran, first: int, second: int) -> tuple[int, ...]:
    order = list(range(len(ran.arrays["decoder.ids"])))
    order[first], order[second] = order[second], order[first]
    return tuple(order)


def outputs(is_masked: bool) -> Callable[[Ran], Array]:
    """What the unembedding reads of each token, under the model's mask or none, (T, D)."""
    return lambda ran: _outputs(ran, _swapped(ran, 0, 0), is_masked)


def swapped(is_masked: bool) -> Callable[[Ran, int, int], Array]:
    """The same when two tokens have changed places, in their new order, (T, D)."""
    return lambda ran, first, second: _outputs(ran, _swapped(ran, first, second), is_masked)


def changed(is_masked: bool) -> Callable[[Ran, int, int], Array]:
    """The second less the first, its rows put back, (T, D)."""

    def difference(ran: Ran, first: int, second: int) -> Array:
        order = _swapped(ran, first, second)  # its own inverse
        put_back = _outputs(ran, order, is_masked)[list(order)]
        return put_back - _outputs(ran, _swapped(ran, 0, 0), is_masked)

    return difference


def relative(is_masked: bool) -> Callable[[Ran, int, int], Array]:
    """The largest change, by the largest output where that is above one."""

    def error(ran: Ran, first: int, second: int) -> Array:
        largest = np.abs(outputs(is_masked)(ran)).max()
        return np.abs(changed(is_masked)(ran, first, second)).max() / max(1.0, largest)

    return error


def most_changed(is_masked: bool) -> Callable[[Ran, int, int], Array]:
    """The id of the token whose outputs change most; −1 where another's may as well."""

    def token(ran: Ran, first: int, second: int) -> Array:
        sizes = np.abs(changed(is_masked)(ran, first, second)).max(axis=-1)
        is_most = sizes >= sizes.max() * (1 - ALIKE)
        ids = ran.arrays["decoder.ids"]
        return np.array(ids[sizes.argmax()] if is_most.sum() == 1 else NEITHER)

    return token


def rolled(ran: Ran) -> Array:
    """The largest change of an output without a mask when the first token is put last; relative."""
    n = len(ran.arrays["decoder.ids"])
    order = (*range(1, n), 0)
    before = _outputs(ran, tuple(range(n)), is_masked=False)[list(order)]
    difference = np.abs(_outputs(ran, order, is_masked=False) - before).max()
    return difference / max(1.0, np.abs(before).max())


def change_when_moved(ran: Ran, shift: int) -> Array:
    """The largest change of a next-token probability when all tokens stand later.

    `shift` tokens that none may attend to stand before them.
    """
    ids = ran.arrays["decoder.ids"]
    longer: Sequence[int] = [*[0] * shift, *ids.tolist()]
    i, j = np.indices((len(longer), len(longer)))
    arrays = dict(reference.arrays(ran.files, longer, (j <= i) & (j >= shift)))
    moved = np.exp(log_softmax(arrays["output"][shift:]))
    return np.abs(moved - np.exp(log_softmax(ran.arrays["output"]))).max()


def stored(ran: Ran, window: int) -> Mapping[str, Any]:
    """What was measured on held-out text in windows of this length, by the checkpoint's file.

    KeyError where there is none.
    """
    if ran.files.folder is None:
        raise KeyError(window)
    lines = json.loads((ran.files.folder / "held_out.json").read_text(encoding="utf-8"))
    return {line["window"]: line for line in lines}[window]


def stored_losses(ran: Ran, window: int) -> Array:
    """Mean loss of each stretch of positions, in nats."""
    return np.array(stored(ran, window)["by_position"])


def stored_places(ran: Ran, window: int) -> Array:
    """The middle of each stretch."""
    n = len(stored_losses(ran, window))
    return (np.arange(n) + 0.5) * (window / n)


def _around(ran: Ran, window: int, trained: int) -> tuple[float, float]:
    """Mean loss in the second half of the trained windows, and at later positions."""
    found = stored_losses(ran, window)
    end = trained * len(found) // window
    return float(found[end // 2 : end].mean()), float(found[end:].mean())


def beyond(*, is_more: bool) -> Callable[..., Array]:
    """The loss at later positions, where it is more, or not, than before; else none."""

    def loss(ran: Ran, window: int, trained: int) -> Array:
        inside, later = _around(ran, window, trained)
        return np.array(later if (later > inside) == is_more else np.nan)

    return loss


OF_SCHEMES: dict[str, Callable[..., Array]] = {
    "positions.neighbours": lambda ran: neighbours(own_table(ran)),
    "positions.apart": lambda ran: apart(own_table(ran)),
    "positions.speeds": wave_speeds,
    "positions.parameters": parameters,
    "positions.moved": change_when_moved,
    "stored.losses": stored_losses,
    "stored.places": stored_places,
    "stored.bits": lambda ran, window: np.array(stored(ran, window)["bits_per_byte"]),
    "stored.inside": lambda ran, window, trained: np.array(_around(ran, window, trained)[0]),
    "stored.more": beyond(is_more=True),
    "stored.no_more": beyond(is_more=False),
    "waves.cosines": lambda ran: cosines(sinusoids(ran)),
    "waves.neighbours": lambda ran: neighbours(sinusoids(ran)),
    "waves.apart": lambda ran: apart(sinusoids(ran)),
    "waves.shares": wave_shares,
    "waves.product": lambda ran, m, n: wave_shares(ran, m, n).sum(),
    "size.embed": typical("embed"),
    "size.positions": typical("positions"),
    "size.embedded": typical("embedded"),
    "rope.speeds": rope_speeds,
    "rope.turns": rope_turns,
    "rope.wavelengths": rope_wavelengths,
    "alibi.slopes": slopes,
    "order.outputs": outputs(is_masked=True),
    "order.open_outputs": outputs(is_masked=False),
    "order.swapped": swapped(is_masked=True),
    "order.open_swapped": swapped(is_masked=False),
    "order.changed": changed(is_masked=True),
    "order.open_changed": changed(is_masked=False),
    "order.most": lambda ran, a, b: np.abs(changed(is_masked=True)(ran, a, b)).max(),
    "order.open_most": lambda ran, a, b: np.abs(changed(is_masked=False)(ran, a, b)).max(),
    "order.at": most_changed(is_masked=True),
    "order.open_at": most_changed(is_masked=False),
    "order.rolled": rolled,
    "order.relative": relative(is_masked=True),
    "order.open_relative": relative(is_masked=False),
    "order.largest": lambda ran: np.abs(outputs(is_masked=True)(ran)).max(),
    "order.open_largest": lambda ran: np.abs(outputs(is_masked=False)(ran)).max(),
}
SCHEMES_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "unrotated_q": unrotated_q,
    "unrotated_k": unrotated_k,
    "unmasked_unrotated": unrotated_scores,
    "moved_scores": lambda ran, site, *at: moved_shares(ran, site, *at).sum(axis=-1),
    "moved_shares": moved_shares,
    "unmasked_unbiased": unbiased,
    "bias_effect": bias_effect,
    "distances": distances,
    "unbiased_distances": unbiased_distances,
}
