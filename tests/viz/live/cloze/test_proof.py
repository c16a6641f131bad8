"""Protects the proof of hidden words: it holds for what is shown, each planted fault fails it."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route
from safetensors.numpy import save

from model.data.tokenizer import MASK
from model.given import Blanked
from model.verify.independent import IndependentRun
from model.verify.texts import texts_of
from tests.model.analysis.test_blanks import encoder_checkpoint
from tests.model.builders import SENTENCE
from tests.screen import PATIENCE
from tests.viz.live.harness import as_sent, bare_page, open_instrument
from viz.live.cloze.data import Kept, Whole, cloze_data
from viz.live.core.wire import Data
from viz.live.files import script

BLANKS = (2, 5, 11)
READING = """async () => {
    const { allReadings } = await import('/live/core/screen.js');
    const found = allReadings().find((one) => one?.figure === 'cloze');
    return found ? { error: String(found.error), n: found.n, address: found.address } : null;
}"""


class Made:
    """What a small encoder's sentence is sent as, and both independent runs."""

    def __init__(self, folder: Path) -> None:
        found = encoder_checkpoint(folder / "blank")
        trace = found.trace(Blanked(SENTENCE, BLANKS)).trace
        ids = found.tokenizer.encode(SENTENCE)
        tokens = found.tokenizer.token_strings(ids)
        words = [found.tokenizer.token_strings([i])[0] for i in range(found.tokenizer.vocab_size)]
        self.data = cloze_data(
            Kept(trace, "a-run", has_independent=True),
            Whole(ids, tokens, "a-whole-run"),
            words,
            {
                "blanks": list(BLANKS),
                "blank": 5,
                "causal": False,
                "at": "encoder.attn.1.2",
                "temperature": 0.8,
                "top_p": 0.9,
            },
        )
        texts = texts_of(found.folder)
        self.runs = {
            "a-run": IndependentRun(found.files, trace.given, None, texts),
            "a-whole-run": IndependentRun(found.files, np.array(ids), None, texts),
        }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("made"))


@pytest.fixture
def bare(browser: Browser, app_url: str, made: Made) -> Iterator[Page]:
    """A bare page that is answered by the independent runs."""

    def answer(route: Route) -> None:
        key, _, what = unquote(route.request.url).partition("/independent/")[2].partition("/")
        run = made.runs[key]
        if what.startswith("texts/"):
            wanted = what.removeprefix("texts/")
            ids = None if wanted == "last" else [int(i) for i in wanted.split(",")]
            texts = run.labels() if ids is None else run.texts(ids)
            route.fulfill(body=json.dumps({"texts": texts}))
            return
        array = np.atleast_2d(np.asarray(run.array(what), np.float64))
        route.fulfill(body=save({"value": np.ascontiguousarray(array)}))

    with bare_page(browser, app_url) as page:
        page.set_default_timeout(PATIENCE)
        page.route("**/live/independent/**", answer)
        yield page


def reading(page: Page) -> Data:
    """What the proof found once it has looked."""
    for _ in range(PATIENCE // 100):
        if found := page.evaluate(READING):
            return found
        page.wait_for_timeout(100)
    raise AssertionError("the proof has found nothing at all")


@pytest.mark.parametrize(
    "settings",
    [{}, {"temperature": 1.0, "top_p": 1.0}, {"temperature": 2.5, "top_p": 0.3}],
    ids=["filtered", "as the model", "hot"],
)
def test_what_is_shown_is_proven(settings: Data, bare: Page, made: Made) -> None:
    data = copy.deepcopy(made.data)
    data["settings"] |= settings
    open_instrument(bare, "Cloze", as_sent(data))
    found = reading(bare)
    assert float(found["error"]) < 1e-5, found
    n = len(data["labels"])
    assert found["n"] > n**2 + 7 * len(BLANKS)
    assert found["address"] == ""
    pressed = bare.locator(".hl-cloze-words [aria-pressed=true]").count()
    assert (pressed, bare.locator(".hl-cloze-found tbody tr").count()) == (3, 3)


# --- planted faults -------------------------------------------------------------------------------


def a_probability(data: Data) -> None:
    """What stood there more likely than it is."""
    data["found"][1]["prob"] += 0.1


def a_rank(data: Data) -> None:
    """A rank that is one off."""
    data["found"][0]["rank"] += 1


def in_bits(data: Data) -> None:
    """Bits called nats."""
    data["found"][2]["nats"] *= 1.4427


def another_guess(data: Data) -> None:
    """The most likely token under another one's name."""
    data["found"][0]["best"]["label"] = "zebra"


def other_leaders(data: Data) -> None:
    """The second bar in the place of the first."""
    named = data["shown"]["named"]
    named[0], named[1] = named[1], named[0]


def another_truth(data: Data) -> None:
    """Another token marked as the one that stood there."""
    data["shown"]["id"] = data["shown"]["named"][3]["id"]


def a_word(data: Data) -> None:
    """One word in the place of another."""
    data["labels"][3], data["labels"][6] = "dog", data["labels"][3]


def not_hidden(data: Data) -> None:
    """A word shown as hidden that the model was given."""
    data["settings"]["blanks"] = [*BLANKS, 7]


def another_head(data: Data) -> None:
    """The map that was sent along, under another head's name."""
    (address,) = data["arrays"]
    data["arrays"] = {address[:-1] + "1": data["arrays"][address]}
    data["settings"]["at"] = "encoder.attn.1.1"


def expect_red(page: Page) -> None:
    """The proof says that something on screen is not the model's."""
    found = reading(page)
    assert not float(found["error"]) <= 1e-4, found
    assert found["address"]


@pytest.mark.parametrize(
    "fault",
    [a_probability, a_rank, in_bits, another_guess, other_leaders, another_truth, a_word,
     not_hidden, another_head],
    ids=lambda fault: fault.__name__,
)  # fmt: skip
def test_a_fault_in_what_is_sent_turns_it_red(
    fault: Callable[[Data], None], bare: Page, made: Made
) -> None:
    assert MASK in made.data["stream"]["labels"]
    data = copy.deepcopy(made.data)
    fault(data)
    open_instrument(bare, "Cloze", as_sent(data))
    expect_red(bare)


# What is drawn wrongly: a module, what stands in it, and what the fault makes of that.
CODE_FAULTS = {
    "lengths": ("filled.js", "before: before[place],", "before: before[place] / 2,"),
    "top-p not applied": ("filled.js", "probabilities(this.#sorted, temperature, count)",
                          "probabilities(this.#sorted, temperature)"),
    "others": ("filled.js", "const rest = after.reduce", "const rest = 0.5 + after.reduce"),
    "the truth": ("filled.js", "const isTrue = id === shown.id;", "const isTrue = i === 0;"),
    "ranks from 0": ("found.js", "(rank + 1)", "rank"),
    "a row": ("found.js", "found.map((one)", "found.slice(1).map((one)"),
    "the map": ("cloze.js", "shownPattern(pattern,",
                "shownPattern({...pattern, values: pattern.values.map((x) => x / 2)},"),
    "small maps": ("core/grids.js", "atlas(group, data.tile_codes", "atlas({...group, "
                   "n_heads: group.n_layers, n_layers: group.n_heads}, data.tile_codes"),
    "a guess elsewhere": ("words.js", "found.get(place)", "found.get(blanks[0])"),
}  # fmt: skip


@pytest.mark.parametrize("fault", CODE_FAULTS)
def test_a_fault_in_the_drawing_turns_it_red(fault: str, bare: Page, made: Made) -> None:
    name, right, wrong = CODE_FAULTS[fault]
    module = name if "/" in name else f"cloze/{name}"
    assert script(module).count(right) == 1, "else nothing is planted"
    body = script(module).replace(right, wrong)
    bare.route(
        f"**/live/{module}",
        lambda route: route.fulfill(body=body, content_type="text/javascript"),
    )
    open_instrument(bare, "Cloze", as_sent(copy.deepcopy(made.data)))
    expect_red(bare)
