"""What a model is made of, whoever built it: its stacks, and the steps of each in their order."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

Weights = tuple[nn.Parameter, ...]
STREAMS = ("resid_pre", "resid_mid", "resid_cross")  # before each sublayer of a block, in order


class Heads(NamedTuple):
    """Sizes of one attention. A query sees `window` tokens, itself included, or all with 0.

    `is_turned`: RoPE was seen to turn its queries and keys.
    """

    n_heads: int
    n_kv_heads: int
    d_head: int
    window: int = 0
    d_value: int = 0
    is_turned: bool = False


class Sublayer(NamedTuple):
    """What writes into a stream once in a pass: `writes` is attn_out, cross_out or ffn_out.

    matrix: what makes it of the outputs of all heads, or of all neurons; None where no one matrix
    does. own_norm: what it goes through before it is added (Gemma Team 2024, §2). norm: what the
    sum goes through (Vaswani et al. 2017, §3.1). read: what the stream that it `reads` goes
    through first (Xiong et al. 2020, fig. 1b). up: of a feed-forward, the last matrix before the
    activation; what that is multiplied by follows, as in SwiGLU (Shazeer 2020).
    weights: those it has beside its norms. heads: of attention.
    """

    layer: int
    writes: str
    matrix: nn.Module | None
    own_norm: nn.Module | None = None
    norm: nn.Module | None = None
    read: nn.Module | None = None
    reads: str = STREAMS[0]
    weights: Weights = ()
    heads: Heads | None = None
    up: nn.Module | None = None


def are_sums(sublayers: Sequence[Sublayer]) -> bool:
    """Whether blocks add what heads, and then an MLP, write to one stream, with no norm after it.

    Then the stream is a sum of what all of them write (Elhage et al. 2021).
    """
    wanted = [("attn_out", "resid_pre"), ("ffn_out", "resid_mid")]
    found = [(one.writes, one.reads) for one in sublayers]
    has_norms = any(one.norm or one.own_norm for one in sublayers)
    return bool(found) and not has_norms and found == wanted * (len(found) // 2)


class Step(NamedTuple):
    """What comes before or after all blocks: its kind, and how many numbers leave it for a token.

    norm: where it is one. rows: how many leave it, where these are not as many as the tokens.
    detail: what it does, in a few words.
    """

    kind: str
    width: int
    weights: Weights
    norm: nn.Module | None = None
    rows: int | None = None
    detail: str = ""


class StackParts(NamedTuple):
    """One stack: its steps before its blocks, what writes into its stream there, and the rest."""

    name: str
    d_model: int
    before: tuple[Step, ...]
    sublayers: tuple[Sublayer, ...]
    after: tuple[Step, ...]


@torch.inference_mode()
def kind_of_norm(norm: nn.Module, d_model: int) -> str | None:
    """The kind of a norm, by what it does not see: a vector's length, and its mean."""
    own = next(norm.parameters(), torch.empty(0))
    x = 1000 * torch.linspace(1, d_model, d_model).sin().to(own)  # so long that no ε counts
    made, longer, shifted = (norm(each[None, None]) for each in (x, 2 * x, x + x.abs().max()))
    if not _same(longer, made):
        return None
    return "layer" if _same(shifted, made) else "rms"


def _same(array: Tensor, wanted: Tensor) -> bool:
    return bool((array - wanted).abs().max() <= 1e-4 * wanted.abs().max())
