"""One run of a model, measured head by head; and sums of many runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.analysis.circuits import copying_scores, value_norms
from model.analysis.exchanged import exchanged, exchanged_patches
from model.analysis.heads import Arrow, Averages, every_measure, strongest_arrow
from model.analysis.measures import OF_RUN
from model.architectures.base import Transformer
from model.inputs import Text
from model.sources.table import Runnable
from model.survey.samples import Sample
from model.trace import HeadGroup, Stream, Trace

Measures = dict[str, Averages]  # by the names in OF_RUN, (L, H) each


@dataclass(frozen=True, eq=False)
class Sums:
    """Of one group of heads: sums over queries and their numbers, and the strongest arrow.

    totals and n: (M, L, H), measures in the order of `OF_RUN`. z: the sum of z over `n_z`
    queries, (L, H, Dh). best: (4, L, H), of the arrow that moves most its ‖αv·W_O‖, the number
    of the sample that has it, its query and its key. All float64.
    """

    totals: np.ndarray
    n: np.ndarray
    z: np.ndarray
    n_z: np.ndarray
    best: np.ndarray


def on_input(loaded: Runnable, trace: Trace) -> dict[str, Measures]:
    """All measures of all heads of a model on the input of a trace, by group.

    ValueError where it is not known what its heads write.
    """
    return measured(trace, loaded.captured(_in_another_order(loaded, trace)), loaded.model)


def of_model(model: Transformer) -> Measures:
    """The copying score, which needs no input; empty for a model that has none."""
    scores = copying_scores(model)
    return {} if scores is None else {"copying": Averages(scores, np.zeros(scores.shape, int))}


def _in_another_order(loaded: Runnable, trace: Trace) -> tuple[Any, ...]:
    """What a capture takes for a trace's input with its words, or its patches, exchanged."""
    pixels = trace.main.pixels
    if pixels is not None:
        return (exchanged_patches(pixels, len(pixels) // trace.main.side),)
    texts = [_text(loaded, stream) for stream in trace.streams]
    return texts[0] if len(texts) == 1 else tuple(texts)


def _text(loaded: Runnable, stream: Stream) -> Text:
    ids = exchanged(np.asarray(stream.ids).tolist(), loaded.tokenizer.special_ids)
    return ids, loaded.tokenizer.token_strings(ids)


def measured(trace: Trace, exchanged: Trace | None, model: Transformer) -> dict[str, Measures]:
    """All measures of all heads on one input, by group; each average is (L, H).

    exchanged: the run of the same input with its words in another order.
    """
    by_group = {}
    for number, group in enumerate(trace.groups):
        others = None if exchanged is None else exchanged.groups[number]
        by_group[group.name] = _of_group(trace, group, others, model)
    return by_group


def _of_group(
    trace: Trace, group: HeadGroup, others: HeadGroup | None, model: Transformer
) -> Measures:
    ids = trace.stream(group.queries).ids
    layers = [
        every_measure(
            record,
            ids,
            None if others is None else np.asarray(others.records[layer].pattern),
            value_norms(record, model),
        )
        for layer, record in enumerate(group.records)
    ]
    return {
        name: Averages(
            *(np.stack(part) for part in zip(*(one[name] for one in layers), strict=True))
        )
        for name in layers[0]
    }


def strongest(group: HeadGroup, model: Transformer) -> Arrow:
    """The strongest arrow of each head of a group, (L, H)."""
    arrows = [
        strongest_arrow(np.asarray(record.pattern), value_norms(record, model), record.mask)
        for record in group.records
    ]
    return Arrow(*(np.stack(part) for part in zip(*arrows, strict=True)))


def sums_of(sample: Sample, loaded: Runnable) -> dict[str, Sums]:
    """What one sample, and that with its words exchanged, add to a survey, by group."""
    trace, exchanged = map(loaded.captured, (sample.arguments, sample.exchanged))
    by_group, model = measured(trace, exchanged, loaded.model), loaded.model
    return {group.name: _sums(sample, group, by_group[group.name], model) for group in trace.groups}


def _sums(sample: Sample, group: HeadGroup, averages: Measures, model: Transformer) -> Sums:
    shape = (len(OF_RUN), len(group.records), group.n_heads)
    totals, n = np.zeros(shape), np.zeros(shape)
    for place, name in enumerate(OF_RUN):
        if name in averages:
            n[place] = averages[name].n_queries
            totals[place] = np.where(n[place] > 0, averages[name].values * n[place], 0)
    arrows = strongest(group, model)
    z = np.stack([record.z.sum(axis=1, dtype=np.float64) for record in group.records])
    return Sums(
        totals=totals,
        n=n,
        z=z,
        n_z=np.array(group.records[0].z.shape[1], dtype=np.float64),
        best=np.stack(
            [arrows.norms, np.full(shape[1:], sample.number), arrows.queries, arrows.keys]
        ).astype(np.float64),
    )


def added(parts: Iterable[Mapping[str, Sums]]) -> dict[str, Sums]:
    """The sums of several parts, added in their order in float64; of equal arrows the first."""
    whole: dict[str, Sums] = {}
    for part in parts:
        for name, new in part.items():
            whole[name] = _two(whole[name], new) if name in whole else new
    return whole


def _two(first: Sums, second: Sums) -> Sums:
    is_better = second.best[0] > first.best[0]
    return Sums(
        totals=first.totals + second.totals,
        n=first.n + second.n,
        z=first.z + second.z,
        n_z=first.n_z + second.n_z,
        best=np.where(is_better, second.best, first.best),
    )
