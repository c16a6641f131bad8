"""What a vision model's attention makes of a picture, and which of its patches the answer needs."""

from collections.abc import Sequence

import numpy as np
import torch

from model.architectures.vision import VisionTransformer


def rollout(patterns: Sequence[np.ndarray]) -> np.ndarray:
    """How far each row draws on each input through all layers (Abnar & Zuidema 2020, eq. 1).

    patterns: L of (H, T, T), the first layer first. Heads are averaged, and half of each row is its
    residual connection. Returns (T, T), whose rows sum to one.
    """
    n = patterns[0].shape[-1]
    product = np.eye(n)
    for pattern in patterns:
        product = (0.5 * np.mean(pattern, axis=0, dtype=np.float64) + 0.5 * np.eye(n)) @ product
    return product


def mean_distances(pattern: np.ndarray, side: int, patch_size: int) -> np.ndarray:
    """How far each head looks, in pixels, (H,) (Dosovitskiy et al. 2021, fig. 11).

    pattern: (H, T, T) with the class token first and T − 1 = side². Of each patch the distances to
    all patches are averaged with its weights on them, then over patches; the class token, which is
    nowhere, is left out.
    """
    places = np.stack(np.divmod(np.arange(side * side), side), axis=1) * patch_size  # (P, 2)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)  # (P, P)
    weights = pattern[:, 1:, 1:].astype(np.float64)  # (H, P, P)
    among_patches = weights / weights.sum(axis=-1, keepdims=True)
    return (among_patches * apart).sum(axis=-1).mean(axis=-1)


def shuffled(picture: np.ndarray, patch_size: int, order: Sequence[int]) -> np.ndarray:
    """A picture (S, S) with its patches in another order: at place i stands patch order[i]."""
    side = len(picture) // patch_size
    patches = picture.reshape(side, patch_size, side, patch_size).swapaxes(1, 2)
    moved = patches.reshape(-1, patch_size, patch_size)[list(order)]
    back = moved.reshape(side, side, patch_size, patch_size).swapaxes(1, 2)
    return back.reshape(picture.shape)


@torch.inference_mode()
def logits_of(model: VisionTransformer, pictures: np.ndarray) -> np.ndarray:
    """Logits of the classes of pictures (N, S, S) from 0 to 1, (N, C)."""
    given = torch.from_numpy(pictures.astype(np.float32)).to(model.device)
    return model(given).cpu().numpy()


@torch.inference_mode()
def logits_without_each(model: VisionTransformer, picture: np.ndarray) -> np.ndarray:
    """Logits of the classes where one patch after the other is masked from all, (P, C).

    A masked patch attends to itself alone, so that its row still sums to one; nothing else attends
    to it, and it reaches no other row.
    """
    given = torch.from_numpy(picture.astype(np.float32)).to(model.device)
    n = (len(picture) // model.config.patch_size) ** 2
    mask = torch.ones(n, 1, n + 1, n + 1, dtype=torch.bool, device=model.device)
    rows = torch.arange(n, device=model.device)
    mask[rows, 0, :, rows + 1] = False
    mask[rows, 0, rows + 1, rows + 1] = True
    return model(given.expand(n, -1, -1), mask=mask).cpu().numpy()
