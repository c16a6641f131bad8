"""From which layer on another text's stream turns the answer: the proof of what a lens says."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model.adopted.model import AnyDecoder
from model.analysis.branching import MOST_AT_ONCE, Branches
from model.analysis.exact import Filling
from model.analysis.interventions import n_at_once
from model.trace import Trace


@dataclass(frozen=True, eq=False)
class Turning:
    """Runs of a first text, each with the last token's stream after one layer from a second.

    `answer` is what the first text has as its most likely next token, `other` what the second has.
    `filling` has of each layer logit(other) − logit(answer), (L,); `before` is that of the first
    text as it is, `full` that of the second.
    """

    answer: int
    other: int
    before: float
    full: float
    filling: Filling

    @property
    def turns_at(self) -> int | None:
        """The layer from which on the other token is the more likely; None while not all is known.

        After the last layer it always is: that stream is all that is read.
        """
        if not self.filling.is_done:
            return None
        stays = np.flatnonzero(self.filling.exact <= 0)
        return int(stays[-1]) + 1 if len(stays) else 0

    @property
    def error(self) -> float:
        """How far the last layer's run is from the second text's own, whose stream it has."""
        return abs(float(self.filling.exact[-1]) - self.full)


def turning(model: AnyDecoder, first: Trace, second: Trace) -> Turning:
    """Begin to put the second text's last stream into the first (Meng et al. 2022, as a lens).

    Nothing runs before the filling does. ValueError where both have the same answer.
    """
    ends = first.logits[-1], second.logits[-1]
    answer, other = (int(logits.argmax()) for logits in ends)
    if answer == other:
        raise ValueError("both prompts have the same most likely next token: nothing can turn")
    given = first.main.ids
    assert given is not None  # of a decoder
    branches = Branches(model, given.tolist(), len(given) - 1)
    blocks = f"{model.name}.blocks"
    streams = [torch.tensor(x.resid_post[-1], device=model.device) for x in second.residuals]

    def compute(layers: Sequence[int]) -> np.ndarray:
        addresses = [f"{blocks}.{layer}.resid_post" for layer in layers]
        logits = branches.logits(addresses, [((-1,), streams[layer]) for layer in layers])
        return (logits[:, other] - logits[:, answer]).cpu().double().numpy()

    n = len(streams)
    at_once = n_at_once(branches.given, MOST_AT_ONCE)
    before, full = (float(x[other]) - float(x[answer]) for x in ends)
    filling = Filling(np.full(n, np.nan), [0] * n, compute, at_once, before)
    return Turning(answer, other, before, full, filling)
