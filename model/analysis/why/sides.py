"""Both sides of one attention as sums: of each writer the queries and the keys it adds up to."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from model.analysis.interventions import batch_of
from model.analysis.writers import Stretch, Writer, Written
from model.architectures.base import Transformer
from model.frozen_norm import frozen
from model.trace import Site, Trace

WRITES = {"self": "attn_out", "cross": "cross_out"}
Sum = Callable[[Stretch], Written]


class Sides(NamedTuple):
    """asking, q (Wq, H, Tq, Dh): who wrote the queries. asked, k (Wk, G, Tk, Dh): the keys."""

    asking: tuple[Writer, ...]
    q: Tensor
    asked: tuple[Writer, ...]
    k: Tensor


def sides_of(trace: Trace, model: Transformer, site: Site, of: Sum) -> Sides:
    """Queries and keys of all heads and tokens of one attention. All float64.

    of: what a stream is written as. ValueError where something that is passed is no norm, or the
    parts add up to no queries and keys.
    """
    asking = asked = _read(read_by(trace, model, site), of)
    if site.kind == "cross":
        asked = _memory(trace, model, site, of)
    rows = batch_of(model, trace.given, 1)
    parts = [torch.cat([one.terms.to(one.biases), one.biases[None]]) for one in (asking, asked)]
    q, k = model.queries_and_keys(site, parts[0], parts[1], rows)
    biases = (Writer("biases"),)
    return Sides((*asking.writers, *biases), q, (*asked.writers, *biases), k)


def read_by(trace: Trace, model: Transformer, site: Site) -> Stretch:
    """What an attention reads, before a norm of its own."""
    return Stretch(trace, model, site.stack, (site.layer, WRITES[site.kind]))


def _read(stretch: Stretch, of: Sum) -> Written:
    """What an attention makes its queries of."""
    stream, norm = of(stretch), stretch.sublayer.read
    return stream if norm is None else stream.through(frozen(norm, stream.whole))


def _memory(trace: Trace, model: Transformer, site: Site, of: Sum) -> Written:
    """What cross-attention makes its keys of: the other stack, behind its last norm."""
    stream = of(Stretch(trace, model, site.keys))
    steps = next(parts for parts in model.stacks if parts.name == site.keys).after
    for norm in (step.norm for step in steps if step.norm is not None):
        stream = stream.through(frozen(norm, stream.whole))
    return stream
