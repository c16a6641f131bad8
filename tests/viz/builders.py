"""What the tests of viz and of the browser share: made-up attention, and charts read back."""

import base64
import csv
import io
import json
import re
from functools import cache
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from model.capture import capture
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from model.trace import Trace
from tests.model.builders import softmax
from viz.live import store

PAGES = (
    "Home",
    "Attention",
    "Masked language model",
    "Translation",
    "Vision",
    "Heads",
    "Next token",
    "Beam search",
    "Tokens",
    "Logit lens",
    "Circuit",
    "Contributions",
    "Ablation",
    "Patching",
    "Explanation",
    "Lab",
    "Embeddings and similarity",
    "Attention by hand",
    "Masks",
    "Multi-head attention",
    "Positional encoding",
    "Transformer block",
    "Kernels",
    "Recurrence",
    "Cheaper attention",
    "KV cache",
    "Cost",
    "Scaling",
    "Diagram",
    "Notation",
)
# Pages that `stories` is not for, and what is.
OWN_MODEL = {"Masked language model": "blank", "Translation": "translate", "Vision": "digits"}
ODD_SENTENCES = {
    "control": "a\x00b \x07\x1b[31mred\x7f",
    "line-breaks": "one\ntwo\tthree\r\nfour",
    "right-to-left": "שלום עולם and مرحبا بالعالم",
    "bidi-override": "\u202eabc\u202c \u2066def\u2069",
    "emoji": "😀👩\u200d👩\u200d👧 ❤️ 😀😀",
    "only-emoji": "😀",
    "spaces": "\u3000wide\u2003and\u00a0hard",
    "script": "<script>alert(1)</script><b onclick=x>bold</b>",
    "quotes": "\"double\" 'single' `tick` \\back\\",
    "latex": "$x$ and $$y$$ \\frac{1}{2}",
    "markdown": "**x** _y_ `z` [a](b) :red[c] # d",
    "template": "%{x} %{y:.2f} {z} &amp; &lt; &#36;",
    "end-of-sequence": "</s>",
    "end-of-text": "<|endoftext|>",
    "numbers": "3 1 2 3 1 2",
    "one-character": "x",
    "long-word": 5000 * "q",
}


def causal(n_tokens: int) -> np.ndarray:
    """The causal mask, (T, T) bool."""
    return np.tri(n_tokens, dtype=bool)


def random_patterns(*heads: int, n_tokens: int, seed: int = 0) -> np.ndarray:
    """Causal attention patterns of random scores, (*heads, T, T) float32."""
    scores = 2 * np.random.default_rng(seed).normal(size=(*heads, n_tokens, n_tokens))
    return softmax(np.where(causal(n_tokens), scores, -np.inf)).astype(np.float32)


def numbers(stored: object) -> np.ndarray:
    """An array as a Plotly figure's JSON holds it: a list, or bytes in base64."""
    if not isinstance(stored, dict):
        return np.array(stored, dtype=float)
    array = np.frombuffer(base64.b64decode(stored["bdata"]), np.dtype(stored["dtype"]))
    shape = str(stored.get("shape", array.size)).split(",")
    return array.reshape([int(size) for size in shape])


def live_json(app: AppTest, part: str = "") -> str:
    """What the page sends to a part, as it is sent: to its only one, or to that of a name."""
    sent = [
        element.proto.json
        for element in app.get("bidi_component")
        if element.proto.component_name == "headlight_live"
    ]
    (found,) = (one for one in sent if not part or json.loads(one)["part"] == part)
    return found


def live_data(app: AppTest, part: str = "") -> dict[str, Any]:
    """What the page tells a part, with what it says of it and its arrays by name."""
    told = json.loads(live_json(app, part))
    arrays = {name: store.array(about["id"]) for name, about in told["arrays"].items()}
    return {**arrays, **told, **told["spec"]}


def latex_numbers(latex: str) -> list[float]:
    """Every number written in a formula, in order."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", latex)]


def csv_rows(data: bytes) -> list[list[str]]:
    """Rows of a CSV as a spreadsheet reads them: line breaks only inside quotes."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@cache
def shipped(name: str) -> Checkpoint:
    """A shipped model, on the device the app takes by default."""
    return checkpoint.load(name)


def stories() -> Checkpoint:
    """The one that the app opens with."""
    return shipped("stories")


def scheme_model(scheme: str) -> Checkpoint:
    """That of a position scheme."""
    return shipped(f"positions-{scheme}")


def trace_of(loaded: Checkpoint, text: str) -> Trace:
    """What a model does on a text, cut to its context."""
    ids = loaded.tokenizer.encode(text)[: loaded.config.max_seq_len]
    return capture(loaded.model, ids, loaded.tokenizer.token_strings(ids))


@cache
def stories_trace(text: str) -> Trace:
    """What the shipped model does on a text, cut to its context."""
    return trace_of(stories(), text)


def given(trace: Trace) -> np.ndarray:
    """Probability of each token but the first given those before it, in float64. (T - 1,)."""
    probs = softmax(trace.logits[:-1])
    return probs[np.arange(len(probs)), trace.ids[1:]]
