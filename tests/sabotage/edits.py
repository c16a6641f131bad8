"""Faults of Patching and Explanation: of the runs with one value changed, and of their drawing."""

from tests.sabotage.fault import Fault

PATCHING, EXPLANATION = "Patching", "Explanation"
PATCHED, EXPLAINED = "model/analysis/patching.py", "model/analysis/explanation.py"
GIRL = {"sentence": "The girl lost the ball, so"}

EDITED = [
    Fault("edits", "the value of the place before put in", PATCHED,
          "[((i,), source[i]) for i in changed]", "[((i,), source[i - 1]) for i in changed]",
          "patched-", seen_on=PATCHING, query=GIRL),
    Fault("edits", "a patched value at 98 %", "model/analysis/branching.py",
          "row[index] = to", "row[index] = 0.98 * to", "patched-", seen_on=PATCHING, query=GIRL),
    Fault("edits", "shares counted from the other end", PATCHED,
          "return (values - self.of_base) / self.gap if", "return (values - self.of_source) / "
          "self.gap if", "patched-", seen_on=PATCHING, query=GIRL),
    Fault("edits", "cells that are not computed", PATCHED,
          "if not torch.equal(base[i], source[i])",
          "if not torch.equal(base[i], source[i]) and i > 1", "patched-", seen_on=PATCHING,
          query=GIRL),
    Fault("edits", "a grid drawn upside down", "viz/figures/patching.py",
          "z=grid.shares,", "z=grid.shares[::-1],", "patched-", seen_on=PATCHING, query=GIRL),
    Fault("edits", "the loss of the other token", "model/analysis/metrics.py",
          "-logits.log_softmax(dim=-1)[..., answer]", "-logits.log_softmax(dim=-1)[..., other]",
          "patched-", seen_on=PATCHING, query={**GIRL, "metric": "loss"}),
    Fault("edits", "arrows that are only weakened", EXPLAINED,
          "((head, query, key), 0.0)", "((head, query, key), 0.01)", "arrows",
          seen_on=EXPLANATION, query=GIRL),
    Fault("edits", "effects with the other sign", EXPLAINED,
          "yield Removed(layer, heads[some], keys[some], measured.value - found)",
          "yield Removed(layer, heads[some], keys[some], found - measured.value)", "arrows",
          seen_on=EXPLANATION, query=GIRL),
    Fault("edits", "norms through the output of another head", EXPLAINED,
          "unflatten(1, (attention.n_heads, -1))", "unflatten(1, (attention.n_heads, -1)).flip(1)",
          "arrows", seen_on=EXPLANATION, query={**GIRL, "measure": "norms"}),
    Fault("edits", "gradients without their weight", EXPLAINED,
          "_numpy(weights * slopes[:, :, question.query])", "_numpy(slopes[:, :, question.query])",
          "arrows", seen_on=EXPLANATION, query={**GIRL, "measure": "gradients"}),
    Fault("edits", "measure and effect in each other's place", "viz/figures/explanation.py",
          "x=cloud.measure,\n        y=cloud.effects,",
          "x=cloud.effects,\n        y=cloud.measure,", "arrows", seen_on=EXPLANATION, query=GIRL),
    Fault("edits", "the effect of the next arrow in a line", "viz/pages/experiments/explanation.py",
          "effect = float(work.effects[arrow])", "effect = float(work.effects.ravel()[flat - 1])",
          "numbers", seen_on=EXPLANATION, query=GIRL),
]  # fmt: skip
