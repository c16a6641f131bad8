"""The logit lens: each layer decoded with the final norm and unembedding; or a fitted one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.adopted.model import AnyDecoder
from model.analysis.fitted_lens import FittedLens
from model.device import wide
from model.trace import Trace
from model.verify.check import relative_error

AT_ONCE = 4_000_000  # logits in float64


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
    trace: Trace,
    model: AnyDecoder,
    k: int = 10,
    positions: Sequence[int] | None = None,
    fitted: FittedLens | None = None,
) -> LogitLens:
    """Final norm and unembedding applied to the residual stream before and after every layer.

    nostalgebraist 2020; Belrose et al. 2023, §2. A post-norm model has no final norm: there the
    unembedding alone reads the stream. Softmax is over the whole vocabulary in float64, of a few
    tokens at a time. At most V tokens are kept. positions:
    which tokens, by default all. fitted: what moves each stream before it is read, which makes it
    another lens; the last row is the same. Raises ValueError when k is below 1.
    """
    if k < 1:
        raise ValueError(f"{k} tokens of each distribution are none; keep at least 1")
    n_words = trace.logits.shape[-1]
    wanted = np.arange(len(trace.tokens)) if positions is None else np.array(positions, dtype=int)
    n_cells = len(wanted) * n_words * (1 + len(trace.residuals))
    pieces = np.array_split(wanted, min(len(wanted), 1 + n_cells // AT_ONCE))
    parts = [_lens_at(piece, trace, model, min(k, n_words), fitted) for piece in pieces]
    rows = {name: np.concatenate([part[name] for part, _ in parts], axis=1) for name in parts[0][0]}
    return LogitLens(**rows, error=max(error for _, error in parts), positions=wanted)


def _lens_at(
    positions: np.ndarray, trace: Trace, model: AnyDecoder, k: int, fitted: FittedLens | None
) -> tuple[dict[str, np.ndarray], float]:
    """The arrays of `LogitLens` at some positions, (L + 1, n, …), and the last row's error."""
    states = [trace.residuals[0].resid_pre, *(record.resid_post for record in trace.residuals)]
    streams = np.stack([state[positions] for state in states])
    logits = _read_stream(fitted.moved(streams) if fitted else streams, model)
    error = relative_error(logits[-1].cpu().numpy(), trace.logits[positions])
    return _lens_rows(logits, logits[-1].topk(k).indices[:, :1], k), error


def _read_stream(resid: np.ndarray, model: AnyDecoder) -> Tensor:
    """Logits (L, T, V) in float64 of residual streams (L, T, D)."""
    return wide(model.read_out(torch.tensor(resid, device=model.device)))


def _lens_rows(logits: Tensor, answers: Tensor, k: int) -> dict[str, np.ndarray]:
    """The arrays of `LogitLens`. logits: (L, T, V), answers: (T, 1)."""
    log_total = logits.logsumexp(dim=-1, keepdim=True)
    log_probs = logits - log_total
    top = logits.topk(k)
    row = {
        "ids": top.indices,
        "logits": top.values,
        "probs": log_probs.gather(-1, top.indices).exp(),
        "log_total": log_total[..., 0],
        "entropy": -(log_probs.exp() * log_probs).sum(dim=-1),
        "rank": (logits > logits.gather(-1, answers.expand(len(logits), -1, -1))).sum(dim=-1),
    }
    return {name: x.cpu().numpy() for name, x in row.items()}
