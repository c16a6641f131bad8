"""One pass over a model that transformers built, watched: what its modules were given and gave."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from model.adopted.attention import Passing, Places, passing
from model.attention import merge_heads
from model.tap import Recorder, attach
from model.trace import Site

SUMS_TO = 1e-5  # how far a sum may be from what it must be, relative to its largest value


class Call(NamedTuple):
    """One call of a module: the first tensor it was given and gave, and when it began and ended.

    `takes_one` says whether it was given that tensor alone, so that it can be called with another.
    """

    module: nn.Module
    given: Tensor
    gave: Tensor
    began: int
    ended: int
    takes_one: bool


class Attended(NamedTuple):
    """One call of attention, with the sizes seen there, and the module that reads all its z.

    `values` is the matrix that makes all its v, and which columns of what that gives they are.
    `is_turned` says whether RoPE turned its keys, and its queries as well.
    """

    module: nn.Module
    when: int
    n_heads: int = 0
    n_kv_heads: int = 0
    d_head: int = 0
    d_value: int = 0
    is_causal: bool = False
    window: int = 0  # how many tokens a query sees, itself included; 0 for all
    is_turned: bool = False
    projection: nn.Module | None = None
    values: tuple[nn.Module, Tensor] | None = None


@dataclass
class Watched:
    """What one pass did, in its order. `output` is what the model gave."""

    calls: list[Call] = field(default_factory=list)
    attended: list[Attended] = field(default_factory=list)
    output: Any = None
    _clock: int = 0

    def tick(self) -> int:
        """The next moment."""
        self._clock += 1
        return self._clock


class _Watching(Passing):
    """A pass in which each call of attention is noted with its sizes."""

    def __init__(self, watched: Watched, has_rope: bool) -> None:
        self._has_rope = has_rope
        self._recorder = Recorder(("q", "k", "v", "mask", "window", "z"))
        super().__init__(attach(self._recorder), {})
        self.watched = watched

    def place(self, places: Places[Any], module: nn.Module) -> Any:  # noqa: ANN401
        """A place of its own for each call; `finish` looks up what went through there."""
        self.watched.attended.append(Attended(module, self.watched.tick()))
        return _seen(len(self.watched.attended) - 1)

    def finish(self) -> None:
        """Put the sizes to the calls."""
        values, before = self._recorder.values, 0
        for number, call in enumerate(self.watched.attended):
            names = (f"{_seen(number).address}.{x}" for x in ("q", "k", "v", "mask", "window", "z"))
            q, k, v, mask, window, z = map(values.get, names)
            assert q is not None and k is not None and v is not None and z is not None
            sees_later = mask is None or bool(mask[..., 0, -1].any())
            self.watched.attended[number] = call._replace(
                n_heads=q.shape[1],
                n_kv_heads=k.shape[1],
                d_head=q.shape[-1],
                d_value=z.shape[-1],
                is_causal=not sees_later,
                window=0 if window is None else int(window),
                is_turned=self._has_rope and not self._is_as_made(k, before, call.when),
                projection=self._reader(merge_heads(z), call.when),
                values=self._maker(merge_heads(v), before, call.when),
            )
            before = call.when

    def _reader(self, z: Tensor, after: int) -> nn.Module | None:
        """The matrix that is given z (1, T, H · Dh) next; None where there is none."""
        matrices = (x for x in self.watched.calls if is_matrix(x.module))
        later = (x for x in matrices if x.began > after and close(x.given, z))
        first = min(later, key=lambda call: call.began, default=None)
        return None if first is None else first.module

    def _maker(self, v: Tensor, after: int, before: int) -> tuple[nn.Module, Tensor] | None:
        """The matrix that made v (1, T, G · Dh) last, and in which columns; None without one."""
        matrices = (x for x in reversed(self.watched.calls) if is_matrix(x.module))
        calls = (x for x in matrices if after < x.began and x.ended < before)
        pairs = ((x.module, columns_of(x.gave, v)) for x in calls)
        return next(((made, at) for made, at in pairs if at is not None), None)

    def _is_as_made(self, k: Tensor, after: int, before: int) -> bool:
        """Whether k (1, G, T, Dh) is what a matrix made, or a norm of that."""
        keys = merge_heads(k)
        if self._maker(keys, after, before):
            return True
        inside = (x for x in self.watched.calls if after < x.began and x.ended < before)
        norms = (x for x in inside if can_be_norm(x) and x.given.shape == x.gave.shape)
        return any(
            close(gave, keys) and self._maker(given, after, before) is not None
            for x in norms
            for given, gave in zip(
                *(_by_token(y, k.shape[2]) for y in (x.given, x.gave)), strict=True
            )
        )


def _by_token(values: Tensor, n_tokens: int) -> list[Tensor]:
    """The ways to read values as (1, T, N); of several heads these may be the second axis."""
    ways = [values.flatten(2)] if values.ndim > 2 and values.shape[1] == n_tokens else []
    is_by_head = values.ndim == 4 and values.shape[2] == n_tokens
    return [*ways, merge_heads(values)] if is_by_head else ways


def _seen(number: int) -> Site:
    """A place for a call of attention while nobody knows where it stands."""
    return Site("watched", "self", number)


@torch.inference_mode()
def watch(model: Any, inputs: Mapping[str, Tensor]) -> Watched:  # noqa: ANN401
    """Run a model once, on few tokens, and note the calls of all its modules."""
    watched = Watched()
    rope = getattr(model.config.get_text_config(decoder=True), "rope_parameters", None)
    now = _Watching(watched, has_rope=bool(rope))
    with noting(model.modules(), watched), passing(now):
        watched.output = model(**inputs)
    now.finish()
    return watched


@contextmanager
def noting(modules: Iterable[nn.Module], watched: Watched) -> Iterator[None]:
    """Note the calls of these modules while this is open, in the order in which they end."""
    began: list[tuple[int, tuple[Any, ...]]] = []

    def before(_module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        began.append((watched.tick(), (*given, *named.values())))

    def after(module: nn.Module, _given: Any, gave: Any) -> None:  # noqa: ANN401
        start, values = began.pop()
        given, out = first_tensor(values), first_tensor(gave)
        if given is not None and out is not None:
            takes_one = len(values) == 1
            watched.calls.append(Call(module, given, out, start, watched.tick(), takes_one))

    handles = []
    for module in modules:
        handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
        handles.append(module.register_forward_hook(after))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def first_tensor(values: Any) -> Tensor | None:  # noqa: ANN401
    """What a module gives or is given, of several things the first tensor; None without one."""
    several = values if isinstance(values, tuple | list) else (values,)
    return next((x for x in several if isinstance(x, Tensor)), None)


def output_of(output: Any) -> Tensor:  # noqa: ANN401
    """Logits, or where a model has none the last stream."""
    logits = output.get("logits")
    return output[0] if logits is None else logits


def can_be_norm(call: Call) -> bool:
    """Whether a call is of a module without parts that takes one tensor and is no matrix."""
    is_alone = next(call.module.children(), None) is None
    return call.takes_one and is_alone and not is_matrix(call.module)


def is_matrix(module: nn.Module) -> bool:
    """Whether a module multiplies by one matrix."""
    weight = getattr(module, "weight", None)
    return isinstance(weight, Tensor) and weight.ndim == 2 and not isinstance(module, nn.Embedding)


def close(array: Tensor, wanted: Tensor) -> bool:
    """Whether two arrays are the same but for rounding, whatever their axes."""
    if not wanted.is_floating_point() or array.numel() != wanted.numel():
        return False
    worst = (array.reshape(wanted.shape) - wanted).abs().max()
    return bool(worst <= SUMS_TO * wanted.abs().max())


def columns_of(whole: Tensor, wanted: Tensor) -> Tensor | None:
    """Which columns of a whole (…, T, N) are those wanted, (…, T, n); None without them.

    A matrix may make q, k and v at once, in whatever order (Radford et al. 2019, its c_attn).
    """
    given, made = (x.flatten(0, -2).T for x in (wanted, whole))
    if given.shape[1] != made.shape[1] or len(given) > len(made):
        return None
    apart, at = torch.cdist(given, made, p=float("inf")).min(dim=1)
    return at if bool(apart.max() <= SUMS_TO * given.abs().max()) else None
