"""What a head does to what it attends to, from its weights: norms of what it moves, copying."""

import numpy as np
import torch
from torch import Tensor

from model.architectures.base import Transformer
from model.architectures.decoder import DecoderTransformer
from model.architectures.encoder import EncoderTransformer
from model.trace import AttentionRecord, Site

GAIN = "gain"  # of a norm, by its name among its parameters


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
    the norms before W_V and W_U are folded in; the division by a deviation, which depends on the
    token, is left out. None for a model whose stream does not lead from tokens to their logits.
    """
    if not isinstance(model, DecoderTransformer | EncoderTransformer):
        return None
    embed = model.get_parameter("embed.weight").double().cpu()  # (V, D)
    unembed = model.unembed.weight.double().cpu() @ _folded(model.final_norm, model)  # (V, D)
    tokens = unembed.T @ embed  # (D, D): from what a head writes to what it reads
    scores = []
    for layer, block in enumerate(model.blocks):
        site = Site(model.name, "self", layer)
        reads = block.placement.ends_with_norm  # pre-norm: the head reads a normalised stream
        fold = _folded(block.attn_norm, model) if reads else torch.eye(len(tokens)).double()
        w_v, w_out = model.value_weights(site), model.output_weights(site)
        assert w_v is not None
        w_v, w_out = w_v.double().cpu() @ fold, w_out.double().cpu()  # (H, Dh, D)
        circuits = w_out @ tokens @ w_v.mT  # (H, Dh, Dh): W_O·W_U·W_E·W_V, the same eigenvalues
        values = torch.linalg.eigvals(circuits)
        scores.append((values.real.sum(-1) / values.abs().sum(-1).clamp_min(1e-300)).numpy())
    return np.stack(scores)


def _folded(norm: torch.nn.Module, model: Transformer) -> Tensor:
    """A norm without its division, as a matrix (D, D): gain · centring; one where there is none."""
    d_model = model.config.d_model
    identity = torch.eye(d_model, dtype=torch.float64)
    gain = dict(norm.named_parameters()).get(GAIN)
    if gain is None:
        return identity
    centring = identity - 1 / d_model if model.config.norm == "layer" else identity
    return gain.double().cpu()[:, None] * centring
