"""Protects lessons in a real browser: arrows are dragged, and an answer comes into sight."""

from playwright.sync_api import Page, expect

from tests.screen import PLACE, TOM, figure, query, visit


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag what stands at a place of the picture to another place, both as x and y."""
    here, there = (
        page.evaluate(PLACE, ["two-vectors", 0, row, column])
        for column, row in (start, end)
    )  # fmt: skip
    page.mouse.move(*here)
    page.mouse.down()
    page.mouse.move(*there, steps=8)
    page.mouse.up()


def test_an_arrow_is_dragged_by_its_end(page: Page) -> None:
    visit(page, page="Similarity", sentence=TOM, b_times="2", b_x="1", b_y="2")
    drag(page, (3.0, 1.5), (-2.0, 4.0))
    page.wait_for_url("**a_x=-2.0*a_y=4.0**")
    drag(page, (2.0, 4.0), (4.0, -3.0))  # the arrow shows b twice
    page.wait_for_url("**b_x=2.0*b_y=-1.5**")
    assert (query(page)["a_x"], query(page)["a_y"]) == ("-2.0", "4.0")


def test_show_me_brings_the_figure_into_sight(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, page="The block", sentence=TOM)
    wanted = figure(page, "block-heights")
    expect(wanted).not_to_be_in_viewport()
    page.get_by_role("link", name="Show me").click()
    page.wait_for_url("**layer=5**")
    expect(wanted).to_be_in_viewport(ratio=0.5)
