"""Faults in what experiments and other architectures tell in words and single numbers."""

from tests.sabotage.fault import Fault

COSTS = "viz/pages/experiments/ablation/costs.py"

TOLD_OF_EXPERIMENTS: list[Fault] = [
    Fault("told", "the head next to the dearest named", COSTS,
          "place, of = (rows.index(row_of(part)), part.unit or 0), f",
          "place, of = (rows.index(row_of(part)), (part.unit or 0) ^ 1), f",
          "costs.heads", seen_on="Ablation"),
    Fault("told", "the second dearest head called the dearest", COSTS,
          "most, least = max(heads, key=heads.__getitem__),",
          "most, least = sorted(heads, key=heads.__getitem__)[-2],",
          "costs.heads", seen_on="Ablation"),
]  # fmt: skip
