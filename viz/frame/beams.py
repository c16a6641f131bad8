"""A beam search as the nodes of its tree, and how its texts are scored."""

from collections.abc import Sequence
from dataclasses import asdict

from model.decoding.beam import BeamStep, Candidate
from viz.figures.beam import Node
from viz.formulas.parts import score_with_numbers
from viz.frame import inspector, tables
from viz.labels import told_apart


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


def explain(winner: Candidate, nodes: Sequence[Node], penalty: float) -> inspector.Tables:
    """The score of the winner as a formula and with its numbers; gives back what can be saved."""
    name = "model.decoding.beam.normalised_score"
    inspector.formula(name)
    n = len(winner.ids)
    inspector.formula(name, score_with_numbers(winner.total, n, penalty, winner.score))
    inspector.source("model.decoding.beam.beam_search", name)
    return {"Candidates": lambda: _csv(nodes)}


def _csv(nodes: Sequence[Node]) -> bytes:
    frame = tables.frame([asdict(node) for node in nodes])
    return tables.frame_csv(frame.drop(columns="ids"))
