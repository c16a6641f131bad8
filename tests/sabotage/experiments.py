"""Faults of the experiments: of shares in a logit, of what is switched off, of how it is drawn."""

from tests.sabotage.fault import Fault

SHARES, ABLATED = "model/analysis/attribution.py", "model/analysis/ablation.py"
CONTRIBUTIONS = "viz/pages/experiments/contributions.py"
PAGE = "viz/pages/experiments/ablation"
HEAD = {"off": "decoder.attn.2.4"}


def _shares(name: str, old: str, new: str, named: str, **more: str) -> Fault:
    """One of the page Contributions."""
    file = more.get("file", SHARES)
    model = more.get("model", "stories")
    return Fault("shares", name, file, old, new, named, model, seen_on="Contributions")


def _off(name: str, old: str, new: str, named: str, **more: str) -> Fault:
    """One of the page Ablation, with something off."""
    query = HEAD | {key: value for key, value in more.items() if key in ("off", "stands_in")}
    return Fault(
        "ablation",
        name,
        more.get("file", ABLATED),
        old,
        new,
        named,
        seen_on="Ablation",
        query=query,
    )


EXPERIMENTS = [
    _shares("the mean not taken off what a part wrote",
            "return scaled - scaled.mean() if self.is_centred else scaled",
            "return scaled", "waterfall"),
    _shares("the gain left out of words that are pushed",
            "return centred * self.gain / self.scale", "return centred / self.scale",
            "head-words"),
    _shares("shares of the heads of the position before",
            "z = record.z[:, position].astype(np.float64)",
            "z = record.z[:, position - 1].astype(np.float64)", "heads"),
    _shares("keys of the next head", "return (z * back).sum(axis=-1), record.pattern[:, position]",
            "return (z * back).sum(axis=-1), np.roll(record.pattern, 1, 0)[:, position]", "keys"),
    _shares("neurons of the layer above", "neurons=np.stack(neurons[::-1]),",
            "neurons=np.stack(neurons[::-1]) * 1.01,", "neurons"),
    _shares("biases that are left out", "constant += _dot(written.projection.bias, read)",
            "constant += 0.0 * _dot(written.projection.bias, read)", "waterfall",
            model="digits"),
    _shares("heads drawn with their signs turned", "values = np.stack([found.heads[site.address] "
            "for site in own])", "values = -np.stack([found.heads[site.address] for site in own])",
            "heads", file=CONTRIBUTIONS),
    _off("the head beside the one that is off",
         "return tuple(x for x in (self.unit, self.query, self.key) if x is not None)",
         "return tuple(x for x in (self.unit - 1, self.query, self.key) if x is not None)",
         "loss-change"),
    _off("a mean over the heads, not over the positions",
         "return value[part.unit].mean(dim=0)  # (Dh,)",
         "return value.mean(dim=0)[0]", "judged.", stands_in="mean"),
    _off("the first arrow cut for any other", "if self.unit is None:\n            return ()\n",
         "if self.unit is None:\n            return ()\n        if self.key is not None:\n"
         "            return (0, 0, 0)\n",
         "pattern-after", off="decoder.attn.2.4.9.4"),
    _off("a change of losses with its sign turned",
         "rises = experiment.after - experiment.before",
         "rises = experiment.before - experiment.after", "loss-change", file=f"{PAGE}/effect.py"),
    _off("the pattern of the next head with parts off",
         "pattern = record.pattern[view.head]",
         "pattern = record.pattern[view.head - (run is not view.run)]", "pattern-after",
         file=f"{PAGE}/effect.py"),
    _off("an edit that is forgotten", "found.model, *_arguments(trace), attachments="
         "[Editor(*edits)]", "found.model, *_arguments(trace), attachments=[Editor(*edits[1:])]",
         "judged.", file="viz/runs/ablating.py"),
    _off("answers of the position before",
         "logits = logits_of(run)[position].astype(np.float64)",
         "logits = logits_of(run)[position - 1].astype(np.float64)", "judged.probs",
         file=f"{PAGE}/shared.py"),
    _off("the survey's means of other heads", "torch.tensor(heads)[None, :, None]",
         "torch.tensor(heads[::-1])[None, :, None]", "judged.", stands_in="survey"),
    _off("costs with the whole loss left in", "loss - experiment.whole_loss", "loss",
         "head-costs", file=f"{PAGE}/costs.py"),
    _off("a map of costs upside down", "grid[place] = cost.get(part, np.nan)",
         "grid[len(grid) - 1 - place[0], place[1]] = cost.get(part, np.nan)", "head-costs",
         file=f"{PAGE}/costs.py"),
    _off("feed-forwards in the column of attention", "columns.index(part.module)): part",
         "len(columns) - 1 - columns.index(part.module)): part", "sublayer-costs",
         file=f"{PAGE}/costs.py"),
    Fault("findings", "costs against the largest loss", "viz/runs/finding.py",
          "np.array(known) - self.before.mean()", "np.array(known) - self.before.max()",
          "head-costs", seen_on="Findings"),
    Fault("findings", "costs of the head before", "viz/pages/look_inside/findings.py",
          "grid[rows.index(row_of(part)), part.unit or 0] = cost",
          "grid[rows.index(row_of(part)), (part.unit or 0) - 1] = cost", "head-costs",
          seen_on="Findings"),
]  # fmt: skip
