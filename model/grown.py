"""A trace and one more token → the trace of both: the new token alone is run.

Where no token sees a later one, what each did stays as it was, so only the new one is to be run,
over a cache of the keys and values that the trace has (Shazeer 2019, §2.4).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch

from model.architectures.base import Transformer
from model.kv_cache import KVCache
from model.masks import CausalConfig, bidirectional_prefix
from model.records import Recording, Row, read_only, to_numpy
from model.trace import RESIDUAL_NAMES, AttentionRecord, ResidualRecord, Stream, Trace
from model.worked_out import Attending, Square, WorkedOut

Known = Callable[[tuple[int, ...]], Trace | None]  # what a model did on ids, as far as it is known


def nothing(ids: tuple[int, ...]) -> None:
    """What is known of any ids where nothing was kept."""


@torch.inference_mode()
def grown(
    model: Transformer, known: Known, ids: Sequence[int], tokens: Sequence[str]
) -> Trace | None:
    """What `capture` gives of T ids and their tokens, where all but the last were run before.

    None where they were not, or where a later token may change what earlier ones did.
    """
    before = known(tuple(ids[:-1]))
    if before is None or model.config.architecture != "decoder" or not _stays(model, before):
        return None
    n = len(before.main)
    recording = Recording((), sparing=model.is_long({model.name: n + 1}))
    new = torch.tensor([ids[-1:]], device=model.device)
    output = to_numpy(model(new, tap=recording.tap, cache=_cache_of(model, before)))
    row = Row(recording.values(), 0)
    last = Stream(before.main.name, "text", tuple(tokens[-1:]), ids=to_numpy(new[0]))
    last = row.stream(last, len(before.main.residuals))
    said = {"labels": tuple(tokens), "roles": (), "special": ()}  # by who gives the ids
    stream = replace(_joined_stream(before.main, last), **said)
    attention = [_joined(x, row.attention(x.site), model) for x in before.attention]
    return Trace(before.facts, (stream,), tuple(attention), _after(before.logits, output[0]))


def _stays(model: Transformer, trace: Trace) -> bool:
    """Whether one token more changes nothing of a trace, and fits."""
    n_first = bidirectional_prefix(cast("CausalConfig", model.config))
    if not n_first <= len(trace.main) < model.config.max_seq_len:
        return False
    has_bias = any(record.bias is not None for record in trace.attention)
    return model.stays and (not has_bias or model.score_bias(1) is not None)


def _cache_of(model: Transformer, trace: Trace) -> KVCache:
    """The keys and values of a trace, with room for one token more."""
    n = len(trace.main)
    cache = KVCache(model.config, n + 1, device=model.device, dtype=model.dtype)
    for record in trace.attention:
        held = (
            torch.tensor(x, device=model.device, dtype=model.dtype) for x in (record.k, record.v)
        )
        cache.layers[record.site.layer].append(*(x[None] for x in held))
    cache.advance(n)
    return cache


def _joined_stream(old: Stream, new: Stream) -> Stream:
    pairs = zip(old.residuals, new.residuals, strict=True)
    residuals = tuple(ResidualRecord(**_both(x, y, RESIDUAL_NAMES)) for x, y in pairs)
    return replace(old, **_both(old, new, ("ids", "embed", "positions")), residuals=residuals)


def _both(old: object, new: object, names: Sequence[str]) -> dict[str, Any]:
    """The arrays of these names that there are, new rows behind old ones."""
    there = [name for name in names if getattr(old, name) is not None]
    return {name: _after(getattr(old, name), getattr(new, name)) for name in there}


def _joined(old: AttentionRecord, new: AttentionRecord, model: Transformer) -> AttentionRecord:
    """Attention of all tokens. new: of the last one, to all of them."""
    n, mask = old.q.shape[1], old.mask
    hidden = np.zeros((*mask.shape[:-1], 1), bool)
    bias = _bias(model, n + 1)
    whole = Attending(
        q=_after(old.q, new.q, 1),
        k=new.k,
        scale=old.scale,
        bias=bias,
        mask=_after(np.concatenate([mask, hidden], -1), new.mask, -2),
        softcap=old.softcap,
        sinks=old.sinks,
    )
    later = replace(whole, q=old.q, k=new.k[:, -1:], bias=None if bias is None else bias[:, :n, n:])
    scores, none = WorkedOut(later, "scores"), np.zeros((*old.q.shape[:2], 1), np.float32)
    return AttentionRecord(
        **vars(whole),
        site=old.site,
        queries=old.queries,
        keys=old.keys,
        v=new.v,
        scores=_square(old, new, whole, "scores", scores),
        pattern=_square(old, new, whole, "pattern", none),
        z=_after(old.z, new.z, 1),
    )


def _square(
    old: AttentionRecord,
    new: AttentionRecord,
    whole: Attending,
    name: Square,
    later: np.ndarray | WorkedOut,
) -> np.ndarray:
    """Scores or pattern (H, T, T): `later` is what earlier queries have of the last key."""
    if isinstance(getattr(new, name), WorkedOut):
        return cast("np.ndarray", WorkedOut(whole, name))
    wide = np.concatenate([getattr(old, name), later], axis=-1)
    return _after(wide, getattr(new, name), 1)


def _bias(model: Transformer, n: int) -> np.ndarray | None:
    bias = model.score_bias(n)
    return None if bias is None else to_numpy(bias)


def _after(old: np.ndarray, new: np.ndarray, axis: int = 0) -> np.ndarray:
    return read_only(np.concatenate([old, new], axis=axis))
