"""Attention by hand: Q, K and V to change cell by cell, each step, why √d, a head of the model."""

import tomllib
from dataclasses import replace
from functools import partial

from model.analysis.heads import strongest_pair
from model.analysis.saturation import sharpness
from model.analysis.worked import Example, read_cells, work_out
from viz.digits import digits
from viz.figures.token_maps import pattern_map
from viz.frame import ASSETS, inspector, layout, notices, state, tables
from viz.frame.kinds import Setting
from viz.frame.page import Numbers, Page
from viz.frame.said import Link, Word
from viz.frame.settings import (
    HAND_CELLS,
    HAND_HEADS,
    HAND_MASKING,
    HAND_SCALED,
    HAND_VALID,
    SCENE,
)
from viz.frame.view import View
from viz.kit.parts.by_hand import MASKING, Given, by_hand_part
from viz.kit.wire import Settings
from viz.labels import token_labels
from viz.live import component
from viz.pages.lessons import root

PREFIX = "hand_"
MASKED_HOW = HAND_MASKING.given(options=tuple(MASKING))
SETTINGS: dict[str, Setting] = {
    setting.name.removeprefix(PREFIX): setting
    for setting in (HAND_CELLS, HAND_HEADS, MASKED_HOW, HAND_VALID, HAND_SCALED)
}


def _examples() -> tuple[Given, ...]:
    """Those of assets/by_hand.toml, what they do not say as by default."""
    usual = {name: setting.default for name, setting in SETTINGS.items()}
    entries = tomllib.loads((ASSETS / "by_hand.toml").read_text(encoding="utf-8"))["example"]
    return tuple(Given(x.pop("name"), x.pop("about"), usual | x) for x in entries)


EXAMPLES = _examples()


def _by_hand(view: View) -> Numbers:
    """The instrument, and the first query's row of the numbers that are chosen."""
    settings, example = _chosen()
    notices.show()
    key = " ".join(map(str, settings.values()))
    component.show(
        by_hand_part(key, EXAMPLES, settings),
        on_change=lambda changes: state.take_over(changes, PREFIX),
    )
    inspector.formula("model.attention.scaled_dot_product")
    worked = work_out(example)
    csv = partial(tables.matrix_csv, corner="query \\ key")
    files: inspector.Tables = {
        f"Weights of head {h}": partial(csv, x) for h, x in enumerate(worked.weights)
    }
    inspector.export(view, files, has_charts=False)
    rows = {"scores": worked.scores[0][0], "weights": worked.weights[0][0]}
    return {name: ", ".join(digits(float(x), 2) for x in row) for name, row in rows.items()}


def _chosen() -> tuple[Settings, Example]:
    """The numbers of the address; where they cannot be worked with, one line and the first ones."""
    settings = {name: state.value(setting) for name, setting in SETTINGS.items()}
    try:
        return settings, _example(settings)
    except ValueError as error:
        notices.add(f"{error}. Showing the first example.")
        first = EXAMPLES[0].settings
        state.put(*((SETTINGS[name], value) for name, value in first.items()))
        return {name: state.value(setting) for name, setting in SETTINGS.items()}, _example(first)


def _example(settings: Settings) -> Example:
    q, k, v, out = read_cells(str(settings["cells"]))
    n_valid = int(settings["valid"])
    return Example(
        q, k, v, out, settings["heads"], settings["masking"], n_valid, bool(settings["scaled"])
    )


def _in_the_model(view: View) -> Numbers:
    """The head above as it is, and with its scores not divided; its strongest pair."""
    record, head = view.record, view.head
    undivided = replace(record, scale=1.0).pattern_of(head)
    maps = {"as it is": view.pattern, "not divided": undivided}
    layout.show_charts(
        {
            f"root-{name.replace(' ', '-')}": pattern_map(
                pattern, record.mask_of(head), view.tokens, f"{view.head_name} {name}"
            )
            for name, pattern in maps.items()
        }
    )
    inspector.attention(record)
    query, key = strongest_pair(view.pattern)
    labels = token_labels(view.tokens)
    before, after = map(sharpness, maps.values())
    is_divided = record.scale != 1  # else both maps are one
    return {
        "head": view.head_name,
        "query": Word(labels[query]),
        "key": Word(labels[key]),
        "score": digits(float(record.scores[head, query, key])),
        "weight": digits(float(view.pattern[query, key]), 3),
        "steps": [Link("Every step of it", {"page": "Attention", "cell": f"{query}-{key}"})],
        "how": f"divides by √{record.q.shape[-1]}"
        if record.has_usual_scale
        else f"multiplies by {record.scale:.4g}",
        "largest": digits(float(before.largest), 2) if is_divided else None,
        "undivided": digits(float(after.largest), 2),
        "gradient": digits(float(before.gradient), 2),
        "undivided gradient": digits(float(after.gradient), 2),
    }


def _said(_: View) -> tuple[str, str]:
    is_of_root = state.asked(SCENE) in root.SCENES
    return "Why are scores divided by √d?" if is_of_root else PAGE.line, ""


PAGE = Page(
    "Attention by hand",
    ":material/calculate:",
    "How does a token know which others matter?",
    said=_said,
    needs=("decoder",),
    opens_inspector=False,
    scenes={"hand": _by_hand, **root.SCENES, "model": _in_the_model},
    wide=("hand", "model"),
    needs_two=("model",),
    source=(
        "model.analysis.worked.work_out",
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
        "model.analysis.saturation.random_products",
        "model.analysis.saturation.sharpness",
    ),
)
