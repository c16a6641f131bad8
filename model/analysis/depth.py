"""Why the residual: how long a gradient is after so many blocks, with the sum and without it.

Small networks are made of this project's own blocks with weights as drawn, before any training. The
number that is differentiated is the output along a random direction, one for each of a few random
inputs. He et al. 2016 for the sum; Xiong et al. 2020 for where the norm stands.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.adopted.model import AnyDecoder
from model.blocks import NORM_PLACEMENTS, Block, NormPlacement
from model.config import BlockConfig
from model.norms import NORMS, NoNorm
from model.positions import POSITIONS
from model.tap import Gradients, attach

Array = np.ndarray

DEPTHS = (2, 4, 8, 16, 32, 48)
AT_ONCE = 4  # blocks of one piece of work
N_INPUTS, N_TOKENS, D_MODEL, N_HEADS, D_FF = 8, 8, 32, 4, 64
PLACES = ("blocks", "input", "direction")  # of a draw: of each network's weights, and so on


class Kind(NamedTuple):
    """Where the norms stand, and whether a sublayer's input is added to its output."""

    placement: str
    has_residual: bool


KINDS = (Kind("pre", True), Kind("post", True), Kind("pre", False), Kind("post", False))

# A sublayer's output takes the stream's place: the same reads, the same norms, no sum.
_WITHOUT: dict[str, NormPlacement] = {
    "pre": NORM_PLACEMENTS["pre"]._replace(write=lambda x, update, norm: update),
    "post": NORM_PLACEMENTS["post"]._replace(write=lambda x, update, norm: norm(update)),
}


def config_of(placement: str, depth: int) -> BlockConfig:
    """A small network: 8 tokens of 32 numbers, 4 heads, 64 neurons with ReLU, LayerNorm."""
    return BlockConfig(
        d_model=D_MODEL,
        n_layers=depth,
        n_heads=N_HEADS,
        d_ff=D_FF,
        max_seq_len=N_TOKENS,
        position="none",
        norm_placement=placement,
        feedforward="relu",
        bias=False,
    )


def drawn_block(config: BlockConfig, layer: int, seed: int) -> Block:
    """A block with weights of variance 1 / inputs (LeCun et al. 1998, §4.6), in float64.

    They depend on layer and seed alone: all kinds and depths have the same. They need no gradient.
    """
    block = Block(config).double().requires_grad_(requires_grad=False)
    rng = np.random.default_rng([seed, PLACES.index("blocks"), layer])
    with torch.no_grad():
        for linear in _linears(block):
            n_out, n_in = linear.weight.shape
            drawn = rng.standard_normal((n_out, n_in)) / np.sqrt(n_in)
            linear.weight.copy_(torch.from_numpy(drawn))
    return block


def _linears(block: Block) -> Iterator[nn.Linear]:
    """In the order in which they are drawn."""
    for name in ("attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.out_proj", "ffn.up"):
        yield _linear(block, name)
    yield _linear(block, "ffn.down")


def _linear(block: Block, name: str) -> nn.Linear:
    module = block.get_submodule(name)
    assert isinstance(module, nn.Linear)
    return module


def _drawn(what: str, seed: int) -> Tensor:
    """Tokens, or directions: independent numbers of variance 1, (B, T, D)."""
    rng = np.random.default_rng([seed, PLACES.index(what)])
    return torch.from_numpy(rng.standard_normal((N_INPUTS, N_TOKENS, D_MODEL)))


class Measured(NamedTuple):
    """One network: how long the gradient is before each block and after the last, (depth + 1,)."""

    kind: Kind
    depth: int
    lengths: Array


def measurements(seed: int) -> Iterator[Measured | None]:
    """Networks of every depth and kind, the shallow ones first; None after each piece of work."""
    blocks: list[Block] = []
    for depth in DEPTHS:
        for layer in range(len(blocks), depth):
            blocks.append(drawn_block(config_of("pre", depth), layer, seed))
            yield None
        for kind in KINDS:
            lengths = yield from _in_pieces(blocks, kind, seed)
            yield Measured(kind, depth, lengths)


def gradient_lengths(blocks: Sequence[Block], kind: Kind, seed: int) -> Array:
    """‖∂y/∂x_l‖ of the stream before each block and after the last, (L + 1,).

    The geometric mean over N_INPUTS inputs, for they are apart by orders of magnitude. y is the
    output, after the last norm where there is one, along a direction of length 1. The blocks become
    those of this kind.
    """
    work = _in_pieces(blocks, kind, seed)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value


def _in_pieces(blocks: Sequence[Block], kind: Kind, seed: int) -> Generator[None, None, Array]:
    """The same, AT_ONCE blocks forward or backward at a time."""
    config, placement = config_of(kind.placement, len(blocks)), NORM_PLACEMENTS[kind.placement]
    position = POSITIONS["none"](config)
    mask = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool).tril()
    streams: list[list[Tensor]] = []
    last = _drawn("input", seed)
    for first in range(0, len(blocks), AT_ONCE):
        stream = [last.detach().requires_grad_()]  # a piece has a graph of its own
        for block in blocks[first : first + AT_ONCE]:
            block.placement = placement if kind.has_residual else _WITHOUT[kind.placement]
            stream.append(block(stream[-1], position, mask=mask))
        streams.append(stream)
        last = stream[-1]
        yield
    last = last.detach().requires_grad_()
    last_norm = NORMS["layer"](config).double() if placement.ends_with_norm else NoNorm()
    direction = _drawn("direction", seed)
    direction /= direction.norm(dim=(1, 2), keepdim=True)  # (B, T, D)
    y = (last_norm(last) * direction).sum()  # inputs do not meet: each has its own gradient
    (gradient,) = torch.autograd.grad(y, [last])
    lengths = [_mean_length(gradient)]
    for stream in reversed(streams):
        gradients = torch.autograd.grad(stream[-1], stream[:-1], gradient)
        lengths += map(_mean_length, reversed(gradients))
        gradient = gradients[0]
        yield
    return np.array(lengths[::-1])


def _mean_length(gradient: Tensor) -> float:
    """The geometric mean over inputs, (B, T, D)."""
    return gradient.norm(dim=(1, 2)).log().mean().exp().item()


# --- the trained model ------------------------------------------------------------------------


def own_gradients(model: AnyDecoder, ids: Sequence[int]) -> Array:
    """‖∂loss/∂x_l‖ over all tokens, before each block and after the last, (L + 1,).

    The loss is the mean of −ln p(next token) of this text. ValueError for a text of one token.
    """
    if len(ids) < 2:
        raise ValueError(f"the text has {len(ids)} token; a loss needs at least 2")
    kept = Gradients(("resid_pre", "resid_post"))
    given = torch.tensor([list(ids)], device=model.device)
    with torch.enable_grad():
        logits = model(given, tap=attach(kept))[0]
        gradients = kept.of(F.cross_entropy(logits[:-1], given[0, 1:]))
    last = model.config.n_layers - 1
    before = [f"{model.name}.blocks.{layer}.resid_pre" for layer in range(last + 1)]
    addresses = [*before, f"{model.name}.blocks.{last}.resid_post"]
    return np.array([gradients[address].double().norm().item() for address in addresses])
