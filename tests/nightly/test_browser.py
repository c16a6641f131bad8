"""Protects what a person does in a real browser: type, hover, click, drag, copy a URL, download.

What is read on the screen is compared with what the model computes here. The microscope has a file
of its own, `test_microscope.py`.
"""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model.analysis.lens import logit_lens
from model.analysis.merges import merge_forest
from model.capture import capture
from model.decoding.filters import Sampling
from model.decoding.sampling import generate
from model.verify.self_check import check
from model.verify.texts import check_text, texts_of
from tests.conftest import PageLog
from tests.model.builders import softmax
from tests.screen import (
    CHARTS,
    HOSTILE,
    PATIENCE,
    TOM,
    content,
    download,
    drawn,
    figure,
    hover,
    pick,
    picked,
    rows_of,
    strip,
    turn_to,
    visit,
    wait_for_charts,
    wait_until_idle,
)
from tests.viz.builders import PAGES, csv_rows, latex_numbers, stories, stories_trace
from viz import theme
from viz.figures.labels import token_labels
from viz.live.core.sampling import NAMED_TOKENS


def same(shown: np.ndarray, pattern: np.ndarray, mask: np.ndarray) -> bool:
    """Whether a heat map is a pattern with masked cells left out."""
    return np.allclose(shown[mask], pattern[mask], atol=1e-5) and bool(np.isnan(shown[~mask]).all())


def test_masks_page_shows_the_head_it_names(page: Page) -> None:
    visit(page, page="Masks", sentence=TOM, layer="4", head="1")
    tokens = token_labels(stories_trace(TOM).tokens)
    expect(strip(page)).to_have_text(tokens)
    expect(rows_of(page, "pattern")).to_have_text(tokens)
    record = stories_trace(TOM).attention[4]
    assert same(drawn(page, "pattern")[0], record.pattern[1], record.mask)
    for row, column in [(0, 0), (7, 3), (len(tokens) - 1, 2)]:
        said = hover(page, "pattern", row, column)
        assert latex_numbers(said)[-1] == pytest.approx(record.pattern[1, row, column], abs=1e-4)
        assert f"query {tokens[row]}" in said
        assert f"key {tokens[column]}" in said
    assert "masked" in hover(page, "pattern", 1, 6)


def test_lens_says_what_the_model_says(page: Page) -> None:
    visit(page, page="Logit lens", sentence=TOM, layer="1", after="2")
    trace = stories_trace(TOM)
    lens = logit_lens(trace, stories().model)
    assert drawn(page, "lens")[0] == pytest.approx(lens.probs[..., 0], abs=1e-5)
    assert drawn(page, "rank")[0] == pytest.approx(lens.rank[:, 2] + 1)
    tokens = token_labels(trace.tokens)
    for row, column in [(0, 0), (6, len(tokens) - 1), (3, 5)]:
        said = hover(page, "lens", row, column)
        assert f"after token {tokens[column]}" in said
        assert f"entropy in nats {lens.entropy[row, column]:.3f}" in said
        best = stories().tokenizer.token_strings([lens.ids[row, column, 0]])[0]
        (label,) = token_labels([best])
        assert f"“{label}” {lens.probs[row, column, 0]:.5f}" in said


def test_a_merge_says_what_it_joins(page: Page) -> None:
    visit(page, page="Tokens", sentence="cat")
    tokenizer = stories().tokenizer
    ((root,),) = merge_forest(tokenizer, tokenizer.merges(), "cat")
    left, right = (part.bytes.decode().replace(" ", "␣") for part in root.parts)
    said = hover(page, "merges", 2.12, 1.5)  # above its parts, in the middle of four bytes
    assert f"{left} + {right} → ␣cat" in said
    assert f"rank {root.rank + 1:,} of 3,839" in said


def test_a_wide_lens_scrolls_in_its_own_frame_to_the_chosen_token(page: Page) -> None:
    page.set_viewport_size({"width": 800, "height": 900})
    visit(page, page="Logit lens", sentence=f"{TOM} {TOM}")
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    frame = page.locator(".st-key-wide-chart-end")
    assert frame.evaluate("frame => frame.scrollWidth > frame.clientWidth + 300")
    right = "node => node.getBoundingClientRect().right"
    chosen = figure(page, "lens").locator(".shapelayer path").last
    assert chosen.evaluate(right) <= frame.evaluate(right)
    pick(page, "After token", "2: a")
    expect(frame).to_have_count(0)
    expect(page.locator(".st-key-wide-chart")).to_have_count(1)


@pytest.mark.parametrize(("scheme", "width"), [("light", 800), ("dark", 390)])
def test_every_page_on_a_narrow_screen(page: Page, scheme: str, width: int) -> None:
    """All charts drawn in the theme's colours, and nothing to scroll sideways.

    What violates the policy of the app is logged as an error, which fails the test as well.
    """
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    colors = theme.palette(scheme)
    for title in PAGES:
        visit(page, page=title, sentence=TOM)
        expect(page).to_have_title(f"{title} · Headlight")
        app = page.get_by_test_id("stApp")
        expect(app).to_have_css("background-color", css(colors.background))
        if strip(page).count():
            chip = strip(page).first.locator("..")
            expect(chip).to_have_css("background-color", css(colors.surface))
        main = page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for key in CHARTS[title]:
            assert all(values.size for values in drawn(page, key)), key
            assert figure(page, key).get_by_role("figure").get_attribute("aria-label"), key
            text = figure(page, key).locator(".gtitle, .xtitle").first
            expect(text).to_have_css("fill", re.compile(fills(colors)))
            assert figure(page, key).evaluate(CUT) == [], key
        assert page.locator(".katex-error").count() == 0


# Titles of a figure that stand outside of it, and tell nothing.
CUT = """figure => {
    const chart = figure.querySelector('.js-plotly-plot').getBoundingClientRect();
    return [...figure.querySelectorAll('.gtitle, .xtitle, .cbtitle text')]
        .filter((title) => title.getBoundingClientRect().top < chart.top - 4)
        .map((title) => title.textContent);
}"""
# Words in the cells of a heat map that reach into the cell beside them.
OVERLAPPING = """figure => {
    const words = [...figure.querySelectorAll('.textpoint text')];
    const boxes = words.map((word) => word.getBoundingClientRect());
    return boxes.slice(1).filter(({left, top}, i) => boxes[i].top === top && boxes[i].right > left)
        .length;
}"""


def test_words_of_the_lens_stand_apart_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, page="Logit lens", sentence="The animal didn't cross the street because it was.")
    lens = figure(page, "lens")
    assert lens.locator(".textpoint text").count() > 70
    assert lens.evaluate(OVERLAPPING) == 0


def css(color: str) -> str:
    """#rrggbb as the browser reports it."""
    return f"rgb({', '.join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))})"


def fills(colors: theme.Palette) -> str:
    """A pattern for the colours of titles."""
    return "|".join(re.escape(css(color)) for color in (colors.text, colors.muted))


def test_figures_follow_a_switched_theme_with_the_next_change(page: Page) -> None:
    """Streamlit tells the server of another theme only when the page is drawn again."""
    visit(page, page="Masks")
    expect(figure(page, "mask").locator(".gtitle")).to_have_css("fill", css(theme.LIGHT.text))
    page.get_by_test_id("stMainMenuButton").click()
    page.get_by_test_id("stMainMenuItem-theme-Dark").click()
    app = page.get_by_test_id("stApp")
    expect(app).to_have_css("background-color", css(theme.DARK.background))
    page.get_by_label("Sentence", exact=True).fill(TOM)
    title = figure(page, "mask").locator(".gtitle").last  # for a moment there are two charts
    expect(title).to_have_css("fill", css(theme.DARK.text))


# What the bars show: the numbers of all rows and of all others, and the lengths drawn for them.
BARS = """() => {
    const bars = [...document.querySelectorAll('.hl-dist-after')];
    const others = document.querySelector('.hl-distribution p[data-after]').dataset.after;
    const values = bars.map(bar => Number(bar.dataset.after));
    const width = bar => bar.getBoundingClientRect().width;
    return [[...values, Number(others)], bars.map(bar => width(bar) / width(bar.parentElement))];
}"""


def test_probabilities_follow_the_slider_while_it_is_dragged(page: Page) -> None:
    """Three probabilities against Python in the middle of a drag, before the mouse is released."""
    visit(page, page="Next token", sentence=TOM, top_p="1")
    track = page.get_by_label("Temperature", exact=True).bounding_box()
    logits = stories_trace(TOM).logits[-1].astype(np.float64)
    top = np.argsort(-logits, kind="stable")[:NAMED_TOKENS]
    y = track["y"] + track["height"] / 2
    page.mouse.move(track["x"] + track["width"] * 0.3, y)
    page.mouse.down()
    seen = set()
    for share in (0.5, 0.75, 0.2):
        page.mouse.move(track["x"] + track["width"] * share, y, steps=5)
        temperature = float(page.locator(".hl-order .hl-value").first.text_content())
        seen.add(temperature)
        expected = softmax(logits / temperature)[top]
        kept, drawn_as = page.evaluate(BARS)
        assert drawn_as == pytest.approx(kept[:-1], abs=5e-3), "on one scale, from 0 to 1"
        assert kept[:-1] == pytest.approx(expected, abs=1e-6)
        assert sum(kept) == pytest.approx(1, abs=1e-6)
    assert len(seen) == 3
    page.mouse.up()
    page.wait_for_url(re.compile(f"temperature={temperature:g}"))


def test_order_of_the_filters_can_be_changed(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, temperature="2", top_p="0.6")
    left = page.locator("[data-step=top_p] td").first
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


def test_top_k_to_the_end_is_all(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, top_k="50")
    page.get_by_label("Top-k", exact=True).focus()
    page.keyboard.press("End")
    expect(page).not_to_have_url(re.compile("top_k="))
    wait_until_idle(page)
    expect(page.locator(".hl-order .hl-value").nth(1)).to_have_text("all")
    expect(page.locator("[data-step=top_k] td").first).to_have_text("4,096")


def test_sampler_by_keyboard(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM)
    page.get_by_label("Min-p", exact=True).focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**min_p=0.1**")
    probs = softmax(stories_trace(TOM).logits[-1].astype(np.float64) / 0.8)
    left = page.locator("[data-step=min_p] td").first
    expect(left).to_have_text(str(int((probs >= 0.1 * probs.max()).sum())))


def test_url_brings_the_whole_view_back(page: Page) -> None:
    """Set everything by hand, copy the URL to another visitor, read it there."""
    visit(page, page="Next token", temperature="1.5")
    page.get_by_label("Sentence", exact=True).fill(TOM)
    expect(strip(page)).to_have_text(token_labels(stories_trace(TOM).tokens))
    pick(page, "Layer", "L4")
    pick(page, "Head", "H6")
    page.locator(".hl-token-button").nth(3).click()
    expect(page).to_have_url(re.compile("after=2"))
    page.get_by_label("Top-p", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**top_p=0.94**")
    wait_until_idle(page)
    view = seen(page)
    assert (view["Layer"], view["Head"]) == ("L4", "H6")
    assert view["sliders"] == ["1.50", "all", "0.94", "off"]
    other = page.context.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(page.url)
    wait_for_charts(other, "Next token")
    assert seen(other) == view
    assert other.locator(".hl-note").count() == 0
    other.close()
    page.reload()
    wait_for_charts(page, "Next token")
    assert seen(page) == view


def seen(page: Page) -> dict[str, object]:
    """What all controls of the Next token page are set to, and the bars."""
    boxes = ("Model", "Layer", "Head")
    return {
        **{label: picked(page, label) for label in boxes},
        "Sentence": page.get_by_label("Sentence", exact=True).input_value(),
        "sliders": page.locator(".hl-order .hl-value").all_text_contents(),
        "chosen": page.locator(".hl-chosen").all_text_contents(),
        "bars": np.round(page.evaluate(BARS)[0], 6).tolist(),
    }


def generated(page: Page) -> Locator:
    """The tokens written so far."""
    return page.locator(".hl-token-button.hl-new")


def test_generate_stop_scrub_and_find_the_same_attention(page: Page) -> None:
    """Forty tokens with a seed; an earlier one's row is what the whole prefix gives."""
    options = {"temperature": "0.9", "seed": "11", "new_tokens": "40", "layer": "4", "head": "1"}
    visit(page, page="Next token", sentence=TOM, **options)
    page.get_by_role("button", name="Start", exact=False).first.click()
    loaded, trace = stories(), stories_trace(TOM)
    sampling, end_id = Sampling(temperature=0.9, top_p=0.95, seed=11), loaded.tokenizer.end_id
    ids = trace.ids.tolist()
    steps = list(generate(loaded.model, ids, sampling, max_new_tokens=40, end_id=end_id))
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
    shades = page.locator(".hl-token-button").evaluate_all(
        "all => all.map(one => one.title.match(/[0-9.]+/)?.[0]).filter(Boolean).map(Number)"
    )
    assert shades == pytest.approx(row, abs=6e-5)
    expect(page.locator(".hl-says")).to_contain_text(
        f"probability {float(steps[at].probs[steps[at].token_id]):.4f}"
    )
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".hl-live")).to_have_attribute("data-drawn", re.compile(f" {at - 1}$"))


def test_a_stream_is_stopped_and_stepped(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, new_tokens="200", seed="11")
    page.get_by_role("button", name="Start", exact=False).first.click()
    generated(page).nth(3).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Continue").wait_for()
    note = page.locator(".hl-note-line")
    expect(note).to_have_text(re.compile(r"^\d+ new tokens\.$"))
    n = int((note.text_content() or "").split()[0])
    assert generated(page).count() == n
    page.wait_for_timeout(700)
    assert generated(page).count() == n
    page.get_by_role("button", name="Step", exact=True).click()
    expect(generated(page)).to_have_count(n + 1)


def test_a_text_comes_without_runs_of_the_page_and_where_it_must_with_them(
    page: Page, page_log: PageLog
) -> None:
    visit(page, page="Next token", sentence=TOM, new_tokens="40", seed="11")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Start", exact=False).first.click()
    page.get_by_role("button", name="Continue").wait_for()
    expect(generated(page)).to_have_count(40)
    assert sum("/live/texts/" in url for url in asked) > 2
    text = page.locator(".hl-text").inner_text()
    page.route("**/live/texts/**", lambda route: route.abort())
    page.get_by_role("button", name="Start again").click()
    expect(page.locator(".hl-note-line")).to_have_text("")
    page.get_by_role("button", name="Continue").wait_for()
    expect(generated(page)).to_have_count(40)
    assert page.locator(".hl-text").inner_text() == text
    page.unroute("**/live/texts/**")
    page_log.console_errors.clear()


def test_a_slider_moved_while_it_writes_acts_and_leaves_a_mark(page: Page) -> None:
    """And whoever opens the link afterwards finds the same text."""
    visit(page, page="Next token", sentence=TOM, new_tokens="60", seed="11")
    page.get_by_role("button", name="Start", exact=False).first.click()
    generated(page).nth(3).wait_for()
    page.get_by_label("Temperature", exact=True).fill("1.7")
    mark = page.locator(".hl-marked-token")
    expect(mark).to_have_attribute("title", re.compile("from here on temperature 0.8 → 1.7"))
    page.get_by_role("button", name="Continue").wait_for()
    wait_until_idle(page)
    text = page.locator(".hl-text").inner_text()
    other = page.context.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(page.url)
    expect(generated(other)).to_have_count(generated(page).count())
    assert other.locator(".hl-text").inner_text() == text
    assert other.locator(".hl-marked-token").inner_text() == mark.inner_text()
    other.close()


def test_another_choice_is_put_and_the_text_goes_on_from_there(page: Page) -> None:
    """By keyboard: to a token, to another choice in what it was drawn from, and draws of it."""
    visit(page, page="Next token", sentence=TOM, new_tokens="6", seed="11", written="6")
    expect(generated(page)).to_have_count(6)
    before = generated(page).all_text_contents()
    generated(page).nth(5).focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".hl-chosen")).to_have_text(before[3])
    expect(page.locator(".hl-is-drawn .hl-dist-name")).to_contain_text(before[3])
    other = page.locator(".hl-dist li:not(.hl-is-drawn) .hl-dist-name").first
    name = other.locator("bdi").text_content()
    other.focus()
    page.keyboard.press("Enter")
    expect(generated(page)).to_have_text([*before[:3], name])
    expect(page.locator(".hl-says")).to_contain_text("put here")
    page.get_by_role("button", name="Draw 100").click()
    counts = page.locator(".hl-dist-number").all_text_contents()
    others = page.locator(".hl-distribution p[data-after]").text_content()
    times = [int(found) for text in [*counts, others] for found in re.findall(r"(\d+)×", text)]
    assert sum(times) == 100
    page.get_by_role("button", name="Draw one").click()
    page.get_by_role("button", name="Append").click()
    expect(generated(page)).to_have_count(5)


def test_a_page_that_is_left_asks_for_no_more_tokens(page: Page) -> None:
    """While it is open a stream asks for token after token; nothing is sent once it is left."""
    frames: list[int] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: frames.append(1)))
    visit(page, page="Next token", sentence=TOM, new_tokens="200", seed="11")
    page.get_by_role("button", name="Start", exact=False).first.click()
    generated(page).nth(3).wait_for()
    turn_to(page, "Masks")
    page.wait_for_timeout(700)
    n = len(frames)
    page.wait_for_timeout(3500)  # a writer without an answer asks again after 2500
    assert len(frames) == n


def test_two_visitors_write_at_once(page: Page) -> None:
    """Same seed, same text, however many write."""
    other = page.context.new_page()
    other.set_default_timeout(PATIENCE)
    texts = []
    for visitor in (page, other):
        visit(visitor, page="Next token", sentence=TOM, new_tokens="25", seed="5")
        visitor.get_by_role("button", name="Start", exact=False).first.click()
    for visitor in (page, other):
        visitor.get_by_role("button", name="Continue").wait_for()
        texts.append(visitor.locator(".hl-text").inner_text())
    assert texts[0] == texts[1]
    other.close()


def test_badge_lists_every_check(page: Page) -> None:
    visit(page, sentence=TOM)
    checks = check(stories_trace(TOM), stories().model, files=stories().files)
    found = stories()
    checks += found.recorded
    checks += (check_text(TOM, found.tokenizer.encode(TOM), texts_of(found.folder), is_cut=False),)
    turn_to(page, "Masks")
    badge = page.get_by_test_id("stPopover").get_by_role("button").first
    expect(badge).to_contain_text(f"Verified: {len(checks)} of {len(checks)}")
    badge.click()
    names = page.get_by_test_id("stPopoverBody").locator(".hl-checks td:first-child")
    expect(names).to_have_text([item.name for item in checks])
    verdicts = page.get_by_test_id("stPopoverBody").locator(".hl-checks td:last-child")
    expect(verdicts).to_have_text(["passed"] * len(checks))


def test_markup_is_text_everywhere(page: Page) -> None:
    visit(page, sentence=HOSTILE)
    tokens = token_labels(stories_trace(HOSTILE).tokens)
    expect(strip(page)).to_have_text(tokens)
    for title in PAGES:
        turn_to(page, title)
        if title == "Masks":
            sign = tokens.index("<")
            assert f"key {tokens[sign]}" in hover(page, "pattern", sign, sign)
    turn_to(page, "Next token")
    page.get_by_role("button", name="Step", exact=True).click()
    written = page.locator(".hl-live .hl-text bdi")
    expect(written.nth(len(tokens))).to_be_visible()
    assert written.all_text_contents()[: len(tokens)] == tokens
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src='x'], .hl-text b, .hl-strip b").count() == 0
    assert page.locator("text.nums b, .ytick tspan[style*=bold]").count() == 0


def test_exports(page: Page) -> None:
    visit(page, sentence=TOM, layer="L1", head="H4", inspect="export")
    trace = stories_trace(TOM)
    file = download(page, page.get_by_role("button", name="Pattern L1 H4 (CSV)"))
    assert file.suggested_filename == "headlight-pattern-l1-h4.csv"
    header, *rows = csv_rows(content(file))
    labels = [f"{i} {token.strip()}" for i, token in enumerate(trace.tokens)]
    assert header[1:] == [row[0] for row in rows] == labels
    values = np.array([row[1:] for row in rows], float)
    assert values == pytest.approx(trace.attention[1].pattern[4], abs=1e-5)

    file = download(page, page.get_by_role("button", name="Whole trace (npz)"))
    with np.load(io.BytesIO(content(file)), allow_pickle=False) as stored:
        expected = dict(trace.arrays())
        assert set(stored) == {*expected, "facts"}
        assert stored["decoder.labels"].tolist() == list(trace.tokens)
        for name in set(expected) - {"decoder.labels"}:
            assert stored[name] == pytest.approx(expected[name], abs=1e-4), name

    turn_to(page, "Masks")
    chart = figure(page, "pattern").locator(".js-plotly-plot")
    camera = chart.get_by_role("button", name="Download plot as a PNG")
    chart.hover()
    file = download(page, camera)
    assert file.suggested_filename == "headlight-pattern.png"
    assert content(file).startswith(b"\x89PNG\r\n")
    page.get_by_role("radio", name="SVG").click()
    expect(camera).to_have_count(0)
    expect(chart).to_have_count(1)  # for a moment the old chart stands beside the new one
    wait_until_idle(page)
    page.wait_for_timeout(1500)
    chart.hover()
    file = download(page, chart.locator(".modebar-btn").first)
    assert file.suggested_filename == "headlight-pattern.svg"
    drawing = "".join(ElementTree.fromstring(content(file)).itertext())
    assert "L1 H4" in drawing
    assert "ball" in drawing


def test_distribution_download_has_the_whole_vocabulary(page: Page) -> None:
    visit(page, page="Next token", sentence=TOM, inspect="export")
    file = download(page, page.get_by_role("button", name="Distribution (CSV)"))
    header, *rows = csv_rows(content(file))
    assert header == ["id", "token", "logit", "model", "sampled_from", "kept"]
    assert {len(row) for row in rows} == {6}
    assert sorted(int(row[0]) for row in rows) == list(range(stories().config.vocab_size))
    probs = np.zeros(len(rows))
    for token_id, _, _, prob, *_ in rows:
        probs[int(token_id)] = float(prob)
    assert probs == pytest.approx(softmax(stories_trace(TOM).logits[-1]), abs=1e-6)
    assert sum(float(row[4]) for row in rows) == pytest.approx(1, abs=1e-5)


def test_a_broken_address_is_mended_and_says_so(page: Page, page_log: PageLog) -> None:
    visit(page, layer="99", head="H1", model="nope")
    notes = page.locator(".hl-note")
    expect(notes).to_have_text([re.compile("^Model nope .*stories"), re.compile("^Layer 99 .*L5")])
    assert (picked(page, "Layer"), picked(page, "Head")) == ("L5", "H1")
    assert page_log.console_errors == []
    pick(page, "Head", "H2")
    expect(notes).to_have_count(0)
