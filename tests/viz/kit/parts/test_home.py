"""Protects what Home does in the browser: where things stand, how it moves, what is drawn by."""

from io import BytesIO
from itertools import pairwise
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from PIL import Image, ImageColor
from playwright.sync_api import Page

from viz.charts.chart import weights
from viz.charts.colors import BLANK, END, color_bar
from viz.kit.tiles import tiles
from viz.kit.wire import packed, themes_data
from viz.theme import along, palette, weight_scale, weight_shares

SIZES = [(1032, 435), (1040, 400), (760, 420), (1480, 800), (1880, 860)]
STEP = 2.6  # of a colour's 255, between neighbours of the 256 that a scale has
# Layers and heads, and of how many bands: of two the second has twice the columns.
SHAPES = [
    (1, 1, 1),
    (2, 4, 1),
    (4, 8, 1),
    (6, 8, 1),
    (12, 12, 1),
    (30, 9, 1),
    (32, 32, 1),
    (96, 5, 1),
    (4, 4, 2),
    (6, 8, 2),
]
# The modules, and a film whose crew is a test: what it is told to do is kept in `done`.
HARNESS = """async () => {
    const names = ['layout', 'film', 'numbers', 'timeline', 'pictures', 'goals'];
    const modules = await Promise.all(names.map(name => import(`/kit/parts/home/${name}.js`)));
    globalThis.home = Object.assign({}, ...modules);
    globalThis.begin = (isStill, goal = 'next', bands = [0, 0, 0, 0, 0, 0]) => {
        globalThis.done = [];
        const chance = {probs: new Float64Array([0.5, 0.3, 0.2]), count: 3, ids: [7, 8, 9]};
        const crew = {
            canGoOn: () => true,
            chance: () => chance,
            take: (chance, goal) => goal.take(chance, taken),
            takeOff: place => {
                done.push(`off ${chance.ids[place]}`);
                return {n: 4, id: chance.ids[place], flight: () => [0, 0]};
            },
            land: ({run}) => done.push(`land ${run.nTokens}`),
        };
        globalThis.film = new home.Film(isStill, crew);
        globalThis.spec = {goal, columns: bands.map(band => ({band}))};
        // Of a text of two rows after a source of three: its second token came as 9.
        globalThis.taken = {n: 4, spec: {came: [9, 7], begins: -3}};
        film.begin(spec, true);
        Math.random = () => 0.6;
    };
    globalThis.coming = (n, after = [4, 8]) => ({run: {nTokens: n, canGoOn: true, spec: {after}}});
}"""


@pytest.mark.parametrize("number", range(2 * len(SHAPES)))
def test_everything_has_its_place(bare: Page, number: int) -> None:
    """Nothing overlaps, nothing is outside, and a place on the axis leads to its stage.

    Of one text every layer is on a page, and its maps can be read.
    """
    is_narrow, of_shape = divmod(number, len(SHAPES))
    n_layers, n_heads, n_bands = SHAPES[of_shape]
    (width, height), side = SIZES[number % len(SIZES)], 7 * (number % 3 == 0)
    counts = [n_layers, 2 * n_layers][:n_bands]
    columns = [
        {"band": band, "n_heads": n_heads, "mlp": i if band == 0 or i % 2 else None}
        for band, count in enumerate(counts)
        for i in range(count)
    ]
    shape = {"columns": columns, "side": side, "width": width, "height": height}
    shape |= {"hasPositions": True, "isNarrow": bool(is_narrow), "hasLast": side > 0, "sight": 0}
    flow, back, fronts = bare.evaluate(
        """shape => {
            const flow = home.layout(shape);
            const at = [...Array(20).keys()].map(i => i * (flow.stops.length - 1) / 19);
            const {stops, fronts} = flow;
            const back = at.map(x => home.stageAt(flow, home.frontAt(stops, x)) - x);
            return [flow, back, fronts.map(own => at.map(x => home.frontAt(own, x)))];
        }""",
        shape,
    )
    assert np.abs(back).max() < 1e-9
    assert len(flow["stops"]) == len(columns) + n_bands + 3, "tokens, next, and where it ends"
    assert (np.diff(fronts) >= -1e-9).all(), "each wave goes to the right"
    if n_bands == 2:
        moving = np.diff(np.array(flow["fronts"])) > 1
        assert not (moving[0, : n_layers + 1] & moving[1, : n_layers + 1]).any(), (
            "one after another"
        )
    shown = 0
    for page in flow["pages"]:
        at = bare.evaluate("shape => home.layout(shape)", shape | {"sight": page["to"] - 1})
        assert at["page"] == page
        for band, top in enumerate(at["bands"]):
            own = [one for one in at["columns"] if one["band"] == band and one["heads"]]
            shown += len(own)
            _fits(at, own, top, width)
            least = min(place["size"] for column in own for place in column["heads"])
            assert n_bands == 2 or least >= 24
    assert shown == len(columns)
    assert (len(flow["pages"]) > 1) == (n_layers > 12)


def _fits(
    flow: dict[str, Any], columns: list[dict[str, Any]], band: dict[str, float], width: int
) -> None:
    """All of a band from left to right, and its heads from top to bottom."""
    ends = [flow["tokens"], flow["embed"], flow["positions"]]
    edges = [(part["x"], part["x"] + part["width"]) for part in ends]
    low, high = band["top"] - 1, band["top"] + band["height"] + 1
    for column in columns:
        heads, mlp = column["heads"], column["mlp"]
        edges.append((heads[0]["x"], heads[-1]["x"] + heads[-1]["size"]))
        if mlp:
            edges.append((mlp["x"], mlp["x"] + mlp["width"]))
        assert all(
            a["y"] + a["size"] <= b["y"] or (b["x"] > a["x"] + a["size"] and b["y"] < a["y"])
            for a, b in pairwise(heads)
        ), "one below another, or in the next file"
        assert all(low <= place["y"] <= high - place["size"] for place in heads)
    edges.append((flow["end"], flow["end"]))
    if last := flow["last"]:
        edges.append((last["x"], last["x"] + last["width"]))
    elif place := flow["next"]:
        bar = place["bar"]
        edges += [(bar["x"], bar["x"] + bar["width"]), (place["x"], place["x"] + place["width"])]
    assert all(end <= start + 1 for (_, end), (start, _) in pairwise(edges)), edges
    assert edges[-1][1] <= width


def test_it_plays_once_and_rests(bare: Page) -> None:
    bare.evaluate("begin(false)")
    assert bare.evaluate(
        "(film.advance(3000), [film.time.isPlaying, film.time.at < film.time.DRAW])"
    )
    found = bare.evaluate(
        "(film.advance(1e5), [film.time.isPlaying, film.time.at, film.time.DRAW])"
    )
    assert found == [False, 9, 9]
    assert bare.evaluate("done") == []


def test_thirty_layers_play_no_longer_than_twelve(bare: Page) -> None:
    took = bare.evaluate(
        """[6, 12, 30].map((n) => {
          const time = new home.Timeline(Array(n).fill(0));
          for (let ms = 0; ; ms += 10) {
            if (time.at >= time.NEXT) return ms;
            time.advance(10, time.NEXT);
          }
        })"""
    )
    assert took == pytest.approx([2000 + 6 * 560] + 2 * [2000 + 12 * 560], abs=10)


def test_a_drawn_token_lands_once_python_has_gone_on_with_it(bare: Page) -> None:
    """0.6 falls on the second of 0.5, 0.3, 0.2; another text that comes meanwhile is not it."""
    bare.evaluate("begin(false); film.advance(1e5); film.write(1)")
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("[film.drawn, film.time.at]") == [{"at": 0.6, "place": 1}, 11]
    assert bare.evaluate("done") == ["off 8"], "asked for once"
    bare.evaluate("film.advance(1e5); film.write(1)")
    assert bare.evaluate("done") == ["off 8"], "it waits where it is"
    assert bare.evaluate("film.goesOn(coming(5, null))") is False
    assert bare.evaluate("film.goesOn(coming(5))") is True
    bare.evaluate("film.advance(16)")
    assert bare.evaluate("done") == ["off 8", "land 5"]
    found = bare.evaluate("[film.left, film.isGrown, film.flight, film.drawn]")
    assert found == [1, True, None, None], "each click counts"
    bare.evaluate("film.pause(); film.advance(1e5)")
    assert bare.evaluate("film.time.isPlaying") is False


@pytest.mark.parametrize(
    ("spec", "left"),
    [({"refused": [4, 8], "why_no_more": None}, 2), ({"refused": None, "why_no_more": "full"}, 0)],
)
def test_what_cannot_stand_is_drawn_again_or_ends(
    bare: Page, spec: dict[str, Any], left: int
) -> None:
    bare.evaluate("begin(false); film.advance(1e5); film.write(2); film.advance(1e5)")
    bare.evaluate("film.hear({refused: [4, 9], why_no_more: null})")
    assert bare.evaluate("film.flight !== null"), "of another token"
    bare.evaluate("spec => film.hear(spec)", spec)
    assert bare.evaluate("[film.flight, film.drawn, film.left]") == [None, None, left]
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("done.length") == (2 if left else 1)


def test_a_person_may_go_anywhere_but_while_python_is_at_work(bare: Page) -> None:
    bare.evaluate("begin(false); film.seek(3.5)")
    assert bare.evaluate("[film.time.at, film.time.isPlaying, film.time.column]") == [3.5, False, 1]
    bare.evaluate("film.write(1); film.advance(1e5); film.seek(2)")
    assert bare.evaluate("film.time.at") == 11
    bare.evaluate("film.pause()")
    assert bare.evaluate("[film.left, film.time.isPlaying]") == [1, True], "it lands first"


def test_who_asks_for_more_does_not_wait_and_a_new_sentence_goes_on_with_it(bare: Page) -> None:
    """A click just before the sentence typed for it comes; later a new one ends the writing."""
    bare.evaluate("begin(false); film.advance(500); film.write(3)")
    assert bare.evaluate("film.time.at === film.time.DRAW")
    bare.evaluate("film.begin(spec, false)")
    assert bare.evaluate("film.left") == 3
    bare.evaluate("film.advance(1e5); film.goesOn(coming(4)); film.advance(16)")
    assert bare.evaluate("[film.left, film.isGrown]") == [2, False], "it became one with the last"
    bare.evaluate("film.begin(spec, false)")
    assert bare.evaluate("film.left") == 0


def test_what_is_hidden_is_filled_with_the_most_likely_once(bare: Page) -> None:
    """Nothing is random; it flies to its place, and all rests."""
    bare.evaluate("begin(false, 'hidden')")
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("[film.drawn, done]") == [{"at": None, "place": 0}, ["off 7"]]
    assert bare.evaluate("film.isFilled") is False
    bare.evaluate("film.bring(coming(4)); film.advance(16)")
    found = bare.evaluate("[film.isFilled, film.time.isPlaying, film.left, done.length]")
    assert found == [True, False, 0, 1]
    bare.evaluate("film.begin(spec, false)")
    assert bare.evaluate("[film.isFilled, film.left]") == [False, 1]


def test_a_text_that_is_known_is_written_as_it_came(bare: Page) -> None:
    """Token by token, whatever is most likely; each runs through the decoder alone."""
    bare.evaluate("begin(false, 'target', [0, 0, 1, 1, 1])")
    assert bare.evaluate("film.left === Infinity")
    bare.evaluate("film.advance(1e5)")
    assert bare.evaluate("[film.drawn, done]") == [{"at": None, "place": 2}, ["off 9"]]
    bare.evaluate("film.bring(coming(5)); film.advance(16)")
    stage = bare.evaluate("[film.isGrown, film.time.stage, film.left === Infinity]")
    assert stage == [True, {"kind": "embed", "band": 1, "column": -1}, True]
    bare.evaluate("film.advance(1e5); film.bring({run: {...coming(6).run, canGoOn: false}})")
    bare.evaluate("film.advance(16)")
    assert bare.evaluate("film.left") == 0


@pytest.mark.parametrize("goal", ["class", "vectors", "patches"])
def test_a_picture_and_a_model_that_says_nothing_are_only_looked_at(bare: Page, goal: str) -> None:
    bare.evaluate("goal => { begin(false, goal); film.advance(1e5); }", goal)
    assert bare.evaluate("[film.time.isPlaying, film.drawn, done.length]") == [False, None, 0]


def test_nothing_moves_under_reduced_motion(bare: Page) -> None:
    bare.evaluate("begin(true)")
    assert bare.evaluate("[film.time.at, film.time.isPlaying]") == [9, False]
    bare.evaluate("film.write(2); film.advance(16); film.goesOn(coming(5)); film.advance(16)")
    assert bare.evaluate("done") == ["off 8", "land 5"], "the first one at once"
    bare.evaluate("film.advance(600)")
    assert bare.evaluate("done.length") == 2, "the next one after a rest"
    bare.evaluate("film.advance(200)")
    assert bare.evaluate("done.length") == 3


# Two layers of three heads over four rows, every weight another.
MADE = np.random.default_rng(0).permutation(96).reshape(2, 3, 4, 4) / 100
MASK = np.tril(np.ones((2, 4, 4), np.uint8))
RUN = """([weights, mask, norms]) => {
    const labels = ['a', 'b', 'c', 'd'];
    const columns = [0, 1].map(layer => ({title: '', layer, band: 0, keys: 0, n_heads: 3}));
    const bands = [{name: 'decoder', from: 0, to: 4}];
    const spec = {labels, folded: [], bands, columns, asked: 3, answers: [0, 4], has_stream: true};
    const [pattern, ones] = [Float32Array.from(weights), new Float32Array(24 * 8).fill(1)];
    const arrays = {pattern, mask: Uint8Array.from(mask), norms: Float32Array.from(norms)};
    globalThis.run = new home.Run(spec, {...arrays, embed: ones, positions: ones, ffn: ones});
}"""


def test_the_numbers_of_a_run_are_found_by_their_names(bare: Page) -> None:
    """Layer, head, query and key in this order; a mean over what is not named."""
    norms = np.arange(1, 21.0)
    bare.evaluate(RUN, [MADE.ravel().tolist(), MASK.ravel().tolist(), norms.tolist()])
    assert bare.evaluate("run.weight(1, 2, 3, 1)") == pytest.approx(MADE[1, 2, 3, 1])
    rows = bare.evaluate(
        "[run.row(3, {column: 1, head: 2}), run.row(3, {column: 1}), run.row(3, null)]"
    )
    expected = [MADE[1, 2, 3], MADE[1, :, 3].mean(axis=0), MADE[:, :, 3].mean(axis=(0, 1))]
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert bare.evaluate("run.length(3, 2)") == pytest.approx(norms.reshape(5, 4)[3, 2] / 20)
    for last in (0, 1):
        layer, head, key = np.unravel_index(MADE[: last + 1, :, 3].argmax(), (last + 1, 3, 4))
        best = bare.evaluate(f"run.sharpest({list(range(last + 1))}, 3)")
        assert (best["column"], best["head"], best["key"]) == (layer, head, key)
    others = np.delete(MADE[:, :, 3], key, axis=-1).max()  # a row of several tokens is none of them
    found = bare.evaluate(f"(run.spec.folded = [{key}], run.sharpest([0, 1], 3).value)")
    assert found == pytest.approx(others)
    bare.evaluate("run.spec.folded = []")
    resting = (MADE[:, :, 1:, 0].mean(axis=-1) > 0.5).sum()
    known = {"row": 0, "resting": resting, "heads": 6, "isOne": False}
    assert bare.evaluate("run.sink") == known
    sunk = np.where(np.arange(4) == 0, 0.51, MADE)
    bare.evaluate(RUN, [sunk.ravel().tolist(), MASK.ravel().tolist(), norms.tolist()])
    assert bare.evaluate("[run.sink.resting, run.sink.isOne]") == [6, True], "in all heads"
    bare.evaluate(RUN, [MADE.ravel().tolist(), MASK.ravel().tolist(), norms.tolist()])
    part = bare.evaluate(
        "(p => [p.asked, p.row(2, null), p.canGoOn, p.weight(1, 2, 2, 1)])(run.upTo(3))"
    )
    np.testing.assert_allclose(part[1], MADE[:, :, 2, :3].mean(axis=(0, 1)), atol=1e-6)
    assert (part[0], part[2]) == (2, True)
    assert part[3] == pytest.approx(MADE[1, 2, 2, 1])


def test_two_texts_share_their_rows_and_keep_apart(bare: Page) -> None:
    """Rows 0 and 1 of a source, 2 and 3 of a target, which attends to both in turn."""
    bare.evaluate(RUN, [MADE.ravel().tolist(), MASK.ravel().tolist(), [1.0] * 20])
    bare.evaluate(
        """() => {
            run.spec.bands = [{name: 'encoder', from: 0, to: 2}, {name: 'decoder', from: 2, to: 4}];
            run.spec.columns = [[0, 0], [1, 0]].map(([band, keys]) =>
                ({title: 'x ', layer: 5, band, keys, n_heads: 3}));
        }"""
    )
    assert bare.evaluate("[0, 1, 2, 3].map(row => run.bandOf(row))") == [0, 0, 1, 1]
    np.testing.assert_allclose(bare.evaluate("run.row(1, null)"), MADE[0, :, 1].mean(axis=0))
    np.testing.assert_allclose(bare.evaluate("run.row(3, null)"), MADE[1, :, 3].mean(axis=0))
    assert bare.evaluate("[run.queryIn(3, 0), run.queryIn(2, 1), run.queryIn(0, 1)]") == [1, 2, 3]
    assert bare.evaluate("[run.rowsOf(0), run.upTo(3).rowsOf(1)]") == [
        {"from": 0, "to": 2},
        {"from": 2, "to": 3},
    ]
    assert bare.evaluate("run.nameOf({column: 1, head: 2})") == "x L5 H2"
    assert bare.evaluate("[run.isLater(0, 1), run.isLater(1, 0), run.isLater(1, 2)]") == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("small_weights", [True, False])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_weight_has_one_colour_wherever_it_is_drawn(
    bare: Page, theme: str, small_weights: bool
) -> None:
    """In small maps (heads to the right, layers down; masked cells are clear), in tiles, in words,
    and in heat maps of the browser and of Python."""
    colors = palette(theme, small_weights=small_weights)
    expected = along(colors.sequential, weight_shares(MADE, colors))
    bare.evaluate(RUN, [MADE.ravel().tolist(), MASK.ravel().tolist(), [1.0] * 20])
    group = {"n_layers": 2, "n_heads": 3, "tiles": packed(tiles(MADE, np.ones((4, 4), bool)))}
    pixels, before, words, stops, atlas, legend = bare.evaluate(
        """async ([palette, weights, group]) => {
            const {plotlyWeights, weightColors, weightLegend} = await import('/kit/colors.js');
            const {atlas} = await import('/kit/atlas.js');
            const {maps, unknown} = home.picturesOf(run, palette);
            const [image, before] = [maps, unknown].map(of =>
                of.getContext('2d').getImageData(0, 0, of.width, of.height));
            const words = weights.map(weightColors(palette)).map(text => text.match(/\\d+/g));
            const picture = atlas(group, {masked: 1}, palette, {x: 0, y: 0});
            return [[...image.data], [...before.data], words, plotlyWeights(palette), picture,
                weightLegend(palette)];
        }""",
        [themes_data(small_weights=small_weights)[theme], MADE.ravel().tolist(), group],
    )
    found = np.array(pixels).reshape(2, 4, 3, 4, 4).transpose(0, 2, 1, 3, 4)  # (L, H, q, k, rgba)
    may = np.broadcast_to(MASK[:, None] == 1, MADE.shape)
    np.testing.assert_allclose(found[may][:, :3], expected[may], atol=STEP)
    np.testing.assert_allclose(np.array(words, float), expected.reshape(-1, 3), atol=STEP)
    image = np.array(Image.open(BytesIO(urlopen(atlas).read())))  # 6 pixels a cell, 1 between maps
    tile = image[:50, :75].reshape(2, 25, 3, 25, 4)[:, 3:24:6, :, 3:24:6, :3]
    np.testing.assert_allclose(tile.transpose(0, 2, 1, 3, 4), expected, atol=2 * STEP)
    for scale in (stops, weight_scale(colors)):  # as Plotly fills them in
        places, names = zip(*scale, strict=True)
        channels = zip(*map(ImageColor.getrgb, names), strict=True)
        drawn = np.stack([np.interp(MADE, places, channel) for channel in channels], axis=-1)
        np.testing.assert_allclose(drawn, expected, atol=STEP)
    assert legend == color_bar(weights(), colors)["title"]["text"].rstrip(BLANK + END)
    assert (found[may][:, 3] == 255).all()
    assert (found[~may] == 0).all()
    unknown = np.array(before).reshape(*MASK.shape, 4)
    assert (unknown[MASK == 1] == [*ImageColor.getrgb(colors.sequential[0]), 255]).all()
    assert (unknown[MASK == 0] == 0).all(), "nothing is masked before it is known"


def test_a_token_that_is_pressed_stays_while_all_is_laid_out_anew(bare: Page) -> None:
    """Else there is no click; what fills a blank stays, too, until another run comes."""
    found = bare.evaluate(
        """async () => {
            const {Tokens} = await import('/kit/parts/home/tokens.js');
            const tokens = new Tokens({look() {}, keep() {}, rest() {}});
            const spec = {key: 'a', labels: ['x', '[MASK]'], folded: [], hidden: [[1, 'y', 3]]};
            const bands = [{top: 0, height: 9}];
            const tall = {tokens: {x: 0, width: 9, font: 14}, height: 9};
            const flow = {...tall, bands, picture: null, next: {}};
            const now = () => tokens.buttons.map(node => [node.textContent, node.className]);
            tokens.build({spec, n: 2}, flow, null);
            tokens.fill(1, 'z', false);
            const [before, filled] = [tokens.buttons[0].firstChild, now()];
            tokens.build({spec, n: 2}, flow, null);
            const again = now();
            tokens.build({spec: {...spec, key: 'b'}, n: 2}, flow, null);
            const isThere = tokens.buttons[0].firstChild === before;
            const next = now();
            tokens.fill(1, 'y', true);
            tokens.reset();
            tokens.build({spec: {...spec, key: 'b'}, n: 2}, flow, null);
            return {filled, again, next, last: now(), isThere};
        }"""
    )
    filled = [["x", ""], ["z", "hl-blank hl-wrong"]]
    blank = [["x", ""], ["[MASK]", "hl-blank"]]
    expected = {"filled": filled, "again": filled, "next": blank, "last": blank, "isThere": True}
    assert found == expected
