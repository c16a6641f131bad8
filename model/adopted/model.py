"""A model of transformers behind the contract of ours: ids and a tap in, the output of all out."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from model.adopted.anatomy import Anatomy
from model.adopted.asking import queries_and_keys
from model.adopted.attention import Passing, Places, passing, softcapped
from model.adopted.hooks import (
    attending,
    can_be_left_out,
    given_through,
    gives_through,
    put_on,
)
from model.adopted.parts import stacks_of
from model.adopted.pictures import MOST_CELLS, Pictures
from model.adopted.roles import roles
from model.adopted.watched import Watched, output_of
from model.architectures.base import Transformer, of_each_head
from model.architectures.decoder import DecoderTransformer
from model.blocks import matrix_of
from model.config import BlockConfig
from model.kv_cache import KVCache
from model.memory import give_back_freed_memory
from model.parts import StackParts
from model.records import Recording, Row, to_numpy
from model.tap import NO_TAP, Attachment, Tap
from model.trace import Facts, Site, Stream, Trace
from model.work import Steps

# Of the patterns of a run, L · H · T², whose scores are as many again: beyond these they are not
# kept but worked out when looked at.
KEPT_CELLS = 40_000_000
COUNTING = ("dynamic", "longrope")  # kinds of RoPE whose angles depend on how long the text is
FIRST_LENGTH, CHUNK = "original_max_position_embeddings", "attention_chunk_size"


@dataclass(frozen=True, kw_only=True)
class AdoptedConfig(Facts):
    """What is known of a model, by the names of our configs."""

    kv_shapes: tuple[tuple[int, int, int], ...]
    n_together: int = 0
    window: int = 0
    prefix_len: int = 0
    n_global: int = 0


class Readout(nn.Module):
    """What makes logits of the last stream: a norm, a matrix, and where there is one a softcap."""

    def __init__(self, final_norm: nn.Module, unembed: nn.Linear, softcap: float | None) -> None:
        super().__init__()
        self.final_norm, self.unembed, self.softcap = final_norm, unembed, softcap

    def forward(self, stream: Tensor) -> Tensor:
        """Logits (…, V) of a stream (…, D)."""
        logits = self.unembed(self.final_norm(stream))
        return logits if self.softcap is None else softcapped(logits, self.softcap)


class AdoptedModel(Transformer):
    """A model whose values go through our tap, at our addresses, as far as they were found.

    `facts` is what is known of it, and `config` the same with as many tokens of its context as are
    run: of more, working out all patterns takes too long. Where its blocks do not add up as far as
    was seen, its pass has attention and no residual stream; where nothing is said of words, the
    output is that stream. `readout` is None where logits are not made of it by a norm and a matrix,
    and `embeds` says whether the embeddings of tokens were found.
    """

    splits = False  # nothing says that its modules take more rows on the way
    config: Any  # as much of a config as is known
    inner: Any

    def __init__(self, inner: Any, anatomy: Anatomy, watched: Watched, facts: Facts) -> None:  # noqa: ANN401
        super().__init__(cast("BlockConfig", _config(facts, anatomy)))
        self.inner, self.anatomy, self.facts = inner, anatomy, facts
        self.name = anatomy.stacks[-1]
        self.readout: Readout | None = None
        self.pictures: Pictures | None = None
        self.eval()
        self._attention: Places[Site] = _places(anatomy, watched)
        self._roles = roles(inner.get_input_embeddings(), anatomy, watched)
        self.embeds = self._roles.embeds
        self._stacks = stacks_of(anatomy, watched, inner)
        self._hooks = [
            *((given_through, module) for module in self._roles.before),
            *((gives_through, module) for module in self._roles.after),
            *((can_be_left_out, block.call.module) for block in anatomy.blocks),
            *attending(inner),
        ]

    def forward(
        self,
        given: Tensor | tuple[Tensor, Tensor],
        *,
        mask: Tensor | None = None,
        tap: Tap = NO_TAP,
        cache: KVCache | None = None,
        first: int = 0,
        **options: Tensor,
    ) -> Tensor:
        """What the model gives of an input, whose values pass through a tap.

        given: ids (B, T), of a translation those of source and target, or pixels (B, 3, S, S), or
        where `pictures` knows how these are made grey ones from 0 to 1, (B, S, S).
        mask: bool, broadcastable to (B, H, T, T), taken in self-attention instead of its own. With
        a cache ids are those after the tokens in it, which it then holds too. first: the block to
        begin with, see `is_chain`; what goes through the tap must give it its stream.
        Returns logits (B, T, V), of a picture (B, C), or (B, T, D) where there are none.
        """
        inputs = self._inputs(given)
        for ids in inputs.values():
            if not ids.is_floating_point():
                self.check_length(ids.shape[1], 0 if cache is None else cache.length)
        if cache is not None:
            ids = inputs["input_ids"]
            cache.check_room(*ids.shape)
            places = torch.arange(cache.length, cache.length + ids.shape[1], device=ids.device)
            inputs["position_ids"] = places[None]
        left_out = frozenset(block.call.module for block in self.anatomy.blocks[:first])
        places = (self._attention, self._roles.before, self._roles.after)
        with put_on(self._hooks), passing(Passing(tap, *places, mask, cache, left_out)):
            output = self.inner(**inputs, **self._options(), **options)
        if cache is not None:
            cache.advance(inputs["input_ids"].shape[1])
        return tap("logits", output_of(output))

    def outputs(
        self, rows: Sequence[Tensor], *, tap: Tap = NO_TAP, one_source: bool = False
    ) -> Tensor:
        """See `Transformer`."""
        return self(_together(rows), tap=tap)

    def predict(
        self,
        rows: Sequence[Tensor],
        position: int | slice,
        *,
        tap: Tap = NO_TAP,
        first: int = 0,
    ) -> Tensor:
        """See `Transformer`."""
        given = _together(rows)
        takes = inspect.signature(self.inner.forward).parameters
        if isinstance(position, slice) or len(rows) > 1 or "logits_to_keep" not in takes:
            output = self(given, tap=tap, first=first)
            return output if output.ndim == 2 else output[:, position]
        kept = torch.tensor([position], device=rows[0].device)
        return self(given, tap=tap, first=first, logits_to_keep=kept)[:, 0]

    def read_out(self, stream: Tensor) -> Tensor:
        """See `Transformer`."""
        return super().read_out(stream) if self.readout is None else self.readout(stream)

    @property
    def sites(self) -> tuple[Site, ...]:
        """See `Transformer`."""
        return tuple(site for site, _ in self.anatomy.attended)

    @property
    def stacks(self) -> tuple[StackParts, ...]:
        """See `Transformer`."""
        return self._stacks

    @property
    def embedding(self) -> nn.Module:
        """See `Transformer`."""
        return self.inner.get_input_embeddings()

    @property
    def n_neurons(self) -> int | None:
        """See `Transformer`."""
        matrices = [x.updates[-1].matrix for x in self.anatomy.of(self.name) if x.updates]
        sizes = {matrix and matrix.given.shape[-1] for matrix in matrices}
        return sizes.pop() if len(sizes) == 1 else None

    @property
    def ending(self) -> tuple[nn.Module, nn.Linear]:
        """See `Transformer`."""
        if self.readout is None or self.readout.softcap is not None:
            raise ValueError("the logits of this model are not a norm and a matrix of its stream")
        return self.readout.final_norm, self.readout.unembed

    @property
    def final_norm(self) -> nn.Module:
        """What the unembedding reads the last stream through; ValueError where there is no such."""
        if self.readout is None:
            raise ValueError("the logits of this model are not made of its stream by a norm")
        return self.readout.final_norm

    @property
    def token_table(self) -> Tensor:
        """See `Transformer`."""
        return self.inner.get_input_embeddings().weight

    @property
    def is_training(self) -> bool:
        """See `Transformer`; whoever lent the model may have told it so since."""
        return self.inner.training

    @property
    def classes(self) -> Mapping[int, str]:
        """See `Transformer`."""
        return self.pictures.classes if self.pictures else {}

    def n_heads_at(self, site: Site) -> int:
        """See `Transformer`."""
        return dict(self.anatomy.attended)[site].n_heads

    def n_blocks(self, stack: str) -> int:
        """See `Transformer`."""
        return len(self.anatomy.of(stack))

    def output_weights(self, site: Site) -> Tensor:
        """See `Transformer`."""
        seen = dict(self.anatomy.attended).get(site)
        if seen is None or seen.projection is None:
            raise ValueError(f"what the heads at {site.address} write was not found")
        return matrix_of(seen.projection).unflatten(0, (seen.n_heads, -1))

    def queries_and_keys(
        self, site: Site, asking: Tensor, memory: Tensor | None, rows: Sequence[Tensor]
    ) -> Steps[tuple[Tensor, Tensor]]:
        """See `Transformer`."""
        return queries_and_keys(self, site, asking, memory, rows)

    def calls_of(self, module: nn.Module) -> tuple[Site | None, ...]:
        """Where a module attends in a pass, call by call."""
        return self._attention[module]

    def value_weights(self, site: Site) -> Tensor | None:
        """See `Transformer`; None as well where values are made of something else than x."""
        seen = dict(self.anatomy.attended)[site]
        if seen.values is None:
            return None
        module, columns = seen.values
        weights = matrix_of(module)[:, columns].T  # (G · Dh, D)
        if weights.shape[1] != self.output_weights(site).shape[-1]:
            return None
        return of_each_head(weights, seen.n_heads, seen.n_kv_heads)

    @property
    def has_projections(self) -> bool:
        """Whether W_O of every head was found."""
        return all(one.projection is not None for _, one in self.anatomy.attended)

    @property
    def stays(self) -> bool:
        """See `Transformer`.

        It is not where angles depend on the length of the text, and not known where the mask that
        follows a cache is another than a window's; both from a length on, which few texts have.
        """
        most, lengths = self.config.max_seq_len, [getattr(self.inner.config, CHUNK, None)]
        for rope in self.inner.modules():
            if any(name in str(getattr(rope, "rope_type", "")) for name in COUNTING):
                lengths.append(rope.config.rope_parameters.get(FIRST_LENGTH, 0))
        return all(length is None or length >= most for length in lengths)

    def is_long(self, lengths: Mapping[str, int]) -> bool:
        """See `Transformer`."""
        seen = self.anatomy.attended
        cells = (one.n_heads * lengths[at.stack] * lengths[at.keys] for at, one in seen)
        return sum(cells) > KEPT_CELLS

    @property
    def limit(self) -> str:
        """As many tokens as it runs: its context, or fewer, as `_config` has it, and why."""
        most, own = self.config.max_seq_len, self.facts.max_seq_len
        if most == own:
            return super().limit
        context = f"its context is {own:,}, and " if own else ""
        why = f"{context}a run has at most {MOST_CELLS:,} attention weights"
        return f"the {most:,} tokens that can be run here ({why})"

    def _inputs(self, given: Tensor | tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        if isinstance(given, tuple):
            return {"input_ids": given[0], "decoder_input_ids": given[1]}
        if self.pictures is not None and given.ndim == 3:
            given = self.pictures(given)
        return {self.inner.main_input_name: given}

    def _options(self) -> dict[str, bool]:
        return {"use_cache": False} if hasattr(self.inner.config, "use_cache") else {}


def _together(rows: Sequence[Tensor]) -> Tensor | tuple[Tensor, Tensor]:
    """An input as `forward` takes it: ids or pixels, or the ids of source and target."""
    return rows[0] if len(rows) == 1 else (rows[0], rows[1])


def _config(facts: Facts, anatomy: Anatomy) -> AdoptedConfig:
    """The facts, with as many tokens of the context as are run; layers that differ look back."""
    most = math.isqrt(MOST_CELLS // sum(one.n_heads for _, one in anatomy.attended))
    known = asdict(facts) | {
        "max_seq_len": min(most, facts.max_seq_len or most),
        "mask": facts.mask or "causal",
    }
    last = (x for at, x in anatomy.attended if (at.stack, at.kind) == (anatomy.stacks[-1], "self"))
    shapes = tuple((x.n_kv_heads, x.d_head, x.d_value) for x in last)
    return AdoptedConfig(**known, kv_shapes=shapes, window=anatomy.attended[0][1].window)


def _places(anatomy: Anatomy, watched: Watched) -> Places[Site]:
    """Where each call of attention is."""
    sites = {one.when: site for site, one in anatomy.attended}
    modules = {one.module for one in watched.attended}
    return {
        module: tuple(sites[one.when] for one in watched.attended if one.module is module)
        for module in modules
    }


AnyDecoder = DecoderTransformer | AdoptedModel  # whoever built it


@torch.inference_mode()
def capture_adopted(
    model: AdoptedModel,
    given: Tensor | tuple[Tensor, Tensor],
    streams: Sequence[Stream],
    mask: np.ndarray | None = None,
    attachments: Sequence[Attachment] = (),
) -> Trace:
    """Run a model once on a batch of one, and keep everything, of a long run see `is_long`.

    streams: what is given, one for each stack, with their names and labels. mask: (T, T) bool. What
    is attached sees each value before it is kept.
    """
    is_long = model.is_long({stream.name: len(stream) for stream in streams})
    recording = Recording(attachments, sparing=is_long)
    own = None if mask is None else torch.tensor(mask, device=model.device)[None, None]
    output = model(given, mask=own, tap=recording.tap)
    row, anatomy = Row(recording.values(), 0), model.anatomy
    if is_long:
        give_back_freed_memory()
    return Trace(
        facts=model.facts,
        streams=tuple(row.stream(stream, len(anatomy.of(stream.name))) for stream in streams),
        attention=tuple(
            row.attention(site, keys="encoder" if site.kind == "cross" else None)
            for site, _ in anatomy.attended
        ),
        output=None if model.config.predicts is None else to_numpy(torch.atleast_2d(output[0])),
    )
