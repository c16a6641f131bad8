"""A person finds the way: a link that restores the view, Back, a theme, a phone, a wall."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from tests.screen import (
    HOSTILE,
    MARKUP,
    TOM,
    arrive,
    content,
    download,
    figure,
    hover,
    pick,
    picked,
    query,
    rail,
    settle,
    settling,
    strip,
    turn_to,
    visit,
)
from tests.viz.builders import stories_trace
from tests.walks.test_generating import BARS
from tests.walks.test_pages import AXE, SERIOUS
from viz import theme
from viz.frame.words import working_out
from viz.labels import token_labels

# Whether a key that is pressed in a box is taken by somebody.
PRESS = """(box, key) => !box.dispatchEvent(
    new KeyboardEvent('keydown', {bubbles: true, cancelable: true, ...key}))"""

# The line of what is worked out over a figure of before: where both stand, where the heading ends,
# and by how much the line moves the figure.
LINE = """html => {
    const body = document.querySelector('.st-key-page');
    const figure = body.querySelector('[class*=st-key-figure-]');
    const block = [...body.children].find(child => child.contains(figure));
    const top = node => Math.round(node.getBoundingClientRect().top);
    const before = top(block);
    figure.closest('.stElementContainer').dataset.stale = 'true';
    body.querySelector('.st-key-working').insertAdjacentHTML('beforeend', html);
    const line = body.querySelector('.hl-working');
    const {bottom} = body.querySelector('.st-key-heading').getBoundingClientRect();
    return [top(line), top(block), bottom, top(block) - before];
}"""


def test_url_brings_the_whole_view_back(page: Page) -> None:
    """Set everything by hand, copy the URL to another visitor, read it there."""
    visit(page, page="Next token", temperature="1.5")
    page.get_by_label("Sentence", exact=True).fill(TOM)
    expect(strip(page)).to_have_text(token_labels(stories_trace(TOM).tokens))
    pick(page, "Layer", "L4")
    pick(page, "Head", "H6")
    page.locator(".hl-text .hl-token").nth(3).click()
    expect(page).to_have_url(re.compile("token=2"))
    page.get_by_label("Top-p", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**top_p=0.94**")
    settle(page)
    view = seen(page)
    assert (view["Layer"], view["Head"]) == ("L4", "H6")
    assert view["sliders"] == ["1.50", "all", "0.94", "off"]
    address = page.url
    page.evaluate("(sessionStorage.clear(), localStorage.clear())")
    page.goto("about:blank")
    page.goto(address)
    settle(page, "Next token")
    assert seen(page) == view
    assert page.locator(".hl-note").count() == 0


def seen(page: Page) -> dict[str, object]:
    """What all controls of the Next token page are set to, and the bars."""
    boxes = ("Model", "Layer", "Head")
    return {
        **{label: picked(page, label) for label in boxes},
        "Sentence": page.get_by_label("Sentence", exact=True).input_value(),
        "sliders": page.locator(".hl-order .hl-value").all_text_contents(),
        "chosen": page.locator(".hl-text .hl-chosen").all_text_contents(),
        "bars": np.round(page.evaluate(BARS)[0], 6).tolist(),
    }


def css(color: str) -> str:
    """#rrggbb as the browser reports it."""
    return f"rgb({', '.join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))})"


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


STYLES = "(elements, name) => elements.map(element => getComputedStyle(element)[name])"


def test_shades_and_choices_are_seen_with_colours_for_contrast(page: Page) -> None:
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    arrive(page, page="Home", sentence=TOM)
    page.locator("[data-drawn$='home rests']").wait_for()
    words = page.locator(".hl-home-tokens button")
    words.nth(9).hover()
    expect(words.nth(9)).to_have_css("color", css(theme.LIGHT.accent))
    shares = words.evaluate_all("all => all.map(word => word.style.getPropertyValue('--share'))")
    shades = words.evaluate_all(STYLES, "backgroundColor")
    assert len(set(shares)) > 3
    assert len(set(zip(shares, shades, strict=True))) == len(set(shades)) == len(set(shares))
    turn_to(page, "Next token")
    bar = page.locator(".hl-dist-after").first
    expect(bar).to_have_css("background-color", css(theme.LIGHT.accent))
    turn_to(page, "Kernels")
    slider = Image.open(io.BytesIO(page.locator(".stSlider [role=group]").first.screenshot()))
    drawn_in = {color for n, color in slider.convert("RGB").getcolors(9999) or [] if n > 50}
    assert tuple(bytes.fromhex(theme.LIGHT.accent[1:])) in drawn_in, "the knob"
    assert len(drawn_in) > 2, "the track on both sides of it"


def test_markup_is_text_under_the_mouse_and_in_a_text_that_is_written(page: Page) -> None:
    """All other places: `test_pages.py`."""
    visit(page, page="Masks", sentence=HOSTILE)
    tokens = token_labels(stories_trace(HOSTILE).tokens)
    expect(strip(page)).to_have_text(tokens)
    sign = tokens.index("<")
    assert f"key {tokens[sign]}" in hover(page, "pattern", sign, sign)
    turn_to(page, "Next token")
    page.get_by_role("button", name="Step", exact=True).click()
    written = page.locator(".hl-live .hl-text bdi")
    expect(written.nth(len(tokens))).to_be_visible()
    assert written.all_text_contents()[: len(tokens)] == tokens
    assert page.locator(MARKUP).count() == 0


def test_exports(page: Page) -> None:
    """In the dark, where what is seen through would be light on the white of a paper."""
    page.emulate_media(color_scheme="dark")
    visit(page, sentence=TOM, layer="L1", head="H4", inspect="export")
    trace = stories_trace(TOM)
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
    picture = Image.open(io.BytesIO(content(file)))
    dark = tuple(bytes.fromhex(theme.DARK.background[1:]))
    assert (picture.format, picture.getpixel((0, 0))) == ("PNG", (*dark, 255))
    with settling(page):
        page.get_by_role("radio", name="SVG").click()
    expect(camera).to_have_count(0)
    chart.hover()
    file = download(page, chart.locator(".modebar-btn").first)
    assert file.suggested_filename == "headlight-pattern.svg"
    svg = ElementTree.fromstring(content(file))
    drawing = "".join(svg.itertext())
    assert "L1 H4" in drawing
    assert "ball" in drawing
    assert svg[0].get("style") == f"fill: {css(theme.DARK.background)}; fill-opacity: 1;"


def go(page: Page, where: str) -> None:
    """Press Back or Forward. The page stays, so there is nothing to load."""
    page.evaluate(f"history.{where}()")


# What a browser's translator does with all texts that may be translated, those to come too.
TRANSLATE = """() => {
    const translate = root => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), texts = [root];
        while (walker.nextNode()) texts.push(walker.currentNode);
        for (const text of texts) {
            const place = text.parentElement;
            if (!place || !text.data?.trim() || place.closest('script, style, font')) continue;
            if (place.closest('[translate]')?.getAttribute('translate') === 'no') continue;
            const outer = document.createElement('font'), inner = document.createElement('font');
            inner.textContent = text.data.toUpperCase() + '¤';
            outer.append(inner);
            text.replaceWith(outer);
        }
    };
    translate(document.body);
    const seen = changes => changes.flatMap(({addedNodes}) => [...addedNodes]).forEach(translate);
    new MutationObserver(seen).observe(document.body, {childList: true, subtree: true});
}"""


def test_a_translated_page_keeps_tokens_and_follows(page: Page) -> None:
    visit(page)
    page.evaluate(TRANSLATE)
    page.get_by_label("Sentence", exact=True).fill(TOM)
    tokens = token_labels(stories_trace(TOM).tokens)
    expect(strip(page)).to_have_text(tokens)
    expect(page.locator(".hl-names .hl-tick-row")).to_have_text(tokens)
    expect(page.locator(".hl-live .hl-caption font").first).to_be_visible()
    turn_to(page, "Next token")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("Next token")
    with settling(page):
        page.go_back()
    expect(heading).to_contain_text("Attention")
    turn_to(page, "Next token")
    page.get_by_role("button", name="Step", exact=True).click()
    expect(page.locator(".hl-text bdi")).to_have_text([*tokens, re.compile("^[^¤]+$")])
    expect(page.locator(".hl-dist-name bdi").first).not_to_contain_text("¤")
    badge = page.get_by_test_id("stPopover").get_by_role("button").first
    expect(badge).to_contain_text(re.compile(r"Verified: (\d+) of \1"))
    page.goto("about:blank")  # it would go on translating


def test_back_and_forward_undo_page_head_and_model(page: Page) -> None:
    arrive(page, sentence=TOM)
    heads = rail(page).get_by_role("link", name="Heads", exact=True)
    with settling(page):  # of a click that Python has not heard of, too
        heads.evaluate("link => (link.click(), history.back())")
    settle(page, "Attention")
    assert query(page) == {"page": "Attention", "sentence": TOM}
    pick(page, "Layer", "L4")
    page.wait_for_url("**layer=4**")
    turn_to(page, "Masks")
    page.wait_for_url("**page=Masks**")
    expect(page).to_have_title("Masks · Headlight")
    go(page, "back")
    settle(page, "Attention")
    expect(page).to_have_title("Attention · Headlight")
    layer = page.get_by_role("combobox", name="Layer", exact=True)
    expect(layer).to_have_value("4")
    go(page, "back")
    expect(layer).to_have_value("3")
    page.wait_for_url(lambda url: "layer" not in url)
    go(page, "forward")
    expect(layer).to_have_value("4")
    go(page, "forward")
    settle(page, "Masks")
    page.wait_for_url("**page=Masks**")
    assert query(page) == {"page": "Masks", "sentence": TOM, "layer": "4"}
    line, stale, heading, moved = page.evaluate(
        LINE, working_out("Running the model…", is_other=False)
    )
    assert heading <= line == stale, "it stands where what is drawn again stands"
    assert moved == 0


def test_typing_is_one_step_of_back(page: Page) -> None:
    visit(page, sentence=TOM)
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    for text in ("a cat", "a cat sat", "a cat sat down"):
        sentence.fill(text)
        sentence.blur()
        page.wait_for_url(f"**sentence={text.replace(' ', '+')}")
        settle(page)
    go(page, "back")
    expect(sentence).to_have_value(TOM)
    expect(strip(page).first).to_have_text("Tom")
    sentence.fill("a dog")  # and on at once: it was kept, and Back passed it over
    turn_to(page, "Heads")
    expect(sentence).to_have_value("a dog")
    go(page, "back")
    settle(page, "Attention")
    expect(sentence).to_have_value("a dog")


def test_a_tour_leads_by_its_arrows_and_keys(page: Page) -> None:
    visit(page, page="Attention by hand", tour="03-by-hand")
    panel = page.locator(".hl-tour").first  # of two where another page is not yet drawn
    expect(panel).to_contain_text("Attention by hand · 1 of 5")
    settle(page)
    panel.get_by_role("link", name="Next").click()
    expect(panel).to_contain_text("2 of 5")
    settle(page)
    page.get_by_role("heading", name="Attention by hand").click()  # the page has the focus then
    page.keyboard.press("ArrowRight")
    expect(panel).to_contain_text("3 of 5")
    page.wait_for_url("**stage=scaled**")
    page.keyboard.press("ArrowLeft")
    expect(panel).to_contain_text("2 of 5")
    page.wait_for_url("**step=2**")
    for step in ("3", "2"):
        page.go_back()
        expect(panel).to_contain_text(f"{step} of 5")
        page.wait_for_url(f"**step={step}**")
    page.go_back()
    expect(panel).to_contain_text("1 of 5")  # which an address leaves out
    page.wait_for_url(lambda url: "step=" not in url)
    page.go_forward()
    expect(panel).to_contain_text("2 of 5")
    panel.get_by_role("link", name="Leave").click()
    expect(panel.get_by_role("link", name="Leave")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("tour|step"))
    assert query(page)["page"] == "Attention by hand", "the view stays"


def test_the_rail_knows_what_was_opened_and_read(page: Page) -> None:
    """On other pages and in the next visit; pages of one subject stand below their entry."""
    arrive(page, page="Attention")
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    sentence.fill("A text of one's own")
    sentence.blur()
    page.wait_for_url("**sentence=**")
    views = rail(page)
    more, learn = (views.locator(f"details[data-group={name}]") for name in ("More", "Learn"))
    link = more.get_by_role("link", name="KV cache", exact=True)
    expect(link).to_be_hidden()
    for track in (more, learn):
        track.locator("summary").click()
    expect(link).to_be_visible()
    lesson, other = learn.get_by_role("link").first, learn.get_by_role("link").nth(1)
    with settling(page):
        lesson.click()
    expect(lesson).to_have_attribute("aria-current", "page")
    expect(lesson.locator(".hl-tick")).to_be_hidden()
    panel = page.locator(".hl-tour")
    last = int(panel.locator("progress").get_attribute("max") or 0)
    for number in range(2, last + 1):
        panel.get_by_role("link", name="Next →").click()
        expect(panel).to_contain_text(f"{number} of {last}")
    expect(sentence).to_have_value("A text of one's own")
    expect(lesson.locator(".hl-tick")).to_be_visible()
    panel.get_by_role("link", name="Next: ").click()
    expect(panel).to_contain_text("1 of")
    expect(other).to_have_attribute("aria-current", "page")
    page.reload()
    expect(lesson.locator(".hl-tick")).to_be_visible()
    expect(other.locator(".hl-tick")).to_be_hidden()
    expect(link).to_be_visible()
    visit(page, page="Attention", sentence=TOM)
    more.locator("summary").press("Enter")
    expect(views.get_by_role("link", name="Beam search")).to_have_count(0)
    views.locator('a[data-page="Next token"]').click()
    settle(page, "Next token")
    expect(link).to_be_hidden()
    views.get_by_role("link", name="Beam search").click()
    settle(page, "Beam search")
    assert query(page)["sentence"] == TOM
    expect(views.locator("[aria-current=page]")).to_have_text("Beam search")
    turn_to(page, "KV cache")
    expect(link).to_be_visible()


def test_the_map_leads_to_layers_and_to_what_each_part_is_about(page: Page) -> None:
    """A layer stays on a page that has one; elsewhere it leads to Attention; all else is kept."""
    visit(page, page="Logit lens", sentence=TOM, head="4")
    way = page.get_by_role("navigation", name="Map of the model")
    expect(way.locator("[aria-current]")).to_have_text("stream")
    steps = [("Layer 5", "Logit lens", "L5"), ("position", "Positional encoding", "L5")]
    for link, title, layer in [*steps, ("Layer 1", "Attention", "L1")]:
        with settling(page):
            way.get_by_role("link", name=link, exact=True).click()
        settle(page, title)
        assert (picked(page, "Layer"), picked(page, "Head")) == (layer, "H4")
        assert query(page)["sentence"] == TOM
    expect(way.locator("[aria-current]")).to_have_attribute("aria-label", "Layer 1")
    link = way.get_by_role("link", name="Layer 5", exact=True)
    link.hover()  # a link that is copied has it all
    expect(link).to_have_attribute("href", re.compile(r"page=Attention.*sentence=.*layer=5"))
    page.go_back()
    settle(page, "Positional encoding")
    with settling(page):
        strip(page).first.click()  # a word leads where all of them do
    settle(page, "Tokens")


def test_keys_of_other_scripts_search_and_compose(page: Page) -> None:
    """Ctrl-K with Cyrillic letters was not heard; an Enter that chose letters sent half a word."""
    visit(page, page="Attention")
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    search = page.get_by_role("combobox", name="Search")
    for key in ("л", "κ", "ל", "ن", "k", "K"):
        sentence.evaluate(PRESS, {"key": key, "code": "KeyK", "ctrlKey": True})
        expect(search).to_be_visible()
        page.keyboard.press("Escape")
    sentence.evaluate(PRESS, {"key": "e", "code": "KeyK", "ctrlKey": True})  # Colemak
    expect(search).to_be_hidden()
    assert sentence.evaluate(PRESS, {"key": "Enter"}), "it is the box's own"
    page.keyboard.press("ControlOrMeta+k")
    for how in ({"isComposing": True}, {"keyCode": 229}):
        assert not sentence.evaluate(PRESS, {"key": "Enter", **how})
        assert not search.evaluate(PRESS, {"key": "Enter", **how})
    page.keyboard.press("Escape")
    expect(search).to_be_hidden()


def test_search_finds_a_page_by_keys_alone(page: Page) -> None:
    """It opens, filters and closes in the browser; its links keep all else."""
    visit(page, page="Attention", sentence=TOM, layer="4")
    box = page.get_by_role("dialog", name="Search")
    page.get_by_role("textbox", name="Sentence", exact=True).focus()
    page.keyboard.press("ControlOrMeta+k")  # and typed on at once
    page.keyboard.type(HOSTILE)
    expect(box.get_by_role("status")).to_contain_text(f"Nothing is called “{HOSTILE}”; try")
    expect(box.locator("img")).to_have_count(0)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("sampling")
    options = box.get_by_role("option")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert page.evaluate(SERIOUS) == []
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    rail(page).get_by_role("button", name="Search").click()
    expect(box.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("nucleus")
    expect(options).to_have_count(2)  # the term, and the page where it is seen
    with settling(page):
        page.keyboard.press("Enter")
    settle(page, "Next token")
    expect(box).to_be_hidden()
    assert query(page) == {"page": "Next token", "sentence": TOM, "layer": "4"}


def test_a_token_is_called_by_the_word_that_stands_there_now(page: Page) -> None:
    visit(
        page,
        page="Embeddings and similarity",
        sentence="Lily saw a girl with a big red ball.",
        token="7",
    )
    chosen = page.get_by_role("combobox", name="Token")
    expect(chosen).to_have_value("7: red")
    box = page.get_by_label("Sentence", exact=True)
    box.fill("The king gave five golden coins to Anna.")
    box.press("Enter")
    expect(chosen).to_have_value("7: to")


# How much of each figure lies outside of the place it has on the page, in its own pixels.
CUT = """() => [...document.querySelectorAll('.js-plotly-plot')].map(plot => {
    const place = plot.closest('[class*="st-key-figure-"]');
    return plot.offsetHeight - place.offsetHeight;
})"""


def test_presented_figures_are_whole_and_keys_lead_to_what_is_below(page: Page) -> None:
    size = page.viewport_size
    page.set_viewport_size({"width": 1280, "height": 720})
    arrive(page, page="Logit lens", present="yes")
    cut = page.evaluate(CUT)
    assert len(cut) >= 3
    assert max(cut) <= 1
    main = page.get_by_test_id("stMain")
    page.keyboard.press("End")
    page.wait_for_function("main => main.scrollTop > 100", arg=main.element_handle())
    page.set_viewport_size(size)


# What stands in the place of a figure whose script is not there yet.
IN_ITS_PLACE = """() => {
    const place = document.querySelector('.st-key-page [data-testid=stSkeleton]');
    return place && getComputedStyle(place, '::after').content.includes('Drawing');
}"""


def test_the_place_of_a_figure_says_that_it_comes(page: Page) -> None:
    held: list[Route] = []
    page.route("**/BidiComponent*.js", lambda route: held.append(route))
    page.goto("/?page=Home")
    page.wait_for_function(IN_ITS_PLACE)
    for route in held:
        route.continue_()
    settle(page, "Home")
