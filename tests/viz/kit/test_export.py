"""Protects what is saved of a part: what stands on screen, as SVG and as PNG of twice its size."""

from collections.abc import Callable
from io import BytesIO
from itertools import combinations
from xml.etree import ElementTree

import pytest
from PIL import Image

from tests.screen import content, download
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made, made_up
from viz.kit.part import Part
from viz.kit.parts.attention import attention_part
from viz.kit.parts.forming import forming_part
from viz.theme import LIGHT

SVG = "{http://www.w3.org/2000/svg}"
SAVED: dict[str, tuple[Callable[[], Part], str, list[str]]] = {
    "a circuit": (
        lambda: made.circuit(edges=60),
        "circuit",
        ["This text", "The other", "for the answer", "F by number of strongest edges"],
    ),
    "a text that is written": (
        lambda: made.written(4),
        "next-token",
        ["Headlight · Next token", "Attention of each new token"],
    ),
    "why a head looks there": (
        made.why,
        "why-l2-h0-6-5",
        ["L2 H0 looks from", "words in the query", "a match of query and key", "Who wrote the key"],
    ),
    "heads as they form": (
        lambda: forming_part(
            made.forming_frames(), {"step": 30, "against": -1, "head": "1.2"}, key="a key"
        ),
        "forming-l1-h2-step-30",
        ["Headlight · Heads as they form", "L1 H2: step 30"],
    ),
}


# What answers the hand alone, and what is only read aloud.
ON_SCREEN = ("Put it back", "A click on", "open", "Words in the query × words in the key")


def picture(gallery: Gallery, name: str) -> ElementTree.Element:
    """What is saved as SVG under a name; the PNG is of the same picture."""
    files = {}
    for kind in ("PNG", "SVG"):
        button = gallery.get_by_role("button", name=kind, exact=True)
        files[kind] = download(gallery.page, button)
        assert files[kind].suggested_filename == f"headlight-{name}.{kind.lower()}"
    drawn = ElementTree.fromstring(content(files["SVG"]))
    png = Image.open(BytesIO(content(files["PNG"])))
    sizes = (2 * float(drawn.get(side) or 0) for side in ("width", "height"))
    assert png.size == pytest.approx(tuple(sizes), abs=1)
    assert png.width * 9 / 16 == pytest.approx(png.height, abs=2), "a slide has room for it"
    _is_within(drawn)
    assert len(png.convert("L").getcolors() or []) > 20, "more than its ground"
    return drawn


def _is_within(drawn: ElementTree.Element) -> None:
    """All drawings of a sheet are on it, and none covers another."""
    x, y, width, height = map(float, str(drawn.get("viewBox")).split())
    boxes = [[float(one.get(name) or 0) for name in ("x", "y", "width", "height")]
             for one in drawn if one.tag == f"{SVG}svg"]  # fmt: skip
    for left, top, wide, high in boxes:
        assert x <= left <= left + wide <= x + width and y <= top <= top + high <= y + height
    for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
        assert a + c <= e or e + g <= a or b + d <= f or f + h <= b


@pytest.mark.parametrize(("make", "name", "words"), SAVED.values(), ids=SAVED)
def test_a_part_is_saved_with_its_words(
    gallery: Gallery, make: Callable[[], Part], name: str, words: list[str]
) -> None:
    gallery.show(make())
    said = " ".join(picture(gallery, name).itertext())
    assert [word for word in words if word not in said] == []
    assert [word for word in ON_SCREEN if word in said] == []


def test_who_wrote_what_is_saved(gallery: Gallery) -> None:
    """Beside the axes of a map and over each token of a row; a special label is slanted."""
    for view, name, n, written in (
        ("map", "weights", 2 + 1, "italic"),
        ("sentence", "sentence", 2 * 2 + 1, "monospace"),
    ):
        chosen = made.attention_settings(view=view)
        gallery.show(attention_part(made.chat(), chosen=chosen))
        saved = picture(gallery, f"l0-h0-{name}")
        drawn = ElementTree.tostring(saved, encoding="unicode")
        color = "rgb({}, {}, {})".format(*(int(LIGHT.by_user[i : i + 2], 16) for i in (1, 3, 5)))
        assert drawn.count(color) == n
        assert written in drawn
        assert "chat template" in drawn


def test_home_is_saved_as_it_stands(gallery: Gallery) -> None:
    """Its words as text, its flow as an image; what answers the hand alone is left out."""
    gallery.show(made.home())
    gallery.get_by_text("Share", exact=True).click()
    drawn = picture(gallery, "home")
    said = " ".join(drawn.itertext())
    assert [
        word for word in ("Headlight · Home", "layer 1", "Next token") if word not in said
    ] == []
    assert [word for word in ("Generate", "Temperature", "Share", "PNG") if word in said] == []
    assert any(
        one.get("href", "").startswith("data:image/png") for one in drawn.iter(f"{SVG}image")
    )


def test_words_are_saved_in_the_shades_they_stand_in(gallery: Gallery) -> None:
    """Of One token: a box for each, in its colour, with its label and number as text."""
    gallery.show(made_up.attention(attention="source.attn", view="sentence", token=3))
    drawn = picture(gallery, "source-attn-l0-h0-sentence")
    parts = gallery.read("view")["parts"]
    rows = [one for one in drawn.iter(f"{SVG}svg") if one is not drawn]
    assert len(rows) == len(parts) == 2
    assert " attends to: its row largest " in " ".join(drawn.itertext())
    for row, part in zip(rows, parts, strict=True):
        words = [word[key] for word in part["words"] for key in ("label", "number")]
        said = ["".join(text.itertext()) for text in row.iter(f"{SVG}text")]
        assert said == [word for word in words if word]
        fills = [box.get("fill") for box in row.iter(f"{SVG}rect")]
        assert [fill for fill in fills if fill != "none"] == [w["shade"] for w in part["words"]]
