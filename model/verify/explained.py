"""Arrows of the last query of a decoder, worked out once more: weights, norms, removals, slopes.

In numpy float64 from the files alone. Removing one arrow changes the last token alone, so that one
row goes on through the blocks, beside the keys and values that the others had.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model import reference
from model.verify.asked import Asked
from model.verify.named import Array, Made
from model.verify.telling import told_of_arrows

STEP = 1e-5  # of a weight, for its slope by a central difference


@dataclass(frozen=True, eq=False)
class IndependentArrows(Asked):
    """What a decoder answers at its last token with one weight of that token's rows changed.

    Asked for by address: explain.weights, explain.norms, explain.effects, explain.gradients, each
    (L · H · T), layer by layer, and explain.answer; explain.keys and explain.asker are ids of what
    is attended to and of what attends; see `told_of_arrows` for what is told of all arrows.
    """

    def made(self) -> Made:
        """See `Named`."""
        return {
            "explain.answer": lambda: self.answer(self.stream(self.n_layers - 1)),
            "explain.weights": lambda: self.weights.ravel(),
            "explain.norms": lambda: self.norms().ravel(),
            "explain.effects": lambda: self.effects().ravel(),
            "explain.gradients": lambda: self.gradients().ravel(),
            "explain.keys": lambda: np.array(self.ids),
            "explain.asker": lambda: np.array(self.ids[-1:]),
            **told_of_arrows(self, self.weights.shape if self.ids else ()),
        }

    @cached_property
    def run(self) -> dict[str, Array]:
        """The text as it is."""
        return self.ran(self.ids)

    @cached_property
    def weights(self) -> Array:
        """The last query's rows, (L, H, T)."""
        return np.stack([self.at(layer, "pattern")[:, -1] for layer in range(self.n_layers)])

    def at(self, layer: int, name: str) -> Array:
        """An array of one layer's attention; keys and values for each query head."""
        found = self.run[f"decoder.blocks.{layer}.attn.{name}"]
        return np.repeat(found, self.n_heads // len(found), axis=0) if name in "kv" else found

    def stream(self, layer: int) -> Array:
        """The last token after a block, (D,)."""
        return self.run[f"decoder.blocks.{layer}.resid_post"][-1]

    @property
    def n_heads(self) -> int:
        """Heads of each layer."""
        return int(self.files.config["n_heads"])

    def moved(self, layer: int) -> Array:
        """v · W_O of every head's values, (H, T, D): what one unit of weight adds to attn_out."""
        weight = self.model.get(f"blocks.{layer}.attn.out_proj.weight")  # (D, H · Dh)
        per_head = weight.reshape(len(weight), self.n_heads, -1)
        return np.stack([self.at(layer, "v")[h] @ per_head[:, h].T for h in range(self.n_heads)])

    def norms(self) -> Array:
        """‖α · v · W_O‖, (L, H, T)."""
        lengths = [np.sqrt((self.moved(i) ** 2).sum(axis=-1)) for i in range(self.n_layers)]
        return self.weights * np.stack(lengths)

    def effects(self) -> Array:
        """The answer, less what it is without each arrow, (L, H, T)."""
        whole = self.answer(self.stream(self.n_layers - 1))
        layers = range(self.n_layers)
        return np.stack([whole - self.with_weights(i, -self.weights[i]) for i in layers])

    def gradients(self) -> Array:
        """Weight times slope, by central differences, (L, H, T)."""
        small = np.full(self.weights.shape[1:], STEP)
        slopes = [
            (self.with_weights(i, small) - self.with_weights(i, -small)) / (2 * STEP)
            for i in range(self.n_layers)
        ]
        return self.weights * np.stack(slopes)

    def with_weights(self, layer: int, added: Array) -> Array:
        """The answer where one weight of a layer is so much more, each alone. added: (H, T)."""
        update = (added[..., None] * self.moved(layer)).reshape(added.size, -1)  # (B, D)
        block = f"decoder.blocks.{layer}"
        attn_out = self.run[f"{block}.attn_out"][-1] + update
        x = self.after(layer, self.run[f"{block}.resid_pre"][-1], attn_out)
        for following in range(layer + 1, self.n_layers):
            part = self.model.part(f"blocks.{following}")
            x = self.after(following, x, self.attended(following, self.read(part, x, "attn_norm")))
        return self.answer(x).reshape(added.shape)

    def after(self, layer: int, x: Array, attn_out: Array) -> Array:
        """The stream after a block, of what its attention writes. (B, D)."""
        part = self.model.part(f"blocks.{layer}")
        middle = self.written(part, x, attn_out, "attn_norm")
        ffn_out = reference.feed_forward(part.part("ffn"), self.read(part, middle, "ffn_norm"))
        return self.written(part, middle, ffn_out, "ffn_norm")

    def attended(self, layer: int, x: Array) -> Array:
        """What attention writes for other last tokens beside the tokens before. x: (B, D)."""
        part, n = self.model.part(f"blocks.{layer}.attn"), len(self.ids)
        q = self.projected(part, "q_proj", x)  # (B, H, Dh)
        k, v = (self.projected(part, name, x) for name in ("k_proj", "v_proj"))
        keys, values = self.at(layer, "k"), self.at(layer, "v")  # (H, T, Dh)
        scores = np.einsum("bhd,htd->bht", q, keys)
        scores[..., -1] = (q * k).sum(axis=-1)
        scores = scores / math.sqrt(q.shape[-1])
        bias = reference.score_bias(self.files.config, n)
        scores = scores + (0.0 if np.isscalar(bias) else np.asarray(bias)[:, -1])
        allowed = reference.own_mask(self.files.config, n)[-1]
        pattern = reference.softmax(np.where(allowed, scores, -np.inf))
        z = np.einsum("bht,htd->bhd", pattern[..., :-1], values[:, :-1])
        z = z + pattern[..., -1:] * v
        return part.linear("out_proj", z.reshape(len(x), -1))

    def projected(self, part: reference.Reader, name: str, x: Array) -> Array:
        """Queries, keys or values of the last token, for each query head. (B, H, Dh)."""
        found = part.linear(name, x)
        n_own = self.n_heads if name == "q_proj" else int(self.files.config["n_kv_heads"])
        split = found.reshape(len(x), n_own, -1)
        if name != "v_proj":
            split = self.turned(split)
        return np.repeat(split, self.n_heads // n_own, axis=1)

    def turned(self, x: Array) -> Array:
        """x as it is at the last position. (B, H, Dh)."""
        if self.files.config["position"] != "rope":
            return x
        row = np.zeros((len(x), len(self.ids), x.shape[-1]))
        turned = []
        for head in range(x.shape[1]):
            row[:, -1] = x[:, head]
            turned.append(reference.rotated(self.files.config, row)[:, -1])
        return np.stack(turned, axis=1)
