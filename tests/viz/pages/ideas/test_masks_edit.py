"""Protects the editable mask: the model runs under it, and edits stay with what they are of."""

import re

import numpy as np
import pytest

from tests.model.builders import softmax
from tests.viz.apps import TOM, address_of, chosen, lines, open_page, query_of
from tests.viz.builders import live_data, stories, stories_trace
from tests.viz.pages.ideas.masks_view import KINDS, cells, note_with, open_view, under

LET_GO = "were of another sentence or mask"


@pytest.mark.parametrize(
    ("mask", "edits"),
    [("causal", "7-3"), ("global_tokens", ""), ("global_tokens", "7-3.7-4.2-9.0-0")],
)
def test_edited_mask_is_the_one_the_model_runs_under(mask: str, edits: str) -> None:
    app = open_view("edit", edits=edits, mask=mask, layer="3", head="5", token="7")
    loaded, trace = stories(), stories_trace(TOM)
    n = len(trace.ids)
    seen = KINDS[mask][1] if mask == "causal" else lambda i, j, n: j <= i and (i - j < 4 or j < 1)
    base = cells(n, lambda i, j: seen(i, j, n))
    edited = base.copy()
    for query, key in re.findall(r"(\d+)-(\d+)", edits):
        edited[int(query), int(key)] ^= True
    data = live_data(app)
    assert data["settings"]["edits"] == edits
    assert (data["base"] == base).all()
    assert (data["mask"] == edited).all()
    before, after = (under(loaded, trace.ids.tolist(), x) for x in (base, edited))
    assert data["pattern"] == pytest.approx(after.attention[3].pattern[5], abs=1e-5)
    probs = [softmax(x.logits[7]) for x in (before, after)]
    top = data["bars"][0]
    assert top["after"] == pytest.approx(probs[1].max(), abs=1e-5)
    assert top["before"] == pytest.approx(probs[0][probs[1].argmax()], abs=1e-5)
    for bar in data["bars"]:
        assert np.abs(probs[1] - bar["after"]).min() < 1e-5
    is_empty = "0-0" in edits
    notes = [line for line in lines(app, "note") if "No key is left for" in line]
    assert len(notes) == is_empty
    if is_empty:
        assert "0 “Tom”" in notes[0]
        assert "(largest |z| = 0)" in notes[0]


def test_edits_are_of_their_sentence_and_mask() -> None:
    for key, value in (("sentence", "The old bear walked."), ("mask", "everything")):
        app = open_view("edit", edits="3-1")
        before = live_data(app)["settings"]
        chosen(app, **{key: value})
        settings = live_data(app)["settings"]
        assert settings["edits"] == ""
        assert settings["edits_of"] != before["edits_of"]
        assert not {"edits", "edits_of"} & set(address_of(app))
        assert note_with(app, LET_GO)


def test_edits_in_an_address_are_of_the_sentence_there() -> None:
    """The sentence may change while another view or page is open, which keeps the old edits."""
    app = open_view("edit", edits="3-1")
    query = {name: value[-1] for name, value in query_of(app).items()}
    assert query["edits"] == "3-1"
    assert live_data(open_page(query.pop("page"), **query))["settings"]["edits"] == "3-1"
    other = open_page("Masks", **query | {"sentence": "one two three four five"})
    assert live_data(other)["settings"]["edits"] == ""
    assert note_with(other, LET_GO)


def test_a_cell_that_does_not_exist_is_left_out() -> None:
    app = open_view("edit", edits="1-1.99-1")
    assert live_data(app)["settings"]["edits"] == "1-1"
    assert note_with(app, "1 edited cell does not exist here").endswith("below 13 tokens.")
