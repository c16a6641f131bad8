"""Two runs as sums of terms, and what a reader makes of a stream in which terms were exchanged."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import Branches, logits_at, longest_of, trace_of
from model.analysis.metrics import rounding
from model.analysis.patching import Pair, check_lengths
from model.analysis.writers import Stretch, Writer, written
from model.architectures.base import Transformer
from model.attention import share_kv_heads
from model.parts import are_sums
from model.tap import ReachedError, Until, attach
from model.trace import AttentionRecord, Trace
from model.work import result_of

Q, K, V, MLP, ANSWER = range(5)  # kinds of readers
LAYER, KIND, HEAD, QUERY, KEY, WRITER = range(6)  # columns of edges, (N, 6)
ADDS_UP = 1e-3  # of the largest value of a stream: so much may its terms miss, of rounding


class Held:
    """What one run held, by layer.

    resid_pre, resid_mid, ffn_out: (T, D). q, keys, values, z: (H, T, Dh), shared ones repeated.
    scores: (H, T, T), −∞ where a query sees nothing. last: the stream after all blocks, (T, D).
    writers, terms: what each adds, (W, T, D), in the order of a pass: the embedding, then of each
    layer its heads and its feed-forward.
    """

    def __init__(self, model: Transformer, trace: Trace) -> None:
        def here(array: np.ndarray) -> Tensor:
            return torch.tensor(array, device=model.device, dtype=model.dtype)

        def of_heads(record: AttentionRecord, array: np.ndarray) -> Tensor:
            return share_kv_heads(here(array)[None], record.n_heads)[0]

        blocks, records = trace.residuals, trace.attention
        self.resid_pre = [here(block.resid_pre) for block in blocks]
        self.resid_mid = [here(block.resid_mid) for block in blocks]
        self.ffn_out = [here(block.ffn_out) for block in blocks]
        self.last = here(blocks[-1].resid_post)
        self.q, self.z = [here(one.q) for one in records], [here(one.z) for one in records]
        self.keys = [of_heads(one, one.k) for one in records]
        self.values = [of_heads(one, one.v) for one in records]
        self.scores = [here(np.where(one.mask, one.scores, -np.inf)) for one in records]
        self.scales = [one.scale for one in records]
        writes = result_of(written(Stretch(trace, model, trace.main.name)))
        start = len(writes.writers) - len(blocks) * (1 + records[0].n_heads)
        embedding = writes.terms[:start].sum(dim=0, keepdim=True)  # with positions
        self.writers = (Writer("token"), *writes.writers[start:])
        self.terms = torch.cat([embedding, writes.terms[start:]]).to(self.last)


@dataclass(frozen=True, eq=False)
class Paths:
    """Two runs and what tells them apart: `moved` (W, T, D), the terms of the other minus these.

    `pair.base` is the text that is explained, `pair.source` the other one.
    """

    pair: Pair
    base: Held
    source: Held
    branches: Branches

    @property
    def n_tokens(self) -> int:
        """Of each text."""
        return len(self.base.last)

    @property
    def n_heads(self) -> int:
        """Of each layer."""
        return len(self.base.q[0])

    @cached_property
    def moved(self) -> Tensor:
        """What each writer would add more in the other text, (W, T, D)."""
        return self.source.terms - self.base.terms

    @cached_property
    def whole(self) -> float:
        """The metric of the text itself."""
        return float(self.score(self.base.last[-1]))

    @cached_property
    def other(self) -> float:
        """The metric of the other text."""
        return float(self.score(self.source.last[-1]))

    @cached_property
    def rounding(self) -> float:
        """What both metrics may be off."""
        with torch.inference_mode():
            return rounding(self.pair.model.read_out(self.base.last[-1]))

    @cached_property
    def probs(self) -> Tensor:
        """What the text itself makes likely, (V,)."""
        with torch.inference_mode():
            return self.pair.model.read_out(self.base.last[-1]).softmax(dim=-1)

    def share(self, metric: float) -> float:
        """F: 0 as in the other text, 1 as in this one."""
        return (metric - self.other) / (self.whole - self.other)

    def n_writers(self, layer: int, kind: int = Q) -> int:
        """How many writers stand before a reader."""
        return 1 + layer * (self.n_heads + 1) + (self.n_heads if kind == MLP else 0)

    def writer_name(self, number: int) -> str:
        """What a writer is called: embedding, L2 H3, MLP 2."""
        return self.base.writers[number].name

    def address(self, layer: int, part: str) -> str:
        """Where a value of a block is."""
        return f"{self.pair.stack}.blocks.{layer}.{part}"

    @torch.inference_mode()
    def score(self, streams: Tensor) -> Tensor:
        """The metric of last streams (…, D) of the last token."""
        return self.pair.metric.of(self.pair.model.read_out(streams))

    def reads(self, layer: int, streams: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, keys and values (n, H, T, Dh) that a layer makes of streams (n, T, D)."""
        q, k, v = self._made(layer, "resid_pre", streams, ("attn.q", "attn.k", "attn.v"))
        return q, share_kv_heads(k, self.n_heads), share_kv_heads(v, self.n_heads)

    def feeds(self, layer: int, vectors: Tensor) -> Tensor:
        """What the feed-forward of a layer writes for vectors (N, D) of the stream before it.

        It works on each by itself, so they stand at any token of as few rows as hold them.
        """
        n_rows = -(-len(vectors) // self.n_tokens)
        rows = vectors.new_zeros(n_rows * self.n_tokens, vectors.shape[-1])
        rows[: len(vectors)] = vectors
        streams = rows.unflatten(0, (n_rows, self.n_tokens))
        (made,) = self._made(layer, "resid_mid", streams, ("ffn_out",))
        return made.flatten(0, 1)[: len(vectors)]

    @torch.inference_mode()
    def _made(
        self, layer: int, part: str, streams: Tensor, wanted: Collection[str]
    ) -> list[Tensor]:
        """Values of a block given other streams at a part; the pass ends where it has them."""
        address = self.address(layer, part)
        before, first = self.branches.before(address)
        until = Until(*(self.address(layer, name) for name in wanted))
        tap = attach(*before, _Put(address, streams), until)
        try:
            logits_at(self.pair.model, self.pair.base, self.n_tokens - 1, tap, len(streams), first)
        except ReachedError:
            return list(until.values.values())
        raise AssertionError(f"no value at {', '.join(wanted)} went through the pass")


@dataclass(frozen=True, eq=False)
class _Put:
    """Puts a batch of rows in the place of a value."""

    address: str
    rows: Tensor

    def wants(self, address: str) -> bool:
        """Whether this is its place."""
        return address == self.address

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """value: (1 or n, …). Returns the rows, (n, …)."""
        return self.rows


def paths(pair: Pair) -> Paths:
    """Both texts, each run once.

    ValueError, of one line, where the texts have different numbers of tokens or no difference, the
    model makes none of it, or what its parts write does not add up to its stream.
    """
    check_lengths(pair.base, pair.source)
    model = adding(pair.model)
    n = longest_of(pair.base)
    if pair.metric.position != n - 1:
        raise ValueError(
            f"the answer stands at token {pair.metric.position}, not at the last of {n}"
        )
    if np.array_equal(np.asarray(pair.base), np.asarray(pair.source)):
        raise ValueError("both texts are the same; change one word of one")
    base, source = (trace_of(pair.model, x) for x in (pair.base, pair.source))
    if any({"capped", "sunk"} & {*record.stages} for record in base.attention):
        raise ValueError(
            "this model bends its scores or lets sinks take a share of them, which a circuit does "
            "not follow; choose a model without either"
        )
    held, other = Held(model, base), Held(model, source)
    streams = {
        f"{pair.stack}.blocks.{layer}.resid_pre": x[None] for layer, x in enumerate(held.resid_pre)
    }
    branches = Branches(pair.model, pair.base, pair.metric.position, streams)
    found = Paths(pair, held, other, branches)
    _refuse_rest(found)
    if abs(found.whole - found.other) <= found.rounding:
        raise ValueError(
            "the model makes no difference of these two texts that is more than rounding: the "
            f"answer is {found.whole:.6g} and {found.other:.6g}; change a word that matters, or "
            "ask for another answer"
        )
    return found


def adding(model: Transformer) -> Transformer:
    """The model; ValueError where its stream is no sum of what heads and feed-forwards write."""
    why = "a circuit needs a decoder of words whose blocks add what they write to one stream"
    kinds = {site.kind for site in model.sites}
    if model.config.architecture != "decoder" or kinds != {"self"}:
        raise ValueError(f"{why}; this model is none: choose a language model, such as stories")
    if not are_sums(model.sublayers):
        raise ValueError(
            f"{why} as it is, attention first; here a norm follows what they write, or both read "
            "one stream: choose another model, such as stories"
        )
    if len(model.sublayers) != 2 * len(model.sites):
        raise ValueError(f"{why}; its parts were not found")
    return model


def _refuse_rest(found: Paths) -> None:
    """ValueError where terms are not all that is in the stream, such as a factor at each sum."""
    difference = found.source.last - found.base.last
    rest = (found.moved.sum(dim=0) - difference).abs().max()
    largest = torch.stack([found.base.last.abs().max(), found.source.last.abs().max()]).max()
    if not rest <= ADDS_UP * largest:
        raise ValueError(
            "what the parts of this model write does not add up to its stream, by "
            f"{float(rest / largest):.2g} of its largest value; its circuit cannot be followed"
        )
