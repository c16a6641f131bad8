"""Encoder: hide words, see what is predicted in their places, and what both sides are worth."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.blanks import perplexity
from model.analysis.probabilities import distribution, next_token_losses, rank
from model.decoding.filters import Sampling
from viz import runs
from viz.digits import digits
from viz.figures.blanks import paired_bars
from viz.formulas import parts as formulas
from viz.frame import blanks as hidden
from viz.frame import controls, inspector, layout, links, settings, tables, words
from viz.frame.page import Page
from viz.frame.said import Word
from viz.frame.view import View
from viz.labels import token_labels, told_apart
from viz.pages import alive
from viz.runs import Run, blanks

WHOLE, BESIDE, OPEN, GAIN = "whole-sentence", "beside", "without-mask", "gain"
NO_MASK, MASKED = "no mask", "causal mask"


def render(view: View) -> None:
    """Draw the page."""
    alive.show(view)
    whole = runs.run(view.handle, view.sentence)
    places, _ = hidden.chosen(view.handle, view.sentence)
    in_turn = blanks.in_turn(view.handle, view.sentence)
    found = _found(view, view.run, whole, places)
    _say(view, whole, found, hidden.hardest(whole.trace.tokens, in_turn))
    inspector.attention(view.record)
    inspector.source(
        "model.attention.scaled_dot_product",
        "model.architectures.encoder.EncoderTransformer",
        "model.training.objectives.masked.hide",
    )
    left, right = layout.two_up("contexts")
    with left:
        _both_sides(view, whole, in_turn.losses)
    with right:
        _under_the_mask(view, whole, in_turn.losses, places)
    _ways_on(view, places)
    rows = [one._asdict() for one in found]
    inspector.export(view, {**inspector.pattern_table(view), "Blanks": lambda: tables.csv(rows)})


# --- what was hidden --------------------------------------------------------------------------


class Found(NamedTuple):
    """What is predicted in one hidden place: of what stood there, and the most likely token."""

    place: int
    label: str
    prob: float
    rank: int
    nats: float
    best: str
    best_prob: float


def _found(view: View, run: Run, whole: Run, places: Sequence[int]) -> list[Found]:
    """What a run says of hidden places, whose tokens the run on the whole sentence has."""
    labels, vocabulary = token_labels(whole.trace.tokens), runs.vocabulary(view.handle)
    found = []
    for place in places:
        logits, token = run.trace.logits[place], int(whole.trace.ids[place])
        probs, best = distribution(logits, Sampling()).before, int(logits.argmax())
        prob = float(probs[token])
        nats = -float(np.log(prob)) if prob else math.inf
        name = told_apart(vocabulary, (token, best))[best]
        label, best_prob = labels[place], float(probs[best])
        found.append(Found(place, label, prob, rank(logits, token), nats, name, best_prob))
    return found


def _say(view: View, whole: Run, found: Sequence[Found], hardest: int) -> None:
    """How many of the hidden tokens were found, and a word that is harder."""
    if not found:
        words.caption("Nothing is hidden: click a word, and the model predicts it.")
    elif len(found) == len(whole.trace.ids):
        words.caption("Every token is hidden: its length and positions are all that is left.")
    elif len(found) > 1:
        n = sum(not one.rank for one in found)
        words.caption(f"Found: {n} of {len(found)} hidden tokens.")
    if view.sentence and hardest >= 0 and [one.place for one in found] != [hardest]:
        label = token_labels(whole.trace.tokens)[hardest]
        link = links.to(view, PAGE.title, blanks=hardest)
        title = ["A harder word: “", Word(label), "”"]
        words.findings([(title, "The one it is worst at here.", link)])


# --- what words on the right are worth --------------------------------------------------------


def _beside(view: View, whole: Run) -> Run | None:
    """A decoder that has the same tokens, run on the same sentence; None where there is none."""
    is_there = runs.FIRST_MODEL in runs.model_names()
    if not is_there or runs.lacking(runs.FIRST_MODEL, ("decoder",)):
        return None
    run = runs.run(runs.handle_of(runs.FIRST_MODEL, view.handle.device), view.sentence)
    n = min(len(run.trace.tokens), len(whole.trace.tokens), blanks.MOST_IN_TURN)
    is_same = run.trace.tokens[:n] == whole.trace.tokens[:n] and n > 1
    return run if is_same else None


def _both_sides(view: View, whole: Run, losses: np.ndarray) -> None:
    """Each token hidden among all others, beside a model that has those before it alone."""
    layout.section(
        "What is the context on the right worth?",
        "Each token predicted with all others given, and by a decoder from those before it.",
        "−ln p in nats: 0 where the model was certain. For the encoder each token is hidden by "
        "itself, one pass per token. Compare the two as surprise, not as likelihood.",
    )
    name, run, n = runs.FIRST_MODEL, _beside(view, whole), len(losses)
    if n < len(whole.trace.ids):
        words.caption(
            f"The sentence has {len(whole.trace.ids)} tokens: the first {n} are hidden in turn."
        )
    if run is None:
        words.notice(f"No {name} with the same tokens is here to compare this sentence with.")
        return
    before = next_token_losses(run.trace.logits[:n], run.trace.ids[:n])
    pair = {view.model: losses, name: before}
    chart = paired_bars(whole.trace.tokens[:n], pair, "Loss of each token")
    layout.show_chart(chart, key="both-sides")
    own, other = float(losses[1:].sum()), float(before.sum())
    words.facts(
        [
            (f"{digits(own, 2)} nats", f"{view.model}, all tokens but the first"),
            (f"{digits(other, 2)} nats", f"{name}, the same tokens"),
            (f"{digits(other - own, 2)} nats", f"{name} minus {view.model}"),
        ]
    )
    pseudo, plain = digits(perplexity(losses), 2), digits(perplexity(before), 2)
    words.facts(
        [
            (pseudo, f"pseudo-perplexity of {view.model}, {n} tokens"),
            (plain, f"perplexity of {name}, {len(before)} tokens"),
        ]
    )
    words.caption(
        "Two models, trained differently: the difference is not only the right context, and can be "
        "negative for that reason alone. Nor is it one kind of probability: only the decoder’s "
        "terms multiply to that of a sentence, after its first token, which nothing predicts."
    )
    in_turn = "model.analysis.blanks.predicted_in_turn"
    inspector.formula(in_turn)
    inspector.formula(in_turn, formulas.pseudo_perplexity_with_numbers(float(losses.sum()), n))
    inspector.source(in_turn, "model.analysis.blanks.perplexity")
    inspector.checked(name, run.checking.result)


# --- what the causal mask costs ---------------------------------------------------------------


def _under_the_mask(view: View, whole: Run, losses: np.ndarray, places: Sequence[int]) -> None:
    """The same encoder with each token attending to itself and those before it alone."""
    layout.section(
        "What does a causal mask cost?",
        "The same encoder and tokens, but none may attend to what follows it.",
        "Each token is hidden by itself and predicted from those before it. Attention was learned "
        "for rows that are whole, so more is lost than the words on the right. A decoder is "
        "trained with the mask from the start.",
    )
    is_causal = controls.flag(settings.CAUSAL)
    n = len(losses)
    masked = blanks.in_turn(view.handle, view.sentence, is_causal=True).losses
    pair = {NO_MASK: losses, MASKED: masked}
    title = "Loss of each token, without a mask and with one"
    chart = paired_bars(whole.trace.tokens[:n], pair, title)
    layout.show_chart(chart, key="under-the-mask")
    words.facts(
        [
            (digits(perplexity(found), 2), f"pseudo-perplexity, {name}")
            for name, found in ((NO_MASK, losses), (MASKED, masked))
        ]
    )
    if is_causal and places:
        free = blanks.run_blanked(view.handle, view.sentence, tuple(places))
        facts = []
        for name, run in ((NO_MASK, free), (MASKED, view.run)):
            mean = float(np.mean([one.nats for one in _found(view, run, whole, places)]))
            facts.append((f"{digits(mean, 3)} nats", f"mean of the hidden tokens, {name}"))
        words.facts(facts)
    words.caption("The model was not trained with this mask: a part of the cost is that it is new.")


# --- on from here -----------------------------------------------------------------------------


def _ways_on(view: View, places: tuple[int, ...]) -> None:
    words.ways(
        [
            words.Way(
                "Every head on Attention",
                "The same tokens hidden, in all views: stages, lines, what if, compare.",
                query=links.to(view, "Attention", blanks=settings.BLANKS.text(places)),
            ),
            words.Way(
                "The blocks of this encoder",
                "Its diagram, with shapes and weights.",
                query=links.to(view, "Diagram"),
            ),
        ]
    )


PAGE = Page(
    "Masked language model",
    ":material/space_bar:",
    "Click a word to mask it: which was it? An encoder looks at both sides.",
    "BERT is an encoder alone (Devlin et al. 2019): every token attends to every other, and it "
    "is trained to predict tokens hidden behind [MASK]. In a hidden word’s place stands the "
    "most likely token, in green where it is the original.",
    render,
    needs=("blanks",),
    shows_heads=True,
    shows_tokens=True,  # larger than the bar would
    opens_inspector=False,
)
