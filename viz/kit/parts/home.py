"""Home: a text runs through the model that is drawn, and goes on by itself."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from model.decoding.filters import SLACK, Sampling
from model.trace import HeadGroup, Trace
from viz.figures.labels import token_labels
from viz.kit.part import Part
from viz.kit.sampling import BOUNDS
from viz.kit.wire import axis_labels, bounds_data

MOST_ROWS = 24  # of a longer text the older words are one row
N_COLUMNS = 24  # numbers shown of each vector
SCHEMES = {  # in words, as a part of a sentence
    "sinusoidal": "waves, each slower than the one before",
    "learned": "a learned vector for each place",
    "rope": "Rotating queries and keys in each layer",
    "alibi": "A bias on the scores in each layer",
    "none": "The causal mask alone",
}


class Going(NamedTuple):
    """How the text may go on: why it cannot, or None, and a drawn token that could not stand.

    `after` is the text's length and the token with which it went on to be what it is.
    """

    why_no_more: str | None = "No model runs here: the text ends where it was saved."
    refused: tuple[int, int] | None = None
    after: tuple[int, int] | None = None


def home_part(trace: Trace, vocabulary: Sequence[str], opens: str = "", key: str = "") -> Part:
    """A run of a decoder; `opens` is a head's address, with {layer} and {head} in it, or empty."""
    group = trace.groups[0]
    n_folded = max(0, len(trace.tokens) - (MOST_ROWS - 1)) if _is_long(trace) else 0
    has_stream = bool(trace.main.residuals)
    spec = {
        "key": key,
        **_labels(trace, n_folded),
        "n_folded": n_folded,
        "n_tokens": len(trace.tokens),
        "n_layers": len(group.records),
        "n_heads": group.n_heads,
        "d_model": trace.facts.d_model,
        "vocab_size": trace.logits.shape[-1],
        "position": SCHEMES.get(trace.facts.position or "", "What the model adds"),
        "has_positions": has_stream and bool(np.any(trace.positions)),
        "has_stream": has_stream,
        "opens": opens,
        "slack": SLACK,
        "bounds": {name: bounds_data(BOUNDS[name]) for name in ("temperature", "top_p")},
    }
    words = json.dumps([label or " " for label in token_labels(vocabulary)], ensure_ascii=False)
    arrays = {
        **_attention(group, n_folded),
        **_stream(trace, n_folded),
        "logits": _rows(trace.logits, n_folded),
        "vocabulary": np.frombuffer(words.encode(), np.uint8),
    }
    sampling = Sampling()
    state = {"temperature": sampling.temperature, "top_p": sampling.top_p, "appended": None}
    return Part("home", going_on(spec, Going()), state, arrays, {"logits": 1})


def going_on(spec: Mapping[str, Any], going: Going) -> Mapping[str, Any]:
    """What is said of a text, and how this may go on."""
    return {**spec, **going._asdict()}


def _is_long(trace: Trace) -> bool:
    return len(trace.tokens) > MOST_ROWS


def _labels(trace: Trace, n_folded: int) -> dict[str, list[str]]:
    labels = token_labels(trace.tokens)[n_folded:]
    if n_folded:
        labels = [f"… {n_folded} earlier", *labels]
    return {"labels": labels, "axis": axis_labels(labels)}


def _attention(group: HeadGroup, n_folded: int) -> dict[str, np.ndarray]:
    """Patterns (L, H, N, N) and masks (L, N, N) of the rows shown."""
    masks = [
        record.mask if record.mask.ndim == 2 else record.mask.any(axis=0)
        for record in group.records
    ]
    pattern = _folded(group.patterns(), n_folded)
    return {"pattern": pattern, "mask": _folded(np.stack(masks), n_folded)}


def _folded(square: np.ndarray, n_folded: int) -> np.ndarray:
    """Rows and columns of the last tokens; in the place of the others one column of all of them."""
    if not n_folded:
        return square
    rows = square[..., n_folded:, :]
    earlier = rows[..., :n_folded].sum(axis=-1, keepdims=True).astype(square.dtype)
    shown = np.concatenate([earlier, rows[..., n_folded:]], axis=-1)
    return np.concatenate([np.zeros_like(shown[..., :1, :]), shown], axis=-2)


def _rows(array: np.ndarray, n_folded: int) -> np.ndarray:
    """Rows of the tokens shown, (N, …), zeros for those that are folded; a copy."""
    if not n_folded:
        return array.copy()
    return np.concatenate([np.zeros_like(array[:1]), array[n_folded:]])


def _stream(trace: Trace, n_folded: int) -> dict[str, np.ndarray]:
    """Lengths of the residual stream (2 L + 1, N), and some numbers of what is added to it."""
    n = len(_rows(trace.logits[:, :1], n_folded))
    if not trace.main.residuals:
        nothing = np.zeros((n, N_COLUMNS), np.float32)
        n_layers = len(trace.groups[0].records)
        norms = np.zeros((2 * n_layers + 1, n), np.float32)
        return {"norms": norms, "embed": nothing, "positions": nothing, "ffn": nothing[None]}
    first, *_ = trace.residuals
    streams = [first.resid_pre, *(x for r in trace.residuals for x in (r.resid_mid, r.resid_post))]
    norms = np.stack([np.linalg.norm(_rows(stream, n_folded), axis=-1) for stream in streams])
    # Of sines and cosines the sines, from the shortest wave on: these change within a sentence.
    width = trace.embed.shape[-1]
    shown = 2 * np.linspace(0, width / 4, N_COLUMNS).round().astype(int)
    added = np.stack([_rows(record.ffn_out, n_folded)[:, shown] for record in trace.residuals])
    embed, positions = (_rows(x, n_folded)[:, shown] for x in (trace.embed, trace.positions))
    return {"norms": norms, "embed": embed, "positions": positions, "ffn": added}
