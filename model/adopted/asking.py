"""What an attention of transformers makes of parts of what it reads: their queries and keys.

A copy of the module is run in float64 on parts in the place of its stream, with the norms inside it
held as they were. So neither names of modules nor RoPE nor norms of queries have to be known.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from model.adopted.attention import Passing, passing
from model.adopted.hooks import attending, put_on
from model.adopted.watched import close, first_tensor, is_matrix
from model.architectures.base import of_parts
from model.frozen_norm import frozen
from model.tap import ReachedError, Until, attach
from model.trace import Site
from model.work import Steps

if TYPE_CHECKING:
    from model.adopted.model import AdoptedModel

ADDS_UP = 1e-4  # of the largest query or key: so much may the sum of those of parts miss
Given = tuple[tuple[Any, ...], dict[str, Any]]


class _Asked:
    """A copy of one attention in float64, with what it was given in a run."""

    def __init__(self, model: "AdoptedModel", site: Site, rows: Sequence[Tensor]) -> None:
        module = dict(model.anatomy.attended)[site].module
        number = model.calls_of(module).index(site)
        self.given = _given(model, module, number, rows)
        self.site, self.module = site, deepcopy(module).cpu().double()

    def run(self, asking: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor]:
        """q (W, H, Tq, Dh) and k (W, G, Tk, Dh) of other streams, (W, T, D), or one for all W."""
        if memory is not None:
            n = max(len(asking), len(memory))
            asking, memory = asking.expand(n, -1, -1), memory.expand(n, -1, -1)
        values, named = self.given
        every, n = [*values, *named.values()], len(values)
        first = next(i for i, x in enumerate(every) if isinstance(x, Tensor))
        streams = {first: asking} if memory is None else {first: asking, self._memory: memory}
        every = [streams.get(i, x) for i, x in enumerate(every)]
        wanted = [f"{self.site.address}.{name}" for name in "qk"]
        until, places = Until(*wanted), {self.module: (self.site,)}
        try:
            with put_on(attending(self.module)), passing(Passing(attach(until), places)):
                self.module(*every[:n], **dict(zip(named, every[n:], strict=True)))
        except ReachedError:
            q, k = (until.values[address] for address in wanted)
            return q, k
        raise ValueError(f"no queries of {self.site.address} went through the pass")

    def find_memory(self, whole: Tensor) -> None:
        """Which argument is what cross-attention reads, (Tk, D)."""
        every = [*self.given[0], *self.given[1].values()]
        alike = [i for i, x in enumerate(every) if isinstance(x, Tensor) and close(x, whole)]
        if not alike:
            raise ValueError(f"what the keys of {self.site.address} are made of was not found")
        self._memory = alike[-1]

    @contextmanager
    def holding_norms(self, asking: Tensor, memory: Tensor | None) -> Iterator[None]:
        """Norms inside it, as of queries and keys, as they are in the run."""
        read: dict[nn.Module, Tensor] = {}

        def keep(module: nn.Module, given: tuple[Any, ...], gave: Any) -> None:  # noqa: ANN401
            x = first_tensor(given)
            if x is not None and isinstance(gave, Tensor) and gave.shape == x.shape:
                read[module] = x

        leaves = [x for x in self.module.modules() if not [*x.children()] and not is_matrix(x)]
        handles = [module.register_forward_hook(keep) for module in leaves]
        self.run(asking, memory)
        for handle in handles:
            handle.remove()
        handles = [_hold(module, x) for module, x in read.items()]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def _hold(module: nn.Module, x: Tensor) -> Any:  # noqa: ANN401
    norm = frozen(module, x[0])
    return module.register_forward_hook(lambda _module, given, _gave: norm.whole(given[0]))


@torch.inference_mode()
def queries_and_keys(
    model: "AdoptedModel", site: Site, asking: Tensor, memory: Tensor | None, rows: Sequence[Tensor]
) -> Steps[tuple[Tensor, Tensor]]:
    """See `Transformer.queries_and_keys`."""
    one = _Asked(model, site, rows)
    whole, other = asking.sum(dim=0)[None], None if memory is None else memory.sum(dim=0)[None]
    if other is not None:
        one.find_memory(other[0])
    own = one.run(whole, other)

    with one.holding_norms(whole, other):
        if memory is None:  # both are of the same parts
            both = yield from of_parts(lambda x: torch.cat(one.run(x, None), dim=1), asking)
            q, k = both.split([x.shape[1] for x in own], dim=1)
        else:
            q = yield from of_parts(lambda x: one.run(x, other)[0], asking)
            k = yield from of_parts(lambda x: one.run(whole, x)[1], memory)
    for parts, expected in zip((q, k), own, strict=True):
        if not (parts.sum(dim=0) - expected[0]).abs().max() <= ADDS_UP * expected.abs().max():
            raise ValueError(f"queries and keys of {site.address} are no sum of what was written")
    return q, k


def _given(model: "AdoptedModel", module: nn.Module, number: int, rows: Sequence[Tensor]) -> Given:
    """What a module is given at one of its calls in a pass, as float64."""
    seen: list[Given] = []

    def note(_module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen.append((given, named))
        if len(seen) > number:
            raise ReachedError

    handle = module.register_forward_pre_hook(note, with_kwargs=True)
    try:
        model.outputs(rows)
    except ReachedError:
        given, named = seen[-1]
        return tuple(map(_double, given)), {name: _double(x) for name, x in named.items()}
    finally:
        handle.remove()
    raise ValueError(f"the {type(module).__name__} was not called in a pass")


def _double(x: Any) -> Any:  # noqa: ANN401
    if isinstance(x, Tensor):
        return x.cpu().double() if x.is_floating_point() else x.cpu()
    if isinstance(x, dict):
        return {name: _double(one) for name, one in x.items()}
    return type(x)(map(_double, x)) if type(x) in (tuple, list) else x
