"""Home: the model, alive on a person's own sentence, before any explaining."""

from collections.abc import Callable
from typing import NamedTuple

from viz import runs
from viz.figures.labels import token_labels
from viz.frame import (
    blanks,
    inspector,
    layout,
    links,
    memory,
    notices,
    state,
    translating,
    words,
)
from viz.frame.settings import SENTENCE, TEMPERATURE, TOP_P
from viz.frame.view import View
from viz.kit.part import Part
from viz.kit.parts.home import Goal, Going, going_on, home_part
from viz.kit.wire import Settings
from viz.live import component
from viz.pages.start.highlights import highlights
from viz.runs import blanks as blanked
from viz.runs.kept import kept

TITLE = "Home"
ICON = ":material/home:"
NEEDS = ()
SHOWS_TOKENS = True  # larger than the bar would
SHOWS_HEADS = True  # all of them: the bar need not choose one
OPENS_INSPECTOR = False
TAKES_CARET = True  # whoever comes here first may type at once

FILLS_BLANKS = True  # of an encoder's sentence a word is hidden before a person hides one

SHOWN = frozenset({"logits", "vocabulary", "text"})
ENDED, REFUSED, AFTER = "home-ended", "home-refused", "home-after"
WAYS_ON = (
    words.Way("Take a tour", "Five minutes from a sentence to its next token.", page="Tours"),
    words.Way("Look inside", "Every layer and head on your own sentence.", page="Attention"),
    words.Way(
        "Your own model",
        "Train one on a text of yours; it joins the list above.",
        steps=(
            (
                "Train: a quarter of an hour on two cores; it can be stopped and resumed.",
                "python -m model train assets/recipes/positions-rope.toml --corpus my-text.txt "
                "--out my-models/mine",
            ),
            ("Start with your folder of models.", "HEADLIGHT_CHECKPOINTS=my-models make run"),
        ),
    ),
)


def render(view: View) -> None:
    """Draw the page."""
    ask = ASKS.get(view.run.trace.facts.architecture)
    goal = None if ask is None else ask.goal(view)
    does = "attend to each other" if ask is None or goal is None else ask.does
    trace = view.run.trace
    kind = "layers" if len(trace.groups) == 1 else "attention layers"
    layout.heading(
        ICON,
        "A Transformer at work",
        f"{len(trace.attention)} {kind} of {view.group.n_heads} heads {does}",
        "From left to right: the input, the numbers each part of it becomes, a column of small "
        "maps for each layer, one for each attention head, and the probabilities of the answer. "
        "Every value is of the model named above on the input above; the badge says how it was "
        "checked.",
    )
    notices.show()
    if ask is None or goal is None:
        words.notice(f"{view.model} says nothing by itself; its attention can be looked at.")
        words.ways(WAYS_ON)
        return
    chosen = {setting.name: state.number(setting) for setting in (TEMPERATURE, TOP_P)}
    shown = {**chosen, "appended": None, "blanks": [place for place, _ in goal.hidden]}
    part = _part(view, goal)
    component.show_part("home", part, shown, on_change=lambda changes: _take_over(view, changes))
    if "decoder" in view.offers:
        words.findings(highlights(view))
    words.ways((*ask.ways, *WAYS_ON))
    inspector.attention(view.record)
    inspector.source(
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
        "model.decoding.filters.scale_temperature",
        "model.decoding.filters.top_p",
    )
    inspector.export(view, inspector.pattern_table(view), has_charts=False)


# --- what each kind of model is asked ---------------------------------------------------------


class Ask(NamedTuple):
    """What a model is asked, what it does in words, and where more of that is."""

    goal: Callable[[View], Goal | None]
    does: str
    ways: tuple[words.Way, ...] = ()


def _next(view: View) -> Goal | None:
    return Goal() if view.offers >= SHOWN else None


def _hidden(view: View) -> Goal:
    """What stands in the first of the hidden places; without one, what the last token is."""
    places = state.value(blanks.setting(view.handle, view.sentence, has_default=True))
    stood = token_labels(blanked.tokens_of(view.handle, view.sentence))
    hidden = tuple((place, stood[place]) for place in places)
    return Goal("hidden", places[0] if places else -1, hidden)


def _target(view: View) -> Goal:
    """The translation as it is written on its own page."""
    written = translating.written(view.handle, view.sentence)
    return Goal("target", came=written.ids, specials=translating.specials(view.handle))


def _class(view: View) -> Goal:
    return Goal("class", asked=0)


ASKS = {
    "decoder": Ask(
        _next,
        "run on your sentence and write the next token. Point at a word or at a small map.",
    ),
    "encoder": Ask(
        _hidden,
        "read both sides of a hidden word and say what stood there. Click a word to hide it.",
        (words.Way("Encoder", "Hide several words, and see what each side is worth.", "Encoder"),),
    ),
    "encoder_decoder": Ask(
        _target,
        "translate your sentence: the encoder above, the decoder below.",
        (words.Way("Translation", "Other ways to write it, alignment, beams.", "Translation"),),
    ),
    "vision": Ask(
        _class,
        "look at a picture, patch by patch, and say which digit it is. Point at a patch.",
        (words.Way("Vision", "Draw a digit of your own.", "Vision"),),
    ),
}


def _part(view: View, goal: Goal) -> Part:
    opens = links.to(view, "Attention") + "&attention={attention}&layer={layer}&head={head}"
    part = _run_part(view.run.key, view.handle, opens, goal, view.run)
    here = (view.handle, view.sentence)
    refused, after = memory.remembered(REFUSED, here), memory.remembered(AFTER, here)
    return part.saying(going_on(part.spec, Going(_why_no_more(view), refused, after)))


@kept
def _run_part(key: str, handle: runs.ModelHandle, opens: str, goal: Goal, _run: runs.Run) -> Part:
    is_text = _run.trace.main.kind == "text"
    classes = range(_run.trace.logits.shape[-1])
    names = token_labels(runs.vocabulary(handle)) if is_text else list(map(str, classes))
    return home_part(_run.trace, names, goal, opens, key)


def _why_no_more(view: View) -> str | None:
    """Why the text cannot go on, or None."""
    if "decoder" not in view.offers:
        return "The translation ends here."
    context = view.run.trace.facts.max_seq_len
    if context is not None and len(view.tokens) >= context:
        return f"The model's context of {context} tokens is full."
    if memory.remembered(ENDED, (view.handle, view.sentence)):
        return "Here the model ended the text."
    return None


def _take_over(view: View, changes: Settings) -> None:
    """Keep how a token is drawn; where one was drawn, the text goes on with it."""
    appended = changes.pop("appended", None)
    state.take_over(changes)
    if appended is None or appended[0] != len(view.tokens) or _why_no_more(view):
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
