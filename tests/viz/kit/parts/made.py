"""What each part is told, small, for tests of several of them."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from model.analysis.metrics import Metric
from model.analysis.patching import Pair
from model.analysis.paths.circuit import Circuit
from model.analysis.paths.terms import paths
from model.analysis.why.reasons import Cell, reasons
from model.capture import capture, capture_image
from model.trace import Trace
from model.training.runs import Frames
from tests.model.builders import tiny_model, tiny_vision
from tests.viz.builders import causal, stories, stories_trace
from viz.kit.part import Part
from viz.kit.parts.attention import STATE, attention_part
from viz.kit.parts.by_hand import by_hand_part
from viz.kit.parts.circuit import circuit_part
from viz.kit.parts.digit_pad import Shipped, digit_pad_part
from viz.kit.parts.figure import figure_part
from viz.kit.parts.forming import forming_part
from viz.kit.parts.home import home_part
from viz.kit.parts.mask_editor import NextTokens, mask_editor_part
from viz.kit.parts.pickers import Picker, pickers_part
from viz.kit.parts.rotation import Rotation, rotation_part
from viz.kit.parts.why import why_part
from viz.kit.parts.writing import Step, WrittenText, writing_part
from viz.kit.sampling import distribution_of
from viz.kit.wire import Option, Settings
from viz.pages.lessons.by_hand import EXAMPLES

TEXT = "The animal was too tired."


def attention_settings(**changes: object) -> Settings:
    """Everything that is chosen in Attention, at its default."""
    return {**STATE, **changes}


def writing_steps(n: int) -> list[Step]:
    """Steps of a text of two prompt tokens."""
    said = {"before": 0.6, "prob": 0.7, "kept": 2, "put": False, "n_dropped": 0}
    weights = [np.full(2 + i, 1 / (2 + i), np.float32) for i in range(n)]
    return [
        Step({"token_id": 3 + i % 2, "rank": i % 2, **said}, weights[i], weights[i])
        for i in range(n)
    ]


def chat() -> Trace:
    """A sentence as if it were a chat: template, a special token of it, system, user, assistant."""
    trace = stories_trace(TEXT)
    n = len(trace.tokens)
    roles = ("template", "template", "system", "user", "user", *["assistant"] * (n - 5))
    return replace(trace, streams=(replace(trace.main, roles=roles, special=(1,)),))


def attention(head: int = 0) -> Part:
    """All heads of the shipped model on a sentence, the chosen one sent along."""
    settings = attention_settings(head=head)
    return attention_part(stories_trace(TEXT), "a key", "stories", settings)


def mask_editor() -> Part:
    """A head and its mask."""
    trace = stories_trace(TEXT)
    base = causal(len(trace.tokens))
    bars = NextTokens("Next token", [("He", 0.25, 0.5)])
    settings = {"edits": ""}
    return mask_editor_part(trace, "a key", trace.attention[1].site, 2, base, bars, settings)


def writing_settings(**changes: object) -> Settings:
    """Everything that is chosen in the text that is written, at its default."""
    settings: dict[str, Any] = {"temperature": 1.0, "top_k": None, "top_p": 1.0, "min_p": 0.0}
    settings["order"] = ["temperature", "top_k", "top_p", "min_p"]
    return settings | {"at": None, "averaged": False, "rests": 0} | changes


def written(n: int, key: str = "a key", *, is_running: bool = False, **changes: object) -> Part:
    """A text of two prompt tokens and `n` new ones, over a vocabulary of five."""
    tokens = ["Once", " upon", *n * [" a"]]
    steps, marks = writing_steps(n), {1: "from here on seed 0 → 5"} if n > 1 else {}
    text = WrittenText(tokens, steps, [math.nan, 0.5], marks, "L0 H0", is_running, "A note.")
    logits = np.arange(5, dtype=np.float32)
    shown = distribution_of(f"{key}-{n}", 2 + n, logits, list("abcde"))
    return writing_part(key, text, [shown], writing_settings(**changes))


def writing() -> Part:
    """A text that is still written."""
    return written(2, is_running=True)


def rotation() -> Part:
    """Three pairs."""
    hands = np.ones((3, 2))
    frequencies = np.array([1.0, 0.1, 0.01])
    pairs = Rotation("wave", hands, hands, frequencies, 1.0, 50, ("first", "second"))
    return rotation_part("a key", pairs, {"first": 1, "second": 5})


def forming_frames() -> Frames:
    """Two layers of three heads on three tokens, at three steps of a training that was not."""
    mask = np.tri(3, dtype=bool) & ~np.tri(3, k=-2, dtype=bool)  # a window of two tokens
    scores = np.random.default_rng(1).random((3, 2, 3, 3, 3)) * mask
    patterns = (scores / scores.sum(axis=-1, keepdims=True)).astype(np.float16)
    tokens = ("a", "<b>", "a")
    return Frames("a<b>a", (0, 7, 30), tokens, tokens, mask, patterns, "1")


def forming() -> Part:
    """The same as a part."""
    return forming_part(forming_frames(), {}, key="a key")


def chart() -> Part:
    """A figure of one bar."""
    return figure_part(
        go.Figure(go.Bar(y=[1])).to_json(), 450, name="bar", alt="A bar.", image_format="png"
    )


@cache
def found_circuit() -> tuple[Trace, Trace, Circuit]:
    """Both runs of an untrained model, and all that leads to the answer of the first."""
    model, first, second = tiny_model(), [3, 1, 4, 1, 5, 9, 2], [3, 1, 7, 1, 5, 6, 2]
    both = [capture(model, ids, [f" t{i}" for i in ids]) for ids in (first, second)]
    found = Circuit(paths(Pair(model, first, second, Metric("difference", 6, 8, 11))))
    found.finish()
    return *both, found


def circuit(**settings: object) -> Part:
    """The strongest edges of an untrained model; tokens are called by their ids."""
    first, second, found = found_circuit()
    return circuit_part(first, second.tokens, found, " t{}".format, settings)


INSTRUMENTS = {
    "attention": attention,
    "writing": writing,
    "mask_editor": mask_editor,
    "rotation": rotation,
}


def home() -> Part:
    """The run of the first of those texts, whose words are their ids."""
    trace, *_ = found_circuit()
    return home_part(trace, [f"w{i}" for i in range(trace.logits.shape[-1])], key="a key")


def by_hand() -> Part:
    """The first of the examples."""
    return by_hand_part("a key", EXAMPLES, EXAMPLES[0].settings)


def digit_pad() -> Part:
    """A picture of noise through a small untrained model."""
    pixels = np.random.default_rng(0).integers(0, 256, (6, 6)).astype(np.uint8)
    trace = capture_image(tiny_vision(image_size=6, patch_size=3), pixels / np.float32(255))
    settings = {"digit": 0, "drawing": "", "at": "encoder.attn.0.0", "way": "head"}
    shipped = Shipped(0, None, 1, [])
    return digit_pad_part("a key", trace, pixels.tobytes(), "", shipped, settings)


def lists() -> Part:
    """One list."""
    options = [Option("a", "The first"), Option("b", "<b>The second</b>")]
    return pickers_part([Picker("layer", "Layer", options, "b")])


@cache
def why_cell() -> Cell:
    """A match of words: a head that looks from the second “saw” to the name before it."""
    trace = stories_trace("Tom saw a dog. Tom saw")
    return reasons(trace, stories().model, trace.attention[2].site).cell(0, 6, 5)


def why(**settings: object) -> Part:
    """The same as a part, from which heads can be opened."""
    return why_part(why_cell(), settings, can_open=True)
