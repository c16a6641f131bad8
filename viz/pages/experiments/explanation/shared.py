"""What the parts of the page share: the number that is asked for, and what is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.metrics import Metric
from viz.figures.labels import token_labels
from viz.frame.view import View
from viz.runs.explaining import Explaining


@dataclass(frozen=True, eq=False)
class Shown:
    """What is explained on this page."""

    view: View
    metric: Metric
    work: Explaining

    @cached_property
    def labels(self) -> list[str]:
        """The tokens of the sentence."""
        return token_labels(self.view.tokens)

    @property
    def measures(self) -> dict[str, np.ndarray]:
        """Arrows by each measure, (L, H, T)."""
        found = self.work.measured
        return {"weights": found.weights, "norms": found.norms, "gradients": found.gradients}

    def name(self, arrow: Sequence[int]) -> str:
        """An arrow in words, as L3 H4: so → girl."""
        layer, head, key = arrow
        return f"L{layer} H{head}: {self.labels[-1]} → {self.labels[key]}"
