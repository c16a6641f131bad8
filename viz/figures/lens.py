"""The logit lens as pictures: what every layer would predict, and when it finds the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz.charts.chart import RING, Axis, Bars, Cells, Chart, Frame, Line, Pen, Scale, around
from viz.digits import digits
from viz.labels import clipped, token_labels

MOST_POSITIONS = 24  # columns whose tokens can still be read
LEAST_COLUMNS = 9  # room for so many, so that a short sentence is not drawn in giant cells
PHONE = 7  # columns that are readable on a phone; more scroll there
PAGE = 14  # and on half a page
HOVER_CHARACTERS = 40
MARGIN_OF_RANKS = 10**0.15  # beyond the first and the last rank


def row_names(n_rows: int) -> list[str]:
    """What each row of the lens decodes: the input of the first layer, then what leaves each."""
    return ["input", *(f"L{layer}" for layer in range(n_rows - 1))]


def window_of(n_tokens: int, start: int, chosen: int) -> range:
    """At most MOST_POSITIONS positions from `start` on, or around the chosen one when it is −1."""
    size = min(n_tokens, MOST_POSITIONS)
    first = chosen - size // 2 if start < 0 else start
    first = int(np.clip(first, 0, n_tokens - size))
    return range(first, first + size)


def predicted_label(previous: str, token: str) -> str:
    """A predicted token as it would read after the token before it: …ing goes on with a word."""
    return token_labels([previous, token])[1]


@dataclass(frozen=True, eq=False)
class Grid:
    """What is drawn of the lens: a window of W positions, the first of them number `start`.

    `words` are labels [row][column][k] of the most likely tokens, plain text as `labels` (W) are.
    """

    words: Sequence[Sequence[Sequence[str]]]
    probs: np.ndarray  # (L + 1, W, K)
    entropy: np.ndarray  # (L + 1, W)
    is_answer: np.ndarray  # (L + 1, W) bool: the final answer is on top already
    labels: Sequence[str]
    start: int

    @property
    def most_characters(self) -> int:
        """How many characters fit into a cell."""
        return 8 if len(self.labels) > 10 else 11

    def scrolls_to(self, position: int) -> Literal["", "left", "right"]:
        """The end that a page shows which is too narrow for all columns side by side."""
        n_columns = len(self.labels)
        if n_columns <= PHONE:
            return ""
        return "right" if position - self.start > n_columns // 2 else "left"

    def frame(self, chosen: int) -> str:
        """What the figure stands in: a frame that scrolls where it is too narrow, to `chosen`."""
        if not (scrolls := self.scrolls_to(chosen)):
            return "chart"
        end = "-end" if scrolls == "right" else ""
        return f"{'wide' if len(self.labels) > PAGE else 'middling'}-chart{end}"


def lens_map(grid: Grid, scale: Scale, chosen: tuple[int, int]) -> Chart:
    """Layers downward, positions across, a cell its most likely token; bold: the final answer.

    Colours are of entropy, or of the most likely token's probability where the `scale` is of
    weights. `chosen` is the row and the position to frame.
    """
    row, column = chosen[0], chosen[1] - grid.start
    n_rows, n_columns = grid.entropy.shape
    is_weight = scale.kind == "weight"
    more = {"entropy in nats": grid.entropy} if is_weight else {}
    for place in range(grid.probs.shape[-1]):
        more[f"{place + 1}."] = np.array([
            [f"“{clipped(words[place], HOVER_CHARACTERS)}” {digits(prob, 5)}"
             for words, prob in zip(*cells, strict=True)]
            for cells in zip(grid.words, grid.probs[..., place], strict=True)
        ])  # fmt: skip
    texts = [[clipped(words[0], grid.most_characters) for words in cells] for cells in grid.words]
    values = grid.probs[..., 0] if is_weight else grid.entropy
    cells = Cells(values, scale, more=more, texts=texts, bold=grid.is_answer, gap=2)
    in_column = Frame((0, n_rows - 1), (column, column), "dot", width=1.5)
    frames = [in_column, around((row, column))] if 0 <= column < n_columns else []
    ends = -0.5, max(n_columns, LEAST_COLUMNS) - 0.5
    x = Axis("after token", names=grid.labels, numbered=True, first=grid.start, ends=ends)
    y = Axis("after layer", names=row_names(n_rows))
    found = grid.is_answer[-2].sum()
    says = f"One layer before the end, {found} of {n_columns} are the final answer already."
    return Chart("The most likely next token, layer by layer", x, y, [cells, *frames], says,
                 scrolls=grid.scrolls_to(chosen[1]))  # fmt: skip


def rank_curve(rank: np.ndarray, chosen: int, vocab_size: int, title: str) -> Chart:
    """Rank of the final answer by layer at one position, (L + 1,), 0 = most likely; drawn from 1.

    The axis is logarithmic with rank 1 on top. `chosen` is the row to ring.
    """
    places, names = rank + 1, row_names(len(rank))
    more = {"of": [vocab_size] * len(places)}
    curve = Line(range(len(places)), places, pen=Pen(0, size=8), more=more)
    ring = Line([chosen], [places[chosen]], "chosen", RING, quiet=True, in_legend=False)
    worst = max(float(places.max()), 10.0)
    ticks = {10**power: f"{10**power:,}" for power in range(len(str(vocab_size)))}
    ends = worst * MARGIN_OF_RANKS, 1 / MARGIN_OF_RANKS
    y = Axis("rank, 1 on top", kind="count", is_log=True, ends=ends, ticks=ticks)
    return Chart(title, Axis("after layer", names=names), y, [curve, ring])


def most_likely_bars(words: Sequence[str], probs: np.ndarray, title: str) -> Chart:
    """The most likely tokens of one cell and their probabilities, (K,)."""
    bars = Bars(probs, ink="accent", is_written=True)
    x = Axis("probability", ends=(0, 1.12), ticks=(0, 0.25, 0.5, 0.75, 1))
    return Chart(title, x, Axis("", names=words), [bars])
