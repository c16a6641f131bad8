"""Protects heads as they form: each step, head and difference is the one that is named."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.training.runs import Frames
from tests.viz.harness import as_sent, open_instrument, receive
from tests.viz.kit.parts.made import forming_frames
from viz.digits import digits
from viz.kit.parts.forming import NONE, forming_part
from viz.theme import LIGHT

STEPS = (0, 7, 30)


def opened(page: Page, frames: Frames | None = None, **settings: object) -> None:
    """A new part with these choices, once it is drawn."""
    sent = as_sent(forming_part(frames or forming_frames(), settings, key="a key"))
    open_instrument(page, sent)
    drawn(page)


def drawn(page: Page) -> dict[str, Any]:
    """What is on screen, once it is drawn."""
    page.locator("[data-drawn$=' forming']").wait_for()
    page.wait_for_function("document.querySelector('.js-plotly-plot:not([data-busy])')")
    return page.evaluate("instrument.read()")


def shown(page: Page) -> np.ndarray:
    """The large map; masked cells are 0."""
    values = drawn(page)["map"]["values"]
    return np.nan_to_num(np.array(values, dtype=float))


@pytest.mark.parametrize(("step", "head"), [(0, (0, 1)), (7, (1, 2)), (30, (1, 0))])
def test_the_large_map_is_the_head_at_the_step(
    bare: Page, step: int, head: tuple[int, int]
) -> None:
    frames = forming_frames()
    opened(bare, step=step, head=f"{head[0]}.{head[1]}")
    expected = frames.patterns[STEPS.index(step)][head]
    assert np.allclose(shown(bare), expected, atol=1e-6)
    expect(bare.locator("h3")).to_have_text(f"L{head[0]} H{head[1]}: step {step}")
    assert drawn(bare)["map"]["rows"] == ["a", "<b>", "a"]


@pytest.mark.parametrize("head", ["9.0", "0.9", "-1.0", "1", "a.b", "<b>"])
def test_a_head_that_is_none_is_the_first(bare: Page, head: str) -> None:
    opened(bare, step=7, head=head)
    assert drawn(bare)["head"] == [0, 0]


def test_two_steps_are_a_signed_difference(bare: Page) -> None:
    frames = forming_frames()
    opened(bare, step=30, against=7, head="1.2")
    now, before = (frames.patterns[i][1, 2].astype(float) for i in (2, 1))
    assert np.allclose(shown(bare), now - before, atol=1e-6)
    scale = drawn(bare)["map"]["scale"]
    assert (scale["low"], scale["high"], scale["signed"]) == (-1, 1, True)
    expect(bare.locator("h3")).to_have_text("L1 H2: step 30 − step 7")


@pytest.mark.parametrize("against", [NONE, 0])
def test_every_small_map_has_the_colours_of_its_weights(bare: Page, against: int) -> None:
    """The middle of each cell of each head, in the picture of all."""
    frames = forming_frames()
    opened(bare, step=7, against=against)
    colours = bare.evaluate(MIDDLES, [2, 3, 3, 3])
    now = frames.patterns[1].astype(float)
    values = now - frames.patterns[0] if against == 0 else now
    for place, colour in zip(np.ndindex(values.shape), colours, strict=True):
        *_, query, key = place
        if not frames.mask[query, key]:
            wanted = LIGHT.masked
        elif against == 0:
            wanted = along(LIGHT.diverging, (values[place] + 1) / 2)
        else:
            wanted = along(LIGHT.sequential, np.sqrt(values[place]))
        assert np.abs(np.array(colour) - rgb(wanted)).max() <= 4, place


MIDDLES = """async ([layers, heads, rows, columns]) => {
    const image = new Image();
    image.src = document.querySelector('.hl-overview image').getAttribute('href');
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const found = [], side = 24 / rows;
    const [wide, high] = [image.width / heads, image.height / layers];
    for (let l = 0; l < layers; l++) for (let h = 0; h < heads; h++)
        for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++)
            found.push([...context.getImageData(
                h * wide + (c + 0.5) * side, l * high + (r + 0.5) * side, 1, 1).data.slice(0, 3)]);
    return found;
}"""


def rgb(colour: object) -> np.ndarray:
    """Three bytes of #rrggbb, or what is such already."""
    if isinstance(colour, str):
        return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return np.asarray(colour)


def along(stops: tuple[str, ...], share: float) -> np.ndarray:
    """The colour at a share of the way along stops that are evenly spread."""
    places = np.linspace(0, 1, len(stops))
    return np.array([np.interp(share, places, [rgb(x)[i] for x in stops]) for i in range(3)])


def test_a_step_is_dragged_to_and_a_head_chosen(bare: Page) -> None:
    opened(bare)
    slider = bare.get_by_role("slider", name="Step")
    expect(slider).to_have_attribute("aria-valuetext", "30")
    slider.press("ArrowLeft")
    assert drawn(bare)["step"] == 7
    bare.wait_for_function("sent.length")
    assert bare.evaluate("sent.splice(0)")[0]["changes"] == {"step": 7}
    grid = bare.locator(".hl-overview")
    grid.press("ArrowDown")
    grid.press("ArrowRight")
    assert drawn(bare)["head"] == [1, 1]
    bare.wait_for_function("sent.length")
    assert bare.evaluate("sent.splice(0)")[-1]["changes"]["head"] == "1.1"
    box = grid.bounding_box()
    bare.mouse.click(box["x"] + 30 + 2.5 * (box["width"] - 34) / 3, box["y"] + 40)
    assert drawn(bare)["head"] == [0, 2]
    bare.get_by_label("Minus").select_option("step 0")
    expect(bare.locator("h3")).to_have_text("L0 H2: step 7 − step 0")


WATCH = """() => {
    const title = document.querySelector('h3');
    globalThis.seen = [];
    const watch = new MutationObserver(() => seen.push(title.textContent));
    watch.observe(title, {childList: true, characterData: true, subtree: true});
}"""


def test_it_plays_from_the_first_step_to_the_last(bare: Page) -> None:
    opened(bare)
    bare.evaluate(WATCH)
    play = bare.get_by_role("button", name="Play")
    play.click()
    expect(bare.get_by_role("button", name="Stop")).to_be_visible()
    expect(play).to_be_visible()
    said = [f"L0 H0: step {step}" for step in STEPS]
    assert bare.evaluate("[...new Set(globalThis.seen)]") == said
    assert drawn(bare)["step"] == 30


def test_one_frame_of_a_training_that_runs_has_no_slider(bare: Page) -> None:
    frames = forming_frames()
    first = Frames(*about(frames, 1), frames.patterns[:1], "1")
    opened(bare, first)
    expect(bare.get_by_role("slider")).to_have_count(0)
    assert np.allclose(shown(bare), frames.patterns[0][0, 0], atol=1e-6)
    whole = Frames(*about(frames, 3), frames.patterns, "2")
    receive(bare, as_sent(forming_part(whole, {}, key="a key")))
    expect(bare.locator("h3")).to_have_text("L0 H0: step 30")
    assert np.allclose(shown(bare), frames.patterns[2][0, 0], atol=1e-6)


def about(frames: Frames, n: int) -> tuple[Any, ...]:
    """All of some frames but the patterns, up to the n-th step."""
    return frames.text, frames.steps[:n], frames.queries, frames.keys, frames.mask


def test_a_cell_is_said_under_the_mouse(bare: Page) -> None:
    frames = forming_frames()
    opened(bare, step=7, head="1.1")
    place = bare.evaluate("instrument.map.boxOf(2, 1)")
    box = bare.locator(".hl-map").bounding_box()
    bare.mouse.move(box["x"] + place["left"] + place["width"] / 2,
                    box["y"] + place["top"] + place["height"] / 2)  # fmt: skip
    weight = digits(float(frames.patterns[1][1, 1, 2, 1]))
    expect(bare.get_by_text(f"a attends to <b>: {weight}")).to_be_visible()


def test_a_translator_s_words_are_of_source_and_target(bare: Page) -> None:
    patterns = np.full((2, 1, 1, 2, 4), 0.25, np.float16)
    words, mask = (("Ein", "Hund"), ("A", "dog", ".", "end")), np.ones((2, 4), bool)
    frames = Frames("A dog.", (0, 5), *words, mask, patterns, "1")
    opened(bare, frames)
    expect(bare.get_by_role("status")).to_contain_text("source: “A dog.”: step 5")
    assert shown(bare).shape == (2, 4) and shown(bare).min() == 0.25
    names = drawn(bare)["map"]
    assert (names["rows"], names["columns"]) == (["Ein", "Hund"], ["A", "dog", ".", "end"])
