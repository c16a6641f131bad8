"""The parts of a model of transformers in the order of a pass, and which weights each has."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from torch import Tensor, nn

from model.adopted.anatomy import UPDATES, Anatomy, BlockParts
from model.adopted.watched import Attended, Call, Watched, can_be_norm, close, is_matrix, output_of
from model.parts import Heads, StackParts, Step, Sublayer, kind_of_norm

Named = Callable[[Call], str]
MOST_NAMED = 3  # modules that a box says by name


def stacks_of(
    anatomy: Anatomy,
    watched: Watched,
    inner: Any,  # noqa: ANN401
) -> tuple[StackParts, ...]:
    """All stacks of a model of transformers; none where what their blocks add was not found."""
    if not anatomy.has_residuals:
        return ()
    stacks = []
    names = {module: name for name, module in inner.named_modules()}
    for before, name, after in _around(anatomy, watched):
        blocks = anatomy.of(name)
        seen = [one for site, one in anatomy.attended if site.stack == name]
        sublayers = tuple(x for n, block in enumerate(blocks) for x in _sublayers(n, block, seen))
        last, d_model = blocks[-1].call, blocks[-1].call.gave.shape[-1]
        head, output = inner.get_output_embeddings(), output_of(watched.output)
        kinds = (_first_kind(inner.get_input_embeddings()), _last_kind(head, output, last))
        first, end = (
            tuple(_steps(calls, kind_of, names))
            for calls, kind_of in zip((before, after), kinds, strict=True)
        )
        stacks.append(StackParts(name, d_model, first, sublayers, end))
    counted = {id(x) for stack in stacks for x in weights_of(stack)}
    rest = {name: x for name, x in inner.named_parameters() if id(x) not in counted}
    if rest:
        named = _listed(name.rpartition(".")[0] or name for name in rest)
        unused = f"{named}: not on the way to the output"
        unseen = Step("other", 0, tuple(rest.values()), detail=unused)
        stacks[-1] = stacks[-1]._replace(after=(*stacks[-1].after, unseen))
    return tuple(stacks)


def weights_of(stack: StackParts) -> Iterator[nn.Parameter]:
    """All weights of a stack, some more than once."""
    for step in (*stack.before, *stack.after):
        yield from step.weights
    for one in stack.sublayers:
        yield from one.weights
        for norm in (one.read, one.own_norm, one.norm):
            yield from norm.parameters() if norm else ()


# --- blocks -----------------------------------------------------------------------------------


def _sublayers(layer: int, block: BlockParts, attended: Sequence[Attended]) -> Iterator[Sublayer]:
    """What a block adds to its stream: of attention what it has by itself, and all the rest."""
    inside = [x for x in attended if block.call.began <= x.when <= block.call.ended]
    norms = [[x and x.module for x in (y.own_norm, y.norm, y.read)] for y in block.updates]
    counted = {id(w) for of_one in norms for norm in of_one if norm for w in norm.parameters()}
    for number, (writes, update) in enumerate(zip(block.written, block.updates, strict=True)):
        one = inside[number] if number < len(inside) else None
        owners = [block.call.module] if one is None else [one.module, one.projection]
        every = (w for owner in owners if owner for w in owner.parameters())
        weights = tuple(w for w in every if id(w) not in counted)
        counted.update(map(id, weights))
        matrix = update.matrix and update.matrix.module
        is_seen = (matrix in [x.projection for x in inside]) == (writes != UPDATES[-1])
        yield Sublayer(
            layer,
            writes,
            matrix if is_seen else None,
            *norms[number],
            reads=update.reads,
            weights=weights,
            heads=one and _heads(one),
            up=update.up.module if update.up and one is None else None,
        )


def _heads(one: Attended) -> Heads:
    sizes = (one.n_heads, one.n_kv_heads, one.d_head, one.window, one.d_value)
    return Heads(*sizes, is_turned=one.is_turned)


# --- around the blocks ------------------------------------------------------------------------


def _around(anatomy: Anatomy, watched: Watched) -> Iterator[tuple[list[Call], str, list[Call]]]:
    """The calls before the blocks of each stack and after them, of modules with own weights."""
    whole = [block.call for block in anatomy.blocks]
    outside = (x for x in watched.calls if not any(y.began <= x.began < y.ended for y in whole))
    own = [x for x in outside if [*x.module.parameters(recurse=False)] or _is_norm(x)]
    blocks = ((name, anatomy.of(name)) for name in anatomy.stacks)
    spans = {name: (x[0].call.began, x[-1].call.ended) for name, x in blocks if x}
    start = 0
    for number, (name, (began, ended)) in enumerate(spans.items()):
        later = [x.began for x in own if x.began > ended and isinstance(x.module, nn.Embedding)]
        stop = min(later) if later and number + 1 < len(spans) else float("inf")
        before = [x for x in own if start <= x.began and x.ended < began]
        yield before, name, [x for x in own if ended < x.ended and x.began < stop]
        start = stop


def _listed(names: Iterable[str]) -> str:
    """Modules by their names, the first of many."""
    first, more = list(dict.fromkeys(names)), ""
    if len(first) > MOST_NAMED:
        first, more = first[:MOST_NAMED], " …"
    return ", ".join(first) + more


def _steps(calls: Iterable[Call], kind_of: Named, names: Mapping[nn.Module, str]) -> Iterator[Step]:
    """Steps, of which several that are not known by themselves make one, named by its modules."""
    known = [(kind_of(call), call) for call in calls]

    def together(place: int) -> int | str:
        kind, _ = known[place]
        return kind if kind in ("other", "patches") else place

    for _, places in groupby(range(len(known)), together):
        kinds, alike = zip(*(known[place] for place in places), strict=True)
        yield _step(kinds[0], alike, names)


def _step(kind: str, alike: Sequence[Call], names: Mapping[nn.Module, str]) -> Step:
    """One step, of one call or of several."""
    held = [tuple(call.module.parameters(recurse=False)) for call in alike]
    first, last = alike[0], alike[-1]
    detail = _scaled(first) if kind == "embedding" else ""
    if kind == "other":
        pairs = zip(alike, held, strict=True)
        detail = _listed(names[call.module] for call, weights in pairs if weights)
    return Step(
        kind,
        last.gave.shape[-1],
        tuple(chain.from_iterable(held)),
        first.module if kind.endswith("norm") else None,
        len(last.gave) if kind == "unembedding" and last.gave.ndim == 2 else None,
        detail,
    )


def _scaled(call: Call) -> str:
    """What embeddings are multiplied by after they are looked up."""
    scale = float(call.gave.norm() / call.module.get_parameter("weight")[call.given].norm())
    return "" if abs(scale - 1) < 1e-4 else f"× {scale:.4g}"


def _first_kind(words: nn.Module) -> Named:
    table = getattr(words, "weight", None)

    def kind(call: Call) -> str:
        if not call.given.is_floating_point() and getattr(call.module, "weight", None) is table:
            return "embedding"
        if call.given.ndim == 4:  # pixels
            return "patches"
        if isinstance(call.module, nn.Embedding):
            is_of_place = not close(call.gave[..., :1, :].expand_as(call.gave), call.gave)
            return "positions" if is_of_place else "other"
        return "norm" if _is_norm(call) else "other"

    return kind


def _last_kind(head: nn.Module | None, output: Tensor, last: Call) -> Named:
    def kind(call: Call) -> str:
        is_of_class = is_matrix(call.module) and call.gave.ndim == 2 and close(call.gave, output)
        if call.module is head or is_of_class:
            return "unembedding"
        if not _is_norm(call):
            return "other"
        return "final_norm" if close(call.given, last.gave) else "norm"

    return kind


def _is_norm(call: Call) -> bool:
    is_alike = call.given.shape == call.gave.shape and can_be_norm(call)
    return is_alike and kind_of_norm(call.module, call.gave.shape[-1]) is not None
