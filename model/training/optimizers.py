"""Optimizers and learning-rate schedules, each a table that a recipe chooses from."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


def split_parameters(model: nn.Module) -> tuple[list[Tensor], list[Tensor]]:
    """The hidden matrices, which decay, and everything else: embeddings, norms, biases."""
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        is_hidden = parameter.ndim == 2 and name.startswith("blocks.")
        (matrices if is_hidden else others).append(parameter)
    return matrices, others


def muon(
    matrices: list[Tensor],
    others: list[Tensor],
    *,
    matrix_lr: float,
    other_lr: float,
    weight_decay: float,
) -> list[Optimizer]:
    """Muon (Jordan et al. 2024) on the hidden matrices, AdamW on the rest."""
    return [
        torch.optim.Muon(
            matrices, lr=matrix_lr, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"
        ),
        torch.optim.AdamW(others, lr=other_lr, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def adamw(
    matrices: list[Tensor],
    others: list[Tensor],
    *,
    matrix_lr: float,
    other_lr: float,
    weight_decay: float,
) -> list[Optimizer]:
    """AdamW (Loshchilov & Hutter 2019), decaying matrices only."""
    groups = [
        {"params": matrices, "lr": matrix_lr, "weight_decay": weight_decay},
        {"params": others, "lr": other_lr, "weight_decay": 0.0},
    ]
    return [torch.optim.AdamW(groups, betas=(0.9, 0.95))]


def cosine(step: int, *, warmup_steps: int, total_steps: int, final_share: float) -> float:
    """Share of the peak learning rate: linear warm-up, then a cosine down to the final share."""
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    done = (step - warmup_steps) / max(total_steps - warmup_steps, 1)
    fall = 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
    return final_share + (1 - final_share) * fall


OPTIMIZERS: dict[str, Callable[..., list[Optimizer]]] = {"muon": muon, "adamw": adamw}
SCHEDULES: dict[str, Callable[..., float]] = {"cosine": cosine}
