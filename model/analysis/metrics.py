"""What is asked of a prediction: one number of the logits at one place."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.analysis.probabilities import probabilities
from model.device import wide

ROUNDINGS = 300  # of the largest logit: the sums of a whole pass, and two digits of what is left
LOGIT, DIFFERENCE, LOSS = "logit", "difference", "loss"
METRICS: dict[str, Callable[[Tensor, int, int], Tensor]] = {
    DIFFERENCE: lambda logits, answer, other: logits[..., answer] - logits[..., other],
    LOGIT: lambda logits, answer, other: logits[..., answer],
    LOSS: lambda logits, answer, other: -logits.log_softmax(dim=-1)[..., answer],
}


@dataclass(frozen=True)
class Metric:
    """A number of the logits (V,) at one position: of one token, or of one against another.

    `kind` is "difference", "logit" or "loss", which is −ln p of the answer in nats.
    """

    kind: str
    position: int
    answer: int
    other: int

    def of(self, logits: Tensor) -> Tensor:
        """The number of each row in float64. logits: (…, V). Returns (…).

        ValueError for a kind that there is not, and for tokens that the vocabulary does not have.
        """
        if self.kind not in METRICS:
            raise ValueError(f"metric {self.kind!r} is none of {', '.join(METRICS)}")
        n_tokens = logits.shape[-1]
        for token in (self.answer, self.other):
            if not 0 <= token < n_tokens:
                raise ValueError(
                    f"token {token} is not among the {n_tokens} of the vocabulary; give 0 to "
                    f"{n_tokens - 1}"
                )
        return METRICS[self.kind](wide(logits), self.answer, self.other)


def rounding(logits: Tensor) -> float:
    """What a number of these logits may be off by rounding; smaller differences are not shared out.

    logits: any shape, as they were computed.
    """
    largest = logits.nan_to_num(0, 0, 0).abs().max()
    return ROUNDINGS * torch.finfo(logits.dtype).eps * float(largest)


def telling_tokens(first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
    """The token that gains most probability in `first` against `second`, and the reverse.

    first, second: logits (V,). Where both are the same, the two most likely tokens.
    """
    own = probabilities(first)
    gained = own - probabilities(second)
    if not bool(gained.any()):
        best = own.topk(2).indices
        return int(best[0]), int(best[1])
    return int(gained.argmax()), int(gained.argmin())
