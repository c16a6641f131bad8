"""A source being translated: to sampling and beam search it is a decoder like any other."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.config import EncoderDecoderConfig
from model.data.tokenizer import START_OF_TEXT, Tokenizer
from model.decoding.beam import BeamStep, beam_search
from model.decoding.filters import GREEDY, Sampling
from model.decoding.sampling import CONTEXT_FULL, END_OF_TEXT, generate
from model.kv_cache import KVCache
from model.tap import NO_TAP, Tap

LENGTH_PENALTY = 1.0


class Translating:
    """An encoder-decoder with one source, which is encoded once; called with ids of the target.

    Its target begins with the start token; see `model.decoding.predict.Decoder`.
    """

    @torch.inference_mode()
    def __init__(self, model: EncoderDecoderTransformer, source_ids: Sequence[int]) -> None:
        """source_ids: Ts tokens, the end included. ValueError when they exceed the context."""
        self.model = model
        self.memory = model.encode(torch.tensor([source_ids], device=model.device))

    @property
    def config(self) -> EncoderDecoderConfig:
        """Sizes and variants of the model."""
        return self.model.config

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return self.model.device

    @property
    def dtype(self) -> torch.dtype:
        """In which precision it runs."""
        return self.model.dtype

    def __call__(self, ids: Tensor, *, tap: Tap = NO_TAP, cache: KVCache | None = None) -> Tensor:
        """Logits (B, Tq, V) of the next tokens of the target. See `DecoderTransformer.forward`."""
        return self.model.decode(ids, self.memory, tap=tap, cache=cache)


def source_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """A source as the encoder reads it: its tokens and the end of text."""
    return [*tokenizer.encode(text), tokenizer.end_id]


def target_text(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """What the ids of a target say, start and end left out."""
    words = [i for i in ids if not tokenizer.is_added(i)]
    return tokenizer.decode(words).removeprefix(" ")


@dataclass(frozen=True)
class Way:
    """How a target is chosen: by beam search where there is a width, else as `sampling` draws."""

    sampling: Sampling = GREEDY
    beam_width: int | None = None
    length_penalty: float = LENGTH_PENALTY


@dataclass(frozen=True, eq=False)
class Written:
    """A target without its start, its end included where it came, and why it stops there.

    `beams` are the steps of a beam search, empty for any other way.
    """

    ids: tuple[int, ...]
    stopped: str | None
    beams: tuple[BeamStep, ...] = ()


def write(
    model: EncoderDecoderTransformer,
    source: Sequence[int],
    start: Sequence[int],
    end_id: int,
    way: Way,
) -> Written:
    """Write a target on from `start`, up to its end or twice the source and ten.

    source: ids with the end; start: the start token, and what the target is to begin with.
    ValueError when either does not fit into the context.
    """
    begun, context = tuple(start[1:]), model.config.max_seq_len
    most = min(2 * len(source) + 10, context - 1) - len(begun)
    if end_id in begun:
        return Written(begun[: begun.index(end_id) + 1], END_OF_TEXT)
    if most < 1:
        return Written(begun, CONTEXT_FULL)
    translating = Translating(model, source)
    if way.beam_width is None:
        drawn = generate(translating, start, way.sampling, max_new_tokens=most, end_ids=(end_id,))
        steps = list(drawn)
        return Written((*begun, *(step.token_id for step in steps)), steps[-1].stopped)
    beams = tuple(
        beam_search(
            translating,
            start,
            beam_width=way.beam_width,
            max_new_tokens=most,
            length_penalty=way.length_penalty,
            end_ids=(end_id,),
        )
    )
    last = beams[-1]
    assert last.winner is not None, "the last step has one"
    return Written((*begun, *last.winner.ids), last.stopped, beams)


def translated(
    model: EncoderDecoderTransformer,
    tokenizer: Tokenizer,
    text: str,
    beam_width: int = 1,
    length_penalty: float = LENGTH_PENALTY,
) -> list[int]:
    """The ids of a translation, without its start, up to its end or twice the source and ten.

    Raises ValueError when the source has more tokens than the context.
    """
    start = [tokenizer.id_of(START_OF_TEXT)]
    way = Way(GREEDY, beam_width if beam_width > 1 else None, length_penalty)
    return list(write(model, source_ids(tokenizer, text), start, tokenizer.end_id, way).ids)
