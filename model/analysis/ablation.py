"""Take it away: parts of a model switched off in one run, and what that costs.

A part has one spelling, in Python, in addresses of pages and on the command line:

    decoder.attn.3            all heads of a layer         decoder.cross_attn.3 likewise
    decoder.attn.3.4          one head
    decoder.attn.3.4.7        one head at one query
    decoder.attn.3.4.7.2      one arrow: query 7 to key 2
    decoder.ffn.3             a feed-forward
    decoder.ffn.3.512         one of its neurons
    everything                all there is, the embeddings too

What is off gives zeros, the mean of its values over the tokens of this input that are not special,
or what another input of the same length has there; heads also the mean over the text of a stored
survey. The mean of an arrow is the mean of its row's weights.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import (
    MOST_AT_ONCE,
    Branches,
    check_gradients,
    logits_at,
    longest_of,
)
from model.analysis.exact import Filling
from model.analysis.interventions import Given, n_at_once, run_rows
from model.architectures.base import Transformer
from model.architectures.stack import Stack
from model.device import wide
from model.norms import NoNorm
from model.tap import Edit, Gradients, attach, set_at
from model.trace import NEXT, Trace

ZERO, MEAN, SURVEYED, OTHER = "zero", "mean", "survey", "other"
WAYS = (ZERO, MEAN, SURVEYED, OTHER)
EVERYTHING = "everything"
SPELLING = re.compile(r"(encoder|decoder)\.(attn|cross_attn|ffn)((?:\.\d{1,6}){1,4})")
OUTPUTS = {"attn": "attn_out", "cross_attn": "cross_out", "ffn": "ffn_out"}
KEPT = frozenset(("z", "pattern", "mask", "activation", *OUTPUTS.values()))  # what edits put back

Values = Mapping[str, Tensor]  # of a run of one row, by address
_ALL = slice(None)


@dataclass(frozen=True, order=True)
class Part:
    """Something that can be switched off: see the module. `unit` is a head or a neuron."""

    stack: str
    module: str
    layer: int
    unit: int | None = None
    query: int | None = None
    key: int | None = None

    @property
    def text(self) -> str:
        """How it is spelled."""
        return ".".join(map(str, [self.stack, self.module, *self.numbers]))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Layer, unit, query and key, as far as they are given."""
        given = (self.layer, self.unit, self.query, self.key)
        return tuple(number for number in given if number is not None)

    @property
    def address(self) -> str:
        """Which value of the forward pass is edited."""
        block = f"{self.stack}.blocks.{self.layer}"
        if self.unit is None:
            return f"{block}.{OUTPUTS[self.module]}"
        if self.module == "ffn":
            return f"{block}.ffn.activation"
        return f"{block}.{self.module}.{'z' if self.key is None else 'pattern'}"

    @property
    def index(self) -> tuple[int | slice, ...]:
        """Which part of that value, after the axis of the batch."""
        if self.unit is None:
            return ()
        if self.module == "ffn":
            return (_ALL, self.unit)
        return tuple(x for x in (self.unit, self.query, self.key) if x is not None)


def part_of(text: str, sizes: Mapping[str, tuple[int, ...]]) -> Part:
    """A part by its spelling; `sizes` as `sizes_of` gives them. ValueError for one there is not."""
    match = SPELLING.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text[:60]!r} is not a part; give such as decoder.attn.3.4 (layer 3, head 4) or "
            "decoder.ffn.3"
        )
    group, numbers = f"{match[1]}.{match[2]}", [int(x) for x in match[3][1:].split(".")]
    limits = sizes.get(group)
    if limits is None:
        raise ValueError(f"this model has no {group}; it has {', '.join(sizes)}")
    if len(numbers) > len(limits):
        raise ValueError(f"{group} takes at most {len(limits)} numbers; {text} has {len(numbers)}")
    for number, limit in zip(numbers, limits, strict=False):
        if number >= limit:
            raise ValueError(f"{text}: {number} is none of 0 to {limit - 1}")
    return Part(match[1], match[2], *numbers)


def sizes_of(model: Transformer, lengths: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Of attention layers, heads, queries and keys, of feed-forwards layers and neurons, by group.

    lengths: the number of tokens of each stream.
    """
    sizes: dict[str, tuple[int, ...]] = {}
    neurons = (model.n_neurons,) if model.n_neurons else ()
    for stack in dict.fromkeys(site.stack for site in model.sites):
        n, n_layers = lengths[stack], model.n_blocks(stack)
        for site in model.sites:
            if site.stack == stack:
                n_keys = lengths["encoder"] if site.kind == "cross" else n
                sizes[site.group] = (n_layers, model.n_heads_at(site), n, n_keys)
        sizes[f"{stack}.ffn"] = (n_layers, *neurons)
    return sizes


def every_head(sizes: Mapping[str, tuple[int, ...]]) -> list[Part]:
    """All heads, layer by layer within each kind of attention."""
    return [
        Part(*_two(group), layer, head)
        for group, limits in sizes.items()
        if not group.endswith(".ffn")
        for layer in range(limits[0])
        for head in range(limits[1])
    ]


def every_sublayer(sizes: Mapping[str, tuple[int, ...]]) -> list[Part]:
    """All heads of each layer together, and each feed-forward."""
    return [
        Part(*_two(group), layer) for group, limits in sizes.items() for layer in range(limits[0])
    ]


def _two(group: str) -> tuple[str, str]:
    """Stack and module of a group's name."""
    stack, _, module = group.partition(".")
    return stack, module


# --- edits ------------------------------------------------------------------------------------


def edits_of(
    parts: Sequence[Part], way: str, own: Values | None = None, other: Values | None = None
) -> list[Edit]:
    """Edits that switch parts off, each to what `way` says.

    own: for the mean `averaged` values of this input, or `surveyed_values`; other: `values_of`
    another one. ValueError for a part of which a survey has no mean.
    """
    return [
        set_at(part.address, (_ALL, *part.index), _put(part, way, own or {}, other or {}))
        for part in parts
    ]


def _put(part: Part, way: str, own: Values, other: Values) -> Tensor | float:
    """What stands in for a part."""
    if way == ZERO:
        return 0.0
    if way == OTHER:
        return other[part.address][(0, *part.index)]
    if way == SURVEYED and (part.unit is None or part.module == "ffn" or part.key is not None):
        raise ValueError(
            f"a survey has the means of heads, and {part.text} is none; set it to {ZERO} or {MEAN}"
        )
    value = own[part.address][0]
    if part.key is not None:
        row = value[part.unit, part.query]  # (Tk,)
        return float(row.sum() / _n_keys(own, part, row))
    if part.module == "ffn" and part.unit is not None:
        return value[0, part.unit]
    return value[0] if part.unit is None else value[part.unit, 0]  # (D,) or (Dh,)


def _n_keys(own: Values, part: Part, row: Tensor) -> int:
    """How many keys the query of an arrow may attend to."""
    mask = own.get(part.address.replace(".pattern", ".mask"))
    if mask is None:
        return len(row)
    return max(1, int(mask.expand(own[part.address].shape)[0, part.unit, part.query].sum()))


def everything_off(model: Transformer) -> list[Edit]:
    """Edits after which nothing is left: no embedding, no sublayer, and no offset of a norm.

    The stream that the unembedding reads is zero: what is left is its bias. ValueError for a model
    whose norms are not ours.
    """
    stacks = [module for module in model.modules() if isinstance(module, Stack)]
    if not stacks:
        raise ValueError(
            "everything cannot be off in a model of transformers: what its norms add is not found; "
            "switch parts off"
        )
    edits = []
    for stack in stacks:
        edits.append(set_at(f"{stack.name}.embed", (), 0.0))
        if stack.position.added(torch.arange(1, device=stack.device)) is not None:
            edits.append(set_at(f"{stack.name}.positions", (), 0.0))
        for layer, block in enumerate(stack.blocks):
            outputs = [name for name in OUTPUTS if hasattr(block, name)]
            edits += [
                set_at(f"{stack.name}.blocks.{layer}.{OUTPUTS[name]}", (), 0.0) for name in outputs
            ]
    last = stacks[-1]
    end = f"blocks.{len(last.blocks) - 1}.ffn_norm"
    norm = end if isinstance(last.final_norm, NoNorm) else "final_norm"
    return [*edits, set_at(f"{last.name}.{norm}.scaled", (), 0.0)]


# --- what it costs ----------------------------------------------------------------------------


CLASS, IN_PLACE = "class", "token in its place"


@dataclass(frozen=True, eq=False)
class Targets:
    """What a run is judged by: the token that is right at each of these positions, N of each.

    `names` are our words for what they are.
    """

    positions: np.ndarray
    ids: np.ndarray
    name: str

    def losses(self, logits: Tensor) -> np.ndarray:
        """−ln p in nats of each, (…, N). logits: (…, T, V), of pictures (…, C)."""
        return self.of(logits).numpy()

    def of(self, logits: Tensor) -> Tensor:
        """`losses` before they leave the graph."""
        rows = logits[..., None, :] if self.name == CLASS else logits
        own = wide(rows[..., torch.tensor(self.positions), :]).log_softmax(dim=-1)
        ids = torch.tensor(self.ids).expand(own.shape[:-1])
        return -own.gather(-1, ids[..., None])[..., 0]


def targets_of(trace: Trace, true_ids: Sequence[int] | None = None) -> Targets:
    """Every true next token; of an encoder the tokens in their places; of a picture the class.

    true_ids: of a text some of whose tokens are hidden, the ids that stood there. A run of one
    token, like a picture, is judged by the model's own most likely answer.
    ValueError for a run without logits.
    """
    if trace.output is None:
        raise ValueError(f"this run of a {trace.facts.architecture} has no logits to be judged by")
    predicts = trace.facts.predicts
    if predicts == CLASS or (predicts == NEXT and len(trace.tokens) == 1):
        answer = np.array([int(trace.output[0].argmax())])
        return Targets(np.array([0]), answer, predicts)
    if predicts == NEXT:
        return Targets(np.arange(len(trace.tokens) - 1), trace.ids[1:], NEXT)
    ids = trace.ids if true_ids is None else np.array(true_ids[: len(trace.tokens)])
    return Targets(np.arange(len(ids)), ids, IN_PLACE)


def costs(
    model: Transformer,
    given: Given,
    rows: Sequence[Sequence[Edit]],
    targets: Targets,
    at_once: int = 0,
) -> Iterator[np.ndarray]:
    """The mean loss of the targets under each row of edits, piece by piece: (b,) each.

    at_once: how many rows make a piece, by default as many as `n_at_once`.
    """
    size = at_once or n_at_once(given)
    for start in range(0, len(rows), size):
        logits = run_rows(model, given, rows[start : start + size])
        yield targets.losses(logits).mean(axis=-1)


def single_costs(
    model: Transformer, given: Given, parts: Sequence[Part], targets: Targets, whole: float
) -> Filling:
    """How much the mean loss grows with each part alone at zero, estimated and then exact, (N,).

    whole: the mean loss with nothing off. Of a text that is too long nothing is estimated.
    """
    branches = Branches(model, given, slice(None))

    def grown(cells: Sequence[int]) -> np.ndarray:
        off = [parts[cell] for cell in cells]
        changes = [(part.index, 0.0) for part in off]
        logits = branches.logits([part.address for part in off], changes)
        return targets.losses(logits).mean(axis=-1) - whole

    try:
        check_gradients(model, longest_of(given))
        estimate = estimated_costs(model, given, parts, targets)
    except ValueError:
        estimate = np.full(len(parts), np.nan)
    at_once = n_at_once(given, MOST_AT_ONCE)
    return Filling(estimate, [(part.stack, part.layer) for part in parts], grown, at_once)


def estimated_costs(
    model: Transformer, given: Given, parts: Sequence[Part], targets: Targets
) -> np.ndarray:
    """What each part at zero adds to the mean loss to first order: − Σ gradient · value, (N,)."""
    gradients = Gradients({part.address.rpartition(".")[2] for part in parts})
    with torch.enable_grad():
        logits = logits_at(model, given, slice(None), attach(gradients))
        slopes = gradients.of(targets.of(logits).mean())
    values = gradients.values
    products = {name: wide(slopes[name] * values[name].detach())[0] for name in values}
    return np.array([-float(products[part.address][part.index].sum()) for part in parts])


@dataclass(frozen=True)
class Step:
    """One head more that is off: which, and the mean loss then."""

    part: Part
    loss: float


def pruned(
    model: Transformer, given: Given, heads: Sequence[Part], targets: Targets, at_once: int = 0
) -> Iterator[Step | None]:
    """Heads put to zero one after the other, each time the one whose loss is smallest then.

    Greedy, as in Michel et al. 2019, §4.1, by the loss itself. Gives None after each piece of
    work, so that one may stop, and a step when a head is found.
    """
    off: list[Part] = []
    left = list(heads)
    while left:
        rows = [edits_of([*off, one], ZERO) for one in left]
        losses: list[float] = []
        for piece in costs(model, given, rows, targets, at_once):
            losses += piece.tolist()
            yield None
        best = int(np.argmin(losses))
        off.append(left.pop(best))
        yield Step(off[-1], losses[best])


def n_prunable(whole: float, steps: Sequence[Step], rise: float = 0.05) -> int:
    """How many heads can go before the loss first exceeds (1 + rise) · the whole model's."""
    for number, step in enumerate(steps):
        if step.loss > (1 + rise) * whole:
            return number
    return len(steps)
