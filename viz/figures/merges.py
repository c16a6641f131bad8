"""Trees of merges: the characters and bytes of a text below, its tokens on top."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from model.analysis.merges import Node, PreToken, walk
from viz.labels import clipped, escape, visible
from viz.theme import Palette, template

MOST_BYTES = 72  # drawn at once
LEAST_BYTES = 16  # a shorter text leaves the right side empty
GAP = 0.5  # between pre-tokens, in bytes
ROW = 46  # pixels
TALLEST = 760
MARGINS = {"l": 78, "r": 4, "t": 46, "b": 4}  # the names of the rows stand on the left
MARGIN = MARGINS["t"] + MARGINS["b"]
NEAR = 0.31  # of a row: how near a line comes to a label
BYTE_PIXELS, LETTER_PIXELS = 17, 7.5
CHARACTERS, BYTES = -1, 0  # rows; merges stand above them


# Traces whose labels have numbers: the ids of tokens, the ranks of merges, and bytes.
IDS, RANKS, HEX = 4, 6, 7


@dataclass(frozen=True)
class Place:
    """Where a node stands: the middle of its bytes, and its row."""

    x: float
    row: int


@dataclass(frozen=True)
class Mark:
    """A label in a row, a smaller one below it, and what both say on hover; all escaped."""

    place: Place
    label: str
    below: str
    hover: str


@dataclass(frozen=True)
class Character:
    """A character with the places of its first and last byte."""

    text: str
    first: float
    last: float
    n_bytes: int


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
        (_token_marks(forest, first), 14, colors.text),
        (_merge_marks(forest, n_rules), 12, colors.text),
        (_byte_marks(forest), 11, colors.muted),
        (_character_marks(forest), 13, colors.text),
    ]
    marks = [trace for row in rows for trace in _written(*row, colors)]
    room = max(forest.width - GAP, LEAST_BYTES)
    layout = {
        "template": template(colors),
        "title": {"text": "From bytes (below) to tokens (above)"},
        "height": min(MARGIN + ROW * (forest.top + 2), TALLEST),
        "margin": MARGINS,
        "xaxis": {"range": [-1, room], "visible": False, "automargin": False},
        "yaxis": _rows_axis(forest) | {"automargin": False},
        "hovermode": "closest",
        "showlegend": False,
    }
    return go.Figure([*_lines(forest, colors), *marks], layout)


def _rows_axis(forest: Forest) -> dict[str, object]:
    names = {CHARACTERS: "characters", BYTES: "bytes", forest.top: "tokens"}
    if forest.top > 1:
        names[forest.top // 2] = "merges"
    return {
        "range": [CHARACTERS - 0.5, forest.top + 0.6],
        "tickvals": list(names),
        "ticktext": list(names.values()),
        "showgrid": False,
        "zeroline": False,
    }


def _lines(forest: Forest, colors: Palette) -> list[go.Scatter]:
    """From the parts to what they make, from a tree to its token, from a character to its bytes."""
    made, tokens, characters = _Path(), _Path(), _Path()
    for node in walk(forest.tokens):
        for part in node.parts:
            made.bend(forest.place(part), forest.place(node))
    for token in forest.tokens:
        place = forest.place(token)
        tokens.bend(place, Place(place.x, forest.top))
    for character in forest.characters:
        middle = Place((character.first + character.last) / 2, CHARACTERS)
        for i in range(character.n_bytes):
            step = (character.last - character.first) / max(character.n_bytes - 1, 1)
            characters.bend(Place(character.first + i * step, BYTES), middle)
    return [
        _line(made, colors.muted, "solid"),
        _line(tokens, colors.line, "dot"),
        _line(characters, colors.line, "solid"),
    ]


class _Path:
    """Lines of right angles, in the form Plotly takes: points, and None between lines."""

    def __init__(self) -> None:
        self.x: list[float | None] = []
        self.y: list[float | None] = []

    def bend(self, start: Place, end: Place) -> None:
        """A line from one label to another that turns just before the other."""
        near = NEAR if start.row < end.row else -NEAR
        turn = end.row - 1.5 * near
        self.x += [start.x, start.x, end.x, end.x, None]
        self.y += [start.row + near, turn, turn, end.row - near, None]


def _line(path: _Path, color: str, dash: str) -> go.Scatter:
    return go.Scatter(
        x=path.x,
        y=path.y,
        mode="lines",
        line={"color": color, "width": 1.2, "dash": dash},
        hoverinfo="skip",
    )


def _written(
    marks: Sequence[Mark], size: int, color: str, colors: Palette
) -> tuple[go.Scatter, go.Scatter]:
    """Labels, and the smaller ones below them."""
    x, y = [mark.place.x for mark in marks], [mark.place.row for mark in marks]
    has_below = any(mark.below for mark in marks)
    labels = go.Scatter(
        x=x,
        y=[row + 0.12 for row in y] if has_below else y,
        mode="text",
        text=[mark.label for mark in marks],
        textfont={"size": size, "color": color},
        customdata=[mark.hover for mark in marks],
        hovertemplate="%{customdata}<extra></extra>",
    )
    below = go.Scatter(
        x=x,
        y=[row - 0.17 for row in y],
        mode="text",
        text=[mark.below for mark in marks],
        textfont={"size": 10, "color": colors.muted},
        hoverinfo="skip",
    )
    return labels, below


def _token_marks(forest: Forest, first: int) -> list[Mark]:
    found = []
    for number, token in enumerate(forest.tokens, first):
        text = _decoded(token.bytes)
        name = visible(text) if text else label_of(token)
        hover = (
            f"token {number}: <b>{escape(name)}</b><br>id {token.id:,}<br>"
            f"{_counted(len(token.bytes), 'byte')}, {_counted(token.n_merges, 'merge')}"
        )
        label = escape(clipped(name, _room(token)))
        place = Place(forest.place(token).x, forest.top)
        found.append(Mark(place, f"<b>{label}</b>", str(token.id), hover))
    return found


def _merge_marks(forest: Forest, n_rules: int) -> list[Mark]:
    return [
        Mark(
            forest.place(node),
            escape(clipped(label_of(node), _room(node))),
            f"#{node.rank + 1}",
            merge_words(node, n_rules),
        )
        for node in walk(forest.tokens)
        if node.parts and node.rank is not None
    ]


def merge_words(node: Node, n_rules: int) -> str:
    """What a merge joins, its rank, its place and the id it makes; escaped."""
    assert node.rank is not None and node.order is not None  # a merge made it
    left, right = (f"<b>{escape(label_of(part))}</b>" for part in node.parts)
    return (
        f"{left} + {right} → <b>{escape(label_of(node))}</b><br>rank {node.rank + 1:,} of "
        f"{n_rules:,}<br>id {node.id:,}<br>merge {node.order + 1} of its pre-token"
    )


def _byte_marks(forest: Forest) -> list[Mark]:
    return [
        Mark(
            forest.place(leaf),
            leaf.bytes.hex(" "),
            "",
            f"{_counted(len(leaf.bytes), 'byte')}: <b>{leaf.bytes.hex(' ')}</b><br>id {leaf.id:,}",
        )
        for token in forest.tokens
        for leaf in token.leaves
    ]


def _character_marks(forest: Forest) -> list[Mark]:
    return [
        Mark(
            Place((character.first + character.last) / 2, CHARACTERS),
            escape(clipped(visible(character.text), 2 * character.n_bytes)),
            "",
            f"<b>{escape(visible(character.text))}</b> U+{ord(character.text):04X}<br>"
            f"{_counted(character.n_bytes, 'byte')}",
        )
        for character in forest.characters
    ]


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


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
