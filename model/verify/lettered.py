"""What the letters of shapes stand for: measured on arrays that ran and tensors of the file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray


def _letters(ran: "Ran") -> Array:
    """L, T, D, F, V, the source's tokens and the context, (7,)."""
    streams = [name.removesuffix(".embed") for name in ran.arrays if name.endswith(".embed")]
    last = streams[-1]
    tokens = ran.arrays[f"{last}.embed"].shape
    n_layers = sum(name.startswith(f"{last}.") and name.endswith(".attn.q") for name in ran.arrays)
    up = next(name for name in ran.files.weights if name.endswith("ffn.up.weight"))
    n_classes = ran.arrays["output"].shape[-1]
    n_source = len(ran.arrays[f"{streams[0]}.embed"])
    return np.array(
        [n_layers, *tokens, len(ran.files.weights[up]), n_classes, n_source, _context(ran)], float
    )


def _context(ran: "Ran") -> int:
    """Positions of the context; of a picture its patches and the class token."""
    config = ran.files.config
    if "max_seq_len" in config:
        return int(config["max_seq_len"])
    return 1 + (int(config["image_size"]) // int(config["patch_size"])) ** 2


def _of_a_site(ran: "Ran", site: str) -> Array:
    """H, G, Tq, Tk and Dh, (5,)."""
    q, k = ran.arrays[f"{site}.q"], ran.arrays[f"{site}.k"]
    return np.array([len(q), len(k), q.shape[1], k.shape[1], q.shape[2]], float)


LETTERED: dict[str, Callable[..., Array]] = {"letters": _letters}
LETTERED_OF_A_SITE: dict[str, Callable[..., Array]] = {"sizes": _of_a_site}
