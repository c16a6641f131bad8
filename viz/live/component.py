"""The instruments as Python sees them: what is sent to the browser, and what comes back.

The microscope computes everything about the head it shows from that head's own q, k and v, which it
fetches by address (`viz.live.routes`), and tells how far its numbers are from the trace. All tell
Python what a person chose there.
"""

import base64
import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from model.trace import Trace
from model.verify.check import Check
from viz.figures.attention import focus, strongest_pair, tiles
from viz.figures.labels import clipped, escape, token_labels, visible, word_groups, word_labels
from viz.live.arrays import encoded, head_address, head_arrays
from viz.theme import DARK, FONT, LIGHT, Palette

FOLDER = Path(__file__).parent
MICROSCOPE, SAMPLER, WRITER = "microscope", "sampler", "writer"  # keys of the instruments
EDITOR, ROTOR = "editor", "rotor"
ALLOWED_ERROR = 1e-4  # as ALLOWED_ERROR in microscope.js
LONGEST_TICK = 16
NAMED_TOKENS = 20  # bars of the sampler
MOST_SENT_ALONG = 400_000  # bytes; larger heads are fetched, so that the page does not wait
SCRIPTS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js"))
# Streamlit runs a component's script from an address of its own, so the modules are found from the
# page's. What fails before they load must be said here.
LOADER = """export default async (component) => {
    const root = component.parentElement.querySelector(".hl-live");
    try {
        const { mount } = await import(new URL("live/main.js", document.baseURI).href);
        mount(component);
    } catch (error) {
        root.textContent = "This figure did not load from the app: " + error.message;
    }
}"""

_mount = st.components.v2.component(
    "headlight_live",
    html='<div class="hl-live" data-drawn=""></div>',
    css=(FOLDER / "live.css").read_text(encoding="utf-8"),
    js=LOADER,
    isolate_styles=False,  # Plotly and accessibility tools need the page's own document
)

_preload = st.components.v2.component(
    "headlight_preload",
    js="""export default ({ data }) => {
        if (globalThis.Plotly || document.getElementById("plotly")) return;
        const add = (tag, fields) => document.head.append(
            Object.assign(document.createElement(tag), fields));
        const address = (name) => new URL(`live/${name}`, document.baseURI).href;
        const over = (event) => { event.target.dataset.over = ""; };
        const src = address("plotly.min.js");
        add("script", { id: "plotly", src, onload: over, onerror: over });
        for (const name of data) add("link", { rel: "modulepreload", href: address(name) });
    }""",
)

Settings = dict[str, Any]


def show(
    key: str,
    data: dict[str, Any],
    *,
    on_told: Callable[[Settings], None],
    on_lost: Callable[[], None] = lambda: None,
) -> None:
    """Show an instrument; `on_told` gets the settings a person changed there."""
    heard = _told(key).get("turn", 0)
    themes = {"light": _palette_data(LIGHT), "dark": _palette_data(DARK)}
    _mount(
        key=key,
        data={**data, "heard": heard, "themes": themes},
        on_told_change=lambda: on_told(_told(key)["changes"]),
        on_lost_change=on_lost,
        on_tick_change=lambda: None,  # to be run again is all a tick asks for
    )


def preload() -> None:
    """Let the browser load the microscope while Python still computes; shows nothing."""
    with st.container(key="preload"):
        _preload(key="preload-live", data=SCRIPTS)


def browser_checks(key: str, head_name: str) -> tuple[Check, ...]:
    """The check the browser made of the head it shows, once it has reported one."""
    checked = _told(MICROSCOPE).get("checked") or {}
    if (checked.get("key"), checked.get("head")) != (key, head_name):
        return ()
    error = checked.get("error")
    name = f"{head_name} recomputed in the browser = the trace"
    return (Check(name, math.nan if error is None else float(error), ALLOWED_ERROR),)


def _told(key: str) -> dict[str, Any]:
    state = st.session_state.get(key)
    return dict((state and state.get("told")) or {})


def microscope_data(
    trace: Trace, key: str, model: str, settings: Settings, second: tuple[Trace, str] | None
) -> dict[str, Any]:
    """What the browser needs before it asks for a head; at most a megabyte."""
    records = trace.attention
    patterns = np.stack([record.pattern for record in records])
    return {
        **sentence_data(trace, key),
        "instrument": MICROSCOPE,
        "model": model,
        "n_layers": len(records),
        "n_heads": patterns.shape[1],
        "tiles": packed(tiles(patterns, records[0].mask)),
        "focus": [[_finite(value) for value in layer] for layer in focus(patterns)],
        "strongest": [[_strongest(head) for head in layer] for layer in patterns],
        "settings": settings,
        "arrays": _chosen_head(trace, key, settings),
        "second": second and sentence_data(*second),
    }


def sampler_data(
    key: str, logits: np.ndarray, vocabulary: Sequence[str], settings: Settings
) -> dict[str, Any]:
    """Logits of one position over the whole vocabulary, and the labels of the leading tokens.

    `key` tells one set of logits from another. Temperature changes no order, so the leading tokens
    are the same for all settings.
    """
    leading = np.argsort(-logits, kind="stable")[:NAMED_TOKENS]
    labels = [visible(vocabulary[i]) for i in leading]
    return {
        "instrument": SAMPLER,
        "key": key,
        "logits": packed(logits),
        "labels": labels,
        "axis": _ticks(labels),
        "settings": settings,
    }


def editor_data(
    trace: Trace,
    key: str,
    head: tuple[int, int],
    base: np.ndarray,
    bars: Sequence[tuple[str, float, float]],
    bars_title: str,
    settings: Settings,
) -> dict[str, Any]:
    """One head of a run under an edited mask, and what the run says next.

    `key` is new when anything but the edits changed. base: (T, T) bool, the mask before them;
    `trace` ran under the mask with them. bars: a token's label, its probability under the mask as
    it was and under the edited one. `settings["edits"]` names the cells that differ: 3-1.5-2.
    """
    layer, number = head
    record = trace.attention[layer]
    return {
        **sentence_data(trace, key),
        "instrument": EDITOR,
        "head": f"L{layer} H{number}",
        "pattern": packed(record.pattern[number].astype(np.float32)),
        "mask": packed(record.mask.astype(np.uint8)),
        "base": packed(base.astype(np.uint8)),
        "bars": [
            {"label": label, "before": _finite(before), "after": _finite(after)}
            for label, before, after in bars
        ],
        "barsTitle": bars_title,
        "settings": settings,
    }


def rotor_data(
    kind: str,
    key: str,
    first: np.ndarray,
    second: np.ndarray,
    frequencies: np.ndarray,
    divisor: float,
    most: int,
    names: tuple[str, str],
    actual: tuple[int, int, float] | None,
    settings: Settings,
) -> dict[str, Any]:
    """Pairs of dimensions as hands that turn with their position.

    kind: "rope" (pairs are dimensions i and i + Dh/2) or "wave" (2i and 2i + 1). first, second:
    (n_pairs, 2), x and y of each pair before it is turned. frequencies: (n_pairs,), radians a
    position. The score is the sum over pairs / divisor; `actual` is what the model itself got at
    two positions. settings: {"first": m, "second": n}, from 0 to `most`.
    """
    return {
        "instrument": ROTOR,
        "kind": kind,
        "key": key,
        "first": packed(first.astype(np.float32)),
        "second": packed(second.astype(np.float32)),
        "frequencies": [float(frequency) for frequency in frequencies],
        "divisor": float(divisor),
        "most": int(most),
        "names": dict(zip(("first", "second"), names, strict=True)),
        "actual": actual
        and {"first": int(actual[0]), "second": int(actual[1]), "score": float(actual[2])},
        "settings": settings,
    }


def sentence_data(trace: Trace, key: str) -> dict[str, Any]:
    """Labels of one sentence: plain for text, escaped and short for Plotly's axes."""
    record = trace.attention[0]
    groups = word_groups(trace.tokens)
    words = word_labels(trace.tokens, groups)
    queries, keys = token_labels(record.query_tokens), token_labels(record.key_tokens)
    return {
        "key": key,
        "queryLabels": queries,
        "keyLabels": keys,
        "rowAxis": _ticks(queries),
        "columnAxis": _ticks(keys),
        "words": groups,
        "wordLabels": words,
        "wordAxis": _ticks(words),
    }


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array as Plotly's JSON has it: type, shape and base64."""
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return {"dtype": array.dtype.str.lstrip("<|"), "shape": list(array.shape), "bdata": data}


def _chosen_head(trace: Trace, key: str, settings: Settings) -> dict[str, str]:
    """The head to draw first, by its address, so that the browser need not ask; if it is small."""
    layer, head = settings["layer"], settings["head"]
    data = encoded(head_arrays(trace.attention[layer], head))
    if len(data) > MOST_SENT_ALONG:
        return {}
    return {head_address(key, layer, head): base64.b64encode(data).decode("ascii")}


def _strongest(pattern: np.ndarray) -> list[float]:
    query, key = strongest_pair(pattern)
    return [query, key, _finite(pattern[query, key])]


def _finite(value: float) -> float | None:
    """A number as JSON has it; JSON knows neither NaN nor infinity."""
    return round(float(value), 6) if np.isfinite(value) else None


def _ticks(labels: Sequence[str]) -> list[str]:
    return [
        escape(label if len(label) <= LONGEST_TICK else clipped(label, LONGEST_TICK))
        for label in labels
    ]


def _palette_data(palette: Palette) -> dict[str, Any]:
    return {**dataclasses.asdict(palette), "font": FONT}
