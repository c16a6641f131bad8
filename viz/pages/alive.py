"""The model alive: what every kind of model is asked, and the part that shows it at work."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from model.given import Chat
from model.sources.offers import missing
from model.trace import CLASS_TOKEN
from viz import runs
from viz.frame import blanks, box, heads, links, memory, notices, state, translating, words
from viz.frame.settings import CELL, FORCED, LARGE, LAYERS, SINK, TEMPERATURE, TOP_P
from viz.frame.view import View
from viz.kit.part import Part
from viz.kit.parts.home import Goal, Going, going_on, home_part
from viz.kit.wire import Settings
from viz.labels import token_labels
from viz.live import component
from viz.pages.ideas.positions import PAGE as POSITIONS
from viz.runs import attributing
from viz.runs import blanks as blanked
from viz.runs.kept import kept

ENDED, REFUSED, AFTER = "alive-ended", "alive-refused", "alive-after"
TO_GO_ON = frozenset({"decoder", "logits", "vocabulary", "text"})


class Asked(NamedTuple):
    """What a model is asked in this view, what a person chose of it, and why it writes no more."""

    goal: Goal
    chosen: Settings
    why_no_more: str | None = None


class Kind(NamedTuple):
    """What a kind of model is asked, what must be offered for that, what it does in words.

    `ways` lead to more of it.
    """

    ask: Callable[[View], Asked]
    needs: frozenset[str]
    does: str
    ways: tuple[words.Way, ...] = ()


def _next(view: View) -> Asked:
    return Asked(Goal(), {"appended": None}, _why_no_more(view))


def _hidden(view: View) -> Asked:
    """What stands in the hidden place that is shown; where nothing is hidden, what the last is."""
    places, shown = blanks.chosen(view.handle, view.sentence)
    stood = token_labels(blanked.tokens_of(view.handle, view.sentence))
    ids = blanked.ids_of(view.handle, view.sentence)
    hidden = tuple((place, stood[place], ids[place]) for place in places)
    chosen = {"blanks": list(places), "blank": shown}
    return Asked(Goal("hidden", shown, hidden), chosen)


def _target(view: View) -> Asked:
    """The translation as it is written, as it was chosen on its own page."""
    written = translating.written(view.handle, view.sentence)
    goal = Goal("target", came=written.ids, specials=translating.specials(view.handle))
    begun = list(translating.begun(view.handle, view.sentence))
    return Asked(goal, {"forced": begun}, "The translation ends here.")


def _written(view: View) -> Asked:
    """What the run has as its target: what the model wrote."""
    return Asked(Goal("written", came=view.ids[1:]), {}, "What it writes ends here.")


def _class(view: View) -> Asked:
    """Which class [CLS] says; where there is no such token, nothing is asked of the patches."""
    if view.tokens[0] != CLASS_TOKEN:
        return _nothing(view)
    return Asked(Goal("class", asked=0), {})


def _nothing(view: View) -> Asked:
    """Nothing; shown is how a token in the middle runs, or the last one where it alone sees all."""
    stream, mask = view.run.trace.main, view.run.trace.facts.mask
    name = "vectors" if stream.kind == "text" else "patches"
    return Asked(Goal(name, -1 if mask else len(stream) // 2, has_answers=False), {})


SILENT = Kind(
    _nothing, frozenset(), "attend to what they are given. Point at a word or at a small map."
)
KINDS = (
    Kind(
        _next,
        TO_GO_ON,
        "run on your sentence and write the next token. Point at a word or at a small map.",
    ),
    Kind(
        _hidden,
        frozenset({"blanks", "vocabulary"}),
        "read both sides of a hidden word and predict the original. Click a word to hide it.",
        (
            words.Way(
                "Masked language model",
                "What each side is worth, token by token.",
                "Masked language model",
            ),
        ),
    ),
    Kind(
        _target,
        frozenset({"translates"}),
        "translate your sentence.",
        (words.Way("Translation", "Other ways to write it, alignment, beams.", "Translation"),),
    ),
    Kind(
        _written,
        frozenset({"encoder_decoder", "logits", "vocabulary"}),
        "read your text and write.",
    ),
    Kind(
        _class,
        frozenset({"vision"}),
        "look at a picture, patch by patch, and say what it shows. Point at a patch.",
        (words.Way("Vision", "Draw a digit of your own.", "Vision"),),
    ),
    SILENT,
)


def kind_of(view: View) -> Kind:
    """The first kind of which a view's model offers all: the last one asks nothing."""
    return next(kind for kind in KINDS if kind.needs <= view.offers)


def show(view: View, *, plays: bool = False) -> None:
    """Show the model at work, which plays once or is there at once."""
    asked = kind_of(view).ask(view)
    chosen = {setting.name: state.number(setting) for setting in (TEMPERATURE, TOP_P)}
    chosen |= {**_large(view), **_layers(view), **asked.chosen}
    opens = links.to(view, "Attention") + "&attention={attention}&layer={layer}&head={head}"
    waves = "" if missing(POSITIONS.needs, view.offers) else links.to(view, POSITIONS.title)
    part = _part(view.run.key, view.handle, (opens, waves), asked.goal, view.run)
    here = (view.handle, view.given)
    refused, after = memory.remembered(REFUSED, here), memory.remembered(AFTER, here)
    going = going_on(part.spec, Going(asked.why_no_more, refused, after))
    part = part.saying({**going, "plays": plays})
    notices.show()
    component.show(part, chosen=chosen, on_change=lambda changes: _take_over(view, asked, changes))


def _large(view: View) -> Settings:
    """The head that is large, if one is, and the cell of it that is meant."""
    setting = CELL.given(limits=view.pattern.shape)
    state.settle_quietly(setting)
    cell = state.value(setting)  # what an address has wrong is said, whether it shows or not
    if state.value(LARGE):
        return {"at": heads.spelled(view), CELL.name: cell}
    state.leave_out(CELL)
    return {"at": "", CELL.name: None}


def _layers(view: View) -> Settings:
    """Which layers are in sight, and whether lines lead to an attention sink."""
    state.only_for(view.model, LAYERS)
    layers = LAYERS.given(high=len(view.run.trace.attention) - 1)
    return {LAYERS.name: state.value(layers), SINK.name: state.value(SINK)}


@kept
def _part(
    key: str, handle: runs.ModelHandle, ways: tuple[str, str], goal: Goal, _run: runs.Run
) -> Part:
    """The part itself, with what each output is called: tokens, or classes."""
    trace = _run.trace
    names: Sequence[str] = []
    if goal.has_answers and trace.main.kind == "text":
        names = _labels(handle)
    elif goal.has_answers:
        names = attributing.names_of_answers(handle, trace.logits.shape[-1])
    opens, waves = ways
    return home_part(trace, names, goal, opens, key, waves)


@st.cache_resource(max_entries=4, show_spinner=False)
def _labels(handle: runs.ModelHandle) -> tuple[str, ...]:
    """The whole vocabulary as a person reads it."""
    return tuple(token_labels(runs.vocabulary(handle)))


def _why_no_more(view: View) -> str | None:
    """Why the text cannot go on, or None."""
    model = runs.decoder(view.handle)
    if len(view.tokens) >= model.config.max_seq_len:
        return f"Stopped at {model.limit}."
    if memory.remembered(ENDED, (view.handle, view.given)):
        return f"Here the model ended {'its turn' if isinstance(view.given, Chat) else 'the text'}."
    return None


def _take_over(view: View, asked: Asked, changes: Settings) -> None:
    """Keep what was chosen; where a token was drawn, the text goes on with it."""
    appended = changes.pop("appended", None)
    forced = changes.pop("forced", None)
    if forced is not None:
        state.put((FORCED, forced), chosen_for=(view.handle.spelled, view.sentence))
    heads.take_over(changes)
    if appended is None or appended[0] != len(view.tokens) or asked.why_no_more:
        return
    token_id = appended[1]
    here = (view.handle, view.given)
    if token_id in runs.end_ids(view.handle):
        memory.remember(ENDED, here, True)
    elif longer := runs.with_token(view.handle, view.given, view.ids, token_id):
        memory.remember(AFTER, (view.handle, longer), tuple(appended))
        box.go_on(view, longer)
    else:
        memory.remember(REFUSED, here, tuple(appended))
