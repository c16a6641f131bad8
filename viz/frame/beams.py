"""A beam search as the nodes of its tree."""

from collections.abc import Sequence

from model.decoding.beam import BeamStep, Candidate
from viz.figures.beam import Node
from viz.figures.labels import told_apart


def winner_of(steps: Sequence[BeamStep]) -> Candidate:
    """The text that was found."""
    winner = steps[-1].winner
    assert winner is not None  # the last step has one
    return winner


def nodes_of(steps: Sequence[BeamStep], vocabulary: Sequence[str]) -> list[Node]:
    """All candidates of all steps; those of the winner are on its path."""
    path = winner_of(steps).ids
    shown = (candidate.token_id for step in steps for candidate in step.candidates)
    names = told_apart(vocabulary, shown)
    return [
        Node(
            step=number,
            place=place,
            parent=candidate.parent,
            label=names[candidate.token_id],
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
