"""Why a head looks there: what is shown, and the row without what a hand took away."""

from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from PIL import ImageColor

from model.analysis.why.reasons import KINDS, Cell, reasons
from model.analysis.why.sentence import KINDS_SAID, looks, sentence, signed
from tests.model.builders import softmax
from tests.screen import HOSTILE
from tests.viz.builders import scheme_model, trace_of
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made
from tests.viz.kit.rows import Hand, Has, Row, nothing, part
from viz.kit.parts.why import why_part
from viz.theme import palette

SAW, TOM, FIRST_SAW, FIRST_TOM, A = 6, 5, 1, 0, 2  # the query, the key, and other keys
HINT = "A click on a word"


def titled(title: str, then: str = "") -> Hand:
    """Click the button whose title begins so, then press keys."""
    return lambda gallery: (
        gallery.locator(f"button[title^='{title}']").last.click(),
        gallery.press(then),
    )


def button(name: str) -> Hand:
    """Click the button that says this."""
    return lambda gallery: gallery.get_by_role("button", name=name).last.click()


def compare(key: int) -> Any:  # noqa: ANN401
    """Click a key of the row."""

    def act(gallery: Gallery) -> None:
        row = gallery.get_by_role("region", name="The row of weights")
        row.get_by_role("listitem").nth(key).click()

    return act


def said_here(key: int | None, than: str) -> str:
    """What is said without Python of a score that is higher than another."""
    cell = replace(made.why_cell(), other=key)
    return (
        f"{looks(cell)} Its score is higher than {than}, by {cell.score:.1f}; what raises it most "
        f"is {KINDS_SAID[cell.kind]} ({signed(cell.kinds[cell.kind])})."
    )


def near(x: float) -> Any:  # noqa: ANN401
    """A number whose terms were sent as float32."""
    return pytest.approx(float(x), abs=1e-5)


def row(without: np.ndarray | None = None, said: str = "") -> dict[str, Any]:
    """What follows: the row's bars, and the key's weight in words."""
    ran = made.why_cell().of.record.pattern[0][SAW].astype(float)
    after = np.zeros(len(ran)) if without is None else without
    bars = [{"before": near(p), "after": near(q)} for p, q in zip(ran, after, strict=True)]
    weight = f"{ran[TOM]:.2f}" + ("" if without is None else f" → {without[TOM]:.2f}")
    bars[TOM] |= {"label": "Tom (5)", "number": weight, "canPick": False}
    told = HINT if without is None else f"Without {said}, norms held: weight {weight}."
    is_taken = without is not None
    return {"row": {"follows": Has(told), "rows": bars}, "canPutBack": is_taken}


def sums(other: int | None = None) -> dict[str, Any]:
    """Whatever adds up to the score, less the mean or another key's."""
    cell = replace(made.why_cell(), other=other)
    words = cell.against(cell.words.terms)
    kinds = [
        {"value": near(cell.kinds[kind]), "number": signed(cell.kinds[kind])} for kind in KINDS
    ]
    return {
        "kinds": {"bars": kinds},
        "map": {"sums": {"columns": {-1: signed(words.sum())}}},
        "tokens": {
            "query": {SAW: told("saw (6)", "query", words[SAW].sum())},
            "key": {TOM: told("Tom (5)", "key", words[:, TOM].sum())},
        },
        "writers": {
            side: {"bars": {0: {"value": near(strongest(cell.against(by.terms)))}}}
            for side, by in zip(("query", "key"), cell.writers, strict=True)
        },
    }


def told(token: str, side: str, value: float) -> dict[str, Any]:
    """A token whose word is the side's own."""
    label, number = token.split()
    return {
        "label": label,
        "is": ["chosen"],
        "title": f"“{label}” {number} in the {side}: {signed(value)}",
    }


def fetched(head: int) -> list[int]:
    """What a head of layer 1 wrote most at the query."""
    pattern = made.why_cell().reasons.trace.attention[1].pattern
    return [SAW, int(pattern[head][SAW].argmax())]


def themed(theme: Any) -> Hand:  # noqa: ANN401
    """Show the part in a theme, compared with another key: some kinds raise, some lower."""
    show = part(lambda: made.why(other=FIRST_TOM))
    return lambda gallery: (gallery.emulate_media(color_scheme=theme), show(gallery))


def coloured(theme: str) -> dict[str, Any]:
    """What the caption says of both colours, and the colour of each bar."""
    colors = palette(theme).diverging
    blue, orange = (f"rgb{ImageColor.getrgb(colors[end])}" for end in (0, -1))
    kinds = replace(made.why_cell(), other=FIRST_TOM).kinds.values()
    return {
        "caption": Has("Orange raises the score, blue lowers it."),
        "kinds": {"bars": [{"fill": orange if score > 0 else blue} for score in kinds]},
    }


@cache
def scheme_cell(scheme: str, key: int = TOM) -> Cell:
    """A cell of a head of a model with another scheme of positions."""
    loaded = scheme_model(scheme)
    trace = trace_of(loaded, "Tom saw a dog. Tom saw")
    return reasons(trace, loaded.model, trace.attention[1].site).cell(1, SAW, key)


@cache
def blind_cell() -> Cell:
    """A cell of a head whose queries are all alike, and nothing."""
    loaded = deepcopy(scheme_model("rope"))
    loaded.model.get_submodule("blocks.1.attn.q_proj").weight.data.zero_()
    trace = loaded.trace("Tom saw a dog. Tom saw").trace
    return reasons(trace, loaded.model, trace.attention[1].site).cell(1, SAW, TOM)


def with_bias() -> dict[str, Any]:
    """It is of place, and a bar of its own beside the writers; without place it goes, too."""
    cell = scheme_cell("alibi")
    bias = float(cell.against(cell.of.added))
    after = cell.without_kind("place")
    return {
        "kinds": {"bars": [{"value": near(cell.kinds[kind])} for kind in KINDS]},
        "writers": {"query": {"bars": {-1: {"name": "bias of the scores", "value": near(bias)}}}},
        "row": {"rows": [{"after": near(p)} for p in after]},
    }


def strongest(values: np.ndarray) -> float:
    """The one that counts most, whichever its sign."""
    return float(values[np.abs(values).argmax()])


def first_writer(cell: Cell) -> int:
    """The number of the strongest writer of the key."""
    return int(np.abs(cell.against(cell.writers[1].terms)).argmax())


def bent() -> np.ndarray:
    """The row without its match, were there a soft cap of 2 and a sink of 0.5."""
    cell = made.why_cell()
    scores = (cell.apart.scores - cell.apart.terms[KINDS["match"]])[cell.of.seen]
    return softmax(np.array([*(2 * np.tanh(scores / 2)), 0.5]))[:-1]


WHY = {
    "why: all that adds up to the score": Row(
        part(made.why),
        nothing,
        lambda: {
            "says": sentence(made.why_cell()),
            "caption": Has(
                f"Each figure adds up to {signed(made.why_cell().score)}, "
                "the score less the mean of the row."
            ),
            "none": None,
            **sums(),
            **row(),
        },
    ),
    **{
        f"why: orange raises and blue lowers, {theme}": Row(
            themed(theme), nothing, partial(coloured, theme)
        )
        for theme in ("light", "dark")
    },
    "why: a pair of words is taken away": Row(
        part(made.why),
        titled("saw (6) × Tom (5)"),
        lambda: {
            **sums(),
            **row(made.why_cell().words.without(SAW, TOM), "“saw” (6) × “Tom” (5)"),
        },
        lambda: {"taken": "words:6.5"},
    ),
    "why: a key in the map takes the pair beside it away": Row(
        part(lambda: made.why(taken="words:6.5")),
        lambda gallery: (
            gallery.locator("button[title^='saw (6) × Tom (5)']").focus(),
            gallery.press("ArrowLeft Enter"),
        ),
        lambda: {"map": {"taken": [Has("saw (6) × ")]}},
    ),
    "why: a kind is taken away": Row(
        part(made.why),
        button("a match of query and key"),
        lambda: row(made.why_cell().without_kind("match"), "a match of query and key"),
        lambda: {"taken": "kind:match"},
    ),
    "why: place alone": Row(
        part(lambda: made.why(taken="kind:place")),
        nothing,
        lambda: row(made.why_cell().without_kind("place"), "place alone"),
    ),
    "why: a writer is taken away": Row(
        part(made.why),
        lambda gallery: (
            gallery.get_by_role("list", name="Who wrote the key")
            .get_by_role("button")
            .first.click()
        ),
        lambda: {
            **row(
                made.why_cell().writers[1].without(first_writer(made.why_cell())),
                "the key’s own embedding",
            ),
            "writers": {"key": {"bars": {0: {"isPicked": True}}}},
        },
        lambda: {"taken": f"key:{first_writer(made.why_cell())}"},
    ),
    "why: a word of the key by keys": Row(
        part(made.why),
        lambda gallery: (
            gallery.get_by_role("group", name="Words in the key").locator("[tabindex='0']").focus(),
            gallery.press("Home Enter"),
        ),
        lambda: {
            **row(made.why_cell().words.without(None, FIRST_TOM), "“Tom” (0) in the key"),
            "tokens": {"key": {0: {"is": ["taken"]}}},
        },
        lambda: {"taken": "words:.0"},
    ),
    "why: a second click puts it back": Row(
        part(lambda: made.why(taken="kind:match")),
        button("a match of query and key"),
        row,
        lambda: {"taken": ""},
    ),
    "why: Escape puts it back": Row(
        part(made.why),
        titled("saw (6) × Tom (5)", then="Escape"),
        lambda: {**row(), "map": {"taken": []}},
        lambda: {"taken": ""},
    ),
    "why: a button puts it back": Row(
        part(lambda: made.why(taken="query:0")),
        button("Put it back"),
        row,
        lambda: {"taken": ""},
    ),
    "why: here and not there": Row(
        part(made.why),
        compare(FIRST_SAW),
        lambda: {
            **sums(FIRST_SAW),
            "says": said_here(FIRST_SAW, "that of “saw” (1)"),
            "caption": Has("the score less that of “saw” (1): log p/p′."),
            "row": {"rows": {1: {"says": "≠ saw (1)"}}},
        },
        lambda: {"other": FIRST_SAW},
    ),
    "why: the mean again": Row(
        part(lambda: why_part(replace(made.why_cell(), other=FIRST_SAW))),
        compare(FIRST_SAW),
        lambda: {**sums(), "says": said_here(None, "the mean of the keys it may attend to")},
        lambda: {"other": None},
    ),
    "why: between equal scores nothing counts": Row(
        part(lambda: why_part(blind_cell())),
        compare(FIRST_SAW),
        lambda: {"says": f"{looks(blind_cell())} Nothing sets its score apart."},
    ),
    "why: a soft cap and a sink": Row(
        part(made.why, softcap=2.0, sink=0.5),
        button("a match of query and key"),
        lambda: {"row": {"rows": [{"after": near(p)} for p in bent()]}},
    ),
    "why: what is added to the scores": Row(
        part(lambda: why_part(scheme_cell("alibi"))), button("place alone"), with_bias
    ),
    "why: positions that add nothing to the stream have no row": Row(
        part(lambda: why_part(scheme_cell("rope", A))),
        nothing,
        lambda: {"map": {"rows": ["saw (6)", "others"]}},
    ),
    "why: a head that wrote is opened": Row(
        part(made.why),
        titled("Attention of L1 H"),
        lambda: {"canPutBack": False},
        lambda: {"attention": "decoder.attn", "layer": 1, "head": 4, "cell": fetched(4)},
    ),
    "why: settings that are not here are let go": Row(
        part(lambda: made.why(taken="words:99.", other=TOM)), nothing, lambda: {**sums(), **row()}
    ),
    "why: of place no words are shown": Row(
        part(made.why),
        compare(FIRST_TOM),
        lambda: {"tokens": None, "map": None, "none": "Place counts most: no words are shown."},
    ),
    "why: a token is never markup": Row(
        part(made.why, labels={"query": [HOSTILE] * 7, "key": [HOSTILE] * 7}),
        lambda gallery: gallery.locator(".hl-why-map button").last.click(),
        lambda: {"row": {"rows": {0: {"label": f"{HOSTILE} (0)"}}}},
    ),
}
