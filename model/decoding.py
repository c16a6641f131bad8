"""From logits to text: pure filters over logits, and generation as a stream of steps."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.transformer import DecoderTransformer


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the next token is drawn; `top_k` None keeps the whole vocabulary.

    `top_k=1` is greedy decoding. Raises ValueError with the valid range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 1e-3 <= self.temperature < math.inf:
            raise ValueError(
                f"temperature is {self.temperature:g}; it must be above 0, at least 0.001 and "
                "finite (for greedy decoding use top-k 1)"
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top-k is {self.top_k}; it must be at least 1")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top-p is {self.top_p:g}; it must be above 0 and at most 1")


@dataclass(frozen=True, eq=False)
class Step:
    """One generated token: what the model said, what the filters left, what was drawn."""

    token_id: int
    logits: Tensor  # (V,) from the model
    kept: Tensor  # (V,) bool, True = survived the filters
    probs: Tensor  # (V,) what was sampled from; zero where removed


def scale_temperature(logits: Tensor, temperature: float) -> Tensor:
    """logits / T: below 1 sharpens the distribution, above 1 flattens it (Ackley et al. 1985).

    logits: (V,). Returns (V,).
    """
    return logits / temperature


def top_k(logits: Tensor, k: int) -> Tensor:
    """Keep the k largest logits, −inf elsewhere; exactly k survive, ties go to the lower id.

    (Fan et al. 2018, §5.4.) logits: (V,). Returns (V,).
    """
    order = logits.argsort(descending=True, stable=True)  # (V,)
    return logits.index_fill(0, order[k:], -math.inf)


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the fewest most likely tokens whose mass reaches p, −inf elsewhere; at least one.

    (Nucleus sampling, Holtzman et al. 2020, §3.1.) logits: (V,). Returns (V,).
    """
    order = logits.argsort(descending=True, stable=True)  # (V,)
    probs = logits[order].double().softmax(dim=0)
    mass_before = probs.cumsum(0) - probs  # what the likelier tokens hold together
    removed = mass_before >= p
    removed[0] = False
    return logits.index_fill(0, order[removed], -math.inf)


def filter_logits(logits: Tensor, sampling: Sampling) -> Tensor:
    """Temperature, then top-k, then top-p; at least one token survives. (V,) → (V,)."""
    logits = scale_temperature(logits, sampling.temperature)
    if sampling.top_k is not None:
        logits = top_k(logits, sampling.top_k)
    if sampling.top_p < 1:
        logits = top_p(logits, sampling.top_p)
    return logits


def entropy(probs: Tensor) -> float:
    """−Σ p ln p in nats: 0 when one token is certain, ln V when all are alike. probs: (V,)."""
    return torch.special.entr(probs.double()).sum().item()


@torch.inference_mode()
def generate(
    model: DecoderTransformer,
    ids: Sequence[int],
    sampling: Sampling,
    *,
    max_new_tokens: int,
    seed: int,
    end_id: int | None = None,
) -> Iterator[Step]:
    """Continue `ids` by up to `max_new_tokens`, one step at a time.

    Stops behind `end_id` and when the context is full. The same seed gives the same tokens on
    the same machine. Raises ValueError when there is no prompt or no room behind it.
    """
    context = model.config.max_seq_len
    if not 1 <= len(ids) < context:
        raise ValueError(
            f"the prompt has {len(ids)} tokens; it must have between 1 and {context - 1}, so "
            f"that something fits behind it in the context of {context}"
        )
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens is {max_new_tokens}; it must be at least 1")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; it must be between 0 and 2⁶³ − 1")
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    sequence = torch.tensor([list(ids)], device=device)  # (1, T)
    for _ in range(min(max_new_tokens, context - len(ids))):
        logits = model(sequence)[0, -1].float().cpu()  # (V,)
        step = sample(logits, sampling, generator)
        yield step
        if step.token_id == end_id:
            return
        sequence = torch.cat([sequence, sequence.new_tensor([[step.token_id]])], dim=1)


def sample(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> Step:
    """Draw one token from the filtered distribution. logits: (V,)."""
    filtered = filter_logits(logits, sampling)
    probs = filtered.softmax(dim=0)
    token_id = int(torch.multinomial(probs, 1, generator=generator))
    return Step(token_id, logits, filtered > -math.inf, probs)
