"""What one forward pass did, of any model, as plain frozen numpy.

A decoder, an encoder-decoder, a vision model or a file of arrays all yield the same records, so
one set of checks, figures and exports serves them all. Nothing here knows torch or a model.

Addresses are spelled as in the forward pass: `decoder.blocks.3.attn.pattern`.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from model.worked_out import Attending

ValueT = TypeVar("ValueT")
StreamKind = Literal["text", "patches"]
AttentionKind = Literal["self", "cross"]
NEXT = "next token"  # what most models predict at each position
CLASS_TOKEN = "[CLS]"  # noqa: S105, the label of the class token

# The module that attends, by kind of attention; also the last part of a site's address.
MODULES: dict[str, str] = {"self": "attn", "cross": "cross_attn"}


def check_number(what: str, number: Any, n: int) -> None:  # noqa: ANN401
    """ValueError where it is none of 0 to n − 1, as a layer, a head or a token is."""
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not is_whole or not 0 <= number < n:
        raise ValueError(f"there is no {what} {number!r} of {n}; give 0 to {n - 1}")


@dataclass(frozen=True, order=True)
class Site:
    """Where attention happens: a stack of blocks, self- or cross-attention, and the layer."""

    stack: str
    kind: AttentionKind
    layer: int

    @property
    def group(self) -> str:
        """The name of all layers of this kind in this stack, as in decoder.attn."""
        return f"{self.stack}.{MODULES[self.kind]}"

    @property
    def keys(self) -> str:
        """The stack whose tokens are attended to."""
        return "encoder" if self.kind == "cross" else self.stack

    @property
    def address(self) -> str:
        """The module that attends, as in decoder.blocks.3.attn."""
        return f"{self.stack}.blocks.{self.layer}.{MODULES[self.kind]}"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of the model behind a trace; None where a source does not know.

    Sizes are spelled as in the configs. `position` and `mask` name the scheme and the kind of mask
    the model was trained with, `position_base` the base of its wavelengths. `predicts` is what its
    output is about: the next token, the same token ("hidden token"), or the "class".
    """

    architecture: str
    n_layers: int | None = None
    n_heads: int | None = None
    n_kv_heads: int | None = None
    d_model: int | None = None
    d_head: int | None = None
    d_ff: int | None = None
    vocab_size: int | None = None
    max_seq_len: int | None = None
    position: str | None = None
    position_base: float | None = None
    norm: str | None = None
    norm_placement: str | None = None
    feedforward: str | None = None
    mask: str | None = None
    tied_embeddings: bool | None = None
    predicts: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ResidualRecord:
    """The residual stream through one block, each (T, D).

    In a block with cross-attention that comes after resid_mid: it adds `cross_out`, which makes
    `resid_cross`, and the feed-forward works on this. Elsewhere these two are None.
    """

    resid_pre: np.ndarray
    attn_out: np.ndarray
    resid_mid: np.ndarray
    cross_out: np.ndarray | None = None
    resid_cross: np.ndarray | None = None
    ffn_out: np.ndarray
    resid_post: np.ndarray


RESIDUAL_NAMES = tuple(field.name for field in fields(ResidualRecord))


@dataclass(frozen=True, eq=False)
class Stream:
    """A row of tokens or patches that attention reads from or writes to.

    It is named after the stack that processes it. `labels` are T strings for display. embed (T, D)
    is what is added, after any scaling, so embed + positions = resid_pre of layer 0; `positions`
    (T, D) is zero where the scheme adds nothing. A row of patches begins with the class token and
    perhaps a few others, and has the picture it was cut from as `pixels`, (S, S) from 0 to 1. Of a
    chat `roles` says who wrote each token: "system", "user", "assistant", or "template". `special`
    are the places of tokens that stand for no text. What a source does not have is None or empty.
    """

    name: str
    kind: StreamKind
    labels: tuple[str, ...]
    ids: np.ndarray | None = None  # (T,)
    embed: np.ndarray | None = None
    positions: np.ndarray | None = None
    residuals: tuple[ResidualRecord, ...] = ()
    pixels: np.ndarray | None = None
    roles: tuple[str, ...] = ()
    special: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Number of tokens or patches, T."""
        return len(self.labels)

    @property
    def side(self) -> int:
        """Patches along a side of the picture. A few tokens, fewer than 2 · side, stand before."""
        return math.isqrt(len(self.labels))


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionRecord(Attending):
    """One attention layer as it ran: every head, every number, as read-only float32 arrays.

    `queries` and `keys` name the streams that rows and columns are of. Of a long run `scores` and
    `pattern` are no arrays but `WorkedOut`: what reads all of a layer makes it an array once.
    """

    site: Site
    queries: str
    keys: str
    v: np.ndarray  # (n_kv_heads, Tk, Dh)
    scores: np.ndarray  # (H, Tq, Tk)
    pattern: np.ndarray  # (H, Tq, Tk)
    z: np.ndarray  # (H, Tq, Dh)

    @property
    def added(self) -> np.ndarray:
        """What is added to the scaled products, (H, Tq, Tk): the bias, or zeros."""
        return np.zeros(self.scores.shape, np.float32) if self.bias is None else self.bias

    @property
    def in_full(self) -> "AttentionRecord":
        """The same with its pattern as an array, for what reads it several times."""
        return replace(self, pattern=np.asarray(self.pattern))


ATTENTION_NAMES = ("q", "k", "v", "bias", "mask", "scores", "sinks", "pattern", "z")


@dataclass(frozen=True, eq=False)
class HeadGroup:
    """All layers of one kind of attention in one stack: heads that can be shown in one grid."""

    name: str
    records: tuple[AttentionRecord, ...]

    @property
    def stack(self) -> str:
        """The stack of blocks."""
        return self.records[0].site.stack

    @property
    def kind(self) -> AttentionKind:
        """Self- or cross-attention."""
        return self.records[0].site.kind

    @property
    def title(self) -> str:
        """What to call it on screen, as in Decoder cross-attention."""
        return f"{self.stack.replace('_', ' ').capitalize()} {self.kind}-attention"

    @property
    def queries(self) -> str:
        """The stream of the rows."""
        return self.records[0].queries

    @property
    def keys(self) -> str:
        """The stream of the columns."""
        return self.records[0].keys

    @property
    def n_heads(self) -> int:
        """Query heads in each layer."""
        return self.records[0].n_heads

    def patterns(self) -> np.ndarray:
        """Patterns of all layers as one new array, (L, H, Tq, Tk)."""
        return np.stack([record.pattern for record in self.records])


@dataclass(frozen=True, eq=False)
class Trace:
    """All that one forward pass did.

    Attention is in the order of the forward pass. `output` is what the model gives for each token
    of its last stream, for a language model the logits (T, V), for a vision model those of the
    classes, of the class token alone, (1, C); None where a source has none.
    Raises ValueError naming both when records and streams do not fit together.
    """

    facts: Facts
    streams: tuple[Stream, ...]
    attention: tuple[AttentionRecord, ...]
    output: np.ndarray | None = None

    def __post_init__(self) -> None:
        names = [stream.name for stream in self.streams]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"streams are named {names}; give at least one, each its own name")
        for record in self.attention:
            self._check_record(record)

    @property
    def main(self) -> Stream:
        """The stream that the output belongs to: the last one."""
        return self.streams[-1]

    @property
    def given(self) -> np.ndarray | tuple[np.ndarray, ...]:
        """What the model was given: ids (T,) or pixels (S, S), for two streams source and target.

        ValueError where the source has none.
        """
        given = [self._known(_given(stream), "input") for stream in self.streams]
        return given[0] if len(given) == 1 else tuple(given)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Labels of the main stream."""
        return self.main.labels

    @property
    def ids(self) -> np.ndarray:
        """Token ids of the main stream, (T,); ValueError where the source has none."""
        return self._known(self.main.ids, "token ids")

    @property
    def embed(self) -> np.ndarray:
        """Embeddings of the main stream, (T, D); ValueError where the source has none."""
        return self._known(self.main.embed, "embeddings")

    @property
    def positions(self) -> np.ndarray:
        """What positions add to the main stream, (T, D); ValueError where it is not known."""
        return self._known(self.main.positions, "position vectors")

    @property
    def residuals(self) -> tuple[ResidualRecord, ...]:
        """The main stream through its blocks; ValueError where the source has none."""
        return self._known(self.main.residuals or None, "residual stream")

    @property
    def logits(self) -> np.ndarray:
        """Logits of every position, (T, V); ValueError where the source has none."""
        return self._known(self.output, "logits")

    @property
    def offers(self) -> frozenset[str]:
        """What a view may ask of this trace: "logits" (of the next token), "residuals"."""
        says_next = self.facts.predicts in (None, NEXT)
        there = {
            "logits": self.output is not None and says_next,
            "residuals": bool(self.main.residuals),
        }
        return frozenset(name for name, is_there in there.items() if is_there)

    def stream(self, name: str) -> Stream:
        """A stream by its name; ValueError when there is none."""
        for stream in self.streams:
            if stream.name == name:
                return stream
        raise ValueError(
            f"no stream {name!r}; streams are {', '.join(s.name for s in self.streams)}"
        )

    def record(self, site: Site) -> AttentionRecord:
        """Attention at a site; ValueError when there is none."""
        for record in self.attention:
            if record.site == site:
                return record
        raise ValueError(f"no attention at {site.address}")

    @cached_property
    def groups(self) -> tuple[HeadGroup, ...]:
        """Attention by stack and kind, in the order of the forward pass, layers ascending."""
        by_name: dict[str, list[AttentionRecord]] = {}
        for record in self.attention:
            by_name.setdefault(record.site.group, []).append(record)
        return tuple(
            HeadGroup(name, tuple(sorted(records, key=lambda record: record.site)))
            for name, records in by_name.items()
        )

    def group(self, name: str) -> HeadGroup:
        """A group of heads by its name, as in decoder.attn; ValueError when there is none."""
        for group in self.groups:
            if group.name == name:
                return group
        known = ", ".join(group.name for group in self.groups)
        raise ValueError(f"no attention named {name!r}; there is {known}")

    def heads_at(self, layer: int, head: int, group: str = "") -> HeadGroup:
        """The heads that a layer and a head are among; ValueError for what is not there.

        group: which attention, where there are several.
        """
        names = [heads.name for heads in self.groups]
        if not group and len(names) > 1:
            raise ValueError(f"this model attends in {len(names)} ways; give a group of {names}")
        heads = self.group(group or names[0])
        for what, number, n in (
            ("layer", layer, len(heads.records)),
            ("head", head, heads.n_heads),
        ):
            check_number(what, number, n)
        return heads

    def marked(self, special_ids: Collection[int]) -> "Trace":
        """The same, in which tokens of these ids are known to stand for no text."""
        ids = list(special_ids)
        streams = (
            s if s.ids is None else replace(s, special=_places(np.isin(s.ids, ids)))
            for s in self.streams
        )
        return replace(self, streams=tuple(streams))

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Address and array of everything in the trace."""
        for stream in self.streams:
            yield f"{stream.name}.labels", np.array(stream.labels, dtype=np.str_)
            if stream.roles:
                yield f"{stream.name}.roles", np.array(stream.roles, dtype=np.str_)
            if stream.special:
                yield f"{stream.name}.special", np.array(stream.special)
            yield from _present(stream.name, stream, ("ids", "pixels", "embed", "positions"))
            for layer, residual in enumerate(stream.residuals):
                yield from _present(f"{stream.name}.blocks.{layer}", residual, RESIDUAL_NAMES)
        for record in self.attention:
            yield f"{record.site.address}.scale", np.array(record.scale)
            if record.softcap is not None:
                yield f"{record.site.address}.softcap", np.array(record.softcap)
            yield from _present(record.site.address, record, ATTENTION_NAMES)
        if self.output is not None:
            yield "output", self.output

    def _known(self, value: ValueT | None, what: str) -> ValueT:
        if value is None:
            raise ValueError(f"this trace of a {self.facts.architecture} has no {what}")
        return value

    def _check_record(self, record: AttentionRecord) -> None:
        """Whether every array has the shape that its streams and heads give it."""
        n_queries, n_keys = len(self.stream(record.queries)), len(self.stream(record.keys))
        n_heads, d_head = record.q.shape[0], record.q.shape[-1]
        n_kv_heads = len(record.k)
        square = (n_heads, n_queries, n_keys)
        expected = {
            "q": (n_heads, n_queries, d_head),
            "k": (n_kv_heads, n_keys, d_head),
            "v": (n_kv_heads, n_keys, record.v.shape[-1]),
            "bias": square,
            "mask": square[3 - record.mask.ndim :],
            "scores": square,
            "pattern": square,
            "z": (n_heads, n_queries, record.v.shape[-1]),
            "sinks": (n_heads,),
        }
        for name, shape in expected.items():
            array = getattr(record, name)
            if array is not None and array.shape != shape:
                raise ValueError(
                    f"{record.site.address}.{name} has shape {array.shape}; its streams of "
                    f"{n_queries} queries and {n_keys} keys need {shape}"
                )
        if n_heads % n_kv_heads:
            raise ValueError(
                f"{record.site.address} has {n_heads} query heads, which is not a multiple of its "
                f"{n_kv_heads} key-value heads"
            )


def _places(there: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(there).tolist())


def _given(stream: Stream) -> np.ndarray | None:
    return stream.ids if stream.pixels is None else stream.pixels


def _present(prefix: str, owner: object, names: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
    for name in names:
        if (array := getattr(owner, name)) is not None:
            yield f"{prefix}.{name}", array
