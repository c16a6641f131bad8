"""Attention by hand: Q, K and V to change cell by cell, each step, and the same in the model."""

from urllib.parse import urlencode

import numpy as np

from model.analysis.heads import strongest_pair
from model.analysis.worked import Example, Worked, read_cells, work_out
from viz.digits import digits
from viz.frame import inspector, layout, notices, state, tables, words
from viz.frame.kinds import Setting
from viz.frame.page import Page
from viz.frame.said import Word
from viz.frame.settings import HAND_CELLS, HAND_HEADS, HAND_MASKING, HAND_SCALED, HAND_VALID
from viz.frame.view import View
from viz.kit.parts.by_hand import MASKING, Given, by_hand_part
from viz.kit.wire import Settings
from viz.labels import token_labels
from viz.live import component

PREFIX = "hand_"
MASKED_HOW = HAND_MASKING.given(options=tuple(MASKING))
SETTINGS: dict[str, Setting] = {
    setting.name.removeprefix(PREFIX): setting
    for setting in (HAND_CELLS, HAND_HEADS, MASKED_HOW, HAND_VALID, HAND_SCALED)
}


def _given(name: str, about: str, cells: str, **others: object) -> Given:
    usual = {key: setting.default for key, setting in SETTINGS.items()}
    return Given(name, about, usual | {"cells": cells} | others)


ANSWER = "0,0;9,0|0,0;1,0|1,0;0,1|"  # of the question the page asks
EXAMPLES = (
    _given(
        "Two tokens",
        "Two queries, each with a key of its own direction. Scores 1/√2 and 0 make weights 0.67 "
        "and 0.33: softmax never leaves a key out.",
        HAND_CELLS.default,
    ),
    _given(
        "Three tokens",
        "The first query meets three keys: 0.76, −0.51 and 1.06. A text that works with these "
        "products prints them as 0.72, −0.53 and 1.02; added up by hand they are as they stand "
        "here.",
        "1,0.4;0.5,-1;-0.2,0.8|0.6,0.4;-0.55,0.1;0.9,0.4|1,0;0,1;1,1|",
    ),
    _given(
        "Valid lengths",
        "Four places, of which two hold words and two padding: their scores are −∞ before softmax, "
        "so their weights are 0 and the others add up to 1.",
        "1,0;0,1;1,1;0.5,0.5|1,0;0,1;1,1;0.5,0.5|4,0;0,4;2,2;1,1|",
        masking="valid",
        valid=2,
    ),
    _given(
        "Causal",
        "A token attends to itself and to those before it: the first has no choice, and the "
        "weights form a triangle.",
        "1,0;0,1;1,1|1,0;0,1;1,1|1,0;0,1;1,1|",
        masking="causal",
    ),
    _given(
        "Two heads",
        "Columns 1 and 2 are head 0’s, 3 and 4 head 1’s: each has weights of its own. Side by side "
        "their results are multiplied by W_O, which mixes them.",
        "2,0,0,1;0,2,1,0;1,1,1,1|2,0,0,1;0,2,1,0;1,1,0,2|1,0,0,1;0,1,1,0;1,1,0,0"
        "|1,0,1,0;0,1,0,1;1,0,-1,0;0,1,0,-1",
        heads=2,
    ),
    _given(
        "All alike",
        "Keys that are all the same cannot be told apart: every weight is 1/3, and each result is "
        "the mean of the values.",
        "1,2;0,-1;3,0|1,1;1,1;1,1|3,0;0,3;6,6|",
    ),
    _given(
        "An answer",
        "To the question below, one of many: the first query is all zeros, so every key meets it "
        "with 0; the second is long in the one direction in which the keys differ.",
        ANSWER,
    ),
)


def render(view: View) -> None:
    """Draw the page."""
    settings, example = _chosen()
    notices.show()
    key = " ".join(map(str, settings.values()))
    component.show(
        by_hand_part(key, EXAMPLES, settings),
        on_change=lambda changes: state.take_over(changes, PREFIX),
    )
    _question()
    _in_the_model(view)
    inspector.formula("model.attention.scaled_dot_product")
    inspector.source(
        "model.analysis.worked.work_out",
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
    )
    inspector.export(view, _tables(work_out(example)), has_charts=False)


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


def _question() -> None:
    """What to try, and a way to see it done."""
    usual = {setting.name: "" for setting in SETTINGS.values()}
    words.ask(
        "In “Two tokens”: make the second token attend to the second key with more than 0.99, and "
        "the first to both alike. Which numbers need to change?",
        **usual | {HAND_CELLS.name: ANSWER},
    )


def _in_the_model(view: View) -> None:
    """The same steps in the head above, for its strongest weight."""
    record, head = view.record, view.head
    query, key = strongest_pair(view.pattern)
    labels = token_labels(view.tokens)
    address = {"page": "Attention", "model": view.model, "sentence": view.sentence}
    address |= {"layer": view.layer, "head": head, "cell": f"{query}-{key}"}
    score, weight = record.scores[head, query, key], record.pattern[head, query, key]
    layout.section("The same in the model", f"{view.head_name} of the input above.")
    words.caption(
        [
            "“",
            Word(labels[query]),
            "” → “",
            Word(labels[key]),
            f"”: score {digits(float(score))}, weight {digits(float(weight))}, of a query and a "
            f"key with {view.config.d_head:,} columns.",
        ]
    )
    words.ways(
        [
            words.Way(
                f"{view.head_name}: {labels[query]} → {labels[key]}",
                f"The same steps with the model’s own numbers: weight {digits(float(weight), 3)}.",
                query=f"?{urlencode(address)}",
            )
        ]
    )


def _tables(worked: Worked) -> inspector.Tables:
    """The weights of each head."""

    def csv(weights: np.ndarray) -> bytes:
        names = [str(i + 1) for i in range(len(weights))]
        return tables.table_csv(weights, names, names, "query \\ key")

    return {
        f"Weights of head {h}": lambda weights=weights: csv(weights)
        for h, weights in enumerate(worked.weights)
    }


PAGE = Page(
    "Attention by hand",
    ":material/calculate:",
    "Two products and a softmax: change any number and watch every step follow.",
    "Each token has a query, a key and a value. A query is compared with every key by a dot "
    "product; softmax turns a row of these into weights that add up to 1; the result is the "
    "mean of the values with these weights. The model above does exactly this in every head, "
    "with d_head columns where there are two here.",
    render,
    needs=("decoder",),
    opens_inspector=False,
)
