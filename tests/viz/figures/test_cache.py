"""Protects figures of the cache: what it has, what it has not, and measured times."""

import numpy as np
import pytest

from viz.figures.cache import bytes_text, cache_map, timing_lines
from viz.theme import DARK, LIGHT

TOKENS = ("The", " cat", " saw", " the", " cat")


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (999, "999 bytes"),
        (1000, "1 kB"),
        (12_288, "12.3 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (9_663_676_416, "9.66 GB"),
        (2e15, "2,000 TB"),
    ],
)
def test_bytes_as_people_write_them(n_bytes: float, text: str) -> None:
    assert bytes_text(n_bytes) == text


@pytest.mark.parametrize(("n_cached", "framed"), [(0, None), (2, (0, 2)), (3, (2, 3)), (5, (4, 5))])
def test_cache_shows_what_it_has_and_hatches_the_rest(
    n_cached: int, framed: tuple[int, int] | None
) -> None:
    """The frame is around what the last step brought: the prefill of 2, or one token."""
    lengths = np.random.default_rng(0).uniform(1, 9, size=(3, 5)).astype(np.float32)
    figure = cache_map(lengths, n_cached, 2, TOKENS, LIGHT, "keys")
    shown = figure.data[0]
    assert (shown.z[:, :n_cached] == lengths[:, :n_cached]).all()
    assert np.isnan(shown.z[:, n_cached:]).all()
    assert (shown.zmin, shown.zmax) == (0, lengths.max()), "the same while it fills"
    assert list(shown.y) == ["L0", "L1", "L2"]
    if n_cached < 5:
        assert (np.isfinite(figure.data[1].z) == (np.arange(5) >= n_cached)).all()
        assert "empty" in figure.data[1].hovertemplate
        assert "masked" not in figure.data[1].hovertemplate
    frames = [(s.x0 + 0.5, s.x1 + 0.5) for s in figure.layout.shapes if s.type == "rect"]
    assert frames == ([framed] if framed else [])


@pytest.mark.parametrize(("n_prefill", "n_tokens"), [(1, 1), (5, 5)])
def test_cache_filled_at_once_has_no_line(n_prefill: int, n_tokens: int) -> None:
    lengths = np.ones((2, n_tokens))
    figure = cache_map(lengths, n_tokens, n_prefill, TOKENS[:n_tokens], DARK, "keys")
    assert [shape.type for shape in figure.layout.shapes] == ["rect"]
    assert not figure.layout.annotations


@pytest.mark.parametrize("n_layers", [2, 30])
def test_the_bar_stays_between_the_title_and_the_cells(n_layers: int) -> None:
    layout = (figure := cache_map(np.ones((n_layers, 5)), 3, 2, TOKENS, LIGHT, "keys")).layout
    cells = layout.height - layout.margin.t - layout.margin.b
    assert (figure.data[0].colorbar.y - 1) * cells == pytest.approx(34)


def test_timing_lines_draw_times_in_milliseconds_and_the_fitted_power() -> None:
    lines = {"slow": {4: 0.001, 8: 0.002, 16: 0.004}, "fast": {4: 0.001, 8: 0.001, 16: 0.002}}
    figure = timing_lines(lines, {"slow": (1.0, 0.00025)}, 8, LIGHT, "times")
    slow, fitted, fast = figure.data
    assert list(slow.x) == [4, 8, 16]
    assert list(slow.y) == pytest.approx([1, 2, 4])
    assert list(fast.y) == pytest.approx([1, 1, 2])
    assert (list(fitted.x), list(fitted.y)) == ([8, 16], pytest.approx([2, 4]))
    assert "1.00" in fitted.name
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
