"""What a person does and sees on the pages, for tests in the browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
from playwright.sync_api import Download, Locator, Page, expect

TOM = "Tom had a red ball. Tom gave Sam the red ball."
# Few tokens: what most pages take grows with them.
HOSTILE = "<img src=x>$x$**b**%{y}"
# What the sentence would be, were it not text.
MARKUP = "img[src='x'], .hl-text b, .hl-strip b, text.nums b, .ytick tspan[style*=bold]"
# Nothing scrolls sideways but what is wider than the screen, in its own frame.
FITS = """() => {
    const main = document.querySelector('[data-testid=stMain]') ?? document.body;
    const isFramed = formula => formula.scrollWidth <= formula.clientWidth + 1
        || getComputedStyle(formula).overflowX === 'auto';
    return main.scrollWidth <= main.clientWidth
        && document.documentElement.scrollWidth <= innerWidth
        && [...main.querySelectorAll('.katex-display')].every(isFramed);
}"""
# What each page draws with Plotly in Python; some have an instrument of the browser instead.
CHARTS = {
    "Home": [],
    "Attention": [],
    "Heads": ["heads"],
    "Tokens": ["merges"],
    "Positional encoding": ["order", "order-running"],
    "Masks": ["mask", "pattern"],
    "Cost": ["shares", "operations"],
    "Logit lens": ["lens", "rank", "most-likely"],
    "Next token": [],
    "Beam search": ["beam"],
    "KV cache": ["filling"],
    "Circuit": [],
    "Patching": [
        "patched-resid-pre",
        "patched-attn-out",
        "patched-ffn-out",
        "patched-z",
        "patching-estimate",
    ],
    "Explanation": ["arrows", "token-worth"],
    "Lab": ["lab-schedule"],
    "Contributions": ["waterfall", "heads", "keys", "head-words", "neurons", "neuron-words"],
    "Ablation": [
        "head-costs",
        "sublayer-costs",
        "pattern-before",
        "answers",
        "neurons-off",
    ],
    "Embeddings and similarity": ["nearest-cosine", "nearest-dot-product"],
    "Kernels": ["kernel-curve", "kernel-weights"],
    "Attention by hand": [],
    "Multi-head attention": ["several-head", "several-other"],
    "Transformer block": ["block-lengths"],
    "Cheaper attention": ["cheaper-exact", "cheaper-way"],
    "Scaling": ["scaling-own"],
    "Notation": [],
    "Recurrence": ["recurrence-accuracy"],
    "Diagram": [],
    "Masked language model": ["both-sides", "under-the-mask"],
    "Translation": ["forced", "error-rates", "alignment", "damage", "cache-parts"],
    "Vision": ["without", "distances", "places"],
}
PATIENCE = 60_000  # milliseconds; a busy machine is slow, which no test judges
SETTLED = "() => Number((document.documentElement.dataset.settled ?? '0').split(' ')[0])"
# A link of the app's own leads to an address without loading anything anew.
TURN = """title => {
    const link = Object.assign(document.createElement("a"), {href: `?page=${title}`});
    link.dataset.page = title;
    document.body.append(link);
    link.click();
    link.remove();
}"""
FOLLOW = """address => {
    const link = Object.assign(document.createElement('a'), {href: address});
    document.body.append(link);
    link.click();
    link.remove();
}"""
DRAWN = """key => {
    const chart = document.querySelector(`.st-key-figure-${key} .js-plotly-plot`);
    return [...(chart?.calcdata ?? [])].map(points => {
        const {type, orientation, x, y, z} = points[0].trace;
        const isAcross = type === 'bar' && orientation === 'h';
        const values = isAcross ? x : typeof y?.[0] === 'string' ? points.map(at => at.y) : y;
        return z ? z.map(row => Array.from(row)) : Array.from(values);
    });
}"""
PLACE = """([key, trace, row, column]) => {
    const chart = document.querySelector(`.st-key-figure-${key} .js-plotly-plot`);
    chart.scrollIntoView({block: 'center'});
    const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    return [left + xaxis._offset + xaxis.c2p(column), top + yaxis._offset + yaxis.c2p(row)];
}"""


def figure(page: Page, key: str) -> Locator:
    """The figure drawn under a key."""
    return page.locator(f".st-key-figure-{key}")


def settle(page: Page, title: str = "") -> None:
    """Wait until the app says that nothing is under way, on the page of this title if named."""
    state = re.compile(rf"^\d+ {re.escape(title)}.* ")
    expect(page.locator("html")).to_have_attribute("data-settled", state)


@contextmanager
def settling(page: Page) -> Iterator[None]:
    """What is done in here has the app at work; wait until it has settled once more.

    For what only Streamlit hears of: until its server answers, the page has settled still.
    """
    times = page.evaluate(SETTLED)
    yield
    page.wait_for_function(f"times => ({SETTLED})() > times", arg=times)


def visit(page: Page, /, **query: str) -> None:
    """Open a view, Attention where none is named, and wait until it has settled.

    Where the app is open it is followed as a link: the browser reads no script anew.
    """
    query.setdefault("page", "Attention")
    address = "/?" + urlencode(query)
    if urlsplit(page.url).hostname == "localhost":
        settle(page)  # what was changed last counts wherever a person goes
        with settling(page):
            page.evaluate(FOLLOW, address[1:])
    else:
        page.goto(address)
    settle(page, query["page"])


def arrive(page: Page, /, **query: str) -> None:
    """Open a view as a new visitor: whose visits to other pages left no choice there."""
    page.goto("about:blank")
    visit(page, **query)


def rail(page: Page) -> Locator:
    """The links to all views."""
    return page.get_by_role("navigation", name="Views")


def turn_to(page: Page, title: str) -> None:
    """Go to another page by its name, by the rail where its link is in sight."""
    link = rail(page).locator(f'a[data-page="{title}"]:visible').first
    if link.count():
        link.click()
    else:
        page.evaluate(TURN, title)
    settle(page, title)


def picked(page: Page, label: str) -> str:
    """What a select box shows."""
    box = page.get_by_role("combobox", name=label, exact=True)
    return box.evaluate("box => box.selectedOptions?.[0].text ?? box.value")


def pick(page: Page, label: str, option: str) -> None:
    """Choose an option of a select box."""
    box = page.get_by_role("combobox", name=label, exact=True)
    if box.evaluate("box => box.localName") == "select":
        box.select_option(label=option)
        return
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def query(page: Page) -> dict[str, str]:
    """What the URL says."""
    return {name: values[-1] for name, values in parse_qs(urlsplit(page.url).query).items()}


def drawn(page: Page, key: str) -> list[np.ndarray]:
    """The values each trace of a figure draws: z of a heat map, the lengths of bars, y of lines."""
    return [np.array(values, dtype=float) for values in page.evaluate(DRAWN, key)]


def strip(page: Page) -> Locator:
    """The tokens of the sentence."""
    return page.locator(".hl-strip").first.locator("bdi")


def hover(page: Page, key: str, row: float, column: float) -> str:
    """What a figure says about a place while the mouse is there."""
    page.mouse.move(1, 1)
    expect(page.locator(".hoverlayer .hovertext")).to_have_count(0)
    x, y = page.evaluate(PLACE, [key, 0, row, column])
    page.mouse.move(x - 2, y - 2)
    page.mouse.move(x, y)
    text = figure(page, key).locator(".hoverlayer .hovertext text.nums")
    text.wait_for()
    return text.text_content()


def download(page: Page, click: Locator) -> Download:
    """What a click downloads."""
    with page.expect_download() as waiting:
        click.click()
    return waiting.value


def content(file: Download) -> bytes:
    """The bytes of a download."""
    return Path(file.path()).read_bytes()
