"""Shares in a logit, worked out once more from the independent run: see `derived`.

Each part is a vector that is sent forward through the norms that follow it, its mean taken off and
divided by the deviation that the whole had; the unembedding comes last.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model import reference
from model.verify.stated import leading_ids

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray


class _Passed(NamedTuple):
    """A norm that the stream passes: its weights' name, and what it was given, (D,)."""

    name: str
    given: Array


class _Part(NamedTuple):
    """What was written: vectors (N, D) that sum to it, the bias (D,), and the norms that follow."""

    kind: str  # attn, cross_attn or ffn
    layer: int
    vectors: Array
    bias: Array | float
    norms: list[_Passed]


def _stack(ran: "Ran") -> tuple[str, reference.Reader]:
    """The name of the last stack, and its weights."""
    architecture = ran.files.config["architecture"]
    if architecture == "encoder_decoder":
        return "decoder", ran.model.part("decoder")
    return ("decoder" if architecture == "decoder" else "encoder"), ran.model


def _or_zero(ran: "Ran", name: str) -> Array | float:
    """A weight of the last stack that a model may be without."""
    prefix = "decoder." if ran.files.config["architecture"] == "encoder_decoder" else ""
    return ran.files.weights.get(f"{prefix}{name}", 0.0)


def _after(norm: _Passed, weights: reference.Reader, vectors: Array) -> Array:
    """Vectors (…, D) after a norm that divides by what it divided the whole by; no offset."""
    eps, given = weights.config["norm_eps"], norm.given
    if weights.config["norm"] == "rms":
        divided = vectors / np.sqrt((given**2).mean() + eps)
    else:
        centred = vectors - vectors.mean(axis=-1, keepdims=True)
        divided = centred / np.sqrt(((given - given.mean()) ** 2).mean() + eps)
    return divided * weights.get(f"{norm.name}.gain")


def _through(norms: list[_Passed], weights: reference.Reader, vectors: Array) -> Array:
    for norm in norms:
        vectors = _after(norm, weights, vectors)
    return vectors


def _offsets(ran: "Ran", norms: list[_Passed]) -> Array:
    """What the offsets of all norms have become at the end, (D,)."""
    _, weights = _stack(ran)
    total = np.zeros(weights.config["d_model"])
    for norm in norms:
        total = _after(norm, weights, total) + _or_zero(ran, f"{norm.name}.offset")
    return total


def _norms(ran: "Ran", position: int) -> list[_Passed]:
    """The norms the stream itself passes; with pre-norm the last alone."""
    name, weights = _stack(ran)
    n_layers, found = int(weights.config["n_layers"]), []

    def at(layer: int, array: str) -> Array:
        return ran.arrays[f"{name}.blocks.{layer}.{array}"][position]

    if weights.config["norm_placement"] == "pre":
        return [_Passed("final_norm", at(n_layers - 1, "resid_post"))]
    for layer in range(n_layers):
        part = f"blocks.{layer}"
        found.append(_Passed(f"{part}.attn_norm", at(layer, "resid_pre") + at(layer, "attn_out")))
        middle = at(layer, "resid_mid")
        if f"{name}.blocks.{layer}.cross_out" in ran.arrays:
            found.append(_Passed(f"{part}.cross_norm", middle + at(layer, "cross_out")))
            middle = at(layer, "resid_cross")
        found.append(_Passed(f"{part}.ffn_norm", middle + at(layer, "ffn_out")))
    return found


def _parts(ran: "Ran", position: int) -> Iterator[_Part]:
    """Every sublayer's vectors at a position, in the order of the forward pass."""
    name, weights = _stack(ran)
    norms, is_pre = _norms(ran, position), weights.config["norm_placement"] == "pre"
    n_done = 0
    for layer in range(int(weights.config["n_layers"])):
        for kind in ("attn", "cross_attn", "ffn"):
            address, part = f"{name}.blocks.{layer}.{kind}", weights.part(f"blocks.{layer}.{kind}")
            if kind != "ffn" and f"{address}.z" not in ran.arrays:
                continue
            follow = norms if is_pre else norms[n_done:]
            n_done += 1
            if kind == "ffn":
                vectors = _neurons(ran, layer, position)
                yield _Part(
                    kind, layer, vectors, _or_zero(ran, f"blocks.{layer}.ffn.down.bias"), follow
                )
            else:
                vectors = _heads(part, ran.arrays[f"{address}.z"][:, position])
                bias = _or_zero(ran, f"blocks.{layer}.{kind}.out_proj.bias")
                yield _Part(kind, layer, vectors, bias, follow)


def _heads(part: reference.Reader, z: Array) -> Array:
    """What each head writes, (H, D). z: (H, Dh)."""
    own = np.split(part.get("out_proj.weight"), len(z), axis=1)  # H of (D, Dh)
    return np.stack([matrix @ row for matrix, row in zip(own, z, strict=True)])


def _neurons(ran: "Ran", layer: int, position: int) -> Array:
    """What each neuron writes, (F, D)."""
    name, weights = _stack(ran)
    block = f"{name}.blocks.{layer}"
    read = ran.arrays.get(f"{block}.resid_cross", ran.arrays[f"{block}.resid_mid"])[position]
    part = weights.part(f"blocks.{layer}")
    is_pre = weights.config["norm_placement"] == "pre"
    x, ffn = (part.norm("ffn_norm", read) if is_pre else read), part.part("ffn")
    kind = weights.config["feedforward"]
    if kind == "swiglu":
        fired = reference.silu(ffn.linear("gate", x)) * ffn.linear("up", x)
    else:
        fired = reference.ACTIVATIONS[kind](ffn.linear("up", x))
    return fired[:, None] * ffn.get("down.weight").T


def _unembedding(ran: "Ran") -> tuple[Array, Array]:
    """The rows that read the stream, (V, D), and the bias, (V,)."""
    config, model = ran.files.config, ran.model
    if config["architecture"] == "vision":
        rows = model.get("unembed.weight")
        return rows, np.zeros(len(rows)) + _or_zero(ran, "unembed.bias")
    first = "encoder.embed" if config["architecture"] == "encoder_decoder" else "embed"
    rows = model.get(f"{first if config['tied_embeddings'] else 'unembed'}.weight")
    return rows, np.zeros(len(rows))


def _read(ran: "Ran", token: int, against: tuple[int, ...]) -> tuple[Array, float]:
    """The row that makes the logit, or the difference of two, and its bias."""
    rows, bias = _unembedding(ran)
    row, own = rows[token], bias[token]
    for other in against:
        row, own = row - rows[other], own - bias[other]
    return row, float(own)


# --- what is asked for by address -------------------------------------------------------------


def logit(ran: "Ran", position: int, token: int, *against: int) -> Array:
    """The logit itself, or the difference."""
    row = ran.arrays["output"][position]
    return np.asarray(row[token] - sum(row[other] for other in against))


def parts(ran: "Ran", position: int, token: int, *against: int) -> Array:
    """Embedding, positions, each sublayer, and all biases, (N,)."""
    name, weights = _stack(ran)
    row, constant = _read(ran, token, against)
    norms = _norms(ran, position)
    begin = [
        row @ _through(norms, weights, ran.arrays[f"{name}.{what}"][position])
        for what in ("embed", "positions")
    ]
    constant += float(row @ _offsets(ran, norms))
    found = []
    for part in _parts(ran, position):
        found.append(row @ _through(part.norms, weights, part.vectors.sum(axis=0)))
        bias = np.zeros(len(row)) + part.bias
        constant += float(row @ _through(part.norms, weights, bias))
    return np.array([*begin, *found, constant])


def heads(ran: "Ran", position: int, token: int, *against: int) -> Array:
    """Each head of each site of attention, (S, H)."""
    return _of_vectors(ran, position, token, against, is_heads=True)


def neurons(ran: "Ran", most: int, position: int, token: int, *against: int) -> Array:
    """The so many neurons that add or take most, the largest magnitude first."""
    found = _of_vectors(ran, position, token, against, is_heads=False).ravel()
    return found[np.argsort(-np.abs(found), kind="stable")[:most]]


def _of_vectors(
    ran: "Ran", position: int, token: int, against: tuple[int, ...], *, is_heads: bool
) -> Array:
    row, _ = _read(ran, token, against)
    _, weights = _stack(ran)
    return np.stack(
        [
            _through(part.norms, weights, part.vectors) @ row
            for part in _parts(ran, position)
            if (part.kind != "ffn") == is_heads
        ]
    )


def keys(ran: "Ran", site: str, head: int, position: int, token: int, *against: int) -> Array:
    """What a head adds by each key, (Tk,)."""
    row, _ = _read(ran, token, against)
    _, weights = _stack(ran)
    part = _part_of(ran, site, position)
    v, pattern = ran.arrays[f"{site}.v"], ran.arrays[f"{site}.pattern"]
    kv_head = head // (len(pattern) // len(v))
    matrix = np.split(_projection(ran, site), len(pattern), axis=1)[head]  # (D, Dh)
    vectors = (pattern[head, position][:, None] * v[kv_head]) @ matrix.T  # (Tk, D)
    return _through(part.norms, weights, vectors) @ row


def words(ran: "Ran", site: str, head: int, position: int, most: int) -> Array:
    """Of what a head adds to all logits the so many largest, and as many smallest."""
    part = _part_of(ran, site, position)
    return _ends(ran, part, part.vectors[head], most)


def words_of_neuron(ran: "Ran", layer: int, neuron: int, position: int, most: int) -> Array:
    """The same of a neuron."""
    part = _neurons_of(ran, layer, position)
    return _ends(ran, part, part.vectors[neuron], most)


def _neurons_of(ran: "Ran", layer: int, position: int) -> _Part:
    return next(x for x in _parts(ran, position) if x.kind == "ffn" and x.layer == layer)


def _pushed(ran: "Ran", part: _Part, vector: Array) -> Array:
    """What a vector adds to each logit, (V,)."""
    _, weights = _stack(ran)
    rows, _ = _unembedding(ran)
    return rows @ _through(part.norms, weights, vector)


def _ends(ran: "Ran", part: _Part, vector: Array, most: int) -> Array:
    found = np.sort(_pushed(ran, part, vector))[::-1]
    return np.concatenate([found[:most], found[-most:]])


def ids(ran: "Ran", site: str, head: int, position: int, most: int) -> Array:
    """The tokens of `words`, see `leading_ids`."""
    part = _part_of(ran, site, position)
    return _ids_at_ends(_pushed(ran, part, part.vectors[head]), most)


def ids_of_neuron(ran: "Ran", layer: int, neuron: int, position: int, most: int) -> Array:
    """The same of a neuron."""
    part = _neurons_of(ran, layer, position)
    return _ids_at_ends(_pushed(ran, part, part.vectors[neuron]), most)


def _ids_at_ends(pushed: Array, most: int) -> Array:
    return np.concatenate([leading_ids(pushed, most), leading_ids(-pushed, most)[::-1]])


def _part_of(ran: "Ran", site: str, position: int) -> _Part:
    name, _ = _stack(ran)
    for part in _parts(ran, position):
        if site == f"{name}.blocks.{part.layer}.{part.kind}":
            return part
    raise KeyError(site)


def _projection(ran: "Ran", site: str) -> Array:
    name, weights = _stack(ran)
    return weights.get(f"{site.removeprefix(f'{name}.')}.out_proj.weight")


ATTRIBUTED: dict[str, Callable[..., Array]] = {
    "direct.logit": logit,
    "direct.parts": parts,
    "direct.heads": heads,
    "direct.neurons": neurons,
    "direct.words_of_neuron": words_of_neuron,
    "direct.ids_of_neuron": ids_of_neuron,
}
ATTRIBUTED_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "direct_keys": keys,
    "direct_words": words,
    "direct_ids": ids,
}
