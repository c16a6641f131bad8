"""Beam search: the tree of texts it looked at, its winner, and what greedy decoding finds."""

from collections.abc import Sequence

from model.decoding.beam import BeamStep, Candidate
from model.verify.check import Check
from viz import runs
from viz.digits import digits
from viz.figures.beam import beam_tree
from viz.frame import controls, inspector, layout, settings, state, words
from viz.frame.beams import explain, nodes_of, winner_of
from viz.frame.page import Page
from viz.frame.view import View

NEW_TOKENS = settings.NEW_TOKENS.given(default=8, high=24)


def render(view: View) -> None:
    """Draw the page."""
    with layout.row("beam"):
        width = controls.number(settings.BEAM_WIDTH)
        controls.number(NEW_TOKENS)
        penalty = controls.slider(settings.LENGTH_PENALTY)
    steps, greedy = _searches(view)
    winner, greedy_winner = winner_of(steps), winner_of(greedy)
    nodes = nodes_of(steps, runs.vocabulary(view.handle))
    says = f"{len(nodes)} candidates; the winner’s score is {digits(winner.score, 3)}."
    with layout.unsqueezed("beam", to_end=True):
        layout.show_chart(beam_tree(nodes, view.tokens[-1], says), key="beam")
    if width > 1:
        words.notice(verdict(winner, greedy_winner))
    _texts(view, winner, greedy_winner)
    inspector.export(view, explain(winner, nodes, penalty))


def _texts(view: View, winner: Candidate, greedy: Candidate) -> None:
    """The winner of the beams and of greedy decoding, with what they got."""
    texts = {"Beam search": winner, "Greedy": greedy}
    if winner.ids == greedy.ids:  # two runs of one text differ by rounding alone
        texts = {"Beam search and greedy": winner}
    is_text = isinstance(view.given, str)  # else its special tokens stand in the prompt
    written = runs.decode if is_text else runs.spelled
    prompt = written(view.handle, view.ids).removeprefix(" ")
    for name, text in texts.items():
        total, score = digits(text.total), digits(text.score)
        words.caption(f"{name}: log probability {total}, score {score}")
        words.continued(prompt, runs.decode(view.handle, list(text.ids)))
    words.caption(
        "Score: log probability / ((5 + n)/6)^α for n new tokens, as in GNMT (Wu et al. 2016); "
        "transformers divides by n^α."
    )


def checks(view: View) -> Sequence[Check]:
    """The log probabilities of the two texts, against an independent run of each."""
    steps, greedy = _searches(view)
    return [
        runs.check_beam(view.handle, view.ids, name, winner_of(found))
        for name, found in {"winner of the beams": steps, "greedy text": greedy}.items()
    ]


def _searches(view: View) -> tuple[Sequence[BeamStep], Sequence[BeamStep]]:
    """The steps of the beams, and those of greedy decoding."""
    width, n_tokens = int(state.number(settings.BEAM_WIDTH)), int(state.number(NEW_TOKENS))
    penalty = float(state.number(settings.LENGTH_PENALTY))
    beams, greedy = (runs.beams(view.handle, view.ids, k, n_tokens, penalty) for k in (width, 1))
    return beams, greedy


def verdict(winner: Candidate, greedy: Candidate) -> str:
    """Which of the two texts is the better one; one text has two scores only by rounding."""
    if winner.ids == greedy.ids:
        return "Both found the same text: taking the most likely token each time leads there too."
    if winner.score < greedy.score:
        return (
            "Greedy found the better text here: its path was removed on the way. Beam search looks "
            "at more, but does not always find the best."
        )
    if winner.score == greedy.score:
        return "Beam search found another text with the same score."
    return "Beam search found the better text: not each of its tokens was the most likely one."


PAGE = Page(
    "Beam search",
    ":material/account_tree:",
    "Several continuations grow side by side; the one with the best score wins.",
    "At each step every beam is continued by every token; the top k are kept (filled), k "
    "being the beam width, the runners-up are removed (open). The winner has the best score: "
    "the log probability of its n new tokens, divided as Wu et al. 2016 do. Width 1 is greedy.",
    render,
    needs=("decoder", "text", "vocabulary", "logits"),
    checks=checks,
)
