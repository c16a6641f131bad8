"""A beam search as the nodes of its tree."""

from collections.abc import Sequence

from model.decoding.beam import BeamStep, Candidate
from model.verify.searched import Text, Tree
from viz.figures.beam import DOTS, SAID, Node, by_kind
from viz.figures.labels import visible
from viz.frame import screen
from viz.live.chart.data import Origin
from viz.runs import Compared


def winner_of(steps: Sequence[BeamStep]) -> Candidate:
    """The text that was found."""
    winner = steps[-1].winner
    assert winner is not None  # the last step has one
    return winner


def nodes_of(steps: Sequence[BeamStep], vocabulary: Sequence[str]) -> list[Node]:
    """All candidates of all steps; those of the winner are on its path."""
    path = winner_of(steps).ids
    return [
        Node(
            step=number,
            place=place,
            parent=candidate.parent,
            label=visible(vocabulary[candidate.token_id]),
            log_prob=candidate.log_prob,
            total=candidate.total,
            score=candidate.score,
            kept=candidate.kept,
            finished=candidate.finished,
            on_path=candidate.kept and candidate.ids == path[: number + 1],
            ids=candidate.ids,
        )
        for number, step in enumerate(steps)
        for place, candidate in enumerate(step.candidates)
    ]


def texts_of(nodes: Sequence[Node]) -> tuple[Text, ...]:
    """The text of each node, in the order in which the tree draws them."""
    return tuple(node.ids for kind in by_kind(nodes).values() for node in kind)


def tree_of(nodes: Sequence[Node], width: int, end_id: int, *others: Text) -> Tree:
    """The same texts with their places, and `others` that the search did not look at."""
    places = tuple(node.place for kind in by_kind(nodes).values() for node in kind)
    return Tree((*texts_of(nodes), *others), places, width, end_id)


def origin_of(found: Compared, nodes: Sequence[Node]) -> Origin:
    """Where independent runs have what the tree says of each candidate."""
    places, start = {}, 0
    for trace, kind in enumerate(by_kind(nodes).values(), DOTS):
        part = f"[{start}:{start + len(kind)}]"
        if kind:
            places |= {(trace, f"said.{line}"): f"texts.{of}{part}" for line, of in SAID.items()}
            places[trace, "x"] = f"texts.steps{part}"
            places[trace, "y"] = f"texts.places{part}"
            places[trace, "words.text"] = f"texts.tokens{part}"
            branches = f"[{3 * start}:{3 * (start + len(kind))}]"
            places[trace - DOTS, "y"] = f"texts.branches{branches}"
        start += len(kind)
    return screen.origin(found, places)
