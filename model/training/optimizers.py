"""Optimizers and learning-rate schedules, each a table that a recipe chooses from."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from model.training.muon import Muon

TORCHS_MUON = partial(torch.optim.Muon, adjust_lr_fn="match_rms_adamw")


def split_parameters(model: nn.Module) -> tuple[list[Tensor], list[Tensor]]:
    """The hidden matrices, which decay, and everything else: embeddings, norms, biases."""
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        is_hidden = parameter.ndim == 2 and "blocks." in name
        (matrices if is_hidden else others).append(parameter)
    return matrices, others


def muon(
    matrices: list[Tensor],
    others: list[Tensor],
    *,
    matrix_lr: float,
    other_lr: float,
    weight_decay: float,
    hidden: Callable[..., Optimizer] = TORCHS_MUON,
) -> list[Optimizer]:
    """Muon (Jordan et al. 2024) on the hidden matrices, AdamW on the rest.

    `hidden` is which Muon: torch's own computes in bfloat16. ValueError where there are none.
    """
    if not matrices:
        raise ValueError(
            "muon changes the hidden matrices of blocks and this model has none; set optimizer to "
            "adam or adamw"
        )
    return [
        hidden(matrices, lr=matrix_lr, weight_decay=weight_decay),
        torch.optim.AdamW(others, lr=other_lr, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def adamw(
    matrices: list[Tensor],
    others: list[Tensor],
    *,
    matrix_lr: float,
    other_lr: float,
    weight_decay: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
) -> list[Optimizer]:
    """AdamW (Loshchilov & Hutter 2019), decaying matrices only."""
    groups = [
        {"params": matrices, "lr": matrix_lr, "weight_decay": weight_decay},
        {"params": others, "lr": other_lr, "weight_decay": 0.0},
    ]
    return [torch.optim.AdamW(groups, betas=betas, eps=eps)]


def adamw_all(
    matrices: list[Tensor],
    others: list[Tensor],
    *,
    matrix_lr: float,
    other_lr: float,
    weight_decay: float,
) -> list[Optimizer]:
    """AdamW that decays every matrix, as nanoGPT does: embeddings count as matrices, too."""
    embeddings, vectors = (
        [x for x in others if (x.ndim > 1) == is_two] for is_two in (True, False)
    )
    return adamw(
        [*matrices, *embeddings],
        vectors,
        matrix_lr=matrix_lr,
        other_lr=other_lr,
        weight_decay=weight_decay,
        betas=(0.9, 0.95),
    )


def cosine(step: int, *, warmup_steps: int, total_steps: int, final_share: float) -> float:
    """Share of the peak learning rate: linear warm-up, then a cosine down to the final share."""
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    done = (step - warmup_steps) / max(total_steps - warmup_steps, 1)
    fall = 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
    return final_share + (1 - final_share) * fall


def cosine_from_peak(
    step: int, *, warmup_steps: int, total_steps: int, final_share: float
) -> float:
    """As `cosine`, but the warm-up ends below the peak, as nanoGPT's: 100 steps begin at 1/101."""
    if step < warmup_steps:
        return (step + 1) / (warmup_steps + 1)
    return cosine(step, warmup_steps=warmup_steps, total_steps=total_steps, final_share=final_share)


def noam(step: int, *, warmup_steps: int, total_steps: int, final_share: float) -> float:
    """Share of the peak learning rate: linear warm-up, then a fall as 1/√step.

    (Vaswani et al. 2017, eq. 3, there with the peak (d_model · warmup_steps)^−½.)
    """
    warmup, now = max(warmup_steps, 1), step + 1
    return min(now / warmup, math.sqrt(warmup / now))


def constant(step: int, *, warmup_steps: int, total_steps: int, final_share: float) -> float:
    """Share of the peak learning rate: linear warm-up, then all of it to the end."""
    return min((step + 1) / max(warmup_steps, 1), 1.0)


OPTIMIZERS: dict[str, Callable[..., list[Optimizer]]] = {
    "muon": muon,
    "adamw": adamw,
    "adamw_all": adamw_all,
    # As in Vaswani et al. 2017, §5.3.
    "adam": partial(adamw, betas=(0.9, 0.98), eps=1e-9),
    # For machines that do not multiply bfloat16 natively.
    "muon_float32": partial(muon, hidden=Muon),
}
SCHEDULES: dict[str, Callable[..., float]] = {
    "cosine": cosine,
    "cosine_from_peak": cosine_from_peak,
    "noam": noam,
    "constant": constant,
}
