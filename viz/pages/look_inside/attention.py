"""Attention: all heads at a glance, and one head large."""

import math
from typing import Any

from model.names import head_name
from model.verify.check import Check
from viz.frame import ahead, inspector, links, notices, second, settings, state, words
from viz.frame.examples import what_to_try
from viz.frame.kinds import Setting
from viz.frame.page import Page
from viz.frame.view import View
from viz.kit.part import Part
from viz.kit.parts.attention import (
    AGAINST,
    CHANGES,
    HOW,
    MASS,
    TAU,
    VIEWS,
    OtherRun,
    attention_part,
    stages_of,
)
from viz.kit.run import OVER
from viz.kit.wire import Settings
from viz.live import component
from viz.pages.look_inside import why
from viz.runs import Run

KEY = "attention-part"  # `attention` is a setting
PLAIN = (  # settings that depend on nothing but themselves
    settings.VIEW.given(options=tuple(VIEWS)),
    settings.MASS.given(**MASS._asdict()),
    settings.CHANGE.given(options=tuple(CHANGES)),
    settings.TAU.given(**TAU._asdict()),
    settings.AGAINST.given(options=tuple(AGAINST)),
    settings.HOW.given(options=tuple(HOW)),
    settings.OVER.given(options=OVER),
    settings.HIDE_FIRST,
    settings.MERGE_WORDS,
)


def render(view: View) -> None:
    """Draw the page."""
    chosen = _chosen(view)
    others = _other_runs(view, chosen)
    notices.show()
    takes_text, model = "text" in view.offers, view.model

    def of_run(run: Run, chosen: Settings) -> Part:
        return attention_part(run.trace, run.key, model, chosen, others, takes_text=takes_text)

    component.show(of_run(view.run, chosen), key=KEY, on_change=state.take_over)
    if not others:  # which a person chose for this text
        ahead.also(KEY, lambda run, _, now: of_run(run, _on_another_text(chosen, now, run)))
        ahead.answers()
    told = why.draw(view, chosen[settings.CELL.name]) if "residuals" in view.offers else {}
    _ways_on(view, chosen)
    inspector.source(
        "model.attention.scaled_dot_product",
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
        "model.analysis.why.reasons.Cell",
    )
    inspector.export(view, inspector.pattern_table(view) | told, has_charts=False)


def checks(view: View) -> tuple[Check, ...]:
    """Heads whose weights the browser could not follow from q and k."""
    sites = {record.site.address: record.site for record in view.run.trace.attention}
    says = "weights computed by the browser = the run’s"
    return tuple(
        Check(
            f"{sites[address].group} {head_name(sites[address].layer, head)}: {says}", error, 1e-4
        )
        for address, head, error in component.differing(view.run.key)
        if address in sites
    )


def _chosen(view: View) -> Settings:
    """What is chosen inside the part, by the names the browser has for it."""
    n_queries, n_keys = view.pattern.shape
    group = view.group
    cell = settings.CELL.given(limits=(n_queries, n_keys))
    state.only_for(view.given, cell, settings.FLIPPED)
    shown: list[Setting[Any]] = [
        *PLAIN,
        cell,
        settings.STAGE.given(options=stages_of(view.record)),
        settings.OTHER.given(limits=(len(group.records), group.n_heads)),
    ]
    head: Settings = {"attention": view.attention, "layer": view.layer, "head": view.head}
    token = state.value(settings.TOKEN.given(options=range(-1, n_queries)))
    head["token"] = None if token < 0 else token  # the browser's word for no token
    flipped = settings.FLIPPED.given(n=max(n_queries, n_keys))
    head[flipped.name] = flipped.text(state.value(flipped))
    return head | {setting.name: state.value(setting) for setting in shown}


def _on_another_text(chosen: Settings, now: Settings, run: Run) -> Settings:
    """What is chosen in the part now, as far as it holds on another text."""
    n_tokens = len(run.trace.main)
    of_text = {"cell": None, "flipped": "", "token": _place(now.get("token"), None, n_tokens)}
    head = {name: _place(now.get(name), chosen[name]) for name in ("layer", "head")}
    known = {name: now.get(name, value) for name, value in chosen.items()}
    return {**known, **head, **of_text}


def _place(raw: object, otherwise: int | None, n: float = math.inf) -> int | None:
    """What a browser says, where that is one of `n` places from 0 on."""
    return raw if isinstance(raw, int) and 0 <= raw < n else otherwise


def _ways_on(view: View, chosen: Settings) -> None:
    """To why cells are hatched, and to what the head adds to an answer."""
    ways = []
    if view.offers >= {"decoder", "mask", "text"} and not view.record.mask_of(view.head).all():
        text = "Why a token may not attend to what comes later, and other masks."
        ways.append(words.Way("Hatched cells: Masks", text, query=links.to(view, "Masks")))
    if "weights" in view.offers:
        ways.append(_way_to_answer(view, chosen))
    if ways:
        words.ways(ways)


def _way_to_answer(view: View, chosen: Settings) -> words.Way:
    """To what the head adds to the next token; of a pinned cell, to that at its query."""
    more: Settings = {"attention": view.attention, "layer": view.layer, "head": view.head}
    cell, predicting = chosen[settings.CELL.name], view.run.trace.main.name
    if cell and view.record.queries == predicting:
        more[settings.TOKEN.name] = cell[0]
    text = "What this head adds to the answer, and from which keys."
    address = links.to(view, "Contributions", **more)
    return words.Way(f"{view.head_name} on Contributions", text, query=address)


def _other_runs(view: View, chosen: Settings) -> list[OtherRun]:
    """The second prompt through the same model, which is asked for where it is compared with."""
    is_asked = (chosen["view"], chosen["against"]) == ("compare", "sentence")
    if not is_asked or "text" not in view.offers:
        return []
    run = second.run(view)
    return [] if run is None else [OtherRun(run.trace, run.key)]


PAGE = Page(
    "Attention",
    ":material/grid_view:",
    "Each head decides how much every token (row) attends to each it may attend to (column).",
    "The row's token is the query, the column's the key. Click a small map to open that head; "
    "point at a cell of its map to see the numbers behind it, click to pin it. Hatched grey "
    "cells are masked: the query may not attend to the key.",
    render,
    said=lambda view: (what_to_try(view) or PAGE.line, PAGE.more),
    checks=checks,
)
