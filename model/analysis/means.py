"""The means that stand in for what is off: over a run's own tokens, or over a survey's text."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from model.trace import Trace


def ordinary(trace: Trace, special_ids: Collection[int]) -> dict[str, np.ndarray]:
    """The places of tokens that a mean is over, by stream: what is in special ones is unlike all.

    A stream of special tokens alone has a mean over them.
    """
    places = {}
    for stream in trace.streams:
        ids = np.full(len(stream), -1) if stream.ids is None else stream.ids
        own = np.flatnonzero(~np.isin(ids, list(special_ids)))
        places[stream.name] = own if len(own) else np.arange(len(stream))
    return places


def averaged(own: Mapping[str, Tensor], places: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """`values_of` a run, each as its mean over these places, (…, 1, D); patterns as they are."""
    means = {}
    for address, value in own.items():
        stack, _, name = address.partition(".")
        is_row = name.endswith(("pattern", "mask"))
        means[address] = value if is_row else value[..., places[stack], :].mean(-2, keepdim=True)
    return means


def mean_over(trace: Trace, places: Mapping[str, np.ndarray]) -> str:
    """Of how many tokens a mean is, in words."""
    n, n_all = (sum(map(len, x)) for x in (places.values(), trace.streams))
    return f"all {n} tokens" if n == n_all else f"{n} of {n_all} tokens, without special ones"


def surveyed_values(means: Mapping[str, Sequence[Sequence[Sequence[float]]]]) -> dict[str, Tensor]:
    """The mean z of every head over a survey's text, as `values_of` one position, (1, H, 1, Dh).

    means: (L, H, Dh) by group, as decoder.attn.
    """
    return {
        f"{stack}.blocks.{layer}.{module}.z": torch.tensor(heads)[None, :, None]
        for (stack, _, module), layers in (
            (group.partition("."), own) for group, own in means.items()
        )
        for layer, heads in enumerate(layers)
    }
