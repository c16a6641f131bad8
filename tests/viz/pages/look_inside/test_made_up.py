"""Protects the spine: a source with two streams and nothing else works in the app as it is."""

import io

import numpy as np
import pytest

from model.sources import table as sources
from tests.model.made_up import HEADS, LAYERS, LEFT, RIGHT, MadeUp, made_up_trace
from tests.viz.apps import checks_shown, lines, offered_of, open_page, query_of
from tests.viz.builders import csv_rows, live_data
from viz import runs, studio
from viz.frame import tables
from viz.frame.offers import missing
from viz.kit.arrays import head_arrays
from viz.live import store

MODEL = "made-up:two-streams"
GROUPS = ("left.attn", "right.attn", "right.cross_attn")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The source beside the checkpoints."""
    monkeypatch.setitem(sources.SOURCES, "made-up", MadeUp())


def test_the_attention_page_works_on_it() -> None:
    app = open_page("Attention", model=MODEL)
    assert lines(app, "error") == []
    assert any("takes no sentence: it shows an input of its own" in x for x in lines(app, "note"))
    data = live_data(app)
    assert [group["name"] for group in data["groups"]] == list(GROUPS)
    assert list(data["streams"]) == ["left", "right"]
    assert data["streams"]["right"]["words"] is None, "no tokenizer says what a word is"
    titles = ["Left self-attention", "Right self-attention", "Right cross-attention"]
    assert offered_of(app, "attention") == titles
    assert "Verified: 6 of 6" in app.get("popover")[0].proto.popover.label
    assert [row["verdict"] for row in checks_shown(app)[0]] == ["passed"] * 6


def test_every_head_is_sent_and_found_by_its_address() -> None:
    app = open_page("Attention", model=MODEL)
    data, trace = live_data(app), made_up_trace()
    found = store.get(data["key"])
    assert found is not None
    for group, sent in zip(trace.groups, data["groups"], strict=True):
        assert (sent["n_layers"], sent["n_heads"]) == (LAYERS, HEADS)
        assert (sent["queries"], sent["keys"]) == (group.queries, group.keys)
        for record, address in zip(group.records, sent["sites"], strict=True):
            assert address == record.site.address
            arrays = head_arrays(found.record(record.site), 2)
            np.testing.assert_array_equal(arrays["mask"], record.mask[2])
            assert arrays["scale"].item() == 1


def test_its_setting_is_in_the_address_and_comes_back() -> None:
    app = open_page("Attention", model=MODEL, attention="right.cross_attn", head="1")
    address = {name: value[-1] for name, value in query_of(app).items()}
    assert address["attention"] == "right.cross_attn"
    assert address["model"] == MODEL
    assert live_data(open_page("Attention", **address))["settings"]["attention"] == GROUPS[2]
    wrong = open_page("Attention", model=MODEL, attention="up.attn", head="7")
    assert live_data(wrong)["settings"]["attention"] == GROUPS[0]
    assert live_data(wrong)["settings"]["head"] == HEADS - 1
    assert sum("up.attn" in x or "H7" in x or "Head 7" in x for x in lines(wrong, "note")) == 2


def test_its_exports_hold_it() -> None:
    run = runs.run(runs.handle_of(MODEL, "cpu"), "")
    with np.load(io.BytesIO(runs.trace_npz(run)), allow_pickle=False) as stored:
        for address, array in made_up_trace().arrays():
            np.testing.assert_array_equal(stored[address], array, err_msg=address)
    head = {"attention": "right.cross_attn", "layer": "1", "head": "0"}
    app = open_page("Attention", model=MODEL, inspect="export", **head)
    labels = {x.proto.label for x in app.get("download_button")}
    assert labels == {"Pattern Right cross-attention L1 H0 (CSV)", "Whole trace (npz)"}


def test_the_pattern_as_csv_has_both_streams() -> None:
    record = made_up_trace().group("right.cross_attn").records[0]
    csv = tables.table_csv(record.pattern[1], RIGHT.labels, LEFT.labels, "query \\ key")
    header, *rows = csv_rows(csv)
    assert (len(rows), len(header)) == (7, 6)
    assert header[1] == "0 <patch␣0>"
    assert [float(x) for x in rows[6][1:]] == pytest.approx(record.pattern[1, 6].tolist())


def test_views_that_do_not_apply_are_not_offered_and_say_why() -> None:
    data = live_data(open_page("Attention", model=MODEL))
    why = {
        option["name"]: option["why"] for name in ("against", "changes") for option in data[name]
    }
    assert why["sentence"] == "this source takes no text."
    assert why["scale"] == "scores are not scaled here."
    assert why["head"] is why["mask"] is None
    assert all(view["why"] is None for view in data["views"])


def test_pages_that_do_not_apply_are_not_offered_and_say_why() -> None:
    app = open_page("Attention", model=MODEL)
    (body,) = (x.proto.body for x in app.get("html") if '<nav class="hl-rail"' in x.proto.body)
    lacking = [page for page in studio.PAGES if page.NEEDS]
    assert body.count("hl-lacking") == len(lacking) == len(studio.PAGES) - 8
    for page in lacking:
        reasons = missing(page.NEEDS, frozenset())
        assert reasons
        linked = open_page(page.TITLE, model=MODEL)
        assert lines(linked, "error") == []
        said = [x for x in lines(linked, "note") if "does not apply to" in x]
        assert said == [f"{page.TITLE} does not apply to {MODEL}: {' and '.join(reasons)}."]
