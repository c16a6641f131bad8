"""Protects Attention where there is more than one kind of attention, in a real browser.

The run is made up: maps are not square, masks are per head, one scale is 1, tokens are no words.
"""

import dataclasses
from typing import Any

import numpy as np
import pytest

from model.analysis.heads import measures, roles, strongest_pair
from model.analysis.measures import ROLES
from model.trace import AttentionRecord
from tests.screen import content, download
from tests.viz.builders import csv_rows
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made_up
from tests.viz.kit.parts.made_up import CROSS, LABELS, N_HEADS, N_LAYERS, group_of, two_streams
from viz.kit.parts.attention import STAGES, OtherRun

KINDS = ["source.attn", "target.attn", CROSS]
GRIDS = f"All {N_LAYERS} layers"
SCALES = {"product": "q·k", "weights": "attention weight (square root)", "output": "z"}


def opened(gallery: Gallery, width: int = 1180, **settings: object) -> dict[str, Any]:
    """What the made-up run reads."""
    gallery.show(made_up.attention(**settings), width)
    return gallery.read()


def values(shown: dict[str, Any]) -> np.ndarray:
    """The numbers of a map that was read."""
    return np.array(shown["values"], dtype=float)


def same(found: dict[str, Any], expected: np.ndarray, mask: np.ndarray | None = None) -> None:
    """A map shows these numbers, and none where masked."""
    expected = expected if mask is None else np.where(mask, expected, np.nan)
    assert values(found).shape == expected.shape
    assert values(found) == pytest.approx(expected, abs=1e-5, nan_ok=True)


def steps_of(record: AttentionRecord, head: int) -> dict[str, np.ndarray]:
    """Every step of one head in float64, by its own scale, bias and mask."""
    q, k = record.q[head].astype(float), record.k[record.kv_head(head)].astype(float)
    biased = q @ k.T * record.scale + (0.0 if record.bias is None else record.bias[head])
    cap = record.softcap
    capped = biased if cap is None else cap * np.tanh(biased / cap)
    masked = np.where(record.mask_of(head), capped, np.nan)
    found = {"product": q @ k.T, "scaled": q @ k.T * record.scale, "biased": biased}
    found |= {"capped": capped, "masked": masked, "sunk": masked}
    found["weights"] = np.where(record.mask_of(head), record.pattern[head], np.nan)
    found["output"] = record.z[head]
    return {name: found[name] for name in STAGES if name in ("product", "output", *record.stages)}


# How far each label stands from the middle of its row.
OFF = """() => {
    const {names, picture} = instrument.view.heatMap;
    return picture.rowLabels.map((_, i) => {
        const {top, height} = instrument.view.heatMap.boxOf(i, 0);
        return Math.abs(names.children[i].y.baseVal[0].value - 4 - top - height / 2);
    });
}"""


@pytest.mark.parametrize("attention", KINDS)
def test_every_stage_of_every_kind_is_the_trace_s(attention: str, gallery: Gallery) -> None:
    """The map is larger where no sums stand beside it; its labels stay beside their rows."""
    record = group_of(attention).records[1]
    opened(gallery, attention=attention, layer=1, head=3)
    for stage, expected in steps_of(record, 3).items():
        gallery.evaluate("stage => instrument.set({stage})", stage)
        view = gallery.read("view")
        same(view["map"], expected)
        assert view["map"]["scale"]["name"] == SCALES.get(stage, "score")
        assert view["formula"]["lit"] == [stage]
        is_unscaled = stage == "scaled" and attention == CROSS
        assert (view["does"] == "Not scaled: times 1.") == is_unscaled
        assert max(gallery.evaluate(OFF)) < 1, stage
    usual = STAGES["scaled"][0], f"÷ √{made_up.D_HEAD}", f"/{made_up.D_HEAD}"
    button, term, symbols = ("× 1", "× 1", "×1") if attention == CROSS else usual
    words = {name: button if name == "scaled" else text for name, (text, _) in STAGES.items()}
    assert view["stages"] == [words[name] for name in steps_of(record, 3)]
    assert view["cell"]["terms"]["scaled"] == term
    assert symbols in view["formula"]["symbols"]


def place(gallery: Gallery, grid: int, layer: float, head: float) -> tuple[float, float]:
    """Where the mouse is on the small map of a head, or beside all of them."""
    maps = gallery.get_by_label(GRIDS).nth(grid).locator("image")
    maps.scroll_into_view_if_needed()
    box = maps.bounding_box()
    x = box["x"] + (head + 0.4) / N_HEADS * box["width"]
    return x, box["y"] + (layer + 0.4) / N_LAYERS * box["height"]


def test_each_kind_has_its_grid_and_opens_its_heads(gallery: Gallery) -> None:
    heads = opened(gallery)["heads"]
    assert [grid["title"] for grid in heads["grids"]] == [group_of(x).title for x in KINDS]
    for i, name in enumerate(KINDS):
        record, title = group_of(name).records[1], f"{group_of(name).title} L1 H2"
        gallery.mouse.move(*place(gallery, i, 1, 2))
        query, its_key = strongest_pair(record.pattern[2], record.site.kind)
        pair = f"{LABELS[record.queries][query]} → {LABELS[record.keys][its_key]}"
        role = roles(measures(record, two_streams().stream(record.queries).ids))[2]
        does = f" · {ROLES[role.name].word} {role.value:.2f}" if role else ""
        for what in ("", "instrument.redraw()"):  # what is pointed at stays said
            gallery.evaluate(what)
            said = gallery.read("")["heads"]["says"]
            assert f"{title}{does} · strongest: {pair}" in said
        is_aside = record.site.kind == "self" and its_key not in (0, query)
        assert ("first token and self left out" in said) == is_aside
        gallery.mouse.click(*place(gallery, i, 1, 2))
        shown = gallery.read()
        assert shown["title"] == title
        same(shown["view"]["map"], record.pattern[2], record.mask_of(2))
        framed = [grid["framed"] for grid in shown["heads"]["grids"]]
        assert framed == [[1, 2] if i == j else None for j in range(len(KINDS))]
    sent = gallery.sent()
    assert (sent["attention"], sent["layer"], sent["head"]) == (CROSS, 1, 2)


# Of each word on the grids: how far the line it stands on lies below the map above it, and how far
# its own map lies below that. Maps are as high as the one that is framed, in its own grid.
ROOM = """() => [...document.querySelectorAll('.hl-overview:has(.hl-frame[visibility=visible])')]
.flatMap(maps => {
    const {y, height} = maps.querySelector('image').getBBox();
    const pitch = height / Number(maps.ariaLabel.match(/\\d+/)[0]);
    const framed = maps.querySelector('.hl-frame[visibility=visible]');
    const map = framed.height.baseVal.value - 3;
    return [...maps.querySelectorAll('.hl-chip')].map(word => {
        const below = (word.y.baseVal[0].value - y + pitch) % pitch;
        return [below - map, pitch - below];
    });
})"""


def test_words_stand_between_the_maps_and_hide_no_cell(gallery: Gallery) -> None:
    found = []
    for attention in KINDS:
        opened(gallery, attention=attention, layer=1, head=2)
        found += gallery.evaluate(ROOM)
    room = np.array(found)
    assert len(room) >= len(KINDS)
    assert room[:, 0].min() >= 10  # the height of its letters
    assert room[:, 1].min() >= 3  # what hangs below its line


def test_a_bar_opens_the_mean_of_its_own_kind(gallery: Gallery) -> None:
    opened(gallery)
    gallery.mouse.click(*place(gallery, 2, 0, N_HEADS - 0.2))
    view = gallery.read("view")
    record = group_of(CROSS).records[0]
    same(view["maps"][0], record.pattern.mean(axis=0), record.mask)
    assert "all heads of L0" in view["says"]


def test_the_chosen_head_stays_in_sight(gallery: Gallery) -> None:
    """Beside maps that are long, and among those that a phone shows in a box."""
    gallery.set_viewport_size({"width": 1280, "height": 720})
    opened(gallery, attention=CROSS, layer=1, head=2)
    gallery.evaluate("instrument.overview.pictures.style.height = '3000px'; scrollTo(0, 1500)")
    top = gallery.evaluate("instrument.title.getBoundingClientRect().top")
    assert 0 <= top < 720
    gallery.set_viewport_size({"width": 390, "height": 400})
    opened(gallery, 380, attention=CROSS, layer=1, head=2)
    box = gallery.evaluate("instrument.overview.pictures.getBoundingClientRect().toJSON()")
    frame = gallery.locator("[visibility=visible]").bounding_box()
    assert box["height"] <= 0.45 * 400
    assert box["top"] <= frame["y"]
    assert frame["y"] + frame["height"] <= box["bottom"]


def test_one_of_several_runs_is_compared_with(gallery: Gallery) -> None:
    runs = [OtherRun(two_streams(), "1", "the same"), OtherRun(two_streams(1), "2", "other")]
    settings = {"attention": CROSS, "view": "compare", "against": "sentence", "head": 2}
    gallery.show(made_up.attention(two_streams(), runs, **settings), 1180)
    assert np.nanmax(np.abs(values(gallery.read("view")["maps"][2]))) == 0
    gallery.get_by_label("Run").select_option("other")
    maps = gallery.read("view")["maps"]
    assert maps[1]["title"] == "other" and maps[2]["title"].endswith(" − other")
    first, second = (two_streams(seed).group(CROSS).records[0] for seed in (0, 1))
    both = first.pattern[2], second.pattern[2]
    for found, expected in zip(maps, (*both, both[0] - both[1]), strict=True):
        same(found, expected, first.mask)


def test_a_cell_masked_by_hand_changes_its_row_alone(gallery: Gallery) -> None:
    """Of a map that is not square; a second click lets it be attended to again."""
    record = group_of(CROSS).records[1]
    opened(gallery, attention=CROSS, layer=1, head=3, view="whatif", change="cells")
    row, column = 2, int(record.pattern[3, 2].argmax())
    mask = np.broadcast_to(record.mask_of(3), record.pattern.shape[1:]).copy()
    for edits in (f"{row}-{column}", ""):
        mask[row, column] ^= True
        gallery.point_at("view.maps.1.heatMap", row, column)
        gallery.mouse.down()
        gallery.mouse.up()
        changed = dataclasses.replace(record, mask=mask).pattern_of(3)
        same(gallery.read("view")["maps"][1], changed, mask)
        assert gallery.sent()["flipped"] == edits


def test_exports_name_the_kind_and_both_streams(gallery: Gallery) -> None:
    opened(gallery, attention=CROSS, layer=1, head=2)
    file = download(gallery.page, gallery.get_by_role("button", name="CSV"))
    assert file.suggested_filename == "headlight-target-cross-attn-l1-h2-weights.csv"
    header, *rows = csv_rows(content(file))
    numbered = {side: [f"{i} {word}" for i, word in enumerate(LABELS[side])] for side in LABELS}
    assert header == ["query (target) \\ key (source)", *numbered["source"]]
    assert [row[0] for row in rows] == numbered["target"]
    numbers = np.array([row[1:] for row in rows], float)
    assert numbers == pytest.approx(group_of(CROSS).records[1].pattern[2], abs=1e-6)
    file = download(gallery.page, gallery.get_by_role("button", name="SVG"))
    text = content(file).decode()
    assert "Target cross-attention L1 H2" in text
    assert all(" ".join(words[2:5]) in text for words in LABELS.values())


def test_an_echo_does_not_take_the_word_of_what_is_missing_away(gallery: Gallery) -> None:
    """Python answers the head that came before, which is still on screen."""
    opened(gallery, attention=CROSS, layer=1, head=1)
    gallery.route("**/kit/arrays/**", lambda route: route.fulfill(body=b""))
    gallery.evaluate("instrument.set({layer: 0, head: 2})")
    for echo in (None, made_up.attention(attention=CROSS, layer=1, head=1)):
        if echo:
            gallery.receive(echo)
        shown = gallery.read()
        assert "0 bytes came instead of" in shown["alert"]
        assert shown["title"] == "Target cross-attention L1 H1"


def test_a_masked_weight_is_said_to_be_masked(gallery: Gallery) -> None:
    opened(gallery, attention="target.attn", view="summary", over="layer")
    gallery.point_at("view.maps.0.heatMap", 0, 4)
    gallery.wait_for_function("instrument.said.endsWith(': masked: this word comes later')")
