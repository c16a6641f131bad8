"""Protects the lesson on cheaper attention: its figures are those of the chosen way."""

import numpy as np
import pytest

from tests.viz.apps import TOM, captions, chart, inspected, lesson, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories_trace

TITLE = "Cheaper attention"
SIZES = {"window": "3", "global": "2", "kept_rank": "5"}
HEAD = {"layer": "2", "head": "4"}


@pytest.mark.parametrize("way", ["window", "global", "linear", "low_rank"])
def test_the_chosen_way_is_drawn_beside_the_exact_weights(way: str) -> None:
    app = open_page(TITLE, sentence=TOM, cheaper=way, **SIZES, **HEAD)
    assert lines(app, "error") == []
    record = stories_trace(TOM).attention[2]
    exact = numbers(chart(app, "cheaper-exact").data[0]["z"])
    mask = record.mask_of(4)
    np.testing.assert_allclose(exact[mask], record.pattern[4][mask], atol=1e-6)
    if way == "window":
        drawn = numbers(chart(app, "cheaper-way").data[0]["z"])
        i, j = np.indices(drawn.shape)
        assert (np.isfinite(drawn) == ((j <= i) & (i - j < 3))).all()


def test_the_table_says_what_each_way_costs_and_loses() -> None:
    app = open_page(TITLE, sentence=TOM, scene="errors", **SIZES, **HEAD)
    (table,) = tables_shown(app)
    n, d = len(stories_trace(TOM).tokens), 32
    pairs = n * (n + 1) // 2
    assert table["multiplications"]["exact"] == f"{2 * d * pairs:,}"
    assert table["multiplications"]["window"] == f"{2 * d * (3 * n - 3):,}"
    assert table["multiplications"]["linear"] == f"{n * d * (2 * d + 1):,}"
    passed = [line for line in captions(inspected(app, "check")) if "Check passed" in line]
    assert any("running sum" in line for line in passed)
    assert float(table["error"]["window"]) > float(table["error"]["window + global"]) > 0
    assert table["error"]["exact"] == "0"


def test_the_words_say_how_far_a_window_is_off() -> None:
    app = open_page(TITLE, sentence=TOM, cheaper="window", **SIZES, **HEAD)
    record = stories_trace(TOM).attention[2]
    exact, v = record.pattern[4].astype(float), record.v[4].astype(float)
    near = np.tril(exact) * ~np.tri(len(exact), k=-3, dtype=bool)
    weights = near / near.sum(axis=1, keepdims=True)
    error = np.linalg.norm((weights - exact) @ v) / np.linalg.norm(exact @ v)
    moved = np.abs(weights - exact).sum(axis=1).mean() / 2
    said = f"by window, z is off by {error:.3f} of its length, and {moved:.3f} of a row’s weight"
    assert said in lesson(app)


def test_a_link_to_times_opens_what_is_lost_with_one_line() -> None:
    app = open_page(TITLE, sentence=TOM, scene="times", **HEAD)
    assert lines(app, "note") == ["Figure times does not exist here; showing What is lost."]
    assert chart(app, "cheaper-exact").data


def test_after_the_last_tile_the_output_is_the_heads_own() -> None:
    tiles = {"scene": "tiles", "tile_size": "4", "tiles_done": "4"}
    app = open_page(TITLE, sentence=TOM, **HEAD, **tiles)
    so_far, exact = (numbers(trace["y"]) for trace in chart(app, "tile-output").data)
    np.testing.assert_allclose(so_far, exact, atol=1e-6)
    scores = stories_trace(TOM).attention[2].scores[4][-1].astype(float)
    total = np.exp(scores - scores.max()).sum()
    said = f"After 4 of 4 tiles the maximum is {scores.max():.4f}, the sum {total:.4f}, and 1.0000"
    assert said in lesson(app)
    passed = [line for line in captions(inspected(app, "check")) if "Check passed" in line]
    assert any("all tiles" in line for line in passed)
