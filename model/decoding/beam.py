"""Beam search: the most likely continuations, kept side by side at each step."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.decoding.predict import Decoder, cache_for, check_prompt, predict
from model.decoding.sampling import why_stopped

LARGEST_WIDTH = 1000  # each beam has a row of the vocabulary and keys and values of its own
LARGEST_PENALTY = 10  # far above the 0.6 to 0.7 in use (Wu et al. 2016, §7)


@dataclass(frozen=True)
class Candidate:
    """A continuation that beam search considered: one more token after a beam.

    `parent` is its place among the candidates of the step before, None in the first step. Logs
    are natural; `score` is `total` normalised for length. A finished one ends the text: it keeps
    its place in the beam and is not continued.
    """

    parent: int | None
    ids: tuple[int, ...]  # the generated tokens up to this one
    log_prob: float  # of this token
    total: float  # of all of `ids`
    score: float
    kept: bool
    finished: bool

    @property
    def token_id(self) -> int:
        """The token it adds."""
        return self.ids[-1]


@dataclass(frozen=True)
class BeamStep:
    """All continuations considered at one step, most likely first; the last step has a winner."""

    candidates: tuple[Candidate, ...]
    stopped: str | None = None
    winner: Candidate | None = None


def normalised_score(total: float, n_tokens: int, length_penalty: float) -> float:
    """total / ((5 + n)/6)^α (Wu et al. 2016, eq. 14): a larger α favours longer texts, 0 does not.

    total: log probability of n generated tokens, the end of text counted.
    """
    return total / ((5 + n_tokens) / 6) ** length_penalty


@torch.inference_mode()
def beam_search(
    model: Decoder,
    ids: Sequence[int],
    *,
    beam_width: int,
    max_new_tokens: int,
    length_penalty: float = 0.0,
    end_ids: Collection[int] = (),
) -> Iterator[BeamStep]:
    """Look for the most likely continuation of `ids`, keeping the `beam_width` best at each step.

    (Wu et al. 2016, §7.) A finished beam keeps its place, so the others have one fewer. Each step
    considers up to twice as many continuations as there are places left. Stops when every beam
    has finished or none can still become better than the best finished one, after
    `max_new_tokens`, and when the context is full; the winner has the best score.
    Raises ValueError as `generate` does, and for a width outside 1 to `LARGEST_WIDTH`.
    """
    context = model.config.max_seq_len
    check_prompt(ids, context, max_new_tokens)
    _check_beam(beam_width, length_penalty)
    n_steps = min(max_new_tokens, context - len(ids))
    cache = cache_for(model, len(ids) + n_steps)
    root = Candidate(None, (), 0.0, 0.0, 0.0, kept=True, finished=False)
    finished: list[Candidate] = []
    beams: dict[int | None, Candidate] = {None: root}  # by their place among the candidates
    for n_new in range(1, n_steps + 1):
        texts = [[*ids, *beam.ids] for beam in beams.values()]
        logits, _ = predict(model, cache, texts)
        n_places = beam_width - len(finished)
        candidates = _continuations(beams, logits, n_places, length_penalty, end_ids)
        kept = {place: item for place, item in enumerate(candidates) if item.kept}
        finished += [item for item in kept.values() if item.finished]
        rows = list(beams)
        beams = {place: item for place, item in kept.items() if not item.finished}
        best = max([*finished, *beams.values()], key=lambda item: item.score)
        # A total only falls, so a beam can at most keep its own up to the longest text.
        hopes = (normalised_score(beam.total, n_steps, length_penalty) for beam in beams.values())
        stopped = why_stopped(
            ended=best.finished and best.score >= max(hopes, default=-math.inf),
            enough=n_new == max_new_tokens,
            full=n_new == n_steps,
        )
        yield BeamStep(candidates, stopped, best if stopped else None)
        if stopped:
            return
        cache.reorder([rows.index(beam.parent) for beam in beams.values()])


def _continuations(
    beams: dict[int | None, Candidate],
    logits: Tensor,
    n_places: int,
    length_penalty: float,
    end_ids: Collection[int],
) -> tuple[Candidate, ...]:
    """The most likely next tokens after all beams, of which the first `n_places` are kept.

    logits: (B, V), a row for each beam.
    """
    log_probs = logits.double().log_softmax(dim=-1)  # (B, V)
    totals = log_probs + log_probs.new_tensor([[beam.total] for beam in beams.values()])
    n_shown = min(2 * n_places, totals.numel())
    parents, candidates = list(beams), []
    for index in totals.flatten().topk(n_shown).indices.tolist():
        row, token_id = divmod(index, logits.shape[1])
        new_ids = (*beams[parents[row]].ids, token_id)
        total = totals[row, token_id].item()
        candidates.append(
            Candidate(
                parent=parents[row],
                ids=new_ids,
                log_prob=log_probs[row, token_id].item(),
                total=total,
                score=normalised_score(total, len(new_ids), length_penalty),
                kept=len(candidates) < n_places,
                finished=token_id in end_ids,
            )
        )
    return tuple(candidates)


def _check_beam(beam_width: int, length_penalty: float) -> None:
    if not 1 <= beam_width <= LARGEST_WIDTH:
        raise ValueError(
            f"beam width is {beam_width:,}; it must be between 1 and {LARGEST_WIDTH:,}"
        )
    if not 0 <= length_penalty <= LARGEST_PENALTY:
        raise ValueError(
            f"length penalty is {length_penalty:g}; it must be at least 0 and at most "
            f"{LARGEST_PENALTY}"
        )
