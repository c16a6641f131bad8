"""The model alive: what every kind of model is asked, and the part that shows it at work."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from model.adopted.model import AnyDecoder
from model.given import Chat
from model.sources.offers import missing
from model.trace import CLASS_TOKEN
from viz import runs
from viz.frame import ahead, blanks, box, heads, links, memory, notices, state, translating, words
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

HEAD = "&attention={attention}&layer={layer}&head={head}"  # that a way to Attention opens
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
    why = _why_no_more(len(view.tokens), runs.decoder(view.handle))
    if not why and memory.remembered(ENDED, (view.handle, view.given)):
        why = f"Here the model ended {'its turn' if isinstance(view.given, Chat) else 'the text'}."
    return Asked(Goal(), {"appended": None}, why)


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
    has_waves = not missing(POSITIONS.needs, view.offers)
    waves = links.to(view, POSITIONS.title) if has_waves else ""
    ways = links.to(view, "Attention") + HEAD, waves
    part = _part(view.run.key, view.handle, ways, asked.goal, view.run)
    here = (view.handle, view.given)
    refused, after = memory.remembered(REFUSED, here), memory.remembered(AFTER, here)
    going = going_on(part.spec, Going(asked.why_no_more, refused, after))
    part = part.saying({**going, "plays": plays})
    notices.show()
    component.show(part, chosen=chosen, on_change=lambda changes: _take_over(view, asked, changes))
    if asked.goal == Goal():
        _answer_ahead(view, part, chosen, plays=plays, has_waves=has_waves)


def _answer_ahead(
    view: View, part: Part, chosen: Settings, *, plays: bool, has_waves: bool
) -> None:
    """Have a text that is typed drawn before the page runs again."""
    handle, model = view.handle, runs.decoder(view.handle)

    def of_run(run: runs.Run, text: str, now: Settings) -> Part:
        waves = links.on_text(handle.spelled, POSITIONS.title, text) if has_waves else ""
        ways = links.on_text(handle.spelled, "Attention", text) + HEAD, waves
        made = _part(run.key, handle, ways, Goal(), run)
        going = Going(_why_no_more(len(run.trace.main), model))
        made = made.saying({**going_on(made.spec, going), "plays": plays})
        same = {name: now.get(name, value) for name, value in chosen.items()}
        return made.choosing({**same, "cell": None, "appended": None})

    ahead.also(part.name, of_run)
    ahead.answers()


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


def _why_no_more(n_tokens: int, model: AnyDecoder) -> str | None:
    """Why a text of so many tokens has no room to go on, or None."""
    return f"Stopped at {model.limit}." if n_tokens >= model.config.max_seq_len else None


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
