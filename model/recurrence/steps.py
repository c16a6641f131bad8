"""How many steps must follow each other, and how far a letter is from where it is needed.

Counted as in table 1 of Vaswani et al. 2017: a step of a recurrence, or a layer.
"""

from typing import NamedTuple

from model.config import EncoderDecoderConfig, RecurrentConfig

AROUND = 2  # tokens of a source beside its letters: the task and the end


class Steps(NamedTuple):
    """Of a row: steps one after the other, and steps between what depends on each other."""

    known: int  # for the logits of a target that is known, as in training
    writing: int  # while the target is written token by token
    from_source: int  # from a letter of the source to what its token is made of, the farthest
    within_target: int  # from the first token of the target to the last


def steps(config: RecurrentConfig | EncoderDecoderConfig, n_letters: int) -> Steps:
    """Of a row of so many letters."""
    n_source, n_target = n_letters + AROUND, n_letters + 1
    if isinstance(config, EncoderDecoderConfig):
        below, above = config.n_encoder_layers, config.n_layers
        return Steps(below + above, below + above * n_target, 1, 1)
    both = n_source + n_target  # both directions of the encoder run side by side
    return Steps(both, both, _recurrent_path(config, n_source), n_target)


def _recurrent_path(config: RecurrentConfig, n_source: int) -> int:
    """Through the encoder's units to the vector that the decoder is given.

    Without attention that is the last state of either direction, whichever is nearer; with it the
    annotation of the letter itself, and one step of attention.
    """
    if config.n_attention:
        return 2
    return max(min(n_source - place, place + 1) for place in range(1, n_source - 1))
