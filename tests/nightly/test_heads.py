"""Protects the page Heads in a real browser: a point is clicked, its head chosen and opened."""

import json

from playwright.sync_api import Page, expect

from model.sources import checkpoint
from model.survey.stored import STORED
from tests.screen import figure, query, settle, visit

POINT = """([key, i]) => {
    const chart = document.querySelector(`.st-key-figure-${key} .js-plotly-plot`);
    const {xaxis, yaxis} = chart._fullLayout;
    const {x, y} = chart._fullData[0];
    const box = chart.getBoundingClientRect();
    return [box.left + xaxis._offset + xaxis.d2p(x[i]), box.top + yaxis._offset + yaxis.d2p(y[i])];
}"""
LAYER, HEAD = 4, 5
NAME = "L4\u00a0H5"


def click_point(page: Page, i: int, name: str) -> None:
    """Click the point of a head, once it says which it is: Plotly clicks what is pointed at."""
    x, y = page.evaluate(POINT, ["heads", i])
    page.mouse.move(x - 40, y)
    page.mouse.move(x, y, steps=4)
    hovered = figure(page, "heads").locator(".hoverlayer .hovertext", has_text=name)
    hovered.first.wait_for()
    page.mouse.down()
    page.mouse.up()


def test_a_click_on_a_point_chooses_its_head_and_its_sentence_opens(page: Page) -> None:
    visit(page, page="Heads")
    found = checkpoint.find_folder("stories") / STORED
    groups = json.loads(found.read_text(encoding="utf-8"))["groups"]
    strongest = groups["decoder.attn"]["strongest"][LAYER][HEAD]
    click_point(page, 8 * LAYER + HEAD, NAME)
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    expect(page.locator(".hl-quote")).to_have_text(strongest["text"])
    page.wait_for_function("location.search.includes('layer=4')")
    assert (query(page)["layer"], query(page)["head"]) == ("4", "5")
    page.get_by_role("link", name="Open on this sentence").click()
    page.wait_for_function("location.search.includes('cell=')")
    settle(page, "Attention")
    address = query(page)
    assert address["sentence"] == strongest["text"]
    assert (address["layer"], address["head"]) == ("4", "5")
    assert address["cell"] == f"{strongest['query']}-{strongest['key']}"
    page.go_back()
    page.wait_for_function("location.search.includes('page=Heads')")
    settle(page, "Heads")
