"""What a person gives, as what an architecture's capture takes; and a sample to note results of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.config import BlockConfig, VisionConfig
from model.data.tokenizer import MASK, START_OF_TEXT, Tokenizer
from model.decoding.translation import Way, write
from model.given import Blanked, Translation, Typed

SAMPLE = "Once upon a time, there was a little"


class Prepared(NamedTuple):
    """The input of a capture, after the model.

    `n_cut` counts the tokens beyond the context, cut from the end. `reads` is the text as the
    tokenizer has it, where that is not what was given.
    """

    arguments: tuple[Any, ...]
    n_cut: int = 0
    reads: str | None = None


Text = tuple[Sequence[int], Sequence[str]]  # ids, and their strings for display


@dataclass(frozen=True)
class Input:
    """How one architecture is given what it runs on.

    `prepare` takes the model, its tokenizer and what a person gives. `sample`
    takes a config and the tokenizer, and gives ids or pixels by the names of the model's `forward`,
    as nested lists for a batch of one.
    """

    prepare: Callable[[Any, Any, Any], Prepared]
    sample: Callable[[Any, Any], dict[str, list[Any]]]


def _text(model: Any, tokenizer: Tokenizer, text: Typed) -> Prepared:  # noqa: ANN401
    ids = _ids_of(tokenizer, text)
    kept = ids[: model.config.max_seq_len]
    arguments = (kept, tokenizer.labels(text, kept))
    return Prepared(arguments, len(ids) - len(kept), tokenizer.reads(text))


def _with_blanks(model: Any, tokenizer: Tokenizer, given: Typed | Blanked) -> Prepared:  # noqa: ANN401
    """A text, in which tokens may be hidden; ValueError for one that is not there."""
    if not isinstance(given, Blanked):
        return _text(model, tokenizer, given)
    (ids, _), n_cut, reads = _text(model, tokenizer, given.text)
    hidden = blanked_ids(tokenizer, ids, given.blanks)
    return Prepared((hidden, tokenizer.labels(given.text, hidden)), n_cut, reads)


def blanked_ids(tokenizer: Tokenizer, ids: Sequence[int], blanks: Sequence[int]) -> list[int]:
    """The ids with [MASK] at some places; ValueError for a place that is not there."""
    missing = [place for place in blanks if not 0 <= place < len(ids)]
    if missing:
        raise ValueError(
            f"token {missing[0]} is to be a blank but the text has {len(ids)} tokens; give places "
            f"from 0 to {len(ids) - 1}"
        )
    mask = tokenizer.id_of(MASK)
    return [mask if place in blanks else i for place, i in enumerate(ids)]


def _text_sample(config: BlockConfig, tokenizer: Tokenizer) -> dict[str, list[Any]]:
    return {"ids": [tokenizer.encode(SAMPLE)[: config.max_seq_len]]}


def _source(
    model: EncoderDecoderTransformer, tokenizer: Tokenizer, given: str | Translation
) -> Prepared:
    """A source, and as its target what is fed in, or else what the model says it means.

    Of a target, as of a source, what is beyond the context is cut and counted. ValueError for an id
    that the vocabulary does not have.
    """
    text, context = given if isinstance(given, str) else given.source, model.config.max_seq_len
    kept, n_cut = source_within(tokenizer, text, context)
    if isinstance(given, str):
        start = [tokenizer.id_of(START_OF_TEXT)]
        target = write(model, [*kept, tokenizer.end_id], start, tokenizer.end_id, Way()).ids
    else:
        target = given.target
        _refuse_unknown(target, tokenizer)
    words = [i for i in target if i != tokenizer.end_id]
    fed = words[: context - 1]
    n_cut += len(words) - len(fed)
    return Prepared(translation_of(tokenizer, kept, fed), n_cut, tokenizer.reads(text))


def source_within(tokenizer: Tokenizer, text: str, context: int) -> tuple[list[int], int]:
    """The ids of a source that fit into a context before the end, and how many were cut.

    ValueError for an empty text.
    """
    ids = _ids_of(tokenizer, text)
    return ids[: context - 1], max(0, len(ids) - (context - 1))


def _refuse_unknown(ids: Sequence[int], tokenizer: Tokenizer) -> None:
    for token_id in ids:
        if not 0 <= token_id < tokenizer.vocab_size:
            raise ValueError(
                f"token {token_id} of the target is not among the {tokenizer.vocab_size} of the "
                f"vocabulary; give 0 to {tokenizer.vocab_size - 1}"
            )


def translation_of(
    tokenizer: Tokenizer, source: Sequence[int], target: Sequence[int]
) -> tuple[Text, Text]:
    """Source and target as an encoder-decoder reads them, from ids without start and end.

    The source is followed by the end of text, the target stands after the start; an end that it has
    is left out, for nothing comes after it.
    """
    words = [i for i in target if i != tokenizer.end_id]
    both = ([*source, tokenizer.end_id], [tokenizer.id_of(START_OF_TEXT), *words])
    first, second = ((ids, tokenizer.token_strings(ids)) for ids in both)
    return first, second


def _source_sample(config: BlockConfig, tokenizer: Tokenizer) -> dict[str, list[Any]]:
    ids = tokenizer.encode(SAMPLE)[: config.max_seq_len - 1]
    start = tokenizer.id_of(START_OF_TEXT)
    return {"source_ids": [[*ids, tokenizer.end_id]], "target_ids": [[start, *ids]]}


def _picture(model: Any, tokenizer: None, picture: np.ndarray) -> Prepared:  # noqa: ANN401
    if isinstance(picture, str):
        raise ValueError("this model takes a picture, not a text")
    return Prepared((picture,))


def _picture_sample(config: VisionConfig, tokenizer: None) -> dict[str, list[Any]]:
    """A disc that fades from its middle: no file is needed, and no two patches are alike."""
    places = np.arange(config.image_size) / config.image_size
    distance = np.hypot(places[:, None] - 0.4, places[None, :] - 0.45)
    return {"images": [np.round(np.clip(1 - 2 * distance, 0, 1), 3).tolist()]}


def _ids_of(tokenizer: Tokenizer, text: Typed) -> list[int]:
    ids = tokenizer.encode(text)
    if not ids:
        raise ValueError("the text is empty; give a sentence of at least one token")
    return ids


INPUTS: dict[str, Input] = {
    "decoder": Input(_text, _text_sample),
    "encoder": Input(_with_blanks, _text_sample),
    "encoder_decoder": Input(_source, _source_sample),
    "vision": Input(_picture, _picture_sample),
}
