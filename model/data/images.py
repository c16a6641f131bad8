"""Pictures with their classes, and the small changes that make each of them many."""

import hashlib
import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from model.files import MEGABYTE, names_of, opened

LARGEST = 1_000 * MEGABYTE
HELD_OUT_SHARE = 12  # one in so many: 5,000 of MNIST's 60,000
# How far a picture is changed at most: turned, shrunk or grown, moved.
LARGEST_TURN, LARGEST_SCALE, LARGEST_SHIFT = 12.0, 1.12, 2.0  # degrees, times, pixels


@dataclass(frozen=True, eq=False)
class Images:
    """Grey pictures (N, S, S) of bytes, their classes (N,), and those to evaluate on by name."""

    images: np.ndarray
    labels: np.ndarray
    held_out: dict[str, "Images"] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """Pictures have no text."""
        return []

    @property
    def digest(self) -> str:
        """What changes with any pixel or class of the pictures to train on."""
        sha256 = hashlib.sha256(f"{self.images.shape}\n".encode())
        sha256.update(np.ascontiguousarray(self.images).data)
        sha256.update(np.ascontiguousarray(self.labels).data)
        return sha256.hexdigest()[:16]

    def tensors(self, rows: Sequence[int] | slice = slice(None)) -> tuple[Tensor, Tensor]:
        """Pictures of some rows from 0 to 1, (B, S, S), and their classes, (B,)."""
        images = torch.from_numpy(self.images[rows].astype(np.float32) / 255)
        return images, torch.from_numpy(self.labels[rows].astype(np.int64))


def read_images(corpus: Sequence[Path], held_out: Sequence[Path] = ()) -> Images:
    """An .npz file to learn from, its train_images and train_labels; of others test_… is held out.

    Without others the last twelfth is that, so that nothing has to be chosen by the test part.
    Raises ValueError when a file is missing or broken, lacks an array, or has one of another shape.
    """
    if len(corpus) != 1:
        raise ValueError(f"{len(corpus)} files of pictures to train on; give one .npz file")
    part = read_part(corpus[0], "train")
    if held_out:
        names = names_of(held_out, by_stem=True)
        named = {x: read_part(path, "test") for x, path in zip(names, held_out, strict=True)}
        return Images(part.images, part.labels, named)
    n = len(part.labels) - len(part.labels) // HELD_OUT_SHARE
    last = {"validation": Images(part.images[n:], part.labels[n:])}
    return Images(part.images[:n], part.labels[:n], last if len(part.labels) > n else {})


def read_part(path: Path, part: str) -> Images:
    """The pictures of one part of an .npz file, "train" or "test"; ValueError as `read_images`."""
    names = (f"{part}_images", f"{part}_labels")
    try:
        with opened(path, LARGEST) as file, np.load(file, allow_pickle=False) as archive:
            missing = [name for name in names if name not in archive]
            if missing:
                raise ValueError(f"it has no {', '.join(missing)}")
            images, labels = (archive[name] for name in names)
    except (ValueError, OSError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} holds no pictures to use: {error}; give an .npz file with {names[0]} and "
            f"{names[1]}"
        ) from None
    is_square = images.ndim == 3 and images.shape[1] == images.shape[2]
    if not is_square or labels.shape != images.shape[:1] or not len(labels):
        raise ValueError(
            f"{path}: {names[0]} has shape {images.shape} and {names[1]} {labels.shape}; expected "
            "(N, S, S) and (N,) with N at least 1"
        )
    if images.dtype != np.uint8 or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise ValueError(
            f"{path}: pictures are {images.dtype} and classes {labels.dtype}; expected uint8 and "
            "whole numbers from 0"
        )
    return Images(images, labels)


def moved(images: Tensor, turns: Tensor, scales: Tensor, shifts: Tensor) -> Tensor:
    """Pictures turned about their middle, scaled and shifted; what comes in from outside is 0.

    images: (B, S, S), turns: (B,) in radians, scales: (B,) above 1 to grow, shifts: (B, 2) in
    pixels to the right and down. Returns (B, S, S), each pixel bilinear from its four neighbours.
    """
    cos, sin = turns.cos() / scales, turns.sin() / scales
    back = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], 1)  # (B, 2, 2)
    offset = back @ (-2 * shifts / images.shape[-1])[..., None]  # (B, 2, 1), in half pictures
    grid = F.affine_grid(
        torch.cat([back, offset], dim=-1), [len(images), 1, *images.shape[1:]], align_corners=False
    )
    return F.grid_sample(images[:, None], grid, align_corners=False)[:, 0]


def jittered(images: Tensor, generator: torch.Generator) -> Tensor:
    """Pictures each moved a little at random, as another hand would have drawn them. (B, S, S)."""

    def between_ones(*shape: int) -> Tensor:
        return 2 * torch.rand(shape, generator=generator) - 1

    n = len(images)
    turns = between_ones(n) * math.radians(LARGEST_TURN)
    scales = (between_ones(n) * math.log(LARGEST_SCALE)).exp()
    return moved(images, turns, scales, between_ones(n, 2) * LARGEST_SHIFT)
