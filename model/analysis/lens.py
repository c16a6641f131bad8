"""The logit lens: each layer decoded with the final norm and unembedding."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.adopted.model import AnyDecoder
from model.trace import Trace
from model.verify.check import relative_error

AT_ONCE = 16_000_000  # logits in float64


@dataclass(frozen=True, eq=False)
class LogitLens:
    """What the residual stream says at each height of the model, as numpy arrays.

    Row 0 is the input of the first layer, row i + 1 what leaves layer i, so the last row is what
    the model says. Columns are the N tokens of `positions`. K tokens are kept of each distribution,
    most likely first. The answer at a position is the last row's top token; `rank` is its place in
    each row, 0 = most likely, and equally likely tokens share the better place.
    """

    ids: np.ndarray  # (L + 1, N, K)
    logits: np.ndarray  # (L + 1, N, K)
    probs: np.ndarray  # (L + 1, N, K)
    log_total: np.ndarray  # (L + 1, N): ln Σ exp(logit) over the whole vocabulary
    entropy: np.ndarray  # (L + 1, N), in nats
    rank: np.ndarray  # (L + 1, N)
    error: float  # of the last row's logits (N, V) against the trace's: verify.relative_error
    positions: np.ndarray  # (N,)


@torch.inference_mode()
def logit_lens(
    trace: Trace, model: AnyDecoder, k: int = 10, positions: Sequence[int] | None = None
) -> LogitLens:
    """Final norm and unembedding applied to the residual stream before and after every layer.

    nostalgebraist 2020; Belrose et al. 2023, §2. A post-norm model has no final norm: there the
    unembedding alone reads the stream. Softmax is over the whole vocabulary in float64, one row
    (T, V) in memory at a time, of a long text a part of it. At most V tokens are kept. positions:
    which tokens, by default all. Raises ValueError when k is below 1.
    """
    if k < 1:
        raise ValueError(f"{k} tokens of each distribution are none; keep at least 1")
    n_words = trace.logits.shape[-1]
    wanted = np.arange(len(trace.tokens)) if positions is None else np.array(positions, dtype=int)
    pieces = np.array_split(wanted, 1 + len(wanted) * n_words // AT_ONCE)
    found = [_lens_at(piece, trace, model, min(k, n_words)) for piece in pieces]
    rows = {name: np.concatenate([part[name] for part, _ in found], axis=1) for name in found[0][0]}
    return LogitLens(**rows, error=max(error for _, error in found), positions=wanted)


def _lens_at(
    positions: np.ndarray, trace: Trace, model: AnyDecoder, k: int
) -> tuple[dict[str, np.ndarray], float]:
    """The arrays of `LogitLens` at some positions, (L + 1, n, …), and the last row's error."""
    stream = [trace.residuals[0].resid_pre, *(record.resid_post for record in trace.residuals)]
    last = _read_stream(stream[-1][positions], model)
    answers = last.topk(k).indices[:, :1]
    error = relative_error(last.cpu().numpy(), trace.logits[positions])
    rows = [_lens_row(_read_stream(resid[positions], model), answers, k) for resid in stream]
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}, error


def _read_stream(resid: np.ndarray, model: AnyDecoder) -> Tensor:
    """Logits (T, V) in float64 of a residual stream (T, D)."""
    return model.read_out(torch.tensor(resid, device=model.device)).double()


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
