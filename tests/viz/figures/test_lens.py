"""Protects figures of the lens: windows, frames that scroll, and ink."""

import numpy as np
import pytest

from tests.viz.figures.cases import lens_grid
from tests.viz.test_theme import contrast
from viz.charts.colors import ink
from viz.figures.lens import known_from, predicted_label, says_nothing, window_of
from viz.theme import DARK, LIGHT, Palette


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_ink_stands_out_on_every_colour_of_the_scale(colors: Palette) -> None:
    grounds = colors.sequential
    for shown, ground in zip(ink(np.linspace(0, 1, len(grounds)), colors), grounds, strict=True):
        assert contrast(shown, ground) > 4
    assert set(ink(np.linspace(0, 1, 101), colors)) == {colors.text, colors.background}


@pytest.mark.parametrize(
    ("n_tokens", "start", "chosen", "window"),
    [
        (1, -1, 0, (0, 1)),
        (24, -1, 23, (0, 24)),
        (25, -1, 24, (1, 25)),
        (100, -1, 50, (38, 62)),
        (100, -1, 3, (0, 24)),
        (100, 12, 99, (12, 36)),
        (100, 99, 0, (76, 100)),
    ],
)
def test_window_holds_at_most_24_positions(
    n_tokens: int, start: int, chosen: int, window: tuple[int, int]
) -> None:
    assert window_of(n_tokens, start, chosen) == range(*window)


def test_a_short_lens_stands_still_on_a_phone_and_a_long_one_scrolls_to_the_chosen() -> None:
    frames = [lens_grid(n, 0).frame(0) for n in (1, 7, 8, 14, 16, 24)]
    assert frames == [*["chart"] * 2, *["middling-chart"] * 2, "wide-chart", "widest-chart"]
    assert lens_grid(24, 0).frame(23) == "widest-chart-end"
    assert [lens_grid(16, 9).frame(at) for at in (17, 18)] == ["wide-chart", "wide-chart-end"]


def test_a_predicted_token_is_written_as_it_would_be_in_the_text() -> None:
    said = [predicted_label(" walk", token) for token in ("ing", " the", ".", "\n")]
    assert said == ["…ing", "the", ".", "⏎"]


def test_what_is_no_word_is_grey_but_for_the_final_answer() -> None:
    tokens = (" the", "7", "é", "Ωmega", " ", "\n\n", "-", " …", "", "<filename>")
    assert [says_nothing(token) for token in tokens] == 4 * [False] + 5 * [True] + [False]
    assert says_nothing("<filename>", is_special=True)
    assert lens_grid(3, 0).is_faint.tolist() == [[True, False, True], [False, True, False],
                                                 3 * [False]]  # fmt: skip


@pytest.mark.parametrize(
    ("rank", "known"), [([0, 0, 0], 0), ([0, 3, 0], 2), ([5, 0, 0], 1), ([5, 1, 9, 0], 3)]
)
def test_an_answer_is_known_from_where_it_stays_on_top(rank: list[int], known: int) -> None:
    assert known_from(np.array(rank)) == known
