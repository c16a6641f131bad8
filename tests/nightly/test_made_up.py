"""Protects the spine in a real browser: the app with a source that has two streams and no model."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.model.made_up import RIGHT, made_up_trace
from tests.nightly.test_microscope import DRAWN, MAP, shown, wait_for
from tests.screen import content, download, visit
from tests.serving import RunningApp, running_app
from tests.visiting import visitor_of
from tests.viz.builders import csv_rows

ADDRESS = {"page": "Attention", "model": "made-up:two-streams"}
GROUPS = ("left.attn", "right.attn", "right.cross_attn")
VIEWS = ("map", "lines", "sentence", "whatif", "compare", "summary")


@pytest.fixture(scope="module")
def made_up_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """The real app with the made-up source registered."""
    log = tmp_path_factory.mktemp("made-up") / "log.txt"
    with running_app(log, "tests/scripts/made_up_app.py") as running:
        yield running


@pytest.fixture(scope="module")
def two_streams(browser: Browser, made_up_app: RunningApp) -> Iterator[Page]:
    """A visitor of it, who must see no error."""
    with visitor_of(browser, made_up_app, 1440) as page:
        yield page


@pytest.mark.parametrize("name", GROUPS)
def test_each_kind_of_attention_is_drawn_as_it_is(name: str, two_streams: Page) -> None:
    """Rectangular maps with the labels of their own streams, each head under its own mask."""
    visit(two_streams, **ADDRESS, attention=name, layer="1", head="2")
    group = made_up_trace().group(name)
    wait_for(two_streams, f"{group.title} L1 H2")
    record = group.records[1]
    drawn, mask = shown(two_streams), record.mask[2]
    assert drawn.shape == record.pattern[2].shape
    assert drawn[mask] == pytest.approx(record.pattern[2][mask], abs=1e-6)
    assert np.isnan(drawn[~mask]).all()
    expect(two_streams.get_by_test_id("stPopover").first).to_contain_text("Verified: 6 of 6")


def test_every_view_and_every_head_opens(two_streams: Page) -> None:
    visit(two_streams, **ADDRESS, attention="right.cross_attn", layer="0", head="0")
    title = made_up_trace().group("right.cross_attn").title
    for view in VIEWS:
        two_streams.locator(f"input[name=hl-view][value={view}]").check(force=True)
        wait_for(two_streams, f"{title} L0 H0", view)
        expect(two_streams.locator(".hl-error:visible")).to_have_count(0)
    two_streams.locator("input[name=hl-view][value=map]").check(force=True)
    wait_for(two_streams, f"{title} L0 H0")


def test_its_csv_has_the_labels_of_both_streams(two_streams: Page) -> None:
    visit(two_streams, **ADDRESS, attention="right.cross_attn", layer="0", head="1")
    group = made_up_trace().group("right.cross_attn")
    wait_for(two_streams, f"{group.title} L0 H1")
    button = two_streams.get_by_role("button", name="CSV", exact=True)
    header, *rows = csv_rows(content(download(two_streams, button)))
    assert len(header) == 1 + 5
    assert [row[0] for row in rows] == [f"{i} {x.strip()}" for i, x in enumerate(RIGHT.labels)]
    values = np.array([[float(x) for x in row[1:]] for row in rows])
    assert values == pytest.approx(group.records[0].pattern[1], abs=1e-6)


def test_its_saved_page_opens_alone(two_streams: Page, tmp_path: Path) -> None:
    visit(two_streams, **ADDRESS, attention="right.cross_attn", layer="1", head="2")
    group = made_up_trace().group("right.cross_attn")
    wait_for(two_streams, f"{group.title} L1 H2")
    path = tmp_path / "view.html"
    button = two_streams.get_by_role("button", name="HTML", exact=True)
    path.write_bytes(content(download(two_streams, button)))
    context = two_streams.context.browser.new_context(offline=True)
    alone, errors = context.new_page(), []
    alone.on("pageerror", lambda error: errors.append(str(error)))
    alone.goto(path.as_uri())
    wait_for(alone, f"{group.title} L1 H2")
    mask = group.records[1].mask[2]
    drawn = np.array(alone.evaluate(DRAWN, MAP), dtype=float)
    assert drawn[mask] == pytest.approx(group.records[1].pattern[2][mask], abs=1e-6)
    assert errors == []
    context.close()
