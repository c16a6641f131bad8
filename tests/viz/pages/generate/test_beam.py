"""Protects the Beam search page: its tree is the model's, and its verdict true."""

import html
from dataclasses import replace

import pytest

from model.decoding.beam import Candidate, beam_search
from tests.viz.apps import TOM, chart, checks_shown, lines, open_page
from tests.viz.builders import latex_numbers, numbers, stories, stories_trace
from viz import runs
from viz.labels import visible
from viz.pages.generate.beam import verdict


@pytest.mark.parametrize("width", [1, 3])
def test_beam_tree_is_the_model_s(width: int) -> None:
    app = open_page("Beam search", sentence=TOM, beam_width=str(width), alpha="0.7")
    trace = stories_trace(TOM)
    steps = list(
        beam_search(
            stories().model,
            trace.ids.tolist(),
            beam_width=width,
            max_new_tokens=8,
            length_penalty=0.7,
            end_ids={stories().tokenizer.end_id},
        )
    )
    pruned, kept, winner = chart(app, "beam").data[3:6]
    n_candidates = sum(len(step.candidates) for step in steps)
    assert sum(len(numbers(kind["x"])) for kind in (pruned, kept, winner)) == n_candidates
    best = steps[-1].winner
    tokens = stories().tokenizer.token_strings(list(best.ids))
    assert [html.unescape(x).rstrip("…") for x in winner["text"]] == [
        visible(token)[:12].rstrip("…") for token in tokens
    ]
    assert latex_numbers(app.latex[-1].value)[-1] == pytest.approx(best.score, abs=6e-5)
    texts = [e.proto.body for e in app.get("html") if 'class="hl-written"' in e.proto.body]
    assert any(
        "/ ((5 + n)/6)^α" in x and "transformers divides by n^α" in x for x in lines(app, "aside")
    )
    assert len(texts) == 1 or (width > 1 and texts[0] != texts[1]), "width 1 is greedy"


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
