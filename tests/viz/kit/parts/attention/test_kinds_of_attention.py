"""Protects Attention where there is more than one kind of attention, in a real browser.

The run is made up: maps are not square, masks are per head, one scale is 1, tokens are no words.
"""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Position, Route, expect

from model.analysis.heads import measures, roles, strongest_pair
from model.trace import AttentionRecord, HeadGroup
from tests.screen import content, download
from tests.viz.builders import csv_rows
from tests.viz.harness import as_sent, at_rest, open_instrument, receive
from tests.viz.kit.parts.made import attention_settings
from tests.viz.kit.parts.made_up import D_HEAD, N_HEADS, SOURCE, TARGET, two_streams
from viz.kit.parts.attention import ROLES, STAGES, OtherRun, attention_part
from viz.kit.wire import stream_data

KINDS = ["source.attn", "target.attn", "target.cross_attn"]
CROSS = "target.cross_attn"
PARTS = ".hl-formula [data-value]"
SHOWN = """selector => Array.from(
    document.querySelector(`${selector} .js-plotly-plot`).data[0].z, row => Array.from(row))"""
LABELS = {name: stream_data(two_streams().stream(name))["labels"] for name in ("source", "target")}


def open_attention(page: Page, width: int = 1180, **changes: object) -> dict[str, Any]:
    """Open the part on the made-up run, which takes no text; what it was sent."""
    settings = attention_settings(**changes)
    data = attention_part(two_streams(), "a key", "made-up", settings)
    sent = as_sent(data)
    open_instrument(page, sent, width=width)
    wait_for(page, settings["view"])
    return sent


def wait_for(page: Page, view: str) -> None:
    """Wait until a view is drawn."""
    state = re.compile(f" {view} ")
    expect(page.locator(".hl-live")).to_have_attribute("data-drawn", state)


def shown(page: Page, view: str, part: str = "") -> np.ndarray:
    """The values of a heat map."""
    return np.array(page.evaluate(SHOWN, f".hl-view-{view} {part}"), dtype=float)


def group_of(name: str) -> HeadGroup:
    """A group of the made-up run."""
    return two_streams().group(name)


def masked(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Values as a map shows them: nothing where masked."""
    return np.where(mask, values, np.nan)


def steps_of(record: AttentionRecord, head: int) -> dict[str, np.ndarray]:
    """Every step of one head in float64, by its own scale, bias and mask."""
    q, k = record.q[head].astype(float), record.k[record.kv_head(head)].astype(float)
    mask = record.mask_of(head)
    bias = 0.0 if record.bias is None else record.bias[head]
    scaled = q @ k.T * record.scale
    cap = record.softcap
    scores = scaled + bias if cap is None else cap * np.tanh((scaled + bias) / cap)
    found = {
        "product": q @ k.T,
        "scaled": scaled,
        "biased": scaled + bias,
        "capped": scores,
        "masked": masked(scores, mask),
        "sunk": masked(scores, mask),
        "weights": masked(record.pattern[head], mask),
        "output": record.z[head],
    }
    return {name: found[name] for name in STAGES if name in ("product", "output", *record.stages)}


@pytest.mark.parametrize("attention", KINDS)
def test_every_stage_of_every_kind_is_the_trace_s(attention: str, bare: Page) -> None:
    record = group_of(attention).records[1]
    for stage, values in steps_of(record, 3).items():
        open_attention(bare, attention=attention, layer=1, head=3, stage=stage)
        found = shown(bare, "map")
        assert found.shape == values.shape
        assert found == pytest.approx(values, abs=1e-5, nan_ok=True), stage
        expect(bare.locator(".hl-view-map .colorbar")).to_have_count(1)
        lit = bare.locator(".hl-formula .hl-now").evaluate_all("x => x.map(y => y.dataset.of)")
        assert set(lit) == {stage}
    stages = bare.locator("input[name^=hl-stage]").evaluate_all("x => x.map(y => y.value)")
    assert stages == list(steps_of(record, 3))


BOX = "at => instrument.view.maps[1].heatMap.boxOf(...at)"
OFF = """() => {
    const map = document.querySelector('.hl-view-map .hl-map');
    const {yaxis} = map.querySelector('.js-plotly-plot')._fullLayout;
    return [...map.querySelectorAll('.hl-tick-row')].map((text, i) =>
        Math.abs(text.y.baseVal[0].value - 4 - yaxis._offset - yaxis.c2p(i)));
}"""


def test_labels_stand_beside_their_rows_in_every_stage(bare: Page) -> None:
    """The map is larger where no sums stand beside it; its labels stayed where they were."""
    open_attention(bare, attention=KINDS[0], stage="weights")
    for stage in ("product", "weights", "masked"):
        bare.locator(f"input[name^=hl-stage][value={stage}]").click()
        expect(bare.locator(".hl-formula .hl-now").first).to_have_attribute("data-of", stage)
        at_rest(bare)
        off = bare.evaluate(OFF)
        assert off and max(off) < 1, stage


def place_in(grid: Locator, layer: int, head: int) -> Position:
    """A place on the small map of a head, from the corner of its grid."""
    outer, maps = grid.bounding_box(), grid.locator("image").bounding_box()
    return {
        "x": maps["x"] - outer["x"] + (head + 0.4) / N_HEADS * maps["width"],
        "y": maps["y"] - outer["y"] + (layer + 0.4) / 2 * maps["height"],
    }


def test_each_kind_has_its_grid_and_opens_its_heads(bare: Page) -> None:
    open_attention(bare)
    expect(bare.locator(".hl-grid-title")).to_have_text([group_of(x).title for x in KINDS])
    grids = bare.locator(".hl-overview")
    expect(grids).to_have_count(3)
    for i, name in enumerate(KINDS):
        frame = grids.nth(i).locator(".hl-frame:not(.hl-frame-hover)")
        place = place_in(grids.nth(i), layer=1, head=2)
        record = group_of(name).records[1]
        grids.nth(i).hover(position=place)
        query, its_key = strongest_pair(record.pattern[2], record.site.kind)
        pair = f"{LABELS[record.queries][query]} → {LABELS[record.keys][its_key]}"
        caption = bare.locator(".hl-heads .hl-caption")
        role = roles(measures(record, two_streams().stream(record.queries).ids))[2]
        does = f" · {ROLES[role.name].text} {role.value:.2f}" if role else ""
        told = f"{group_of(name).title} L1 H2{does} · strongest: {pair}"
        expect(caption).to_contain_text(told)
        bare.evaluate("instrument.redraw()")  # what is pointed at stays said
        at_rest(bare)
        expect(caption).to_contain_text(told)
        is_aside = "first token and self left out" in caption.text_content()
        assert is_aside == (record.site.kind == "self" and its_key not in (0, query))
        grids.nth(i).click(position=place)
        expect(bare.locator(".hl-title")).to_have_text(f"{group_of(name).title} L1 H2")
        wait_for(bare, "map")
        found = shown(bare, "map")
        expected = masked(record.pattern[2], record.mask_of(2))
        assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)
        expect(frame).to_be_visible()
        visible = grids.locator(".hl-frame:not(.hl-frame-hover)[visibility=visible]")
        expect(visible).to_have_count(1)
    last = "kind => sent.at(-1)?.changes?.attention === kind && sent.at(-1).changes"
    changes = bare.wait_for_function(last, arg=CROSS).json_value()
    assert {"attention": CROSS, "layer": 1, "head": 2}.items() <= changes.items()


def test_the_chosen_head_stays_in_sight(bare: Page) -> None:
    """Beside maps that are long, and among those that a phone shows in a box."""
    bare.set_viewport_size({"width": 1280, "height": 720})
    open_attention(bare, attention=CROSS, layer=1, head=2)
    bare.add_style_tag(content="@media (min-width: 900px) { .hl-pictures { height: 3000px } }")
    bare.evaluate("scrollTo(0, 1500)")
    expect(bare.locator(".hl-title")).to_be_in_viewport()
    bare.set_viewport_size({"width": 390, "height": 400})
    open_attention(bare, 380, attention=CROSS, layer=1, head=2)
    box = bare.locator(".hl-pictures").bounding_box()
    frame = bare.locator(".hl-frame:not(.hl-frame-hover)[visibility=visible]").bounding_box()
    assert box["height"] <= 0.45 * 400
    assert box["y"] <= frame["y"]
    assert frame["y"] + frame["height"] <= box["y"] + box["height"]


def test_bars_and_keys_stay_in_their_grid(bare: Page) -> None:
    """A bar opens a mean of its own kind; arrow keys move in the grid that has the focus."""
    open_attention(bare)
    grid = bare.locator(".hl-overview").nth(2)
    grid.focus()
    for pressed in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"):
        bare.keyboard.press(pressed)
    expect(bare.locator(".hl-title")).to_have_text("Target cross-attention L1 H1")
    grid.locator(".hl-bar").first.click()
    wait_for(bare, "summary")
    record = group_of(CROSS).records[0]
    expected = masked(record.pattern.mean(axis=0), record.mask)
    assert shown(bare, "summary") == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert "all heads of L0" in bare.locator(".hl-view-summary .hl-caption").text_content()


def test_lines_and_tokens_of_two_streams(bare: Page) -> None:
    pattern = group_of(CROSS).records[0].pattern[1]
    open_attention(bare, attention=CROSS, view="lines", head=1, mass=0.5)
    words = [text.split("  ")[0] for text in bare.locator(".hl-lines text").all_text_contents()]
    assert words == LABELS["target"] + LABELS["source"]
    ordered = -np.sort(-pattern, axis=1)
    kept = (np.cumsum(ordered, axis=1) - ordered < 0.5 - 1e-9).sum()
    expect(bare.locator(".hl-view-lines .hl-caption")).to_contain_text(f"{kept} lines")
    open_attention(bare, attention=CROSS, view="sentence", head=1, token=3)
    rows = bare.locator(".hl-sentence")
    best = int(pattern[3].argmax())
    weight = f"{LABELS['source'][best]} {pattern[3, best]:.3f}"
    start = f"{LABELS['target'][3]} attends to: {weight}"
    expect(rows.first).to_have_attribute("aria-label", re.compile("^" + re.escape(start)))
    counts = [rows.nth(i).locator("g").count() for i in (0, 1)]
    assert counts == [len(SOURCE), len(TARGET)]
    rows.first.locator("g").nth(0).click()  # another key: its column, the same row
    reader = int(pattern[:, 0].argmax())
    start = f"What attends to {LABELS['source'][0]}: {LABELS['target'][reader]} "
    expect(rows.last).to_have_attribute("aria-label", re.compile("^" + re.escape(start)))


def test_an_unscaled_head_is_said_to_be(bare: Page) -> None:
    open_attention(bare, attention=CROSS, stage="scaled")
    expect(bare.locator("input[name^=hl-stage][value=scaled] + span")).to_have_text("× 1")
    expect(bare.locator(".hl-view-map .hl-caption").first).to_have_text("Not scaled: times 1.")
    expect(bare.locator("[data-term=scaled]")).to_have_text("× 1")
    assert bare.locator("math[data-stage=scaled] msqrt").count() == 0
    open_attention(bare, attention="source.attn", stage="scaled")
    expect(bare.locator("input[name^=hl-stage][value=scaled] + span")).to_have_text("÷√d")
    expect(bare.locator("[data-term=scaled]")).to_have_text(f"÷ √{D_HEAD}")
    assert bare.locator("math[data-stage=scaled] msqrt").count() == 1


def attribute(page: Page, i: int, name: str) -> str:
    """A data attribute of a part of the formula."""
    return page.locator(PARTS).nth(i).get_attribute(f"data-{name}")


def test_one_of_several_runs_is_compared_with(bare: Page) -> None:
    runs = [OtherRun(two_streams(), "1", "the same"), OtherRun(two_streams(1), "2", "other")]
    settings = attention_settings(attention=CROSS, view="compare", against="sentence", head=2)
    data = attention_part(two_streams(), "a key", "made-up", settings, runs, takes_text=True)
    open_instrument(bare, as_sent(data), width=1180)
    wait_for(bare, "compare")
    assert np.nanmax(np.abs(shown(bare, "compare", "section:nth-child(3)"))) == 0
    bare.get_by_label("Run").select_option("other")
    expect(bare.locator(".hl-view-compare h3").nth(1)).to_have_text("other")
    expect(bare.locator(".hl-view-compare h3").nth(2)).to_have_text(re.compile(" − other$"))
    first, second = (two_streams(seed).group(CROSS).records[0] for seed in (0, 1))
    at_rest(bare)
    both = first.pattern[2], second.pattern[2]
    for i, values in enumerate((*both, both[0] - both[1]), start=1):
        found = shown(bare, "compare", f"section:nth-child({i})")
        assert found == pytest.approx(masked(values, first.mask), abs=1e-6, nan_ok=True)


def test_a_view_that_does_not_apply_is_shown_disabled_and_says_why(bare: Page) -> None:
    part = attention_part(two_streams(), "a key", "made-up", attention_settings(view="compare"))
    data = as_sent(part)
    for view in data["spec"]["views"]:
        if view["name"] == "compare":
            view["why"] = "there is one head alone."
    open_instrument(bare, data, width=1180)
    wait_for(bare, "map")
    expect(bare.locator("input[name^=hl-view][value=compare]")).to_be_disabled()
    label = bare.locator("label:has(input[name^=hl-view][value=compare])")
    expect(label).to_have_attribute("title", "there is one head alone.")
    expect(bare.locator(".hl-instrument > * > [data-why]")).to_have_text(
        "Compare: there is one head alone."
    )


def test_a_cell_masked_by_hand_changes_its_row_alone(bare: Page) -> None:
    """Of a map that is not square; a second click lets it be attended to again."""
    record = group_of(CROSS).records[1]
    open_attention(bare, attention=CROSS, layer=1, head=3, view="whatif", change="cells")
    row, column = 2, int(record.pattern[3, 2].argmax())
    mask = np.broadcast_to(record.mask_of(3), record.pattern.shape[1:]).copy()
    for expected_edits in (f"{row}-{column}", ""):
        mask[row, column] ^= True
        expected = dataclasses.replace(record, mask=mask).pattern_of(3)
        map_ = bare.locator(".hl-view-whatif section:nth-child(2) .hl-map")
        map_.scroll_into_view_if_needed()
        place, box = map_.bounding_box(), bare.evaluate(BOX, [row, column])
        bare.mouse.click(place["x"] + box["left"] + 5, place["y"] + box["top"] + 5)
        bare.wait_for_function("edits => instrument.settings.flipped === edits", arg=expected_edits)
        at_rest(bare)
        found = shown(bare, "whatif", "section:nth-child(2)")
        assert found == pytest.approx(masked(expected, mask), abs=1e-5, nan_ok=True)


def test_exports_name_the_kind_and_both_streams(bare: Page) -> None:
    open_attention(bare, attention=CROSS, layer=1, head=2)
    record = group_of(CROSS).records[1]
    file = download(bare, bare.get_by_role("button", name="CSV"))
    assert file.suggested_filename == "headlight-target-cross-attn-l1-h2-weights.csv"
    header, *rows = csv_rows(content(file))
    assert header[0] == "query (target) \\ key (source)"
    assert header[1:] == [f"{i} {label}" for i, label in enumerate(LABELS["source"])]
    assert [row[0] for row in rows] == [f"{i} {label}" for i, label in enumerate(LABELS["target"])]
    values = np.array([row[1:] for row in rows], float)
    assert values == pytest.approx(record.pattern[2], abs=1e-6)
    file = download(bare, bare.get_by_role("button", name="SVG"))
    text = content(file).decode()
    assert "Target cross-attention L1 H2" in text
    assert all(" ".join(LABELS[name][2:5]) in text for name in LABELS)


def test_an_echo_does_not_take_the_word_of_a_lost_app_away(bare: Page) -> None:
    """Python answers the head that came before, which is still on screen."""
    before = open_attention(bare, attention=CROSS, layer=1, head=1)

    def cut(route: Route) -> None:
        route.abort()

    bare.route("**/kit/arrays/**", cut)
    bare.evaluate("() => instrument.set({layer: 0, head: 2})")
    alert = bare.locator(".hl-error")
    expect(alert).to_contain_text("The app does not answer")
    receive(bare, before)
    bare.wait_for_timeout(100)  # it would be drawn by then
    expect(alert).to_contain_text("The app does not answer")
    expect(bare.locator(".hl-title")).to_contain_text("L1 H1")
    bare.unroute("**/kit/arrays/**", cut)


# --- words that hold for what is shown ------------------------------------------------------------


def test_a_row_that_may_attend_to_nothing_is_not_said_to_sum_to_one(bare: Page) -> None:
    """As with padding on the left; another mask than any that comes with a model here."""
    trace = two_streams()
    record = trace.attention[0]
    mask, pattern = record.mask.copy(), record.pattern.copy()
    mask[:2] = False
    pattern[:, :2] = 0
    emptied = dataclasses.replace(record, mask=mask, pattern=pattern)
    trace = dataclasses.replace(trace, attention=(emptied, *trace.attention[1:]))
    for view, words in (
        ("map", "sum to one. Of 2 rows that may attend to nothing, zeros."),
        ("summary", "Rows sum to one. 2 may attend to nothing and are zero."),
    ):
        settings = attention_settings(attention="source.attn", view=view)
        data = attention_part(trace, view, "made-up", settings)
        open_instrument(bare, as_sent(data), width=1180)
        wait_for(bare, view)
        expect(bare.locator(f".hl-view-{view} .hl-caption").first).to_contain_text(words)


def test_a_masked_weight_is_said_to_be_masked(bare: Page) -> None:
    open_attention(bare, attention="target.attn", view="summary", over="layer")
    bare.locator(".hl-view-summary .hl-map").scroll_into_view_if_needed()
    box = bare.evaluate("instrument.view.maps[0].heatMap.boxOf(0, 4)")
    place = bare.locator(".hl-view-summary .hl-map").bounding_box()
    bare.mouse.move(place["x"] + box["left"] + 5, place["y"] + box["top"] + 5)
    bare.wait_for_function("instrument.said.endsWith(': masked: it comes later')")
