"""Attention: all heads at a glance, one head under the microscope, and the formula."""

import re
from collections.abc import Callable

import numpy as np
import streamlit as st

from viz import controls, runs, say, ui
from viz.figures.attention import strongest_pair
from viz.formulas import attention_with_sizes, weight_with_numbers
from viz.live import component

TITLE = "Attention"
ICON = ":material/grid_view:"

VIEWS = ("map", "lines", "sentence", "whatif", "compare", "summary")
STAGES = ("product", "scaled", "biased", "masked", "weights", "output")
CHANGES = ("scale", "mask", "temperature")
PAIR = re.compile(r"(\d{1,9})-(\d{1,9})")
NOTHING = ""


def render() -> None:
    """Draw the page."""
    component.preload()
    view = ui.open_page(lambda view: component.browser_checks(view.run.key, view.head_name))
    ui.heading(
        ICON,
        TITLE,
        "Each head decides, for every token, how much to read from itself and those before it: the "
        "token in the row reads from the one in the column. Click a small map to open that head; "
        "point at a cell of its map to see the numbers behind it, click to pin it. Hatched cells "
        "are masked: they may not be read.",
    )
    ui.what_to_look_for(view)
    settings = _settings(view)
    second = _second_run(view, settings)
    controls.show_complaints()
    component.show(
        component.MICROSCOPE,
        component.microscope_data(
            view.run.trace,
            view.run.key,
            view.model,
            settings,
            second and (second.trace, second.key),
        ),
        on_told=_take_over,
    )
    _formula(view, settings["cell"])
    ui.source(
        "model.attention.scaled_dot_product",
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
    )
    ui.export(view, "attention", _tables(view), camera=False)


def _settings(view: ui.View) -> component.Settings:
    """What is chosen inside the microscope, from the session or the URL."""
    config, n_tokens = view.run.trace.config, len(view.tokens)
    if st.session_state.setdefault("cell_of", view.sentence) != view.sentence:
        st.session_state.update(cell=NOTHING, cell_of=view.sentence)  # a pin is of its sentence
    token = controls.kept("token", NOTHING, _whole_number("Token", n_tokens))
    return {
        "layer": view.layer,
        "head": view.head,
        "view": controls.kept_option("View", "view", VIEWS, "map"),
        "stage": controls.kept_option("Stage", "stage", STAGES, "weights"),
        "cell": _numbers(controls.kept("cell", NOTHING, _pair("Cell", n_tokens, n_tokens))),
        "token": int(token) if token else None,
        "mass": controls.kept_number("Mass", "mass", 0.1, 1.0, 0.8, 0.05),
        "change": controls.kept_option("Change", "change", CHANGES, "scale"),
        "tau": controls.kept_number("Attention temperature", "tau", 0.1, 4.0, 2.0, 0.1),
        "against": controls.kept_option("Compare with", "against", ("head", "sentence"), "head"),
        "other": _numbers(
            controls.kept("other", NOTHING, _pair("Other head", config.n_layers, config.n_heads))
        ),
        "second": controls.kept("second", NOTHING, _text),
        "how": controls.kept_option("Summary", "how", ("mean", "maximum"), "mean"),
        "over": controls.kept_option("Over", "over", ("layer", "head", "all"), "layer"),
        "hide_first": controls.kept_option(
            "Hide the first token", "hide_first", ("no", "yes"), "no"
        )
        == "yes",
        "words": controls.kept_option("Merge pieces", "words", ("no", "yes"), "no") == "yes",
    }


def _text(raw: object) -> tuple[str, None]:
    return str(raw), None


def _take_over(changes: component.Settings) -> None:
    """Keep what a person changed in the browser, in the form the URL has."""
    if not changes:
        controls.repeat_complaints()  # the browser only reported its check
    for name, value in changes.items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, list):
            value = "-".join(map(str, value))
        elif value is None:
            value = NOTHING
        elif isinstance(value, str):
            value = value.encode("utf-8", "replace").decode()  # half a character is none
        st.session_state[name] = value


def _pair(label: str, n_first: int, n_second: int) -> Callable[[object], tuple[str, str | None]]:
    """Two whole numbers joined by a hyphen, each below its limit; the nearest when they are not."""

    def nearest(raw: object) -> tuple[str, str | None]:
        match = PAIR.fullmatch(str(raw))
        if raw == NOTHING:
            return NOTHING, None
        if match is None:
            return NOTHING, f"{label} {raw} is not two numbers such as 3-1; showing the default."
        pair = (min(int(match[1]), n_first - 1), min(int(match[2]), n_second - 1))
        value = "{}-{}".format(*pair)
        return value, None if value == raw else f"{label} {raw} does not exist; showing {value}."

    return nearest


def _whole_number(label: str, n: int) -> Callable[[object], tuple[str, str | None]]:
    """A whole number below n, or nothing."""

    def nearest(raw: object) -> tuple[str, str | None]:
        if raw == NOTHING:
            return NOTHING, None
        if not str(raw).isdecimal():
            return NOTHING, f"{label} {raw} is no whole number; showing the default."
        value = str(min(int(str(raw)[:4000]), n - 1))  # Python reads no longer numbers
        return value, None if value == str(raw) else f"{label} {raw} does not exist; it is {value}."

    return nearest


def _numbers(pair: str) -> list[int] | None:
    return [int(number) for number in pair.split("-")] if pair else None


def _second_run(view: ui.View, settings: component.Settings) -> runs.Run | None:
    """The sentence to compare with, through the same model."""
    text = settings["second"]
    if settings["against"] != "sentence" or not text.strip():
        return None
    run = runs.run(view.model, view.device, text)
    ui.hold("second-run", run)
    if run.n_cut:
        controls.complain(f"The last {run.n_cut} tokens of the second sentence are cut.")
    return run


def _tables(view: ui.View) -> dict[str, Callable[[], bytes]]:
    pattern = view.run.trace.attention[view.layer].pattern[view.head]
    return {
        f"Pattern {view.head_name}": lambda: ui.table_csv(
            pattern, view.tokens, view.tokens, "query \\ key"
        )
    }


def _formula(view: ui.View, cell: list[int] | None) -> None:
    """Attention in general, with this head's sizes, and one weight with its numbers."""
    record = view.run.trace.attention[view.layer]
    n_heads, n_queries, d_head = record.q.shape
    ui.formula("model.attention.scaled_dot_product")
    ui.formula(
        "model.attention.scaled_dot_product",
        attention_with_sizes(n_queries, record.k.shape[1], d_head),
    )
    query, key = cell or strongest_pair(record.pattern[view.head])
    what = "The pinned cell of" if cell else "The strongest pair, first token and self left out, of"
    say.pair(view.tokens, query, key, f"{what} {view.head_name}:")
    if not record.mask[query, key]:
        st.caption("This cell is masked: its weight is exactly zero.", text_alignment="center")
        return
    group = n_heads // len(record.k)
    product = float(record.q[view.head, query] @ record.k[view.head // group, key])
    bias = 0.0 if record.bias is None else float(record.bias[view.head, query, key])
    seen = record.scores[view.head, query][record.mask[query]].astype(np.float64)
    ui.formula(
        "model.attention.scaled_dot_product",
        weight_with_numbers(product, d_head, bias, float(np.logaddexp.reduce(seen))),
    )
