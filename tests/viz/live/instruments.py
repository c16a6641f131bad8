"""What each instrument is sent, small, for tests of several of them."""

from typing import Any

import numpy as np

from tests.viz.builders import causal, stories_trace
from viz.live.core.wire import Data, Settings
from viz.live.editor.data import NextTokens, editor_data
from viz.live.microscope.data import microscope_data
from viz.live.rotor.data import Rotation, rotor_data
from viz.live.sampler.data import sampler_data
from viz.live.writer.data import WrittenText, writer_data

TEXT = "The animal was too tired."


def microscope_settings(**changes: object) -> Settings:
    """Everything that is chosen in the microscope, at its default."""
    settings = {
        "layer": 0,
        "head": 0,
        "view": "map",
        "stage": "weights",
        "cell": None,
        "token": None,
        "mass": 0.8,
        "change": "scale",
        "tau": 2.0,
        "against": "head",
        "other": None,
        "second": "",
        "how": "mean",
        "over": "layer",
        "hide_first": False,
        "words": False,
    }
    return settings | changes


def writer_steps(n: int) -> list[Data]:
    """Steps of a text of two prompt tokens, each drawn from the same two candidates."""
    leading = [
        {"id": 3, "label": "a", "before": 0.6, "after": 0.7},
        {"id": 4, "label": "time", "before": 0.2, "after": 0.3},
    ]
    return [
        {
            "token_id": 3 + i % 2,
            "rank": i % 2,
            "before": 0.6,
            "prob": 0.7,
            "kept": 2,
            "n_dropped": 0,
            "row": [1 / (2 + i)] * (2 + i),
            "mean": [1 / (2 + i)] * (2 + i),
            "leading": leading,
        }
        for i in range(n)
    ]


def microscope(head: int = 0) -> Data:
    """All heads of the shipped model on a sentence, the chosen one sent along."""
    settings = microscope_settings(head=head)
    return microscope_data(stories_trace(TEXT), "a key", "stories", settings)


def editor() -> Data:
    """A head and its mask."""
    trace = stories_trace(TEXT)
    base = causal(len(trace.tokens))
    bars = NextTokens("Next token", [("He", 0.25, 0.5)])
    settings = {"edits": ""}
    return editor_data(trace, "a key", trace.attention[1].site, 2, base, bars, settings)


def writer() -> Data:
    """A text that is still written."""
    text = WrittenText(["Once", " upon", " a", " time"], writer_steps(2), "L0 H0", is_running=True)
    return writer_data("a key", text, {"step": None, "averaged": False})


def sampler() -> Data:
    """Logits of five tokens."""
    settings: dict[str, Any] = {"temperature": 1.0, "top_k": None, "top_p": 1.0, "min_p": 0.0}
    settings["order"] = ["temperature", "top_k", "top_p", "min_p"]
    return sampler_data("a key", np.arange(5, dtype=np.float32), list("abcde"), settings)


def rotor() -> Data:
    """Three pairs."""
    hands = np.ones((3, 2))
    frequencies = np.array([1.0, 0.1, 0.01])
    rotation = Rotation("wave", hands, hands, frequencies, 1.0, 50, ("first", "second"))
    return rotor_data("a key", rotation, {"first": 1, "second": 5})


INSTRUMENTS = {
    "microscope": microscope,
    "sampler": sampler,
    "writer": writer,
    "editor": editor,
    "rotor": rotor,
}
