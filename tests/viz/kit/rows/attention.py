"""Attention between two streams, and where the sink of a head is hidden."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.viz.builders import stories_trace
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made
from tests.viz.kit.parts.made_up import CROSS, LABELS, attention, group_of, two_streams
from tests.viz.kit.rows import Hand, Has, Row, nothing, part
from viz.digits import digits
from viz.kit.part import Part
from viz.kit.parts.attention import attention_part
from viz.labels import token_labels
from viz.theme import along, palette, weight_shares


def looked(
    of: Callable[..., Part], reads: Callable[[], Any], hand: Hand = nothing, **settings: object
) -> Row:
    """What the view on screen reads."""
    return Row(part(lambda: of(**settings)), hand, reads, at="view")


# --- two streams ----------------------------------------------------------------------------------

PATTERN = group_of(CROSS).records[0].pattern[1]
QUERY, MASS = 3, 0.5


def arrows(gallery: Gallery) -> None:
    """Keys in the last grid, which has the focus."""
    gallery.get_by_label("All 2 layers").last.focus()
    gallery.press("ArrowRight ArrowRight ArrowDown ArrowDown")


def first_key(gallery: Gallery) -> None:
    """Click a word of the row."""
    gallery.get_by_role("button", name=LABELS["source"][0]).click()


def n_kept(weights: np.ndarray, mass: float) -> int:
    """How many keys hold a share of the weight of each row."""
    ordered = -np.sort(-weights, axis=1)
    wanted = mass * weights.sum(axis=1, keepdims=True)
    return int(((np.cumsum(ordered, axis=1) - ordered < wanted - 1e-9) & (ordered > 0)).sum())


def two_lists() -> dict[str, Any]:
    """Both sides, and lines for a share of each row."""
    queries, keys = LABELS["target"], LABELS["source"]
    return {"queries": queries, "keys": keys, "says": Has(f"{n_kept(PATTERN, MASS)} lines")}


def two_sides() -> dict[str, Any]:
    """A query's row, and the column of a key that was clicked."""
    source, target = LABELS.values()
    best, reader = int(PATTERN[QUERY].argmax()), int(PATTERN[:, 0].argmax())
    row = f"{target[QUERY]} attends to: {source[best]} {PATTERN[QUERY, best]:.3f}"
    says = [Has(row), Has(f"What attends to {source[0]}: {target[reader]} ")]
    words = [[{"label": word} for word in side] for side in (source, target)]
    return {"parts": [{"says": x, "words": y} for x, y in zip(says, words, strict=True)]}


def alone() -> Part:
    """With nothing to compare with."""
    made_up = attention(view="compare")
    why = {"compare": "there is one head alone."}
    views = [{**view, "why": why.get(view["name"])} for view in made_up.spec["views"]]
    return replace(made_up, spec={**made_up.spec, "views": views})


def emptied(**settings: object) -> Part:
    """Two rows may attend to nothing, as with padding on the left."""
    record, *rest = two_streams().attention
    mask, pattern = record.mask.copy(), record.pattern.copy()
    mask[:2], pattern[:, :2] = False, 0
    records = (replace(record, mask=mask, pattern=pattern), *rest)
    trace = replace(two_streams(), attention=records)
    return attention(trace, attention="source.attn", **settings)


# --- a sink that is hidden ------------------------------------------------------------------------

SENTENCE = "Lily saw a big red ball, and Lily gave the ball to Tom."
LAYER, HEAD = 3, 4
HIDDEN = "Hatched: the first token, hidden by choice. Its weights are what they are"
FIRST = "(first token left out)"


def sunk(**changes: object) -> Part:
    """The head with the sink hidden, unless it is to be shown."""
    settings = {"layer": LAYER, "head": HEAD, "hide_first": True, **changes}
    chosen = made.attention_settings(**settings)
    return attention_part(stories_trace(SENTENCE), "a key", "stories", chosen)


def weights(head: int = HEAD) -> np.ndarray:
    """The weights of a head as the trace has them, in float64."""
    return stories_trace(SENTENCE).attention[LAYER].pattern[head].astype(float)


def without_first(values: np.ndarray) -> np.ndarray:
    """With nothing on the first key."""
    return np.where(np.arange(len(values)) == 0, 0, values)


def true_sums() -> dict[str, Any]:
    """What bars say: of each row its entropy, of the first column its sum."""
    pattern, labels = weights(), token_labels(stories_trace(SENTENCE).tokens)
    logs = np.log2(pattern, out=np.zeros_like(pattern), where=pattern > 0)
    bits = [digits(x, 2) for x in -(pattern * logs).sum(axis=1)]
    said = [f"{label}: row entropy {x} bits" for label, x in zip(labels, bits, strict=True)]
    said += [f"{labels[0]}: total attention received {digits(pattern[:, 0].sum(), 2)};"]
    return {"legend": Has(HIDDEN), "map": {"bars": dict(enumerate(map(Has, said)))}}


def strongest() -> dict[str, Any]:
    """The largest of a layer's mean that is left."""
    labels = token_labels(stories_trace(SENTENCE).tokens)
    mean = stories_trace(SENTENCE).attention[LAYER].pattern.mean(axis=0)
    left = without_first(mean * (1 - np.eye(len(mean))))
    row, column = np.unravel_index(left.argmax(), left.shape)
    pair = f"{labels[row]} attends to {labels[column]} {digits(left[row, column], 3)};"
    says = Has(f"Strongest pairs (first token and self left out): {pair}")
    return {"says": Has("Rows sum to one."), "maps": [{"says": says}]}


def mean_difference() -> dict[str, Any]:
    """From another head, over what is not masked."""
    delta = np.abs(weights() - weights(head=0))
    mean = digits(delta[np.tri(len(delta), dtype=bool)].mean())
    largest = Has("Largest absolute differences (first token and self left out): ")
    return {"says": Has(f"over cells not masked: {mean}."), "maps": {2: {"says": largest}}}


def shaded(row: np.ndarray, chosen: int) -> list[dict[str, Any]]:
    """Words of a row whose first is hidden: numbers at its largest three, and from 0.05 on."""
    left = without_first(row)
    number = {i: digits(left[i], 2 if left[i] >= 0.01 else 3) for i in np.argsort(-left)[:3]}
    number |= {i: digits(x, 2) for i, x in enumerate(left) if x >= 0.05}
    shares = np.rint(255 * weight_shares(left, palette("light"))) / 255
    colors = np.rint(along(palette("light").sequential, shares)).astype(int).tolist()
    states = {0: ["blank"], chosen: ["chosen"]}
    states |= {key: ["masked"] for key in range(chosen + 1, len(row))}
    words = enumerate(token_labels(stories_trace(SENTENCE).tokens))
    return [
        {"label": word, "number": number.get(i), "is": states.get(i, []),
         "shade": "rgb({}, {}, {})".format(*colors[i])}
        for i, word in words
    ]  # fmt: skip


def one_token() -> dict[str, Any]:
    """Its row, whose first word is hidden."""
    title = Has(f"largest {FIRST} {digits(weights()[8, 1:].max(), 3)}")
    row = {"title": title, "says": Has(f" {FIRST}: "), "words": shaded(weights()[8], chosen=8)}
    return {"says": Has(HIDDEN), "parts": {0: row}}


def in_a_chat(**settings: object) -> Part:
    """A chat of five who wrote it."""
    return attention_part(made.chat(), "a key", "stories", made.attention_settings(**settings))


def told_on_a_map() -> dict[str, Any]:
    """Who wrote what, beside both axes, and of the cell."""
    n = len(made.chat().tokens)
    own = (("template", 0, 1), ("system", 2, 2), ("user", 3, 4), ("assistant", 5, n - 1))
    bands = [[*band, getattr(palette("light"), f"by_{band[0]}")] for band in own]
    cell = {"title": Has("query 5 (assistant), key 1 (template, special token), pinned")}
    special = 2 * [token_labels(made.chat().tokens)[1]]
    return {"map": {"roles": {"rows": bands, "columns": bands}, "special": special}, "cell": cell}


def told_in_a_row() -> dict[str, Any]:
    """The looks of its words."""
    first = {0: {"is": ["by-template"]}, 1: {"is": ["by-template", "special"], "title": "template, "
             "special token"}, 3: {"is": ["by-user", "chosen"], "title": "user"}}  # fmt: skip
    return {"parts": {0: {"words": first}}}


def hidden() -> dict[str, Any]:
    """What is said below."""
    return {"says": Has(HIDDEN)}


def share() -> dict[str, Any]:
    """Of what the lines are one."""
    left = f"{n_kept(without_first(weights()), 0.8)} lines."
    of = "80 % of its weight on all but the first token, which is hidden by choice"
    return {"says": Has(f"{of}: {left}")}


ATTENTION = {
    "attention: arrow keys move in the grid that has the focus": Row(
        part(attention), arrows, lambda: {"title": "Target cross-attention L1 H1"},
        lambda: {"attention": CROSS, "layer": 1, "head": 1}),
    "attention: a view that does not apply is not opened, and says why": Row(
        part(alone),
        lambda gallery: gallery.get_by_title("there is one head alone.").click(force=True),
        lambda: {"tab": "Step by step", "why": "Compare: there is one head alone."}),
    "attention: lines between two streams": looked(
        attention, two_lists, attention=CROSS, view="lines", head=1, mass=MASS),
    "attention: another key's column beside the same row": looked(
        attention, two_sides, first_key,
        attention=CROSS, view="sentence", head=1, token=QUERY),
    "attention: rows that may attend to nothing are not said to sum to one": looked(
        emptied, lambda: {"does": Has("sum to one. Of 2 rows that may attend to nothing, zeros.")}),
    "attention: nor are they in a mean": looked(
        emptied, lambda: {"says": Has("Rows sum to one. 2 may attend to nothing and are zero.")},
        view="summary"),
    "attention: sums and entropy are of the true weights": looked(sunk, true_sums),
    "attention: the strongest is looked for where the words say": looked(
        sunk, strongest, view="summary"),
    "attention: a mean says that its first key is hidden": looked(sunk, hidden, view="summary"),
    "attention: compared weights are the true ones": looked(
        sunk, mean_difference, view="compare", other=[LAYER, 0]),
    "attention: a difference says so, too": looked(sunk, hidden, view="compare", other=[LAYER, 0]),
    "attention: lines say of what they are a share": looked(sunk, share, view="lines", mass=0.8),
    "attention: one token names the largest of the rest": looked(
        sunk, one_token, view="sentence", token=8),
    "attention: who wrote what stands beside a map": looked(in_a_chat, told_on_a_map, cell=[5, 1]),
    "attention: who wrote each word of a row": looked(
        in_a_chat, told_in_a_row, view="sentence", token=3),
    "attention: who wrote what stands beside lines": looked(
        in_a_chat,
        lambda: {"roles": 2 * ["tokens 0 to 1: template", "tokens 2 to 2: system",
                               "tokens 3 to 4: user",
                               f"tokens 5 to {len(made.chat().tokens) - 1}: assistant"]},
        view="lines"),
    "attention: what attends to the first token is hidden": looked(
        sunk, lambda: {"parts": {1: {"title": Has("hidden by choice")}}},
        view="sentence", token=0),
}  # fmt: skip
