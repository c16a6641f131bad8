"""What lessons hand on."""

import re

import numpy as np

from model.analysis.additive import additive_scores, drawn_weights
from model.analysis.block import normed, run_inside
from model.analysis.cheaper import WAYS, Head, Sizes, difference, multiplications
from model.analysis.heads import strongest_pair
from model.analysis.kernels import HOUSES, drawn_points, kernel_weights
from model.analysis.saturation import DIMENSIONS, random_products, sharpness, variance
from model.analysis.scaling import LAWS, chosen
from model.analysis.several import alike, contributions, most_alike, weights_of
from model.analysis.similarity import compare, nearest, token_table
from model.analysis.tiles import over_tiles
from model.trace import AttentionRecord
from model.worked_out import softmax
from tests.viz.apps import TOM
from tests.viz.builders import stories, stories_trace
from tests.viz.pages.handed import Read, Table, at, head, seen
from viz.digits import digits

L2_H4 = {"layer": "2", "head": "4"}
HEAD = {"layer": "3", "head": "5", "token": "4"}
TOKEN = {"layer": "3", "token": "4"}
SIZES = Sizes(3, 2, 5)
CHEAPER = {**L2_H4, "window": "3", "global": "2", "kept_rank": "5"}


def of_layer(layer: int) -> AttentionRecord:
    """A layer's attention on the sentence."""
    return stories_trace(TOM).attention[layer]


def nearest_tokens() -> Read:
    token, table = int(stories_trace(TOM).ids[4]), token_table(stories().model)
    # What is no text has an escape or a sign of control in its name, or a name in angle brackets.
    vocabulary = map(stories().tokenizer.name, range(len(table)))
    is_text = np.array([not re.search(r"\\x..$|[\x00-\x1f\x7f]|^<\|", x) for x in vocabulary])
    by_cosine, by_product = (nearest(table, is_text, token, 6, by) for by in ("cosine", "product"))
    return {
        "nearest-cosine x": by_cosine.values,
        "nearest-cosine customdata": [
            [str(i), float(length)]
            for i, length in zip(by_cosine.ids, by_cosine.lengths, strict=True)
        ],
        "nearest-dot-product x": by_product.values,
        "says": f"by dot product {digits(by_product.lengths.mean(), 2)}; that of “",
    }


def two_vectors() -> Read:
    a, b = np.array([-2, 1.5]), 2.5 * np.array([0.7, 4])
    found = compare(a, b)
    rows = ("dot product a · b", "length of a", "length of b", "cosine", "angle, degrees")
    values = (found.product, *found.lengths, found.cosine, found.degrees)
    return {
        "two-vectors x": np.array([0, a[0]]),
        "two-vectors 1 x": np.array([0, b[0]]),
        "column: a and 2.5 · b": dict(zip(rows, map(digits, values), strict=True)),
    }


def variances() -> Read:
    found = np.array([variance(random_products(d, 3)) for d in DIMENSIONS])
    return {"variances y": found, "variances 1 y": found / DIMENSIONS}


def largest_weights() -> Read:
    largest = np.array([sharpness(softmax(random_products(d, 2))).largest for d in DIMENSIONS])
    first = DIMENSIONS[int((largest > 0.9).argmax())]
    return {"root-largest y": largest, "links": f"scene=query&root_d={first}"}


def alike_heads() -> Read:
    record = of_layer(3)
    layer, one, _ = most_alike(stories_trace(TOM).groups[0].patterns())
    writes = contributions(record, weights_of(stories().model, record.site))
    return {
        "alike-looks z": alike(record.pattern),
        "alike-writes z": alike(writes),
        "links": f"scene=alike&layer={layer}&head={one}",
    }


def written() -> Read:
    writes = contributions(of_layer(3), weights_of(stories().model, of_layer(3).site))
    return {"several-written z": np.linalg.norm(writes, axis=-1)}


def heads_apart() -> Read:
    flat = of_layer(3).pattern.reshape(8, -1).astype(float)
    cosines = flat @ flat[5] / np.linalg.norm(flat, axis=1) / np.linalg.norm(flat[5])
    other = int(cosines.argmin())
    return {
        "several-head z": head(stories_trace(TOM), 3, 5),
        "several-other z": head(stories_trace(TOM), 3, other),
        "says": f"H5 looks here, and H{other}, of the 8 heads",
    }


def steps_of_a_block() -> Read:
    values = run_inside(stories().model, stories_trace(TOM).ids.tolist(), 3).of_token(4)
    shares = values / np.abs(values).max(axis=-1, keepdims=True)
    return {"block-steps z": shares, "block-lengths x": np.linalg.norm(values, axis=-1)}


def all_blocks() -> Read:
    residuals = stories_trace(TOM).residuals
    return {
        f"block-heights {mark} y": np.array(
            [np.linalg.norm(getattr(residual, name)[4]) for residual in residuals]
        )
        for mark, name in ((1, "attn_out"), (2, "ffn_out"))
    }


def norm_before_the_mlp() -> Read:
    given = stories_trace(TOM).residuals[3].resid_mid[4]
    after = normed(given[None], "layer", stories().config.norm_eps)[0]
    return {"block-norm x": given, "block-norm y": after}


def neurons() -> Read:
    inside = run_inside(stories().model, stories_trace(TOM).ids.tolist(), 3)
    return {"block-neurons y": inside.values["activation"][4]}


def a_mean_of_what_is_near() -> Read:
    points = drawn_points(0)
    answer = points.y[np.abs(points.x - 0.1) < 0.5].mean()
    return {"kernel-curve 2 y": points.y, "kernel-curve 3 y": np.array([answer])}


def price_of_a_house() -> Read:
    weights = kernel_weights(np.array([70.0]), HOUSES.x, "gaussian", 15)[0]
    names = [digits(x, 0) for x in HOUSES.x]
    return {
        "column: weight": dict(zip(names, map(digits, weights), strict=True)),
        "column: weight · price": dict(zip(names, map(digits, weights * HOUSES.y), strict=True)),
        # As one source prints them.
        "anywhere": "kernel 103.753 thousand; the plain mean of all five says 120.000.",
    }


def additive_score() -> Read:
    record = of_layer(2)
    scores = additive_scores(record.q[4], record.k[4], drawn_weights(32, 6))
    return {
        "additive-dot z": head(stories_trace(TOM), 2, 4),
        "additive-drawn z": seen(softmax(scores, record.mask), record.mask),
    }


def a_window() -> Read:
    i, j = np.indices(of_layer(2).mask.shape)
    weights = WAYS["window"](Head.of(of_layer(2), 4), SIZES)
    return {
        "cheaper-exact z": head(stories_trace(TOM), 2, 4),
        "cheaper-way z": seen(weights, (j <= i) & (i - j < 3)),
    }


def every_way() -> Read:
    one, names = Head.of(of_layer(2), 4), ("window", "window + global", "linear", "low rank")
    ways = dict(zip(names, WAYS, strict=True))
    apart = {name: difference(one, WAYS[way](one, SIZES)) for name, way in ways.items()}
    return {
        "column: error": {"exact": "0"} | {x: digits(y.error) for x, y in apart.items()},
        "column: moved": {"exact": "0"} | {x: digits(y.moved) for x, y in apart.items()},
        "column: multiplications": {
            name: f"{multiplications(one, way, SIZES):,}" for name, way in ways.items()
        },
        "checks": "Check passed: linear attention as a running sum",
    }


def two_of_four_tiles() -> Read:
    record = of_layer(2)
    states = over_tiles(record.scores[4][-1], record.v[4], 4, -np.inf)
    return {
        "tile-output y": states[1].output,
        "tile-output 1 y": record.z[4][-1],
        "checks": "Check passed: the output after all tiles is the head’s own z",
    }


def tokens_by_every_law() -> Read:
    found = {law.name: chosen(law, 10**23.8) for law in LAWS.values()}
    ratios = {name: digits(one.tokens / one.size, 2) for name, one in found.items()}
    return {"column: tokens per parameter": ratios, "column: loss, nats": {"Chinchilla 1": "–"}}


def strongest_pair_of_a_head() -> Read:
    query, key = strongest_pair(of_layer(1).pattern[3])
    return {"root-as-it-is z": head(stories_trace(TOM), 1, 3), "links": f"cell={query}-{key}"}


def head_without_its_root() -> Read:
    scores, mask = of_layer(2).scores[4].astype(float), of_layer(2).mask
    return {
        "root-as-it-is z": head(stories_trace(TOM), 2, 4),
        "root-not-divided z": seen(softmax(scores * 32**0.5, mask), mask),
    }


TABLE: Table = {
    at("Embeddings and similarity", token="4", near_count="6"): nearest_tokens,
    at("Embeddings and similarity", scene="vectors", vectors="-2,1.5,0.7,4,2.5"): two_vectors,
    at("Attention by hand", scene="model", layer="1", head="3"): strongest_pair_of_a_head,
    at("Attention by hand", scene="variance", seed="3"): variances,
    at("Attention by hand", scene="largest", seed="2"): largest_weights,
    at("Attention by hand", scene="model", **L2_H4): head_without_its_root,
    at("Multi-head attention", **HEAD): heads_apart,
    at("Multi-head attention", scene="alike", **HEAD): alike_heads,
    at("Multi-head attention", scene="split", **HEAD): lambda: {"several-z z": of_layer(3).z[:, 4]},
    at("Multi-head attention", scene="written", **HEAD): written,
    at("Transformer block", **TOKEN): steps_of_a_block,
    at("Transformer block", scene="blocks", **TOKEN): all_blocks,
    at("Transformer block", scene="norms", block_norm="ffn", **TOKEN): norm_before_the_mlp,
    at("Transformer block", scene="neurons", **TOKEN): neurons,
    at("Kernels", smoothing="boxcar", width="0.5", asked_at="0.1", seed="0"): (
        a_mean_of_what_is_near
    ),
    at("Kernels", scene="houses"): price_of_a_house,
    at("Kernels", scene="additive", seed="6", **L2_H4): additive_score,
    at("Cheaper attention", cheaper="window", **CHEAPER): a_window,
    at("Cheaper attention", scene="errors", **CHEAPER): every_way,
    at("Cheaper attention", scene="tiles", tile_size="4", tiles_done="2", **CHEAPER): (
        two_of_four_tiles
    ),
    at("Scaling", scene="laws", scaling_compute="23.8"): lambda: {
        # N grows as C to the 0.73 by Kaplan and about the half by Chinchilla: 2^0.73 and 2^0.27.
        "says": "1.66 times the parameters and 1.21 times the text by Kaplan"
    },
    at("Scaling", scene="why", scaling_compute="23.8"): tokens_by_every_law,
}
