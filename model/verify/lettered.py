"""What the letters of shapes stand for: measured on arrays that ran and tensors of the file.

Each letter has an address of its own, as letter.d, so that none is shown with another's number.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
OF_THE_MODEL = ("l", "t", "d", "f", "v", "ts", "nmax")
OF_A_HEAD = ("h", "g", "tq", "tk", "dh")


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


def _one(of: Callable[..., Array], place: int) -> Callable[..., Array]:
    """One of the numbers of a function."""
    return lambda *given: of(*given)[place]


LETTERED: dict[str, Callable[..., Array]] = {
    f"letter.{name}": _one(_letters, place) for place, name in enumerate(OF_THE_MODEL)
}
LETTERED_OF_A_SITE: dict[str, Callable[..., Array]] = {
    f"size_{name}": _one(_of_a_site, place) for place, name in enumerate(OF_A_HEAD)
}
