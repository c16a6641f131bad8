"""The logit lens as pictures: what every layer would predict, and when it finds the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz.charts.chart import (
    RING,
    Axis,
    Bars,
    Cells,
    Chart,
    Frame,
    Line,
    Pen,
    Rule,
    Scale,
    around,
)
from viz.digits import digits
from viz.labels import clipped, token_labels

MOST_POSITIONS = 24  # columns whose tokens can still be read
LEAST_COLUMNS = 9  # room for so many, so that a short sentence is not drawn in giant cells
PHONE = 7  # columns that are readable on a phone; more scroll there
PAGE = 14  # and on half a page
WHOLE = 17  # and on a page of a usual screen
BESIDE = 300  # pixels of figures side by side, so that the map begins on the first screen
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


def known_from(rank: np.ndarray) -> int:
    """The first row from which on the final answer is on top in all, (L + 1,) ranks from 0."""
    others = np.flatnonzero(rank > 0)
    return int(others[-1]) + 1 if len(others) else 0


def says_nothing(token: str, *, is_special: bool = False) -> bool:
    """Whether a token is no word: white space, marks without a letter or digit, a special one."""
    return is_special or not any(character.isalnum() for character in token)


@dataclass(frozen=True, eq=False)
class Grid:
    """What is drawn of the lens: a window of W positions, the first of them number `start`.

    `words` are labels [row][column][k] of the most likely tokens, plain text as `labels` (W) are.
    """

    words: Sequence[Sequence[Sequence[str]]]
    probs: np.ndarray  # (L + 1, W, K)
    entropy: np.ndarray  # (L + 1, W)
    is_answer: np.ndarray  # (L + 1, W) bool: the final answer is on top already
    is_blank: np.ndarray  # (L + 1, W) bool: what is on top is no word
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
        widths = {"widest": WHOLE, "wide": PAGE, "middling": PHONE}
        return f"{next(name for name, n in widths.items() if len(self.labels) > n)}-chart{end}"

    @property
    def is_faint(self) -> np.ndarray:
        """What is drawn grey: what is no word, where it is not the final answer either."""
        return self.is_blank & ~self.is_answer


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
    cells = Cells(values, scale, more=more, texts=texts, bold=grid.is_answer,
                  faint=grid.is_faint, gap=2)  # fmt: skip
    in_column = Frame((0, n_rows - 1), (column, column), "dot", width=1.5)
    frames = [in_column, around((row, column))] if 0 <= column < n_columns else []
    ends = -0.5, max(n_columns, LEAST_COLUMNS) - 0.5
    x = Axis("after token", names=grid.labels, numbered=True, first=grid.start, ends=ends)
    y = Axis("after layer", names=row_names(n_rows))
    found = grid.is_answer[-2].sum()
    says = (
        f"One layer before the end, {found} of {n_columns} are the final answer already. "
        f"{grid.is_faint.sum()} of {values.size} cells are grey: no word, and not that answer."
    )
    return Chart("The most likely next token, layer by layer", x, y, [cells, *frames], says,
                 scrolls=grid.scrolls_to(chosen[1]))  # fmt: skip


def rank_curve(ranks: Mapping[str, np.ndarray], chosen: int, vocab_size: int, answer: str) -> Chart:
    """Rank of the final answer by layer at one position, (L + 1,) each, 0 = most likely.

    Drawn from 1, on a logarithmic axis with rank 1 on top. ranks: by the name of the lens, the last
    of them the one that is looked through: `chosen` is its row to ring.
    """
    rank = [*ranks.values()][-1]
    names, known = row_names(len(rank)), known_from(rank)
    more = {"of": [vocab_size] * len(rank)}
    curves = [
        Line(range(len(rank)), own + 1, name, Pen(len(ranks) - 1 - at, size=7), more=more)
        for at, (name, own) in enumerate(ranks.items())
    ]
    ring = Line([chosen], [rank[chosen] + 1], "chosen", RING, quiet=True, in_legend=False)
    worst = max(10.0, *(float(own.max()) + 1 for own in ranks.values()))
    ticks = {10**power: f"{10**power:,}" for power in range(len(str(vocab_size)))}
    ends = worst * MARGIN_OF_RANKS, 1 / MARGIN_OF_RANKS
    y = Axis("rank, 1 on top", kind="count", is_log=True, ends=ends, ticks=ticks)
    side = "left" if known > len(rank) / 2 else "right"
    rule = Rule("x", known, f"from {names[known]} on", (side, "bottom"))
    title = f"“{answer}” is on top from {_row(known, names)} on"
    return Chart(title, Axis("after layer", names=names), y, [*curves, ring, rule], height=BESIDE)


def _row(row: int, names: Sequence[str]) -> str:
    """A row in a line."""
    return names[row] if row else "the input"


def most_likely_bars(words: Sequence[str], probs: np.ndarray, title: str) -> Chart:
    """The most likely tokens of one cell and their probabilities, (K,)."""
    bars = Bars(probs, ink="accent", is_written=True)
    x = Axis("probability", ends=(0, 1.12), ticks=(0, 0.25, 0.5, 0.75, 1))
    return Chart(title, x, Axis("", names=words), [bars], height=BESIDE)


def kl_curves(kl: Mapping[str, np.ndarray]) -> Chart:
    """KL to the final distribution by row, (L + 1,) each, by the name of the lens, in nats.

    Of the last row it is 0, which has no place on a logarithmic axis.
    """
    y = Axis("KL", "nats", is_log=True)
    return _by_row("KL to what the model says in the end", kl, y)


def agreement_curves(top1: Mapping[str, np.ndarray]) -> Chart:
    """How often a lens has the final token on top, by row, (L + 1,) each, by the lens’s name."""
    y = Axis("share of tokens", kind="share", ends=(0, 1.02))
    return _by_row("The same token on top as in the end", top1, y)


def _by_row(title: str, values: Mapping[str, np.ndarray], y: Axis) -> Chart:
    names = row_names(len(next(iter(values.values()))))[:-1]
    lines = [
        Line(range(len(names)), own[:-1], name, Pen(len(values) - 1 - at, size=7))
        for at, (name, own) in enumerate(values.items())
    ]
    return Chart(title, Axis("after layer", names=names), y, lines, height=BESIDE)


def turning_curve(differences: np.ndarray, chosen: int | None, answers: Sequence[str]) -> Chart:
    """logit(other) − logit(answer) with another text’s stream put in after each layer, (L,).

    NaN where it is not known yet. Above 0 the answer has turned. chosen: the layer to ring.
    """
    answer, other = answers
    layers = range(len(differences))
    curve = Line(layers, differences, pen=Pen(0, size=7))
    marks: list[Line | Rule] = [curve, Rule("y", 0.0, f"above: “{other}”", ("left", "top"))]
    if chosen is not None and np.isfinite(differences[chosen]):
        marks.append(Line([chosen], [differences[chosen]], "chosen", RING, quiet=True,
                          in_legend=False))  # fmt: skip
    x = Axis("stream put in after layer", names=[f"L{layer}" for layer in layers])
    y = Axis(f"logit of “{other}” less “{answer}”")
    return Chart("Put in from the second prompt", x, y, marks, height=BESIDE)
