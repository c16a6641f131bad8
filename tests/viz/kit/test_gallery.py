"""Protects what a person reads after a gesture: words as spoken, numbers as drawn, no class."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from model.decoding.filters import Sampling
from tests.model.builders import softmax
from tests.screen import HOSTILE, MARKUP
from tests.viz.builders import stories_trace
from tests.viz.kit.gallery import Gallery, near
from tests.viz.kit.parts import made, made_up
from viz.digits import digits
from viz.kit.part import Part
from viz.kit.parts import strip
from viz.kit.parts.attention import attention_part
from viz.kit.parts.figure import figure_part
from viz.kit.parts.forming import forming_part
from viz.kit.parts.home import Going, going_on, home_part
from viz.kit.parts.rotation import Rotation, rotation_part
from viz.kit.parts.sampling import WrittenText, sampling_part
from viz.kit.parts.sentence_box import sentence_part
from viz.kit.sampling import distribution_of

KIT = Path("viz/kit")
Hand = Callable[[Gallery], object]


@dataclass(frozen=True)
class Row:
    """Something that is shown, what a hand does to it, and what it reads and has sent then.

    Of what it reads and has sent, only what is named here counts; `at` leads to a mark within it.
    """

    shows: Hand
    hand: Hand
    reads: Callable[[], Any]
    sends: Callable[[], dict[str, Any]] = dict
    at: str = ""


def part(make: Callable[[], Part], **changes: object) -> Hand:
    """Show a part."""
    return lambda gallery: gallery.show(make(), **changes)


def mark(module: str, **given: object) -> Hand:
    """Show a mark alone."""
    return lambda gallery: gallery.mark(module, **given)


def nothing(_: Gallery) -> None:
    """Only look."""


def keys(pressed: str, on: str) -> Hand:
    """Press keys on what has a name."""
    return lambda gallery: gallery.press(pressed, on)


def click(text: str) -> Hand:
    """Click what says this."""
    return lambda gallery: gallery.locator("text, rect").filter(has_text=text).last.click()


# --- marks, on numbers that are distinct or odd ---------------------------------------------------

WEIGHTS = np.random.default_rng(3).permutation(12).reshape(3, 4) / 20
UNIT = {"name": "weight", "low": 0, "high": 1}
TITLES = {"rowTitle": "query", "columnTitle": "key", "scale": UNIT}


def numbers(values: np.ndarray) -> dict[str, Any]:
    """A matrix as the kit has it; what is no number is None."""
    flat = [float(x) if math.isfinite(x) else None for x in values.ravel()]
    return {"rows": values.shape[0], "columns": values.shape[1], "values": flat}


def map_of(values: np.ndarray, rows: list[str], columns: list[str], **more: object) -> Hand:
    """A heat map alone."""
    labels = {"rowLabels": rows, "columnLabels": columns}
    return mark("heatmap", values=numbers(values), **labels, **TITLES, **more)


BARS = {
    axis: [{"share": (i + 1) / 5, "tip": f"{axis} {i}"} for i in range(n)]
    for axis, n in (("rows", 3), ("columns", 4))
}
BARRED = map_of(WEIGHTS, list("abc"), list("wxyz"), sides=BARS)
ODD = map_of(
    np.array([[np.nan, np.inf], [0.25, 1]]),
    ["&lt;b&gt;", "$x$"],
    ["é" * 40, "שלום"],
    hidden=[0, 0, 0, 1],
)
MANY = np.arange(3600).reshape(60, 60) / 3600
LONG = map_of(MANY, [str(i) for i in range(60)], [str(i) for i in range(60)])


def tiles(layers: int, heads: int, size: int, framed: tuple[int, int] | None) -> Hand:
    """Small maps of a group whose every cell differs from its neighbours."""
    levels = [(7 * i) % 250 + 3 for i in range(layers * heads * size * size)]
    tiles = {"shape": [layers * heads, size, size], "bytes": levels}
    heads_of = {"n_layers": layers, "n_heads": heads, "tiles": tiles}
    return mark("grid", heads=heads_of, framed=framed)


TOKENS = [
    {"label": HOSTILE, "before": 0.5, "after": 1, "number": "1", "canPick": True, "sign": "★ "},
    {"label": "b", "before": 0.1, "after": 0, "lost": 0.2, "number": "removed", "isCut": True},
]
PAIR = {"rows": ["one", HOSTILE], "columns": [HOSTILE, "b"]}
CUT = "<img src=x>$x$**b…"
CURVE = {"data": [{"name": "<b>", "x": [0, 1], "y": [None, 3]}], "layout": {}, "height": 90}

MARKS = {
    "heatmap: a bar below picks its own column": Row(
        BARRED,
        click("columns 3"),
        lambda: {"bars": [*(f"rows {i}" for i in range(3)), *(f"columns {i}" for i in range(4))]},
        lambda: {"column": [3]},
    ),
    "heatmap: a bar beside picks its own row": Row(
        BARRED,
        click("rows 1"),
        lambda: {"values": WEIGHTS.tolist(), "rows": list("abc"), "columns": list("wxyz")},
        lambda: {"row": [1]},
    ),
    "heatmap: what is hidden or no number is not drawn, and labels are text": Row(
        ODD,
        nothing,
        lambda: {"values": [[None, None], [0.25, None]], "rows": ["<b>", "$x$"], "marked": None},
    ),
    "heatmap: of many rows all are drawn": Row(LONG, nothing, lambda: {"values": MANY.tolist()}),
    "grid: a thousand heads, and an arrow key": Row(
        tiles(32, 32, 4, (3, 31)),
        lambda gallery: (gallery.locator("svg").focus(), gallery.press("ArrowDown")),
        lambda: {"layers": 32, "heads": 32, "framed": [3, 31]},
        lambda: {"step": [[1, 0]]},
    ),
    "grid: one head, and none is framed": Row(
        tiles(1, 1, 1, None),
        nothing,
        lambda: {"layers": 1, "heads": 1, "framed": None, "words": ["L0", "H0"]},
    ),
    "strips: a colour and a bar for each number": Row(
        mark("strips", values=[-1, 0.5, None], marked=1),
        nothing,
        lambda: {"strip": [-1, 0.5, math.nan], "bars": [-1, 0.5, None]},
    ),
    "bars: each is as long as it says, and a key picks one": Row(
        mark("bars", rows=TOKENS, title="title", most=2),
        lambda gallery: (gallery.get_by_role("button").first.focus(), gallery.press("Enter")),
        lambda: {
            "says": f"title. {HOSTILE}: 1; b: removed.",
            "rows": [
                {"says": f"★ {HOSTILE}", "before": 0.5, "after": 1, "lost": 0, "isCut": False},
                {"says": "b", "before": 0.1, "after": 0, "lost": 0.2, "isCut": True},
            ],
        },
        lambda: {"pick": [0]},
    ),
    "arcs: lines of the token in focus alone": Row(
        mark("arcs", **PAIR, values=numbers(np.array([[1, 0], [0.25, 0.75]])),
             kept=[[0], [0, 1]], focus={"side": "query", "at": 1}),
        lambda gallery: gallery.get_by_text("one").hover(),
        lambda: {
            "lines": [[1, 0, 0.2], [1, 1, 0.7]],
            "queries": ["one", CUT],
            "keys": [f"{CUT}  0.25", "b  0.75"],
        },
        lambda: {"look": [{"side": "query", "at": 0}]},
    ),
    "shades: each word with its weight": Row(
        mark("shades", labels=[HOSTILE, "b", "c"], weights=[0.01, 0.75, 0.24], masked=[0],
             blank=[2], chosen=1),
        click("c"),
        lambda: [
            {"label": CUT, "weight": 0.01, "number": "0.01", "isMasked": True, "isChosen": False},
            {"label": "b", "weight": 0.75, "number": "0.75", "isMasked": False, "isChosen": True},
            {"label": "c", "weight": 0, "number": None, "isOut": True},
        ],
        lambda: {"pick": [2]},
    ),
    "plot: each trace by its name": Row(
        mark("plot", figure=CURVE),
        nothing,
        lambda: {"title": None, "traces": [{"name": "<b>", "x": [0, 1], "y": [None, 3]}]},
    ),
    "table: numbers as they are said": Row(
        mark("table", name="t", words=["<b>", "about"], values=numbers(np.array([[0.5, -2]]))),
        nothing,
        lambda: {"title": "<b>", "about": "about", "rows": [["0.500", "−2.000"]]},
    ),
}  # fmt: skip

# --- attention ------------------------------------------------------------------------------------


@cache
def received(key: int) -> int:
    """The query that attends most to a key."""
    return int(stories_trace(made.TEXT).attention[0].pattern[2][:, key].argmax())


WINDOWS = "target.attn"  # its heads have masks of their own


def compared() -> Part:
    """A head with a window of two tokens against one with a window of four."""
    settings = made.attention_settings(
        attention=WINDOWS, layer=0, head=1, view="compare", against="head", other=[0, 3]
    )
    return attention_part(made_up.two_streams(), "a key", "made-up", settings)


def difference_of_windows() -> list[list[float | None]]:
    """Drawn where either head may attend."""
    record = made_up.two_streams().group(WINDOWS).records[0]
    delta = record.pattern[1].astype(float) - record.pattern[3]
    is_hidden = ~record.mask[1] & ~record.mask[3]
    return [[None if gone else x for x, gone in zip(*row, strict=True)]
            for row in zip(delta.tolist(), is_hidden.tolist(), strict=True)]  # fmt: skip


# --- by hand, circuit, figure, forming ------------------------------------------------------------


def type_three(gallery: Gallery) -> None:
    """Another number in the first cell of Q, and a look at a weight."""
    gallery.get_by_label("Q row 1, column 1").fill("3")
    gallery.locator("td").filter(has_text="0.893").first.hover()


def by_hand() -> dict[str, Any]:
    """The weights of two tokens whose keys are of one direction each."""
    weights = softmax(np.array([[3.0, 0], [0, 1]]) / math.sqrt(2))
    said = [[digits(x, 3) for x in row] for row in weights.tolist()]
    line = f"softmax: row 1, column 1 e^2.121 / (e^2.121 + e^0) = {said[0][0]}"
    return {"line": line, "tables": {6: {"title": "softmax", "rows": said}}}


def curve_in_words() -> str:
    """As the picture of F says it: every fourth point, and the last."""
    curve = made.found_circuit()[2].curve
    points = [f"{n} edges {digits(f, 2)}" for n, f in zip(curve.sizes, curve.shares, strict=True)]
    said = [p for i, p in enumerate(points) if i % 4 == 0 or i == len(points) - 1]
    return f"Share of the difference that the strongest edges keep: {', '.join(said)}."


def chart() -> Part:
    """Two bars that can be clicked."""
    figure = go.Figure(go.Bar(x=["a", "<i>"], y=[1, 2.5]), {"title": "Two bars"})
    about = {"name": "bars", "alt": "Two bars, in words.", "image_format": "png"}
    return figure_part(figure.to_json(), 300, **about, is_clickable=True)


def difference() -> Part:
    """Step 30 of a training minus step 7."""
    settings = {"step": 30, "against": 7, "head": "1.2"}
    return forming_part(made.forming_frames(), settings, key="a key")


def since() -> str:
    """Of its third token to its second, in words."""
    frames = made.forming_frames()
    now, before = (frames.patterns[i].astype(np.float32)[1, 2, 2, 1] for i in (2, 1))
    change = float(now - before)
    return f"a attends to <b>: {'+' if change > 0 else ''}{digits(change)} since step 7"


# --- home and sampling ----------------------------------------------------------------------------

U = 0.7  # the random number that Home draws by
N_NEXT = 8  # rows of Home's list, as in layout.js


@cache
def home() -> Part:
    """A run of an untrained model, whose words are their ids."""
    trace, *_ = made.found_circuit()
    part = home_part(trace, [f"w{i}" for i in range(trace.logits.shape[-1])], key="a key")
    return part.saying(going_on(part.spec, Going(why_no_more=None)))


@cache
def home_chance() -> tuple[np.ndarray, np.ndarray]:
    """Ids from the likeliest on, and their probabilities."""
    trace, *_ = made.found_circuit()
    probs = softmax(trace.logits[-1].astype(np.float64) / Sampling().temperature)
    order = np.argsort(-probs, kind="stable")
    return order, probs[order]


def step(gallery: Gallery) -> None:
    """One token is drawn, and flies off; Python is not there to go on with it."""
    gallery.evaluate("u => { Math.random = () => u; }", U)
    gallery.get_by_role("button", name="Step").click()
    gallery.wait_for_function("model.get('state').appended")


def slices() -> list[float]:
    """Where each of the likeliest, and the rest, begins on the bar of length one."""
    _, probs = home_chance()
    return np.concatenate([[0], np.cumsum(probs)])[: N_NEXT + 1].tolist()


def landed() -> list[int]:
    """How long the text was, and the token on whose slice the number falls."""
    order, probs = home_chance()
    n_tokens = len(made.found_circuit()[0].tokens)
    return [n_tokens, int(order[np.searchsorted(np.cumsum(probs), U)])]


LOGITS = np.random.default_rng(5).normal(size=40).astype(np.float32)
ORDER = np.argsort(-LOGITS, kind="stable")
KEPT = 7


def writer(drawn: int | None = None) -> Part:
    """A distribution over forty tokens of which seven are kept."""
    tokens, before = ["Once", " upon", " a", " a"], [math.nan, 0.5]
    text = WrittenText(tokens, made.writer_steps(2), before, {}, "L0 H0", False, "")
    words = [f"w{i}" for i in range(len(LOGITS))]
    shown = distribution_of("a place", 4, LOGITS, words, drawn=drawn)
    return sampling_part("a key", text, [shown], made.writer_settings(top_k=KEPT))


def mass_in_words() -> str:
    """What the curve says: its cut, and the mass up to there before the cut."""
    probs = np.sort(softmax(LOGITS.astype(np.float64)))[::-1]
    mass = digits(float(probs[:KEPT].sum()), 3)
    cut = f"The cut is after rank {KEPT}, where the mass is {mass}."
    return f"Cumulative mass by rank at this temperature. {cut}"


# --- rotation, the pad, the strip -----------------------------------------------------------------

FIRST = np.array([[1.0, 2], [3, -1], [0.5, 0.25]])
SECOND = np.array([[0.75, -1], [2, 1.5], [-1, 4]])
TURNS = np.array([1.0, 0.1, 0.01])


def rotor() -> Part:
    """Three pairs, no two alike."""
    hands = Rotation("wave", FIRST, SECOND, TURNS, 2.0, 50, ("first", "second"))
    return rotation_part("a key", hands, {"first": 1, "second": 5})


def turned(m: int, n: int) -> dict[str, Any]:
    """As complex numbers: the first turned by m positions, the second by n."""
    a, b = ((side @ [1, 1j]) * np.exp(1j * TURNS * at) for side, at in ((FIRST, m), (SECOND, n)))
    longest = np.abs([*(FIRST @ [1, 1j]), *(SECOND @ [1, 1j])]).max()
    ends = [{"first": [x.real, x.imag], "second": [y.real, y.imag]}
            for x, y in zip(a / longest, b / longest, strict=True)]  # fmt: skip
    return {
        "numbers": {"score": float((a * b.conj()).real.sum() / 2), "distance": m - n},
        "hands": [{name: rounded(end) for name, end in hand.items()} for hand in ends],
        "chart": {"traces": {1: {"x": [m - n]}}},
        "both": f"{min(m, n)} and {max(m, n)}",
    }


def rounded(end: list[float]) -> list[Any]:
    """A place that is written to a hundredth of a pixel, of forty."""
    return [pytest.approx(x, abs=0.005 / 40 + 1e-6) for x in end]


@cache
def pad() -> Part:
    """The same part each time: its picture is noise."""
    return made.pad()


def patch_weights() -> list[float]:
    """What the first head gives the patches from the third of them."""
    return pad().shared["rows"].array[3][0, 0, 1:].tolist()


WAYS = {"tokens": "Tokens", "embed": "E", "layer": "Attention", "end": "Next", "called": "next"}


def line() -> Part:
    """The shipped model in a line; its last token is the name of no page."""
    return strip.at(strip.strip_part(stories_trace(made.TEXT)), WAYS, "layer", "decoder.attn.3")


def line_read() -> dict[str, Any]:
    """The parts that are named, where each leads, and the tokens."""
    n_layers = len(stories_trace(made.TEXT).attention)
    parts = [{"name": f"Layer {i}", "isLit": i == 3} for i in range(n_layers)]
    tokens = [{"label": token.strip()} for token in stories_trace(made.TEXT).tokens]
    return {"parts": {2 + i: part for i, part in enumerate(parts)}, "tokens": tokens}


PARTS = {
    "attention: a key's bar opens the query that attends to it most": Row(
        part(lambda: made.attention(head=2)),
        click("animal: total attention received"),
        lambda: {"marked": [received(1), 1, True]},
        lambda: {"cell": [received(1), 1]},
        at="view.heatMap",
    ),
    "attention: a difference is hidden where both heads are": Row(
        part(compared),
        nothing,
        lambda: {"view": {"maps": {2: {"values": difference_of_windows()}}}},
    ),
    "by_hand: a cell that is typed changes every step": Row(
        part(made.by_hand), type_three, by_hand, lambda: {"cells": "3,0;0,1|1,0;0,1|1,0;0,1|"}
    ),
    "circuit: the curve says its last point": Row(
        part(lambda: made.circuit(edges=60)), nothing, lambda: {"curve": curve_in_words()}
    ),
    "digit_pad: an arrow key looks from the patch in the middle": Row(
        part(pad),
        keys("ArrowDown", "The picture under the weights"),
        lambda: {
            "title": "L0 H0, from patch 1,0",
            "picture": {"weights": patch_weights(), "framed": [1, 0]},
        },
    ),
    "figure: its bars, and where it is clicked": Row(
        part(chart),
        lambda gallery: gallery.locator(".point").nth(1).click(force=True),
        lambda: {
            "says": "Two bars, in words.",
            "title": "Two bars",
            "traces": [{"x": ["a", "<i>"], "y": [1, 2.5]}],
        },
        lambda: {"picked": {"x": "<i>", "y": 2.5}},
    ),
    "forming: a change is since the other step": Row(
        part(difference),
        lambda gallery: gallery.point_at("map", 2, 1),
        lambda: {"cell": since()},
    ),
    "home: the needle stops where the number falls": Row(
        part(home),
        step,
        lambda: {"chance": {"needle": U, "slices": slices()}},
        lambda: {"appended": landed()},
    ),
    "mask_editor: a cell that is hidden is told, and said": Row(
        part(made.editor),
        keys("Home Enter", "Pattern of L1 H2"),
        lambda: {
            "changed": "1 cell changed: “.” no longer attends to “The”.",
            "cell": "“The” is hidden from “.” (edited)",
            "map": {"marked": [5, 0, True]},
            "next": {"rows": [{"label": "He", "before": 0.25, "after": 0.5}]},
        },
        lambda: {"edits": "5-0"},
    ),
    "pickers: another one is chosen": Row(
        part(made.lists),
        lambda gallery: gallery.get_by_label("Layer").select_option("The first"),
        lambda: {"layer": "The first"},
        lambda: {"layer": "a"},
    ),
    "rotation: both are moved": Row(
        part(rotor),
        keys("ArrowRight ArrowRight", "Move both"),
        lambda: turned(3, 7),
        lambda: {"first": 3, "second": 7},
    ),
    "sampling: the mass said is that of all that are kept": Row(
        part(writer),
        nothing,
        lambda: {
            "distribution": {"curve": mass_in_words()},
            "order": [["Temperature", "1.00"], ["Top-k", "7"], ["Top-p", "1.00"], ["Min-p", "off"]],
        },
    ),
    "sampling: a token that was drawn stands below the likeliest": Row(
        part(lambda: writer(int(ORDER[30]))),
        nothing,
        lambda: {"rows": [{"label": f"w{i}"} for i in (*ORDER[:11], ORDER[30])]},
        at="distribution.bars",
    ),
    "sentence_box: a text of two lines": Row(
        part(lambda: sentence_part("Tom", has_caret=False, label="Your text")),
        keys("End ! Shift+Enter x", "Your text"),
        lambda: {"label": "Your text", "sentence": "Tom!\nx"},
        lambda: {"sentence": "Tom!\nx"},
    ),
    "strip: the part it is about is lit, and each is named": Row(part(line), nothing, line_read),
}

ROWS = MARKS | PARTS


def of(found: Any, wanted: Any) -> Any:  # noqa: ANN401
    """Of what was read only that which is named; of a list, by its places."""
    if isinstance(wanted, Mapping):
        return {name: of(_at(found, name), wanted[name]) for name in wanted}
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [of(one, its) for one, its in zip(found, wanted, strict=True)]
    return found


def _at(found: Any, name: str | int) -> Any:  # noqa: ANN401
    if isinstance(found, list) and isinstance(name, int):
        return found[name] if name < len(found) else None
    return found.get(name) if isinstance(found, Mapping) else None


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_it_reads_after_a_gesture(row: Row, gallery: Gallery) -> None:
    row.shows(gallery)
    row.hand(gallery)
    reads, sends = row.reads(), row.sends()
    assert of(gallery.read(row.at), reads) == near(reads)
    assert of(gallery.sent(), sends) == near(sends)
    assert gallery.locator(MARKUP).count() == 0


def test_each_mark_and_part_has_a_row() -> None:
    named = {name.partition(":")[0] for name in ROWS}
    assert named == {path.stem for path in [*KIT.glob("marks/*.js"), *KIT.glob("parts/*.js")]}
