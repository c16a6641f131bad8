"""What each symbol of the app's formulas means: sizes, indices, and what runs through a model.

A row holds on all pages whose formulas have the symbol, or on those it names: T is a temperature
where tokens are sampled. Shapes are of one input. `code` is a field of a config, a function, or an
address: of a value in a trace, or of a weight among a model's own; .T of what is stored transposed.
"""

# ruff: noqa: E501  a row of the table is a line
# fmt: off

from typing import NamedTuple


class Row(NamedTuple):
    """A symbol: how it is written, what it means, its shape in letters, its name in code.

    The shape of a size is the letter that stands for it after an equals sign.
    """

    latex: str
    meaning: str
    shape: str = ""
    code: str = ""
    pages: tuple[str, ...] = ()


_BLOCK, _CHEAP, _ALIGN = ("Transformer block",), ("Cheaper attention",), ("Translation",)
_DOWN = ("Why the residual?",)
SIZES = (
    Row("T", "tokens of the input; of a picture its patches and the class token", "=T", "model.trace.Stream", ("Ablation", "Masked language model", "KV cache", "Masks", "Tokens", *_DOWN)),
    Row(r"T_q", "tokens that ask: queries of a head", "=Tq", "model.trace.AttentionRecord"),
    Row(r"T_k", "tokens that are asked: keys of a head; under cross-attention those of the source", "=Tk", "model.trace.AttentionRecord"),
    Row(r"T_s", "tokens of the source, which is translated", "=Ts", "model.trace.Stream"),
    Row("n", "tokens of the text", "=T", "model.trace.Stream", ("Cheaper attention", "Cost")),
    Row("L", "layers, that is blocks; x_L is the stream after the last", "=L", "config.n_layers"),
    Row(r"d_{\mathrm{model}}", "width of the residual stream", "=D", "config.d_model"),
    Row("D", "the same: width of the residual stream", "=D", "config.d_model"),
    Row("H", "heads of a layer", "=H", "config.n_heads", ("Cheaper attention", "Cost", "Positional encoding", "Multi-head attention")),
    Row("G", "heads of a layer that have keys and values of their own", "=G", "config.n_kv_heads"),
    Row(r"n_{\mathrm{kv\,heads}}", "the same: heads with keys and values of their own", "=G", "config.n_kv_heads"),
    Row(r"d_{\mathrm{head}}", "width of a head: numbers in one query, key or value", "=Dh", "config.d_head"),
    Row("d_h", "the same: width of a head", "=Dh", "config.d_head"),
    Row("d", "the same: numbers in one query or key", "=Dh", "config.d_head", ("Cheaper attention", "Kernels", "Positional encoding", "Why √d?")),
    Row("d", "width of a layer, of any kind", "", "config.d_model", ("Cost",)),
    Row("F", "neurons of a feed-forward", "=F", "config.d_ff"),
    Row("V", "tokens of the vocabulary; of a picture the classes", "=V", "config.vocab_size", ("Cost",)),
    Row("P", "patches of a picture", "", "config.n_patches", ("Vision",)),
    Row(r"n_{\mathrm{max}}", "positions a model has, its context", "=nmax", "config.max_seq_len"),
    Row("N", "numbers learnt in training: parameters", "", "model.analysis.sizes.parameters"),
    Row(r"N_{\text{matrices}}", "those of them that multiply, not added or looked up", "", "model.analysis.sizes.operations"),
    Row("C", "operations for one token", "", "model.analysis.sizes.operations"),
    Row("b", "bytes of one value", "", "model.decoding.kv_cache.cache_bytes", ("KV cache",)),
    Row("k", "width of the convolution", "", "model.analysis.sizes.layer_costs", ("Cost",)),
    Row("r", "tokens in the window", "", "model.analysis.sizes.layer_costs", ("Cost",)),
)
INDICES = (
    Row("i", "one of several: a query, a dimension, a pair of dimensions, a token"),
    Row("j", "one of several: a key, a term of a sum"),
    Row("h", "a head, from 0", "", "", ("Positional encoding", "Multi-head attention")),
    Row("l", "a layer, from 0"),
    Row("t", "a token’s place in the text", "", "", ("Masked language model", "Tokens", *_DOWN)),
    Row("t", "a token of the vocabulary, by its id", "", "", ("Contributions", "Heads", "Positional encoding")),
    Row("s", "another token of the vocabulary, that it is compared with", "", "", ("Contributions",)),
    Row("p", "a place in the text, from 0", "", "", ("Positional encoding",)),
    Row(r"\mathrm{pos}", "a place in the text, from 0"),
    Row("k", "a distance between two places", "", "", ("Positional encoding",)),
    Row("m", "place of the query", "", "", ("Positional encoding",)),
    Row("n", "place of the key", "", "", ("Positional encoding",)),
    Row("n", "how many layers were passed", "", "", ("Masks",)),
    Row("n", "keys that are open to a query; of random tokens said twice, how many there are", "", "", ("Heads",)),
    Row("k", "one of several eigenvalues", "", "", ("Heads",)),
    Row("p", "a part of the model that writes into the stream", "", "model.analysis.attribution.Written", ("Contributions",)),
    Row("K", "the last part that writes", "", "", ("Contributions",)),
    Row("m", "one of several singular values, largest first", "", "", _CHEAP),
)
STREAM = (
    Row("x", "a token’s vector in the residual stream", "D", "decoder.blocks.0.resid_pre", ("Contributions", "Diagram", "Transformer block", "Why the residual?", "Positional encoding")),
    Row("x'", "the stream after attention", "D", "decoder.blocks.0.resid_mid", _BLOCK),
    Row("x''", "the stream after the feed-forward", "D", "decoder.blocks.0.resid_post", _BLOCK),
    Row("h", "a token’s vector in the residual stream", "D", "decoder.blocks.0.resid_post", ("Logit lens",)),
    Row("X", "all tokens’ vectors, a row each", "T D", "decoder.blocks.0.resid_pre", ("Positional encoding", "Order", "Vision")),
    Row("E", "embedding: a row for each token", "V D", "embed.weight", ("Positional encoding",)),
    Row("E", "the matrix that every patch goes through", "S² D", "embed.patches.weight.T", ("Vision",)),
    Row("p", "pixels of a patch, row after row; S pixels are one of its sides", "S²", "model.embeddings.patches_of", ("Vision",)),
    Row(r"x_{\mathrm{CLS}}", "the class token’s vector", "D", "embed.class_token", ("Vision",)),
    Row(r"E_{\mathrm{pos}}", "position vectors, a row for each place", "T D", "encoder.positions", ("Vision",)),
    Row("b", "what is added after a matrix or a gain: a bias, an offset", "D", "model.norms.LayerNorm", ("Contributions", "Transformer block", "Vision")),
    Row(r"W_{\mathrm{up}}", "into the feed-forward’s neurons", "D F", "blocks.0.ffn.up.weight.T"),
    Row(r"W_{\mathrm{gate}}", "into the gates of SwiGLU’s neurons", "D F", "model.feedforward.SwiGLU"),
    Row(r"W_{\mathrm{down}}", "out of the neurons, into the stream", "F D", "blocks.0.ffn.down.weight.T"),
    Row("a", "activations of a token’s neurons", "F", "model.analysis.block.run_inside", _BLOCK),
    Row("u", "a neuron before its activation", "", "model.analysis.block.run_inside", _BLOCK),
    Row("f", "the activation: ReLU, GELU, or SwiGLU’s gate", "", "model.feedforward.FeedForward", _BLOCK),
    Row(r"\Phi", "the normal distribution up to a number", "", "model.reference.gelu"),
    Row(r"\mathrm{attn}", "attention of a block", "", "model.attention.MultiHeadAttention"),
    Row(r"\mathrm{attention}", "attention of a block", "", "model.attention.MultiHeadAttention"),
    Row(r"\mathrm{cross\text{-}attention}", "attention of a block to the encoder’s output", "", "model.blocks.CrossBlock"),
    Row(r"\mathrm{ffn}", "feed-forward of a block", "", "model.feedforward.FeedForward"),
    Row(r"\mathrm{FFN}", "feed-forward of a block", "", "model.feedforward.FeedForward"),
    Row(r"\mathrm{norm}", "LayerNorm or RMSNorm", "", "model.norms.LayerNorm"),
    Row(r"\hat x", "a vector after its norm", "D", "model.norms.layer_norm"),
    Row("g", "gain of a norm", "D", "blocks.0.attn_norm.gain", ("Contributions", "Transformer block")),
    Row(r"\mu", "mean of a vector’s numbers", "", "model.analysis.block.statistics"),
    Row(r"\sigma", "deviation of a vector’s numbers from their mean", "", "model.analysis.block.statistics", ("Contributions", "Transformer block")),
    Row("r", "root of the mean square of a vector’s numbers", "", "model.analysis.block.statistics", _BLOCK),
    Row(r"\varepsilon", "a small number, so that nothing is divided by 0", "", "config.norm_eps"),
    Row(r"\mathrm{Var}", "variance", "", "model.analysis.saturation.variance"),
)
ATTENTION = (
    Row("Q", "queries of a head", "Tq Dh", "decoder.blocks.0.attn.q"),
    Row("K", "keys of a head", "Tk Dh", "decoder.blocks.0.attn.k", ("Attention", "Cheaper attention", "Translation")),
    Row("V", "values of a head", "Tk Dh", "decoder.blocks.0.attn.v", ("Attention", "Translation")),
    Row("q", "a query", "Dh", "decoder.blocks.0.attn.q", ("Cheaper attention", "Kernels", "Positional encoding", "Embeddings and similarity", "Translation", "Why √d?")),
    Row("k", "a key", "Dh", "decoder.blocks.0.attn.k", ("Cheaper attention", "Kernels", "Positional encoding", "Embeddings and similarity", "Translation", "Why √d?")),
    Row("v", "a value", "Dh", "decoder.blocks.0.attn.v", ("Cheaper attention", "Explanation", "Heads")),
    Row("M", "the mask: 0 where a query may attend to a key, else −∞", "Tq Tk", "decoder.blocks.0.attn.mask", ("Attention", "Masks")),
    Row("B", "what a position scheme adds to the scores", "H Tq Tk", "decoder.blocks.0.attn.bias"),
    Row(r"\mathrm{score}", "product of query and key, scaled, with its bias", "H Tq Tk", "decoder.blocks.0.attn.scores"),
    Row("s", "a score", "", "decoder.blocks.0.attn.scores", ("Cheaper attention", "Translation")),
    Row("c", "the soft cap, beyond which scores are bent", "", "model.worked_out.Attending", ("Attention",)),
    Row(r"s_{\mathrm{sink}}", "a head’s sink: the score of one key more, without a value", "", "model.worked_out.Attending"),
    Row(r"\mathrm{softmax}", "e to each number, over their sum", "", "model.attention.attention_pattern"),
    Row("p", "an attention weight, of query i on key j", "Tq Tk", "decoder.blocks.0.attn.pattern", ("Cheaper attention", "Heads")),
    Row(r"\alpha", "an attention weight, of query i on key j", "Tq Tk", "decoder.blocks.0.attn.pattern", ("Explanation",)),
    Row("w", "an attention weight, of one pair", "", "decoder.blocks.0.attn.pattern", ("Translation",)),
    Row("z", "what a head gives: values, weighted", "Tq Dh", "decoder.blocks.0.attn.z", ("Cheaper attention", "Multi-head attention")),
    Row("W_Q", "stream to queries", "D H·Dh", "blocks.0.attn.q_proj.weight.T"),
    Row("W_K", "stream to keys", "D G·Dh", "blocks.0.attn.k_proj.weight.T"),
    Row("W_V", "stream to values", "D G·Dh", "blocks.0.attn.v_proj.weight.T"),
    Row("W_O", "what heads give to the stream; W_O^(h): the Dh rows of head h", "H·Dh D", "blocks.0.attn.out_proj.weight.T"),
    Row(r"W_{OV}", "from the stream through a head’s values back: W_V W_O", "D D", "model.analysis.circuits.copying_scores"),
    Row(r"X_{\mathrm{German}}", "the stream of the German tokens", "T D", "model.blocks.CrossBlock"),
    Row("M", "the encoder’s output, which the decoder attends to", "Ts D", "model.blocks.Memory", _ALIGN),
    Row(r"\mathcal{L}", "mean loss of the tokens predicted, in nats", "", "model.analysis.probabilities.next_token_losses"),
)
POSITIONS = (
    Row(r"\mathrm{PE}", "sinusoidal positions, a row for each place", "T D", "model.positions.sinusoidal_encoding"),
    Row(r"\omega", "how fast the wave of a pair of dimensions goes, per place", "", "model.positions.shift_waves"),
    Row(r"\theta", "how far RoPE rotates a pair of dimensions, per place", "", "model.positions.rope_angles", ("Positional encoding",)),
    Row("P", "learned positions, a row for each place", "nmax D", "model.positions.LearnedPosition", ("Positional encoding",)),
    Row("R", "rotation of a query or key by its place", "Dh Dh", "model.positions.rotate_pairs"),
    Row("q'", "a query or key after its rotation", "Dh", "decoder.blocks.0.attn.q"),
    Row("s", "slope of a head under ALiBi", "H", "model.positions.alibi_slopes", ("Positional encoding",)),
    Row(r"\Pi", "a permutation: rows in another order", "T T", "model.analysis.positions.permutation_error"),
    Row("f", "a model without positions and without a mask", "", "model.analysis.order.reordered", ("Positional encoding", "Order")),
    Row("w", "width of the window, the token itself included", "", "config.window", ("Cheaper attention", "Masks")),
    Row("g", "global tokens, the first of the text", "", "config.n_global", ("Cheaper attention", "Masks")),
    Row(r"n_{\mathrm{prefix}}", "tokens that attend to each other, the first of the text", "", "config.prefix_len"),
    Row(r"\mathrm{length}", "tokens of a sentence without its padding", "", "model.masks.padding"),
    Row(r"\mathrm{mask}", "who may attend to whom, as 0 and 1", "T T", "decoder.blocks.0.attn.mask"),
    Row(r"\mathrm{known}", "who can be influenced by whom after so many layers", "T T", "model.analysis.masking.layers_to_reach"),
    Row("I", "who knows itself: 1 on the diagonal", "T T", "model.analysis.masking.layers_to_reach", ("Masks",)),
)
