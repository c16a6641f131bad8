"""A person takes the model apart: heads off, values patched, edges cut, attention by hand."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.capture import capture
from model.tap import Editor
from model.trace import Trace
from tests.model.builders import set_head, set_weight, softmax
from tests.screen import DRAWN, PLACE, TOM, drawn, query, settle, settling, visit
from tests.viz.builders import stories, stories_trace
from tests.viz.pages.experiments.test_circuit import by_hand
from viz.digits import digits

GIRL = "The girl lost the ball, so"
NEAR = f"""([key, expected]) => {{
    const [found] = ({DRAWN})(key);
    return found?.length === expected.length
        && expected.every((value, i) => Math.abs(value - found[i]) <= 1e-4);
}}"""


def finish(page: Page) -> None:
    """Wait until all is measured: a page settles between pieces."""
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    settle(page)


def click(page: Page, key: str, row: int, column: int) -> None:
    """Click a cell of a map, or a bar, once all of it is there."""
    finish(page)
    page.evaluate(PLACE, [key, 0, row, column])
    settle(page)  # a figure that was out of sight is drawn once it is scrolled to
    with settling(page):
        page.mouse.click(*page.evaluate(PLACE, [key, 0, row, column]))


def expect_drawn(page: Page, key: str, expected: np.ndarray) -> None:
    """Wait until the bars of a figure have these lengths."""
    page.wait_for_function(NEAR, arg=[key, expected.tolist()])


def losses(trace: Trace) -> np.ndarray:
    """−ln p of each token but the first."""
    probs = softmax(trace.logits[:-1].astype(np.float64))
    return -np.log(probs[np.arange(len(probs)), trace.ids[1:]])


def test_a_head_and_an_arrow_are_switched_off_and_on(page: Page) -> None:
    visit(page, page="Ablation", sentence=TOM, layer="L2", head="H4")
    before = stories_trace(TOM)
    ids, tokens, model = before.ids.tolist(), before.tokens, stories().model
    click(page, "head-costs", 0, 7)
    expect(page.get_by_text("Off, set to zero: L0 H7.")).to_be_visible()
    page.wait_for_url("**/*off=decoder.attn.0.7")
    first = set_head("decoder.blocks.0.attn", 7)
    after = capture(model, ids, tokens, attachments=[Editor(first)])
    expect_drawn(page, "loss-change", losses(after) - losses(before))
    page.evaluate(PLACE, ["pattern-after", 0, 0, 0])
    settle(page)  # it is drawn once it is in sight
    shown = drawn(page, "pattern-after")[0]
    expected = after.attention[2].pattern[4]
    np.testing.assert_allclose(shown[np.isfinite(shown)], expected[np.tri(len(ids)) > 0], atol=1e-4)
    click(page, "pattern-before", 9, 4)
    page.wait_for_url("**/*off=decoder.attn.0.7%2Cdecoder.attn.2.4.9.4")
    arrow = set_weight("decoder.blocks.2.attn", 4, 9, 4)
    after = capture(model, ids, tokens, attachments=[Editor(first, arrow)])
    expect_drawn(page, "loss-change", losses(after) - losses(before))
    click(page, "head-costs", 0, 7)
    page.wait_for_url("**/*off=decoder.attn.2.4.9.4")


def test_a_grid_finds_the_subject_and_a_cell_leads_to_its_head(page: Page) -> None:
    visit(page, page="Patching", sentence=GIRL)
    finish(page)
    (stream,) = drawn(page, "patched-resid-pre")
    assert stream[0].argmax() == 1
    assert stream[0, 1] == pytest.approx(1, abs=1e-4)
    assert np.isfinite(stream).all()
    marked = page.locator(".hl-marked bdi")
    expect(marked).to_have_text(["girl", "boy"])
    click(page, "patched-z", 3, 4)
    page.wait_for_url("**patch=z.3.4*")
    expect(page.get_by_role("heading", name="L3 H4")).to_be_visible()
    page.locator(".hl-way", has_text="L3 H4").click()
    page.wait_for_url("**page=Attention*")
    assert (query(page).get("layer", "3"), query(page).get("head", "2")) == ("3", "4")


def test_an_edge_of_a_circuit_is_cut_and_let_go(page: Page) -> None:
    first, second = "The girl lost the", "The boy lost the"
    visit(page, page="Circuit", sentence=first, second=second)
    finish(page)
    found = by_hand(first, second)
    largest = np.abs(found.strongest.exact).argmax()
    lost, of = found.strongest.exact[largest], found.paths.whole
    page.locator(".hl-edges button").first.click()
    says = page.locator(".hl-edge-panel")
    expect(says).to_contain_text(f"from {digits(of, 3)} to {digits(of - lost, 3)}")
    edge = ".".join(map(str, found.strongest.edges[largest].tolist()))
    page.wait_for_url(f"**/*circuit_edge={edge}*")
    settle(page)
    page.go_back()
    expect(says).to_be_hidden()


def test_a_number_of_attention_by_hand_stands_in_the_address(page: Page) -> None:
    visit(page, page="Attention by hand")
    page.get_by_label("K row 2, column 1").fill("−1,5")
    page.wait_for_url("**hand_cells=**")
    assert query(page)["hand_cells"] == "1,0;0,1|1,0;-1.5,1|1,0;0,1|"
    settle(page)
    page.go_back()
    expect(page.get_by_label("K row 2, column 1")).to_have_value("0")
