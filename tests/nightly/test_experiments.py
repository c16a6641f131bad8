"""Protects Contributions and Ablation in a real browser: clicked by hand."""

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

from model.analysis.attribution import attribute
from model.capture import capture
from model.tap import Editor, set_head, set_weight
from model.trace import Trace
from tests.model.builders import softmax
from tests.screen import DRAWN, PLACE, TOM, figure, query, visit, wait_until_idle
from tests.viz.builders import stories, stories_trace

N_ANSWERS = 10  # the five most likely of the run as it is, and the first five of equal ones
# Every cell of the map of heads has its number.
ALL_KNOWN = """() => [...document.querySelectorAll('.st-key-figure-head-costs .js-plotly-plot')]
    .some(chart => chart._fullData?.length === 1)"""


def click(page: Page, key: str, row: int, column: int) -> None:
    """Click a cell of a map, or a bar."""
    page.evaluate(PLACE, [key, 0, row, column])
    page.wait_for_timeout(1000)  # it scrolls there, and is drawn once it is in sight
    x, y = page.evaluate(PLACE, [key, 0, row, column])
    page.mouse.click(x, y)
    page.wait_for_timeout(300)
    wait_until_idle(page)


def drawn(page: Page, key: str) -> list[np.ndarray]:
    """What a figure shows, trace by trace."""
    return [np.array(values, dtype=float) for values in page.evaluate(DRAWN, key)]


def expect_drawn(page: Page, key: str, expected: np.ndarray, trace: int = 0) -> None:
    """A figure shows these numbers within a while: it is drawn after the page is."""
    shown = np.array([])
    for _ in range(60):
        found = drawn(page, key)
        shown = found[trace] if trace < len(found) else shown
        if shown.shape == expected.shape and np.abs(shown - expected).max() <= 1e-4:
            return
        page.wait_for_timeout(500)
    np.testing.assert_allclose(shown, expected, atol=1e-4)


def losses(trace: Trace) -> np.ndarray:
    """−ln p of each token but the first."""
    probs = softmax(trace.logits[:-1].astype(np.float64))
    return -np.log(probs[np.arange(len(probs)), trace.ids[1:]])


def test_a_head_is_clicked_and_split_by_key(page: Page) -> None:
    visit(page, page="Contributions", sentence=TOM)
    trace = stories_trace(TOM)
    last = len(trace.tokens) - 1
    found = attribute(trace, stories().model, last, int(trace.logits[last].argmax()))
    expect_drawn(page, "heads", np.stack(list(found.heads.values())))
    click(page, "heads", 4, 3)
    expect(page.get_by_role("heading", name="Head L4 H3")).to_be_visible()
    assert (query(page)["layer"], query(page)["head"]) == ("4", "3")
    expect_drawn(page, "keys", found.keys["decoder.blocks.4.attn"][3])
    page.get_by_text("L4 H3 on Attention").click()
    page.wait_for_url("**/*page=Attention*layer=4*head=3*")


def test_a_head_and_an_arrow_are_switched_off_and_on(page: Page) -> None:
    visit(page, page="Ablation", sentence=TOM, layer="L2", head="H4")
    before = stories_trace(TOM)
    ids, tokens, model = before.ids.tolist(), before.tokens, stories().model
    click(page, "head-costs", 0, 7)
    expect(page.get_by_text("Off, set to zero: L0 H7.")).to_be_visible()
    assert query(page)["off"] == "decoder.attn.0.7"
    first = set_head("decoder.blocks.0.attn", 7)
    after = capture(model, ids, tokens, attachments=[Editor(first)])
    expect_drawn(page, "loss-change", losses(after) - losses(before))
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


def test_costs_fill_in_and_heads_are_pruned_while_one_looks(page: Page) -> None:
    visit(page, page="Ablation", sentence="Tom had a red ball.")
    expect(page.get_by_text("The head that costs most is")).to_be_visible()
    trace = stories_trace("Tom had a red ball.")
    page.wait_for_function(ALL_KNOWN)
    costs = drawn(page, "head-costs")[0]
    assert np.isfinite(costs).all()
    for layer, head in ((0, 0), (3, 5)):
        editor = Editor(set_head(f"decoder.blocks.{layer}.attn", head))
        with torch.inference_mode():
            run = capture(stories().model, trace.ids.tolist(), trace.tokens, attachments=[editor])
        assert costs[layer, head] == pytest.approx(
            losses(run).mean() - losses(trace).mean(), abs=1e-4
        )
    page.get_by_role("button", name="Prune heads").click()
    expect(figure(page, "pruning").locator(".main-svg").first).to_be_visible()
    expect(page.get_by_role("button", name="Prune again")).to_be_visible()
    (curve,) = drawn(page, "pruning")
    assert len(curve) == 49
    assert curve[0] == pytest.approx(losses(trace).mean(), abs=1e-4)


def test_with_everything_off_the_page_says_that_nothing_is_left(page: Page) -> None:
    visit(page, page="Ablation", sentence=TOM)
    page.get_by_role("button", name="Everything off").click()
    expect(page.get_by_text("Nothing is left of the model")).to_be_visible()
    wait_until_idle(page)
    expect_drawn(page, "answers", np.full(N_ANSWERS, 1 / 4096), trace=1)
