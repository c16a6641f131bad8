"""Protects positions and masks in the browser: promises as printed, hands, and a mask by hand."""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from model.analysis.positions import check_identities
from model.capture import capture
from model.positions import rope_angles, rotate_pairs
from model.sources.checkpoint import Checkpoint
from model.trace import Trace
from tests.model.builders import softmax
from tests.screen import TOM, drawn, look, query, visit, wait_until_idle
from tests.viz.builders import scheme_model, stories, stories_trace, trace_of
from viz.figures.labels import token_labels

FIRST_CHART = {
    "sinusoidal": "wave",
    "learned": "similarity-waves",
    "rope": "scores-after",
    "alibi": "bias",
    "none": "causal",
}
TABS = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "none": "None",
}
EDITOR = ".hl-live:has(.hl-editor)"
PLACE = """([selector, row, column]) => {
    const chart = document.querySelector(`${selector} .js-plotly-plot`);
    chart.scrollIntoView({block: 'center'});
    const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
}"""
PATTERN = f"""() => Array.from(
    document.querySelector('{EDITOR} .js-plotly-plot').data[0].z, row => Array.from(row))"""


def promises(page: Page) -> dict[str, tuple[float, float, str]]:
    """Every property printed on the page: max error, what is allowed, and the verdict."""
    texts = page.locator(".hl-good").all_inner_texts()
    line = r"(.*): property (.*) \(max error (.*), allowed (.*)\)"
    found = [re.fullmatch(line, text) for text in texts]
    return {x[1]: (float(x[3]), float(x[4]), x[2]) for x in found}


def number(page: Page, name: str) -> float:
    """A number of the hands at full precision."""
    return float(page.locator(f".hl-rotor [data-number={name}]").get_attribute("data-value"))


def slide(page: Page, setting: str, value: int) -> Locator:
    """Move one of the sliders under the hands."""
    slider = page.locator(f"[data-setting={setting}]")
    slider.fill(str(value))
    return slider


@pytest.mark.parametrize("scheme", TABS)
def test_promises_are_printed_as_they_are_measured(page: Page, scheme: str) -> None:
    look(page, FIRST_CHART[scheme], page="Positions", sentence=TOM, model=f"positions-{scheme}")
    loaded = scheme_model(scheme)
    expected = check_identities(trace_of(loaded, TOM), loaded.model)
    found = promises(page)
    assert list(found) == [item.name for item in expected]
    for item in expected:
        error, allowed, verdict = found[item.name]
        assert error <= allowed <= 1e-4
        assert error == pytest.approx(item.error, rel=0.06, abs=3e-6)
        assert (allowed, verdict) == (item.bound, "verified")
    badge = page.get_by_test_id("stPopover").get_by_role("button").first
    n_of_run = len(loaded.check(trace_of(loaded, TOM))) + 1  # and its ids are the text
    expect(badge).to_contain_text(f"Verified: {n_of_run + len(expected)} of")


def test_moving_both_hands_changes_no_score(page: Page) -> None:
    look(page, "scores-after", page="Positions", sentence=TOM, model="positions-rope",
         layer="2", head="1", query="8", key="3")  # fmt: skip
    loaded = scheme_model("rope")
    record = trace_of(loaded, TOM).attention[2]
    page.locator(".hl-live[data-drawn$=' rotor']").wait_for()
    assert number(page, "score") == pytest.approx(record.scores[1, 8, 3], abs=1e-4)
    assert number(page, "error") < 1e-4
    slide(page, "both", 300)
    assert number(page, "distance") == 5
    assert abs(number(page, "drift")) < 1e-4
    slide(page, "first", 17)
    slide(page, "second", 2)
    back = [rope_angles(torch.tensor([-at]), 32) for at in (8, 3)]
    there = [rope_angles(torch.tensor([at]), 32) for at in (17, 2)]
    sides = [torch.tensor(x)[None, None, None] for x in (record.q[1, 8], record.k[1, 3])]
    turned = [
        rotate_pairs(rotate_pairs(x, old), new)
        for x, old, new in zip(sides, back, there, strict=True)
    ]
    expected = (turned[0] * turned[1]).sum().item() / np.sqrt(32)
    assert number(page, "score") == pytest.approx(expected, abs=1e-4)
    page.wait_for_url(re.compile(r"place_first=17.*place_second=2|place_second=2.*place_first=17"))


def test_hands_of_the_waves_add_up_to_the_dot_product(page: Page) -> None:
    visit(page, page="Positions", place_first="40", place_second="33")
    page.locator(".hl-live[data-drawn$=' rotor']").wait_for()
    table = stories().model.position.table.cpu().double()
    assert number(page, "score") == pytest.approx((table[40] @ table[33]).item(), abs=1e-4)
    slide(page, "both", 200)
    assert number(page, "score") == pytest.approx((table[207] @ table[200]).item(), abs=1e-4)
    assert abs(number(page, "drift")) < 1e-9


def test_other_order_prints_its_difference(page: Page) -> None:
    look(page, "causal", page="Positions", sentence="dog bites man", model="positions-none")
    for key, is_same in (("no-mask", True), ("causal", False)):
        first, second, difference = drawn(page, key)
        order = [len(first) - 1, *range(1, len(first) - 1), 0]
        assert difference == pytest.approx(second[order] - first, abs=1e-5)
        assert (np.abs(difference).max() < 1e-4) == is_same
    notes = page.locator(".hl-note")
    expect(notes.filter(has_text="no difference beyond rounding")).to_have_count(1)
    expect(notes.filter(has_text="the order makes a difference")).to_have_count(1)


def test_tokens_beyond_a_learned_table_are_named(page: Page) -> None:
    text = " ".join(["The old bear walked up the hill and saw the moon."] * 13)
    look(page, "similarity-waves", page="Positions", sentence=text, model="positions-learned")
    note = page.locator(".hl-note").filter(has_text="have no position")
    expect(note).to_contain_text("The table ends at position 127")
    expect(note).to_contain_text("128 “")


# --- masks --------------------------------------------------------------------------------------


def under(loaded: Checkpoint, ids: list[int], mask: np.ndarray) -> Trace:
    """What a model does on ids under a mask."""
    return capture(loaded.model, ids, loaded.tokenizer.token_strings(ids), mask)


def test_kinds_of_mask_and_what_they_cost(page: Page) -> None:
    visit(page, page="Masks", sentence=TOM, layer="2", head="5")
    ids = stories_trace(TOM).ids.tolist()
    page.get_by_role("radio", name="sliding window", exact=True).click()
    expect(page.locator(".katex-html").filter(has_text="attended pairs")).to_contain_text("46")
    wait_until_idle(page)
    mask = np.tri(len(ids), dtype=bool) & ~np.tri(len(ids), k=-4, dtype=bool)
    pattern = under(stories(), ids, mask).attention[2].pattern[5]
    shown = drawn(page, "pattern")[0]
    assert shown[mask] == pytest.approx(pattern[mask], abs=1e-5)
    assert np.isnan(shown[~mask]).all()
    assert query(page)["mask"] == "sliding_window"


def open_editor(page: Page, /, **more: str) -> None:
    """The editable mask, with the model's first answer on screen."""
    page.goto("/?" + "&".join(f"{name}={value}" for name, value in {
        "page": "Masks", "masks": "edit", "layer": "2", "head": "5",
        "sentence": TOM.replace(" ", "+"),
    }.items() | more.items()))  # fmt: skip
    answered(page, more.get("edits", ""))


def answered(page: Page, edits: str) -> None:
    """Wait until the model has answered these edits."""
    editor = page.locator(EDITOR)
    expect(editor).to_have_attribute("data-drawn", re.compile(rf" editor {re.escape(edits)}$"))
    expect(page.locator(f"{EDITOR}[data-waiting]")).to_have_count(0)


def flip(page: Page, row: int, column: int) -> None:
    """Click a cell of the editable mask."""
    page.mouse.click(*page.evaluate(PLACE, [EDITOR, row, column]))


def shown_pattern(page: Page) -> np.ndarray:
    """The weights on screen; hidden cells are NaN."""
    return np.array(page.evaluate(PATTERN), dtype=float)


def test_a_clicked_cell_changes_the_pattern_and_what_comes_next(page: Page) -> None:
    open_editor(page)
    loaded, trace = stories(), stories_trace(TOM)
    ids, mask = trace.ids.tolist(), trace.attention[0].mask.copy()
    for row, column, edits in ((7, 3, "7-3"), (2, 9, "2-9.7-3")):
        flip(page, row, column)
        answered(page, edits)
        mask[row, column] = not mask[row, column]
    after = under(loaded, ids, mask)
    shown = shown_pattern(page)
    assert shown[mask] == pytest.approx(after.attention[2].pattern[5][mask], abs=1e-5)
    assert np.isnan(shown[~mask]).all()
    probs = softmax(after.logits[-1])
    bars = page.locator(f"{EDITOR} .hl-bars [data-after]")
    assert float(bars.first.get_attribute("data-after")) == pytest.approx(probs.max(), abs=1e-5)
    page.wait_for_url("**edits=2-9.7-3*")
    page.locator(".st-key-inspect-check button").click()
    expect(page.get_by_text("under this mask: Verified: 23 of 23")).to_be_visible()
    page.reload()
    answered(page, "2-9.7-3")
    assert shown_pattern(page) == pytest.approx(shown, abs=1e-6, nan_ok=True)


def test_an_emptied_row_is_zero_and_said(page: Page) -> None:
    open_editor(page)
    flip(page, 0, 0)
    answered(page, "0-0")
    label = token_labels(stories_trace(TOM).tokens)[0]
    note = page.locator(".hl-note").filter(has_text="No key is left for")
    expect(note).to_contain_text(f"0 “{label}”: these rows are zero, not NaN")
    expect(note).to_contain_text("largest |z| = 0")
    expect(page.locator(f"{EDITOR} [data-empty]")).to_contain_text(label)
    assert np.isnan(shown_pattern(page)[0]).all()


def test_edits_do_not_follow_to_another_sentence(page: Page) -> None:
    open_editor(page, edits="7-3")
    page.get_by_label("Sentence", exact=True).fill("one two three four five six")
    expect(page.locator(".hl-note").filter(has_text="another sentence or mask")).to_be_visible()
    answered(page, "")
    expect(page).not_to_have_url(re.compile("edits="))


def test_without_its_mask_numbers_leak(page: Page) -> None:
    look(page, "past", page="Masks", masks="leak", sentence=TOM)
    note = page.locator(".hl-note").filter(has_text="becomes").inner_text()
    closed, leaking = re.findall(r"by (?:at most|up to) (\d+(?:\.\d+)?(?:e-\d+)?)", note)
    assert float(closed) < 1e-6
    assert float(leaking) > 1e-3
    note = page.locator(".hl-note").filter(has_text="Mean loss with its mask")
    expect(note).to_contain_text("tokens attended to their own targets")
