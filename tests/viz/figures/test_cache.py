"""Protects figures of the cache: bytes, and the place of its colour bar."""

import numpy as np
import pytest

from viz.charts.figure import figure
from viz.figures.cache import bytes_text, cache_map
from viz.theme import LIGHT

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


@pytest.mark.parametrize("n_layers", [2, 30])
def test_the_bar_stays_between_the_title_and_the_cells(n_layers: int) -> None:
    drawn = figure(cache_map(np.ones((n_layers, 5)), 3, 2, TOKENS, "keys"), LIGHT)
    margin = drawn["layout"]["margin"]
    cells = drawn["layout"]["height"] - margin["t"] - margin["b"]
    assert (drawn["data"][0]["colorbar"]["y"] - 1) * cells == pytest.approx(34)
