"""Protects the tree of a beam search: every candidate where it belongs."""

from viz.figures.beam import Node, beam_tree
from viz.theme import LIGHT


def test_beam_tree_tells_pruned_kept_and_winner_apart() -> None:
    nodes = [
        Node(0, 0, None, "<b>", -0.1, -0.1, -0.1, True, False, True),
        Node(0, 1, None, "x", -0.9, -0.9, -0.9, True, False, False),
        Node(0, 2, None, "x", -1.5, -1.5, -1.5, False, False, False),
        Node(1, 0, 0, "y", -0.2, -0.3, -0.3, True, True, True),
        Node(1, 1, 1, "z", -0.3, -1.2, -1.2, False, False, False),
    ]
    figure = beam_tree(nodes, "$root", LIGHT)
    named = {trace.name: trace for trace in figure.data if trace.name}
    places = {name: list(zip(trace.x, trace.y, strict=True)) for name, trace in named.items()}
    assert places == {"pruned": [(0, 2), (1, 1)], "kept": [(0, 1)], "winner": [(0, 0), (1, 0)]}
    assert named["winner"].text[0] == "&lt;b&gt;"
    assert "(end)" in named["winner"].hovertext[1]
    pruned, kept, winner = figure.data[:3]
    assert list(winner.x) == [-0.5, 0, None, 0, 1, None]
    assert list(winner.y) == [0, 0, None, 0, 0, None]
    assert list(pruned.y) == [0, 2, None, 1, 1, None]
    assert len(kept.x) == 3
