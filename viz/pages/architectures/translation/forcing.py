"""Teacher forcing beside free running: the loss of a German text, and the model's own way."""

import numpy as np

from model.analysis.probabilities import next_token_losses
from model.decoding.translation import Way
from viz import runs
from viz.digits import digits
from viz.figures.translation import loss_bars
from viz.formulas.parts import loss_with_numbers
from viz.frame import controls, inspector, layout, settings, words
from viz.frame.examples import pair_of
from viz.frame.said import Word
from viz.frame.view import View
from viz.labels import clipped, token_labels, told_apart, words_of
from viz.runs import Run, translating

LABEL = 24


def section(view: View) -> tuple[int, ...]:
    """Draw it for the German that is typed; gives back the ids fed in."""
    row = layout.section(
        "Teacher forcing and free running",
        "Feed a German text in: what did the model expect at each token?",
        "With teacher forcing, as in training, each next token is predicted from the right tokens "
        "before it (Williams & Zipser 1989); running free, from its own. Coloured bars: the model "
        "would have gone its own way, to the token above the bar.",
    )
    with row:
        pair = pair_of(view.sentence)
        setting = settings.TARGET.given(default=pair.target if pair else "")
        text = controls.text(setting, placeholder="Type a German sentence")
    fed = tuple(runs.tokenizer(view.handle).encode(text)) if text.strip() else ()
    if not fed:
        words.notice("Type the German of the sentence above to feed it in.")
        return ()
    run = runs.run_translation(view.handle, view.sentence, fed)
    n_fed = len(run.trace.main) - 1
    if n_fed < len(fed):
        words.notice(
            f"The German has {len(fed)} tokens; the model’s context has room for {n_fed} after the "
            "start: the others are cut."
        )
    losses = next_token_losses(run.trace.logits, run.trace.ids)
    _draw(view, run, losses)
    return fed


def _draw(view: View, run: Run, losses: np.ndarray) -> None:
    vocabulary = runs.vocabulary(view.handle)
    most_likely = run.trace.logits[:-1].argmax(axis=-1)
    agrees = most_likely == run.trace.ids[1:]
    own = [
        None if i == came else told_apart(vocabulary, (came, i))[i]
        for i, came in zip(most_likely.tolist(), run.trace.ids[1:].tolist(), strict=True)
    ]
    tokens = run.trace.tokens[1:]
    chart = loss_bars(tokens, losses, own, run.trace.ids[1:], "Loss of each token fed in")
    layout.show_chart(chart, key="forced")
    greedy = translating.written(view.handle, view.sentence, Way())
    free = runs.run_translation(view.handle, view.sentence, greedy.ids)
    words.facts(
        [
            (f"{_per_word(run)} nats", "loss per word, fed in"),
            (f"{_per_word(free)} nats", "loss per word, running free"),
            (f"{int(agrees.sum())} of {len(tokens)}", "tokens the model would have written"),
        ]
    )
    words.token_row("fed in", tokens)
    words.token_row("running free, greedy", free.trace.tokens[1:])
    if not agrees.all():
        first = int(np.argmin(agrees))
        label = clipped(token_labels(tokens)[first], LABEL)
        words.token_line(
            [
                f"It would first have gone its own way at token {first + 1:,}, “",
                Word(label),
                "”, to",
            ],
            Word(str(own[first])),
        )
    name = "model.analysis.probabilities.next_token_losses"
    inspector.formula(name)
    inspector.formula(name, loss_with_numbers(float(losses.sum()), len(losses)))
    inspector.source(name)
    inspector.checked("The German fed in", run.checking.result)


def _per_word(run: Run) -> str:
    """Nats per word of the text fed in; a dash where there is none."""
    trace = run.trace
    if len(trace.main) < 2:
        return "–"
    losses, n_words = next_token_losses(trace.logits, trace.ids), len(words_of(trace.tokens[1:])[1])
    return digits(float(losses.sum()) / n_words, 3)
