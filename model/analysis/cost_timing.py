"""One forward pass of a model, counted and timed at growing lengths on this machine.

Every architecture takes inputs of its own: ids, ids of a source and a target of equal length, or a
picture of so many patches.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from weakref import finalize

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from model.analysis.timing import Timing, some_ids, timed
from model.architectures.base import Transformer
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.vision import VisionTransformer
from model.device import one_thread
from model.tap import NO_TAP, Recorder, Tap, attach

COUNTED, PASS = "counted", "pass"  # ways of a timing
MOST_LENGTHS = 8
LEAST_ROUNDS, MOST_ROUNDS = 5, 15


@dataclass(frozen=True, kw_only=True)
class Counted(Timing):
    """One pass while torch counts: its operations, and the most bytes of tensors alive at once.

    `peak` is that of the pass as it runs, `peak_with_maps` that of one that keeps all maps of
    attention, whose bytes are `maps`.
    """

    operations: int
    peak: int
    peak_with_maps: int
    maps: int


# --- one pass ---------------------------------------------------------------------------------


def lengths_of(model: Transformer) -> tuple[int, ...]:
    """Lengths to time, ascending: eighths of the context, or the tokens of smaller pictures.

    A picture of k × k patches has k² + 1 tokens, the class token with them.
    """
    if isinstance(model, VisionTransformer):
        n_sides = model.config.image_size // model.config.patch_size
        return tuple(side * side + 1 for side in range(1, n_sides + 1))
    context = model.config.max_seq_len
    return tuple(sorted({-(-context * part // MOST_LENGTHS) for part in range(1, 9)}))


Pass = Callable[[Tap], Tensor]


def pass_over(model: Transformer, n_tokens: int) -> Pass:
    """One forward pass over so many tokens, ready to run: its logits."""
    return PASSES[model.config.architecture](model, n_tokens)


def _text(model: Transformer, n_tokens: int) -> Pass:
    ids = some_ids(model, n_tokens)
    return lambda tap: model(ids, tap=tap)


def _translation(model: Transformer, n_tokens: int) -> Pass:
    transformer, ids = cast("EncoderDecoderTransformer", model), some_ids(model, n_tokens)
    return lambda tap: transformer(ids, ids, tap=tap)


def _picture(model: Transformer, n_tokens: int) -> Pass:
    """The last step is the model's own: it takes whole pictures only, and this one is smaller."""
    vision = cast("VisionTransformer", model)
    size = round((n_tokens - 1) ** 0.5) * vision.config.patch_size
    pixels = torch.linspace(0, 1, size * size, device=vision.device).reshape(1, size, size)
    return lambda tap: vision.unembed(vision.stream(pixels, tap=tap)[:, 0])


PASSES: Mapping[str, Callable[[Transformer, int], Pass]] = {
    "decoder": _text,
    "encoder": _text,
    "encoder_decoder": _translation,
    "vision": _picture,
}


# --- counted ----------------------------------------------------------------------------------


class Alive(TorchDispatchMode):
    """Counts the bytes of tensors that come to be while it is on, and the most alive at once.

    What an operation takes for itself and gives back before it ends is not seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation gives
        """Run one operation and count what it made."""
        for given in tree_leaves((args, kwargs)):
            if isinstance(given, Tensor):
                self._meet(given, is_made=False)
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor):
                self._meet(tensor, is_made=True)
        return made

    def _meet(self, tensor: Tensor, *, is_made: bool) -> None:
        """Enter a tensor's memory, which views share; it counts until nobody holds it."""
        storage = tensor.untyped_storage()
        place, n_bytes = storage._cdata, storage.nbytes() if is_made else 0
        if place in self._known:
            return
        self._known.add(place)
        self.now += n_bytes
        self.peak = max(self.peak, self.now)
        finalize(storage, self._leave, place, n_bytes)

    def _leave(self, place: int, n_bytes: int) -> None:
        self._known.discard(place)
        self.now -= n_bytes


def counted(model: Transformer, n_tokens: int, progress: float = 0.0) -> Counted:
    """One pass as torch counts it, in two runs.

    Operations (torch.utils.flop_counter) are those of the explicit path, which keeps the maps:
    torch counts none of fused attention on a CPU.
    """
    run, kept = pass_over(model, n_tokens), Recorder(["pattern"])
    as_it_runs, _ = _alive(run, NO_TAP)
    with_maps, n_operations = _alive(run, attach(kept))
    return Counted(
        COUNTED,
        n_tokens,
        0.0,
        progress,
        operations=n_operations,
        peak=as_it_runs,
        peak_with_maps=with_maps,
        maps=sum(pattern.nbytes for pattern in kept.values.values()),
    )


def _alive(run: Pass, tap: Tap) -> tuple[int, int]:
    """The peak of one pass in bytes, and its operations."""
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        stack.enter_context(torch.inference_mode())
        counter = stack.enter_context(FlopCounterMode(display=False))
        alive = stack.enter_context(Alive())
        run(tap)
    return alive.peak, counter.get_total_flops()


# --- timed ------------------------------------------------------------------------------------


def time_passes(model: Transformer, asked: int, *, budget_s: float = 6.0) -> Iterator[Timing]:
    """Count a pass at each of `lengths_of`, then time it round after round; `asked` comes last.

    Yields after each run. A disturbance falls on all lengths alike. The length `asked` is timed
    after all others, as often: what is fitted to them is fixed by then. ValueError where it is none
    of the lengths, or where fewer than 4 are left.
    """
    lengths = lengths_of(model)
    others = [n for n in lengths if n != asked]
    if asked not in lengths or len(others) < 4:
        raise ValueError(
            f"{asked} tokens cannot be asked for: a fit needs 4 lengths beside it, and the lengths "
            f"of a context of {model.config.max_seq_len} tokens are {', '.join(map(str, lengths))}"
        )
    for number, n in enumerate(lengths, start=1):
        yield counted(model, n, 0.1 * number / len(lengths))
    runs = {(PASS, n): partial(pass_over(model, n), NO_TAP) for n in others}
    n_timed = 0
    for timing, _ in timed(runs, LEAST_ROUNDS, MOST_ROUNDS, budget_s, part=(0.1, 0.9)):
        n_timed += 1
        yield timing
    n_rounds = n_timed // len(runs)
    last = {(PASS, asked): partial(pass_over(model, asked), NO_TAP)}
    for timing, _ in timed(last, n_rounds, n_rounds, part=(0.9, 1.0)):
        yield timing
