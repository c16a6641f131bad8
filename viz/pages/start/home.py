"""Home: the sentence, what its words attend to, and what comes next, before any explaining."""

from viz import runs
from viz.frame import inspector, layout, memory, notices, state, words
from viz.frame.settings import SEED, SENTENCE, TEMPERATURE
from viz.frame.view import View
from viz.kit.wire import Settings
from viz.live import component
from viz.live.home.data import Following, ShownHead, home_data

TITLE = "Home"
ICON = ":material/home:"
NEEDS = ()
SHOWS_TOKENS = True  # larger than the bar would
OPENS_INSPECTOR = False
TAKES_CARET = True  # whoever comes here first may type at once

SHOWN = frozenset({"logits", "vocabulary", "text"})
ENDED = "home-ended"
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
        TITLE,
        f"A Transformer of {len(view.group.records)} layers × {view.group.n_heads} heads runs on "
        "your sentence. Touch a word: what does it attend to?",
        "All numbers are of the model named above, on the sentence above; the badge says how this "
        "run was checked. Change the sentence, the layer or the head: everything follows.",
    )
    notices.show()
    if not view.offers >= SHOWN:
        words.notice(f"{view.model} gives attention only: the page Attention shows it.")
        return
    temperature = state.number(TEMPERATURE)
    data = home_data(
        _key(view),
        view.run.trace,
        ShownHead(view.record, view.head, view.head_name),
        Following(runs.vocabulary(view.handle), _why_no_more(view)),
        {"temperature": temperature, "n_tokens": len(view.tokens)},
    )
    component.show(data, on_change=lambda changes: _take_over(view, changes))
    words.ways(WAYS_ON)
    _inspect(view)


def _inspect(view: View) -> None:
    inspector.attention(view.record)
    inspector.source(
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
        "model.decoding.filters.scale_temperature",
    )
    inspector.export(view, inspector.pattern_table(view), has_charts=False)


def _key(view: View) -> str:
    """Another one when anything but the settings is."""
    return f"{view.run.key}-{view.layer}-{view.head}"


def _why_no_more(view: View) -> str | None:
    """Why the text cannot go on, or None."""
    context = view.run.trace.facts.max_seq_len
    if context is not None and len(view.tokens) >= context:
        return f"The model's context of {context} tokens is full."
    if memory.remembered(ENDED, (view.handle, view.sentence)):
        return "Here the model ended the text."
    return None


def _take_over(view: View, changes: Settings) -> None:
    """Keep the temperature; where one more token was asked for, write it."""
    state.take_over({name: raw for name, raw in changes.items() if name == TEMPERATURE.name})
    if changes.get("n_tokens") != len(view.tokens) + 1 or _why_no_more(view):
        return
    logits = view.run.trace.logits[-1]
    temperature, seed = state.number(TEMPERATURE), int(state.number(SEED))
    text = runs.written_on(view.handle, view.sentence, view.ids, logits, temperature, seed)
    if text is None:
        memory.remember(ENDED, (view.handle, view.sentence), True)
    else:
        state.put((SENTENCE, text))
