"""What a model is made of: its parts in the order of the forward pass, their shapes and weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from torch import nn

from model.architectures.base import Transformer
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.stack import Stack
from model.architectures.vision import VisionTransformer
from model.blocks import NORM_PLACEMENTS, Block, CrossBlock
from model.norms import NoNorm

ADDED = ("sinusoidal", "learned")  # schemes that add a vector to each embedding


@dataclass(frozen=True)
class Part:
    """One step of the forward pass.

    `shape` is that of what leaves it. `n_parameters` counts its own weights, in a block those of
    one layer, and nothing that another part before it has too. `group` names heads of attention, as
    in decoder.cross_attn.
    """

    kind: str
    shape: tuple[int, ...]
    n_parameters: int = 0
    group: str = ""


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
    def n_parameters(self) -> int:
        """Weights of the whole column, all layers counted."""
        per_layer = sum(part.n_parameters for sublayer in self.sublayers for part in sublayer)
        once = sum(part.n_parameters for part in (*self.before, *self.after))
        return once + self.n_layers * per_layer


def anatomy(model: Transformer, lengths: Sequence[int]) -> tuple[Column, ...]:
    """The columns of a model's diagram for an input of these lengths, one of each stack.

    The output of the last column is the model's: logits, and their softmax.
    """
    counted: set[int] = set()
    columns = [
        _column(stack, length, counted)
        for stack, length in zip(_stacks(model), lengths, strict=True)
    ]
    last = columns[-1]
    columns[-1] = replace(last, after=(*last.after, *_ends(model, lengths[-1], counted)))
    return tuple(columns)


def _stacks(model: Transformer) -> tuple[Stack, ...]:
    if isinstance(model, EncoderDecoderTransformer):
        return (model.encoder, model.decoder)
    return (cast("Stack", model),)


def _column(stack: Stack, length: int, counted: set[int]) -> Column:
    stream = (length, stack.config.d_model)
    embedding = "patches" if isinstance(stack, VisionTransformer) else "embedding"
    before = [Part(embedding, stream, _count(stack.embed, counted))]
    if stack.config.position in ADDED:
        before.append(Part("positions", stream, _count(stack.position, counted)))
    block = stack.blocks[0]
    sublayers = tuple(_sublayers(block, stream, stack.name, counted))
    has_norm = not isinstance(stack.final_norm, NoNorm)
    after = [Part("final_norm", stream, _count(stack.final_norm, counted))] if has_norm else []
    return Column(stack.name, len(stack.blocks), tuple(before), sublayers, tuple(after))


def _sublayers(
    block: Block, stream: tuple[int, int], stack: str, counted: set[int]
) -> Iterator[tuple[Part, ...]]:
    """Attention, cross-attention where there is any, and the feed-forward, each with its norm."""
    modules: list[tuple[str, nn.Module, nn.Module, str]] = [
        ("self_attention", block.attn, block.attn_norm, f"{stack}.attn")
    ]
    if isinstance(block, CrossBlock):
        cross = ("cross_attention", block.cross_attn, block.cross_norm, f"{stack}.cross_attn")
        modules.append(cross)
    modules.append(("feed_forward", block.ffn, block.ffn_norm, ""))
    is_first = block.placement is NORM_PLACEMENTS["pre"]
    for kind, module, norm, group in modules:
        of_norm = Part("norm", stream, _count(norm, counted))
        work = (Part(kind, stream, _count(module, counted), group), Part("add", stream))
        yield (of_norm, *work) if is_first else (*work, of_norm)


def _ends(model: Transformer, length: int, counted: set[int]) -> Iterator[Part]:
    unembed = cast("nn.Linear", model.get_submodule("unembed"))
    if isinstance(model, VisionTransformer):
        length = 1
        yield Part("class_token", (length, model.config.d_model))
    shape = (length, unembed.out_features)
    yield Part("unembedding", shape, _count(unembed, counted))
    yield Part("softmax", shape)


def _count(module: nn.Module, counted: set[int]) -> int:
    """Weights of a module that are not among the counted ones, which they join."""
    fresh = [x for x in module.parameters() if id(x) not in counted]
    counted.update(map(id, fresh))
    return sum(x.numel() for x in fresh)
