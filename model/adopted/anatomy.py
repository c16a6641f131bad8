"""Where things are in a model that transformers built: found by watching one pass, not by names.

Families spell and order their parts in a hundred ways, but all of them add what attention and the
feed-forward give to a stream. So one pass over a few tokens is watched, and in each block those
outputs are searched whose sums make the block's own: they are its parts, whatever their names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor, nn

from model.adopted.watched import Attended, Call, Watched, can_be_norm, close, is_matrix
from model.parts import STREAMS
from model.trace import Site

UPDATES = ("attn_out", "cross_out", "ffn_out")  # of a block, in order


class Update(NamedTuple):
    """A call whose output is added to the stream, and the norm that the stream then goes through.

    `norm` is None where the sum itself goes on (Xiong et al. 2020), and else the call that the
    stream goes on from (Vaswani et al. 2017, §3.1). `matrix` makes the output, and where there is
    an `own_norm` this makes it of what the matrix gives; None where no one matrix was seen. `up` is
    the last matrix before it whose output is as wide as what it is given. `read` is what the stream
    that it `reads` goes through first.
    """

    call: Call
    norm: Call | None
    matrix: Call | None = None
    up: Call | None = None
    own_norm: Call | None = None
    read: Call | None = None
    reads: str = STREAMS[0]


@dataclass(frozen=True)
class BlockParts:
    """One call of a block: where it is, and the updates of its stream in order.

    There is one update for each attention and one more; none where they were not found.
    """

    address: str
    call: Call
    sites: tuple[Site, ...]
    updates: tuple[Update, ...]

    @property
    def written(self) -> tuple[str, ...]:
        """What each update is called, in order."""
        names = UPDATES if len(self.updates) == len(UPDATES) else (UPDATES[0], UPDATES[-1])
        return names[: len(self.updates)]


@dataclass(frozen=True)
class Anatomy:
    """All blocks in the order of a pass, and what was seen of each attention."""

    blocks: tuple[BlockParts, ...]
    attended: tuple[tuple[Site, Attended], ...]

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, in order."""
        return tuple(dict.fromkeys(site.stack for site, _ in self.attended))

    def of(self, stack: str) -> list[BlockParts]:
        """The blocks of a stack."""
        return [block for block in self.blocks if block.sites[0].stack == stack]

    @property
    def has_residuals(self) -> bool:
        """Whether the parts of every block were found."""
        return all(block.updates for block in self.blocks)


def anatomy_of(model: nn.Module, watched: Watched, stacks: Sequence[str]) -> Anatomy:
    """The blocks of a model, by what a pass over it did.

    stacks: names for the lists of layers that attend, in the order in which they run.
    Raises ValueError where no attention was seen, or in more lists than there are names.
    """
    if not watched.attended:
        raise ValueError(
            f"no attention of {type(model).__name__} goes through transformers' attention "
            "interface, so it cannot be seen; open a model of another family"
        )
    names = {module: name for name, module in model.named_modules()}
    layers = [_layer_of(model, names[call.module]) for call in watched.attended]
    lists = list(dict.fromkeys(place for _, place in layers))
    if len(lists) > len(stacks):
        raise ValueError(
            f"{type(model).__name__} has {len(lists)} stacks of layers that attend "
            f"({', '.join(lists)}); Headlight shows models of one, or of an encoder and a decoder"
        )
    stack_of = dict(zip(lists, stacks, strict=False))
    return _built(watched, [(layer, stack_of[place]) for layer, place in layers])


def _layer_of(model: nn.Module, name: str) -> tuple[nn.Module, str]:
    """The layer that a module is in, and the name of the list that it stands in.

    It is the outermost numbered one; what attends outside of any list is a layer of its own.
    """
    parts = name.split(".")
    for n, part in enumerate(parts):
        if part.isdigit():
            return model.get_submodule(".".join(parts[: n + 1])), ".".join(parts[:n])
    return model.get_submodule(name), name


def _built(watched: Watched, layers: Sequence[tuple[nn.Module, str]]) -> Anatomy:
    """layers: for each call of attention its layer and stack."""
    blocks: list[BlockParts] = []
    attended: list[tuple[Site, Attended]] = []
    for call, inside, stack in _by_block(watched, layers):
        number = sum(block.sites[0].stack == stack for block in blocks)
        sites = [Site(stack, "cross" if n else "self", number) for n in range(len(inside))]
        attended.extend(zip(sites, inside, strict=True))
        updates = _updates(watched, call, inside)
        blocks.append(BlockParts(f"{stack}.blocks.{number}", call, tuple(sites), updates))
    return Anatomy(tuple(blocks), tuple(attended))


def _by_block(
    watched: Watched, layers: Sequence[tuple[nn.Module, str]]
) -> list[tuple[Call, list[Attended], str]]:
    """Each call of a layer, the attention in it, and its stack."""
    blocks: dict[int, tuple[Call, list[Attended], str]] = {}
    for one, (layer, stack) in zip(watched.attended, layers, strict=True):
        call = next(
            x for x in watched.calls if x.module is layer and x.began <= one.when <= x.ended
        )
        blocks.setdefault(call.began, (call, [], stack))[1].append(one)
    return list(blocks.values())


def _updates(watched: Watched, block: Call, inside: Sequence[Attended]) -> tuple[Update, ...]:
    """What a block adds to its stream, in order: each attention's, then the feed-forward's."""
    if block.given.numel() != block.gave.numel():  # a stream of another shape is no sum
        return ()
    alike = (x for x in _inside(watched, block) if x.gave.numel() == block.gave.numel())
    calls = [x for x in alike if x.gave.shape[-1] == block.gave.shape[-1]]
    moments = [one.when for one in inside]
    updates = _chain(block.given, block.gave, calls, moments) or ()
    streams = [(STREAMS[0], block.given)]
    for name, update in zip(STREAMS[1:], updates, strict=False):
        total = streams[-1][1] + update.call.gave.reshape(block.given.shape)
        streams.append((name, total if update.norm is None else update.norm.gave))
    matrices = [x for x in _inside(watched, block) if is_matrix(x.module)]
    whole = [_with_up(_with_matrix(update, calls), matrices) for update in updates]
    return tuple(_with_read(x, [streams[n], streams[0]], calls) for n, x in enumerate(whole))


def _inside(watched: Watched, block: Call) -> Iterator[Call]:
    """The calls inside of another, in the order in which they ended."""
    return (x for x in watched.calls if block.began < x.began and x.ended < block.ended)


def _with_up(update: Update, matrices: Sequence[Call]) -> Update:
    """An update with the matrix whose output is as wide as what its own is given."""
    last = update.matrix
    if last is None:
        return update
    before = (x for x in reversed(matrices) if x.ended < last.began)
    return update._replace(up=next((x for x in before if x.gave.shape == last.given.shape), None))


def _with_read(
    update: Update, streams: Sequence[tuple[str, Tensor]], calls: Sequence[Call]
) -> Update:
    """An update with the norm that its stream goes through first: that before it, or the first.

    A block whose feed-forward reads the same as its attention has both (Black et al. 2022, §2.1).
    """
    inside = [x for x in calls if x.ended < update.call.ended and can_be_norm(x)]
    for name, stream in streams:
        reads = (
            x for x in reversed(inside) if close(x.given, stream) and not close(x.gave, stream)
        )
        if read := next(reads, None):
            return update._replace(read=read, reads=name)
    return update._replace(reads=streams[0][0])


def _with_matrix(update: Update, calls: Sequence[Call]) -> Update:
    """An update with what makes its output: a matrix, perhaps with one call behind it."""
    before = [x for x in calls if x.ended <= update.call.ended]
    matrices = [x for x in before if is_matrix(x.module)]
    for norm in (None, *(x for x in before if close(x.gave, update.call.gave))):
        wanted = update.call.gave if norm is None else norm.given
        made = (x for x in reversed(matrices) if close(x.gave, wanted))
        if matrix := next(made, None):
            return update._replace(matrix=matrix, own_norm=norm)
    return update


def _chain(
    stream: Tensor, wanted: Tensor, calls: Sequence[Call], moments: Sequence[int]
) -> list[Update] | None:
    """Updates that lead from a stream to what is wanted: one after each moment, and one more.

    Of several calls that give the same the last is taken, which has the others inside it or before
    it. The stream goes on as the sum, or as a norm that reads the sum gives it.
    """
    first, *later = moments or (0,)
    last = later[0] if later else float("inf")
    for n, call in reversed(list(enumerate(calls))):
        if not first < call.ended < last:
            continue
        total = stream + call.gave.reshape(stream.shape)  # some have all tokens in one row
        norm = _norm_of(total, calls[n + 1 :])
        for after, update in ((total, None), (norm and norm.gave, norm)):
            if after is None:
                continue
            if not moments:
                if close(after, wanted):
                    return [Update(call, update)]
                continue
            rest = _chain(after, wanted, calls[n + 1 :], later)
            if rest is not None:
                return [Update(call, update), *rest]
    return None


def _norm_of(total: Tensor, calls: Sequence[Call]) -> Call | None:
    """The first of some calls that reads a sum; None where it leaves it as it is."""
    reader = next((call for call in calls if close(call.given, total)), None)
    return None if reader is None or close(reader.gave, total) else reader
