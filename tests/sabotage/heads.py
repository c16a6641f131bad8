"""Faults of the page Heads: of its measures, of its counts, and of how it is drawn."""

from tests.sabotage.fault import Fault

PAGE = "Heads"
MEASURES, CIRCUITS = "model/analysis/heads.py", "model/analysis/circuits.py"
READING, COUNTS = "viz/pages/look_inside/heads/reading.py", "viz/pages/look_inside/heads/counts.py"
FINDINGS = "model/analysis/findings.py"
COPY = {"sentence": "Tom had a red ball. Tom gave Sam the red ball."}
SENTENCE = {"measured_on": "sentence", **COPY}

HEADS = [
    Fault("heads", "the token before the previous one", MEASURES,
          "return _mean_at(patterns, mask, np.arange(patterns.shape[-2]) - 1)",
          "return _mean_at(patterns, mask, np.arange(patterns.shape[-2]) - 2)", "heads",
          seen_on=PAGE, query=SENTENCE | {"across": "previous"}),
    Fault("heads", "induction to the copy instead of what followed it", MEASURES,
          "follows[:, 1:] = ids[:, None] == ids[None, :-1]",
          "follows[:, :] = ids[:, None] == ids[None, :]", "heads", seen_on=PAGE,
          query=SENTENCE | {"across": "induction"}),
    Fault("heads", "distances counted twice", MEASURES,
          'np.einsum("hqk,qk->hq", patterns, apart)',
          'np.einsum("hqk,qk->hq", patterns, 2 * apart)', "heads", seen_on=PAGE,
          query=SENTENCE | {"across": "distance"}),
    Fault("heads", "words that were never exchanged", "viz/runs/heads.py",
          "ids = exchanged(np.asarray(stream.ids).tolist(), found.tokenizer.special_ids)",
          "ids = exchanged([], ()) + np.asarray(stream.ids).tolist()", "heads", seen_on=PAGE,
          query=SENTENCE | {"across": "kept"}),
    Fault("heads", "norms of the values of another head", CIRCUITS,
          "heads = [record.kv_head(head) for head in range(record.n_heads)]",
          "heads = [record.kv_head(head) - 1 for head in range(record.n_heads)]", "heads",
          seen_on=PAGE, query=SENTENCE | {"across": "moved"}),
    Fault("heads", "copying without the gains of the norms", CIRCUITS,
          "return gain.double().cpu()[:, None] * centring", "return centring", "heads",
          seen_on=PAGE, query=SENTENCE | {"up": "copying"}),
    Fault("heads", "points of layers and heads exchanged", READING,
          "return self.measures[name].values.ravel()",
          "return self.measures[name].values.T.ravel()", "heads", seen_on=PAGE),
    Fault("heads", "the next head's numbers in the table", READING,
          "value = float(self.values(name)[head])", "value = float(self.values(name)[head - 1])",
          "survey_", seen_on=PAGE),
    Fault("heads", "a head too many in each count", COUNTS,
          "number(view.run, address, n, str(n))", "number(view.run, address, n + 1, str(n + 1))",
          "many_", seen_on=PAGE),
    Fault("heads", "the weakest copy called the strongest", FINDINGS,
          "np.unravel_index(weights.argmax(), weights.shape)",
          "np.unravel_index(weights.argmin(), weights.shape)", "found.copy",
          seen_on="Findings", query=COPY),
    Fault("heads", "the longest arrow of the first layer alone", FINDINGS,
          "for record, lengths in zip(records, norms, strict=True):",
          "for record, lengths in zip(records[:1], norms[:1], strict=True):", "attn.arrows",
          seen_on="Findings", query=COPY),
    Fault("heads", "an answer that settles a layer early", FINDINGS,
          "return changes[-1] + 1 if changes else 0", "return changes[-1] if changes else 0",
          "found.settled", seen_on="Findings", query=COPY),
    Fault("heads", "the loss that another head costs", "viz/runs/finding.py",
          "known = self.ranking.losses", "known = self.ranking.losses[::-1]", "costs.heads",
          seen_on="Findings", query=COPY),
]  # fmt: skip
