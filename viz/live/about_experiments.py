"""How further numbers of experiments, encoders and pictures come about; see `viz.live.about`."""

from viz.live.about import About

_ANATOMY = "model.analysis.anatomy.anatomy"
_EXPLAINED = "model.analysis.explanation"
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
    "explain.keys": About("the ids of what is attended to", f"{_EXPLAINED}.measure"),
    "explain.asker": About("the id of what attends", f"{_EXPLAINED}.measure"),
    **{
        f"explain.{which}": About(what, f"{_EXPLAINED}.telling_arrows")
        for which, what in (
            ("idle", "|effect| of the arrows with much weight"),
            ("strong", "|effect| of the arrows with little weight"),
            ("against", "effect of the arrows with much weight, below 0"),
        )
    },
    **{
        f"{which}.{measure}": About("Spearman’s ρ", f"{_EXPLAINED}.spearman")
        for which, measures in (
            ("explain.rho", ("weights", "norms", "gradients")),
            ("explain.rho_sizes", ("weights", "norms", "gradients")),
            ("worth.rho", ("removed", "weights", "rollout", "flow", "integrated")),
        )
        for measure in measures
    },
    **{
        f"worth.largest.{measure}": About("the token worth most", f"{_EXPLAINED}.unseen")
        for measure in ("removed", "weights", "rollout", "flow", "integrated")
    },
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
