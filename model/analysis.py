"""Questions asked of a finished trace, answered in numpy."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.attention import attention_pattern
from model.capture import Trace
from model.transformer import DecoderTransformer
from model.verify import relative_error


def masking_alternatives(scores: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """One head's scores turned into weights in three ways, of which only the first is right.

    - "before": −inf in masked cells before softmax. Rows sum to one, masked cells are zero.
    - "score_zero": score 0 in masked cells before softmax. e⁰ = 1, so they get weight all the same.
    - "after": softmax over all cells, masked weights set to zero after. Rows sum to less than one,
      because the hidden cells have already taken their share.

    scores and mask: (Tq, Tk), scores before the mask. Returns (Tq, Tk) for each name.
    """
    s, m = torch.tensor(scores), torch.tensor(mask)
    return {
        "before": attention_pattern(s, m).numpy(),
        "score_zero": attention_pattern(s.masked_fill(~m, 0.0)).numpy(),
        "after": attention_pattern(s).masked_fill(~m, 0.0).numpy(),
    }


def cosine_similarity(vectors: np.ndarray) -> np.ndarray:
    """Cosine of the angle between every two rows; zero rows give zero. (N, D) → (N, N)."""
    x = vectors.astype(np.float64)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    unit = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)
    return unit @ unit.T


def layers_to_reach(mask: np.ndarray) -> np.ndarray:
    """How many layers it takes until token i can know of token j; −1 where it never can.

    One layer carries what a token holds to all that may read it, so after n layers i knows of
    whatever a path of n steps through the mask joins it to. A token knows itself: 0 layers.

    mask: (T, T) bool, True = may attend. Returns (T, T) whole numbers.
    """
    steps = mask.astype(np.float32)
    known = np.eye(len(mask), dtype=bool)
    layers = np.where(known, 0, -1)
    for layer in range(1, len(mask) + 1):
        reached = known | (steps @ known > 0)
        if (reached == known).all():
            break
        layers[reached & ~known] = layer
        known = reached
    return layers


def future_share(pattern: np.ndarray) -> float:
    """Share of all attention that goes to later tokens. pattern: (..., T, T), rows sum to one."""
    total = pattern.sum(dtype=np.float64)
    return float(np.triu(pattern, 1).sum(dtype=np.float64) / total) if total else 0.0


def next_token_losses(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """−ln p of each token but the first, in nats. logits: (T, V), ids: (T,). Returns (T − 1,)."""
    log_probs = torch.tensor(logits[:-1]).double().log_softmax(dim=-1)
    return -log_probs.gather(1, torch.tensor(ids[1:])[:, None])[:, 0].numpy()


def summarise_patterns(patterns: np.ndarray, how: str, over: str, index: int) -> np.ndarray:
    """Mean or maximum of attention patterns over heads, layers, or both. (L, H, Tq, Tk) → (Tq, Tk).

    `how` is "mean" or "maximum"; `over` is "layer" (all heads of layer `index`), "head" (head
    `index` of all layers) or "all". Raises ValueError for others and for an index out of range.
    """
    n_layers, n_heads = patterns.shape[:2]
    chosen = {
        "layer": patterns[index : index + 1],
        "head": patterns[:, index : index + 1],
        "all": patterns,
    }
    if how not in SUMMARIES or over not in chosen:
        raise ValueError(
            f"no summary {how} over {over}; give mean or maximum over layer, head or all"
        )
    if not chosen[over].size:
        raise ValueError(f"{over} {index} of {n_layers} layers × {n_heads} heads does not exist")
    return SUMMARIES[how](chosen[over], axis=(0, 1))


SUMMARIES = {"mean": np.mean, "maximum": np.max}


@dataclass(frozen=True, eq=False)
class LogitLens:
    """What the residual stream says at each height of the model, as numpy arrays.

    Row 0 is the input of the first layer, row i + 1 what leaves layer i, so the last row is what
    the model says. K tokens are kept of each distribution, likeliest first. The answer at a
    position is the last row's likeliest token; `rank` is its place in each row, 0 = likeliest,
    and equally likely tokens share the better place.
    """

    ids: np.ndarray  # (L + 1, T, K)
    logits: np.ndarray  # (L + 1, T, K)
    probs: np.ndarray  # (L + 1, T, K)
    log_total: np.ndarray  # (L + 1, T): ln Σ exp(logit) over the whole vocabulary
    entropy: np.ndarray  # (L + 1, T), in nats
    rank: np.ndarray  # (L + 1, T)
    error: float  # of the last row's logits (T, V) against the trace's: verify.relative_error


@torch.inference_mode()
def logit_lens(trace: Trace, model: DecoderTransformer, k: int = 10) -> LogitLens:
    """Final norm and unembedding applied to the residual stream before and after every layer.

    nostalgebraist 2020; Belrose et al. 2023, §2. A post-norm model has no final norm: there the
    unembedding alone reads the stream. Softmax is over the whole vocabulary in float64, one row
    (T, V) in memory at a time. At most V tokens are kept. Raises ValueError when k is below 1.
    """
    if k < 1:
        raise ValueError(f"{k} tokens of each distribution are none; keep at least 1")
    stream = [trace.residuals[0].resid_pre, *(record.resid_post for record in trace.residuals)]
    last = _read_stream(stream[-1], model)
    k = min(k, last.shape[-1])
    answers = last.topk(k).indices[:, :1]
    error = relative_error(last.cpu().numpy(), trace.logits)
    rows = [_lens_row(_read_stream(resid, model), answers, k) for resid in stream]
    return LogitLens(
        **{name: np.stack([row[name] for row in rows]) for name in rows[0]}, error=error
    )


def _read_stream(resid: np.ndarray, model: DecoderTransformer) -> Tensor:
    """Logits (T, V) in float64 of a residual stream (T, D)."""
    x = torch.tensor(resid, device=model.unembed.weight.device)
    return model.unembed(model.final_norm(x)).double()


def _lens_row(logits: Tensor, answers: Tensor, k: int) -> dict[str, np.ndarray]:
    """The arrays of `LogitLens` for one row. logits: (T, V), answers: (T, 1)."""
    log_total = logits.logsumexp(dim=-1, keepdim=True)
    log_probs = logits - log_total
    top = logits.topk(k)
    row = {
        "ids": top.indices,
        "logits": top.values,
        "probs": log_probs.gather(1, top.indices).exp(),
        "log_total": log_total[:, 0],
        "entropy": -(log_probs.exp() * log_probs).sum(dim=-1),
        "rank": (logits > logits.gather(1, answers)).sum(dim=-1),
    }
    return {name: x.cpu().numpy() for name, x in row.items()}
