"""Protects the lesson Order: what it prints is what two orders do, with a mask and without."""

import re

import numpy as np

from tests.viz.apps import TOM, chart, open_page
from tests.viz.builders import numbers, scheme_model, trace_of

DOG = "dog bites man"


def test_where_nothing_differs_the_map_says_so() -> None:
    titles = chart(open_page("Order", sentence=TOM, order_text=DOG), "order-open").layout
    said = [title["text"] for title in titles["annotations"]]
    assert said == ["one order", "the other order", "difference = 0, but for rounding"]


def test_show_me_has_one_token_twice_whose_rows_are_the_same() -> None:
    app = open_page("Order", sentence=TOM)
    (link,) = [x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body]
    (text,) = {x.replace("+", " ") for x in re.findall('order_text=([^"&]*)', link)}
    tokens = trace_of(scheme_model("none"), text).ids.tolist()
    twice = [i for i, token in enumerate(tokens) if tokens.count(token) > 1]
    assert len(twice) >= 3
    shown = open_page("Order", sentence=TOM, order_text=text)
    first = numbers(chart(shown, "order-open").data[0]["z"])
    same = [i for i in twice if tokens[i] == tokens[twice[0]]]
    np.testing.assert_allclose(first[same], first[[same[0]] * len(same)], atol=1e-5)
