"""The model alive: what every kind of model is asked, and the part that shows it at work."""

from collections.abc import Callable
from typing import NamedTuple

from model.trace import CLASS_TOKEN
from viz import runs
from viz.figures.labels import token_labels
from viz.frame import blanks, links, memory, state, translating, words
from viz.frame.settings import AT, CELL, FORCED, SENTENCE, TEMPERATURE, TOP_P
from viz.frame.view import View
from viz.kit.part import Part
from viz.kit.parts.home import Goal, Going, going_on, home_part
from viz.kit.wire import Settings
from viz.live import component
from viz.runs import attributing
from viz.runs import blanks as blanked
from viz.runs.kept import kept

ENDED, REFUSED, AFTER = "alive-ended", "alive-refused", "alive-after"
TO_GO_ON = frozenset({"logits", "vocabulary", "text"})


class Asked(NamedTuple):
    """What a model is asked in this view, what a person chose of it, and why it writes no more."""

    goal: Goal
    chosen: Settings
    why_no_more: str | None = None


class Kind(NamedTuple):
    """What a kind of model is asked, what it does in words, and where more of that is."""

    ask: Callable[[View], Asked | None]
    does: str
    ways: tuple[words.Way, ...] = ()


def _next(view: View) -> Asked | None:
    if not view.offers >= TO_GO_ON:
        return None
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


def _class(view: View) -> Asked | None:
    return Asked(Goal("class", asked=0), {}) if view.tokens[0] == CLASS_TOKEN else None


KINDS = {
    "decoder": Kind(
        _next,
        "run on your sentence and write the next token. Point at a word or at a small map.",
    ),
    "encoder": Kind(
        _hidden,
        "read both sides of a hidden word and say what stood there. Click a word to hide it.",
        (words.Way("Encoder", "What each side is worth, token by token.", "Encoder"),),
    ),
    "encoder_decoder": Kind(
        _target,
        "translate your sentence.",
        (words.Way("Translation", "Other ways to write it, alignment, beams.", "Translation"),),
    ),
    "vision": Kind(
        _class,
        "look at a picture, patch by patch, and say what it shows. Point at a patch.",
        (words.Way("Vision", "Draw a digit of your own.", "Vision"),),
    ),
}


def kind_of(view: View) -> Kind | None:
    """The kind of a view's model; None where it is not known, or the model answers nothing.

    How a translation is written is known of our own models alone.
    """
    trace = view.run.trace
    if trace.output is None or (len(trace.streams) > 1 and "weights" not in view.offers):
        return None
    return KINDS.get(trace.facts.architecture)


def show(view: View, *, plays: bool = False) -> bool:
    """Show the model at work, which plays once or is there at once.

    Says whether it has anything to say.
    """
    kind = kind_of(view)
    asked = kind.ask(view) if kind else None
    if asked is None:
        return False
    chosen = {setting.name: state.number(setting) for setting in (TEMPERATURE, TOP_P)}
    chosen |= {**_large(view), **asked.chosen}
    part = _part(view, asked, plays=plays)
    component.show_part(
        "home", part, chosen, on_change=lambda changes: _take_over(view, asked, changes)
    )
    return True


def _large(view: View) -> Settings:
    """The head that is large, if one is, and the cell of it that is meant."""
    heads = {
        f"{record.site.group}.{record.site.layer}.{head}": record.pattern[head]
        for record in view.run.trace.attention
        for head in range(record.n_heads)
    }
    state.only_for(view.model, AT)
    at, cell = state.value(AT.given(options=["", *heads])), None
    if at:
        setting = CELL.given(limits=heads[at].shape)
        state.settle_quietly(setting)
        cell = state.value(setting)
    else:
        state.leave_out(CELL)
    return {AT.name: at, CELL.name: cell}


def _part(view: View, asked: Asked, *, plays: bool) -> Part:
    opens = links.to(view, "Attention") + "&attention={attention}&layer={layer}&head={head}"
    part = _run_part(view.run.key, view.handle, opens, asked.goal, view.run)
    here = (view.handle, view.sentence)
    refused, after = memory.remembered(REFUSED, here), memory.remembered(AFTER, here)
    going = Going(asked.why_no_more, refused, after)
    return part.saying({**going_on(part.spec, going), "plays": plays})


@kept
def _run_part(key: str, handle: runs.ModelHandle, opens: str, goal: Goal, _run: runs.Run) -> Part:
    is_text = _run.trace.main.kind == "text"
    classes = attributing.names_of_answers(handle, _run.trace.logits.shape[-1])
    names = token_labels(runs.vocabulary(handle)) if is_text else classes
    return home_part(_run.trace, names, goal, opens, key)


def _why_no_more(view: View) -> str | None:
    """Why the text cannot go on, or None."""
    context = view.run.trace.facts.max_seq_len
    if context is not None and len(view.tokens) >= context:
        return f"The model's context of {context} tokens is full."
    if memory.remembered(ENDED, (view.handle, view.sentence)):
        return "Here the model ended the text."
    return None


def _take_over(view: View, asked: Asked, changes: Settings) -> None:
    """Keep what was chosen; where a token was drawn, the text goes on with it."""
    appended = changes.pop("appended", None)
    forced = changes.pop("forced", None)
    if forced is not None:
        state.put((FORCED, forced), chosen_for=(view.handle.spelled, view.sentence))
    state.take_over(changes)
    if appended is None or appended[0] != len(view.tokens) or asked.why_no_more:
        return
    token_id = appended[1]
    here = (view.handle, view.sentence)
    if token_id == runs.tokenizer(view.handle).end_id:
        memory.remember(ENDED, here, True)
    elif text := runs.with_token(view.handle, view.sentence, view.ids, token_id):
        memory.remember(AFTER, (view.handle, text), tuple(appended))
        state.put((SENTENCE, text))
    else:
        memory.remember(REFUSED, here, tuple(appended))
