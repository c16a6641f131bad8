"""What a model is made of: its parts in the order of the forward pass, their shapes and weights."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from torch import nn

from model.architectures.base import Transformer
from model.blocks import matrix_of
from model.parts import Heads, StackParts, Step, Sublayer, kind_of_norm
from model.trace import MODULES

KINDS = {"attn_out": "self_attention", "cross_out": "cross_attention", "ffn_out": "feed_forward"}
GROUPS = dict(zip(KINDS, MODULES.values(), strict=False))


@dataclass(frozen=True)
class Part:
    """One step of the forward pass.

    `shape` is that of what leaves it, empty where it is not known. `counts` are its own weights, in
    a block those of each layer, without what another part before it has too. `group` names heads of
    attention, as in decoder.cross_attn, whose sizes are `heads`, of each layer. `norm` is the kind
    of a norm. `width` counts the neurons of a feed-forward, `reads` says what stream it reads.
    """

    kind: str
    shape: tuple[int, ...]
    counts: tuple[int, ...] = (0,)
    group: str = ""
    heads: tuple[Heads, ...] = ()
    norm: str | None = None
    width: int = 0
    reads: str = ""
    detail: str = ""

    @property
    def n_parameters(self) -> int:
        """Its weights, in a block those of all layers."""
        return sum(self.counts)


@dataclass(frozen=True)
class Column:
    """One stack: what comes before its blocks, the sublayers of each block, and what comes after.

    Each sublayer stands on a residual connection around it.
    """

    name: str
    n_layers: int
    before: tuple[Part, ...]
    sublayers: tuple[tuple[Part, ...], ...]
    after: tuple[Part, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """All of them, in order."""
        inside = (part for sublayer in self.sublayers for part in sublayer)
        return (*self.before, *inside, *self.after)

    @property
    def n_parameters(self) -> int:
        """Weights of the whole column, all layers counted."""
        return sum(part.n_parameters for part in self.parts)


def anatomy(model: Transformer, lengths: Sequence[int]) -> tuple[Column, ...]:
    """The columns of a model's diagram for an input of these lengths, one of each stack.

    The output of the last column is the model's, and where it is logits their softmax.
    """
    counted: set[int] = set()
    columns = [
        _column(stack, length, counted) for stack, length in zip(model.stacks, lengths, strict=True)
    ]
    for last in columns[-1:]:
        softmax = (Part("softmax", x.shape) for x in last.after if x.kind == "unembedding")
        columns[-1] = replace(last, after=(*last.after, *softmax))
    return tuple(columns)


def _column(stack: StackParts, length: int, counted: set[int]) -> Column:
    before = tuple(_of_step(step, length, counted) for step in stack.before)
    layers: list[list[tuple[Part, ...]]] = []
    for one in stack.sublayers:
        if one.layer == len(layers):
            layers.append([])
        layers[-1].append(tuple(_of_sublayer(one, stack, length, counted)))
    sublayers = tuple(_together(alike) for alike in zip(*layers, strict=True))
    after = (_of_step(step, length, counted) for step in stack.after)
    shown = tuple(part for part in after if part.kind != "other" or part.n_parameters)
    return Column(stack.name, len(layers), before, sublayers, shown)


def _of_step(step: Step, length: int, counted: set[int]) -> Part:
    shape = (step.rows or length, step.width) if step.width else ()
    norm = step.norm and kind_of_norm(step.norm, step.width)
    count = (_count(step.weights, counted),)
    return Part(step.kind, shape, count, norm=norm, detail=step.detail)


def _of_sublayer(
    one: Sublayer, stack: StackParts, length: int, counted: set[int]
) -> Iterator[Part]:
    """Attention or the feed-forward with its norms: before it, of what it gives, of the sum."""
    stream = (length, stack.d_model)

    def of_norm(module: nn.Module | None) -> Iterator[Part]:
        if module is not None:
            kind, count = kind_of_norm(module, stack.d_model), _count(module.parameters(), counted)
            yield Part("norm" if kind else "scale", stream, (count,), norm=kind)

    yield from of_norm(one.read)
    group = f"{stack.name}.{GROUPS[one.writes]}" if one.heads else ""
    heads = (one.heads,) if one.heads else ()
    width = 0 if one.heads or one.matrix is None else len(matrix_of(one.matrix))
    count = (_count(one.weights, counted),)
    yield Part(KINDS[one.writes], stream, count, group, heads, width=width, reads=one.reads)
    yield from of_norm(one.own_norm)
    yield Part("add", stream)
    yield from of_norm(one.norm)


def _together(layers: Sequence[tuple[Part, ...]]) -> tuple[Part, ...]:
    """A sublayer as all layers have it. What a layer lacks, as a first norm, counts 0 there."""
    whole = max(layers, key=len)
    return tuple(
        replace(
            part,
            counts=tuple(x.n_parameters for x in of_each),
            heads=tuple(heads for x in of_each for heads in x.heads),
        )
        for part, of_each in zip(
            whole, zip(*(_aligned(x, whole) for x in layers), strict=True), strict=True
        )
    )


def _aligned(parts: tuple[Part, ...], whole: tuple[Part, ...]) -> list[Part]:
    """The parts of one layer beside those of another, which has all of them and perhaps more."""
    left = list(parts)
    return [
        left.pop(0) if left and left[0].kind == x.kind else Part(x.kind, x.shape) for x in whole
    ]


def _count(weights: Iterable[nn.Parameter], counted: set[int]) -> int:
    """Weights that are not among the counted ones, which they join."""
    fresh = {id(x): x.numel() for x in weights if id(x) not in counted}
    counted.update(fresh)
    return sum(fresh.values())
