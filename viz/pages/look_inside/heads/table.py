"""All heads in a table, sorted and chosen by what they do, and all their measures as CSV."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis.measures import MEASURES, TRAITS, Trait
from model.analysis.why.reasons import KINDS
from model.analysis.why.rule import Counted, Rules
from viz.frame import box, controls, layout, settings, state, tables, words
from viz.frame.said import Link, Said
from viz.frame.view import View
from viz.labels import visible
from viz.pages.look_inside.heads.reading import Reading

ALWAYS = ("induction", "previous", "same", "first", "entropy", "copying")  # where they are there
UPWARD = "-"  # before the measure that is sorted by, the smallest first
MOST_ROWS = 100


class Places(NamedTuple):
    """Where the rows of heads, the choice of them and what their numbers are of stand."""

    rows: DeltaGenerator
    choice: DeltaGenerator
    about: DeltaGenerator


def places() -> Places:
    """Three places below each other, to be drawn in any order."""
    with st.container(key="all-heads"):
        rows = st.empty()
    return Places(rows, layout.slim_row("heads-that"), st.container(key="about-heads"))


def draw_first(where: Places, view: View, reading: Reading) -> None:
    """Draw the numbers that are there while others are worked out."""
    with where.about:
        words.caption(reading.about)
    known = _known(reading)
    order = _order(reading, known)
    heads = _sorted(reading, list(range(len(reading.names))), order)
    _rows(where, view, reading, heads, [name for name in ALWAYS if name in known], order, "")


def draw(
    where: Places, view: View, reading: Reading, axes: tuple[str, str, str], rules: Rules | str
) -> None:
    """Draw the words and measures of the heads that are wanted, in the order that is wanted."""
    with where.choice:
        wanted = _wanted(reading)
    known = _known(reading)
    order = _order(reading, known)
    columns = dict.fromkeys((*ALWAYS, *axes, order.removeprefix(UPWARD)))
    found = _sorted(reading, wanted, order)
    _rows(where, view, reading, found, [x for x in columns if x in known], order, rules)
    with where.about:
        _about(reading, known, len(found))


def _known(reading: Reading) -> list[str]:
    return [name for name in MEASURES if reading.has(name)]


def _order(reading: Reading, known: Sequence[str]) -> str:
    """The measure that is sorted by: what an input was made for, or the first that stands here."""
    usual = reading.leads or next((name for name in ALWAYS if name in known), "")
    options = ["", *known, *(UPWARD + name for name in known)]
    return state.value(settings.SORTED_BY.given(options=options, default=usual))


def _about(reading: Reading, known: Sequence[str], n_found: int) -> None:
    """What the numbers are of, and what is not shown."""
    words.caption(
        f"{reading.about} Weights are those of one kind of key: of what came right after earlier "
        "copies of the token, of the previous token, of earlier copies, of the first token. A "
        "column’s head sorts by it, a row leads to its head on Attention; the export has all."
    )
    if "copying" not in known:
        words.caption(
            "No copying score: the way from tokens through a head to their logits is not known."
        )
    if n_found > MOST_ROWS:
        words.caption(f"{MOST_ROWS} of {n_found:,} heads: sort or choose to see others.")


def _rows(
    where: Places,
    view: View,
    reading: Reading,
    heads: Sequence[int],
    shown: Sequence[str],
    order: str,
    rules: Rules | str,
) -> None:
    rows = heads[:MOST_ROWS]
    columns: dict[str, Sequence[Said]] = {
        "head": [_link(view, reading, head) for head in rows],
        **{MEASURES[x].short: [reading.number(x, head) for head in rows] for x in shown},
        "words": [reading.words(head) for head in rows],
    }
    if not isinstance(rules, str):
        columns["looks by"] = [_kind(rules, _counted(reading, rules, head)) for head in rows]
    with where.rows.container():
        words.table(
            columns,
            texts=("words", "looks by"),
            heads={MEASURES[x].short: _sorting(x, order) for x in shown},
        )


def _wanted(reading: Reading) -> list[int]:
    """The heads that do what a person chose, all of them until then."""
    heads_of: dict[str, list[int]] = {"": list(range(len(reading.names)))}
    for trait in TRAITS:
        if reading.has(trait.measure) and (found := reading.clearest(trait)):
            heads_of[_text(trait)] = sorted(found)
    names = {_text(trait): trait.word for trait in TRAITS} | {"": "all"}
    setting = settings.HEADS_THAT.given(
        options=list(heads_of), words=lambda x: f"{names[x]} ({len(heads_of[x]):,})"
    )
    return heads_of[controls.select(setting, width=260)]


def _text(trait: Trait) -> str:
    """A word in an address."""
    return f"{UPWARD * trait.is_small}{trait.measure}"


def _sorted(reading: Reading, heads: list[int], order: str) -> list[int]:
    """Heads by the measure that is sorted by; those that have none come last."""
    if not order:
        return heads
    values = reading.values(order.removeprefix(UPWARD))
    signed = values if order.startswith(UPWARD) else -values
    return sorted(heads, key=lambda head: (bool(np.isnan(signed[head])), signed[head]))


def _sorting(name: str, order: str) -> Said:
    """The head of a column: it sorts by it, the largest first, then the smallest, then not."""
    mark, further = {name: (" ▾", UPWARD + name), UPWARD + name: (" ▴", "")}.get(order, ("", name))
    return Link(MEASURES[name].short + mark, {settings.SORTED_BY.name: further})


def _counted(reading: Reading, rules: Rules | str, head: int) -> Counted:
    """The looks of a head as far as they are counted."""
    layer, number = divmod(head, reading.n_heads)
    return Counted() if isinstance(rules, str) else rules.heads[layer, number]


def _kind(rules: Rules, own: Counted) -> str:
    """The kind that most looks are of, as in match 20 of 24, once all are counted."""
    if rules.is_running:
        return "…"
    found = [f"{kind} {n:,} of {own.kinds.total():,}" for kind, n in own.kinds.most_common(1)]
    return found[0] if found else "–"


def _link(view: View, reading: Reading, head: int) -> Said:
    """A head, which leads to its map on what was measured; the chosen one is marked."""
    layer, of_layer = divmod(head, reading.n_heads)
    is_chosen = (layer, of_layer) == (view.layer, view.head)
    where = {settings.LAYER.name: str(layer), settings.HEAD.name: str(of_layer)}
    if reading.sentence:
        where |= box.address_of(reading.sentence)
    to = {settings.PAGE.name: "Attention", **where}
    return Link(reading.names[head] + " ●" * is_chosen, to)


def csv(reading: Reading, rules: Rules | str) -> bytes:
    """One line for each head: its words, measures, looks, and the text that wakes it most."""
    columns: dict[str, object] = {
        "head": [name.replace("\u00a0", " ") for name in reading.names],
        "words": [reading.words(head) for head in range(len(reading.names))],
    }
    for name in MEASURES:
        if name in reading.measures:
            columns[MEASURES[name].name] = reading.values(name)
            queries = reading.measures[name].n_queries.ravel()
            if queries.any():
                columns[f"{MEASURES[name].name}, queries"] = queries
    every = [_counted(reading, rules, head) for head in range(len(reading.names))]
    columns |= {f"looks by {kind}": [own.kinds[kind] for own in every] for kind in KINDS}
    first = [next(iter(own.rules.most_common(1)), ("", 0)) for own in every]
    columns |= {"rule": [rule for rule, _ in first], "looks by the rule": [n for _, n in first]}
    if reading.strongest:
        found = [one for layer in reading.strongest for one in layer]
        columns |= {
            "strongest text": [one.text for one in found],
            "query": [visible(one.query_token) for one in found],
            "key": [visible(one.key_token) for one in found],
            "weight": np.array([one.weight for one in found]),
            "norm moved": np.array([one.norm for one in found]),
        }
    return tables.csv(columns)
