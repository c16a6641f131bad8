"""Randomness that depends on a seed and a step alone, so that a resumed run goes on as it would."""

import numpy as np
import torch


def drawn_number(*words: int) -> int:
    """A number that looks random and differs for different words, such as a seed and a step."""
    return int(np.random.SeedSequence(words).generate_state(1)[0])


def generator_of(seed: int, step: int) -> torch.Generator:
    """What the batch of a step is drawn from; dropout in that step draws from another one."""
    return torch.Generator().manual_seed(drawn_number(seed, step, 1))
