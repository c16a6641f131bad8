"""Home: the model, alive on a person's own sentence, before any explaining."""

from viz import runs
from viz.frame import inspector, layout, links, memory, notices, state, words
from viz.frame.settings import SENTENCE, TEMPERATURE, TOP_P
from viz.frame.view import View
from viz.kit.part import Part
from viz.kit.parts.home import Going, going_on, home_part
from viz.kit.wire import Settings
from viz.live import component
from viz.pages.start.highlights import highlights
from viz.runs.kept import kept

TITLE = "Home"
ICON = ":material/home:"
NEEDS = ()
SHOWS_TOKENS = True  # larger than the bar would
SHOWS_HEADS = True  # all of them: the bar need not choose one
OPENS_INSPECTOR = False
TAKES_CARET = True  # whoever comes here first may type at once

SHOWN = frozenset({"logits", "vocabulary", "text"})
ENDED, REFUSED, AFTER = "home-ended", "home-refused", "home-after"
OWN_PAGES = {"encoder": "Encoder", "encoder_decoder": "Translation", "vision": "Vision"}
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
    layout.heading(
        ICON,
        "A Transformer at work",
        f"{len(view.group.records)} layers of {view.group.n_heads} heads run on your sentence and "
        "write the next token. Point at a word or at one of the small maps.",
        "From left to right: the tokens, the numbers each becomes, a column of small maps for each "
        "layer, one for each attention head, and the probabilities of what comes next. Every value "
        "is of the model named above on the sentence above; the badge says how it was checked.",
    )
    notices.show()
    if not view.offers >= SHOWN or len(view.run.trace.streams) > 1:
        words.notice(f"{view.model} does not write on a text by itself; its own page shows it.")
        words.ways(_elsewhere(view))
        return
    part = _part(view)
    chosen = {setting.name: state.number(setting) for setting in (TEMPERATURE, TOP_P)}
    shown = {**chosen, "appended": None}
    component.show_part("home", part, shown, on_change=lambda changes: _take_over(view, changes))
    words.findings(highlights(view))
    words.ways(WAYS_ON)
    inspector.attention(view.record)
    inspector.source(
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
        "model.decoding.filters.scale_temperature",
        "model.decoding.filters.top_p",
    )
    inspector.export(view, inspector.pattern_table(view), has_charts=False)


def _elsewhere(view: View) -> list[words.Way]:
    """Where a model that writes no text is shown."""
    found = [words.Way("Attention", "Every layer and head of this model.", page="Attention")]
    own = OWN_PAGES.get(view.run.trace.facts.architecture or "")
    return [words.Way(own, "What this kind of model does.", page=own), *found] if own else found


def _part(view: View) -> Part:
    opens = links.to(view, "Attention") + "&layer={layer}&head={head}"
    part = _run_part(view.run.key, view.handle, opens, view.run)
    here = (view.handle, view.sentence)
    refused, after = memory.remembered(REFUSED, here), memory.remembered(AFTER, here)
    return part.saying(going_on(part.spec, Going(_why_no_more(view), refused, after)))


@kept
def _run_part(key: str, handle: runs.ModelHandle, opens: str, _run: runs.Run) -> Part:
    return home_part(_run.trace, runs.vocabulary(handle), opens, key)


def _why_no_more(view: View) -> str | None:
    """Why the text cannot go on, or None."""
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
