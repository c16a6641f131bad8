"""What a head does to what it attends to, from its weights: norms of what it moves, copying."""

import numpy as np
import torch
from torch import Tensor, nn

from model.analysis.block import tried
from model.architectures.base import Transformer
from model.device import wide
from model.norms import NoNorm
from model.parts import kind_of_norm
from model.trace import AttentionRecord

AT_ONCE = 8192  # tokens


@torch.inference_mode()
def value_norms(record: AttentionRecord, model: Transformer) -> np.ndarray:
    """‖v·W_O‖ of each head's keys, (H, Tk): how much each would add to the stream at weight 1.

    A key's share of an arrow's α‖v·W_O‖ is what really moves (Kobayashi et al. 2020, §3).
    """
    heads = [record.kv_head(head) for head in range(record.n_heads)]
    v = torch.from_numpy(record.v[heads])  # (H, Tk, Dh), a copy
    return (v @ model.output_weights(record.site).float().cpu()).norm(dim=-1).numpy()


@torch.inference_mode()
def copying_scores(model: Transformer) -> np.ndarray | None:
    """How much each head raises the logits of the tokens it attends to, (L, H); −1 to 1.

    Σ Re λ / Σ |λ| over the eigenvalues λ of W_E·W_V·W_O·W_U, from tokens to logits (Elhage et al.
    2021, "Summarizing OV/QK matrices"): 1, all positive: the head copies; −1: it takes away. They
    are those of the (Dh, Dh) matrix W_O·W_U·W_E·W_V, since λ(AB) = λ(BA). Gains and centring of
    the norms on embeddings, before W_V, after W_O and before W_U are folded in; the division by a
    deviation, which depends on the token, and a softcap are left out. None for a model whose stream
    does not lead from tokens to their logits, or of which that was not found.
    """
    try:
        return _scores(model)
    except ValueError:  # of a part that was not found
        return None


def _scores(model: Transformer) -> np.ndarray | None:
    first = model.stacks[0].before if len(model.stacks) == 1 else ()
    kinds = [step.kind for step in first]
    if kinds[:1] != ["embedding"] or not {*kinds} <= {"embedding", "positions", "norm"}:
        return None
    readout = getattr(model, "readout", None)
    norm, unembed = (readout.final_norm, readout.unembed) if readout else model.ending
    embed, d_model = model.embedding.get_parameter("weight"), model.stacks[0].d_model
    if unembed.weight.shape != embed.shape or embed.shape[1] != d_model:
        return None
    tokens = _folded(norm, d_model).T @ _product(unembed.weight, embed)
    for step in first:
        tokens = tokens @ _folded(step.norm, d_model).T  # (D, D): from what is written to read
    sublayers = {x.layer: x for x in model.sublayers if x.writes == "attn_out"}
    scores = []
    for site in model.sites:
        w_v, w_out = model.value_weights(site), model.output_weights(site)
        if w_v is None:
            return None
        one = sublayers[site.layer]
        w_v = wide(w_v) @ _folded(one.read, d_model)  # (H, Dh, D)
        w_out = wide(w_out) @ _folded(one.own_norm, d_model).T  # (H, Dh, D)
        circuits = w_out @ tokens @ w_v.mT  # (H, Dh, Dh): W_O·W_U·W_E·W_V, the same eigenvalues
        values = torch.linalg.eigvals(circuits)
        scores.append((values.real.sum(-1) / values.abs().sum(-1).clamp_min(1e-300)).numpy())
    return np.stack(scores)


def _product(left: Tensor, right: Tensor) -> Tensor:
    """leftᵀ·right of two tables (V, D), in float64, of many tokens without a copy of the tables."""
    parts = zip(left.split(AT_ONCE), right.split(AT_ONCE), strict=True)
    return torch.stack([wide(one.float().T @ other.float()) for one, other in parts]).sum(0)


def _folded(norm: nn.Module | None, d_model: int) -> Tensor:
    """A norm without its division, as a matrix (D, D): gain · centring; one where there is none.

    ValueError where it is no norm that is known.
    """
    identity = torch.eye(d_model, dtype=torch.float64)
    if norm is None or isinstance(norm, NoNorm | nn.Identity):
        return identity
    kind = kind_of_norm(norm, d_model)
    if kind is None:
        raise ValueError("what this norm does was not found")
    gain = torch.from_numpy(tried(norm, kind, d_model)[1])
    return gain[:, None] * (identity - 1 / d_model if kind == "layer" else identity)
