"""All parts of a survey together: the averages of each head, and the inputs that wake it."""

from collections.abc import Mapping, Sequence

import numpy as np

from model.analysis.circuits import copying_scores
from model.analysis.exchanged import prefix_matching
from model.analysis.heads import Averages
from model.analysis.measures import OF_RUN
from model.sources.table import Runnable
from model.survey.excerpts import strongest_of_group
from model.survey.measured import Sums
from model.survey.samples import Samples
from model.survey.stored import FORMAT, Average, Group, Survey

DIGITS = 7  # of a number in the file: what float32 holds


def whole_survey(
    loaded: Runnable,
    samples: Samples,
    parts: Sequence[Mapping[str, Sums]],
    sums: Mapping[str, Sums],
    weights: str,
) -> Survey:
    """What is stored, from the sums of all inputs and of each part."""
    of_model = of_the_model(loaded)
    groups = {
        name: Group(
            measures={
                key: _average(one) for key, one in {**averages_of(of_group), **of_model}.items()
            },
            strongest=strongest_of_group(loaded, samples, [part[name] for part in parts], name),
            mean_z=_rounded(of_group.z / np.maximum(of_group.n_z, 1)),
        )
        for name, of_group in sums.items()
    }
    return Survey(
        format=FORMAT,
        checkpoint=loaded.name,
        weights=weights,
        texts=samples.parts,
        tokens=sum(samples.lengths),
        window=max(samples.lengths),
        inputs=len(samples),
        groups=groups,
    )


def averages_of(sums: Sums) -> dict[str, Averages]:
    """The measures of a group by name, (L, H) each; those that nothing was counted of are left."""
    averages = {}
    for place, name in enumerate(OF_RUN):
        n = sums.n[place]
        if n.any():
            means = np.divide(sums.totals[place], n, out=np.full(n.shape, np.nan), where=n > 0)
            averages[name] = Averages(means, n.astype(np.int64))
    return averages


def of_the_model(loaded: Runnable) -> dict[str, Averages]:
    """What needs no text: the prefix-matching score, on random tokens, and the copying score.

    Of a decoder or an encoder; empty for others. The copying score is of the weights alone, over
    no query.
    """
    model = loaded.model
    if not {"weights", "vocabulary"} <= loaded.offers or len(model.stacks) > 1:
        return {}
    tokenizer = loaded.tokenizer
    plain = np.array([i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids])
    copying = copying_scores(model)
    averages = {"prefix": prefix_matching(model, plain)}
    if copying is not None:
        averages["copying"] = Averages(copying, np.zeros(copying.shape, np.int64))
    return averages


def _average(averages: Averages) -> Average:
    values = [[float(x) if np.isfinite(x) else None for x in row] for row in averages.values]
    return Average(_rounded(values), averages.n_queries.astype(int).tolist())


def _rounded(values: np.ndarray | list) -> list:
    """Nested lists with seven digits of each number."""
    if isinstance(values, np.ndarray | list):
        return [_rounded(one) for one in values]
    return None if values is None else float(f"{values:.{DIGITS}g}")
