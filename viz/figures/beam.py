"""Beam search as a tree: what was considered at each step, what was kept, and the winner."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from viz.digits import digits
from viz.labels import clipped, escape
from viz.theme import Palette, template

ROW = 30  # pixels between candidates
LABEL = 12


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


def beam_tree(nodes: Sequence[Node], root: str, colors: Palette) -> go.Figure:
    """Steps from left to right, most likely on top; the winner's path stands out."""
    figure = go.Figure()
    for edges, color, width in (
        ([n for n in nodes if not n.kept], colors.line, 1.0),
        ([n for n in nodes if n.kept and not n.on_path], colors.muted, 1.4),
        ([n for n in nodes if n.on_path], colors.accent, 3.0),
    ):
        figure.add_trace(_edges(edges, color, width))
    looks = ((colors.muted, "circle-open"), (colors.text, "circle"), (colors.accent, "star"))
    for (name, chosen), (color, symbol) in zip(by_kind(nodes).items(), looks, strict=True):
        figure.add_trace(_dots(name, chosen, color, symbol))
    figure.add_annotation(
        x=-0.6, y=0, text=escape(clipped(root, LABEL)), showarrow=False, font={"color": colors.text}
    )
    _lay_out(figure, nodes, colors)
    return figure


def by_kind(nodes: Sequence[Node]) -> dict[str, list[Node]]:
    """What is drawn alike: candidates that were pruned, those kept, and the winner's path."""
    return {
        "pruned": [node for node in nodes if not node.kept],
        "kept": [node for node in nodes if node.kept and not node.on_path],
        "winner": [node for node in nodes if node.on_path],
    }


def _edges(nodes: Sequence[Node], color: str, width: float) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    for node in nodes:
        start = (-0.5, 0) if node.parent is None else (node.step - 1, node.parent)
        x += [start[0], node.step, None]
        y += [start[1], node.place, None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": color, "width": width},
        hoverinfo="skip",
        showlegend=False,
    )


def _dots(name: str, nodes: Sequence[Node], color: str, symbol: str) -> go.Scatter:
    return go.Scatter(
        x=[node.step for node in nodes],
        y=[node.place for node in nodes],
        mode="markers+text",
        name=name,
        marker={"color": color, "symbol": symbol, "size": 11 if name == "winner" else 8},
        text=[escape(clipped(node.label, LABEL)) for node in nodes],
        textposition="top center",
        textfont={"color": color, "size": 12},
        hovertext=[
            f"<b>{escape(node.label)}</b>{' (end)' if node.finished else ''}<br>"
            f"log p of this token {escape(digits(node.log_prob))}<br>"
            f"log p of the text {escape(digits(node.total))}<br>"
            f"score {escape(digits(node.score))}<br>{name}"
            for node in nodes
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _lay_out(figure: go.Figure, nodes: Sequence[Node], colors: Palette) -> None:
    n_steps = max(node.step for node in nodes) + 1
    n_places = max(node.place for node in nodes) + 1
    figure.update_layout(
        template=template(colors),
        title="All candidates of each step",
        height=170 + ROW * n_places * 2,
        margin={"t": 80},
        hovermode="closest",
    )
    figure.update_xaxes(
        title="step",
        range=[-1.1, n_steps - 0.5],
        tickvals=list(range(n_steps)),
        ticktext=[str(step + 1) for step in range(n_steps)],
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        title="place among the candidates",
        range=[n_places - 0.4, -1.0],
        tickvals=list(range(n_places)),
        ticktext=[str(place + 1) for place in range(n_places)],
        showgrid=False,
        zeroline=False,
    )
