"""Both sides of one attention as sums: of each writer the queries and the keys it adds up to."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from model.analysis.interventions import batch_of
from model.analysis.writers import Stretch, Writer, Written
from model.architectures.base import PIECES, Transformer
from model.frozen_norm import frozen
from model.trace import Site, Trace
from model.work import Steps

WRITES = {"self": "attn_out", "cross": "cross_out"}
Sum = Callable[[Stretch], Steps[Written]]


class Sides(NamedTuple):
    """asking, q (Wq, H, Tq, Dh): who wrote the queries. asked, k (Wk, G, Tk, Dh): the keys."""

    asking: tuple[Writer, ...]
    q: Tensor
    asked: tuple[Writer, ...]
    k: Tensor


def sides_of(trace: Trace, model: Transformer, site: Site, of: Sum) -> Steps[Sides]:
    """Queries and keys of all heads and tokens of one attention. All float64.

    of: what a stream is written as. ValueError where something that is passed is no norm, or the
    parts add up to no queries and keys.
    """
    stream = yield from of(read_by(trace, model, site))
    memory = None
    if site.kind == "cross":
        memory = yield from of(Stretch(trace, model, site.keys))
    return (yield from made_of(trace, model, site, stream, memory))


def made_of(
    trace: Trace, model: Transformer, site: Site, stream: Written, memory: Written | None = None
) -> Steps[Sides]:
    """The same of what an attention reads, and of the other stack's end where it crosses."""
    norm = read_by(trace, model, site).sublayer.read
    asking = asked = stream if norm is None else stream.through(frozen(norm, stream.whole))
    if memory is not None:
        asked = _behind_norms(model, site, memory)
    rows = batch_of(model, trace.given, 1)
    theirs = None if asked is asking else _parts(asked)
    q, k = yield from model.queries_and_keys(site, _parts(asking), theirs, rows)
    biases = (Writer("biases"),)
    return Sides((*asking.writers, *biases), q, (*asked.writers, *biases), k)


def read_by(trace: Trace, model: Transformer, site: Site) -> Stretch:
    """What an attention reads, before a norm of its own."""
    return Stretch(trace, model, site.stack, (site.layer, WRITES[site.kind]))


def _parts(written: Written) -> Tensor:
    """What each writer wrote, and at last what biases did, (W + 1, T, D)."""
    return torch.cat([written.terms.to(written.biases), written.biases[None]])


def n_steps(model: Transformer, site: Site) -> int:
    """How often `sides_of` gives way at most: after each sublayer that is read, and then some."""
    sublayers = {parts.name: parts.sublayers for parts in model.stacks}
    own = [(one.layer, one.writes) for one in sublayers[site.stack]]
    memory = len(sublayers[site.keys]) if site.kind == "cross" else 0
    return 1 + own.index((site.layer, WRITES[site.kind])) + memory + 2 * PIECES


def _behind_norms(model: Transformer, site: Site, stream: Written) -> Written:
    """What cross-attention makes its keys of: the other stack, behind its last norm."""
    steps = next(parts for parts in model.stacks if parts.name == site.keys).after
    for norm in (step.norm for step in steps if step.norm is not None):
        stream = stream.through(frozen(norm, stream.whole))
    return stream
