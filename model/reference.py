"""What a Transformer computes, in plain numpy float64, from the papers and the files of a model.

A decoder, an encoder, the two together, or a Vision Transformer: config.json says which.

The run on screen is compared with this one, which shares no line with it: it reads config.json and
model.safetensors itself (`model.reference_files`), knows no torch, and takes of the rest of `model`
not a single function. Nothing here is fast; everything is one equation to a line, so that it can be
read beside the papers. `arrays` gives every array at the address the trace has it at, such as
decoder.blocks.3.attn.pattern.

Shapes: T tokens (Tq that attend, Tk attended to), D = d_model, H heads, G key-value heads,
Dh = D / H, F = d_ff, V vocabulary; P patches of p × p pixels, S × S in all, C classes. Before
each may stand B, where `Files.change` makes B rows of the embeddings: they run side by side.
"""

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model.reference_files import Array, Config, Stored, read_config

Weights = Mapping[str, Array]
Attended = tuple[dict[str, Array], Array]  # arrays by name, and what is written


@dataclass(frozen=True, eq=False)
class Files:
    """What the files of a model say, and what goes on for an array, by its place: itself.

    A place is an address of the trace, without the name of the stack where there is but one.
    """

    config: Config
    weights: Weights
    change: Callable[[str, Array], Array] = lambda place, array: array
    folder: Path | None = None


def read(folder: Path) -> Files:
    """The files of a model, as they are now."""
    return Files(read_config(folder), Stored(folder / "model.safetensors"), folder=folder)


# --- one block --------------------------------------------------------------------------------


def softmax(scores: Array) -> Array:
    """exp(s_j) / Σ_j exp(s_j) along each row; a row that is −∞ throughout gives zeros."""
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))
    total = exponentials.sum(axis=-1, keepdims=True)
    return np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)


def layer_norm(x: Array, gain: Array, offset: Array | float, eps: float) -> Array:
    """(x − mean) / √(variance + ε) · gain + offset (Ba et al. 2016, eq. 4). x: (T, D)."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * gain + offset


def rms_norm(x: Array, gain: Array, eps: float) -> Array:
    """x / √(mean(x²) + ε) · gain (Zhang & Sennrich 2019, eq. 4). x: (T, D)."""
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * gain


def gelu(x: Array) -> Array:
    """x · Φ(x), Φ the normal distribution's (Hendrycks & Gimpel 2016, §2)."""
    erf = np.fromiter(map(math.erf, (x / math.sqrt(2)).ravel().tolist()), float, x.size)
    return x * 0.5 * (1 + erf.reshape(x.shape))


def gelu_tanh(x: Array) -> Array:
    """Its approximation, 0.5x(1 + tanh(√(2/π)(x + 0.044715x³))) (the same paper, §2)."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: Array) -> Array:
    """x / (1 + exp(−x)) (Elfwing et al. 2018), with no exponential that could overflow."""
    small = np.exp(-np.abs(x))
    return x * np.where(x >= 0, 1, small) / (1 + small)


ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0), "gelu": gelu, "gelu_tanh": gelu_tanh}


class Reader:
    """The weights of one part of the model, by the last words of their names."""

    def __init__(self, files: Files, part: str = "") -> None:
        self.config, self._weights = files.config, files.weights
        self._files, self._part = files, part

    def part(self, name: str) -> "Reader":
        """Those of a part of it."""
        return Reader(self._files, f"{self._part}{name}.")

    def passed(self, name: str, array: Array) -> Array:
        """What goes on for an array: itself, or what is put in its place."""
        return self._files.change(self._part + name, array)

    def get(self, name: str) -> Array:
        """One of them, float64."""
        return self._weights[self._part + name]

    def linear(self, name: str, x: Array) -> Array:
        """x·Wᵀ + b; without a stored b, b = 0."""
        return x @ self.get(f"{name}.weight").T + self._weights.get(f"{self._part}{name}.bias", 0.0)

    def norm(self, name: str, x: Array) -> Array:
        """The config's kind of norm with the weights of this name."""
        gain, eps = self.get(f"{name}.gain"), self.config["norm_eps"]
        if self.config["norm"] == "rms":
            scaled = rms_norm(x, gain, eps)
        else:
            offset = self._weights.get(f"{self._part}{name}.offset", 0.0)
            scaled = layer_norm(x, gain, offset, eps)
        return self.passed(f"{name}.scaled", scaled)


def feed_forward(part: Reader, x: Array) -> Array:
    """W₂·f(W₁x) (Vaswani et al. 2017, eq. 2), or W₂(silu(Vx) · W₁x) (Shazeer 2020, eq. 6)."""
    kind = part.config["feedforward"]
    up = part.linear("up", x)
    active = silu(part.linear("gate", x)) * up if kind == "swiglu" else ACTIVATIONS[kind](up)
    return part.linear("down", part.passed("activation", active))


def heads_of(x: Array, n_heads: int) -> Array:
    """Head h has the h-th slice of each vector. (T, H·Dh) → (H, T, Dh)."""
    return x.reshape(*x.shape[:-1], n_heads, -1).swapaxes(-3, -2)


def attention(part: Reader, x: Array, source: Array, mask: Array) -> Attended:
    """softmax(q·kᵀ/√Dh + bias, masked)·v in every head (Vaswani et al. 2017, eq. 1 and §3.2.2).

    x: (Tq, D), source: (Tk, D), x itself unless x attends to an encoder's output; mask: (Tq, Tk) or
    (H, Tq, Tk), True = may attend. Returns the arrays and what they write.
    """
    config, n_heads, n_kv_heads = part.config, part.config["n_heads"], part.config["n_kv_heads"]
    q = rotated(config, heads_of(part.linear("q_proj", x), n_heads))  # (H, Tq, Dh)
    k = rotated(config, heads_of(part.linear("k_proj", source), n_kv_heads))  # (G, Tk, Dh)
    v = heads_of(part.linear("v_proj", source), n_kv_heads)  # (G, Tk, Dh)
    shared = np.arange(n_heads) // (n_heads // n_kv_heads)  # whose k and v head h reads
    k_of_head, v_of_head = (each[..., shared, :, :] for each in (k, v))  # (H, Tk, Dh)
    bias = score_bias(config, x.shape[-2])  # (H, T, T) or 0
    scores = q @ k_of_head.swapaxes(-2, -1) / math.sqrt(q.shape[-1]) + bias  # (H, Tq, Tk)
    pattern = part.passed("pattern", softmax(np.where(mask, scores, -np.inf)))
    z = part.passed("z", pattern @ v_of_head)  # (H, Tq, Dh)
    arrays = {"q": q, "k": k, "v": v, "scores": scores, "pattern": pattern, "z": z, "mask": mask}
    arrays |= {} if np.isscalar(bias) else {"bias": bias}
    in_turn = z.swapaxes(-3, -2)  # (Tq, H, Dh)
    return arrays, part.linear("out_proj", in_turn.reshape(*in_turn.shape[:-2], -1))


def block(part: Reader, x: Array, mask: Array, memory: Array | None = None) -> Attended:
    """Attention, then the feed-forward, each added to the stream; between them, if there is a
    memory (Ts, D), attention to it (Vaswani et al. 2017, §3.1).

    Normalised before each (Xiong et al. 2020, fig. 1b) or after each sum (Vaswani et al. 2017,
    §3.1). x: (T, D). Returns the arrays by their addresses in the block, and the stream after it.
    """
    is_pre = part.config["norm_placement"] == "pre"

    def read(x: Array, norm: str) -> Array:
        return part.norm(norm, x) if is_pre else x

    def write(x: Array, update: Array, norm: str) -> Array:
        return x + update if is_pre else part.norm(norm, x + update)

    x = part.passed("resid_pre", x)
    normed = read(x, "attn_norm")
    attended, attn_out = attention(part.part("attn"), normed, normed, mask)
    attn_out = part.passed("attn_out", attn_out)
    middle = write(x, attn_out, "attn_norm")
    arrays = {f"attn.{name}": array for name, array in attended.items()}
    arrays |= {"resid_pre": x, "attn_out": attn_out, "resid_mid": middle}
    if memory is not None:
        cross, seen = part.part("cross_attn"), np.ones((x.shape[-2], memory.shape[-2]), bool)
        attended, cross_out = attention(cross, read(middle, "cross_norm"), memory, seen)
        cross_out = part.passed("cross_out", cross_out)
        middle = write(middle, cross_out, "cross_norm")
        arrays |= {f"cross_attn.{name}": array for name, array in attended.items()}
        arrays |= {"cross_out": cross_out, "resid_cross": middle}
    ffn_out = part.passed("ffn_out", feed_forward(part.part("ffn"), read(middle, "ffn_norm")))
    after = write(middle, ffn_out, "ffn_norm")
    return arrays | {"ffn_out": ffn_out, "resid_post": after}, after


# --- order ------------------------------------------------------------------------------------


def position_vectors(part: Reader, n: int) -> Array:
    """What is added to the embeddings of n tokens, (T, D); zeros where nothing is."""
    config, d_model = part.config, part.config["d_model"]
    if config["position"] == "learned":  # Gehring et al. 2017, §3.1
        return part.get("position.table.weight")[:n]
    vectors = np.zeros((n, d_model))
    if config["position"] == "sinusoidal":  # Vaswani et al. 2017, §3.5
        angles = np.outer(
            np.arange(n), config["position_base"] ** (-np.arange(0, d_model, 2) / d_model)
        )
        vectors[:, 0::2], vectors[:, 1::2] = np.sin(angles), np.cos(angles)
    return vectors


def rotated(config: Config, x: Array) -> Array:
    """RoPE: the pair (i, i + Dh/2) at position m, as a complex number, times e^(i·m·θᵢ).

    θᵢ = base^(−2i/Dh) (Su et al. 2021, eq. 12 and 15, its pairs in halves). x: (H, T, Dh).
    """
    if config["position"] != "rope":
        return x
    half = x.shape[-1] // 2
    speeds = config["position_base"] ** (-np.arange(half) / half)
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(
        1j * np.outer(np.arange(x.shape[-2]), speeds)
    )
    return np.concatenate([turned.real, turned.imag], axis=-1)


def score_bias(config: Config, n: int) -> Array | float:
    """ALiBi: −s_h · |i − j| (Press et al. 2022, §3), (H, T, T); 0 for all other schemes."""
    if config["position"] != "alibi":
        return 0.0
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return -np.array(alibi_slopes(config["n_heads"]))[:, None, None] * distance


def alibi_slopes(n_heads: int) -> list[float]:
    """2^(−8/H), its powers; between powers of two, every other one of twice as many heads."""
    if n_heads & (n_heads - 1) == 0:
        return [2.0 ** (-8 * (h + 1) / n_heads) for h in range(n_heads)]
    below = 1 << (n_heads.bit_length() - 1)
    return alibi_slopes(below) + alibi_slopes(2 * below)[0::2][: n_heads - below]


def own_mask(config: Config, n: int) -> Array:
    """Query i (row) may attend to key j (column), by the kind of mask the config names, (T, T)."""
    i, j = np.indices((n, n))
    causal, near = j <= i, i - j < config["window"]
    if config["mask"] == "sliding_window":  # the last `window` tokens, as in Jiang et al. 2023
        return causal & near
    if config["mask"] == "prefix":  # Raffel et al. 2020, §3.2.1
        return causal | (j < config["prefix_len"])
    if config["mask"] == "global_tokens":  # Beltagy et al. 2020, §3.1, looking back only
        return causal & (near | (j < config["n_global"]) | (i < config["n_global"]))
    return causal


def all_of(rows: Sequence[int] | Array) -> Array:
    """Each of T rows may attend to each, (T, T)."""
    return np.ones((len(rows), len(rows)), bool)


# --- the whole --------------------------------------------------------------------------------

Arrays = Iterator[tuple[str, Array]]
Walk = Generator[tuple[str, Array], None, Array]  # arrays, and at the end the stream
Given = Sequence[int] | Array | tuple[Array, ...]


def arrays(files: Files, given: Given, mask: Array | None = None) -> Arrays:
    """Address and array of all that one forward pass computes, in float64.

    given: the ids of T tokens, those of a source and its target, or a picture (S, S). `mask`
    (T, T) or (H, T, T) is taken instead of the model's own. Last come the logits, `output`.
    """
    mask = None if mask is None else np.asarray(mask)
    yield from MODELS[files.config["architecture"]](files, given, mask)


def text(files: Files, ids: Sequence[int] | Array, mask: Array | None) -> Arrays:
    """One stack over one text: a decoder attends as the config's mask says, an encoder to all."""
    name, model = files.config["architecture"], Reader(files)
    own = all_of(ids) if name == "encoder" else own_mask(files.config, len(ids))
    yield f"{name}.ids", np.asarray(ids)
    stream = yield from stack(model, name, token_vectors(model, ids), own if mask is None else mask)
    yield "output", unembedded(model, stream, "embed")


def encoder_decoder(files: Files, given: tuple[Array, Array], mask: Array | None) -> Arrays:
    """An encoder over a source, a decoder over its target (Vaswani et al. 2017, fig. 1).

    Both have the encoder's embedding. mask: that of the target's self-attention.
    """
    source, target = map(np.asarray, given)
    model = Reader(files)
    first, second = model.part("encoder"), model.part("decoder")
    past = own_mask(files.config, len(target)) if mask is None else mask
    yield "encoder.ids", source
    memory = yield from stack(first, "encoder", token_vectors(first, source), all_of(source))
    yield "decoder.ids", target
    stream = yield from stack(second, "decoder", token_vectors(first, target), past, memory)
    yield "output", unembedded(model, stream, "encoder.embed")


def vision(files: Files, image: Array, mask: Array | None) -> Arrays:
    """The class token and patches attend to all (Dosovitskiy et al. 2021, eq. 1–4). (S, S)."""
    config, size = files.config, files.config["patch_size"]
    model = Reader(files)
    yield "encoder.pixels", np.asarray(image, np.float64)
    corners = range(0, config["image_size"], size)
    patches = [image[y : y + size, x : x + size].ravel() for y in corners for x in corners]
    embedded = model.linear("embed.patches", np.array(patches))  # (P, D)
    embed = np.vstack([model.get("embed.class_token"), embedded])
    stream = yield from stack(model, "encoder", embed, all_of(embed) if mask is None else mask)
    yield "output", model.linear("unembed", stream[..., :1, :])


def token_vectors(part: Reader, ids: Sequence[int] | Array) -> Array:
    """The embedding of each token, (T, D), in some models times √D (Vaswani et al. 2017, §3.4)."""
    embed = part.get("embed.weight")[np.asarray(ids)]
    return embed * math.sqrt(part.config["d_model"]) if part.config["scale_embeddings"] else embed


def stack(part: Reader, name: str, embed: Array, mask: Array, memory: Array | None = None) -> Walk:
    """A row of blocks over embeddings (T, D); with pre-norm a norm stands at its end.

    memory: (Tk, D), what the blocks attend to besides.
    """
    sizes = {"decoder": "n_layers", "encoder": "n_encoder_layers"}
    embed = part.passed("embed", embed)
    positions = part.passed("positions", position_vectors(part, embed.shape[-2]))
    yield f"{name}.embed", embed
    yield f"{name}.positions", positions
    x = embed + positions
    for layer in range(part.config[sizes[name]]):
        arrays, x = block(part.part(f"blocks.{layer}"), x, mask, memory)
        for address, array in arrays.items():
            yield f"{name}.blocks.{layer}.{address}", array
    is_pre = part.config["norm_placement"] == "pre"
    return part.norm("final_norm", x) if is_pre else x


def unembedded(model: Reader, stream: Array, embed: str) -> Array:
    """Logits by the embedding itself (Press & Wolf 2017), or by a matrix of its own."""
    name = embed if model.config["tied_embeddings"] else "unembed"
    return stream @ model.get(f"{name}.weight").T


MODELS: dict[str, Callable[[Files, Any, Array | None], Arrays]] = {
    "decoder": text,
    "encoder": text,
    "encoder_decoder": encoder_decoder,
    "vision": vision,
}
