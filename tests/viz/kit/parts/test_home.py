"""Protects what Home does in the browser: where things stand, how it moves, what is drawn by."""

from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from PIL import Image, ImageColor

from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made
from viz.charts.chart import weights
from viz.charts.colors import BLANK, END, color_bar
from viz.kit.tiles import tiles
from viz.kit.wire import themes_data
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


@pytest.fixture(autouse=True)
def home(gallery: Gallery) -> None:
    """The modules are there."""
    gallery.evaluate(HARNESS)


@pytest.mark.parametrize("number", range(2 * len(SHAPES)))
def test_everything_has_its_place(gallery: Gallery, number: int) -> None:
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
    flow, back, fronts, pages = gallery.evaluate(
        """shape => {
            const flow = home.layout(shape);
            const at = [...Array(20).keys()].map(i => i * (flow.stops.length - 1) / 19);
            const {stops, fronts} = flow;
            const back = at.map(x => home.stageAt(flow, home.frontAt(stops, x)) - x);
            const pages = flow.pages.map(({to}) => home.layout({...shape, sight: to - 1}));
            return [flow, back, fronts.map(own => at.map(x => home.frontAt(own, x))), pages];
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
    assert [at["page"] for at in pages] == flow["pages"]
    for at in pages:
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


BEGUN = "begin(false); "
FLOWN = f"{BEGUN}film.advance(1e5); film.write(1); film.advance(1e5); "
PLAYS = {  # what happens, and what there is then, one after the other
    "once, and then it rests": [
        (f"{BEGUN}film.advance(3000); [film.time.isPlaying, film.time.at < 9]", [True, True]),
        ("film.advance(1e5); [film.time.isPlaying, film.time.at, film.time.DRAW]", [False, 9, 9]),
        ("done", []),
    ],
    # 0.6 falls on the second of 0.5, 0.3, 0.2; another text that comes meanwhile is not it.
    "until Python has gone on with the token that was drawn": [
        (f"{FLOWN}[film.drawn, film.time.at, done]", [{"at": 0.6, "place": 1}, 11, ["off 8"]]),
        ("film.advance(1e5); film.write(1); done", ["off 8"]),  # it waits where it is
        ("[film.goesOn(coming(5, null)), film.goesOn(coming(5))]", [False, True]),
        ("film.advance(16); done", ["off 8", "land 5"]),
        ("[film.left, film.isGrown, film.flight, film.drawn]", [1, True, None, None]),
        ("film.pause(); film.advance(1e5); film.time.isPlaying", False),
    ],
    "to where a person goes, but not while Python is at work": [
        (f"{BEGUN}film.seek(3.5); [film.time.at, film.time.isPlaying, film.time.column]",
         [3.5, False, 1]),
        ("film.write(1); film.advance(1e5); film.seek(2); film.time.at", 11),
        ("film.pause(); [film.left, film.time.isPlaying]", [1, True]),  # it lands first
    ],
    # A click just before the sentence typed for it comes; later a new one ends the writing.
    "at once to where more is asked for, in a new sentence, too": [
        (f"{BEGUN}film.advance(500); film.write(3); film.time.at === film.time.DRAW", True),
        ("film.begin(spec, false); film.left", 3),
        ("film.advance(1e5); film.goesOn(coming(4)); film.advance(16); [film.left, film.isGrown]",
         [2, False]),  # it became one with the last
        ("film.begin(spec, false); film.left", 0),
    ],
    # Nothing is random; it flies to its place, and all rests.
    "until what is hidden is filled with the most likely, once": [
        ("begin(false, 'hidden'); film.advance(1e5); [film.drawn, done, film.isFilled]",
         [{"at": None, "place": 0}, ["off 7"], False]),
        ("film.bring(coming(4)); film.advance(16);"
         "[film.isFilled, film.time.isPlaying, film.left, done.length]", [True, False, 0, 1]),
        ("film.begin(spec, false); [film.isFilled, film.left]", [False, 1]),
    ],
    # Token by token, whatever is most likely; each runs through the decoder alone.
    "a text that is known as it came": [
        ("begin(false, 'target', [0, 0, 1, 1, 1]); film.left === Infinity", True),
        ("film.advance(1e5); [film.drawn, done]", [{"at": None, "place": 2}, ["off 9"]]),
        ("film.bring(coming(5)); film.advance(16);"
         "[film.isGrown, film.time.stage, film.left === Infinity]",
         [True, {"kind": "embed", "band": 1, "column": -1}, True]),
        ("film.advance(1e5); film.bring({run: {...coming(6).run, canGoOn: false}});"
         "film.advance(16); film.left", 0),
    ],
    "and nothing moves where motion is reduced": [
        ("begin(true); [film.time.at, film.time.isPlaying]", [9, False]),
        ("film.write(2); film.advance(16); film.goesOn(coming(5)); film.advance(16); done",
         ["off 8", "land 5"]),  # the first one at once
        ("film.advance(600); done.length", 2),  # the next one after a rest
        ("film.advance(200); done.length", 3),
    ],
}  # fmt: skip
for goal in ("class", "vectors", "patches"):  # a picture, and models that say nothing
    rests = f"begin(false, '{goal}'); film.advance(1e5);"
    PLAYS[f"and nothing is drawn of {goal}"] = [
        (f"{rests}[film.time.isPlaying, film.drawn, done.length]", [False, None, 0])
    ]
for spec, n_left in (
    ("{refused: [4, 8], why_no_more: null}", 2),
    ("{refused: null, why_no_more: 'full'}", 0),
):
    PLAYS[f"again or to its end after {spec}"] = [
        (f"{BEGUN}film.advance(1e5); film.write(2); film.advance(1e5);"
         "film.hear({refused: [4, 9], why_no_more: null}); film.flight !== null", True),
        (f"film.hear({spec}); [film.flight, film.drawn, film.left]", [None, None, n_left]),
        ("film.advance(1e5); done.length", 2 if n_left else 1),
    ]  # fmt: skip


@pytest.mark.parametrize("scenes", PLAYS.values(), ids=PLAYS)
def test_it_plays(gallery: Gallery, scenes: list[tuple[str, Any]]) -> None:
    for script, found in scenes:
        assert gallery.evaluate(script) == found, script


def test_thirty_layers_play_no_longer_than_twelve(gallery: Gallery) -> None:
    took = gallery.evaluate(
        """[6, 12, 30].map((n) => {
          const time = new home.Timeline(Array(n).fill(0));
          for (let ms = 0; ; ms += 10) {
            if (time.at >= time.NEXT) return ms;
            time.advance(10, time.NEXT);
          }
        })"""
    )
    assert took == pytest.approx([2000 + 6 * 560] + 2 * [2000 + 12 * 560], abs=10)


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


def run(gallery: Gallery, weights: np.ndarray = MADE, norms: object = (1.0,) * 20) -> None:
    """There is a run of these weights."""
    gallery.evaluate(RUN, [weights.ravel().tolist(), MASK.ravel().tolist(), norms])


def test_the_numbers_of_a_run_are_found_by_their_names(gallery: Gallery) -> None:
    """Layer, head, query and key in this order; a mean over what is not named."""
    norms = np.arange(1, 21.0)
    run(gallery, norms=norms.tolist())
    found = gallery.evaluate("[run.weight(1, 2, 3, 1), run.length(3, 2)]")
    assert found == pytest.approx([MADE[1, 2, 3, 1], norms.reshape(5, 4)[3, 2] / 20])
    focused = ("{column: 1, head: 2}", "{column: 1}", "null")
    rows = gallery.evaluate(f"[{','.join(f'run.row(3, {focus})' for focus in focused)}]")
    expected = [MADE[1, 2, 3], MADE[1, :, 3].mean(axis=0), MADE[:, :, 3].mean(axis=(0, 1))]
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    for last in (0, 1):
        layer, head, key = np.unravel_index(MADE[: last + 1, :, 3].argmax(), (last + 1, 3, 4))
        best = gallery.evaluate(f"run.sharpest({list(range(last + 1))}, 3)")
        assert (best["column"], best["head"], best["key"]) == (layer, head, key)
    others = np.delete(MADE[:, :, 3], key, axis=-1).max()  # a row of several tokens is none of them
    found = gallery.evaluate(f"(run.spec.folded = [{key}], run.sharpest([0, 1], 3).value)")
    assert found == pytest.approx(others)
    gallery.evaluate("run.spec.folded = []")
    resting = (MADE[:, :, 1:, 0].mean(axis=-1) > 0.5).sum()
    known = {"row": 0, "resting": resting, "heads": 6, "isOne": False}
    assert gallery.evaluate("run.sink") == known
    found = gallery.evaluate(
        "(p => [p.asked, p.canGoOn, p.weight(1, 2, 2, 1), ...p.row(2, null)])(run.upTo(3))"
    )
    mean = MADE[:, :, 2, :3].mean(axis=(0, 1))
    assert found == pytest.approx([2, True, MADE[1, 2, 2, 1], *mean], abs=1e-6)
    run(gallery, np.where(np.arange(4) == 0, 0.51, MADE))
    assert gallery.evaluate("[run.sink.resting, run.sink.isOne]") == [6, True], "in all heads"


def test_two_texts_share_their_rows_and_keep_apart(gallery: Gallery) -> None:
    """Rows 0 and 1 of a source, 2 and 3 of a target, which attends to both in turn."""
    run(gallery)
    found = gallery.evaluate(
        """() => {
            run.spec.bands = [{name: 'encoder', from: 0, to: 2}, {name: 'decoder', from: 2, to: 4}];
            run.spec.columns = [[0, 0], [1, 0]].map(([band, keys]) =>
                ({title: 'x ', layer: 5, band, keys, n_heads: 3}));
            return {
                bands: [0, 1, 2, 3].map(row => run.bandOf(row)),
                queries: [run.queryIn(3, 0), run.queryIn(2, 1), run.queryIn(0, 1)],
                rows: [run.rowsOf(0), run.upTo(3).rowsOf(1)],
                name: run.nameOf({column: 1, head: 2}),
                later: [run.isLater(0, 1), run.isLater(1, 0), run.isLater(1, 2)],
            };
        }"""
    )
    rows = [{"from": 0, "to": 2}, {"from": 2, "to": 3}]
    expected = {"bands": [0, 0, 1, 1], "queries": [1, 2, 3], "rows": rows, "name": "x L5 H2"}
    assert found == {**expected, "later": [True, False, False]}
    means = gallery.evaluate("[run.row(1, null), run.row(3, null)]")
    np.testing.assert_allclose(means, [MADE[0, :, 1].mean(axis=0), MADE[1, :, 3].mean(axis=0)])


@pytest.mark.parametrize("small_weights", [True, False])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_weight_has_one_colour_wherever_it_is_drawn(
    gallery: Gallery, theme: str, small_weights: bool
) -> None:
    """In small maps (heads to the right, layers down; masked cells are clear), in tiles, in words,
    and in heat maps of the browser and of Python."""
    colors = palette(theme, small_weights=small_weights)
    expected = along(colors.sequential, weight_shares(MADE, colors))
    run(gallery)
    small = tiles(MADE, np.ones((4, 4), bool))
    of_tiles = {"shape": small.shape, "bytes": small.ravel().tolist()}
    group = {"n_layers": 2, "n_heads": 3, "tiles": of_tiles}
    pixels, before, words, stops, atlas, legend = gallery.evaluate(
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


def test_a_token_that_is_pressed_stays_while_all_is_laid_out_anew(gallery: Gallery) -> None:
    """Else there is no click; what fills a blank stays, too, until another run comes."""
    found = gallery.evaluate(
        """async () => {
            const {HomeTokens} = await import('/kit/parts/home/tokens.js');
            const tokens = new HomeTokens({look() {}, keep() {}, rest() {}});
            const spec = {labels: ['x', '[MASK]'], folded: [], hidden: [[1, 'y', 3]]};
            const bands = [{top: 0, height: 9}];
            const tall = {tokens: {x: 0, width: 9, font: 14}, height: 9};
            const flow = {...tall, bands, picture: null, next: {}};
            const laidOut = key => {
                const run = {spec: {...spec, key}, n: 2};
                tokens.build(run, flow, null);
                tokens.show(run, -1, null, {});
                return tokens.read().map(x => [x.label, x.is]);
            };
            laidOut('a');
            const before = tokens.row.nodes[0].firstChild;
            tokens.fill(1, 'z', false);
            const [filled, again, next] = ['a', 'a', 'b'].map(laidOut);
            const isThere = tokens.row.nodes[0].firstChild === before;
            tokens.fill(1, 'y', true);
            tokens.reset();
            return {filled, again, next, last: laidOut('b'), isThere};
        }"""
    )
    filled = [["x", []], ["z", ["blank", "wrong"]]]
    blank = [["x", []], ["[MASK]", ["blank"]]]
    expected = {"filled": filled, "again": filled, "next": blank, "last": blank, "isThere": True}
    assert found == expected


def test_a_large_head_covers_no_word_no_map_and_no_line(gallery: Gallery) -> None:
    """It stands right of all maps; where the answers stand below, it does as well."""
    part = replace(made.home(), state={**made.home().state, "at": "decoder.attn.0.0"})
    for width, is_beside in ((1000, True), (600, False)):
        gallery.show(part, width)
        gallery.wait_for_function("instrument.large.map.read().values.length")
        left, top, maps, low = gallery.evaluate(
            """() => {
                const {large, screen} = instrument;
                const [box, flow] = [large.node, screen.box].map(x => x.getBoundingClientRect());
                const maps = screen.flow.columns.flatMap(x => x.heads.map(at => at.x + at.size));
                return [box.left - flow.left, box.top - flow.top, Math.max(...maps), flow.height];
            }"""
        )
        assert left >= maps if is_beside else top >= low
