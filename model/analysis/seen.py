"""What a model of transformers costs: counted on its parts, which were found by watching it.

Operations are those of matrix products, as `sizes` has them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn

from model.adopted.model import AdoptedModel
from model.adopted.watched import is_matrix
from model.analysis.anatomy import KINDS, anatomy
from model.parts import Heads, Sublayer

PART_OF = {  # of a kind of `anatomy`; all others are further weights
    "embedding": "embedding",
    "patches": "embedding",
    "positions": "positions",
    "self_attention": "attention",
    "cross_attention": "attention",
    "feed_forward": "MLP",
    "norm": "norms",
    "final_norm": "norms",
    "scale": "norms",
    "unembedding": "unembedding",
}
OTHER = "other"
LOOKED_UP = ("embedding", "positions")


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """What was counted, in place of a `Shape`.

    `first` are the weights of each sublayer of the first layer. `multiplied` are those that every
    token is multiplied with, by part; None where not every token meets each matrix once, as with
    experts. `heads` are those of each attention, `kept` of those whose keys and values are kept for
    later tokens; None where more is kept than these, or less.
    """

    d_model: int
    n_encoder_layers: int
    weights: dict[str, int]
    first: dict[str, int]
    multiplied: dict[str, int] | None
    heads: tuple[Heads, ...]
    kept: tuple[Heads, ...] | None

    def operations(self, n_keys: int) -> dict[str, int]:
        """See `sizes.operations`; empty where they are not known."""
        if self.multiplied is None:
            return {}
        of_pair = sum(x.n_heads * (x.d_head + x.d_value) for x in self.heads)
        counts = {name: 2 * n for name, n in self.multiplied.items()}
        return counts | {"attention": 2 * of_pair * n_keys}

    def memory(self, n_tokens: int, bytes_per_value: int) -> dict[str, int]:
        """See `sizes.memory`. In a window are kept those that the next token sees beside itself."""
        held = {"maps": sum(x.n_heads for x in self.heads) * n_tokens**2 * bytes_per_value}
        if self.kept:
            lengths = (min(n_tokens, x.window - 1 if x.window else n_tokens) for x in self.kept)
            sizes = (x.n_kv_heads * (x.d_head + x.d_value) for x in self.kept)
            values = (n * size for n, size in zip(lengths, sizes, strict=True))
            held["cache"] = sum(values) * bytes_per_value
        return held


def seen_of(model: AdoptedModel) -> Seen:
    """What a model has, by its `stacks`."""
    weights: Counter[str] = Counter(dict.fromkeys(PART_OF.values(), 0))
    columns = anatomy(model, (1,) * len(model.stacks))
    for column in columns:
        for part in column.parts:
            weights[PART_OF.get(part.kind, OTHER)] += part.n_parameters
    sublayers = [one for stack in model.stacks for one in stack.sublayers]
    last = [one.heads for one in model.sublayers if one.heads]
    keeps = (
        "decoder" in model.config.architecture
        and not model.config.n_together
        and model.has_projections
        and all(model.value_weights(site) is not None for site in model.sites)
    )
    return Seen(
        d_model=model.stacks[-1].d_model,
        n_encoder_layers=sum(one.writes == "ffn_out" for one in sublayers[: -len(model.sublayers)]),
        weights=dict(weights),
        first={x.kind: x.counts[0] for x in columns[-1].parts if x.kind in KINDS.values()},
        multiplied=_multiplied(model, sublayers),
        heads=tuple(one.heads for one in sublayers if one.heads),
        kept=tuple(last) if keeps else None,
    )


def _multiplied(model: AdoptedModel, sublayers: Sequence[Sublayer]) -> dict[str, int] | None:
    steps = [step for stack in model.stacks for step in (*stack.before, *stack.after)]
    used = [step for step in steps if step.kind not in LOOKED_UP]
    matrices = {id(x.weight) for x in model.modules() if is_matrix(x)}
    tables = {id(x.weight) for x in model.modules() if isinstance(x, nn.Embedding)}
    counts: dict[str, int] = dict.fromkeys(("projections", "attention", "MLP", "unembedding"), 0)
    of_each = [(PART_OF[KINDS[one.writes]], one.weights, True) for one in sublayers]
    of_each += [(PART_OF.get(x.kind, OTHER), x.weights, x.width and not x.rows) for x in used]
    for part, weights, is_of_each in of_each:
        for weight in {id(x): x for x in weights}.values():
            if id(weight) in matrices and is_of_each:
                counts[part] = counts.get(part, 0) + weight.numel()
            elif weight.ndim > 1 and id(weight) not in tables:
                return None
    counts["projections"], counts["attention"] = counts["attention"], 0
    return counts
