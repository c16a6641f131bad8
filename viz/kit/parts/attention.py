"""Attention: every head at a glance with a word for each, one of them large, step by step."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from model.analysis.measures import MEASURES, ROLES
from model.trace import AttentionRecord, Stream, Trace
from viz.kit.part import Part
from viz.kit.run import RunData, patterns_data, run_data
from viz.kit.wire import Bounds, Option, bounds_data, options_data

MASS = Bounds(0.1, 1.0, 0.05)  # cumulative attention shown
TAU = Bounds(0.1, 4.0, 0.1)  # attention temperature

# By name in settings and in the URL, as on screen; a view has a class of its own in stage.js.
VIEWS = {
    "map": "Step by step",
    "lines": "Lines",
    "sentence": "One token",
    "whatif": "What if",
    "compare": "Compare",
    "summary": "Summary",
}
# What each step of attention is called, and what it does; those between the first and the last are
# stages of a record (`model.worked_out.STAGES`), in their order.
STAGES = {
    "product": ("q·kᵀ", "Each query times each key."),
    "scaled": ("÷√d", "Divided by √d_head, so that softmax does not saturate."),
    "biased": ("+ bias", "Plus the bias added to these scores."),
    "capped": ("cap", "Bent below the model’s soft cap c: c · tanh(score / c)."),
    "masked": (
        "mask",
        "What a query must not see becomes −∞ (hatched), as later tokens that the model has to "
        "predict.",
    ),
    "sunk": ("sink", "The head’s sink joins the softmax: one score more, without a value."),
    "weights": ("softmax", "Each row becomes weights that sum to one."),
    "output": ("· v", "The weights mix the value vectors: z, one row per token."),
}
CHANGES = {
    "scale": "without scaling",
    "mask": "without the mask",
    "temperature": "attention temperature",
    "cells": "cells masked by hand",
}
AGAINST = {"head": "another head", "sentence": "another sentence"}
HOW = {"mean": "mean", "maximum": "maximum"}


STATE: Mapping[str, Any] = {  # what is chosen before anybody chose
    "layer": 0,
    "head": 0,
    "view": "map",
    "stage": "weights",
    "cell": None,
    "token": None,
    "mass": 0.8,
    "change": "scale",
    "tau": 2.0,
    "flipped": "",
    "against": "head",
    "other": None,
    "how": "mean",
    "over": "layer",
    "hide_first": False,
    "words": False,
}


class OtherRun(NamedTuple):
    """Another input through the same model, to compare with."""

    trace: Trace
    key: str
    name: str = "second prompt"


def attention_part(
    trace: Trace,
    key: str = "run",
    model: str = "",
    chosen: Mapping[str, Any] = STATE,
    runs: Sequence[OtherRun] = (),
    *,
    takes_text: bool = False,
) -> Part:
    """The heads of a run. `key` is new when its numbers are; `model` is what made it.

    `chosen` are entries of `STATE`, and `attention`, a group's name. `runs` are compared with;
    `takes_text` says whether a person can choose another one.
    """
    options = {
        "views": views_of(trace, takes_text=takes_text),
        "changes": changes_of(trace),
        "against": against_of(trace, takes_text=takes_text),
    }
    others = [run_data(run.trace) for run in runs]
    arrays = dict(run_data(trace).arrays)
    for i, other in enumerate(others):
        arrays |= other.named(f"{i}:")
    about = [
        {"key": run.key, "name": run.name, "prefix": f"{i}:", **other.about}
        for i, (run, other) in enumerate(zip(runs, others, strict=True))
    ]
    rows = ("".join(s.labels).strip() for s in trace.streams if s.ids is not None)
    said = {"model": model, "text": " → ".join(rows)}
    spec = {"key": key, **said, **run_data(trace).about, "runs": about}
    return _part(spec, options, chosen, arrays)


def patterns_part(layers: Sequence[np.ndarray], queries: Stream, keys: Stream) -> Part:
    """Attention of which nothing is known but its weights, as `patterns_data` takes it."""
    data: RunData = patterns_data(layers, queries, keys)
    why = "only the weights are known here."
    views = {"whatif": why}
    if len(layers) * len(layers[0]) == 1:
        views["compare"] = "there is one head alone, and no other input."
    options = {
        "views": [Option(name, text, views.get(name)) for name, text in VIEWS.items()],
        "changes": [Option(name, text, why) for name, text in CHANGES.items()],
        "against": [
            Option("head", AGAINST["head"]),
            Option("sentence", AGAINST["sentence"], "no model runs here."),
        ],
    }
    spec = {"key": "run", "model": "", "text": "", **data.about, "runs": []}
    return _part(spec, options, STATE, data.arrays)


def _part(
    spec: Mapping[str, Any],
    options: Mapping[str, Sequence[Option]],
    chosen: Mapping[str, Any],
    arrays: Mapping[str, Any],
) -> Part:
    words = {
        "roles": roles_in_words(),
        "stages": [
            {"name": name, "text": text, "says": says} for name, (text, says) in STAGES.items()
        ],
        "how": options_data([Option(name, text) for name, text in HOW.items()]),
        "bounds": {"mass": bounds_data(MASS), "tau": bounds_data(TAU)},
    }
    sent = {name: options_data(of) for name, of in options.items()}
    state = {"attention": spec["groups"][0]["name"], **STATE, **chosen}
    first = _first(spec["groups"], state, arrays)
    return Part("attention", {**spec, **words, **sent}, state, arrays, first=first)


def _first(
    groups: Sequence[Mapping[str, Any]], state: Mapping[str, Any], arrays: Mapping[str, Any]
) -> list[tuple[str, tuple[int, ...]]]:
    """The small maps of the chosen kind of attention, and the arrays of the chosen head."""
    group = next((one for one in groups if one["name"] == state["attention"]), groups[0])
    n_layers, n_heads = group["n_layers"], group["n_heads"]
    layer, head = min(state["layer"], n_layers - 1), min(state["head"], n_heads - 1)
    address = group["sites"][layer]["address"]
    names = [f"{address}.{name}" for name in ("pattern", "mask", "q", "k", "v", "bias")]
    of_head = [
        (name, (head * arrays[name].array.shape[0] // n_heads,)) for name in names if name in arrays
    ]
    return [(f"{group['name']}.tiles", ()), *of_head]


def roles_in_words() -> list[dict[str, str]]:
    """How each role that a head may have is put: in a list, on a small map, in a sentence."""
    return [
        {"name": name, "text": trait.word, **vars(MEASURES[name].role)}
        for name, trait in ROLES.items()
    ]


def stages_of(record: AttentionRecord) -> list[str]:
    """The steps that are shown of a layer; of one nobody can follow its weights and output."""
    has = ("weights", "output") if record.further else ("product", *record.stages, "output")
    return [name for name in STAGES if name in has]


def views_of(trace: Trace, *, takes_text: bool) -> list[Option]:
    """The views of a head; those that do not apply to a trace say why."""
    why = {}
    if all(option.why for option in against_of(trace, takes_text=takes_text)):
        why["compare"] = "there is one head alone, and no other input."
    return [Option(name, text, why.get(name)) for name, text in VIEWS.items()]


def changes_of(trace: Trace) -> list[Option]:
    """What may be changed of a head; what would change nothing says why."""
    why = {}
    if all(record.scale == 1 for record in trace.attention):
        why["scale"] = "scores are not scaled here."
    if all(record.mask.all() for record in trace.attention):
        why["mask"] = "nothing is masked here."
    return [Option(name, text, why.get(name)) for name, text in CHANGES.items()]


def against_of(trace: Trace, *, takes_text: bool) -> list[Option]:
    """What a head may be compared with; what there is none of says why."""
    why = {}
    if all(len(group.records) * group.n_heads == 1 for group in trace.groups):
        why["head"] = "there is no other head."
    if not takes_text:
        why["sentence"] = "this source takes no text."
    return [Option(name, text, why.get(name)) for name, text in AGAINST.items()]
