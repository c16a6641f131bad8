"""Pictures as a model of transformers takes them: enlarged, repeated and normalised."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.files import LARGEST_CONFIG, read_json
from model.lines import one_line, quoted, spelled
from model.trace import CLASS_TOKEN

FILE = "preprocessor_config.json"
USUAL = 0.5  # ViT's mean and deviation, where a folder has no such file
MOST_CELLS = 160_000_000  # of the patterns of a run, L · H · T²: a picture cannot be cut
LARGEST = 4096  # pixels of a side


@dataclass(frozen=True)
class Pictures:
    """What a folder says of its pictures.

    They have `side` × `side` pixels. A pixel from 0 to 1 is times `scale`, less the `mean` of its
    channel and divided by its `std`.
    """

    side: int
    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __call__(self, pictures: Tensor) -> Tensor:
        """Grey pictures (B, S, S) from 0 to 1, as the model takes them: (B, channels, S, S)."""
        mean, std = (
            torch.tensor(x, device=pictures.device).view(-1, 1, 1) for x in (self.mean, self.std)
        )
        return (pictures[:, None] * self.scale - mean) / std

    def enlarged(self, picture: np.ndarray) -> np.ndarray:
        """A picture of any size, (S, S), as one of `side` × `side`, bilinear.

        ValueError for what is no square picture of numbers from 0 to 1.
        """
        if picture.ndim != 2 or len(set(picture.shape)) > 1 or not picture.size:
            raise ValueError(f"the picture has shape {picture.shape}; give a square one, (S, S)")
        if not (np.isfinite(picture).all() and picture.min() >= 0 and picture.max() <= 1):
            raise ValueError("the picture has numbers beyond 0 to 1; give a grey one, white 1")
        found = torch.tensor(picture, dtype=torch.float32)[None, None]
        size = (self.side, self.side)
        found = torch.nn.functional.interpolate(found, size, mode="bilinear", antialias=True)
        return found[0, 0].clamp(0, 1).numpy()


def pictures_of(folder: Path, config: Any) -> Pictures:  # noqa: ANN401
    """What a folder says; ValueError, one line, where that cannot be of the model's pictures."""
    path = folder / FILE
    said = read_json(path, LARGEST_CONFIG) if path.is_file() else {}
    try:
        found = _said(said, getattr(config, "image_size", None), getattr(config, "num_channels", 3))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{spelled(path)} does not say how square pictures are made ready: "
            f"{one_line(str(error))}; use the file that the model was saved with"
        ) from None
    return found


def _said(said: dict[str, Any], size: Any, n_channels: int) -> Pictures:  # noqa: ANN401
    if said.get("do_center_crop", False):
        size = said.get("crop_size", size)
    elif said.get("do_resize", True):
        size = said.get("size", size)
    sides = {int(x) for x in (size.values() if isinstance(size, dict) else np.atleast_1d(size))}
    if len(sides) != 1 or not 0 < min(sides) <= LARGEST:
        raise ValueError(f"their size is {quoted(size)}")
    factor = float(said.get("rescale_factor", 1 / 255)) if said.get("do_rescale", True) else 1.0
    known = said.get("image_mean", USUAL), said.get("image_std", USUAL)
    mean, std = known if said.get("do_normalize", True) else (0.0, 1.0)
    means, stds = (
        tuple(np.broadcast_to(np.array(x, float), n_channels).tolist()) for x in (mean, std)
    )
    if not np.isfinite([factor, *means, *stds]).all() or min(stds) <= 0:
        raise ValueError(f"factor {factor}, mean {quoted(mean)}, deviation {quoted(std)}")
    return Pictures(sides.pop(), 255 * factor, means, stds)


def labels_of(folder: Path, config: Any, side: int) -> tuple[str, ...]:  # noqa: ANN401
    """Class token, registers and patches by row and column, of pictures of so many pixels.

    ValueError, one line, where there are too many, or where they do not fill the picture.
    """
    patch = getattr(config, "patch_size", None)
    n = side // patch if isinstance(patch, int) and patch > 0 and side % patch == 0 else 0
    first = [CLASS_TOKEN, *(["[DIST]"] if config.model_type == "deit" else [])]
    first += [f"[REG{i}]" for i in range(getattr(config, "num_register_tokens", 0))]
    if len(first) > 2 * n:  # see `Stream.side`
        raise ValueError(
            f"{spelled(folder)}: {side} × {side} pixels in patches of {quoted(patch)} make no "
            "square of a few patches; open a model whose patches fill its pictures"
        )
    sizes = (getattr(config, name, 1) for name in ("num_hidden_layers", "num_attention_heads"))
    n_heads = math.prod(size for size in sizes if isinstance(size, int))
    n_cells = n_heads * (len(first) + n * n) ** 2
    if n_cells > MOST_CELLS:
        raise ValueError(
            f"{spelled(folder)}: {n * n:,} patches have {n_cells / 1e6:,.0f} million weights in "
            f"all heads, and {MOST_CELLS / 1e6:.0f} million at most are kept; open a model of "
            "smaller pictures"
        )
    return (*first, *(f"{row},{column}" for row in range(n) for column in range(n)))
