"""Protects heads as they form: each step, head and difference is the one that is named."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from model.training.runs import Frames
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts.made import forming_frames
from viz.kit.parts.forming import NONE, forming_part
from viz.theme import LIGHT

STEPS = (0, 7, 30)


def drawn(
    gallery: Gallery, frames: Frames | None = None, **settings: object
) -> tuple[dict[str, Any], np.ndarray]:
    """What a new part with these choices reads, and the large map of it."""
    gallery.show(forming_part(frames or forming_frames(), settings, key="a key"))
    return gallery.read(), large(gallery)


def large(gallery: Gallery) -> np.ndarray:
    """The large map; masked cells are 0."""
    return np.nan_to_num(np.array(gallery.read("map")["values"], dtype=float))


@pytest.mark.parametrize(("step", "head"), [(0, (0, 1)), (7, (1, 2)), (30, (1, 0))])
def test_the_large_map_is_the_head_at_the_step(
    gallery: Gallery, step: int, head: tuple[int, int]
) -> None:
    frames = forming_frames()
    shown, values = drawn(gallery, step=step, head=f"{head[0]}.{head[1]}")
    expected = frames.patterns[STEPS.index(step)][head]
    assert np.allclose(values, expected, atol=1e-6)
    assert shown["title"] == f"L{head[0]} H{head[1]}: step {step}"
    assert shown["step"] == str(step)
    assert shown["heads"]["framed"] == list(head)
    assert shown["map"]["rows"] == ["a", "<b>", "a"]


@pytest.mark.parametrize("head", ["9.0", "0.9", "-1.0", "1", "a.b", "<b>"])
def test_a_head_that_is_none_is_the_first(gallery: Gallery, head: str) -> None:
    assert drawn(gallery, step=7, head=head)[0]["heads"]["framed"] == [0, 0]


def test_two_steps_are_a_signed_difference(gallery: Gallery) -> None:
    frames = forming_frames()
    shown, values = drawn(gallery, step=30, against=7, head="1.2")
    now, before = (frames.patterns[i][1, 2].astype(float) for i in (2, 1))
    assert np.allclose(values, now - before, atol=1e-6)
    assert shown["map"]["scale"] == {"name": "change of attention weight", "low": -1, "high": 1}
    assert (shown["title"], shown["since"]) == ("L1 H2: step 30 − step 7", "step 7")


@pytest.mark.parametrize("against", [NONE, 0])
def test_every_small_map_has_the_colours_of_its_weights(gallery: Gallery, against: int) -> None:
    """The middle of each cell of each head, in the picture of all."""
    frames = forming_frames()
    drawn(gallery, step=7, against=against)
    colours = gallery.evaluate(MIDDLES, [2, 3, 3, 3])
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
    image.src = instrument.grid.node.querySelector('image').getAttribute('href');
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


def test_a_step_is_dragged_to_and_a_head_chosen(gallery: Gallery) -> None:
    assert drawn(gallery)[0]["step"] == "30"
    gallery.press("ArrowLeft", "Step")
    assert gallery.read()["step"] == "7"
    assert gallery.sent() == {"step": 7}
    gallery.press("ArrowDown ArrowRight", "Every head at")
    assert gallery.read()["heads"]["framed"] == [1, 1]
    assert gallery.sent()["head"] == "1.1"
    box = gallery.get_by_label("Every head at").bounding_box()
    gallery.mouse.click(box["x"] + 30 + 2.5 * (box["width"] - 34) / 3, box["y"] + 40)
    assert gallery.read()["heads"]["framed"] == [0, 2]
    gallery.get_by_label("Change since").select_option("step 0")
    assert gallery.read()["title"] == "L0 H2: step 7 − step 0"


WATCH = """() => {
    const {title} = instrument;
    globalThis.seen = [];
    const watch = new MutationObserver(() => seen.push(title.textContent));
    watch.observe(title, {childList: true, characterData: true, subtree: true});
}"""


def test_it_plays_from_the_first_step_to_the_last(gallery: Gallery) -> None:
    drawn(gallery)
    gallery.evaluate(WATCH)
    play = gallery.get_by_role("button", name="Play")
    play.click()
    expect(gallery.get_by_role("button", name="Stop")).to_be_visible()
    expect(play).to_be_visible()
    said = [f"L0 H0: step {step}" for step in STEPS]
    assert gallery.evaluate("[...new Set(globalThis.seen)]") == said
    assert gallery.read()["step"] == "30"


def test_one_frame_of_a_training_that_runs_has_no_slider(gallery: Gallery) -> None:
    frames = forming_frames()
    first = Frames(*about(frames, 1), frames.patterns[:1], "1")
    shown, values = drawn(gallery, first)
    assert shown["step"] is None
    assert np.allclose(values, frames.patterns[0][0, 0], atol=1e-6)
    whole = Frames(*about(frames, 3), frames.patterns, "2")
    gallery.receive(forming_part(whole, {}, key="a key"))
    assert gallery.read()["title"] == "L0 H0: step 30"
    assert np.allclose(large(gallery), frames.patterns[2][0, 0], atol=1e-6)


def about(frames: Frames, n: int) -> tuple[Any, ...]:
    """All of some frames but the patterns, up to the n-th step."""
    return frames.text, frames.steps[:n], frames.queries, frames.keys, frames.mask


def test_a_translator_s_words_are_of_source_and_target(gallery: Gallery) -> None:
    patterns = np.full((2, 1, 1, 2, 4), 0.25, np.float16)
    words, mask = (("Ein", "Hund"), ("A", "dog", ".", "end")), np.ones((2, 4), bool)
    shown, values = drawn(gallery, Frames("A dog.", (0, 5), *words, mask, patterns, "1"))
    assert shown["says"].endswith("source: “A dog.”: step 5")
    assert values.shape == (2, 4) and values.min() == 0.25
    assert (shown["map"]["rows"], shown["map"]["columns"]) == (["Ein", "Hund"], [*words[1]])
