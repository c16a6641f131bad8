"""A person has the model write: what is drawn, from what, and what each token attends to."""

import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from model.capture import capture
from model.decoding.filters import Sampling
from model.decoding.sampling import generate
from tests.model.builders import softmax
from tests.screen import TOM, query, settle, visit
from tests.viz.builders import stories, stories_trace
from viz import digits, runs
from viz.frame import given
from viz.kit.sampling import NAMED_TOKENS
from viz.labels import token_labels

# What the bars show: the numbers of all rows and of all others, and the lengths drawn for them.
BARS = """() => {
    const bars = [...document.querySelectorAll('.hl-dist li')];
    const others = document.querySelector('.hl-distribution p[data-after]').dataset.after;
    const values = bars.map(bar => Number(bar.dataset.after));
    const width = bar => bar.getBoundingClientRect().width;
    const drawn = bars.map(bar => bar.querySelector('.hl-dist-after'));
    return [[...values, Number(others)], drawn.map(bar => width(bar) / width(bar.parentElement))];
}"""


def test_probabilities_follow_the_slider_while_it_is_dragged(page: Page) -> None:
    """Three probabilities against Python in the middle of a drag, before the mouse is released."""
    visit(page, page="Next token", sentence=TOM, top_p="1")
    slider = page.get_by_label("Temperature", exact=True)
    track = slider.bounding_box()
    logits = stories_trace(TOM).logits[-1].astype(np.float64)
    top = np.argsort(-logits, kind="stable")[:NAMED_TOKENS]

    def point_at(share: float) -> None:
        slider.hover(position={"x": track["width"] * share, "y": track["height"] / 2})

    point_at(0.3)
    page.mouse.down()
    value = page.locator(".hl-order .hl-value").first
    seen = {value.text_content()}
    for share in (0.5, 0.75, 0.2):
        point_at(share)
        expect(value).not_to_have_text(re.compile("|".join(map(re.escape, seen))))
        seen.add(value.text_content())
        temperature = float(value.text_content())
        expected = softmax(logits / temperature)[top]
        kept, drawn_as = page.evaluate(BARS)
        assert drawn_as == pytest.approx(kept[:-1], abs=5e-3), "on one scale, from 0 to 1"
        assert kept[:-1] == pytest.approx(expected, abs=1e-6)
        assert sum(kept) == pytest.approx(1, abs=1e-6)
    page.mouse.up()
    page.wait_for_url(re.compile(f"temperature={temperature:g}"))


def test_order_of_the_filters_can_be_changed(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, temperature="2", top_p="0.6")
    left = page.locator("[data-step=top_p] td").first
    expect(left).to_be_hidden()
    page.get_by_text("Top-k, min-p, order").press("Enter")
    first = left.text_content()
    page.get_by_role("button", name="Top-p earlier").click()
    page.get_by_role("button", name="Top-p earlier").click()
    logits = stories_trace(TOM).logits[-1].astype(np.float64)
    for temperature, text in ((2.0, first), (1.0, None)):
        mass = np.cumsum(-np.sort(-softmax(logits / temperature)))
        expected = f"{int(np.searchsorted(mass, 0.6)) + 1:,}"
        assert text in (None, expected)
    expect(left).to_have_text(expected)
    page.wait_for_url(re.compile("order="))


def generated(page: Page) -> Locator:
    """The tokens written so far."""
    return page.locator(".hl-text .hl-new")


def test_generate_stop_scrub_and_find_the_same_attention(page: Page) -> None:
    """Forty tokens with a seed; an earlier one's row is what the whole prefix gives."""
    options = {"temperature": "0.9", "seed": "11", "new_tokens": "40", "layer": "4", "head": "1"}
    visit(page, page="Next token", sentence=TOM, **options)
    page.get_by_role("button", name="Start", exact=False).first.click()
    loaded, trace = stories(), stories_trace(TOM)
    sampling, end_id = Sampling(temperature=0.9, top_p=0.95, seed=11), loaded.tokenizer.end_id
    ids = trace.ids.tolist()
    steps = list(generate(loaded.model, ids, sampling, max_new_tokens=40, end_ids={end_id}))
    expect(generated(page)).to_have_count(len(steps))
    written = loaded.tokenizer.token_strings([step.token_id for step in steps])
    tokens = [*trace.tokens, *written]
    expect(generated(page)).to_have_text(token_labels(tokens)[len(ids) :])
    at = len(steps) // 2
    generated(page).nth(at).click()
    expect(page.locator(".hl-live")).to_have_attribute("data-drawn", re.compile(f" {at}$"))
    prefix = ids + [step.token_id for step in steps[:at]]
    whole = capture(loaded.model, prefix, tokens[: len(prefix)])
    row = whole.attention[4].pattern[1, -1]
    shades = page.locator(".hl-text .hl-token").evaluate_all(
        "all => all.map(one => one.title.match(/[0-9.]+/)?.[0]).filter(Boolean).map(Number)"
    )
    assert shades == pytest.approx(row, abs=6e-5)
    expect(page.locator(".hl-says")).to_contain_text(
        f"probability {digits.share(float(steps[at].probs[steps[at].token_id]))}"
    )
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".hl-live")).to_have_attribute("data-drawn", re.compile(f" {at - 1}$"))


def test_a_stream_is_stopped_and_stepped(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, new_tokens="200", seed="11")
    page.get_by_role("button", name="Start", exact=False).first.click()
    generated(page).nth(3).wait_for()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Continue", exact=True).wait_for()
    note = page.locator(".hl-note-line")
    expect(note).to_have_text(re.compile(r"^\d+ new tokens\.$"))
    n = int((note.text_content() or "").split()[0])
    assert generated(page).count() == n
    settle(page)
    assert generated(page).count() == n
    page.get_by_role("button", name="Step", exact=True).click()
    expect(generated(page)).to_have_count(n + 1)


def test_another_choice_is_put_and_the_text_goes_on_from_there(page: Page) -> None:
    """By keyboard: to a token, to another choice in what it was drawn from, and draws of it."""
    visit(page, page="Next token", sentence=TOM, new_tokens="6", seed="11", written="6")
    expect(generated(page)).to_have_count(6)
    before = generated(page).all_text_contents()
    generated(page).nth(5).focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".hl-text .hl-chosen")).to_have_text(before[3])
    expect(page.locator(".hl-is-drawn .hl-dist-name")).to_contain_text(before[3])
    settle(page)
    other = page.locator(".hl-dist li:not(.hl-is-drawn) .hl-dist-name").first
    name = other.locator("bdi").text_content()
    other.focus()
    page.keyboard.press("Enter")
    expect(generated(page)).to_have_text([*before[:3], name])
    expect(page.locator(".hl-says")).to_contain_text("put here")
    page.get_by_role("button", name="Draw 100", exact=True).click()
    counts = page.locator(".hl-dist-number").all_text_contents()
    others = page.locator(".hl-distribution p[data-after]").text_content()
    times = [int(found) for text in [*counts, others] for found in re.findall(r"(\d+)×", text)]
    assert sum(times) == 100
    page.get_by_role("button", name="Draw one", exact=True).click()
    page.get_by_role("button", name="Append", exact=True).click()
    expect(generated(page)).to_have_count(5)


def at_rest(page: Page) -> None:
    """Wait until Home has played to the end of a pass of the run that the page is about."""
    page.wait_for_function(
        """() => {
            const key = document.documentElement.dataset.settled?.split(' ').at(-1);
            return key && document.querySelector(`[data-drawn='${key} home rests']`) !== null;
        }"""
    )


def test_home_s_list_is_the_model_s_at_the_sliders_settings(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")  # its film is played elsewhere
    visit(page, page="Home", sentence=TOM, top_p="1.0")
    at_rest(page)
    slider = page.get_by_role("slider", name="Temperature")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    temperature = float(slider.input_value())
    assert temperature == pytest.approx(1.0)
    logits = stories_trace(TOM).logits[-1].astype(np.float64) / temperature
    expected = np.sort(np.exp(logits - np.logaddexp.reduce(logits)))[::-1][:8]
    is_first = "p => Math.abs(document.querySelector('.hl-home-next li').dataset.after - p) < 1e-5"
    page.wait_for_function(is_first, arg=float(expected[0]))
    rows = page.locator(".hl-home-next li[data-after]")
    found = [float(x) for x in rows.evaluate_all("rows => rows.map(row => row.dataset.after)")]
    assert found[:8] == pytest.approx(expected.tolist(), abs=1e-6)
    assert found[8] == pytest.approx(1 - expected.sum(), abs=1e-6)
    expect(rows.last).to_contain_text(f"{len(logits) - 8:,} others")
    page.wait_for_url("**temperature=1.0**")


def test_home_writes_on_and_everything_follows(page: Page) -> None:
    visit(page, page="Home", sentence="Once upon a time", temperature="0.4")
    at_rest(page)
    tokens = page.locator(".hl-home-tokens button")
    before = tokens.count()
    page.get_by_role("button", name="Generate").click()
    expect(tokens.nth(before + 1)).to_be_visible()
    page.locator(".hl-home-play").click()
    at_rest(page)
    settle(page)
    text = page.get_by_role("textbox", name="Sentence", exact=True).input_value()
    assert text.startswith("Once upon a time") and len(text) > len("Once upon a time") + 3
    expect(tokens).to_have_count(len(stories_trace(text).tokens))
    assert query(page)["sentence"] == text


def test_a_patch_of_home_s_picture_is_pointed_at(page: Page) -> None:
    visit(page, page="Home", model="digits")
    at_rest(page)
    patches, says = page.locator(".hl-home-tokens button"), page.locator(".hl-home-says")
    trace = runs.run_picture(runs.handle_of("digits", "cpu"), given.picture()).trace
    p = softmax(trace.logits[0])
    expect(says).to_contain_text(f"“{int(p.argmax())}” ({digits.share(float(p.max()))})")
    mean = np.mean([record.pattern for record in trace.attention], axis=(0, 1))
    for row in (0, 17):
        if row:
            patches.nth(row).hover()
            expect(says).to_contain_text("“patch 2,2” attends to")
        found = patches.evaluate_all(
            "all => all.map(x => Number(x.style.getPropertyValue('--share')))"
        )
        assert found == pytest.approx(np.sqrt(mean[row]).tolist(), abs=6e-4)


def test_home_is_shared_as_its_link_and_as_a_picture(page: Page) -> None:
    """On the picture the words, and the head that is large, stand where they do on screen."""
    visit(
        page, page="Home", sentence=TOM, attention="decoder.attn", layer="2", head="4", large="yes"
    )
    at_rest(page)
    large = page.locator(".hl-home-large")
    expect(large.locator(".heatmaplayer")).to_be_visible()
    page.get_by_text("Share", exact=True).click()
    expect(page.get_by_label("Link to this view")).to_have_value(page.url)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="PNG", exact=True).click()
    picture = np.asarray(Image.open(waiting.value.path()).convert("L")).astype(int)
    root = page.locator(".hl-live:has(.hl-home)").bounding_box()
    assert root is not None
    high, wide = (size / 2 for size in picture.shape)
    left = (wide - root["width"]) / 2
    top = (high - root["height"] - 45) / 2 + 37  # below a title, both in the middle of a slide
    assert left > 0 and top > 37
    tokens, says = page.locator(".hl-home-tokens button"), page.locator(".hl-home-says")
    for shown in (tokens.first, says, large.locator("p"), large.locator(".heatmaplayer")):
        box = shown.bounding_box()
        assert box is not None
        x, y = (2 * int(box[side] - root[side] + by) for side, by in (("x", left), ("y", top)))
        cut = picture[y : y + 2 * int(box["height"]), x : x + 2 * int(box["width"])]
        assert cut.max() - cut.min() > 100, "dark on light"
    link, share = page.get_by_label("Link to this view"), page.get_by_text("Share", exact=True)
    link.click()
    expect(link).to_be_visible()
    page.evaluate("document.activeElement.blur()")  # as after a click on a picture
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(large).to_be_hidden()
    share.click()
    expect(link).to_be_visible()
    page.get_by_role("heading", level=1).click()
    expect(link).to_be_hidden()
