"""Protects the page Circuit: it asks for what both texts make likely, and refuses in a line."""

from functools import cache

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.metrics import Metric, telling_tokens
from model.analysis.patching import Pair
from model.analysis.paths.circuit import Circuit
from model.analysis.paths.terms import paths
from tests.viz.apps import chosen, faultless, finished, lines, open_page, tables_shown
from tests.viz.builders import live_data, stories, stories_trace

GIRL, BOY = "The girl lost the ball, so", "The boy lost the ball, so"


@cache
def by_hand(first: str, second: str) -> Circuit:
    """The circuit computed beside the page."""
    both = [stories_trace(text) for text in (first, second)]
    n = len(both[0].tokens)
    metric = Metric("difference", n - 1, *telling_tokens(*(x.logits[-1] for x in both)))
    ids = [x.ids.tolist() for x in both]
    found = Circuit(paths(Pair(stories().decoder, *ids, metric)))
    found.finish()
    return found


@pytest.fixture(scope="module")
def whole() -> AppTest:
    """The page once all is there; that it is pruned, its address asks."""
    return finished(open_page("Circuit", sentence=GIRL, second=BOY, circuit_which="pruned"))


def test_the_page_has_the_circuit_of_both_sentences(whole: AppTest) -> None:
    sent, found = live_data(faultless(whole)), by_hand(GIRL, BOY)
    assert sent["n_all"] == found.all.n_all
    assert [sent["answer"], sent["against"]] == ["she", "he"]
    places, (effects, are_exact, _) = np.split(sent["strongest_edges"].T, [6])
    assert (found.strongest.edges[:100] == places.T).all()
    assert effects == pytest.approx(found.strongest.exact[:100], abs=1e-4)
    assert sent["curve"][:, 1] == pytest.approx(found.curve.shares, abs=1e-4)
    assert are_exact.all()
    (line,) = [x for x in lines(whole, "aside") if "edges are estimated" in x]
    assert line.startswith(f"All {found.all.n_all:,} edges")
    assert 0.9 <= sent["pruned"]["share"] <= 1.1
    assert sent["pruned"]["n"] < 300


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"sentence": GIRL, "second": GIRL}, "both texts are the same"),
        ({"sentence": GIRL, "second": "A man."}, "tokens"),
        ({"sentence": GIRL, "second": BOY, "answer": "5", "instead": "5"}, ""),
        ({"sentence": "The", "second": "A"}, ""),
    ],
)
def test_what_has_no_circuit_is_a_line(query: dict[str, str], says: str) -> None:
    app = open_page("Circuit", **query)
    assert not app.exception
    assert not says or any(says in x for kind in ("error", "note") for x in lines(app, kind))


def test_how_far_it_is_has_a_total() -> None:
    app = open_page("Circuit", sentence=GIRL, second=BOY)
    (bar,) = app.get("progress")
    n_layers = stories().config.n_layers
    assert bar.proto.text == f"Step 1 of 3. Edges estimated: 0 of {n_layers} layers"


def test_the_same_edges_on_other_sentences_and_another_answer_s(whole: AppTest) -> None:
    """Suggested ones have other words; one of another length is a line, an empty one nothing."""
    app = chosen(whole, circuit_which="strongest", circuit_edges=100_000)
    boxes = [box for box in app.text_input if box.label.startswith("Sentence ")]
    assert boxes[0].value != GIRL and boxes[0].value.split()[1] == "girl"
    chosen(app, elsewhere_1=GIRL, elsewhere_2="A man.", elsewhere_3=" ")
    (table,) = tables_shown(app)
    found, n = by_hand(GIRL, BOY), live_data(app)["n_kept"]
    assert float(table["F"]["Sentence 1"]) == pytest.approx(found.curve.shares[-1], abs=0.01)
    assert table["answer"]["Sentence 1"] == "“she” rather than “he”"
    assert "3 tokens; the first text has 7" in table["answer"]["Sentence 2"]
    assert "Sentence 3" not in table["F"]
    assert float(table["F"]["As many edges at random"]) == pytest.approx(1, abs=0.01)
    assert n == found.curve.sizes[-1]
    chosen(app, metric="logit")
    finished(app)
    assert live_data(app)["against"] == ""
