"""Protects the Cost page: weights to the unit, sizes that are typed, what file and torch have."""

import numpy as np
import pytest

from model.verify.independent import IndependentRun
from tests.viz.apps import (
    TOM,
    captions,
    chart,
    facts,
    inspected,
    lines,
    open_page,
    query_of,
    tables_shown,
)
from tests.viz.builders import numbers, stories, stories_trace

GPT = {"shape": "your own", "own_positions": "1024"}


def test_known_models_stand_beside_the_running_one() -> None:
    app = open_page("Cost", sentence=TOM)
    weights = tables_shown(app)[0]
    n = sum(x.numel() for x in stories().model.parameters())
    assert weights["all"]["stories"] == f"{n:,}"
    assert weights["all"]["GPT-2 small"] == "124,439,808"
    assert weights["all"]["DeepSeek-V3"] == "671,026,419,200"
    bars = chart(app, "shares").data
    assert np.sum([numbers(bar["x"]) for bar in bars], axis=0) == pytest.approx(1)
    counted = tables_shown(app)[-1]
    assert set(counted["apart"].values()) == {"0 %"}
    passed = [line for line in captions(inspected(app, "check")) if "Check passed" in line]
    assert len(passed) == 2


def test_sizes_that_are_typed_are_counted() -> None:
    app = open_page("Cost", sentence=TOM, **GPT)
    assert facts(app)["weights of your own"] == "124,439,808"
    smaller = open_page("Cost", sentence=TOM, **(GPT | {"own_positions": "0"}), own_kind="llama")
    assert facts(smaller)["weights of your own"] != "124,439,808"
    assert query_of(smaller)["own_kind"] == ["llama"]


def test_heads_that_cannot_share_are_named_in_one_line() -> None:
    app = open_page("Cost", sentence=TOM, **GPT, own_kv_heads="5")
    assert lines(app, "note") == ["12 heads cannot share 5 KV heads evenly; counted with 4."]


@pytest.mark.parametrize("shape", ["stories", "DeepSeek-V2", "your own"])
def test_lines_are_those_of_the_independent_count(shape: str) -> None:
    app = open_page("Cost", sentence=TOM, shape=shape)
    places = {"stories": "shape.growth.6.256.8.8.32.1024.4096.0.10011",
              "DeepSeek-V2": "shapes.growth.6",
              "your own": "shape.growth.12.768.12.12.64.3072.50257.1024.21011"}  # fmt: skip
    run = IndependentRun(stories().files, stories_trace(TOM).ids)
    drawn = np.stack([numbers(line["y"]) for line in chart(app, "operations").data])
    np.testing.assert_array_equal(drawn, run.array(places[shape]))


def test_an_address_with_sizes_too_few_has_no_array() -> None:
    run = IndependentRun(stories().files, stories_trace(TOM).ids)
    with pytest.raises(ValueError, match="no array"):
        run.array("shape.parameters.1.2.3")
