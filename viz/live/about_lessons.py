"""How further numbers of ideas and lessons come about; see `viz.live.about`."""

from viz.live.about import About

_ANALYSIS = "model.analysis"
_ORDER, _PADDED = f"{_ANALYSIS}.order", f"{_ANALYSIS}.padding.run_padded"
_KINDS, _MASKING = f"{_ANALYSIS}.mask_kinds", f"{_ANALYSIS}.masking"
_LOSSES = f"{_ANALYSIS}.probabilities.next_token_losses"
_WAVES, _STORED = f"{_ANALYSIS}.positions.wave_table", "model.training.evaluation.evaluate"
_KNOWN = f"{_ANALYSIS}.scaling.KNOWN_RUNS"
_LETTERS = ("l", "t", "d", "f", "v", "ts", "nmax")

MORE_OF_LESSONS: dict[str, About] = {
    **{
        f"letter.{name}": About("what a letter of a shape stands for", "model.trace.Facts")
        for name in _LETTERS
    },
    "window.before": About("window − 1", f"{_KINDS}.mask_of_kind"),
    "first.tokens": About("so many tokens, or all", f"{_KINDS}.mask_of_kind"),
    "mask.pairs": About("tokens²", f"{_MASKING}.layers_to_reach"),
    "mask.ahead": About("tokens that attend to the next one", f"{_KINDS}.own_mask"),
    "mask.empty": About("rows without a key", f"{_KINDS}.mask_of_kind"),
    "losses.lower": About("loss under its own mask − loss without", _LOSSES),
    "losses.higher": About("loss without − loss under its own mask", _LOSSES),
    "past.exchanged": About(
        "the last token, and the most likely other", f"{_ANALYSIS}.probabilities.most_likely_other"
    ),
    "pads.ids": About("ids of the padded row", _PADDED),
    "pads.row": About("ids of the padded row", _PADDED),
    "positions.base": About("base, by the config", _WAVES),
    "positions.limit": About("2π · base", _WAVES),
    "order.at": About("where |difference| is largest", f"{_ORDER}.reordered"),
    "order.open_at": About("where |difference| is largest, no mask", f"{_ORDER}.reordered"),
    "order.rolled": About(
        "max |difference| / max(1, max |output|), the first token put last", f"{_ORDER}.rolled"
    ),
    "stored.inside": About("mean loss in the second half of trained windows", _STORED),
    "stored.more": About("mean loss at later positions, more than before", _STORED),
    "stored.no_more": About("mean loss at later positions, no more than before", _STORED),
    "near.rows": About("rows of the embedding", f"{_ANALYSIS}.similarity.nearest"),
    "scaling.known_billions": About("parameters / 10⁹, as published", _KNOWN),
    **{
        f"scaling.size_of_{name}": About("parameters, as published", _KNOWN)
        for name in ("gpt3", "gopher", "chinchilla")
    },
}
_HEAD = "model.trace.AttentionRecord"
# By the last part of an address.
SITES_OF_LESSONS: dict[str, About] = {
    **{
        f"size_{name}": About("heads, KV heads, queries, keys, numbers in one", _HEAD)
        for name in ("h", "g", "tq", "tk", "dh")
    },
    "map_weights": About("heads · queries · keys", f"{_ANALYSIS}.several.cuts"),
    "tile_count": About("keys / keys of a tile, rounded up", f"{_ANALYSIS}.tiles.over_tiles"),
    "emptied": About("Σ softmax of a row that is masked whole", f"{_MASKING}.empty_row"),
    "largest_of_pads": About("max weight in rows of pad tokens", _PADDED),
    "strongest": About("query and key of max p", f"{_ANALYSIS}.heads.strongest_pair"),
}
