"""A model, its input and whatever is attached → the frozen Trace of that one forward pass."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.architectures.base import Transformer
from model.architectures.encoder_decoder import DECODER, ENCODER, EncoderDecoderTransformer
from model.architectures.vision import VisionTransformer
from model.config import BlockConfig
from model.records import Recording, Row, read_only, to_numpy
from model.tap import Attachment
from model.trace import CLASS_TOKEN, Facts, Site, Stream, Trace


def capture(
    model: Transformer,
    ids: Sequence[int],
    tokens: Sequence[str],
    mask: np.ndarray | None = None,
    attachments: Sequence[Attachment] = (),
) -> Trace:
    """Run a decoder or an encoder once on one sentence and keep everything.

    ids and tokens: T of each, the same tokens as numbers and as strings for display. mask: (T, T)
    bool, True = may attend, taken instead of the model's own. What is attached sees each value
    before it is kept, so the trace of an edited run holds the edited values.
    Raises ValueError for an empty sentence, one longer than the model's context, a mask of another
    shape, and an edit of an address that does not exist.
    """
    masks = None if mask is None else mask[None]
    return capture_batch(model, [ids], [tokens], masks, attachments)[0]


@torch.inference_mode()
def capture_batch(
    model: Transformer,
    ids: Sequence[Sequence[int]],
    tokens: Sequence[Sequence[str]],
    mask: np.ndarray | None = None,
    attachments: Sequence[Attachment] = (),
) -> list[Trace]:
    """Run a model once on sentences of equal length, and keep everything of each.

    ids and tokens: B sentences of T tokens each. mask: (B, T, T) bool. See `capture`.
    """
    _refuse_training(model)
    for sentence, strings in zip(ids, tokens, strict=True):
        _check_labels(sentence, strings)
    batch = _ids(ids, model)  # (B, T)
    is_long = model.is_long({model.name: batch.shape[1]})
    recording = Recording(attachments, sparing=is_long)
    output = to_numpy(model(batch, mask=_on_device(mask, batch), tap=recording.tap))
    values, layers = recording.values(), range(model.config.n_layers)
    traces = []
    for number in range(len(batch)):
        row = Row(values, number)
        text = _text(model.name, tokens[number], batch[number])
        traces.append(
            Trace(
                facts=facts_of(model.config),
                streams=(row.stream(text, len(layers)),),
                attention=tuple(row.attention(Site(model.name, "self", i)) for i in layers),
                output=output[number],
            )
        )
    return traces


@torch.inference_mode()
def capture_translation(
    model: EncoderDecoderTransformer,
    source: tuple[Sequence[int], Sequence[str]],
    target: tuple[Sequence[int], Sequence[str]],
    attachments: Sequence[Attachment] = (),
) -> Trace:
    """Run an encoder-decoder once on a source and a target, and keep everything.

    source and target: ids and tokens of each, as the model reads them; the output (Tt, V) is of the
    token after each of the target. The streams are `encoder` and `decoder`. See `capture`.
    """
    _refuse_training(model)
    for ids, tokens in (source, target):
        _check_labels(ids, tokens)
    recording = Recording(attachments)
    source_ids, target_ids = _ids([source[0]], model), _ids([target[0]], model)  # (1, Ts), (1, Tt)
    output = to_numpy(model(source_ids, target_ids, tap=recording.tap))[0]
    row, config = Row(recording.values(), 0), model.config
    attention = [row.attention(Site(ENCODER, "self", i)) for i in range(config.n_encoder_layers)]
    for layer in range(config.n_layers):
        attention.append(row.attention(Site(DECODER, "self", layer)))
        attention.append(row.attention(Site(DECODER, "cross", layer), keys=ENCODER))
    return Trace(
        facts=facts_of(config),
        streams=(
            row.stream(_text(ENCODER, source[1], source_ids[0]), config.n_encoder_layers),
            row.stream(_text(DECODER, target[1], target_ids[0]), config.n_layers),
        ),
        attention=tuple(attention),
        output=output,
    )


@torch.inference_mode()
def capture_image(
    model: VisionTransformer,
    image: np.ndarray,
    mask: np.ndarray | None = None,
    attachments: Sequence[Attachment] = (),
) -> Trace:
    """Run a vision model once on one picture, (S, S) from 0 to 1, and keep everything.

    The stream is of kind "patches", the class token first; the output (1, C) is of the classes.
    mask: (T, T) bool with T = P + 1. See `capture`.
    """
    _refuse_training(model)
    recording, config = Recording(attachments), model.config
    pixels = torch.tensor(image, dtype=torch.float32, device=model.device)[None]  # (1, S, S)
    places = torch.zeros(1, config.max_seq_len, device=model.device)  # (1, T)
    masks = None if mask is None else mask[None]
    output = to_numpy(model(pixels, mask=_on_device(masks, places), tap=recording.tap))
    row = Row(recording.values(), 0)
    stream = Stream(model.name, "patches", patch_labels(config.n_patches), pixels=_frozen(image))
    return Trace(
        facts=facts_of(config),
        streams=(row.stream(stream, config.n_layers),),
        attention=tuple(
            row.attention(Site(model.name, "self", layer)) for layer in range(config.n_layers)
        ),
        output=output,
    )


def patch_labels(n_patches: int) -> tuple[str, ...]:
    """The class token, then each patch by its row and column."""
    side = round(n_patches**0.5)
    return (CLASS_TOKEN, *(f"{row},{column}" for row in range(side) for column in range(side)))


def facts_of(config: BlockConfig) -> Facts:
    """What a config tells of its model, as far as there is a fact for it."""
    known: dict[str, Any] = {
        field.name: getattr(config, field.name, None) for field in fields(Facts)
    }
    return Facts(**known)


def _refuse_training(model: Transformer) -> None:
    config = model.config
    if model.training and (config.dropout or config.attention_dropout):
        raise ValueError(
            "the model drops values while it is being trained; call model.eval() first"
        )


def _check_labels(ids: Sequence[int], tokens: Sequence[str]) -> None:
    if len(ids) != len(tokens):
        raise ValueError(f"{len(ids)} ids but {len(tokens)} tokens; give one string for each id")


def _text(name: str, tokens: Sequence[str], ids: Tensor) -> Stream:
    """A stream of text before anything happened in it."""
    return Stream(name, "text", tuple(tokens), ids=to_numpy(ids))


def _ids(ids: Sequence[Sequence[int]], model: Transformer) -> Tensor:
    return torch.tensor(ids, dtype=torch.long, device=model.device)


def _frozen(image: np.ndarray) -> np.ndarray:
    return read_only(np.array(image, dtype=np.float32))


def _on_device(mask: np.ndarray | None, batch: Tensor) -> Tensor | None:
    """A mask for all heads, (B, 1, T, T). batch: (B, T)."""
    if mask is None:
        return None
    expected = (*batch.shape, batch.shape[-1])
    if mask.shape != expected:
        raise ValueError(f"the mask has shape {mask.shape}; expected {expected} for these tokens")
    return torch.tensor(mask, dtype=torch.bool, device=batch.device)[:, None]
