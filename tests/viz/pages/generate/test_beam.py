"""Protects the Beam search page: its tree is the model's, and its verdict true."""

from dataclasses import replace

from model.decoding.beam import Candidate
from tests.viz.apps import TOM, checks_shown, lines, open_page
from tests.viz.builders import stories_trace
from viz import runs
from viz.pages.generate.beam import verdict


def test_it_opens_where_greedy_finds_another_text() -> None:
    app = open_page("Beam search")
    texts = [e.proto.body for e in app.get("html") if 'class="hl-written"' in e.proto.body]
    assert len(set(texts)) == 2
    assert any("Beam search found the better text" in line for line in lines(app, "note"))


def test_both_texts_are_held_against_an_independent_run() -> None:
    query = {"beam_width": "2", "new_tokens": "5", "model": "positions-alibi"}
    app = open_page("Beam search", sentence=TOM, **query)
    passed = {row["check"]: row["verdict"] for row in checks_shown(app)[0]}
    for text in ("winner of the beams", "greedy text"):
        assert passed[f"log probability of the {text} = an independent run"] == "passed"


def test_another_log_probability_is_noticed() -> None:
    handle, ids = runs.handle_of("stories", "cpu"), tuple(stories_trace(TOM).ids.tolist())
    winner = runs.beams(handle, ids, 2, 4, 0.0)[-1].winner
    assert winner is not None
    assert runs.check_beam(handle, ids, "text", winner).passed
    for wrong in (
        replace(winner, total=winner.total + 1e-3),
        replace(winner, ids=winner.ids[::-1]),
    ):
        assert not runs.check_beam(handle, ids, "text", wrong).passed


def candidate(score: float, *ids: int) -> Candidate:
    """An ended text of a score."""
    return Candidate(
        ids=ids, parent=0, log_prob=score, total=score, score=score, kept=True, finished=True
    )


def test_the_verdict_compares_texts_before_scores() -> None:
    assert "same text" in verdict(candidate(-1.0 - 1e-12, 1, 2), candidate(-1.0, 1, 2))
    assert "Greedy found the better" in verdict(candidate(-1.5, 1, 3), candidate(-1.0, 1, 2))
    assert "Beam search found the better" in verdict(candidate(-1.0, 1, 3), candidate(-1.5, 1, 2))
