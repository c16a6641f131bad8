"""Attention that anybody computed, as a part: no model is needed, and nothing of it is changed."""

from collections.abc import Sequence
from typing import Any
from warnings import warn

import numpy as np

from model.data.pieces import names_of_any
from model.lines import one_line
from model.trace import Stream
from viz.kit.part import Part
from viz.kit.parts.attention import patterns_part

WANTED = (
    "give (layers, heads, queries, keys), or a list with (heads, queries, keys) or (1, heads, "
    "queries, keys) for each layer, as output_attentions of transformers is when the model was "
    "loaded with attn_implementation='eager'"
)
ROUNDED = 4e-3  # by as much may a row of 16-bit weights miss 1


def attention(
    arrays: Any,  # noqa: ANN401
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
) -> Part:
    """The picture of attention weights from anywhere, with `.save("x.html")`.

    arrays: (L, H, Tq, Tk), or a list of a layer each, (H, Tq, Tk) or (1, H, Tq, Tk); numpy, torch,
    jax or lists. tokens: Tq strings. key_tokens: Tk strings, where those are others. Nothing is
    shown as masked: arrays do not say why a weight is 0.
    """
    given = _layers(arrays)
    n_queries, n_keys = given[0].shape[-2:]
    queries = _stream("tokens", tokens, n_queries, "queries")
    keys = queries
    if key_tokens is not None or n_queries != n_keys:
        keys = _stream("key_tokens", () if key_tokens is None else key_tokens, n_keys, "keys")
    layers = [_copied(layer[0] if layer.ndim == 4 else layer) for layer in given]
    for odd in _oddities(layers):
        warn(odd, stacklevel=2)
    return patterns_part(layers, queries, keys)


def _layers(arrays: Any) -> list[Any]:  # noqa: ANN401
    """Each layer as it was given, (H, Tq, Tk) or (1, H, Tq, Tk): they may be gigabytes."""
    try:
        layers = [_real(layer) for layer in arrays]
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"no arrays of numbers: {one_line(str(error))}; {WANTED}") from None
    shapes = sorted({tuple(layer.shape) for layer in layers})
    sizes = {shape[1:] if len(shape) == 4 and shape[0] == 1 else shape for shape in shapes}
    if len(sizes) != 1 or len(size := sizes.pop()) != 3 or not all(size):
        said = ", ".join(map(str, shapes)) or "none"
        raise ValueError(f"the {len(layers)} layers have shapes {said}; {WANTED}")
    return layers


def numbers(given: Any) -> np.ndarray:  # noqa: ANN401
    """An array of any framework as float32; TypeError or ValueError for what is none."""
    return _copied(_real(given))


def _real(given: Any) -> Any:  # noqa: ANN401
    """A tensor of torch, or else an array of numpy; TypeError or ValueError for no real numbers."""
    is_tensor = hasattr(given, "detach")
    array: Any = given.detach() if is_tensor else np.asarray(given)
    if array.is_complex() if is_tensor else array.dtype.kind in "cOSUMm":
        raise TypeError(f"{array.dtype} is no kind of real number")
    return array


def _copied(array: Any) -> np.ndarray:  # noqa: ANN401
    if not isinstance(array, np.ndarray):  # numpy takes no bfloat16 and nothing on CUDA
        array = array.float().cpu().numpy()
    return np.array(array, np.float32)


def _stream(name: str, tokens: Sequence[str], n: int, what: str) -> Stream:
    is_one = isinstance(tokens, str) or getattr(tokens, "shape", None) == ()
    is_listed = isinstance(tokens, Sequence | np.ndarray) and not is_one
    if not is_listed or not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"{name} is no list of strings; tokenizer.convert_ids_to_tokens gives one")
    if len(tokens) != n:
        raise ValueError(
            f"attention has {n} {what} and {name} has {len(tokens)}; give one for each"
        )
    return Stream(name, "text", names_of_any(tokens))


def _oddities(layers: Sequence[np.ndarray]) -> list[str]:
    """What no softmax gives, a line each."""
    with np.errstate(invalid="ignore"):  # of infinities
        sums = np.stack([layer.sum(axis=-1, dtype=np.float64) for layer in layers])  # (L, H, Tq)
    off = np.abs(sums - 1)
    n_odd = sum(int(np.count_nonzero(~np.isfinite(layer))) for layer in layers)
    n_negative = sum(int(np.count_nonzero(layer < 0)) for layer in layers)
    far = off[np.isfinite(off) & (off > ROUNDED)]
    counts = {
        f"NaN or infinite weights: {n_odd:,}; they are marked": n_odd,
        f"negative weights: {n_negative:,}; colours begin at 0": n_negative,
        f"{far.size:,} of {off.size:,} rows do not sum to 1, by up to {far.max(initial=0):.3g}; "
        "they are shown as they are": far.size,
    }
    return [line for line, n in counts.items() if n]
