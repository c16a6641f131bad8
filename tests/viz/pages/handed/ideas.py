"""What the pages of ideas hand on: masks and positions."""

from functools import cache

import numpy as np
import torch

from model.analysis.cosine import cosine_similarity
from model.analysis.heads import strongest_pair
from model.analysis.masking import layers_to_reach
from model.analysis.order import without_bias
from model.analysis.positions import (
    before_rotation,
    head_slopes,
    rope_scores,
    rotation_speeds,
    wave_table,
)
from model.positions import rope_angles
from model.sources.checkpoint import Checkpoint
from model.trace import Trace
from model.worked_out import softmax
from tests.viz.apps import TOM
from tests.viz.builders import given, scheme_model, stories, stories_trace, trace_of
from tests.viz.pages.handed import Address, Read, Table, at, head, seen
from tests.viz.pages.ideas.masks_view import under
from viz.digits import digits
from viz.formulas.parts import (
    bias_with_numbers,
    distance_with_numbers,
    loss_with_numbers,
    rotation_with_numbers,
    share_with_numbers,
    wave_with_numbers,
)

WAVES = 10_000.0  # the base of all of them
CHASED = "The cat chased the dog. The"
L1_H2 = {"layer": "1", "head": "2"}
SCHEMES = ("sinusoidal", "learned", "rope", "alibi", "none")


# --- masks ------------------------------------------------------------------------------------


def unmasked(ids: list[int]) -> Trace:
    """Tokens that all attend to each other."""
    return under(stories(), ids, np.ones((len(ids), len(ids)), bool))


def leak() -> Read:
    trace = stories_trace(TOM)
    ids = trace.ids.tolist()
    guess = next(int(i) for i in np.argsort(-trace.logits[-2]) if i != ids[-1])
    before, after = (softmax(unmasked(x).logits) for x in (ids, [*ids[:-1], guess]))
    changes = np.abs(after - before).max(axis=-1)[:-1]
    return {"past y": np.zeros(len(changes)), "past 1 y": changes}


def losses() -> Read:
    trace, opened = stories_trace(TOM), unmasked(stories_trace(TOM).ids.tolist())
    both = [-np.log(given(x)) for x in (trace, opened)]
    ahead = [np.triu(record.pattern, 1).sum(axis=(1, 2)) for record in opened.attention]
    return {
        "losses y": both[0],
        "losses 1 y": both[1],
        "future z": np.stack(ahead) / len(trace.ids),
        "formulas": [loss_with_numbers(float(x.sum()), len(x)) for x in both],
        "says": [digits(x.mean()) for x in both],
    }


def order() -> Read:
    record = stories_trace(TOM).attention[1]
    scores, mask = record.scores[2], record.mask
    ways = softmax(np.where(mask, scores, 0)), softmax(scores)  # 0 before softmax, and after it
    zero_score, too_late = (np.where(mask, x, 0).sum(axis=-1) for x in ways)
    return {
        "scores-after z": seen(scores, mask),
        "leak y": np.ones(len(mask)),
        "leak 1 y": zero_score,
        "leak 2 y": too_late,
    }


def reach() -> Read:
    layers = layers_to_reach(stories_trace(TOM).attention[0].mask)
    known = [((layers[-1] >= 0) & (layers[-1] <= n)).sum() for n in range(7)]
    return {"reach z": np.where(layers < 0, np.nan, layers), "known y": np.array(known)}


def cost() -> Read:
    lengths, n = 2.0 ** np.arange(2, 10), len(stories_trace(TOM).ids)
    return {
        "cost x": lengths,
        "cost y": lengths * (lengths + 1) / 2,
        "cost 1 y": 4 * lengths - 6,
        "cost 4 y": lengths**2,
        "formulas": share_with_numbers(4 * n - 6, n),
    }


def padding() -> Read:
    loaded, n = stories(), len(stories_trace(TOM).ids)
    own = loaded.tokenizer.encode("The dog ran.")
    is_pad, causal = np.arange(n) < n - len(own), np.tri(n, dtype=bool)
    ids = [*[loaded.tokenizer.end_id] * (n - len(own)), *own]
    hidden, in_sight = (under(loaded, ids, x) for x in (causal & ~is_pad, causal))
    on_pads = [x.pattern[:, ~is_pad][..., is_pad].sum(axis=(1, 2)) for x in in_sight.attention]
    return {
        "padded-hidden z": head(hidden, 1, 1),
        "padded-seen z": head(in_sight, 1, 1),
        "pad-shares z": np.stack(on_pads) / len(own),
        "formulas": r"j \ge T - ",
    }


# --- positions --------------------------------------------------------------------------------


@cache
def on(scheme: str) -> Trace:
    """What the model of a scheme does on the sentence."""
    return trace_of(scheme_model(scheme), TOM)


def positions(scheme: str, scene: str, **query: str) -> Address:
    """A scene of a scheme."""
    return at("Positional encoding", scheme=scheme, scene=scene, **query)


def trained_table() -> np.ndarray:
    """The rows that were trained, (N, D)."""
    return scheme_model("learned").model.position.table.weight.cpu().numpy()


def embedding_sum(trace: Trace) -> Read:
    parts = trace.embed, trace.positions, trace.residuals[0].resid_pre
    return dict(zip(("sum z", "sum 1 z", "sum 2 z"), parts, strict=True))


def curves() -> Read:
    waves, last = wave_table(256, 256, WAVES), len(stories_trace(TOM).tokens) - 1
    return {
        **{f"curves {2 * i} y": waves[:, x] for i, x in enumerate((0, 20, 50, 100))},
        "formulas": wave_with_numbers(last, 100, 256, WAVES, float(waves[last, 100])),
    }


def hands_of_waves() -> Read:
    speeds = rotation_speeds(256, WAVES)
    return {
        "sent: settings": {"first": 9, "second": 4},
        "sent: first": np.tile([1.0, 0.0], (128, 1)),
        "sent: frequencies": speeds,
        "formulas": rotation_with_numbers(32, 5, float(speeds[32])),
        "promises": [
            "PE(pos + k) = one rotation of PE(pos) for every pos: property verified",
            "PE(pos) · PE(pos + k) depends on k only: property verified",
        ],
    }


def alike_rows() -> Read:
    return {
        "similarity z": cosine_similarity(trained_table()),
        "similarity-waves z": cosine_similarity(wave_table(128, 128, WAVES)),
    }


def hands_of_a_pair() -> Read:
    record = on("rope").attention[2]
    m, n = strongest_pair(record.pattern[1])
    q, k = before_rotation(on("rope"), scheme_model("rope").model, 2)
    here, moved = (
        float(rope_scores(q[1][[m]], k[1][[n]], [m + far], [n + far], WAVES)[0, 0])
        for far in (0, 100)
    )
    return {
        "sent: settings": {"first": m, "second": n},
        "sent: actual": {"first": m, "second": n, "score": float(record.scores[1, m, n])},
        "sent: first": q[1][m].reshape(2, -1).T,
        "sent: second": k[1][n].reshape(2, -1).T,
        "formulas": distance_with_numbers((m, n), 100, here, moved),
        "promises": "RoPE scores depend on the distance only: property verified",
    }


def scores_of_rope() -> Read:
    record = on("rope").attention[1]
    q, k = (x[3] for x in before_rotation(on("rope"), scheme_model("rope").model, 1))
    return {
        "scores-before z": seen(q @ k.T / np.sqrt(32), record.mask),
        "scores-after z": seen(record.scores[3], record.mask),
    }


def angles() -> Read:
    turns = rope_angles(torch.arange(128), 32, WAVES).numpy() / (2 * np.pi)
    return {"wavelengths y": 2 * np.pi / rotation_speeds(32, WAVES), "angles z": turns % 1}


def slopes() -> Read:
    return {
        "slopes y": head_slopes(4),
        "promises": "slopes of 4 heads are the geometric ones: property verified",
    }


def apart_on_alibi() -> np.ndarray:
    """How far its tokens are apart, (T, T)."""
    places = np.arange(len(on("alibi").ids))
    return np.abs(places[:, None] - places)


def bias() -> Read:
    record, apart, slope = on("alibi").attention[1], apart_on_alibi(), float(head_slopes(4)[2])
    query, key = strongest_pair(record.pattern[2])
    distance = int(apart[query, key])
    plain = float(record.scores[2, query, key]) + slope * distance
    return {
        "bias z": seen(-slope * apart, record.mask),
        "formulas": bias_with_numbers(plain * 32**0.5, 32, slope, distance),
    }


def pattern_without_bias() -> Read:
    record = on("alibi").attention[1]
    own, plain = record.pattern[2], without_bias(record, 2)
    near, far = (digits((x * apart_on_alibi()).sum() / len(x), 2) for x in (own, plain))
    return {
        "pattern z": seen(own, record.mask),
        "pattern-plain z": seen(plain, record.mask),
        "says": f"{near} tokens away; without the bias it would be {far}.",
    }


def distances() -> Read:
    record, apart = on("alibi").attention[1], apart_on_alibi()
    plain = [without_bias(record, number) for number in range(4)]
    return {
        f"column: {name}": {
            f"H{i}": digits((x * apart).sum() / len(x), 2) for i, x in enumerate(patterns)
        }
        for name, patterns in (("with the bias", record.pattern), ("without", plain))
    }


def in_two_orders(
    key: str, loaded: Checkpoint, *, is_masked: bool
) -> tuple[dict[str, np.ndarray], float]:
    """What comes next in both orders, of the likeliest of either; how much moves, in per cent."""
    ids = loaded.tokenizer.encode(CHASED)
    mask = np.tri(len(ids), dtype=bool) if is_masked else np.ones((len(ids), len(ids)), bool)
    other = [ids[i] for i in (0, 4, 2, 3, 1, 5, 6)]
    before, after = (softmax(under(loaded, x, mask).logits[-1].astype(float)) for x in (ids, other))
    leading = sorted({int(i) for x in (before, after) for i in np.argsort(-x)[:3]},
                     key=lambda i: -after[i])  # fmt: skip
    moved = 100 * np.abs(after - before).sum() / 2
    return {f"{key} x": before[leading], f"{key} 1 x": after[leading]}, moved


def two_orders() -> Read:
    free, _ = in_two_orders("order", scheme_model("none"), is_masked=False)
    running, moved = in_two_orders("order-running", stories(), is_masked=True)
    bare, opened = (in_two_orders("", x, is_masked=y)[1]
                    for x, y in ((scheme_model("none"), True), (stories(), False)))  # fmt: skip
    none, own = "positions-none (no positions)", "stories (Sinusoidal)"
    return {
        **free,
        **running,
        "says": f"In stories, as it runs, {digits(moved, 1)} % moves.",
        "column: without a mask": {none: "0 %", own: f"{digits(opened, 1)} %"},
        "column: with its own mask": {none: f"{digits(bare, 1)} %", own: f"{digits(moved, 1)} %"},
        "column: what tells order": {none: "its mask alone", own: "its positions, and its mask"},
        "promises": "no mask: reversed tokens have the same outputs, reversed: property verified",
    }


def five_models() -> Read:
    maps = {f"patterns {2 * i} z": head(on(scheme), 1, 2) for i, scheme in enumerate(SCHEMES)}
    return {**maps, "checks": "5 models: Verified: 80 of 80"}


TABLE: Table = {
    at("Masks", scene="leak"): leak,
    at("Masks", scene="loss"): losses,
    at("Masks", scene="order", **L1_H2): order,
    at("Masks", scene="reach"): reach,
    at("Masks", scene="cost", mask="sliding_window", window="4"): cost,
    at("Masks", scene="padding", second="The dog ran.", layer="1", head="1"): padding,
    positions("sinusoidal", "table"): lambda: {"wave z": wave_table(80, 256, WAVES)[:, ::16].T},
    positions("sinusoidal", "similarity"): lambda: {
        "similarity z": cosine_similarity(wave_table(256, 256, WAVES))
    },
    positions("sinusoidal", "curves"): curves,
    positions("sinusoidal", "wavelengths"): lambda: {
        "wavelengths y": 2 * np.pi / rotation_speeds(256, WAVES)
    },
    positions("sinusoidal", "rotation", place_first="9", place_second="4"): hands_of_waves,
    positions("sinusoidal", "sum"): lambda: embedding_sum(stories_trace(TOM)),
    positions("learned", "table"): lambda: {"wave z": trained_table()},
    positions("learned", "similarity"): alike_rows,
    positions("learned", "end"): lambda: {
        "hints": "129 tokens, more than the model's context of 128"
    },
    positions("learned", "sum"): lambda: embedding_sum(on("learned")),
    positions("rope", "rotation", layer="2", head="1"): hands_of_a_pair,
    positions("rope", "scores", layer="1", head="3"): scores_of_rope,
    positions("rope", "wavelengths"): angles,
    positions("alibi", "slopes"): slopes,
    positions("alibi", "bias", **L1_H2): bias,
    positions("alibi", "pattern", **L1_H2): pattern_without_bias,
    positions("alibi", "distances", **L1_H2): distances,
    positions("compare", "order", sentence=CHASED, token="1", other_token="4"): two_orders,
    positions("compare", "patterns", **L1_H2): five_models,
}
