"""What the model above costs, counted once more from the tensors of its file, one by one.

Addresses: running.parameters, running.operations.n, running.growth, running.memory.n and
running.pass.n; running.shares ends with the sizes of a further model, as `model.verify.sized` has
them, or with nothing.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from model.reference import DEFAULTS, Files
from model.verify.sized import LENGTHS, PARTS, counts_of, of_block, shares_of

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
# What a tensor's name says of its part; the first that fits.
NAMED_SO = (
    ("unembedding", r"(^|\.)unembed\."),
    ("embedding", r"(^|\.)embed\."),
    ("positions", r"(^|\.)position\."),
    ("norms", r"_norm\."),
    ("attention", r"attn\."),
    ("feed-forward", r"\.ffn\."),
)
QUERIES = re.compile(r"(.*)(?:^|\.)blocks\.\d+\.\w*attn\.q_proj\.weight$")


def _part(name: str) -> str:
    return next(part for part, pattern in NAMED_SO if re.search(pattern, name))


@lru_cache(maxsize=2)
def _sizes(files: Files) -> dict[str, tuple[int, ...]]:
    return {name: np.shape(files.weights[name]) for name in files.weights}


def _counts(files: Files) -> Array:
    """Numbers of the file by part, (6,)."""
    shapes = _sizes(files).items()
    found = [sum(np.prod(s) for name, s in shapes if _part(name) == part) for part in PARTS]
    return np.array(found, dtype=float)


def _multiplied(files: Files, part: str) -> float:
    """Operations of one token with the matrices of a part: two for each number."""
    shapes = _sizes(files).items()
    return sum(2.0 * s[0] * s[1] for name, s in shapes if len(s) == 2 and _part(name) == part)


def _attentions(files: Files) -> Iterator[tuple[str, int, int]]:
    """The stack, the rows of W_Q and those of W_K of every attention."""
    shapes = _sizes(files)
    for name, shape in shapes.items():
        if found := QUERIES.match(name):
            yield found[1], shape[0], shapes[name.replace("q_proj", "k_proj")][0]


def _is_picture(files: Files) -> bool:
    return "image_size" in files.config


def _unembedding(files: Files) -> float:
    """Two for each number of the table that gives logits, tied or of its own."""
    shapes = _sizes(files)
    own = [s for name, s in shapes.items() if _part(name) == "unembedding" and len(s) == 2]
    tied = [s for name, s in shapes.items() if _part(name) == "embedding" and len(s) == 2]
    rows, columns = (own or tied)[0]
    return 2.0 * rows * columns


def _operations(files: Files, n: int) -> Array:
    """Of one token by part, and all of them, (5,); of a picture, of one patch."""
    attended = sum(4.0 * n * rows for _, rows, _ in _attentions(files))
    ends = _multiplied(files, "embedding") if _is_picture(files) else _unembedding(files)
    parts = [_multiplied(files, "attention"), attended, _multiplied(files, "feed-forward"), ends]
    return np.array([*parts, sum(parts)])


def pass_of(files: Files, n: int) -> float:
    """Operations of a forward pass over n tokens, of a source and a target of n each."""
    *inside, ends, _ = _operations(files, n)
    if _is_picture(files):
        return n * sum(inside) + (n - 1) * ends + _unembedding(files)
    return n * (sum(inside) + ends)


def _memory(files: Files, n: int) -> Array:
    """Bytes of weights, of training, of the cache and of all maps, (4,), values of two bytes."""
    total = _counts(files).sum()
    kind = files.config.get("architecture", DEFAULTS["architecture"])
    kept = {"decoder": ("", "decoder"), "encoder_decoder": ("decoder",)}.get(kind, ())
    cached = sum(2 * 2 * n * rows for stack, _, rows in _attentions(files) if stack in kept)
    maps = sum(2 * n * n * files.config["n_heads"] for _ in _attentions(files))
    return np.array([2 * total, 16 * total, cached, maps], dtype=float)


def _parameters(ran: "Ran") -> Array:
    counts = _counts(ran.files)
    return np.array([*counts, counts.sum(), counts.sum()])


def _growth(ran: "Ran") -> Array:
    return np.stack([_operations(ran.files, n)[:-1] for n in LENGTHS], axis=1)


def _block(ran: "Ran") -> Array:
    """What the first block has, one attention and its feed-forward, see `of_block`."""
    sizes = _sizes(ran.files)
    parts = [
        sum(float(np.prod(s)) for name, s in sizes.items() if re.match(pattern, name))
        for pattern in (rf"(encoder\.)?blocks\.0\.{part}\." for part in ("attn", "ffn"))
    ]
    return of_block(ran.files.config["d_model"], ran.files.config["d_ff"], *parts)


def _stored(ran: "Ran") -> Array:
    """Bytes of all tensors in the file: its own, less its header."""
    if ran.files.folder is None:
        raise KeyError("there is no file")
    path = ran.files.folder / "model.safetensors"
    with path.open("rb") as file:
        header = int.from_bytes(file.read(8), "little")
    return np.array(path.stat().st_size - 8 - header, dtype=float)


WEIGHED: dict[str, Callable[..., Array]] = {
    "running.parameters": _parameters,
    "running.bytes": _stored,
    "running.block": _block,
    "running.operations": lambda ran, n: _operations(ran.files, n),
    "running.growth": _growth,
    "running.memory": lambda ran, n: _memory(ran.files, n),
    "running.pass": lambda ran, n: np.array(pass_of(ran.files, n)),
    "running.counts": lambda ran, *numbers: counts_of(_counts(ran.files), *numbers),
    "running.shares": lambda ran, *numbers: shares_of(_counts(ran.files), *numbers),
}
