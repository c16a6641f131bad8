"""How further numbers of experiments, encoders and pictures come about; see `viz.live.about`."""

from viz.live.about import About

_ANATOMY = "model.analysis.anatomy.anatomy"
_ABLATION = "model.analysis.ablation"
_LOSSES = "model.analysis.probabilities"
MORE_OF_EXPERIMENTS: dict[str, About] = {
    "best.ids": About("the token of the largest logit", "model.decoding.filters.GREEDY"),
    "best.both": About("tokens of the largest logits, as it was and now", f"{_ABLATION}.edits_of"),
    "best.others": About(
        "the token of the largest logit, where another came", f"{_LOSSES}.next_token_losses"
    ),
    "best.agrees": About("how many tokens have the largest logit", f"{_LOSSES}.next_token_losses"),
    "best.first": About(
        "the first token whose logit is not the largest", f"{_LOSSES}.next_token_losses"
    ),
    "right.gained": About(
        "Σ −ln p of a decoder − of an encoder", "model.analysis.blanks.pseudo_losses"
    ),
    "prunable.pruned": About(
        "how many heads before 1.05 · mean of −ln p", f"{_ABLATION}.n_prunable"
    ),
    "boxes": About("rows, columns and weights of a box", _ANATOMY),
    "boxes.layers": About("how often the block is there", _ANATOMY),
    **{
        f"row.patch.{grid}": About(
            "(m(patched) − m(base)) / (m(source) − m(base))", "model.analysis.patching.pieces"
        )
        for grid in ("resid_pre", "attn_out", "ffn_out", "z")
    },
    "shipped.class": About("what the file of test digits says", "model.data.images.read_part"),
}
