"""Protects the lists of the bar: what is chosen is sent, and what Python chose is shown."""

from playwright.sync_api import expect

from tests.viz.kit.gallery import Gallery
from viz.kit.part import Part
from viz.kit.parts.pickers import Picker, pickers_part
from viz.kit.wire import Option


def lists(layer: int = 0, *, n_layers: int = 3) -> Part:
    """Two lists: one where nothing stays chosen, and one where something always is."""
    examples = [Option("a", "The first"), Option("b", "<b>The second</b>")]
    layers = [Option(str(i), f"L{i}") for i in range(n_layers)]
    of_examples = Picker("example", "Examples", examples, "", placeholder="choose one")
    return pickers_part([of_examples, Picker("layer", "Layer", layers, str(layer))])


def test_a_choice_is_sent_and_stays_until_it_is_acknowledged(gallery: Gallery) -> None:
    gallery.show(lists())
    gallery.get_by_label("Layer").select_option(label="L2")
    assert gallery.sent() == {"layer": "2"}
    gallery.receive(lists(0))  # of a run that had not heard of it
    assert gallery.read()["layer"] == "L2"
    gallery.receive(lists(1), acked=1)
    assert gallery.read()["layer"] == "L1"


def test_the_same_example_can_be_chosen_again(gallery: Gallery) -> None:
    gallery.show(lists())
    for turn in (1, 2):
        gallery.get_by_label("Examples").select_option(label="The first")
        assert gallery.sent() == {"example": "a"}
        gallery.receive(lists(), acked=turn)
        assert gallery.read()["example"] == "choose one"


def test_other_options_keep_the_list_and_its_focus(gallery: Gallery) -> None:
    gallery.show(lists())
    layer = gallery.get_by_label("Layer")
    layer.focus()
    gallery.receive(lists(4, n_layers=6))
    expect(layer).to_be_focused()
    assert layer.inner_text().split() == [f"L{i}" for i in range(6)]
    assert gallery.read()["layer"] == "L4"


def test_a_token_of_a_row_is_pressed_and_let_go(gallery: Gallery) -> None:
    """Two that read alike are told apart by their names."""
    options = [Option(name, text) for name, text in (("0", "the"), ("3", "<b>"), ("4", "the"))]
    word = Picker("swap", "Exchange the word", options, "", is_row=True)
    gallery.show(pickers_part([word]))
    row = gallery.get_by_role("group", name="Exchange the word")
    row.get_by_role("button").nth(2).click()
    assert gallery.sent() == {"swap": "4"}
    shown = gallery.read()["swap"]
    assert [(x["label"], x["is"]) for x in shown] == [("the", []), ("<b>", []), ("the", ["chosen"])]
    row.get_by_role("button").nth(2).press("ArrowLeft")
    gallery.press("Enter")
    assert gallery.sent() == {"swap": "3"}
    gallery.press("Enter")
    assert gallery.sent() == {"swap": ""}


def test_a_slider_is_dragged_through_what_follows_each_other(gallery: Gallery) -> None:
    options = [Option(f"m/{step}", f"{step:,}") for step in (0, 3, 1200)]
    gallery.show(pickers_part([Picker("step", "Step", options, "m/3", is_dragged=True)]))
    assert gallery.read() == {"step": "3"}
    gallery.press("ArrowRight", "Step")
    assert gallery.sent() == {"step": "m/1200"}
    expect(gallery.get_by_text("Step 1,200")).to_be_visible()
    gallery.press("Home")
    assert gallery.sent() == {"step": "m/0"}
    expect(gallery.get_by_label("Step")).to_be_focused()
