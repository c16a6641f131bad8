"""Trees of merges: the characters and bytes of a text below, its tokens on top."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from model.analysis.merges import Node, PreToken, walk
from viz.charts.chart import Axis, Chart, Line, Pen
from viz.charts.figure import figure
from viz.labels import clipped, visible
from viz.theme import Palette

MOST_BYTES = 72  # drawn at once
LEAST_BYTES = 16  # a shorter text leaves the right side empty
GAP = 0.5  # between pre-tokens, in bytes
ROW = 46  # pixels
TALLEST = 760
MARGINS = {"l": 78, "r": 4, "t": 46, "b": 4}  # the names of the rows stand on the left
MARGIN = MARGINS["t"] + MARGINS["b"]
NEAR = 0.31  # of a row: how near a line comes to a label
APART = 0.05  # of a row: by which a label and the smaller one below it keep clear of its middle
BYTE_PIXELS, LETTER_PIXELS = 17, 7.5
CHARACTERS, BYTES = -1, 0  # rows; merges stand above them


@dataclass(frozen=True)
class Place:
    """Where a node stands: the middle of its bytes, and its row."""

    x: float
    row: int


class Mark(NamedTuple):
    """A label in a row, what it and more say under the hand, and a smaller label below it."""

    place: Place
    label: str
    name: str
    more: Mapping[str, object]
    below: str = ""


@dataclass(frozen=True)
class Character:
    """A character with the places of its first and last byte."""

    text: str
    first: float
    last: float
    n_bytes: int

    @property
    def place(self) -> Place:
        """Where its label stands."""
        return Place((self.first + self.last) / 2, CHARACTERS)


class Forest:
    """Pre-tokens laid out: where each node and each character stands."""

    def __init__(self, pre_tokens: Sequence[PreToken]) -> None:
        self.pre_tokens = pre_tokens
        self.tokens = [token for pre_token in pre_tokens for token in pre_token]
        self.characters: list[Character] = []
        self.places: dict[int, Place] = {}  # by id() of a node: a byte may occur twice
        self.width = 0.0
        for pre_token in pre_tokens:
            self._lay_out(pre_token)
        self.top = max(place.row for place in self.places.values()) + 1

    def place(self, node: Node) -> Place:
        """Where a node stands."""
        return self.places[id(node)]

    def above(self, token: Node) -> Place:
        """Where the label of a token stands, on top of all."""
        return Place(self.place(token).x, self.top)

    def _lay_out(self, pre_token: PreToken) -> None:
        leaves = [leaf for token in pre_token for leaf in token.leaves]
        starts = []
        for leaf in leaves:
            self.places[id(leaf)] = Place(self.width + (len(leaf.bytes) - 1) / 2, BYTES)
            starts += [self.width + i for i in range(len(leaf.bytes))]
            self.width += len(leaf.bytes)
        self.width += GAP
        for node in reversed(walk(pre_token)):  # parts before what is made of them
            if node.parts:
                left, right = map(self.place, node.parts)
                self.places[id(node)] = Place((left.x + right.x) / 2, max(left.row, right.row) + 1)
        self.characters += characters_of(b"".join(leaf.bytes for leaf in leaves), starts)


def characters_of(content: bytes, places: Sequence[float]) -> Iterator[Character]:
    """The characters of some bytes, each at the places of its bytes; parts of one are left out."""
    start = 0
    while start < len(content):
        n = next((n for n in range(1, 5) if _decoded(content[start : start + n])), 0)
        if n:
            text = content[start : start + n].decode()
            yield Character(text, places[start], places[start + n - 1], n)
        start += n or 1


def drawable(forest: Sequence[PreToken], most: int = MOST_BYTES) -> list[PreToken]:
    """The pre-tokens that have room from the first on; of a longer first one, the first tokens."""
    drawn: list[PreToken] = []
    left = most
    for pre_token in forest:
        sizes = [len(token.bytes) for token in pre_token]
        if sum(sizes) > left:
            break
        drawn.append(pre_token)
        left -= sum(sizes)
    if drawn or not forest:
        return drawn
    kept, total = 0, 0
    for token in forest[0]:
        total += len(token.bytes)
        if kept and total > most:
            break
        kept += 1
    return [forest[0][:kept]]


def n_bytes(forest: Sequence[PreToken]) -> int:
    """How many bytes some pre-tokens have."""
    return sum(len(token.bytes) for pre_token in forest for token in pre_token)


def merge_trees(
    pre_tokens: Sequence[PreToken], first: int, n_rules: int, colors: Palette
) -> go.Figure:
    """Trees of some pre-tokens; `first` is the number of their first token, `n_rules` of merges."""
    forest = Forest(pre_tokens)
    rows = [
        (_tokens(forest, first), "text", 14),
        (_merges(forest, n_rules), "text", 12),
        (_bytes(forest), "muted", 11),
        (_characters(forest), "text", 13),
    ]
    labels = [line for marks, ink, size in rows for line in _written(list(marks), ink, size)]
    names: dict[float, str] = {CHARACTERS: "characters", BYTES: "bytes", forest.top: "tokens"}
    if forest.top > 1:
        names[forest.top // 2] = "merges"
    room = max(forest.width - GAP, LEAST_BYTES)
    x = Axis("", ends=(-1, room), ticks=())
    y = Axis("", ends=(CHARACTERS - 0.5, forest.top + 0.6), ticks=names)
    height = min(MARGIN + ROW * (forest.top + 2), TALLEST)
    title = "From bytes (below) to tokens (above)"
    drawn = figure(Chart(title, x, y, [*_edges(forest), *labels], height=height), colors)
    layout = drawn["layout"] | {"margin": MARGINS}
    for side in ("xaxis", "yaxis"):
        layout[side] |= {"showgrid": False, "zeroline": False}
    return go.Figure(drawn["data"], layout)


def _edges(forest: Forest) -> list[Line]:
    """From the parts to what they make, from a tree to its token, from a character to its bytes."""
    made = [
        (forest.place(part), forest.place(node))
        for node in walk(forest.tokens)
        for part in node.parts
    ]
    tokens = [(forest.place(token), forest.above(token)) for token in forest.tokens]
    characters = [
        (Place(x, BYTES), character.place)
        for character in forest.characters
        for x in np.linspace(character.first, character.last, character.n_bytes)
    ]
    looks = ((made, "muted", "solid"), (tokens, "line", "dot"), (characters, "line", "solid"))
    return [_bent(pairs, Pen(ink, dash, 1.2, None, shape="vh")) for pairs, ink, dash in looks]


def _bent(pairs: Sequence[tuple[Place, Place]], pen: Pen) -> Line:
    """Lines of right angles from one label to another, which turn just before the other."""
    x: list[float] = []
    y: list[float] = []
    for start, end in pairs:
        near = NEAR if start.row < end.row else -NEAR
        x += [start.x, end.x, end.x, np.nan]
        y += [start.row + near, end.row - 1.5 * near, end.row - near, np.nan]
    return Line(x, y, pen=pen, quiet=True)


def _tokens(forest: Forest, first: int) -> Iterator[Mark]:
    for number, token in enumerate(forest.tokens, first):
        text = _decoded(token.bytes)
        name = visible(text) if text else label_of(token)
        more = {"id": token.id, "bytes": len(token.bytes), "merges": token.n_merges}
        label = clipped(name, _room(token))
        yield Mark(forest.above(token), label, f"token {number}: {name}", more, str(token.id))


def _merges(forest: Forest, n_rules: int) -> Iterator[Mark]:
    for node in walk(forest.tokens):
        if node.rank is not None and node.order is not None:
            name, rank = label_of(node), node.rank + 1
            made = f"{' + '.join(map(label_of, node.parts))} → {name}"
            order = {"merge of its pre-token": node.order + 1}
            more = {"rank": f"{rank:,} of {n_rules:,}", "id": node.id, **order}
            label = clipped(name, _room(node))
            yield Mark(forest.place(node), label, made, more, f"#{rank}")


def _bytes(forest: Forest) -> Iterator[Mark]:
    for leaf in (leaf for token in forest.tokens for leaf in token.leaves):
        written, more = leaf.bytes.hex(" "), {"bytes": len(leaf.bytes), "id": leaf.id}
        yield Mark(forest.place(leaf), written, written, more)


def _characters(forest: Forest) -> Iterator[Mark]:
    for one in forest.characters:
        name, more = visible(one.text), {"code point": f"U+{ord(one.text):04X}"}
        yield Mark(one.place, clipped(name, 2 * one.n_bytes), name, more | {"bytes": one.n_bytes})


def _written(marks: Sequence[Mark], ink: str, size: int) -> list[Line]:
    """Labels, and the smaller ones below them."""
    if not marks:
        return []
    x, y = np.array([(mark.place.x, mark.place.row) for mark in marks]).T
    labels, names, below = (
        [getattr(mark, part) for mark in marks] for part in ("label", "name", "below")
    )
    has_below = any(below)
    more = {head: [mark.more[head] for mark in marks] for head in marks[0].more}
    side = "top center" if has_below else "middle center"
    pen, small = Pen(ink, None, 2, None, size), Pen("muted", None, 2, None, 10)
    apart = APART if has_below else 0
    own = Line(x, y + apart, pen=pen, names=names, texts=labels, written=side, more=more)
    lower = Line(x, y - apart, pen=small, texts=below, written="bottom center", quiet=True)
    return [own, lower] if has_below else [own]


def label_of(*nodes: Node) -> str:
    """What nodes together stand for, spaces shown; bytes that are no characters in hexadecimal."""
    content = b"".join(node.bytes for node in nodes)
    text = _decoded(content)
    return visible(text.replace(" ", "␣")) if text else content.hex(" ")


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode() or None
    except UnicodeDecodeError:
        return None


def _room(node: Node) -> int:
    """How many letters have room above the bytes of a node."""
    return max(2, int(len(node.bytes) * BYTE_PIXELS / LETTER_PIXELS))
