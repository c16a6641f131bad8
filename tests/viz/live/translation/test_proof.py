"""Protects the proof of a translation: it holds for what is shown, each planted fault fails it."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect
from safetensors.numpy import save

from model.decoding.filters import Sampling
from model.sources import checkpoint
from model.verify.independent import IndependentRun
from model.verify.texts import texts_of
from tests.model.builders import tiny_translation_checkpoint
from tests.screen import PATIENCE
from tests.viz.live.harness import as_sent, bare_page, open_instrument
from viz.live.core.sampling import BOUNDS
from viz.live.core.wire import Bounds, Data
from viz.live.files import script
from viz.live.translation.data import Kept, Target, Words, translation_data

SOURCE = "A dog ran."
Made = tuple[Data, IndependentRun]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """What a small model's translation is sent as, and the independent run of the same."""
    found = checkpoint.load(
        tiny_translation_checkpoint(tmp_path_factory.mktemp("made") / "tiny"), "cpu"
    )
    trace = found.trace(SOURCE).trace
    tokenizer = found.tokenizer
    words = [tokenizer.token_strings([i])[0] for i in range(tokenizer.vocab_size)]
    settings = {
        "at": "decoder.cross_attn.1.2",
        "shown_heads": "head",
        "align_by": "output",
        "target_token": 3,
        "decode": "sampling",
        "temperature": 0.8,
        "top_p": 0.9,
        "beams": 5,
        "seed": 0,
        "forced": [],
    }
    data = translation_data(
        "a key",
        Kept(trace, "a-run", has_independent=True),
        Target(trace.ids[1:].tolist(), Sampling(temperature=0.8, top_p=0.9), n_forced=0),
        Words(words, {tokenizer.end_id: "⟨end⟩", int(trace.ids[0]): "⟨start⟩"}),
        settings,
        {"temperature": BOUNDS["temperature"], "top_p": BOUNDS["top_p"], "beams": Bounds(2, 12, 1)},
    )
    texts = texts_of(Path(found.folder))
    return data, IndependentRun(found.files, trace.given, vocabulary=texts)


@pytest.fixture
def bare(browser: Browser, app_url: str, made: Made) -> Iterator[Page]:
    """A bare page that is answered by the independent run."""
    run = made[1]

    def answer(route: Route) -> None:
        what = unquote(route.request.url).partition("/a-run/")[2]
        if what.startswith("texts/"):
            of = what.removeprefix("texts/")
            streams = {"first": 0, "last": -1}
            is_stream = of in streams
            texts = (
                run.labels(streams[of]) if is_stream else run.texts(list(map(int, of.split(","))))
            )
            route.fulfill(body=json.dumps({"texts": texts}))
        elif what.startswith("words/"):
            of = what.removeprefix("words/").split(";")
            words = [run.texts(np.ravel(run.array(one)).astype(int).tolist()) for one in of]
            route.fulfill(body=json.dumps({"words": words}))
        else:
            array = np.atleast_2d(np.asarray(run.array(what), np.float64))
            route.fulfill(body=save({"value": np.ascontiguousarray(array)}))

    with bare_page(browser, app_url) as page:
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        page.route("**/live/independent/**", answer)
        yield page


def expect_red(page: Page) -> None:
    """The badge says that the numbers are wrong."""
    expect(page.locator(".hl-badge.hl-bad")).to_contain_text("not the model’s numbers")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"align_by": "input", "shown_heads": "layer"},
        {"at": "encoder.attn.2.1", "shown_heads": "all", "decode": "greedy"},
        {"at": "decoder.attn.0.0"},
    ],
    ids=["cross", "input", "encoder", "decoder"],
)
def test_what_is_shown_is_proven(settings: Data, bare: Page, made: Made) -> None:
    data = copy.deepcopy(made[0])
    data["settings"] |= settings
    if settings.get("decode") == "greedy":
        for step in data["steps"]:
            step["leading"] = [row | {"after": row["before"]} for row in step["leading"]]
    if settings.keys() & {"at", "shown_heads"}:  # other maps than the one that was sent along
        bare.route("**/live/arrays/**", lambda route: _array(route, made[1]))
    open_instrument(bare, "Translation", as_sent(data))
    badge = bare.locator(".hl-badge")
    expect(badge).to_have_text(re.compile(r"^✓ [\d,]+ numbers verified \(max error \de-[6-9]\)"))


def _array(route: Route, run: IndependentRun) -> None:
    """A map as the app sends it, here made of the independent run's."""
    parts = unquote(route.request.url).partition("/a-run/")[2].split("/")
    if parts[0] == "head":
        address, site = f"{parts[1]}.pattern[{parts[2]}]", parts[1]
    else:
        is_layer, group = parts[3] == "layer", parts[1]
        stack, module = group.split(".")
        site = f"{stack}.blocks.{parts[4]}.{module}"
        address = f"{site if is_layer else group}.mean_pattern"
    pattern = run.array(address).astype(np.float32)
    mask = np.broadcast_to(run.array(f"{site}.mask"), pattern.shape).astype(np.uint8)
    route.fulfill(body=save({"pattern": pattern, "mask": np.ascontiguousarray(mask)}))


# --- planted faults -------------------------------------------------------------------------------


def a_probability(data: Data) -> None:
    """A German token more likely than it is."""
    data["steps"][1]["prob"] += 0.1


def other_leaders(data: Data) -> None:
    """The second candidate in the place of the first."""
    leading = data["steps"][3]["leading"]
    leading[0], leading[1] = leading[1], leading[0]


def a_word(data: Data) -> None:
    """One English word in the place of another."""
    labels = data["streams"]["encoder"]["labels"]
    labels[2], labels[3] = labels[3], labels[2]


def unfiltered(data: Data) -> None:
    """Candidates as if nothing were filtered."""
    for row in data["steps"][3]["leading"]:
        row["after"] = row["before"]


def another_head(data: Data) -> None:
    """The map that was sent along, under another head's name."""
    (address,) = data["arrays"]
    data["arrays"] = {address[:-1] + "1": data["arrays"][address]}
    data["settings"]["at"] = "decoder.cross_attn.1.1"


@pytest.mark.parametrize(
    "fault",
    [a_probability, other_leaders, a_word, unfiltered, another_head],
    ids=lambda fault: fault.__name__,
)
def test_a_fault_in_what_is_sent_turns_it_red(
    fault: Callable[[Data], None], bare: Page, made: Made
) -> None:
    data = copy.deepcopy(made[0])
    fault(data)
    open_instrument(bare, "Translation", as_sent(data))
    expect_red(bare)


# What is drawn wrongly: a module, what stands in it, and what the fault makes of that.
CODE_FAULTS = {
    "thickness": ("rows.js", "weight * THICKEST", "0.9 * weight * THICKEST"),
    "lines of few": ("rows.js", "if (!(weight >= LEAST)) return;", "if (!(weight >= 0.2)) return;"),
    "the next row": ("heads.js", 'by === "input" ? n + 1 : n', "n + 1"),
    "numbers of English": ("rows.js", "set(word, own ? own[j] : null)",
                           "set(word, own ? own[j] / 2 : null)"),
    "bars": ("candidates.js", "(100 * before) / most", "(90 * before) / most"),
    "others": ("candidates.js", "sum + row.before", "sum + row.after / 2"),
    "candidates": ("candidates.js", 'html("bdi", null, label)',
                   'html("bdi", null, label.toUpperCase() + ".")'),
    "the next word's lines": ("rows.js", "from[j],", "from[(j + 1) % from.length],"),
    "lines to the left": ("rows.js", "return offsetLeft + offsetWidth / 2;", "return offsetLeft;"),
    "the sentence": ("translation.js", "named(encoder.labels[best])",
                     "named(encoder.labels[best ? 0 : 1])"),
    "its number": ("translation.js", "digits(own[best], 2)", "digits(own[best] / 2, 2)"),
    "small maps": ("core/grids.js", "atlas(group, data.tile_codes", "atlas({...group, "
                   "n_heads: group.n_layers, n_layers: group.n_heads}, data.tile_codes"),
    "the map": ("translation.js", "shownPattern(map,",
                "shownPattern({...map, values: map.values.map((x) => x / 2)},"),
}  # fmt: skip


@pytest.mark.parametrize("fault", CODE_FAULTS)
def test_a_fault_in_the_drawing_turns_it_red(fault: str, bare: Page, made: Made) -> None:
    name, right, wrong = CODE_FAULTS[fault]
    module = name if "/" in name else f"translation/{name}"
    assert script(module).count(right) == 1, "else nothing is planted"
    body = script(module).replace(right, wrong)
    bare.route(
        f"**/live/{module}",
        lambda route: route.fulfill(body=body, content_type="text/javascript"),
    )
    open_instrument(bare, "Translation", as_sent(copy.deepcopy(made[0])))
    expect_red(bare)
