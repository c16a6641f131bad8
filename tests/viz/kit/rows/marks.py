"""Marks alone, on numbers that are distinct or odd."""

import math
from typing import Any

import numpy as np
from playwright.sync_api import Locator

from tests.screen import HOSTILE
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.rows import Hand, Row, click, mark, nothing
from viz.theme import LIGHT

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
CAUSAL = [0, 1, 1, 0, 0, 1, 0, 0, 0]
MANY = np.arange(3600).reshape(60, 60) / 3600
ROLES = ["system", "user", "user"]
TOLD = map_of(
    WEIGHTS,
    list("abc"),
    list("wxyz"),
    rowLooks=ROLES,
    columnLooks=["template special", "template", "", "assistant"],
)
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
ROW = mark("tokens", tokens=[
    {"label": HOSTILE, "isFixed": True, "title": "<b>"},
    {"label": "b", "is": {"new": True, "chosen": 1, "noted": None}, "number": "0.75",
     "shade": "rgb(1, 2, 3)"},
    {"label": "שלום", "is": {"masked": True}, "isFixed": True},
    {"label": "c"},
])  # fmt: skip
SIGNED = mark("signed", title="title", bars=[
    {"name": HOSTILE, "value": 2, "canPick": True, "opens": "L0 H0"},
    {"name": "b", "value": -1.04, "canPick": True, "isPicked": True},
    {"name": "c", "value": -0.04},
])  # fmt: skip
PAIR = {"rows": ["one", HOSTILE], "columns": [HOSTILE, "b"]}
CUT = "<img src=x>$x$**b…"
CURVE = {"data": [{"name": "<b>", "x": [0, 1], "y": [None, 3]}], "layout": {}, "height": 90}


def token(gallery: Gallery, label: str) -> Locator:
    """A token that can be chosen."""
    return gallery.get_by_role("button").filter(has=gallery.get_by_text(label, exact=True))


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
    "heatmap: a hatched cell that is pointed at says why": Row(
        map_of(np.tril(WEIGHTS[:, :3]), list("abc"), list("abc"), hidden=CAUSAL),
        lambda gallery: gallery.evaluate("instrument.mark(0, 2)"),
        lambda: {"why": "this word comes later"},
    ),
    "heatmap: of many rows all are drawn": Row(LONG, nothing, lambda: {"values": MANY.tolist()}),
    "heatmap: who wrote what stands beside its axes, and special labels are slanted": Row(
        TOLD,
        nothing,
        lambda: {
            "special": ["w"],
            "roles": {
                "rows": [["system", 0, 0, LIGHT.by_system], ["user", 1, 2, LIGHT.by_user]],
                "columns": [["template", 0, 1, LIGHT.by_template],
                            ["assistant", 3, 3, LIGHT.by_assistant]],
            },
        },
    ),
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
    "signed: each is as long as it says, from one line": Row(
        SIGNED,
        lambda gallery: (
            gallery.get_by_text("b", exact=True).locator("..").focus(),
            gallery.press("ArrowUp ArrowRight Enter ArrowLeft Enter"),
        ),
        lambda: {
            "says": f"title: {HOSTILE} +2.0; b −1.0; c 0.",
            "bars": [
                {"name": HOSTILE, "number": "+2.0", "share": 0.66, "opens": "L0 H0"},
                {"number": "−1.0", "share": 0.34, "isPicked": True, "opens": ""},
                {"number": "0", "share": 0.01, "canPick": False},
            ],
        },
        lambda: {"open": [0], "pick": [0]},
    ),
    "tokens: where arrow keys only walk, a key chooses": Row(
        mark("tokens", tokens=[{"label": "a"}, {"label": "b", "is": {"chosen": True}},
                               {"label": "c"}], walks=True),
        lambda gallery: (token(gallery, "b").focus(), gallery.press("ArrowLeft Enter")),
        lambda: {1: {"is": ["chosen"]}},
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
    "tokens: who wrote one and whether it is special is said, too": Row(
        mark("tokens", tokens=[{"label": "a", "look": "template special", "title": "p"},
                               {"label": "b", "look": "user"}, {"label": "c", "look": ""}]),
        nothing,
        lambda: [
            {"title": "p, template, special token", "is": ["by-template", "special"]},
            {"title": "user", "is": ["by-user"]},
            {"title": "", "is": []},
        ],
    ),
    "arcs: who wrote what stands beside the labels": Row(
        mark("arcs", **PAIR, values=numbers(np.array([[1, 0], [0.25, 0.75]])), kept=[[], []],
             focus=None, rowLooks=["user", "user"], columnLooks=["", "system special"]),
        nothing,
        lambda: {"roles": ["tokens 0 to 1: user", "tokens 1 to 1: system"]},
    ),
    "tokens: a key goes on to the next that can be chosen": Row(
        ROW,
        lambda gallery: (token(gallery, "b").focus(), gallery.press("ArrowLeft ArrowRight")),
        lambda: [
            {"label": HOSTILE, "title": "<b>", "is": [], "number": None, "shade": None},
            {"label": "b", "is": ["new", "chosen"], "number": "0.75", "shade": "rgb(1, 2, 3)"},
            {"label": "שלום", "is": ["masked"]},
            {"label": "c", "is": []},
        ],
        lambda: {"pick": [3]},
    ),
    "tokens: a click chooses, and Escape leaves": Row(
        ROW,
        lambda gallery: (token(gallery, "c").click(), gallery.press("Escape")),
        lambda: {0: {"label": HOSTILE}},
        lambda: {"pick": [3], "leave": []},
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
