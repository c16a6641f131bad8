"""How the arrays of figures and of printed numbers come about: formula and function, by name."""

from typing import NamedTuple


class About(NamedTuple):
    """How an array comes about, in plain text, and the function that makes it."""

    formula: str
    source: str


_POSITIONS, _ORDER = "model.analysis.positions", "model.analysis.order"
_MASKING, _KINDS = "model.analysis.masking", "model.analysis.mask_kinds"
_LOSSES, _BEAM = "model.analysis.probabilities.next_token_losses", "model.decoding.beam"
_ROTATED, _MERGED = "model.positions.rotate_pairs", "model.analysis.merges.merged"
_COSINES, _PADDED = "model.analysis.cosine.cosine_similarity", "model.analysis.padding.run_padded"
_OUTPUTS, _REORDERED = f"{_POSITIONS}.outputs", f"{_ORDER}.reordered"
_SCHEMES, _PATTERN = "model.positions.POSITIONS", "model.attention.attention_pattern"
_TARGETS = "model.analysis.probabilities.target_probabilities"
_GIVEN = "model.analysis.probabilities.given_probabilities"
_BEFORE = f"{_POSITIONS}.before_rotation"
_HIDDEN = "model.analysis.blanks.pseudo_losses"
_PERPLEXITY = "model.analysis.blanks.perplexity"
_FILTERED = "model.decoding.filters.filter_logits"
_PATCHED = "model.analysis.patching.pieces"
_UNSEEN, _FLOW = "model.analysis.explanation.unseen", "model.analysis.flow"
_ESTIMATED = "model.analysis.patching.estimated"
_INTEGRATED = "model.analysis.input_gradients.integrated"
_REMOVED = "model.analysis.explanation.removals"
_MEASURED = "model.analysis.explanation.measure"
_ENDS = "model.analysis.patching.run_both"
_ATTRIBUTED = "model.analysis.attribution"
_ABLATION = "model.analysis.ablation"
_SHARE, _ABLATED = f"{_ATTRIBUTED}.attribute", f"{_ABLATION}.Targets"
_FOUND = "model.analysis.findings"
_SOURCE, _CACHED = "model.analysis.source", "model.decoding.cache_run"
_ALIGNED = "model.analysis.alignment"
_EVALUATED = "model.training.evaluation.evaluate"
_PATCHES = "model.analysis.patches"
_ROOT = "model.analysis.saturation"
_KERNELS = "model.analysis.kernels"
_SIMILAR = "model.analysis.similarity"
_SEVERAL = "model.analysis.several"
_BLOCK, _DEPTH = "model.analysis.block", "model.analysis.depth"
_ADDITIVE = "model.analysis.additive"
_CHEAPER, _TILES = "model.analysis.cheaper", "model.analysis.tiles"
_SCALING, _FITTED = "model.analysis.scaling", "model.analysis.scaling_fit"
_RUNS, _LAW = "model.analysis.scaling_runs.read_runs", "E + A/N^α + B/D^β"
_BY_HAND = "model.analysis.worked"
_KEPT = f"{_MASKING}.masking_alternatives"
# By the last part of an address.
OF_SITES: dict[str, About] = {
    "unrotated_q": About("W_Q x", _BEFORE),
    "unrotated_k": About("W_K x", _BEFORE),
    "unrotated": About("q · k / √d_head before rotation", _BEFORE),
    "moved_scores": About("Re Σ q · e^(i(m − n)θ) · k* / √d_head", f"{_POSITIONS}.rope_scores"),
    "moved_shares": About("Re q · e^(i(m − n)θ) · k* / √d_head of a pair", _ROTATED),
    "unbiased": About("softmax of the scores − bias", f"{_ORDER}.without_bias"),
    "bias_effect": About("pattern − pattern without bias", f"{_ORDER}.without_bias"),
    "gaussian": About("softmax(−‖q − k‖² / 2√d)", f"{_KERNELS}.gaussian_attention"),
    "gaussian_apart": About("mean of Σ |difference| / 2", f"{_KERNELS}.moved_weight"),
    "products": About("q · k", f"{_SIMILAR}.products"),
    "cosines": About("q · k / |q||k|", f"{_SIMILAR}.cosines"),
    "shortest_key": About("the least √(Σ k²)", f"{_SIMILAR}.cosines"),
    "longest_key": About("the largest √(Σ k²)", f"{_SIMILAR}.cosines"),
    "out_weights": About("W_O as the file has it", f"{_SEVERAL}.weights_of"),
    "out_norms": About("√(Σ W_O²) of a head's columns", f"{_SEVERAL}.weights_of"),
    "written": About("|z W_O| of a head", f"{_SEVERAL}.contributions"),
    "written_mean": About("mean over tokens of |z W_O|", f"{_SEVERAL}.contributions"),
    "spectra": About("singular values of W_V W_O", f"{_SEVERAL}.spectra"),
    "effective_ranks": About("exp(−Σ p ln p), p = σ / Σ σ", f"{_SEVERAL}.effective_rank"),
    "alike_patterns": About("cosine of two heads' patterns", f"{_SEVERAL}.alike"),
    "alike_written": About("cosine of all that two heads write", f"{_SEVERAL}.alike"),
    **{
        f"{name}{what}": About(formula, f"{_CHEAPER}.{source}")
        for name, weights, maker in (
            ("windowed", "softmax(score) where i − j < w", "window_weights"),
            ("global", "softmax(score) where i − j < w, or i or j < g", "global_weights"),
            ("linear", "φ(q) · φ(k) / Σ, φ = elu + 1", "linear_weights"),
            ("low_rank", "softmax of r singular values of q kᵀ / √d", "low_rank_weights"),
        )
        for what, formula, source in (
            ("", weights, maker),
            ("_error", f"‖z′ − z‖ / ‖z‖, weights {weights}", "difference"),
            ("_moved", f"mean of Σ |difference| / 2, weights {weights}", "difference"),
            ("_errors", f"‖z′ − z‖ / ‖z‖ by size, weights {weights}", "errors_by_size"),
            ("_products", f"multiplications for {weights}", "multiplications"),
        )
    },
    "additive": About("softmax(v · tanh(W q + U k))", f"{_ADDITIVE}.additive_scores"),
    "additive_apart": About("mean of Σ |difference| / 2", f"{_KERNELS}.moved_weight"),
    "additive_parameters": About("2 · d_head² + d_head", f"{_ADDITIVE}.n_parameters"),
    "additive_products": About(
        "2 · T · d_head² + pairs · d_head", f"{_ADDITIVE}.n_multiplications"
    ),
    "dot_products": About("pairs · d_head", "model.attention.attention_scores"),
    "exact_products": About("2 · d_head · pairs", f"{_CHEAPER}.multiplications"),
    "tile_scores": About(
        "q · k / √d_head + bias of a query’s keys", "model.attention.attention_scores"
    ),
    "tile_maxima": About("max of the scores so far", f"{_TILES}.over_tiles"),
    "tile_sums": About("Σ e^(score − max) so far", f"{_TILES}.over_tiles"),
    "tile_outputs": About("softmax of the scores so far · v", f"{_TILES}.over_tiles"),
    "tile_seen": About("Σ weight of the keys so far", f"{_TILES}.seen"),
    "undivided": About("softmax(q · k + bias)", f"{_ROOT}.undivided"),
    "divided_largest": About("mean over rows of max p", f"{_ROOT}.sharpness"),
    "undivided_largest": About("mean over rows of max p, q · k not divided", f"{_ROOT}.sharpness"),
    "divided_gradient": About("mean of ‖diag(p) − p pᵀ‖", f"{_ROOT}.sharpness"),
    "undivided_gradient": About("mean of ‖diag(p) − p pᵀ‖, not divided", f"{_ROOT}.sharpness"),
    "distances": About("Σ weight · |i − j| / T", "model.attention.attention_pattern"),
    "unbiased_distances": About("Σ weight without bias · |i − j| / T", f"{_ORDER}.without_bias"),
    "kept_before": About("Σ softmax(score, −∞ where masked)", _KEPT),
    "kept_score_zero": About("Σ softmax(score, 0 where masked)", _KEPT),
    "direct_keys": About("weight · ⟨u_t, J W_O v⟩ of a key", _SHARE),
    "direct_words": About("u_w · J W_O z, most and least", f"{_ATTRIBUTED}.words_of_head"),
    "kept_after": About("Σ softmax(score) over visible cells", _KEPT),
}
# By the name before the numbers it depends on.
OF_PAGES: dict[str, About] = {
    "positions.neighbours": About("mean of a · b / |a||b|, one position apart", _COSINES),
    "positions.apart": About("mean of a · b / |a||b|, half a table apart", _COSINES),
    "positions.parameters": About("trained numbers: of the scheme, of all", _SCHEMES),
    "positions.speeds": About("base^(−2i/D)", f"{_POSITIONS}.rotation_speeds"),
    "rope.speeds": About("base^(−2i/d_head)", f"{_POSITIONS}.rotation_speeds"),
    "positions.moved": About("max |p later − p|", f"{_ORDER}.change_when_moved"),
    "waves.cosines": About("a · b / |a||b|", _COSINES),
    "waves.neighbours": About("mean of a · b / |a||b|, one position apart", _COSINES),
    "waves.apart": About("mean of a · b / |a||b|, half a table apart", _COSINES),
    "waves.product": About("PE(m) · PE(n)", "model.positions.wave_product"),
    "waves.shares": About("cos((m − n) · θ) of a pair", "model.positions.wave_product"),
    "size.embed": About("√(mean x²)", "torch.nn.Embedding"),
    "size.positions": About("√(mean x²)", "model.positions.Position.added"),
    "size.embedded": About("√(mean x²)", "model.blocks.Block"),
    "rope.turns": About("position · θ / 2π, mod 1", "model.positions.rope_angles"),
    "rope.wavelengths": About("2π / θ", f"{_POSITIONS}.rotation_speeds"),
    "alibi.slopes": About("2^(−8(h+1)/H)", "model.positions.alibi_slopes"),
    "order.outputs": About("norm(x) of each token", _OUTPUTS),
    "order.open_outputs": About("norm(x) of each token, no mask", _OUTPUTS),
    "order.swapped": About("norm(x), two tokens exchanged", _REORDERED),
    "order.open_swapped": About("norm(x), two tokens exchanged, no mask", _REORDERED),
    "order.changed": About("the second put back − the first", _REORDERED),
    "order.open_changed": About("the second put back − the first, no mask", _REORDERED),
    "order.most": About("max |difference|", _REORDERED),
    "order.open_most": About("max |difference|, no mask", _REORDERED),
    "order.largest": About("max |output|", _OUTPUTS),
    "order.open_largest": About("max |output|, no mask", _OUTPUTS),
    "order.relative": About("max |difference| / max(1, max |output|)", _REORDERED),
    "order.open_relative": About("max |difference| / max(1, max |output|), no mask", _REORDERED),
    **{
        f"{what}.{kind}": About(formula, f"{_KINDS}.{source}")
        for what, formula, source in (
            ("masks", "1 where a query may attend", "mask_of_kind"),
            ("pairs", "how many pairs may attend", "n_pairs"),
        )
        for kind in (
            "causal", "sliding_window", "prefix", "global_tokens", "padding", "everything",
        )
    },
    "mask.known": About("tokens that reach it in 0, 1, 2, … layers", f"{_MASKING}.layers_to_reach"),
    "mask.longest": About("the most layers to reach a token", f"{_MASKING}.layers_to_reach"),
    "mask.never": About("pairs with no path", f"{_MASKING}.layers_to_reach"),
    "mask.future_mean": About("mean of Σ weight on later tokens / Σ", f"{_MASKING}.future_shares"),
    "mask.future_most": About("max of Σ weight on later tokens / Σ", f"{_MASKING}.future_shares"),
    "losses.mean": About("mean of −ln p(next token)", _LOSSES),
    "losses.without_pads": About("mean of −ln p(next token)", _LOSSES),
    "probabilities": About("softmax(logits) at the target", _TARGETS),
    "past.changes": About("max |p with another last token − p|", f"{_MASKING}.largest_changes"),
    "past.largest": About("max |p with another last token − p|", f"{_MASKING}.largest_changes"),
    "attention.mean": About("mean of the weights of all heads", _PATTERN),
    "pads.shares": About("Σ weight on pad tokens / own tokens", _PADDED),
    "pads.mean": About("mean of Σ weight on pad tokens / own tokens", _PADDED),
    "pads.change": About("max |logits − logits alone| / max", _PADDED),
    "cache.bytes": About("L · 2 · G · d_head · n · 4", "model.decoding.kv_cache.cache_bytes"),
    "known.bytes": About("L · values of a token · n · bytes", "model.analysis.cost.cache_variants"),
    "root.variances": About("mean of (q · k)²", f"{_ROOT}.variance"),
    "root.divided_variances": About("mean of (q · k / √d)²", f"{_ROOT}.variance"),
    "root.largest": About("mean over queries of max p", f"{_ROOT}.sharpness"),
    "root.gradients": About("mean of ‖diag(p) − p pᵀ‖", f"{_ROOT}.sharpness"),
    "root.weights": About("softmax of the first query’s scores", f"{_ROOT}.softmax"),
    "scaling.best_sizes": About("N of the lowest loss at C = 6 N D", f"{_SCALING}.Parametric"),
    "scaling.choice": About("N, D = C / 6N, loss, D / N", f"{_SCALING}.chosen"),
    "scaling.powers": About("the power of C in N", f"{_SCALING}.LAWS"),
    "scaling.iso_sizes": About("N from best / 32 to 32 · best", f"{_SCALING}.chosen"),
    "scaling.iso_losses": About("L(N, C / 6N)", f"{_SCALING}.iso_compute"),
    "scaling.known_sizes": About("parameters, as published", f"{_SCALING}.KNOWN_RUNS"),
    "scaling.known_compute": About("6 · N · D, as published", f"{_SCALING}.KNOWN_RUNS"),
    "scaling.run_sizes": About("12 · d² a layer, norms, embeddings", _RUNS),
    "scaling.run_flops": About("3 · operations of one token · tokens", _RUNS),
    **dict.fromkeys(("scaling.run_tokens", "scaling.tokens_of"), About("tokens", _RUNS)),
    **dict.fromkeys(("scaling.run_losses", "scaling.losses_of"), About("mean of −ln p", _RUNS)),
    **dict.fromkeys(("scaling.curve_tokens", "scaling.curve_losses"), About("the log", _RUNS)),
    **dict.fromkeys(
        (f"scaling.{x}" for x in ("fit", "fitted", "fit_curve")), About(_LAW, f"{_FITTED}.fit")
    ),
    **dict.fromkeys(
        (f"scaling.{x}" for x in ("fit_lowest", "fit_highest", "exponents", "beside")),
        About(f"{_LAW}, and of fits without one run", f"{_FITTED}.fit_all"),
    ),
    "scaling.residuals": About(f"measured − ({_LAW})", f"{_FITTED}.residuals"),
    "scaling.left_out_off": About(f"measured − ({_LAW}) of the other runs", f"{_FITTED}.Held"),
    "kernel.truth": About("2 sin x + x^0.8", f"{_KERNELS}.truth"),
    "kernel.places": About("where a point was drawn", f"{_KERNELS}.drawn_points"),
    "kernel.values": About("2 sin x + x^0.8 + noise", f"{_KERNELS}.drawn_points"),
    "kernel.curve": About("Σ weight · y", f"{_KERNELS}.estimate"),
    "kernel.weights": About("K(u) / Σ K(u)", f"{_KERNELS}.kernel_weights"),
    "kernel.answer": About("Σ weight · y at the query", f"{_KERNELS}.estimate"),
    "house.sizes": About("x, the size of each house in m²", f"{_KERNELS}.HOUSES"),
    "house.prices": About("y, the price of each house in thousands", f"{_KERNELS}.HOUSES"),
    "house.distances": About("u = (size − x) / width", f"{_KERNELS}.kernel_weights"),
    "house.weights": About("K(u) / Σ K(u)", f"{_KERNELS}.kernel_weights"),
    "house.parts": About("weight · y", f"{_KERNELS}.estimate"),
    "house.price": About("Σ weight · y at the size", f"{_KERNELS}.estimate"),
    "heads.parameters": About("4 D² and biases, in H · Dh = D columns", f"{_SEVERAL}.cuts"),
    "heads.width": About("D / H", f"{_SEVERAL}.cuts"),
    "pair.a": About("from 0 to a", f"{_SIMILAR}.compare"),
    "pair.b": About("from 0 to b, multiplied", f"{_SIMILAR}.compare"),
    "pair.dropped": About("from b to a · (a · b) / |a|²", f"{_SIMILAR}.foot"),
    "pair.product": About("Σ a · b", f"{_SIMILAR}.compare"),
    "pair.length_a": About("√(Σ a²)", f"{_SIMILAR}.compare"),
    "pair.length_b": About("√(Σ b²)", f"{_SIMILAR}.compare"),
    "pair.cosine": About("a · b / |a||b|", f"{_SIMILAR}.compare"),
    "pair.degrees": About("arccos(a · b / |a||b|)", f"{_SIMILAR}.compare"),
    "near.values": About("row · row of the token; cosine: / both lengths", f"{_SIMILAR}.nearest"),
    "near.ids": About("the tokens of the largest values", f"{_SIMILAR}.nearest"),
    "near.mean_length": About("mean of √(Σ row²) of these", f"{_SIMILAR}.nearest"),
    "near.length": About("√(Σ row²)", f"{_SIMILAR}.nearest"),
    "near.length_of_all": About("mean of √(Σ row²)", f"{_SIMILAR}.token_table"),
    "block.steps": About("one token after each step of the block", f"{_BLOCK}.run_inside"),
    "block.shares": About("x / max |x| after each step of the block", f"{_BLOCK}.run_inside"),
    "block.lengths": About("√(Σ x²) after each step of the block", f"{_BLOCK}.run_inside"),
    "block.heights": About("√(Σ x²) of the stream before each block", "model.blocks.Block"),
    "block.attn": About("√(Σ x²) of W_O z, block by block", "model.blocks.Block"),
    "block.ffn": About("√(Σ x²) of W_down a, block by block", "model.blocks.Block"),
    "block.normed": About("a norm of the vector, without gain", f"{_BLOCK}.normed"),
    "block.statistics": About("mean, √(Var + ε), √(mean x² + ε)", f"{_BLOCK}.statistics"),
    "block.tokens": About("√(mean x²) of each token after a norm", f"{_BLOCK}.root_mean_square"),
    "block.dimensions": About("√(mean x²) over tokens, sorted", f"{_BLOCK}.root_mean_square"),
    "block.gain": About("the gain in the file", "model.norms.NORMS"),
    "block.offset": About("the offset in the file", "model.norms.NORMS"),
    "block.before": About("W_up x, of SwiGLU W_gate x", "model.feedforward.FEEDFORWARDS"),
    "block.after": About("f(W_up x), of SwiGLU f(W_gate x)", "model.feedforward.FEEDFORWARDS"),
    "block.activations": About("what W_down is given", "model.feedforward.FEEDFORWARDS"),
    "block.concentration": About("Σ of the 16 largest a² / Σ a²", f"{_BLOCK}.concentration"),
    "block.places": About("even steps from −r to r", f"{_BLOCK}.curve"),
    "block.curve": About("f(u)", f"{_BLOCK}.curve"),
    "deep.first": About("‖∂y/∂x‖ at the first block, by depth", f"{_DEPTH}.gradient_lengths"),
    "deep.layers": About("‖∂y/∂x‖ before each block", f"{_DEPTH}.gradient_lengths"),
    "deep.own": About("‖∂ loss/∂x‖ before each block", f"{_DEPTH}.own_gradients"),
    "memory.maps": About("4 · H · n²", f"{_TILES}.map_bytes"),
    "memory.running": About("4 · H · 2n", f"{_TILES}.running_bytes"),
    "hand.products": About("Σ q · k of two rows", f"{_BY_HAND}.work_out"),
    "hand.scores": About("Σ q · k / √d", f"{_BY_HAND}.work_out"),
    "hand.masked": About("Σ q · k / √d, −∞ where masked", f"{_BY_HAND}.work_out"),
    "hand.weights": About("softmax of a row of scores", f"{_BY_HAND}.work_out"),
    "hand.z": About("Σ weight · v", f"{_BY_HAND}.work_out"),
    "hand.output": About("the heads’ z, side by side, · W_O", f"{_BY_HAND}.work_out"),
    "merges.ids": About("the id of a token", _MERGED),
    "merges.ranks": About("the place of a merge in the tokenizer's list", _MERGED),
    "merges.bytes": About("a byte of the text", _MERGED),
    "texts.last": About("ln p of the last token", f"{_BEAM}.beam_search"),
    "texts.totals": About("Σ ln p of its tokens", f"{_BEAM}.beam_search"),
    "texts.steps": About("how many tokens were written before its last", f"{_BEAM}.beam_search"),
    "texts.scores": About("Σ ln p / ((5 + n) / 6)^α", f"{_BEAM}.normalised_score"),
    "given": About("softmax(logits) at the token", _GIVEN),
    "sampled": About("softmax(logits / T) of what the filters leave", _FILTERED),
    "sampled.left": About("how many tokens are left after a step", _FILTERED),
    "sampled.mass": About("Σ p of what a step leaves of what it was handed", _FILTERED),
    "sampled.entropy": About("−Σ p ln p, in nats", "model.decoding.filters.entropy"),
    "sampled.perplexity": About("exp(−Σ p ln p)", "model.decoding.filters.entropy"),
    "pseudo.losses": About("−ln p of a token that is hidden, all others given", _HIDDEN),
    "pseudo.total": About("Σ of these but the first", _HIDDEN),
    "pseudo.perplexity": About("exp of their mean", _PERPLEXITY),
    "pseudo.causal_losses": About("−ln p of a hidden token, those before it given", _HIDDEN),
    "pseudo.causal_total": About("Σ of these but the first", _HIDDEN),
    "pseudo.causal_perplexity": About("exp of their mean", _PERPLEXITY),
    "hidden.mean": About("mean of −ln p of what stood in the blanks", _HIDDEN),
    "direct.logit": About("u_t · norm(x), or the difference of two", _SHARE),
    "direct.parts": About("⟨u_t, J x_p⟩ of each part p, and all biases", _SHARE),
    "direct.heads": About("⟨u_t, J W_O z⟩ of each head", _SHARE),
    "direct.neurons": About("⟨u_t, J W_down a⟩ of a neuron, largest first", _SHARE),
    "direct.words_of_neuron": About(
        "u_w · J W_down a, most and least", f"{_ATTRIBUTED}.words_of_neuron"
    ),
    "judged.next": About("−ln p of each true next token", _ABLATED),
    "judged.own": About("−ln p of the token in each place", _ABLATED),
    "judged.losses": About("−ln p of an answer", _ABLATED),
    "judged.probs": About("softmax of the logits at an answer", _ABLATED),
    "judged.rise": About("−ln p with parts off − as it was", _ABLATED),
    "judged.own_rise": About("−ln p with parts off − as it was", _ABLATED),
    "judged.next_rise": About("−ln p with parts off − as it was", _ABLATED),
    "damage.losses": About("Σ −ln p of a word's tokens", f"{_SOURCE}.losses_when_damaged"),
    "parts.own": About("L · 2 · G · d_head · tokens fed in · 4", f"{_CACHED}.two_parts"),
    "parts.of_source": About("L · 2 · G · d_head · source tokens · 4", f"{_CACHED}.two_parts"),
    "align.words": About("Σ to a word, mean from its tokens", f"{_ALIGNED}.merged_to_words"),
    "align.agreement": About("1 − 2 · right / (found + by hand)", f"{_ALIGNED}.agreement"),
    "align.rates": About("1 − 2 · right / (found + by hand)", f"{_ALIGNED}.agreement"),
    "stored.losses": About("mean of −ln p of held-out text, by position", _EVALUATED),
    "stored.places": About("the middle of each stretch of positions", _EVALUATED),
    "stored.bits": About("Σ −log₂ p / bytes of the text", _EVALUATED),
    "costs.heads": About("mean of −ln p without a head − as it was", f"{_ABLATION}.costs"),
    "costs.sublayers": About("mean of −ln p without a sublayer − as it was", f"{_ABLATION}.costs"),
    "costs.positions": About("mean of −ln p, off at a query − as it was", f"{_ABLATION}.costs"),
    "losses.pruned": About("mean of −ln p, so many heads off", f"{_ABLATION}.pruned"),
    "found.copy": About("largest weight on what came after a copy", f"{_FOUND}.strongest_copy"),
    "found.longest": About("largest ‖weight · v W_O‖ of all arrows", f"{_FOUND}.heaviest_arrow"),
    "found.settled": About("first layer from which the answer stays", f"{_FOUND}.settled_from"),
    **dict.fromkeys(
        ("judged.mean_rise", "judged.mean_own_rise", "judged.mean_next_rise"),
        About("mean of −ln p with parts off − as it was", _ABLATED),
    ),
    **dict.fromkeys(
        ("judged.mean_losses", "judged.mean_own", "judged.mean_next"),
        About("mean of −ln p of what is right", _ABLATED),
    ),
    "damage.lost": About("Σ −ln p − as it is", f"{_SOURCE}.losses_when_damaged"),
    "shuffled.classes": About("softmax(logits) of the shuffled patches", f"{_PATCHES}.shuffled"),
    **{
        f"{what}.patch.{grid}": About(formula, _ESTIMATED)
        for what, formula in (
            ("r", "Pearson’s r of exact and estimated shares"),
            ("off", "max |exact − estimated share|"),
            ("slope", "gradient · (source − base) / (m(source) − m(base))"),
        )
        for grid in ("resid_pre", "attn_out", "ffn_out", "z")
    },
    "worth.slopes": About("Σ share · gradient · (x − mean)", _INTEGRATED),
    "worth.sum": About("Σ of the integrated gradients", _INTEGRATED),
    "worth.difference": About("m − m where the path begins", _INTEGRATED),
    "before.losses": About("−ln p of a token, those before it given", _LOSSES),
    "before.total": About("Σ of these", _LOSSES),
    "before.perplexity": About("exp of their mean", _PERPLEXITY),
    **{
        f"{before}patch.{grid}": About(f"{formula}, {what}", _PATCHED)
        for before, formula in (
            ("answer.", "m(base with one value of the source)"),
            ("", "(m(base with one value) − m(base)) / (m(source) − m(base))"),
        )
        for grid, what in (
            ("resid_pre", "the stream before a layer"), ("attn_out", "what attention adds"),
            ("ffn_out", "what the feed-forward adds"), ("z", "a head at all positions"),
        )
    },
    **{
        f"cells.{slope}patch.{grid}": About(formula, source)
        for slope, formula, source in (
            ("", "(m(base with one value) − m(base)) / (m(source) − m(base))", _PATCHED),
            ("slope.", "gradient · (source − base) / (m(source) − m(base))", _ESTIMATED),
        )
        for grid in ("resid_pre", "attn_out", "ffn_out", "z")
    },
    "worth.removed": About("m − m where no head attends to it, of the largest", _UNSEEN),
    "worth.weights": About("mean weight of all heads, of the largest", _PATTERN),
    "worth.rollout": About("Π ½(mean pattern + 1), of the largest", f"{_FLOW}.rollout"),
    "worth.flow": About("most that flows through ½(mean pattern + 1)", f"{_FLOW}.flow"),
    "worth.integrated": About("Σ share · gradient · (x − mean), of the largest", _INTEGRATED),
    "patch.base": About("m of the sentence that a value is put into", _ENDS),
    "patch.source": About("m of the sentence that a value is taken from", _ENDS),
    "explain.answer": About("m: a logit, a difference of two, or −ln p", _MEASURED),
    "explain.weights": About("the weight of an arrow", _PATTERN),
    "explain.norms": About("|weight · v · W_O|", _MEASURED),
    "explain.gradients": About("weight · ∂m/∂weight", _MEASURED),
    "explain.effects": About("m − m with this weight at 0", _REMOVED),
    "explain.one.gradients": About("weight · ∂m/∂weight", _MEASURED),
    "explain.one.effects": About("m − m with this weight at 0", _REMOVED),
}  # fmt: skip
_HEADS = "model.analysis.heads"
_HABITS: dict[str, About] = {
    "previous": About("mean p of the token before the query", f"{_HEADS}.previous_token"),
    "next": About("mean p of the token after the query", f"{_HEADS}.next_token"),
    "first": About("mean p of the first token", f"{_HEADS}.first_token"),
    "self": About("mean p of the query's own token", f"{_HEADS}.own_token"),
    "same": About("mean Σ p of earlier tokens of the same id", f"{_HEADS}.same_token"),
    "induction": About("mean Σ p of what followed earlier copies", f"{_HEADS}.induction"),
    "near": About("mean Σ p of tokens 1 to 4 places away", f"{_HEADS}.near_tokens"),
    "broad": About("mean of −Σ p log p / log n", f"{_HEADS}.broadness"),
    "entropy": About("mean of −Σ p log₂ p", f"{_HEADS}.row_entropy"),
    "largest": About("mean of max p", f"{_HEADS}.largest_weight"),
    "distance": About("mean of Σ p · |i − j|", f"{_HEADS}.distance"),
    "kept": About("mean of Σ min(p, p with words exchanged)", f"{_HEADS}.kept_pattern"),
    "moved": About("Σ p‖v W_O‖ / mean ‖v W_O‖", f"{_HEADS}.moved_value"),
    "prefix": About(
        "mean p after the earlier copy, random tokens", "model.analysis.exchanged.prefix_matching"
    ),
    "copying": About("Σ Re λ / Σ |λ| of W_U W_OV W_E", "model.analysis.circuits.copying_scores"),
}
# Measures of all heads of a kind, of this input and of the survey, and how many reach a bound.
OF_HEADS: dict[str, About] = {
    **_HABITS,
    **{f"all_{name}": about for name, about in _HABITS.items()},
    **{f"survey_{name}": about for name, about in _HABITS.items()},
    **{
        f"{of}{many}_{name}": About("heads whose measure reaches the bound", f"{_HEADS}.traits")
        for of in ("all_", "survey_")
        for many in ("many", "few")
        for name in _HABITS
    },
}
