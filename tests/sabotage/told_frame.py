"""Faults in what the bar tells in words and single numbers, which stands above every page."""

from tests.sabotage.fault import Fault

BAR, COST = "viz/frame/bar.py", "Cost"

TOLD_OF_THE_FRAME: list[Fault] = [
    Fault("told", "layers and heads of the model exchanged", BAR,
          'f"{site}.n_layers", len(group.records)', 'f"{site}.n_layers", group.n_heads',
          "n_layers", seen_on="Encoder", model="blank"),
    Fault("told", "the context one token too long", BAR,
          '"facts.context", context)]', '"facts.context", context + 1)]', "facts.context",
          seen_on=COST),
    Fault("told", "a token too few counted in the sentence", BAR,
          'count(run, "facts.n_tokens", n_shown)', 'count(run, "facts.n_tokens", n_shown - 1)',
          "facts.n_tokens", seen_on=COST),
]  # fmt: skip
