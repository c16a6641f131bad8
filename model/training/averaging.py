"""The mean of the weights after several steps (Vaswani et al. 2017, §6.1)."""

from collections.abc import Mapping

from torch import Tensor


class WeightSum:
    """Adds up weights; the sums are all that has to be saved."""

    def __init__(self, sums: Mapping[str, Tensor] | None = None) -> None:
        self.sums: dict[str, Tensor] = dict(sums or {})

    def add(self, weights: Mapping[str, Tensor]) -> None:
        """Add the weights of one step; they are not kept themselves."""
        for name, weight in weights.items():
            here = weight.detach()
            self.sums[name] = self.sums[name] + here if name in self.sums else here.clone()

    def mean(self, n: int) -> dict[str, Tensor]:
        """The mean of the n weights added."""
        return {name: total / n for name, total in self.sums.items()}
