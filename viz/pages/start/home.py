"""Home: the model, alive on a person's own sentence, before any explaining."""

from model.trace import Trace
from viz.frame import inspector, tours, words
from viz.frame.page import Page
from viz.frame.view import View
from viz.pages import alive
from viz.pages.start.highlights import highlights

WAYS_ON = (
    words.Way("Look inside", "Every layer and head on your own sentence.", page="Attention"),
    words.Way(
        "Your own model",
        "Open one that transformers saved, or train one on a text of yours.",
        steps=(
            (
                "Open: “Open a folder or file…” in the list of models takes what transformers "
                "saved, of GPT-2, Llama, BERT and many more families, and files in GGUF. It needs "
                "that package, for GGUF also gguf and accelerate.",
                "pip install transformers==5.23.0",
            ),
            (
                "Train: a quarter of an hour on two cores; it can be stopped and resumed.",
                "python -m model train assets/recipes/positions-rope.toml --corpus my-text.txt "
                "--out my-models/mine",
            ),
            ("Start with your folder of models.", "HEADLIGHT_CHECKPOINTS=my-models make run"),
        ),
    ),
)


def _first_lesson() -> tuple[words.Way, ...]:
    """The way into the lessons, where there are any."""
    found = tours.of_learn()
    text = f"{len(found)} short lessons, from tokens to architectures; each begins with a question."
    return tuple(words.Way("Learn", text, query=tours.link_to(first, 1)) for first in found[:1])


def render(view: View) -> None:
    """Draw the page."""
    alive.show(view, plays=True)
    if "decoder" in view.offers:
        words.findings(highlights(view))
    words.ways((*alive.kind_of(view).ways, *_first_lesson(), *WAYS_ON))
    inspector.attention(view.record)
    inspector.source(
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
        "model.decoding.filters.scale_temperature",
        "model.decoding.filters.top_p",
    )
    inspector.export(view, inspector.pattern_table(view), has_charts=False)


def _said(view: View) -> tuple[str, str]:
    trace, does = view.run.trace, alive.kind_of(view).does
    return f"{_layers(trace)} of {view.group.n_heads} heads {does}", PAGE.more


def _layers(trace: Trace) -> str:
    """How many layers of attention there are; of several kinds, how many of each in which stack."""
    n = len(trace.attention)
    if len(trace.groups) == 1:
        return f"{n} layers"
    stacks: dict[str, list[str]] = {}
    for group in trace.groups:
        stacks.setdefault(group.stack, []).append(str(len(group.records)))
    parts = [f"{' + '.join(counts)} in the {stack}" for stack, counts in stacks.items()]
    return f"{n} attention layers ({', '.join(parts)})"


PAGE = Page(
    "Home",
    ":material/home:",
    "The model, alive on your sentence: point at a word or at a small map.",
    "From left to right: the input, the numbers each part of it becomes, for each layer a "
    "column of small maps, one for each attention head, and a strip of what its MLP adds; then "
    "the answer: its probabilities, or the last vectors. The lines are the residual stream. "
    "Every value is of the model named above on the input above; the badge says how it was "
    "checked.",
    render,
    headline="A Transformer at work",
    said=_said,
    shows_heads=True,  # all of them: the bar need not choose one
    shows_tokens=True,  # larger than the bar would
    opens_inspector=False,
    takes_caret=True,  # whoever comes here first may type at once
)
