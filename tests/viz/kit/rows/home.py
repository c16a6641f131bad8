"""Home, which plays, writes on, and is looked into."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from model.decoding.filters import Sampling
from tests.model.builders import softmax, tiny_model, tiny_trace
from tests.viz.builders import stories_trace
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts import made
from tests.viz.kit.rows import Has, Row, keys, nothing, part
from viz.digits import share
from viz.kit.part import Part
from viz.kit.parts.home import Goal, Going, going_on, home_part

U = 0.7  # the random number that Home draws by
N_NEXT = 8  # rows of Home's list, as in layout.js


@cache
def home() -> Part:
    """A run of an untrained model that goes on."""
    part = made.home()
    return part.saying(going_on(part.spec, Going(why_no_more=None)))


@cache
def home_chance() -> tuple[np.ndarray, np.ndarray]:
    """Ids from the likeliest on, and their probabilities."""
    trace, *_ = made.found_circuit()
    probs = softmax(trace.logits[-1].astype(np.float64) / Sampling().temperature)
    order = np.argsort(-probs, kind="stable")
    return order, probs[order]


def read_home(text: str, *given: object, at: str = "") -> Part:
    """The shipped model on a text; its words are their ids."""
    trace = stories_trace(text)
    part = home_part(trace, [f"w{i}" for i in range(trace.logits.shape[-1])], *given)  # type: ignore
    return replace(part, state={**part.state, "at": at})


def head(layer: int, number: int) -> list[list[float | None]]:
    """A head of that model on *One day*, as a map has it."""
    record = stories_trace("One day").attention[layer]
    rows = zip(record.pattern[number].tolist(), record.mask.tolist(), strict=True)
    return [[x if is_seen else None for x, is_seen in zip(*row, strict=True)] for row in rows]


@cache
def thirty_layers() -> Part:
    """All heads of nine in each of thirty layers attend to the first token alone."""
    trace = tiny_trace(tiny_model(n_layers=30, d_model=18, n_heads=9))
    part = home_part(trace, ["x"] * trace.logits.shape[-1])
    part.arrays["pattern"][..., 1:] = 0
    part.arrays["pattern"][..., 0] = 1
    return part


def fourth_layer() -> Part:
    """The same, with a head that the address names."""
    return replace(
        thirty_layers(), state={**thirty_layers().state, "at": "decoder.attn.4.7", "cell": None}
    )


MAPS = "with 270 heads"
# The mouse leaves the tokens, and a key chooses a head right after it; ends when the mouse is over.
LEFT_FOR_KEYS = """async maps => {
    const left = new PointerEvent('pointerleave', {pointerType: 'mouse'});
    instrument.tokens.node.dispatchEvent(left);
    maps.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp'}));
    await new Promise(resolve => setTimeout(resolve, 400));
}"""
# Where the mouse is over a small map, from the lower right corner on. It leaves again,
# since a map that it rests on becomes large and would take the click.
LAST_MAP = """node => {
    const {left, top, right, bottom} = node.getBoundingClientRect();
    for (let clientX = right; clientX > left; clientX -= 9)
        for (let clientY = bottom; clientY > top; clientY -= 9) {
            const at = {clientX, clientY, pointerType: 'mouse'};
            node.dispatchEvent(new PointerEvent('pointermove', at));
            if (!node.style.cursor) continue;
            node.dispatchEvent(new PointerEvent('pointerleave', at));
            return [clientX, clientY];
        }
}"""


def turn_pages(gallery: Gallery) -> None:
    """To the layers before, those before them, and back once."""
    for where in ("before", "before", "after"):
        gallery.get_by_role("button", name=f"Layers {where}").click()


def last_by_mouse(gallery: Gallery) -> None:
    """Click the last of the small maps."""
    gallery.mouse.click(*gallery.get_by_role("application", name=MAPS).evaluate(LAST_MAP))


def mouse_leaves(gallery: Gallery) -> None:
    """The last head by keys, then the one above it while the mouse leaves."""
    gallery.press("ArrowRight " * 29 + "ArrowDown " * 8, MAPS)
    gallery.get_by_role("application", name=MAPS).evaluate(LEFT_FOR_KEYS)


def without_room(gallery: Gallery) -> None:
    """Home where it has no place yet, with a head that the address names."""
    gallery.add_style_tag(content=".hl-home { display: none }")
    gallery.show(read_home("One day", at="decoder.attn.2.4"))


def make_room(gallery: Gallery) -> None:
    """There is room from now on."""
    gallery.evaluate("document.head.lastElementChild.remove()")
    gallery.wait_for_function("instrument.large.map.read().values.length")


def silent() -> Part:
    """A model that has no answers."""
    return read_home("go go go", Goal("vectors", has_answers=False))


def vectors() -> dict[str, Any]:
    """What is said where a model has no answers, of its second token."""
    trace = stories_trace("go go go")
    mean = np.mean([record.pattern[:, 1, 0] for record in trace.attention])
    return {
        "gives": Has(
            f"each token is a vector of {trace.facts.d_model} numbers. Some of them stand"
        ),
        "says": Has(f"“{trace.tokens[0].strip()}” {mean:.2f}"),
        "next": {"rows": []},
        "generate": None,
    }


def step(gallery: Gallery) -> None:
    """One token is drawn, and flies off; Python is not there to go on with it."""
    gallery.evaluate("u => { Math.random = () => u; }", U)
    gallery.get_by_role("button", name="Step").click()
    gallery.wait_for_function("model.get('state').appended")


def slices() -> list[float]:
    """Where each of the likeliest, and the rest, begins on the bar of length one."""
    _, probs = home_chance()
    return np.concatenate([[0], np.cumsum(probs)])[: N_NEXT + 1].tolist()


def landed() -> list[int]:
    """How long the text was, and the token on whose slice the number falls."""
    order, probs = home_chance()
    n_tokens = len(made.found_circuit()[0].tokens)
    return [n_tokens, int(order[np.searchsorted(np.cumsum(probs), U)])]


def to_a_later_word(gallery: Gallery) -> None:
    """The large head has the focus once it is drawn; its first query, and the word after it."""
    gallery.wait_for_function("instrument.large.map.read().values.length")
    gallery.press("ArrowRight", "Attention of L2 H4. Arrow keys move the cell.")


def with_waves(address: str) -> Part:
    """A run with the address of the page about positions."""
    found = read_home("One day")
    return found.saying({**found.spec, "waves": address})


def left_at(top_p: float) -> str:
    """How many of the likeliest hold that share, and what they hold."""
    _, probs = home_chance()
    n = 1 + int((np.cumsum(probs) < top_p).sum())
    return f"{n} of {len(probs)} tokens left, {share(float(probs[:n].sum()))}"


HOME = {
    "home: the needle stops where the number falls": Row(
        part(home),
        step,
        lambda: {"chance": {"needle": U, "slices": slices()}},
        lambda: {"appended": landed()},
    ),
    "home: a run that cannot go on is looked into": Row(
        part(lambda: read_home("One day")),
        keys("ArrowRight Enter", "with 48 heads"),
        lambda: {
            "large": {"title": Has("L0 H0"), "map": {"values": head(0, 0)}},
            "canGoOn": False,
            "next": {"rows": {0: {"label": f"w{stories_trace('One day').logits[-1].argmax()}"}}},
        },
        lambda: {"at": "decoder.attn.0.0"},
    ),
    "home: a head is looked through before a click, and only then it is large": Row(
        part(thirty_layers),
        lambda gallery: gallery.mouse.move(
            *gallery.get_by_role("application", name=MAPS).evaluate(LAST_MAP)
        ),
        lambda: {"large": None, "says": Has("L29 H8:")},
    ),
    "home: keys move the cell of a large head, which says why it is hatched": Row(
        part(lambda: read_home("One day", at="decoder.attn.2.4")),
        to_a_later_word,
        lambda: {
            "large": {
                "title": "L2 H4",
                "says": Has("“One” → “day”: this word comes later"),
                "map": {"why": "this word comes later"},
            }
        },
    ),
    "home: what positions add is said, and leads to their page": Row(
        part(lambda: with_waves("?page=Positional+encoding")),
        lambda gallery: gallery.get_by_label("Positional encoding", exact=True).hover(),
        lambda: {"waves": "?page=Positional+encoding", "says": Has("for where it stands: waves")},
    ),
    "home: what is left of all tokens": Row(
        part(lambda: replace(home(), state={**home().state, "top_p": 0.5})),
        nothing,
        lambda: {"left": left_at(0.5), "next": {"rows": {8: {"number": "removed"}}}},
    ),
    "home: it says that no model runs here": Row(
        part(lambda: read_home("One day")),
        nothing,
        lambda: {"says": Has("No model runs here"), "generate": "Generate", "canGoOn": False},
    ),
    "home: a text that is all written has no buttons to write on": Row(
        part(
            lambda: read_home(
                "go go go", Goal("written", came=tuple(stories_trace("go go go").ids[1:].tolist()))
            )
        ),
        nothing,
        lambda: {"generate": None},
    ),
    "home: a model that says nothing shows its last vectors": Row(
        part(silent),
        lambda gallery: gallery.locator("button").filter(has_text="go").nth(1).hover(),
        vectors,
    ),
    "home: the stage before the last of a model that says nothing": Row(
        part(silent),
        keys("ArrowLeft", "How far the pass has come"),
        lambda: {"stage": "last vectors"},
    ),
    "home: a head of the address is large as soon as there is room": Row(
        without_room, make_room, lambda: {"large": {"map": {"values": head(2, 4)}}}
    ),
    "home: of thirty layers the last are in sight, and a sink is hidden": Row(
        part(thirty_layers), nothing, lambda: {"layers": "Layers 20–29 of 30", "sink": True}
    ),
    "home: of thirty layers others are turned to, and a sink is shown": Row(
        part(thirty_layers),
        lambda gallery: (turn_pages(gallery), gallery.get_by_label("Hide lines to").click()),
        lambda: {"layers": "Layers 10–19 of 30", "sink": False},
        lambda: {"layers": 10, "sink": True},
    ),
    "home: of thirty layers a head is reached by keys, whatever the mouse did": Row(
        part(thirty_layers),
        mouse_leaves,
        lambda: {"layers": "Layers 20–29 of 30", "says": Has("L29 H7:")},
    ),
    "home: of thirty layers a head is reached by mouse": Row(
        part(thirty_layers),
        last_by_mouse,
        lambda: {"large": {"title": Has("L29 H8")}, "says": Has("L29 H8:")},
        lambda: {"at": "decoder.attn.29.8"},
    ),
    "home: of thirty layers a head is reached by an address": Row(
        part(fourth_layer),
        nothing,
        lambda: {"layers": "Layers 0–9 of 30", "says": Has("L4 H7:")},
    ),
}
