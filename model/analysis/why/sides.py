"""Both sides of one attention as sums: of each writer the queries and the keys it adds up to."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from model.analysis.interventions import batch_of
from model.analysis.writers import Place, Writer, Written, sublayer_at
from model.architectures.base import Transformer
from model.frozen_norm import frozen
from model.trace import Site, Trace

WRITES = {"self": "attn_out", "cross": "cross_out"}
Stream = Callable[[Trace, Transformer, str, Place | None], Written]


class Sides(NamedTuple):
    """asking, q (Wq, H, Tq, Dh): who wrote the queries. asked, k (Wk, G, Tk, Dh): the keys."""

    asking: tuple[Writer, ...]
    q: Tensor
    asked: tuple[Writer, ...]
    k: Tensor


def sides_of(
    trace: Trace, model: Transformer, site: Site, of: Stream, of_keys: Stream | None = None
) -> Sides:
    """Queries and keys of all heads and tokens of one attention. All float64.

    of: what the stream is written as, of the keys perhaps another. ValueError where something that
    is passed is no norm, or the parts add up to no queries and keys.
    """
    asking = asked = _read_by(trace, model, site, of)
    if site.kind == "cross":
        asked = _memory(trace, model, site, of_keys or of)
    elif of_keys is not None:
        asked = _read_by(trace, model, site, of_keys)
    rows = batch_of(model, trace.given, 1)
    parts = [torch.cat([one.terms.to(one.biases), one.biases[None]]) for one in (asking, asked)]
    q, k = model.queries_and_keys(site, parts[0], parts[1], rows)
    biases = (Writer("biases"),)
    return Sides((*asking.writers, *biases), q, (*asked.writers, *biases), k)


def _read_by(trace: Trace, model: Transformer, site: Site, of: Stream) -> Written:
    """What an attention makes its queries of."""
    place = site.layer, WRITES[site.kind]
    stream, norm = of(trace, model, site.stack, place), sublayer_at(model, site.stack, place).read
    return stream if norm is None else stream.through(frozen(norm, stream.whole))


def _memory(trace: Trace, model: Transformer, site: Site, of: Stream) -> Written:
    """What cross-attention makes its keys of: the other stack, behind its last norm."""
    stream = of(trace, model, site.keys, None)
    steps = next(parts for parts in model.stacks if parts.name == site.keys).after
    for norm in (step.norm for step in steps if step.norm is not None):
        stream = stream.through(frozen(norm, stream.whole))
    return stream
