"""Protects one part in three hosts: a saved file, a notebook, and the app (tests/walks)."""

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import numpy as np
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Route,
    WebError,
    expect,
)

import headlight as hl
from tests.conftest import FAILED
from tests.screen import HOSTILE, MARKUP, PATIENCE
from tests.viz.builders import stories_trace
from tests.viz.harness import as_sent, open_instrument
from tests.viz.kit.parts import made
from viz.kit import part as kit
from viz.kit.files import packed_plotly, script
from viz.kit.hosts.jupyter import PartWidget, prepare, still, widget
from viz.kit.join import joined
from viz.kit.part import Part, page_of, piece
from viz.kit.parts.attention import attention_part
from viz.kit.parts.home import home_part
from viz.theme import DARK, LIGHT

AXE = next(iter(axe_playwright_python.__path__)) + "/axe.min.js"
ALONE = "No model runs here"  # and so on
HTML, OF_2020 = '<html lang="en">', "<script>delete globalThis.DecompressionStream</script>"
KERNEL: dict[str, PartWidget] = {}  # Python's side of the notebook that is open
# The large map's cell as the browser places it, to point at.
AT_CELL = """([row, column]) => {
    const chart = document.querySelector('.js-plotly-plot');
    const {xaxis, yaxis} = chart._fullLayout;
    const box = chart.getBoundingClientRect();
    return [box.x + xaxis._offset + xaxis.c2p(column), box.y + yaxis._offset + yaxis.c2p(row)];
}"""


@pytest.fixture(scope="module")
def offline(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a network; `answer` asks the kernel of the open notebook."""
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 800})
    context.expose_function("answer", lambda message: answer(KERNEL["now"], message))
    yield context
    context.close()


@pytest.fixture
def alone(offline: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page without a network, which must ask for nothing and say nothing.

    It is that of the test before, if that passed: each new one would compile plotly.js anew.
    """
    page = offline.pages[0] if offline.pages else offline.new_page()
    page.set_default_timeout(PATIENCE)
    said: list[str] = []

    def keep_line(line: ConsoleMessage) -> None:
        said.append(line.text)

    def keep_error(error: WebError) -> None:
        said.append(str(error.error))

    def keep_request(asked: Request) -> None:
        if "http" in asked.url[:4]:
            said.append(asked.url)

    listeners = {"console": keep_line, "weberror": keep_error, "request": keep_request}
    for event, listener in listeners.items():
        offline.on(event, listener)
    yield page
    if request.node.stash.get(FAILED, False):
        page.close()
    else:
        page.goto("about:blank")
        page.emulate_media(color_scheme="light")
        page.mouse.move(1, 1)
    for event, listener in listeners.items():
        offline.remove_listener(event, listener)
    assert said == []


def point_at(page: Page, row: int, column: int) -> None:
    page.mouse.move(*page.evaluate(AT_CELL, [row, column]))


def click_head(page: Page, layer: int, head: int) -> None:
    """Click a small map; their names stand at fixed places."""
    grid = page.locator(".hl-overview")
    boxes = [
        grid.get_by_text(name, exact=True).bounding_box() for name in (f"H{head}", f"L{layer}")
    ]
    column, row = (box for box in boxes if box)
    page.mouse.click(column["x"] + column["width"] / 2, row["y"] + row["height"] / 2)


def drawn(page: Page, name: str) -> None:
    page.locator(f"[data-drawn^='{name}']").wait_for()


def test_a_saved_file_shows_python_s_numbers(alone: Page, tmp_path: Path) -> None:
    trace = stories_trace(HOSTILE)
    path = tmp_path / "heads.html"
    attention_part(trace, model="<i>stories", chosen={"layer": 2, "head": 3}).save(path)
    alone.goto(path.as_uri())
    expect(alone.get_by_role("banner")).to_have_text(f"<i>stories {HOSTILE}")
    expect(alone).to_have_title(f"<i>stories · {HOSTILE}")
    drawn(alone, "run L2 H3 map weights")
    says = alone.locator(".hl-cell-panel")
    point_at(alone, 7, 3)
    expect(says).to_contain_text(f"{trace.attention[2].pattern[3, 7, 3]:.3g}"[:4])
    click_head(alone, 4, 6)
    drawn(alone, "run L4 H6 map weights")
    alone.get_by_role("application", name="softmax of L4 H6").focus()
    for key in ("ArrowDown", "End", "ArrowUp"):
        alone.keyboard.press(key)
    last = len(trace.tokens) - 1
    expect(says).to_contain_text(f", key {last}")
    expect(alone.locator("[aria-live=polite]").first).to_contain_text(
        "masked: this word comes later"
    )
    for view, shown in (("lines", ".hl-lines"), ("compare", "h3"), ("summary", "h2")):
        alone.locator(f"input[name^=hl-view][value={view}]").check(force=True)
        drawn(alone, f"run L4 H6 {view}")
        expect(alone.locator(shown).first).to_be_visible()
    expect(alone.get_by_role("button", name="HTML")).to_have_count(0)  # this file is one
    expect(alone.get_by_role("contentinfo")).to_contain_text(
        "weights are kept in this file in step"
    )
    assert alone.locator(MARKUP).count() == 0
    alone.emulate_media(color_scheme="dark")
    alone.wait_for_function("getComputedStyle(document.body).backgroundColor === 'rgb(13, 18, 30)'")


@pytest.mark.parametrize(
    ("fault", "said"), [("a browser of 2020", "too old to unpack it"), ("half a script", "damaged")]
)
def test_a_saved_file_says_why_it_cannot_draw(
    alone: Page, tmp_path: Path, fault: str, said: str
) -> None:
    page = attention_part(stories_trace("go")).page()
    script = base64.b64encode(packed_plotly()).decode()
    assert page.count(script) == page.count(HTML) == 1
    if fault == "half a script":
        page = page.replace(script, script[: len(script) // 8 * 4])
    else:
        page = page.replace(HTML, HTML + OF_2020)
    (tmp_path / "heads.html").write_text(page, encoding="utf-8")
    alone.goto((tmp_path / "heads.html").as_uri())
    expect(alone.get_by_role("alert")).to_contain_text(said)


@pytest.mark.parametrize(
    ("make", "words", "reach", "key", "said"),
    [
        (made.rotation, "[role=figure][aria-label^='dot product']", "input", "ArrowRight", "−3"),
        (made.by_hand, "[role=group][aria-label=Steps]", "[tabindex='0']", "End", "column 2"),
        (
            made.circuit,
            "[aria-label^='Circuit of t8 rather than t11']",
            ".hl-edges button",
            "Enter",
            "Without it the logit difference",
        ),
        (
            made.forming,
            "[aria-label^='L0 H0: step 30']",
            ".hl-overview",
            "ArrowDown",
            "L1 H0: step",
        ),
        (
            made.mask_editor,
            "[aria-label^='Pattern of L1 H2']",
            ".hl-map",
            "Home",
            f"{ALONE}.*“The”",
        ),
        (
            made.digit_pad,
            "[aria-label^='Probability']",
            "svg[role=img]",
            "End",
            f"{ALONE}.*patch 1,0",
        ),
        (made.home, "ol[aria-label^='Next token']", "[aria-label*='with']", "Enter", ALONE),
        (made.writing, "[role=group][aria-label=Text]", "input", "End", "Drawn from|Next token"),
        (
            made.why,
            "[role=group][aria-label='Words in the query']",
            "table button",
            "Enter",
            "in the key, norms held: weight",
        ),
        (made.lists, "label", "select", "ArrowUp", "<b>The second</b>"),
        (made.chart, "[role=figure][aria-label='A bar.']", "", "", ""),
    ],
    ids=[
        *("rotation", "by_hand", "circuit", "forming", "mask_editor", "digit_pad"),
        *("home", "writing", "why", "pickers", "figure"),
    ],
)
def test_each_part_opens_from_a_file_and_is_for_everybody(
    alone: Page,
    tmp_path: Path,
    make: Callable[[], Part],
    words: str,
    reach: str,
    key: str,
    said: str,
) -> None:
    """What it shows in words, its keys, and a line where a choice would need the model."""
    part = make()
    part.save(tmp_path / "part.html")
    alone.goto((tmp_path / "part.html").as_uri())
    expect(alone.locator(words)).to_be_visible()
    if part.name in ("rotation", "forming", "mask_editor", "figure"):
        alone.locator(":not([data-busy]) > * .main-svg").first.wait_for()
    if reach:
        alone.locator(reach).first.focus()
        alone.keyboard.press(key)
        expect(alone.locator("#headlight")).to_have_text(re.compile(said))
    alone.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = alone.evaluate("axe.run('#headlight').then(result => result.violations)")
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


# --- the app --------------------------------------------------------------------------------------


def test_a_part_that_does_not_load_says_so(bare: Page) -> None:
    data = as_sent(attention_part(stories_trace("go go")), key="a key", part="no-such")
    said = bare.evaluate(
        """async data => {
            const {PartHost} = await import('/kit/hosts/streamlit.js');
            const root = document.body.appendChild(document.createElement('div'));
            new PartHost(root, {}).receive(data);
            while (!root.textContent) await new Promise(resolve => setTimeout(resolve, 20));
            root.remove();
            return [root.textContent, root.firstChild.role];
        }""",
        data,
    )
    assert said == ["What belongs here did not load. Reload the page.", "alert"]


def test_what_the_app_has_let_go_of_is_asked_for_again(bare: Page) -> None:
    """An array that is gone has the page run again, which brings it back."""
    part = attention_part(stories_trace("go go"))
    gone = True

    def answer(route: Route) -> None:
        if gone:
            return route.fulfill(status=204)
        name, *at = route.request.url.partition("/kit/arrays/")[2].split("/")
        return route.fulfill(body=piece(part.by_id[name], at))

    bare.route("**/kit/arrays/**", answer)
    data = as_sent(part, key="a key")
    bare.evaluate(
        """async data => {
            const {PartHost} = await import('/kit/hosts/streamlit.js');
            globalThis.lost = [];
            const root = document.body.appendChild(document.createElement('div'));
            root.className = 'hl-live';
            const lose = key => {
                lost.push(key);
                // One of several may be heard of late: the page runs once more.
                if (globalThis.isBack) setTimeout(() => host.receive(data));
            };
            globalThis.host = new PartHost(root, {lost: lose});
            host.receive(data);
        }""",
        data,
    )
    expect(bare.get_by_role("alert")).to_contain_text("asked again")
    assert set(bare.evaluate("lost")) == {"a key"}
    gone = False
    bare.evaluate("data => (globalThis.isBack = true, host.receive(data))", data)
    drawn(bare, "run L0 H0")
    expect(bare.get_by_role("alert")).to_be_hidden()
    ink = "getComputedStyle(host.root).getPropertyValue('--hl-text')"
    assert bare.evaluate(ink) == LIGHT.text
    bare.evaluate(
        "([data, ground]) => { host.root.style.setProperty('--st-background-color', ground);"
        "host.receive(data); }",
        [data, DARK.background],
    )
    bare.wait_for_function(f"{ink} === '{DARK.text}'")
    bare.evaluate("host.destroy()")
    bare.unroute("**/kit/arrays/**")


def test_home_asks_for_all_at_once_and_draws_nothing_while_python_writes(bare: Page) -> None:
    trace = stories_trace("go go")
    part = home_part(trace, ["x"] * trace.logits.shape[-1])
    held: list[Route] | None = []

    def answer(route: Route) -> None:
        if held is not None:
            return held.append(route)
        name, *at = route.request.url.partition("/kit/arrays/")[2].split("/")
        return route.fulfill(body=piece(part.by_id[name], at))

    bare.route("**/kit/arrays/**", answer)
    bare.emulate_media(reduced_motion="reduce")
    data = as_sent(part, key="a key", why_no_more=None, plays=False)
    logits = f"{part.known['logits']['id']}/{len(trace.tokens) - 1}"
    with bare.expect_request(f"**/kit/arrays/{logits}"):
        bare.evaluate(
            """async data => {
                const {PartHost} = await import('/kit/hosts/streamlit.js');
                    const root = document.body.appendChild(document.createElement('div'));
                root.className = 'hl-live';
                globalThis.sent = [];
                globalThis.host = new PartHost(root, {send: message => sent.push(message)});
                host.receive(data);
            }""",
            data,
        )
    waiting, held = held, None
    for route in waiting:
        answer(route)
    bare.get_by_role("button", name="Step", exact=True).click()
    bare.wait_for_function("sent.length === 1")
    n_drawn = bare.evaluate(
        """async () => {
            const frame = () => new Promise(requestAnimationFrame);
            await frame();
            let n = 0;
            const {drawImage} = CanvasRenderingContext2D.prototype;
            CanvasRenderingContext2D.prototype.drawImage = function (...args) {
                n += 1;
                return drawImage.apply(this, args);
            };
            for (let i = 0; i < 5; i++) await frame();
            CanvasRenderingContext2D.prototype.drawImage = drawImage;
            host.destroy();
            host.root.remove();
            return n;
        }"""
    )
    assert n_drawn == 0
    bare.emulate_media(reduced_motion="null")
    bare.unroute("**/kit/arrays/**")


def test_in_a_notebook_the_model_writes_on(alone: Page) -> None:
    run = hl.open("stories", device="cpu")("Once upon a time")
    part = run.writing_view(2, seed=7)
    live = widget(part)
    open_notebook(alone, live)
    view = alone.locator("section").first
    view.locator("[data-drawn*='writing 2']").wait_for()
    view.get_by_role("button", name="Write on").click()
    view.locator("[data-drawn*='writing 22']").wait_for()
    view.locator(".hl-new").nth(1).click()
    # Until Python has answered, the list is that of the token before.
    expect(view.locator(".hl-distribution h3")).to_have_text("Drawn from")
    other = view.locator(".hl-dist li:not(.hl-is-drawn) .hl-dist-name").first
    name = other.locator("bdi").text_content()
    other.click()
    expect(view.locator(".hl-new")).to_have_text([part.spec["labels"][-2], name])
    expect(view.locator(".hl-says")).to_contain_text("put here")
    assert "Run the cell" in still(part)


ASKS = """({model}) => (globalThis.ask = async question => {
    try { return await model.ask(question); } catch (error) { return error.message; }
})"""


class Echo:
    """What answers a part with what it was asked, but for one thing."""

    def more(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The question; ValueError for none."""
        if not asked:
            raise ValueError("ask\nsomething")
        return {"asked": asked, "arrays": {"twice": 2.0 * np.array(asked["x"])}}


def test_python_answers_questions_in_a_notebook(alone: Page) -> None:
    live = PartWidget(Part("echo", {}, {}, answers=Echo()))
    text = joined(
        ["kit/hosts/jupyter.js"],
        "export default async () => "
        f"(await import(urls['kit/hosts/jupyter.js'])).host({{render: {ASKS}}});",
    )
    open_notebook(alone, live, text)
    answers = "ask({x: [1, 3]}).then(({asked, arrays}) => [asked.x, [...arrays.twice.values]])"
    assert alone.evaluate(answers) == [[1, 3], [2, 6]]
    assert alone.evaluate("ask({})") == "ask something"
    nobody_answers = """() => {
        listeners['msg:custom'] = [];
        const asked = ask({x: 1});
        listeners.comm_live_update.forEach(act => act());
        return asked;
    }"""
    assert alone.evaluate(nobody_answers) == "Python is gone; run the cell again"


def test_python_answers_questions_in_the_app(bare: Page) -> None:
    def fulfill(route: Route) -> None:
        status = route.request.post_data_json["wants"]
        said = kit.answer(Echo(), {"x": [0.5]}) if status == 200 else "in words"
        route.fulfill(status=status, body=said)

    bare.route("**/kit/answers/a-key", fulfill)
    open_instrument(bare, as_sent(attention_part(stories_trace("go"))) | {"asks": "a-key"})
    bare.evaluate(f"void ({ASKS})(host)")
    assert bare.evaluate("ask({wants: 200}).then(x => x.arrays.twice.values[0])") == 1
    assert bare.evaluate("ask({wants: 400})") == "in words"
    assert bare.evaluate("ask({wants: 404})") == "The app did not answer (404)"
    assert bare.evaluate("ask({wants: 204})") == "The page has changed meanwhile"
    bare.unroute("**/kit/answers/a-key")


def test_a_saved_file_has_nobody_to_ask(alone: Page) -> None:
    text = joined(
        ["kit/hosts/saved.js"],
        f"""(await import(urls['kit/hosts/saved.js'])).show({{render: {ASKS}}}, document.body,
        JSON.parse(document.getElementById('contents').textContent),
        {{signal: new AbortController().signal}});""",
    )
    alone.set_content(page_of(Part("echo", {}, {}, answers=Echo()).contents, text))
    alone.wait_for_function("'ask' in globalThis")
    assert alone.evaluate("ask({})") == "No Python answers here"


# --- a notebook -----------------------------------------------------------------------------------

# Opens the widget's own module twice, with what anywidget hands over; `answer` is Python.
NOTEBOOK = """async ([text, traits]) => {
    const {default: made} = await import(URL.createObjectURL(
        new Blob([text], {type: 'text/javascript'})));
    const {initialize, render} = await made();
    const listeners = {};
    const tell = (event, ...args) => (listeners[event] ?? []).forEach(act => act(...args));
    const view = new DataView(new ArrayBuffer(0));
    const model = {
        get: name => traits[name],
        on: (event, act) => (listeners[event] ??= []).push(act),
        off: (event, act) => listeners[event] = listeners[event].filter(other => other !== act),
        send: async message => {
            const {said, buffers, changed} = await answer(message);
            const bytes = buffers.map(text => Uint8Array.from(atob(text), x => x.charCodeAt(0)));
            if (said) tell('msg:custom', said, bytes.map(({buffer}) => new DataView(buffer)));
            Object.assign(traits, changed);
            Object.keys(changed).forEach(name => tell(`change:${name}`));
        },
    };
    globalThis.listeners = listeners;
    initialize?.({model});
    if (render) globalThis.closings = [0, 1].map(() => {
        const el = document.body.appendChild(document.createElement('section'));
        return render({model, el});
    });
}"""


# As a notebook does with cells that are scrolled away.
OUT_OF_SIGHT_AND_BACK = """async () => {
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    const section = document.querySelector('section');
    section.remove();
    await frame().then(frame);
    document.body.prepend(section);
}"""


def answer(live: PartWidget, message: dict[str, Any]) -> dict[str, Any]:
    """A kernel in the place of Jupyter's: what a widget is sent, and what it says afterwards."""
    sent: list[tuple[Any, list[bytes]]] = []
    live.send = lambda said, buffers=(): sent.append((said, list(buffers)))
    live._hear(live, message, [])
    said, buffers = sent[0] if sent else (None, [])
    coded = [base64.b64encode(data).decode() for data in buffers]
    changed = {} if sent else {"settings": live.settings, "acked": live.acked}
    return {"said": said, "buffers": coded, "changed": changed}


def open_notebook(page: Page, live: PartWidget, text: str = "", then: str = "") -> None:
    """Two cells with a widget, by its own module or another; `then` is run in the page."""
    KERNEL["now"] = live
    opens = f"async given => {{ await ({NOTEBOOK})(given); {then} }}"
    page.evaluate(opens, [text or live._esm, traits_of(live)])


TRAITS = ("spec", "settings", "arrays", "themes", "asks", "acked")


def traits_of(live: PartWidget) -> dict[str, Any]:
    return {name: getattr(live, name) for name in TRAITS if live.has_trait(name)}


def test_two_views_in_a_notebook_agree_with_python(alone: Page) -> None:
    live = widget(attention_part(stories_trace("go go go"), chosen={"layer": 1}))
    open_notebook(alone, live)
    views = alone.locator("section > .hl-live")
    expect(views).to_have_count(2)
    for i in range(2):
        expect(views.nth(i)).to_have_attribute("data-drawn", "run L1 H0 map weights")
        expect(views.nth(i).get_by_role("radio", name="Step by step")).to_be_checked()
    grid = views.first.locator(".hl-overview")
    grid.focus()
    for key in ("ArrowRight", "ArrowDown"):
        alone.keyboard.press(key)
    for i in range(2):
        expect(views.nth(i)).to_have_attribute("data-drawn", "run L2 H1 map weights")
    head = {"attention": "decoder.attn", "layer": 2, "head": 1, "cell": None}
    assert head.items() <= live.settings.items()
    assert len(live.acked) == 1, "of the view that it was chosen in"
    alone.evaluate(OUT_OF_SIGHT_AND_BACK)
    expect(views.first.locator(".js-plotly-plot")).to_be_visible()
    grid.focus()
    alone.keyboard.press("ArrowRight")
    expect(views.first).to_have_attribute("data-drawn", "run L2 H2 map weights")
    alone.evaluate("closings.forEach(close => close())")
    assert alone.evaluate("Object.values(listeners).flat()") == []


def test_a_view_draws_whose_forerunner_went_before_plotly_came(alone: Page) -> None:
    live = widget(attention_part(stories_trace("go go")))
    open_notebook(alone, live, then="closings[0]();")
    drawn(alone, "run L0 H0")


def test_plotly_can_be_there_before_a_picture(alone: Page) -> None:
    open_notebook(alone, prepare())
    alone.wait_for_function("globalThis.Plotly && !Object.values(listeners).flat().length")


def test_python_says_what_it_does_not_have() -> None:
    live = widget(attention_part(stories_trace("go")))
    said = answer(live, {"id": "a", "path": "nothing/0"})["said"]
    assert said["error"] == "There is no such array"


def test_the_still_of_a_notebook_is_a_picture_of_all_heads() -> None:
    trace = stories_trace("go go")
    for part in (attention_part(trace), home_part(trace, ["x"] * trace.logits.shape[-1])):
        picture = still(part)
        assert picture.startswith('<figure class="hl-still">A still picture')
        content = base64.b64decode(picture.split("base64,")[1].split('"')[0])
        assert content.startswith(b"\x89PNG")


def test_a_still_goes_where_a_live_one_stands(alone: Page) -> None:
    picture = still(attention_part(stories_trace("go go")))
    alone.set_content(
        f"<style>{script('kit/kit.css')}</style><div class=jp-OutputArea>{picture}</div>"
        f"<div class=jp-OutputArea>{picture}<div class=hl-live></div></div>"
    )
    expect(alone.get_by_alt_text("All heads")).to_have_count(2)
    expect(alone.get_by_alt_text("All heads").nth(0)).to_be_visible()
    expect(alone.get_by_alt_text("All heads").nth(1)).to_be_hidden()
