"""By what angles a model turned its queries and keys: what its modules gave in one pass."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from torch import Tensor, nn

from model.records import to_numpy
from model.verify.declared import Turn

CONSTANT = 1e-3  # how far cos² + sin² of one factor are from being the same everywhere


@contextmanager
def turning(model: nn.Module) -> Iterator[list[Turn]]:
    """What gives cosines and sines in a pass of this thread, while this is open."""
    turns: list[Turn] = []
    here = get_ident()

    def after(_module: nn.Module, given: tuple[Any, ...], named: dict[str, Any], gave: Any) -> None:  # noqa: ANN401
        if get_ident() == here and _is_turn(gave):
            kinds = (x for x in (*given, *named.values()) if isinstance(x, str))
            turns.append(Turn(next(kinds, None), *(to_numpy(x[0]) for x in gave)))

    leaves = [x for x in model.modules() if next(x.children(), None) is None]
    handles = [x.register_forward_hook(after, with_kwargs=True) for x in leaves]
    try:
        yield turns
    finally:
        for handle in handles:
            handle.remove()


def _is_turn(gave: object) -> bool:
    """Whether a module gave two arrays (1, T, n) whose squares have one sum everywhere."""
    if not isinstance(gave, tuple) or len(gave) != 2:
        return False
    cos, sin = gave
    if not (isinstance(cos, Tensor) and isinstance(sin, Tensor) and cos.is_floating_point()):
        return False
    if cos.ndim != 3 or cos.shape != sin.shape:
        return False
    total = cos**2 + sin**2
    return bool((total - total.mean()).abs().max() <= CONSTANT * total.mean())
