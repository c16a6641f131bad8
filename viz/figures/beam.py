"""Beam search as a tree: what was considered at each step, what was kept, and the winner."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.charts.chart import Axis, Chart, Line, Pen
from viz.labels import clipped

ROW = 60  # pixels between candidates
LABEL = 12
ROOT = 0.4, 1  # step and place of the text that is gone on with
PENS = {  # by what is drawn alike: of the lines to them, and of themselves
    "removed": (Pen("line", width=1, symbol=None), Pen("muted", None, 2, "circle-open", 8)),
    "kept": (Pen("muted", width=1.4, symbol=None), Pen("text", None, size=8)),
    "winner": (Pen("accent", width=3, symbol=None), Pen("accent", None, 2, "star", 11)),
}


@dataclass(frozen=True)
class Node:
    """A candidate: its step from 0, its place among the step's, and that of its parent."""

    step: int
    place: int
    parent: int | None
    label: str
    log_prob: float
    total: float
    score: float
    kept: bool
    finished: bool
    on_path: bool  # of the winner
    ids: tuple[int, ...] = ()  # of all new tokens up to this one


def beam_tree(nodes: Sequence[Node], root: str, says: str) -> Chart:
    """Steps from left to right, most likely on top; the winner's path stands out."""
    kinds = {
        "removed": [node for node in nodes if not node.kept],
        "kept": [node for node in nodes if node.kept and not node.on_path],
        "winner": [node for node in nodes if node.on_path],
    }
    edges = [_edges(found, PENS[kind][0]) for kind, found in kinds.items()]
    dots = [_dots(kind, found, PENS[kind][1]) for kind, found in kinds.items()]
    words = Pen("text", None, size=13, symbol=None)
    begun = Line(ROOT[:1], ROOT[1:], pen=words, texts=[clipped(root, LABEL)],
                 written="middle center", quiet=True)  # fmt: skip
    n_steps, n_places = (
        1 + max(at) for at in zip(*((x.step, x.place) for x in nodes), strict=True)
    )
    step = Axis("step", kind="whole", ends=(-0.1, n_steps + 0.5), ticks=range(1, n_steps + 1))
    place = Axis("place among the candidates", kind="whole", ends=(n_places + 0.6, 0),
                 ticks=range(1, n_places + 1))  # fmt: skip
    height = 170 + ROW * n_places
    return Chart("All candidates of each step", step, place, [*edges, *dots, begun], says, height)


def _edges(nodes: Sequence[Node], pen: Pen) -> Line:
    """From their parents to some nodes."""
    starts = [ROOT if x.parent is None else (x.step, x.parent + 1) for x in nodes]
    corners = [(*start, x.step + 1, x.place + 1) for start, x in zip(starts, nodes, strict=True)]
    x0, y0, x1, y1 = np.reshape(corners, (-1, 4)).T
    gap = np.full(len(nodes), np.nan)
    x, y = (np.stack([*ends, gap], axis=1).ravel() for ends in ((x0, x1), (y0, y1)))
    return Line(x, y, pen=pen, quiet=True)


def _dots(name: str, nodes: Sequence[Node], pen: Pen) -> Line:
    return Line(
        [node.step + 1 for node in nodes],
        [node.place + 1 for node in nodes],
        name,
        pen,
        names=[f"{node.label}{' (end)' if node.finished else ''}" for node in nodes],
        texts=[clipped(node.label, LABEL) for node in nodes],
        written="top center",
        more={
            "log p of this token": [node.log_prob for node in nodes],
            "log p of the text": [node.total for node in nodes],
            "score": [node.score for node in nodes],
        },
    )
