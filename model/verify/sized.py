"""What the page on cost counts, worked out once more: every tensor of a model, by its shape.

Addresses end with the sizes: shape.parameters.L.D.H.G.Dh.F.V.P.switches for a model that is not in
assets/known_shapes.toml, and shapes.parameters.i for one that is; operations and memory have the
number of tokens before them. The switches are the digits of norm vectors, biases, gate, tied
embeddings and final norm, each after the other.
"""

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
KNOWN = Path(__file__).parents[2] / "assets" / "known_shapes.toml"
LENGTHS = tuple(4**power for power in range(2, 11))  # of contexts
PARTS = ("embedding", "positions", "attention", "feed-forward", "norms", "unembedding")
SIZES = ("n_layers", "d_model", "n_heads", "n_kv_heads", "d_head", "d_ff", "vocab_size",
         "positions")  # fmt: skip
SWITCHES = {"norm_vectors": 1, "biases": 0, "gated": 0, "tied": 0, "final_norm": 1}
Sizes = Mapping[str, Any]


class Tensor(NamedTuple):
    """One weight: its part, its shape, how many layers have it, and the share a token meets.

    `is_bias` says that it is added and not multiplied.
    """

    part: str
    shape: tuple[int, ...]
    times: int = 1
    met: float = 1.0
    is_bias: bool = False

    @property
    def numbers(self) -> int:
        """Its numbers in all layers."""
        return math.prod(self.shape) * self.times


@lru_cache(maxsize=1)
def _known() -> list[dict[str, Any]]:
    return tomllib.loads(KNOWN.read_text(encoding="utf-8"))["model"]


def _own(*numbers: int) -> dict[str, Any]:
    if len(numbers) != len(SIZES) + 1:
        raise KeyError(numbers)
    digits = map(int, f"{numbers[-1]:0{len(SWITCHES)}d}")
    return {**dict(zip(SIZES, numbers, strict=False)), **dict(zip(SWITCHES, digits, strict=True))}


def tensors(sizes: Sizes) -> Iterator[Tensor]:
    """Every weight of a model."""
    get = {"positions": 0, **SWITCHES, **sizes}
    n, d = get["n_layers"], get["d_model"]
    yield Tensor("embedding", (get["vocab_size"], d))
    yield Tensor("positions", (get["positions"], d))
    yield from _attention(get, n, d)
    yield from _feedforward(get, n, d)
    yield Tensor("norms", (get["norm_vectors"], d), 2 * n + get["final_norm"])
    if not get["tied"]:
        yield Tensor("unembedding", (get["vocab_size"], d))


def _attention(get: Sizes, n: int, d: int) -> Iterator[Tensor]:
    heads, part = get["n_heads"], "attention"
    if "latent" in get:
        latent = get["latent"]
        query, kv, rope, plain, value = (
            latent[x] for x in ("query", "kv", "rope", "plain", "value")
        )
        for shape in ((d, query), (query, heads, plain + rope), (d, kv + rope),
                      (kv, heads, plain), (kv, heads, value), (heads, value, d)):  # fmt: skip
            yield Tensor(part, shape, n)
        yield from (Tensor("norms", (size,), n) for size in (query, kv))
        return
    for count in (heads, get["n_kv_heads"], get["n_kv_heads"]):
        yield Tensor(part, (d, count, get["d_head"]), n)
        yield Tensor(part, (count, get["d_head"]), n * get["biases"], is_bias=True)
    yield Tensor(part, (heads, get["d_head"], d), n)
    yield Tensor(part, (d,), n * get["biases"], is_bias=True)


def _feedforward(get: Sizes, n: int, d: int) -> Iterator[Tensor]:
    part, matrices = "feed-forward", 3 if get["gated"] else 2
    experts = get.get("experts")
    dense = experts.get("dense", 0) if experts else n
    yield Tensor(part, (matrices, d, get["d_ff"]), dense)
    yield Tensor(part, (matrices - 1, get["d_ff"]), dense * get["biases"], is_bias=True)
    yield Tensor(part, (d,), dense * get["biases"], is_bias=True)
    if experts:
        one, routed = (matrices, d, experts["d_expert"]), experts["routed"]
        yield Tensor(part, (experts["shared"], *one), n - dense)
        yield Tensor(part, (routed, *one), n - dense, experts["active"] / routed)
        yield Tensor(part, (routed, d), n - dense)
        yield Tensor(part, (routed,), (n - dense) * experts.get("has_bias", 0), is_bias=True)


def _parameters(sizes: Sizes) -> Array:
    """By part, (6,), then all of them, and those that a token goes through."""
    found = list(tensors(sizes))
    counts = [sum(x.numbers for x in found if x.part == part) for part in PARTS]
    met = sum(round(x.numbers * x.met) for x in found)
    return np.array([*counts, sum(counts), met], dtype=float)


def _block(sizes: Sizes) -> Array:
    """What a dense block without its norms has, see `of_block`."""
    dense = {name: size for name, size in sizes.items() if name != "experts"}
    one = list(tensors({**dense, "n_layers": 1}))
    parts = [sum(x.numbers for x in one if x.part == y) for y in ("attention", "feed-forward")]
    return of_block(sizes["d_model"], sizes["d_ff"], *parts)


def of_block(d_model: int, d_ff: int, attention: float, feedforward: float) -> Array:
    """12 · D², 6 · D², all weights, attention, feed-forward, all / D², F / D. (7,)."""
    square, both = d_model**2, attention + feedforward
    numbers = [12 * square, 6 * square, both, attention, feedforward, both / square]
    return np.array([*numbers, d_ff / d_model], dtype=float)


def _layers(ran: "Ran", n: int, d: int, kernel: int, window: int) -> Array:
    """Operations, steps and path of four kinds of layers (Vaswani et al. 2017, table 1), (4, 3).

    Attention, recurrence, dilated convolution, attention in a window.
    """
    powers = next(steps for steps in range(1, 64) if kernel**steps >= n)
    rows = (
        (n**2 * d, 1, 1),
        (n * d**2, n, n),
        (kernel * n * d**2, 1, powers),
        (n * min(n, window) * d, 1, math.ceil(n / window)),
    )
    return np.array(rows, dtype=float)


def _operations(sizes: Sizes, n_tokens: int) -> Array:
    """Of one token: projections, attention, feed-forward, unembedding and all of them, (5,)."""
    weights = [x for x in tensors(sizes) if not x.is_bias]

    def of(part: str) -> float:
        return sum(2 * x.numbers * x.met for x in weights if x.part == part)

    latent = sizes.get("latent")
    each = (
        latent["rope"] + latent["plain"] + latent["value"] if latent else 2 * sizes["d_head"]
    )  # of a head's products with one key and one value
    attended = 2.0 * n_tokens * each * sizes["n_heads"] * sizes["n_layers"]
    unembedded = 2.0 * sizes["vocab_size"] * sizes["d_model"]
    found = [of("attention"), attended, of("feed-forward"), unembedded]
    return np.array([*found, sum(found)])


def _growth(sizes: Sizes) -> Array:
    """Operations of one token by part that attends to so many tokens as `LENGTHS` has, (4, 9)."""
    return np.stack([_operations(sizes, n)[:-1] for n in LENGTHS], axis=1)


def _memory(sizes: Sizes, n_tokens: int) -> Array:
    """Bytes of weights, of training, of the cache and of all maps, (4,), values of two bytes."""
    total = _parameters(sizes)[len(PARTS)]
    latent, layers = sizes.get("latent"), sizes["n_layers"]
    kept = latent["kv"] + latent["rope"] if latent else 2 * sizes["n_kv_heads"] * sizes["d_head"]
    maps = layers * sizes["n_heads"] * n_tokens**2
    return np.array([2 * total, 16 * total, 2 * layers * kept * n_tokens, 2 * maps], dtype=float)


def _both(count: Callable[..., Array], name: str) -> dict[str, Callable[..., Array]]:
    """The same of a known model by its place, and of any by its sizes; tokens come first."""
    n_before = 0 if count in (_parameters, _growth, _block) else 1

    def of_known(ran: "Ran", *numbers: int) -> Array:
        *before, place = numbers
        return count(_known()[place], *before)

    def of_own(ran: "Ran", *numbers: int) -> Array:
        return count(_own(*numbers[n_before:]), *numbers[:n_before])

    return {f"shapes.{name}": of_known, f"shape.{name}": of_own}


def shares_of(first: Array, *numbers: int) -> Array:
    """The share of each part in the weights, (6, N), see `counts_of`."""
    counts = counts_of(first, *numbers)
    return counts / counts.sum(axis=0)


def counts_of(first: Array, *numbers: int) -> Array:
    """The weights of each part, (6, N): of a model by its counts, of further ones by their sizes,

    then of all known.
    """
    each = len(SIZES) + 1
    if len(numbers) % each:
        raise KeyError(numbers)
    own = [_own(*numbers[at : at + each]) for at in range(0, len(numbers), each)]
    counted = [_parameters(sizes)[: len(PARTS)] for sizes in (*own, *_known())]
    return np.stack([first, *counted], axis=1)


SIZED: dict[str, Callable[..., Array]] = {
    **_both(_parameters, "parameters"),
    **_both(_operations, "operations"),
    **_both(_memory, "memory"),
    **_both(_growth, "growth"),
    **_both(_block, "block"),
    "layers.costs": _layers,
}
