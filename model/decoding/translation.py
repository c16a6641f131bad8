"""A source being translated: to sampling and beam search it is a decoder like any other."""

from collections.abc import Sequence

import torch
from torch import Tensor

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.config import EncoderDecoderConfig
from model.data.tokenizer import START_OF_TEXT, Tokenizer
from model.decoding.beam import beam_search
from model.decoding.filters import GREEDY
from model.decoding.kv_cache import KVCache
from model.decoding.sampling import generate
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
    given = source_ids(tokenizer, text)
    translating, start = Translating(model, given), [tokenizer.id_of(START_OF_TEXT)]
    most = min(2 * len(given) + 10, model.config.max_seq_len - 1)
    end_id = tokenizer.end_id
    if beam_width == 1:
        steps = generate(translating, start, GREEDY, max_new_tokens=most, end_id=end_id)
        return [step.token_id for step in steps]
    *_, last = beam_search(
        translating,
        start,
        beam_width=beam_width,
        max_new_tokens=most,
        length_penalty=length_penalty,
        end_id=end_id,
    )
    assert last.winner is not None, "the last step has one"
    return list(last.winner.ids)
