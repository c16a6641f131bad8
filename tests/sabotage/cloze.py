"""Faults of the page Encoder: of what it predicts, of what it compares, and of how it is drawn."""

from tests.sabotage.fault import Fault

PAGE, MODEL = "Encoder", "blank"
DATA, DRAWN = "viz/live/cloze/data.py", "viz/live/cloze"
LOSSES, PAGE_FILE = "model/analysis/blanks.py", "viz/pages/architectures/encoder.py"
HIDDEN = {"blanks": "2,9", "blank": "9"}

CLOZE = [
    Fault("cloze", "the distribution of the place before the blank", DATA,
          "logits, token = trace.logits[place], int(whole.ids[place])",
          "logits, token = trace.logits[place - 1], int(whole.ids[place])", "cloze", MODEL,
          seen_on=PAGE, query=HIDDEN),
    Fault("cloze", "nats of the most likely token, not of what stood there", DATA,
          '"nats": _finite(log_total - float(from_top[token])),',
          '"nats": _finite(log_total),', "cloze", MODEL, seen_on=PAGE, query=HIDDEN),
    Fault("cloze", "a token hidden that is shown as given", "viz/runs/blanks.py",
          "given = Blanked(text, blanks) if blanks else text",
          "given = Blanked(text, (*blanks, 0)) if blanks else text", "cloze", MODEL,
          seen_on=PAGE, query=HIDDEN),
    Fault("cloze", "tokens not hidden when they are predicted", LOSSES,
          "rows[torch.arange(n), torch.arange(n)] = mask_id",
          "rows[torch.arange(n), torch.arange(n) - 1] = mask_id", "both-sides", MODEL,
          seen_on=PAGE, query=HIDDEN),
    Fault("cloze", "the causal mask left out of the losses", LOSSES,
          "mask = causal(len(ids), device=model.device) if is_causal else None",
          "mask = None if is_causal else None", "under-the-mask", MODEL, seen_on=PAGE,
          query=HIDDEN),
    Fault("cloze", "losses of the other model under this one's name", PAGE_FILE,
          "pair = Predicted(view.model, losses), Predicted(name, before, 1)",
          "pair = Predicted(view.model, losses[::-1]), Predicted(name, before, 1)", "both-sides",
          MODEL, seen_on=PAGE, query=HIDDEN),
    Fault("cloze", "bars after top-p as if nothing were removed", f"{DRAWN}/filled.js",
          "const after = probabilities(this.#sorted, temperature, count);",
          "const after = probabilities(this.#sorted, temperature);", "cloze", MODEL,
          seen_on=PAGE, query=HIDDEN),
    Fault("cloze", "the map of the next head", f"{DRAWN}/cloze.js",
          "const address = headAddress(arrays_key, site, chosen.head);",
          "const address = headAddress(arrays_key, site, chosen.head + 1);", "cloze", MODEL,
          seen_on=PAGE, query=HIDDEN),
    Fault("cloze", "small maps of heads turned over", "viz/live/core/tiles.py",
          '"tiles": packed(group_tiles(group)),',
          '"tiles": packed(group_tiles(group).swapaxes(1, 2)),', "cloze", MODEL, seen_on=PAGE,
          query=HIDDEN),
    Fault("cloze", "ranks counted from 0 in the table", f"{DRAWN}/found.js",
          '(rank + 1).toLocaleString("en")', 'rank.toLocaleString("en")', "cloze", MODEL,
          seen_on=PAGE, query=HIDDEN),
]  # fmt: skip
