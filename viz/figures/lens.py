"""The logit lens as pictures: what every layer would predict, and when it finds the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.charts.chart import RING, Axis, Bars, Chart, Line, Pen, Scale, weights
from viz.charts.colors import bar_traces, colored
from viz.charts.ink import ink
from viz.digits import digits
from viz.labels import clipped, escape, thinned, token_labels
from viz.theme import Palette, template, weight_shares

MOST_POSITIONS = 24  # columns whose tokens can still be read
LEAST_COLUMNS = 9  # room for so many, so that a short sentence is not drawn in giant cells
PHONE = 7  # columns that are readable on a phone; more scroll there
PAGE = 14  # and on half a page
ROW_PIXELS = 38
HOVER_CHARACTERS = 40
CHART_HEIGHT = 380
MARGIN_OF_RANKS = 10**0.15  # beyond the first and the last rank
MARGIN = {"t": 80, "b": 64}


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
    def positions(self) -> list[int]:
        """The positions in the window."""
        return list(range(self.start, self.start + len(self.labels)))

    @property
    def is_wide(self) -> bool:
        """Whether a narrow page cannot show all columns side by side."""
        return len(self.labels) > PHONE

    def frame(self, chosen: int) -> str:
        """What the figure stands in: a frame that scrolls where it is too narrow, to `chosen`."""
        if not self.is_wide:
            return "chart"
        end = "-end" if self.is_far_right(chosen) else ""
        return f"{'wide' if len(self.labels) > PAGE else 'middling'}-chart{end}"

    @property
    def most_characters(self) -> int:
        """How many characters fit into a cell."""
        return 8 if len(self.labels) > 10 else 11

    def is_far_right(self, position: int) -> bool:
        """Whether a narrow page has to scroll to a position."""
        return self.is_wide and position > self.positions[len(self.labels) // 2]

    @property
    def rows(self) -> list[str]:
        """The names of the rows."""
        return row_names(len(self.probs))


def probability_scale() -> Scale:
    """Colours by the probability of the most likely token."""
    return weights("probability of the token")


def entropy_scale(entropy: np.ndarray) -> Scale:
    """Colours by entropy in nats, from 0 to the largest of these."""
    largest = float(entropy[np.isfinite(entropy)].max(initial=0.0))
    return Scale("entropy, nats", 0.0, largest or 1.0)


def lens_map(
    grid: Grid, values: np.ndarray, scale: Scale, chosen: tuple[int, int], colors: Palette
) -> go.Figure:
    """Layers downward, positions across, a cell its most likely token; bold: the final answer.

    values (L + 1, W) are the colours; `chosen` is the row and the position to frame.
    """
    bar = {"tickformat": ".2~f"}
    if grid.is_far_right(chosen[1]):
        bar |= {"x": 1, "xanchor": "right"}
    figure = go.Figure(
        go.Heatmap(
            z=values.astype(np.float32),
            x=grid.positions,
            y=list(range(len(grid.rows))),
            **colored(scale, colors, **bar),
            xgap=2,
            ygap=2,
            hoverongaps=False,
            hovertext=_hover_texts(grid),
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    shares = weight_shares(values, colors) if scale.kind == "weight" else values / scale.high
    _write_cells(figure, grid, shares, colors)
    figure.add_traces(bar_traces(scale, colors, **bar))
    _frame(figure, grid, chosen, colors)
    _lay_out(figure, grid, colors)
    return figure


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
    return Chart(title, Axis("after layer", names=names), y, [curve, ring], height=CHART_HEIGHT)


def most_likely_bars(words: Sequence[str], probs: np.ndarray, title: str) -> Chart:
    """The most likely tokens of one cell and their probabilities, (K,)."""
    bars = Bars(probs, ink="accent", is_written=True)
    x = Axis("probability", ends=(0, 1.12), ticks=(0, 0.25, 0.5, 0.75, 1))
    return Chart(title, x, Axis("", names=words), [bars], height=CHART_HEIGHT)


def _hover_texts(grid: Grid) -> list[list[str]]:
    """For each cell where it is, and a line for each of its tokens, most likely first; escaped."""
    return [
        [_hover_text(grid, row, column) for column in range(len(grid.labels))]
        for row in range(len(grid.rows))
    ]


def _hover_text(grid: Grid, row: int, column: int) -> str:
    name = grid.rows[row]
    label = escape(clipped(grid.labels[column], HOVER_CHARACTERS))
    lines = [
        f"“<b>{escape(clipped(word, HOVER_CHARACTERS))}</b>” {escape(digits(prob, 5))}"
        for word, prob in zip(grid.words[row][column], grid.probs[row, column], strict=True)
    ]
    entropy = f"entropy in nats {escape(digits(grid.entropy[row, column], 3))}"
    return "<br>".join([f"{name}, after token <b>{label}</b>", entropy, *lines])


def _write_cells(figure: go.Figure, grid: Grid, shares: np.ndarray, colors: Palette) -> None:
    """The most likely token in each cell, in ink that stands out; × where a number is broken."""
    rows, columns = np.indices(shares.shape).reshape(2, -1)
    texts = []
    for row, column in zip(map(int, rows), map(int, columns), strict=True):
        text = escape(clipped(grid.words[row][column][0], grid.most_characters))
        text = f"<b>{text}</b>" if grid.is_answer[row, column] else text
        texts.append(text if np.isfinite(shares[row, column]) else "×")
    figure.add_trace(
        go.Scatter(
            x=columns + grid.start,
            y=rows,
            text=texts,
            mode="text",
            textfont={"size": 12, "color": [ink(share, colors) for share in shares.ravel()]},
            hoverinfo="skip",
            showlegend=False,
            yaxis="y2" if grid.is_wide else "y",
        )
    )


def _frame(figure: go.Figure, grid: Grid, chosen: tuple[int, int], colors: Palette) -> None:
    """A dotted frame around the chosen position, a solid one around the chosen cell."""
    row, position = chosen
    if position not in grid.positions:
        return
    column = ((0, len(grid.rows) - 1), {"width": 1.5, "dash": "dot"})
    for (first, last), line in (column, ((row, row), {"width": 3})):
        corners = {"x0": position - 0.5, "x1": position + 0.5, "y0": first - 0.5, "y1": last + 0.5}
        figure.add_shape(type="rect", **corners, line={"color": colors.frame, **line})


def _lay_out(figure: go.Figure, grid: Grid, colors: Palette) -> None:
    height = int(np.clip(156 + ROW_PIXELS * len(grid.rows), 300, 900))
    figure.update_layout(
        template=template(colors),
        title="The most likely next token, layer by layer",
        height=height,
        margin=MARGIN,
    )
    if grid.is_wide:  # a narrow page shows its right end
        figure.update_layout(title={"x": 1, "xref": "paper", "xanchor": "right"})
    room = max(len(grid.labels), LEAST_COLUMNS)
    shown = thinned(len(grid.rows), height - MARGIN["t"] - MARGIN["b"])
    figure.update_xaxes(
        title={"text": "after token", "standoff": 8},
        automargin=False,
        tickvals=grid.positions,
        ticktext=[escape(clipped(label, grid.most_characters)) for label in grid.labels],
        tickangle=0,
        domain=[0, len(grid.labels) / room],
        range=[grid.positions[0] - 0.5, grid.positions[-1] + 0.5],
        showgrid=False,
        zeroline=False,
    )
    layers = {
        "tickvals": list(shown),
        "ticktext": [grid.rows[row] for row in shown],
        "range": [len(grid.rows) - 0.5, -0.5],
        "showgrid": False,
        "zeroline": False,
    }
    figure.update_layout(yaxis={"title": "after layer", **layers})
    if grid.is_wide:
        figure.update_layout(yaxis2={"overlaying": "y", "side": "right", "matches": "y", **layers})
