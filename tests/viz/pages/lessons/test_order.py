"""Protects the lesson Order: what it prints is what two orders do, with a mask and without."""

import re

import numpy as np
import pytest

from model.analysis.order import reordered
from model.architectures.decoder import DecoderTransformer
from tests.viz.apps import TOM, chart, lesson, lines, open_page, tables_shown
from tests.viz.builders import numbers, scheme_model, stories, trace_of

DOG = "dog bites man"
KEYS = {"open": "order-open", "masked": "order-causal", "running": "order-running"}


def shown(text: str) -> dict[str, list[np.ndarray]]:
    """The three maps of each figure, (T, D) each."""
    found = {}
    for scene, key in KEYS.items():
        app = open_page("Order", sentence=TOM, order_text=text, scene=scene)
        assert lines(app, "error") == []
        found[key] = [numbers(part["z"]) for part in chart(app, key).data]
    return found


def test_without_positions_and_mask_only_the_places_of_rows_change() -> None:
    first, second, difference = shown(DOG)["order-open"]
    np.testing.assert_allclose(second[[-1, *range(1, len(first) - 1), 0]], first, atol=1e-5)
    assert np.abs(difference).max() < 1e-5
    assert np.abs(first[0] - first[-1]).max() > 0.5, "rows that are alike would show nothing"


def test_where_nothing_differs_the_map_says_so() -> None:
    titles = chart(open_page("Order", sentence=TOM, order_text=DOG), "order-open").layout
    said = [title["text"] for title in titles["annotations"]]
    assert said == ["one order", "the other order", "difference = 0, but for rounding"]


@pytest.mark.parametrize("key", ["order-causal", "order-running"])
def test_a_mask_or_positions_alone_tell_order(key: str) -> None:
    assert np.abs(shown(DOG)[key][2]).max() > 0.5


def test_the_table_says_what_tells_order() -> None:
    app = open_page("Order", sentence=TOM, order_text=DOG, scene="running")
    table = tables_shown(app)[0]
    assert table["what tells order"] == {
        "positions-none (no positions)": "its mask alone",
        "the running model (Sinusoidal)": "its positions, and its mask",
    }
    loaded = stories()
    ids = trace_of(loaded, DOG).ids.tolist()
    order = [len(ids) - 1, *range(1, len(ids) - 1), 0]
    assert isinstance(loaded.model, DecoderTransformer)
    found = reordered(loaded.model, ids, order, is_masked=True)
    printed = float(table["with its own mask"]["the running model (Sinusoidal)"])
    assert printed == pytest.approx(np.abs(found.difference).max(), abs=0.006)
    assert float(table["without a mask"]["positions-none (no positions)"]) < 1e-5


def test_show_me_has_one_token_twice_whose_rows_are_the_same() -> None:
    app = open_page("Order", sentence=TOM)
    (link,) = [x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body]
    (text,) = {x.replace("+", " ") for x in re.findall('order_text=([^"&]*)', link)}
    tokens = trace_of(scheme_model("none"), text).ids.tolist()
    twice = [i for i, token in enumerate(tokens) if tokens.count(token) > 1]
    assert len(twice) >= 3
    first = shown(text)["order-open"][0]
    same = [i for i in twice if tokens[i] == tokens[twice[0]]]
    np.testing.assert_allclose(first[same], first[[same[0]] * len(same)], atol=1e-5)


@pytest.mark.parametrize("text", [" ", "a"])
def test_too_few_words_are_said(text: str) -> None:
    app = open_page("Order", sentence=TOM, order_text=text)
    n = len(text.strip())
    assert lines(app, "error") == [
        f"Two tokens or more are needed to change places; this has {n}. Shown is still "
        "“dog bites man”."
    ]
    assert chart(app, "order-open").data


def test_what_does_not_fit_is_said() -> None:
    app = open_page("Order", sentence=TOM, order_text="the dog " * 150)
    context = stories().config.max_seq_len
    (line,) = lines(app, "note")
    assert re.fullmatch(
        rf"The text has \d+ tokens, more than the model's context of {context} tokens: the "
        r"last \d+ are cut, .*",
        line,
    )


def test_a_running_model_without_positions_stands_alone() -> None:
    app = open_page("Order", sentence=TOM, model="positions-none", scene="running")
    assert lines(app, "error") == []
    table = tables_shown(app)[0]
    assert table["what tells order"] == {"the running model (no positions)": "its mask alone"}
    app = open_page("Order", sentence=TOM, model="positions-none")
    assert "Of the running model, the rows put back differ by at most" in lesson(app)
