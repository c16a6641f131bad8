"""How further numbers of pages of one input come about; see `viz.live.about`."""

from viz.live.about import OF_HEADS, About

_BEAM, _FOUND = "model.decoding.beam.beam_search", "model.analysis.findings"
_COUNTS, _NODE = "model.analysis.counts", "model.analysis.merges.Node"
_STRONGEST, _TRAITS = "model.survey.stored.Strongest", "model.analysis.heads.traits"
MORE_OF_VIEWS: dict[str, About] = {
    "facts.d_model": About("numbers in the stream for each token", "model.trace.Facts"),
    "facts.context": About("tokens it takes at most", "model.trace.Facts"),
    "facts.n_tokens": About("tokens of what was typed", "model.trace.Trace"),
    "found.settled_layer": About(
        "first layer after which the answer stays", f"{_FOUND}.settled_from"
    ),
    "costs.sizes.heads": About(
        "|mean of −ln p without a head − as it was|", "model.analysis.ablation.costs"
    ),
    "costs.sizes.sublayers": About(
        "|mean of −ln p without a sublayer − as it was|", "model.analysis.ablation.costs"
    ),
    "costs.sizes.positions": About(
        "|mean of −ln p, off at a query − as it was|", "model.analysis.ablation.costs"
    ),
    "merges.bytes_of_each": About("how many bytes a token stands for", _NODE),
    "merges.of_each": About("how many merges made a token", f"{_NODE}.n_merges"),
    "merges.last_of_each": About(
        "the place in the tokenizer's list of the merge that made it", "model.analysis.merges.Rule"
    ),
    "text.sizes": About("characters, bytes and words of the text, tokens", f"{_COUNTS}.count"),
    "text.bytes_per_token": About("bytes / tokens", f"{_COUNTS}.Counts.bytes_per_token"),
    "text.tokens_per_word": About("tokens / words", f"{_COUNTS}.Counts.tokens_per_word"),
    "text.held_out": About(
        "bytes / tokens of text held out", "model.training.evaluation.held_out_bytes_per_token"
    ),
    "known.sizes": About("as published", "model.analysis.cost.KnownModel"),
    "direct.ids_of_neuron": About(
        "ids by u_w · J W_down a, most and least", "model.analysis.attribution.words_of_neuron"
    ),
    "texts.ids": About("ids of the new tokens", _BEAM),
    "texts.tokens": About("the id of the last token", _BEAM),
    "texts.places": About("how many continuations of its step are more likely", _BEAM),
    "texts.branches": About("places of a text and of the one it goes on from", _BEAM),
    "texts.greedy": About("Σ ln p of its tokens, each the most likely", _BEAM),
    "texts.winners": About("Σ ln p / ((5 + n) / 6)^α of a text that may win", _BEAM),
}
SITES_OF_VIEWS: dict[str, About] = {
    "direct_ids": About(
        "ids by u_w · J W_O z, most and least", "model.analysis.attribution.words_of_head"
    ),
}
# Of all heads of a kind, beside `viz.live.about.OF_HEADS`.
MORE_OF_HEADS: dict[str, About] = {
    "copies": About("p of what came after a copy of the query", f"{_FOUND}.strongest_copy"),
    "arrows": About("‖α v W_O‖", f"{_FOUND}.heaviest_arrow"),
    **{
        f"{of}{what}{name.removeprefix('all_')}": About("1: its measure reaches the bound", _TRAITS)
        for of in ("all_", "survey_")
        for what in ("is_", "is_little_")
        for name in OF_HEADS
        if name.startswith("all_") and "many_" not in name and "few_" not in name
    },
    **{f"{of}none": About("heads that have no word", _TRAITS) for of in ("all_", "survey_")},
    "woken_words": About("ids of query and key, as the survey has them", _STRONGEST),
    "woken_weight": About("p of that arrow, as the survey has it", _STRONGEST),
    "woken_norm": About("‖α v W_O‖ of that arrow, as the survey has it", _STRONGEST),
    "woken_number": About("which picture it is, as the survey has it", _STRONGEST),
}
