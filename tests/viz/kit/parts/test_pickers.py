"""Protects the lists of the bar: what is chosen is sent, and what Python chose is shown."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.viz.harness import as_sent, open_instrument, receive
from viz.kit.parts.pickers import Picker, pickers_part
from viz.kit.wire import Option


def lists(layer: int = 0, *, n_layers: int = 3) -> dict[str, Any]:
    """Two lists: one where nothing stays chosen, and one where something always is."""
    examples = [Option("a", "The first"), Option("b", "<b>The second</b>")]
    layers = [Option(str(i), f"L{i}") for i in range(n_layers)]
    return pickers_part(
        [
            Picker("example", "Examples", examples, "", placeholder="choose one"),
            Picker("layer", "Layer", layers, str(layer)),
        ]
    )


def picker(page: Page, label: str) -> Locator:
    """One of the lists."""
    return page.get_by_role("combobox", name=label, exact=True)


def sent(page: Page) -> list[dict[str, Any]]:
    """What was sent since the last time this was asked, once there is something."""
    page.wait_for_function("sent.length")
    return [message["changes"] for message in page.evaluate("sent.splice(0)")]


def test_a_choice_is_sent_and_stays_until_it_is_acknowledged(bare: Page) -> None:
    open_instrument(bare, as_sent(lists()))
    picker(bare, "Layer").select_option(label="L2")
    assert sent(bare) == [{"layer": "2"}]
    receive(bare, as_sent(lists(0)))  # of a run that had not heard of it
    expect(picker(bare, "Layer")).to_have_value("2")
    receive(bare, as_sent(lists(1), acked=1))
    expect(picker(bare, "Layer")).to_have_value("1")


def test_the_same_example_can_be_chosen_again(bare: Page) -> None:
    open_instrument(bare, as_sent(lists()))
    for turn in (1, 2):
        picker(bare, "Examples").select_option(label="The first")
        assert sent(bare) == [{"example": "a"}]
        receive(bare, as_sent(lists(), acked=turn))
        expect(picker(bare, "Examples")).to_have_value("")


def test_other_options_keep_the_list_and_its_focus(bare: Page) -> None:
    open_instrument(bare, as_sent(lists()))
    picker(bare, "Layer").focus()
    receive(bare, as_sent(lists(4, n_layers=6)))
    expect(picker(bare, "Layer")).to_be_focused()
    expect(picker(bare, "Layer").locator("option")).to_have_count(6)
    expect(picker(bare, "Layer")).to_have_value("4")


def test_a_slider_is_dragged_through_what_follows_each_other(bare: Page) -> None:
    def steps(at: str) -> dict[str, Any]:
        options = [Option(f"m/{step}", f"{step:,}") for step in (0, 3, 1200)]
        return as_sent(pickers_part([Picker("step", "Step", options, at, is_dragged=True)]))

    open_instrument(bare, steps("m/3"))
    slider = bare.get_by_role("slider", name="Step")
    expect(slider).to_have_attribute("aria-valuetext", "3")
    slider.press("ArrowRight")
    assert sent(bare) == [{"step": "m/1200"}]
    expect(bare.locator(".hl-value")).to_have_text("1,200")
    slider.press("Home")
    assert sent(bare) == [{"step": "m/0"}]
    expect(slider).to_be_focused()
