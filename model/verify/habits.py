"""What the page Heads shows, worked out once more: from the independent run, or from the file.

Each entry of `OF_HABITS` is of all heads of one kind of attention, layer by layer in one row,
(L·H,). Nothing here calls the code that made what is on screen.
"""

import json
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from model import reference
from model.verify.derived import Array, Ran
from model.verify.of_heads import (
    OF_A_GROUP,
    Averaged,
    bits,
    mean_over,
    open_of,
    patterns_of,
    sites_of,
)
from model.verify.stated import NEITHER

ROUNDING = 1e-5  # by which a measure may miss the bound of a word
SPECIAL = "added_tokens"  # in tokenizer.json: those that stand for no text


def next_one(ran: Ran, group: str) -> Averaged:
    """The weight on the token after."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    values, counts = np.zeros(weights.shape[:-1]), np.zeros(weights.shape[:-1], dtype=bool)
    for i in range(weights.shape[-1] - 1):
        values[..., i] = weights[..., i, i + 1]
        counts[..., i] = is_open[..., i, i + 1]
    return mean_over(values, counts & _chooses(is_open))


def induction(ran: Ran, group: str) -> Averaged:
    """The weight on all tokens that came right after earlier copies of the query's token."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    ids = ran.arrays[f"{group.split('.')[0]}.ids"].tolist()
    wanted = np.zeros((len(ids), len(ids)), dtype=bool)
    for i, own in enumerate(ids):
        for j in range(1, i):
            wanted[i, j] = ids[j - 1] == own
    pairs = wanted & is_open
    return mean_over((weights * pairs).sum(-1), pairs.any(-1) & _chooses(is_open))


def near(ran: Ran, group: str) -> Averaged:
    """The weight on tokens 1 to 4 places away."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    i, j = np.indices(weights.shape[-2:])
    pairs = np.isin(abs(i - j), (1, 2, 3, 4)) & is_open
    return mean_over((weights * pairs).sum(-1), pairs.any(-1) & _chooses(is_open))


def distance(ran: Ran, group: str) -> Averaged:
    """How many places away the weight is."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    i, j = np.indices(weights.shape[-2:])
    return mean_over((weights * abs(i - j)).sum(-1), _chooses(is_open))


def largest(ran: Ran, group: str) -> Averaged:
    """A row's largest weight."""
    return mean_over(patterns_of(ran, group).max(-1), _chooses(open_of(ran, group)))


def entropy(ran: Ran, group: str) -> Averaged:
    """A row's entropy in bits."""
    return mean_over(bits(patterns_of(ran, group)), _chooses(open_of(ran, group)))


def moved(ran: Ran, group: str) -> Averaged:
    """Σ ‖αv·W_O‖ over the mean of ‖v·W_O‖ of the keys a query may attend to."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    lengths = np.stack([norms(ran, site, weights.shape[1]) for site in sites_of(ran, group)])
    n_open = np.maximum(is_open.sum(-1), 1)
    even = (is_open * lengths[..., None, :]).sum(-1) / n_open
    total = (weights * lengths[..., None, :]).sum(-1)
    shares = np.where(even > 0, total / np.where(even > 0, even, 1), 0)
    return mean_over(shares, _chooses(is_open))


@lru_cache(maxsize=2)
def kept(ran: Ran, group: str) -> Averaged:
    """Σ min of a row and the same row with the words in another order."""
    others = patterns_of(_in_another_order(ran), group)
    both = np.minimum(patterns_of(ran, group), others).sum(-1)
    return mean_over(both, _chooses(open_of(ran, group)))


@lru_cache(maxsize=2)  # its scores are asked for, and twice how many reach a bound
def copying(ran: Ran, group: str) -> Array:
    """Σ Re λ / Σ |λ| over the eigenvalues of W_U·W_OV·W_E that are not zero by rank, (L, H)."""
    config, scores = ran.files.config, []
    embed = ran.model.get("embed.weight")
    unembed = embed if config["tied_embeddings"] else ran.model.get("unembed.weight")
    is_pre = config["norm_placement"] == "pre"
    for site in sites_of(ran, group):
        block = site.split(".", 1)[1].removesuffix(".attn")
        w_v = ran.model.get(f"{block}.attn.v_proj.weight")
        w_o = ran.model.get(f"{block}.attn.out_proj.weight")
        d_head = w_v.shape[0] // config["n_kv_heads"]
        shared = config["n_heads"] // config["n_kv_heads"]
        read = _without_division(ran, embed, f"{block}.attn_norm.gain") if is_pre else embed
        over_tokens = read.T @ unembed  # (D, D): Σ over tokens of what is read ⊗ what is written
        layer = []
        for head in range(config["n_heads"]):
            rows = slice(head // shared * d_head, (head // shared + 1) * d_head)
            written = w_o[:, head * d_head : (head + 1) * d_head].T  # (Dh, D)
            if is_pre:
                written = _without_division(ran, written, "final_norm.gain")
            values = np.linalg.eigvals(w_v[rows] @ over_tokens @ written.T)
            layer.append(values.real.sum() / np.abs(values).sum())
        scores.append(layer)
    return np.array(scores)


def stored(name: str) -> Callable[[Ran, str], Array]:
    """A measure as the survey's file has it, (L·H,); KeyError where there is no such file."""

    def read(ran: Ran, group: str) -> Array:
        folder = ran.files.folder
        path = None if folder is None else folder / "survey.json"
        if path is None or not path.is_file():
            raise KeyError(name)
        found = json.loads(path.read_text(encoding="utf-8"))["groups"][group]["measures"]
        rows = found[name]["values"]
        return np.array([math.nan if x is None else x for row in rows for x in row])

    return read


# --- what they are made of ------------------------------------------------------------------------


def _chooses(is_open: Array) -> Array:
    return is_open.sum(axis=-1) > 1


def norms(ran: Ran, site: str, n_heads: int) -> Array:
    """‖v·W_O‖, (H, T)."""
    v = ran.arrays[f"{site}.v"]
    names = (f"{site}.out_proj.weight", f"{site.split('.', 1)[1]}.out_proj.weight")
    w_o = ran.files.weights[next(name for name in names if name in ran.files.weights)]
    columns = np.split(w_o, n_heads, axis=1)  # (D, Dh) of each head
    shared = n_heads // len(v)
    return np.stack(
        [np.sqrt(((v[h // shared] @ columns[h].T) ** 2).sum(-1)) for h in range(n_heads)]
    )


def _without_division(ran: Ran, x: Array, gain: str) -> Array:
    """Rows as a norm has them but for the division: centred, where it centres, times its gain."""
    centred = x - x.mean(-1, keepdims=True) if ran.files.config["norm"] == "layer" else x
    return centred * ran.model.get(gain)


@lru_cache(maxsize=1)
def _in_another_order(ran: Ran) -> Ran:
    """The run of the same tokens, or patches, in the order that their number draws."""
    if "encoder.pixels" in ran.arrays:
        image, size = ran.arrays["encoder.pixels"], ran.files.config["patch_size"]
        side = len(image) // size
        drawn = np.random.default_rng([0, side * side]).permutation(side * side)
        other = np.empty_like(image)
        for place, source in enumerate(drawn):
            (r, c), (y, x) = divmod(place, side), divmod(int(source), side)
            part = image[y * size : (y + 1) * size, x * size : (x + 1) * size]
            other[r * size : (r + 1) * size, c * size : (c + 1) * size] = part
        return Ran(ran.files, dict(reference.arrays(ran.files, other)))
    streams = [f"{name}.ids" for name in ("encoder", "decoder") if f"{name}.ids" in ran.arrays]
    rows = [_shuffled(ran, ran.arrays[name]) for name in streams]
    given = rows[0] if len(rows) == 1 else tuple(rows)
    return Ran(ran.files, dict(reference.arrays(ran.files, given)))


def _shuffled(ran: Ran, ids: Array) -> Array:
    """All but the special tokens drawn into each other's places."""
    folder = ran.files.folder
    if folder is None:
        raise KeyError("tokenizer.json")
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    special = [entry["id"] for entry in tokenizer[SPECIAL]]
    free = np.flatnonzero(~np.isin(ids, special))
    found = ids.copy()
    found[free] = ids[free][_drawn(len(free), len(ids))]
    return found


def _drawn(n: int, length: int) -> Array:
    return np.random.default_rng([0, length]).permutation(n)


_AVERAGED: dict[str, Callable[[Ran, str], Averaged]] = {
    "next": next_one,
    "induction": induction,
    "near": near,
    "entropy": entropy,
    "largest": largest,
    "distance": distance,
    "kept": kept,
    "moved": moved,
}
_IN_A_SURVEY = (
    *("previous", "next", "first", "self", "same", "induction", "broad", "near", "entropy"),
    *("largest", "distance", "kept", "moved", "prefix", "copying"),
)


def _value(name: str) -> Callable[[Ran, str], Array]:
    return lambda ran, group: _AVERAGED[name](ran, group)[0]


def _flat(work: Callable[[Ran, str], Array]) -> Callable[[Ran, str], Array]:
    return lambda ran, group: work(ran, group).ravel()


def _queries(name: str) -> Callable[[Ran, str], Array]:
    return lambda ran, group: _AVERAGED[name](ran, group)[1]


_WHOLE = {**{name: _value(name) for name in _AVERAGED}, "copying": copying}
_ROLES = {name: OF_A_GROUP[name] for name in ("previous", "first", "self", "same", "broad")}
OF_HABITS: dict[str, Callable[[Ran, str], Array]] = {
    **_WHOLE,
    **{f"{name}_queries": _queries(name) for name in ("next", "induction")},
    **{f"all_{name}": _flat(work) for name, work in {**_ROLES, **_WHOLE}.items()},
    **{f"survey_{name}": stored(name) for name in _IN_A_SURVEY},
}
# From, or up to, which value a head is counted.
_MANY = {
    **dict.fromkeys(("previous", "next", "first", "self", "same", "induction", "prefix"), 1 / 3),
    "near": 1 / 2,
    "kept": 1 / 2,
    "copying": 1 / 2,
    "broad": 0.8,
}
_FEW = {"copying": -1 / 2, "moved": 1 / 2}


def _counted(of: str, is_counted: Callable[[Array], Array]) -> Callable[[Ran, str], Array]:
    """How many heads have such a value of a measure, by its name in `OF_HABITS`."""
    return lambda ran, group: np.asarray(is_counted(OF_HABITS[of](ran, group)).sum())


def _counts(prefix: str) -> dict[str, Callable[[Ran, str], Array]]:
    many = {
        f"{prefix}many_{name}": _counted(f"{prefix}{name}", lambda x, bound=bound: x >= bound)
        for name, bound in _MANY.items()
    }
    few = {
        f"{prefix}few_{name}": _counted(f"{prefix}{name}", lambda x, bound=bound: x <= bound)
        for name, bound in _FEW.items()
    }
    return many | few


def _said(of: str, bound: float, *, is_small: bool = False) -> Callable[[Ran, str], Array]:
    """1 for each head of which a word is said, up to rounding, else 0, (L·H,)."""

    def holds(ran: Ran, group: str) -> Array:
        sign = -1 if is_small else 1
        return (sign * OF_HABITS[of](ran, group) >= sign * bound - ROUNDING).astype(float)

    return holds


def _words(prefix: str) -> dict[str, Callable[[Ran, str], Array]]:
    many = {f"{prefix}is_{name}": _said(f"{prefix}{name}", x) for name, x in _MANY.items()}
    few = {
        f"{prefix}is_little_{name}": _said(f"{prefix}{name}", x, is_small=True)
        for name, x in _FEW.items()
    }
    return many | few


def _none(prefix: str) -> Callable[[Ran, str], Array]:
    """How many heads have no word at all; measures that are not there give none."""

    def counted(ran: Ran, group: str) -> Array:
        bounds = [(name, 1, bound) for name, bound in _MANY.items()]
        bounds += [(name, -1, bound) for name, bound in _FEW.items()]
        n_said: Array | float = 0.0
        for name, sign, bound in bounds:
            try:
                values = OF_HABITS[f"{prefix}{name}"](ran, group)
            except KeyError:
                continue
            n_said = n_said + (sign * values >= sign * bound)
        return np.asarray((np.asarray(n_said) == 0).sum())

    return counted


def woken(ran: Ran, group: str) -> list[Mapping[str, Any]]:
    """What the survey has of the input that wakes each head most, layer by layer."""
    path = None if ran.files.folder is None else ran.files.folder / "survey.json"
    if path is None or not path.is_file():
        raise KeyError(group)
    rows = json.loads(path.read_text(encoding="utf-8"))["groups"][group]["strongest"]
    return [one for row in rows for one in row]


def woken_words(ran: Ran, group: str) -> Array:
    """Ids of query and key of the arrow that moves most there, (L·H, 2); −1 of no one token."""
    ids: dict[bytes, int] = {}
    for number, text in ran.vocabulary.items():
        ids[text] = NEITHER if text in ids else number
    return np.array(
        [
            [ids.get(one[f"{end}_token"].encode(), NEITHER) for end in ("query", "key")]
            for one in woken(ran, group)
        ]
    )


def _of_woken(name: str) -> Callable[[Ran, str], Array]:
    return lambda ran, group: np.array([one[name] for one in woken(ran, group)], dtype=float)


OF_HABITS |= {**_counts("all_"), **_counts("survey_"), **_words("all_"), **_words("survey_")}
OF_HABITS |= {f"{prefix}none": _none(prefix) for prefix in ("all_", "survey_")}
OF_HABITS |= {
    "woken_words": woken_words,
    **{f"woken_{name}": _of_woken(name) for name in ("weight", "norm", "number")},
}
