"""The faults: where, what, and what must notice. Each is one place in one source file.

`old` stands exactly once in its file (a test sees to that), so no fault is lost when code moves.
"""

from tests.sabotage.architectures import ARCHITECTURES
from tests.sabotage.charts import CHARTS
from tests.sabotage.cloze import CLOZE
from tests.sabotage.edits import EDITED
from tests.sabotage.experiments import EXPERIMENTS
from tests.sabotage.fault import BROWSER, SELF_CHECK, Fault
from tests.sabotage.heads import HEADS
from tests.sabotage.lessons import LESSONS
from tests.sabotage.readback import READ_BACK
from tests.sabotage.sampler import SAMPLED
from tests.sabotage.schemes import SCHEMES
from tests.sabotage.tables import TABLES
from tests.sabotage.told_experiments import TOLD_OF_EXPERIMENTS
from tests.sabotage.told_frame import TOLD_OF_THE_FRAME
from tests.sabotage.told_instruments import TOLD_OF_INSTRUMENTS
from tests.sabotage.told_lessons import TOLD_OF_LESSONS
from tests.sabotage.told_views import TOLD_OF_VIEWS

__all__ = ["BROWSER", "FAULTS", "SELF_CHECK", "Fault"]

ROPE, ALIBI, LEARNED, NONE = (f"positions-{name}" for name in ("rope", "alibi", "learned", "none"))
POSITIONS, NORMS, ATTENTION = "model/positions.py", "model/norms.py", "model/attention.py"
MASKS, BLOCKS, DECODER = "model/masks.py", "model/blocks.py", "model/architectures/decoder.py"
CHECKPOINT, CAPTURE = "model/sources/checkpoint.py", "model/capture.py"
RECORDS, CACHE = "model/records.py", "model/decoding/kv_cache.py"
STACK = "model/architectures/stack.py"

MODEL = [
    Fault(
        "model", "RoPE turned backwards", POSITIONS,
        "[first * cos - second * sin, first * sin + second * cos]",
        "[first * cos + second * sin, second * cos - first * sin]", "attn.", ROPE,
    ),
    Fault(
        "model", "RoPE's base halved", POSITIONS,
        "return positions[:, None].double() * base ** (-even / d_head)",
        "return positions[:, None].double() * (base / 2) ** (-even / d_head)", "attn.", ROPE,
    ),
    Fault(
        "model", "positions off by one", POSITIONS,
        "angles = positions[:, None].double() * frequencies",
        "angles = (positions[:, None] + 1).double() * frequencies", "positions",
    ),
    Fault(
        "model", "sine and cosine in each other's place", POSITIONS,
        "torch.stack([angles.sin(), angles.cos()], dim=-1)",
        "torch.stack([angles.cos(), angles.sin()], dim=-1)", "positions",
    ),
    Fault(
        "model", "learned positions read from the end", POSITIONS,
        "return self.table(positions)", "return self.table(positions.flip(0))", "positions",
        LEARNED,
    ),
    Fault(
        "model", "positions where the scheme has none", POSITIONS,
        '"none": Position,', '"none": SinusoidalPosition,', "positions", NONE,
    ),
    Fault(
        "model", "ALiBi with other slopes", POSITIONS,
        "2.0 ** (-8 * (i + 1) / below)", "2.0 ** (-7 * (i + 1) / below)", "bias", ALIBI,
    ),
    Fault(
        "model", "ALiBi's bias the other way round", POSITIONS,
        "return -slopes[:, None, None] * distance", "return slopes[:, None, None] * distance",
        "bias", ALIBI,
    ),
    Fault(
        "model", "LayerNorm's eps 0.1", NORMS,
        "layer_norm(x, x.shape[-1:], gain, offset, eps)",
        "layer_norm(x, x.shape[-1:], gain, offset, 0.1)", "blocks.0",
    ),
    Fault(
        "model", "LayerNorm without its gain", NORMS,
        "layer_norm(x, x.shape[-1:], gain, offset, eps)",
        "layer_norm(x, x.shape[-1:], None, offset, eps)", "blocks.",
    ),
    Fault(
        "model", "scores divided by another root", ATTENTION,
        "products.div_(math.sqrt(q.shape[-1]))", "products.div_(math.sqrt(q.shape[-1] + 1))",
        "scores",
    ),
    Fault(
        "model", "scores without their bias", ATTENTION,
        "return scores if bias is None else scores + bias", "return scores", "scores", ALIBI,
    ),
    Fault(
        "model", "queries scaled by 1.02", ATTENTION,
        "return position.rotate(split_heads(self.q_proj(x), self.n_heads), positions)",
        "return 1.02 * position.rotate(split_heads(self.q_proj(x), self.n_heads), positions)",
        ".q",
    ),
    Fault(
        "model", "keys that do not turn", ATTENTION,
        "return position.rotate(split_heads(self.k_proj(x), self.n_kv_heads), positions)",
        "return split_heads(self.k_proj(x), self.n_kv_heads)", ".k", ROPE,
    ),
    Fault(
        "model", "heads merged in another order", ATTENTION,
        "return z.transpose(1, 2).flatten(-2)", "return z.flip(1).transpose(1, 2).flatten(-2)",
        "attn_out",
    ),
    Fault(
        "model", "a mask that only weakens", ATTENTION,
        "masked_fill_(~mask, -math.inf)", "masked_fill_(~mask, -9.0)", "pattern",
    ),
    Fault(
        "model", "softmax of 1.01 times the scores", ATTENTION,
        "pattern = (scores + additive_mask(mask, scores.dtype)).softmax(dim=-1)",
        "pattern = (1.01 * scores + additive_mask(mask, scores.dtype)).softmax(dim=-1)",
        "pattern",
    ),
    Fault(
        "model", "a mask that hides token 1", MASKS,
        "device=device).tril(start)",
        "device=device).tril(start) & (torch.arange(seq_len, device=device) != 1)", "mask",
    ),
    Fault(
        "model", "a mask that is a window of 6", MASKS,
        "device=device).tril(start)", "device=device).tril(start).triu(start - 5)", "mask",
    ),
    Fault(
        "model", "a mask that shows the next token", MASKS,
        "device=device).tril(start)", "device=device).tril(start + 1)", "mask",
    ),
    Fault(
        "model", "a block that does not normalise", BLOCKS,
        "read=lambda x, norm: norm(x),", "read=lambda x, norm: x,", "blocks.0",
    ),
    Fault(
        "model", "updates added at nine tenths", BLOCKS,
        "write=lambda x, update, norm: x + update,",
        "write=lambda x, update, norm: x + 0.9 * update,", "resid",
    ),
    Fault(
        "model", "a feed-forward that reads before attention", BLOCKS,
        "self.ffn(read(resid_mid, ffn_norm), tap=ffn_tap)",
        "self.ffn(read(resid_pre, ffn_norm), tap=ffn_tap)", "ffn_out",
    ),
    Fault(
        "model", "GELU run as ReLU", "model/feedforward.py",
        '"gelu": partial(FeedForward, activation=F.gelu),',
        '"gelu": partial(FeedForward, activation=F.relu),', "ffn_out",
    ),
    Fault(
        "model", "GELU run as its approximation", "model/feedforward.py",
        '"gelu": partial(FeedForward, activation=F.gelu),',
        '"gelu": partial(FeedForward, activation=partial(F.gelu, approximate="tanh")),', "ffn_out",
    ),
    Fault(
        "model", "embeddings not scaled", "model/embeddings.py",
        "math.sqrt(config.d_model) if config.scale_embeddings else 1.0", "1.0", "embed",
    ),
    Fault(
        "model", "no norm before the unembedding", STACK,
        'return self.final_norm(resid, tap.scope("final_norm"))', "return resid", "output",
    ),
    Fault(
        "model", "logits at seven tenths", DECODER,
        'tap("logits", self.unembed(', 'tap("logits", 0.7 * self.unembed(', "output",
    ),
]  # fmt: skip

LOADING = [
    Fault(
        "loading", "two projections in each other's place", CHECKPOINT,
        "    model.tie_weights()\n",
        "    model.tie_weights()\n    one = model.blocks[0].attn\n"
        "    one.q_proj, one.k_proj = one.k_proj, one.q_proj\n", "blocks.0.attn",
    ),
    Fault(
        "loading", "two layers in each other's place", CHECKPOINT,
        "    model.tie_weights()\n",
        "    model.tie_weights()\n    a, b = model.blocks[1].ffn, model.blocks[2].ffn\n"
        "    model.blocks[1].ffn, model.blocks[2].ffn = b, a\n", "ffn_out",
    ),
    Fault(
        "loading", "weights rounded to bfloat16", CHECKPOINT,
        "_finite(path, name, file.get_tensor(name).float())",
        "_finite(path, name, file.get_tensor(name).bfloat16().float())", "decoder.",
    ),
    Fault(
        "loading", "a row of weights with the other sign", CHECKPOINT,
        "    model.tie_weights()\n",
        "    model.tie_weights()\n    model.blocks[3].attn.v_proj.weight.data[7] *= -1\n",
        "blocks.3",
    ),
    Fault(
        "loading", "queries of a block 2 % larger", CHECKPOINT,
        "    model.tie_weights()\n",
        "    model.tie_weights()\n    model.blocks[4].attn.q_proj.weight.data *= 1.02\n",
        "blocks.4.attn",
    ),
    Fault(
        "loading", "another eps than the file's", CHECKPOINT,
        "    model.tie_weights()\n",
        "    model.tie_weights()\n    model.blocks[2].attn_norm.eps = 0.1\n", "blocks.2",
    ),
    Fault(
        "loading", "output columns of a block shifted", CHECKPOINT,
        "    model.tie_weights()\n",
        "    model.tie_weights()\n    one = model.blocks[5].attn.out_proj\n"
        "    one.weight = torch.nn.Parameter(one.weight.roll(1, 0))\n", "blocks.5.attn_out",
    ),
]  # fmt: skip

CAPTURED = [
    Fault("capture", "patterns of the heads in reverse", RECORDS,
          " pattern=pattern,\n", " pattern=pattern[::-1],\n", "pattern"),
    Fault("capture", "rows of a pattern in reverse", RECORDS,
          " pattern=pattern,\n", " pattern=pattern[:, ::-1],\n", "pattern"),
    Fault("capture", "keys and values in each other's place", RECORDS,
          " k=k,\n            v=v,\n", " k=v,\n            v=k,\n", ".k"),
    Fault("capture", "queries kept in half precision", RECORDS,
          " q=q,\n", " q=q.astype(np.float16).astype(np.float32),\n", ".q"),
    Fault("capture", "z of the next head", RECORDS,
          " z=z,\n", " z=np.roll(z, 1, axis=0),\n", ".z"),
    Fault("capture", "scores kept without their bias", RECORDS,
          " scores=scores,\n",
          ' scores=scores - self.values[f"{site.address}.bias"],\n', "scores", ALIBI),
    Fault("capture", "no bias kept", RECORDS,
          'bias=self.values.get(f"{site.address}.bias"),', "bias=None,", "bias", ALIBI),
    Fault("capture", "another scale named", RECORDS,
          "scale=q.shape[-1] ** -0.5,", "scale=q.shape[-1] ** -0.5 * 1.01,", "scale"),
    Fault("capture", "a stream's update kept as its sum", RECORDS,
          '{name: self._of(f"{block}.{name}") for name in there}',
          '{name: self._of(f"{block}.{name.replace(\'attn_out\', \'resid_mid\')}") '
          "for name in there}", "attn_out"),
    Fault("capture", "a layer's stream kept for all", RECORDS,
          'block = f"{stack}.blocks.{layer}"', 'block = f"{stack}.blocks.0"', "resid"),
    Fault("capture", "logits one position late", CAPTURE,
          "output=output[number],", "output=np.roll(output[number], 1, axis=0),", "output"),
    Fault("capture", "no positions kept", RECORDS,
          'positions = self.values.get(f"{stream.name}.positions", _zeros_like(embed))',
          "positions = _zeros_like(embed)", "positions"),
    Fault("capture", "ids in reverse", CAPTURE,
          "ids=to_numpy(ids)", "ids=to_numpy(ids)[::-1].copy()", "decoder."),
    Fault("capture", "a mask that hides nothing kept", RECORDS,
          " return mask\n", " return np.ones_like(mask)\n", "mask"),
]  # fmt: skip

CACHED = [
    Fault("cache", "cached keys with dimensions in reverse", CACHE,
          "self.keys.narrow(2, start, n_new).copy_(k)",
          "self.keys.narrow(2, start, n_new).copy_(k.flip(-1))", "cached"),
    Fault("cache", "cached values halved", CACHE,
          "self.values.narrow(2, start, n_new).copy_(v)",
          "self.values.narrow(2, start, n_new).copy_(v / 2)", "cached"),
    Fault("cache", "new keys written over the last ones", CACHE,
          "self.keys.narrow(2, start, n_new).copy_(k)",
          "self.keys.narrow(2, max(0, start - 1), n_new).copy_(k)", "cached"),
    Fault("cache", "new tokens at the position before", ATTENTION,
          "new = key_positions[start:]  # of what is read here",
          "new = key_positions[start:] - int(start > 0)", "cached", ROPE),
    Fault("cache", "sinusoidal positions that begin again", STACK,
          "positions = torch.arange(start, start + embed.shape[1], device=embed.device)",
          "positions = torch.arange(embed.shape[1], device=embed.device)", "cached"),
    Fault("cache", "a cache that forgets a token", CACHE,
          "return self.keys.narrow(2, 0, start + n_new), self.values.narrow(2, 0, start + n_new)",
          "self.values[:, :, 0] *= 0 if start else 1\n"
          "        return self.keys.narrow(2, 0, start + n_new), "
          "self.values.narrow(2, 0, start + n_new)", "cached"),
]  # fmt: skip

DOM, FIGURE, MATHS = "viz/live/core/dom.js", "viz/live/core/figure.js", "viz/live/core/maths.js"
OPERANDS, HOME_JS = "viz/live/microscope/operands.js", "viz/live/home/home.js"
ARRAYS, HOME_DATA = "viz/live/core/arrays.py", "viz/live/home/data.py"
WIRE, LENS = "viz/live/core/wire.py", "model/analysis/lens.py"
HOME, ATTENTION_PAGE, LENS_PAGE = "Home", "Attention", "Logit lens"

SENT = [
    Fault("sent", "another head's pattern", ARRAYS,
          '"pattern": record.pattern[head],', '"pattern": record.pattern[head - 1],',
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("sent", "all of another head under this one's name", ARRAYS,
          "    kv_head = record.kv_head(head)\n",
          "    head = (head + 1) % record.n_heads\n    kv_head = record.kv_head(head)\n",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("sent", "keys and values in each other's place", ARRAYS,
          '"k": record.k[kv_head],\n        "v": record.v[kv_head],',
          '"k": record.v[kv_head],\n        "v": record.k[kv_head],',
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("sent", "queries of the tokens in reverse", ARRAYS,
          '"q": record.q[head],', '"q": record.q[head][::-1],', "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("sent", "Home's weights turned over", HOME_DATA,
          "pattern = record.pattern[head][shown, shown]",
          "pattern = record.pattern[head][shown, shown].T", "L2 H4", seen_on=HOME),
    Fault("sent", "Home's logits at seven tenths", HOME_DATA,
          "logits = trace.logits[-1]", "logits = 0.7 * trace.logits[-1]", "next tokens",
          seen_on=HOME),
    Fault("sent", "Home's logits of the token before", HOME_DATA,
          "logits = trace.logits[-1]", "logits = trace.logits[-2]", "next tokens", seen_on=HOME),
    Fault("sent", "Home's head of the next layer", HOME_DATA,
          "    record, head, head_name, run = shown_head\n",
          "    record, head, head_name, run = shown_head\n    record = trace.attention[3]\n",
          "L2 H4", seen_on=HOME),
]  # fmt: skip

DRAWN = [
    Fault("drawn", "every printed number a tenth larger", DOM,
          "return value.toFixed(places).replace", "return (1.1 * value).toFixed(places).replace",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "printed numbers without their sign", DOM,
          'return value.toFixed(places).replace("-", "−");',
          "return Math.abs(value).toFixed(places);", "L2 H4", seen_on=ATTENTION_PAGE,
          query={"cell": "4-2"}),
    Fault("drawn", "rows of the map in reverse", FIGURE,
          "const i = row * columns + column;", "const i = (rows - 1 - row) * columns + column;",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "columns of the map in reverse", FIGURE,
          "const i = row * columns + column;", "const i = row * columns + columns - 1 - column;",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "weights of the map squared", FIGURE,
          "return change(values[i], i);", "return change(values[i] ** 2, i);", "L2 H4",
          seen_on=ATTENTION_PAGE),
    Fault("drawn", "masked cells drawn as zero", FIGURE,
          "const isHidden = (i) => Boolean(hidden?.[i]);", "const isHidden = (i) => false;",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "a title that names the next head", "viz/live/microscope/heads.js",
          "const name = `L${layer} H${head}`;", "const name = `L${layer} H${head + 1}`;",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "numbers of the cell across the diagonal", OPERANDS,
          "const at = query * head.k.rows + key;", "const at = key * head.k.rows + query;",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "z of the next dimension", OPERANDS,
          "rowOf(steps.output, query)[dimension]", "rowOf(steps.output, query)[dimension + 1]",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "a cell that names another key", OPERANDS,
          "`query ${query}, key ${key}${isPinned", "`query ${query}, key ${key - 1}${isPinned",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "softmax at temperature 1.1", MATHS,
          "Math.exp((from[j] - top) / temperature)", "Math.exp((from[j] - top) / 1.1)",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("drawn", "products of the wrong pairs", MATHS,
          "result.values[i * k.rows + j] = dot(query, rowOf(k, j));",
          "result.values[i * k.rows + j] = dot(rowOf(q, j), rowOf(k, j));", "L2 H4",
          seen_on=ATTENTION_PAGE),
    Fault("drawn", "bars as long as the roots", "viz/live/core/bars.js",
          "width: Math.max(0, value * scale)", "width: Math.sqrt(value) * scale", "next tokens",
          seen_on=HOME),
    Fault("drawn", "probabilities that sum to less", "viz/live/core/sampling.js",
          "values[i] /= total;", "values[i] /= 1.02 * total;", "next tokens", seen_on=HOME),
    Fault("drawn", "the slider's temperature turned over", "viz/live/core/sampling.js",
          "Math.exp((sorted[i] - sorted[0]) / temperature)",
          "Math.exp((sorted[i] - sorted[0]) * temperature)", "next tokens", seen_on=HOME,
          query={"temperature": "0.5"}),
    Fault("drawn", "words shaded by the first", HOME_JS,
          "String(row[i] / most)", "String(row[0] / most)", "L2 H4", seen_on=HOME),
    Fault("drawn", "a sentence with half the weight", HOME_JS,
          'traced(weight, "weight",', 'traced(weight / 2, "weight",', "L2 H4", seen_on=HOME),
    Fault("drawn", "Home names another head", HOME_JS,
          "`Head ${head} on this sentence`", '"Head L1 H1 on this sentence"', "L2 H4",
          seen_on=HOME),
    Fault("drawn", "a word's number is its neighbour's", HOME_JS,
          'isMasked ? "–" : digits(row[i], 2)', 'isMasked ? "–" : digits(row[i ? i - 1 : 0], 2)',
          "L2 H4", seen_on=HOME),
]  # fmt: skip

# Names of tokens.
TEXT = [
    Fault("text", "labels of the tokens in reverse", WIRE,
          "    labels = stream_labels(stream)\n", "    labels = stream_labels(stream)[::-1]\n",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("text", "bars with each other's names", HOME_DATA,
          '"label": visible(vocabulary[i])', '"label": visible(vocabulary[i - 1])', "next tokens",
          seen_on=HOME),
    Fault("text", "Home's words in reverse", "viz/live/home/home.js",
          'html("bdi", null, label),', 'html("bdi", null, [...label].reverse().join("")),',
          "L2 H4", seen_on=HOME),
    Fault("text", "labels one column to the right", "viz/live/core/heatmap.js",
          "label: unescaped(labels[i]), at:", "label: unescaped(labels[i ? i - 1 : 0]), at:",
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("text", "a panel that names the key's neighbour", OPERANDS,
          'html("bdi", null, keys.labels[key]),', 'html("bdi", null, keys.labels[key - 1]),',
          "L2 H4", seen_on=ATTENTION_PAGE),
    Fault("text", "tokens above the page in reverse", "viz/frame/words.py",
          "    labels = token_labels(tokens)\n    if probabilities is None:",
          "    labels = token_labels(tokens)[::-1]\n    if probabilities is None:", "tokens",
          seen_on=LENS_PAGE),
    Fault("text", "what was predicted one token late", "viz/frame/bar.py",
          "words.token_strip(trace.tokens, predicted, run=key)",
          "words.token_strip(trace.tokens, None if predicted is None else "
          "[predicted[0], *predicted[:-1]], run=key)",
          "tokens", seen_on=LENS_PAGE),
    Fault("text", "a text in capitals before it becomes ids", "model/data/tokenizer.py",
          "return self._encode_start(_checked(text)).ids",
          "return self._encode_start(_checked(text.upper())).ids", "token ids", seen_on=HOME),
]  # fmt: skip

FAULTS: list[Fault] = [
    *MODEL, *LOADING, *CAPTURED, *CACHED, *SENT, *DRAWN, *SAMPLED, *TEXT, *CHARTS, *CLOZE, *HEADS,
    *EXPERIMENTS, *EDITED, *SCHEMES, *TABLES, *READ_BACK, *ARCHITECTURES, *LESSONS,
    *TOLD_OF_THE_FRAME, *TOLD_OF_VIEWS, *TOLD_OF_INSTRUMENTS, *TOLD_OF_EXPERIMENTS,
    *TOLD_OF_LESSONS,
]  # fmt: skip
