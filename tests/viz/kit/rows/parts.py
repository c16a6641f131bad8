"""All parts but Home, with what each should read worked out from its arrays."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from playwright.sync_api import expect

import headlight as hl
from tests.model.builders import softmax
from tests.screen import HOSTILE
from tests.viz.builders import stories_trace
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made, made_up
from tests.viz.kit.rows import Has, Row, click, keys, nothing, part
from viz.digits import digits, share
from viz.kit.part import Part
from viz.kit.parts import strip
from viz.kit.parts.attention import attention_part
from viz.kit.parts.figure import figure_part
from viz.kit.parts.forming import forming_part
from viz.kit.parts.home import home_part
from viz.kit.parts.rotation import Rotation, rotation_part
from viz.kit.parts.sentence_box import Said, sentence_part
from viz.kit.parts.writing import WrittenText, writing_part
from viz.kit.sampling import distribution_of
from viz.labels import token_labels
from viz.theme import LIGHT

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
    line = f"softmax: row 1, column 1 e2.121e2.121+e0={said[0][0]}"
    return {"line": line, "tables": {6: {"title": "softmax", "rows": said}}}


def paint(gallery: Gallery) -> None:
    """From the first key of a query over three more."""
    gallery.point_at("heatMap", 4, 0)
    gallery.mouse.down()
    gallery.point_at("heatMap", 4, 3)
    gallery.mouse.up()


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
    return figure_part(str(figure.to_json()), 300, **about, is_clickable=True)


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


LOGITS = np.random.default_rng(5).normal(size=40).astype(np.float32)
ORDER = np.argsort(-LOGITS, kind="stable")
KEPT = 7


def writing(drawn: int | None = None) -> Part:
    """A distribution over forty tokens of which seven are kept."""
    tokens, before = ["Once", " upon", " a", " a"], [math.nan, 0.5]
    text = WrittenText(tokens, made.writing_steps(2), before, {}, "L0 H0", False, "")
    words = [f"w{i}" for i in range(len(LOGITS))]
    shown = distribution_of("a place", 4, LOGITS, words, drawn=drawn)
    return writing_part("a key", text, [shown], made.writing_settings(top_k=KEPT))


@cache
def recorded() -> Part:
    """A text of six new tokens that nobody can be asked for more of."""
    part = hl.open("stories", device="cpu")("Once upon a time").writing_view(6, seed=7)
    return replace(part, answers=None)


def hottest(gallery: Gallery) -> None:
    """The fourth new token, at the highest temperature."""
    n_prompt = recorded().spec["n_prompt"]
    gallery.get_by_label("Text", exact=True).get_by_role("button").nth(n_prompt + 3).click()
    gallery.press("End", "Temperature")


def likeliest() -> dict[str, Any]:
    """What is drawn from there: at temperature 3, of 0.95 of the mass."""
    part = recorded()
    n_prompt = part.spec["n_prompt"]
    logits = part.arrays["logits"][n_prompt + 3 - 1].astype(float) / 3  # the first is of token 1
    probs = np.sort(softmax(logits))[::-1]
    kept = probs[: int(np.searchsorted(np.cumsum(probs), 0.95)) + 1]
    new = {
        n_prompt + i: {
            "label": part.spec["labels"][n_prompt + i],
            "is": ["new", "chosen"] if i == 3 else ["new"],
        }
        for i in range(6)
    }
    first = {"after": float(kept[0] / kept.sum()), "canPick": False}
    bars = {"rows": {0: first, 11: {"canPick": False}}}
    return {"text": new, "distribution": {"bars": bars}, "acts": ["To the next token"]}


def mass_in_words() -> str:
    """What the curve says: what is removed, and the mass up to there before that."""
    probs = np.sort(softmax(LOGITS.astype(np.float64)))[::-1]
    mass = share(float(probs[:KEPT].sum()))
    removed = f"Ranks after {KEPT} are removed; up to it the mass is {mass}."
    return f"Cumulative mass by rank at this temperature. {removed}"


# --- rotation, digit pad, strip -------------------------------------------------------------------

FIRST = np.array([[1.0, 2], [3, -1], [0.5, 0.25]])
SECOND = np.array([[0.75, -1], [2, 1.5], [-1, 4]])
TURNS = np.array([1.0, 0.1, 0.01])


def rotation() -> Part:
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
def digit_pad() -> Part:
    """The same part each time: its picture is noise."""
    return made.digit_pad()


def patch_weights() -> list[float]:
    """What the first head gives the patches from the third of them."""
    return digit_pad().shared["rows"].array[3][0, 0, 1:].tolist()


WAYS = {"tokens": "Tokens", "embed": "E", "layer": "Attention", "end": "Next", "called": "next"}


def line() -> Part:
    """The shipped model in a line; its last token is the name of no page."""
    return strip.at(strip.strip_part(stories_trace(made.TEXT)), WAYS, "layer", "decoder.attn.3")


ROLES = ["system", "user", "assistant", "chat template"]


def chat_read() -> list[dict[str, Any]]:
    """How the tokens of `made.chat` look."""
    labels = token_labels(made.chat().tokens)
    marks = [["by-template"], ["by-template", "special"], ["by-system"], *2 * [["by-user"]]]
    marks += [["by-assistant"]] * (len(labels) - len(marks))
    return [{"label": label, "is": is_so} for label, is_so in zip(labels, marks, strict=True)]


def written_in_a_chat() -> Part:
    """Two tokens of a prompt, and two that the model wrote."""
    part = made.written(2)
    return part.saying({**part.spec, "looks": ["user", "template special"]})


def chat_line() -> dict[str, Any]:
    """Its tokens with who wrote them, in words too."""
    tokens = chat_read()
    tokens[1]["title"] = "token 1, template, special token"
    return {"tokens": tokens, "roles": "".join(ROLES)}


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
        part(digit_pad),
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
    "mask_editor: a cell that is hidden is told, and said": Row(
        part(made.mask_editor),
        keys("Home Enter", "Pattern of L1 H2"),
        lambda: {
            "changed": "1 cell changed: “.” no longer attends to “The”.",
            "cell": "“The” is hidden from “.” (edited)",
            "map": {"marked": [5, 0, True]},
            "next": {"rows": [{"label": "He", "before": 0.25, "after": 0.5}]},
        },
        lambda: {"edits": "5-0"},
    ),
    "mask_editor: painting gives every cell the first one's state": Row(
        part(made.mask_editor, settings={"edits": "4-1"}),
        paint,
        lambda: {"changed": Has("4 cells changed")},
        lambda: {"edits": "4-0.4-1.4-2.4-3"},
    ),
    "mask_editor: a token is never markup, and no number is said": Row(
        part(
            made.mask_editor,
            settings={"edits": "3-1"},
            stream={"labels": [HOSTILE] * 6, "axis": ["x"] * 6},
            bars=[{"label": HOSTILE, "before": 0.5, "after": None}],
        ),
        nothing,
        lambda: {
            "changed": Has(f"“{HOSTILE}” no longer attends to “{HOSTILE}”"),
            "next": {"rows": [{"label": HOSTILE, "number": "0.5000 → not a number"}]},
        },
    ),
    "pickers: another one is chosen": Row(
        part(made.lists),
        lambda gallery: gallery.get_by_label("Layer").select_option("The first"),
        lambda: {"layer": "The first"},
        lambda: {"layer": "a"},
    ),
    "rotation: both are moved": Row(
        part(rotation),
        keys("ArrowRight ArrowRight", "Move both"),
        lambda: turned(3, 7),
        lambda: {"first": 3, "second": 7},
    ),
    "rotation: positions outside are brought inside, and no model's own score is said": Row(
        part(rotation, settings={"first": 1000, "second": -3}),
        lambda gallery: expect(gallery.get_by_label("Move both")).to_be_disabled(),
        lambda: {"first": "50", "second": "0", "both": "50 and 0", "actual": None},
    ),
    "writing: the mass said is that of all that are kept": Row(
        part(writing),
        nothing,
        lambda: {
            "distribution": {"curve": mass_in_words(), "remaining": Has(f"{KEPT} of ")},
            "order": [["Temperature", "1.00"], ["Top-k", "7"], ["Top-p", "1.00"], ["Min-p", "off"]],
        },
    ),
    "writing: a token that was drawn stands below the likeliest": Row(
        part(lambda: writing(int(ORDER[30]))),
        nothing,
        lambda: {"rows": [{"label": f"w{i}"} for i in (*ORDER[:11], ORDER[30])]},
        at="distribution.bars",
    ),
    "writing: a step that is recorded follows the sliders": Row(
        part(recorded), hottest, likeliest, lambda: {"temperature": 3}
    ),
    "sentence_box: a text of two lines": Row(
        part(lambda: sentence_part(Said("Tom"), has_caret=False, label="Your text")),
        keys("End ! Shift+Enter x", "Your text"),
        lambda: {"label": "Your text", "sentence": "Tom!\nx"},
        lambda: {"sentence": "Tom!\nx"},
    ),
    "sentence_box: markup is text": Row(
        part(lambda: sentence_part(Said(f"</textarea>{HOSTILE}"), has_caret=False)),
        nothing,
        lambda: {"sentence": f"</textarea>{HOSTILE}"},
    ),
    "writing: in a chat what is new is the assistant's": Row(
        part(written_in_a_chat),
        nothing,
        lambda: {
            "text": [
                {"is": ["by-user"]},
                {"is": ["by-template", "special"]},
                {"is": ["by-assistant", "new"]},
                {"is": ["by-assistant", "new", "noted"]},
            ],
            "roles": ROLES[1:],
            "map": {
                "special": ["upon"],
                "roles": {
                    "rows": [["assistant", 0, 1, LIGHT.by_assistant]],
                    "columns": [
                        ["user", 0, 0, LIGHT.by_user],
                        ["template", 1, 1, LIGHT.by_template],
                        ["assistant", 2, 2, LIGHT.by_assistant],
                    ],
                },
            },
        },
    ),
    "strip: who wrote each token of a chat": Row(
        part(lambda: strip.at(strip.strip_part(made.chat()), WAYS, "layer", "decoder.attn.3")),
        nothing,
        chat_line,
    ),
    "home: who wrote each token of a chat": Row(
        part(lambda: home_part(made.chat(), [f"w{i}" for i in range(4096)])),
        nothing,
        lambda: {"tokens": dict(enumerate(chat_read()[:-1])), "roles": ROLES},
    ),
    "strip: the part it is about is lit, and each is named": Row(part(line), nothing, line_read),
}
