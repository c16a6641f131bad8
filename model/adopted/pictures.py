"""Pictures as a model of transformers takes them: enlarged, repeated and normalised."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.files import LARGEST_CONFIG, read_json
from model.lines import quoted
from model.trace import CLASS_TOKEN

FILE = "preprocessor_config.json"
USUAL = 0.5  # ViT's mean and deviation, where a folder has no such file
MOST_CELLS = 160_000_000  # of the patterns of a run, L · H · T²; a picture cannot be cut


@dataclass(frozen=True)
class Pictures:
    """What a folder says of its pictures, of `side` × `side` pixels, and of their classes.

    A pixel from 0 to 1 is times `scale`, less the `mean` and over the `std` of its channel.
    """

    side: int
    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]
    labels: tuple[str, ...]
    classes: Mapping[int, str]

    def __call__(self, pictures: Tensor) -> Tensor:
        """Grey pictures (B, S, S) from 0 to 1, as the model takes them: (B, channels, S, S)."""
        mean, std = (pictures.new_tensor(x).view(-1, 1, 1) for x in (self.mean, self.std))
        return (pictures[:, None] * self.scale - mean) / std

    def enlarged(self, picture: np.ndarray) -> np.ndarray:
        """A picture of any size, (S, S), as one of `side` × `side`, bilinear."""
        is_square = picture.ndim == 2 and len(set(picture.shape)) == 1
        if not is_square or not ((picture >= 0) & (picture <= 1)).all():
            raise ValueError(f"the picture is no square of numbers from 0 to 1: {picture.shape}")
        pixels = torch.tensor(picture, dtype=torch.float32)[None, None]
        pixels = torch.nn.functional.interpolate(pixels, self.side, mode="bilinear", antialias=True)
        return pixels[0, 0].clamp(0, 1).numpy()

    def of_rows(self, lengths: set[int]) -> "Pictures":
        """The same for a model whose layers have so many rows, the class token or only patches."""
        n_patches = sum("," in label for label in self.labels)
        if lengths not in ({len(self.labels)}, {n_patches}):
            raise ValueError(
                f"its layers have {sorted(lengths)} rows of a picture of {n_patches} patches; open "
                "a model that leaves the row of patches as it is"
            )
        return replace(self, labels=self.labels[-lengths.pop() :])


def pictures_of(folder: Path, config: Any) -> Pictures:  # noqa: ANN401
    """What a folder says; an error of any kind where that cannot be of square pictures."""
    path = folder / FILE
    said = read_json(path, LARGEST_CONFIG) if path.is_file() else {}
    size, n_channels = config.image_size, getattr(config, "num_channels", 3)
    if said.get("do_resize", True):
        size = said.get("crop_size" if said.get("do_center_crop") else "size", size)
    (side,) = {int(x) for x in (size.values() if isinstance(size, dict) else np.atleast_1d(size))}
    factor = float(said.get("rescale_factor", 1 / 255)) if said.get("do_rescale", True) else 1.0
    known = said.get("image_mean", USUAL), said.get("image_std", USUAL)
    mean, std = (
        np.broadcast_to(np.array(x, float), n_channels).tolist()
        for x in (known if said.get("do_normalize", True) else (0.0, 1.0))
    )
    if not np.isfinite([factor, *mean, *std]).all() or min(std) <= 0:
        raise ValueError(f"factor {factor}, mean {mean}, deviation {std}")
    classes = {i: quoted(name) for i, name in (getattr(config, "id2label", None) or {}).items()}
    return Pictures(side, 255 * factor, tuple(mean), tuple(std), _labels(config, side), classes)


def _labels(config: Any, side: int) -> tuple[str, ...]:  # noqa: ANN401
    """What stands before the patches, and these by row and column."""
    n, rest = divmod(side, int(config.patch_size))
    first = [CLASS_TOKEN, *(["[DIST]"] if config.model_type == "deit" else [])]
    first += [f"[REG{i}]" for i in range(getattr(config, "num_register_tokens", 0))]
    if rest or len(first) > 2 * n:  # see `Stream.side`
        raise ValueError(f"{side} pixels in patches of {config.patch_size} make no square of them")
    sizes = (getattr(config, name, 1) for name in ("num_hidden_layers", "num_attention_heads"))
    n_cells = math.prod(x for x in sizes if isinstance(x, int)) * (len(first) + n * n) ** 2
    if n_cells > MOST_CELLS:
        raise ValueError(
            f"{n * n:,} patches have {n_cells / 1e6:,.0f} million weights in all heads, at most "
            f"{MOST_CELLS / 1e6:.0f} million are shown; open a model of smaller pictures"
        )
    return (*first, *(f"{row},{column}" for row in range(n) for column in range(n)))
