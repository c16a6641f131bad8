"""What is done with a value where a module of transformers gives it: it goes through the tap.

Each role is dealt to one call of a module in a pass. It takes the pass and the value, and gives
back the value to go on with, the very same where nobody changed it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from torch import Tensor, nn

from model.adopted.anatomy import Anatomy, BlockParts
from model.adopted.attention import Passing, Places, Role
from model.adopted.watched import Call, Watched, close

SUMS = ("resid_mid", "resid_cross")  # what the stream is after each of them but the last


@dataclass(frozen=True)
class Value:
    """What is shown as it is, such as embeddings."""

    address: str

    def __call__(self, now: Passing, value: Tensor) -> Tensor:
        """value: (B, T, D)."""
        return now.tap(self.address, value)


@dataclass(frozen=True)
class Positions:
    """What positions add, the same for each row of a batch."""

    address: str

    def __call__(self, now: Passing, value: Tensor) -> Tensor:
        """value: (1 or B, T, D) or (T, D)."""
        shared = value[0] if value.ndim == 3 else value
        new = now.tap(self.address, shared)
        return value if new is shared else new.expand_as(value)


@dataclass(frozen=True)
class Stream:
    """The residual stream itself, from where it goes on."""

    address: str

    def __call__(self, now: Passing, value: Tensor) -> Tensor:
        """value: (B, T, D)."""
        now.stream = now.tap(self.address, value)
        return now.stream


@dataclass(frozen=True)
class Added:
    """What is added to the stream. `total` is the address of the sum, where no module has it."""

    address: str
    total: str | None

    def __call__(self, now: Passing, value: Tensor) -> Tensor:
        """value: (B, T, D), or all tokens in one row."""
        assert now.stream is not None
        given = value if value.ndim == 3 else value.unflatten(0, now.stream.shape[:2])
        new = now.tap(self.address, given)
        if self.total is not None:
            total = now.stream + new
            edited = now.tap(self.total, total)
            new = new if edited is total else edited - now.stream
            now.stream = edited
        return value if new is given else new.reshape(value.shape)


@dataclass(frozen=True)
class Roles:
    """Roles of what modules are given (`before`) and of what they give (`after`)."""

    before: Places[Role]
    after: Places[Role]

    @property
    def embeds(self) -> bool:
        """Whether the embeddings of tokens are seen by themselves."""
        values = (role for dealt in self.after.values() for role in dealt)
        return any(isinstance(x, Value) and x.address.endswith(".embed") for x in values)


def roles(words: nn.Module, anatomy: Anatomy, watched: Watched) -> Roles:
    """Who has which role in a model. words: the module that embeds tokens."""
    before: list[tuple[Call, Role]] = []
    after: list[tuple[Call, Role]] = []
    if anatomy.has_residuals:
        for stack in anatomy.stacks:
            after.extend(_of_embeddings(stack, words, anatomy.of(stack)[0].call, watched))
        for block in anatomy.blocks:
            before.append((block.call, Stream(f"{block.address}.resid_pre")))
            if block.updates and (down := block.updates[-1].matrix):
                before.append((down, Value(f"{block.address}.ffn.activation")))
            after.extend(_of_updates(block))
            after.append((block.call, Stream(f"{block.address}.resid_post")))
    return Roles(_by_call(before, watched), _by_call(after, watched))


def _by_call(dealt: Iterable[tuple[Call, Role]], watched: Watched) -> Places[Role]:
    """Roles by module and number of the call. A call has at most one."""
    by_end = {call.ended: role for call, role in dealt}
    modules = {call.module for call in watched.calls if call.ended in by_end}
    return {
        module: tuple(by_end.get(call.ended) for call in watched.calls if call.module is module)
        for module in modules
    }


def _of_updates(block: BlockParts) -> Iterable[tuple[Call, Role]]:
    for number, (update, name) in enumerate(zip(block.updates, block.written, strict=True)):
        is_last = number == len(block.updates) - 1
        total = None if is_last else f"{block.address}.{SUMS[number]}"
        yield update.call, Added(f"{block.address}.{name}", None if update.norm else total)
        if update.norm is not None and total is not None:
            yield update.norm, Stream(total)


def _of_embeddings(
    stack: str, words: nn.Module, first: Call, watched: Watched
) -> Iterable[tuple[Call, Role]]:
    """Embeddings and positions, where the first block is given their sum."""
    begun = [call for call in watched.calls if call.ended < first.began]
    embed = next((call for call in reversed(begun) if _has_table(call.module, words)), None)
    if embed is None or embed.gave.shape != first.given.shape:
        return
    for added in (None, *begun):
        if _makes(first.given, embed.gave, added):
            yield embed, Value(f"{stack}.embed")
            if added is not None:
                yield added, Positions(f"{stack}.positions")
            return


def _has_table(module: nn.Module, words: nn.Module) -> bool:
    """Whether a module looks up in the same table; stacks may have a module each for one table."""
    table = getattr(words, "weight", None)
    return module is words or (table is not None and getattr(module, "weight", None) is table)


def _makes(stream: Tensor, embed: Tensor, added: Call | None) -> bool:
    """Whether the stream is the embeddings and what a call gave, or these alone."""
    if added is None:
        return close(embed, stream)
    if added.gave.numel() != stream.numel():
        return False
    return close(embed + added.gave.reshape(stream.shape), stream)
