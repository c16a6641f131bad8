"""Small models on odd, distinct sizes, so that no swapped axis can pass."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from string import ascii_letters
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from model import reference, reference_files
from model.architectures.base import Transformer
from model.architectures.decoder import DecoderTransformer
from model.architectures.encoder import EncoderTransformer
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.table import ARCHITECTURES
from model.architectures.vision import VisionTransformer
from model.capture import capture, capture_image, capture_translation
from model.config import DecoderConfig, EncoderConfig, EncoderDecoderConfig, VisionConfig
from model.data.tokenizer import PADDING, START_OF_TEXT, Tokenizer, train_characters
from model.sources import checkpoint
from model.sources.stored_weights import own_weights
from model.tap import Edit, set_at
from model.trace import AttentionRecord, Trace

SENTENCE = "the cat sat on a mat."
SEQ_LEN = 7  # tokens in a sentence, below the context of 11
GROUPED = {"d_model": 36, "n_heads": 6, "n_kv_heads": 2}  # three query heads share one key head
CAPTURED = [name for name, one in ARCHITECTURES.items() if one.capture is not None]

ModuleT = TypeVar("ModuleT", bound=nn.Module)


def tiny_config(**changes: object) -> DecoderConfig:
    """A config of distinct sizes: 17 tokens, d_model 30, 2 layers, 3 heads of 10, context 11."""
    sizes = {
        "vocab_size": 17,
        "d_model": 30,
        "n_layers": 2,
        "n_heads": 3,
        "d_ff": 13,
        "max_seq_len": 11,
    }
    return DecoderConfig(**sizes | changes)


def randomise(module: ModuleT, seed: int = 0) -> ModuleT:
    """Every weight random, gains and offsets too, so that none can be left out unnoticed."""
    generator = torch.Generator().manual_seed(seed)
    for weight in module.parameters():
        weight.data = 0.4 * torch.randn(weight.shape, generator=generator)
    return module.requires_grad_(False).eval()


def tiny_model(seed: int = 0, **changes: object) -> DecoderTransformer:
    """A model with random weights, on `tiny_config` with changes."""
    return randomise(DecoderTransformer(tiny_config(**changes)), seed)


def tiny_ids(batch_size: int = 1, seq_len: int = SEQ_LEN, seed: int = 0) -> Tensor:
    """Random ids, (B, T)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(tiny_config().vocab_size, (batch_size, seq_len), generator=generator)


def tiny_trace(model: DecoderTransformer, seed: int = 0) -> Trace:
    """What the model does on a sentence of 7 tokens."""
    ids = tiny_ids(seed=seed)[0].tolist()
    return capture(model, ids, [str(i) for i in ids])


def tiny_tokenizer() -> Tokenizer:
    """One token a character; 13 of them."""
    return train_characters([SENTENCE])


def tiny_checkpoint(folder: Path, **changes: object) -> Path:
    """A folder with a whole checkpoint, whose tokenizer knows the letters of SENTENCE."""
    tokenizer = tiny_tokenizer()
    sizes = {"vocab_size": tokenizer.vocab_size, "max_seq_len": 23}
    checkpoint.save(folder, tiny_model(**sizes | changes), tokenizer)
    return folder


def translation_tokenizer() -> Tokenizer:
    """One token per character of English and German text, with the special ones."""
    return train_characters([f"{ascii_letters} äöüß.,'"], (START_OF_TEXT, PADDING))


def tiny_translation_checkpoint(folder: Path, **changes: object) -> Path:
    """A folder with a whole encoder-decoder, whose tokenizer knows letters."""
    tokenizer = translation_tokenizer()
    sizes = {"vocab_size": tokenizer.vocab_size, "max_seq_len": 70}
    checkpoint.save(folder, tiny_translator(**sizes | changes), tokenizer)
    return folder


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Apply a change to the object in a JSON file."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    change(fields)
    path.write_text(json.dumps(fields), encoding="utf-8")


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def causal_rows(seq_len: int) -> Tensor:
    """The causal mask written out: row i has i + 1 ones. (T, T)."""
    return torch.tensor([[key <= query for key in range(seq_len)] for query in range(seq_len)])


def softmax(scores: np.ndarray) -> np.ndarray:
    """Softmax over the last axis in float64, by its definition."""
    weights = np.exp(scores.astype(np.float64) - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def pattern_of(record: AttentionRecord) -> np.ndarray:
    """softmax(scale · q·kᵀ + bias, masked) of each head by a loop in float64. (H, Tq, Tk).

    Under a soft cap where there is one; a sink is one more score, which attends to nothing.
    """
    group = len(record.q) // len(record.k)
    heads = []
    for head, q in enumerate(record.q.astype(np.float64)):
        scores = q @ record.k[head // group].astype(np.float64).T * record.scale
        scores = scores if record.bias is None else scores + record.bias[head]
        cap, sink = record.softcap, -np.inf if record.sinks is None else record.sinks[head]
        scores = scores if cap is None else cap * np.tanh(scores / cap)
        hidden = np.where(record.mask_of(head), scores, -np.inf)
        heads.append(softmax(np.c_[hidden, np.full(len(q), sink)])[:, :-1])
    return np.stack(heads)


def with_cell(trace: Trace, address: str, change: Callable[[Any], Any]) -> Trace:
    """The trace with one cell of one array changed.

    address: `output[2, 3]`, `stream.embed[5, 3]` of the main stream, or in the last layer
    `attention.q[0, 1, 2]`, `residuals.ffn_out[0, 1]`.
    """
    path, _, cell = address.rstrip("]").partition("[")
    owner, _, name = path.rpartition(".")
    index = tuple(map(int, cell.split(",")))

    def changed(record: Any) -> Any:  # noqa: ANN401
        array = getattr(record, name).copy()
        array[index] = change(array[index])
        return dataclasses.replace(record, **{name: array})

    main = trace.main
    if owner == "attention":
        *others, last = trace.attention
        return dataclasses.replace(trace, attention=(*others, changed(last)))
    if owner == "":
        return changed(trace)
    if owner == "residuals":
        *others, last = main.residuals
        main = dataclasses.replace(main, residuals=(*others, changed(last)))
    else:
        main = changed(main)
    return dataclasses.replace(trace, streams=(*trace.streams[:-1], main))


def all_arrays(trace: Trace) -> dict[str, np.ndarray]:
    """Every array a trace refers to, by address, but for labels and scales made on the way."""
    arrays = dict(trace.arrays())
    return {name: x for name, x in arrays.items() if not name.endswith((".labels", ".scale"))}


STACK_SIZES = {"d_model": 30, "n_layers": 2, "n_heads": 3, "d_ff": 13}


def tiny_encoder(seed: int = 0, **changes: object) -> EncoderTransformer:
    """An encoder with random weights: the sizes of `tiny_config`."""
    fields = {**STACK_SIZES, "vocab_size": 17, "max_seq_len": 11} | changes
    return randomise(EncoderTransformer(EncoderConfig(**fields)), seed)


def tiny_translator(seed: int = 0, **changes: object) -> EncoderDecoderTransformer:
    """An encoder-decoder with random weights: three blocks in the encoder, two in the decoder."""
    fields = {**STACK_SIZES, "vocab_size": 17, "max_seq_len": 11, "n_encoder_layers": 3} | changes
    return randomise(EncoderDecoderTransformer(EncoderDecoderConfig(**fields)), seed)


def tiny_vision(seed: int = 0, **changes: object) -> VisionTransformer:
    """A vision model with random weights: pictures of 12 × 12, nine patches, 5 classes."""
    sizes = {"image_size": 12, "patch_size": 4, "n_classes": 5}
    return randomise(VisionTransformer(VisionConfig(**STACK_SIZES | sizes | changes)), seed)


def tiny_picture(seed: int = 0, size: int = 12) -> np.ndarray:
    """A picture of noise from 0 to 1, (S, S)."""
    return np.random.default_rng(seed).random((size, size)).astype(np.float32)


def translation_trace(model: EncoderDecoderTransformer) -> Trace:
    """What a model does on a source of 5 tokens and a target of 3."""
    source, target = [3, 1, 4, 1, 5], [2, 7, 1]
    return capture_translation(model, (source, list("abcde")), (target, list("xyz")))


def every_trace(**changes: object) -> dict[str, tuple[Transformer, Trace]]:
    """A model of each architecture and what it does; the decoder has grouped heads and a bias."""
    decoder = tiny_model(**GROUPED, position="alibi", **changes)
    encoder, translator = tiny_encoder(**changes), tiny_translator(**changes)
    vision = tiny_vision(**changes)
    return {
        "decoder": (decoder, tiny_trace(decoder)),
        "encoder": (encoder, capture(encoder, [3, 1, 4, 1, 5], list("abcde"))),
        "encoder_decoder": (translator, translation_trace(translator)),
        "vision": (vision, capture_image(vision, tiny_picture())),
    }


def files_of(model: Transformer) -> reference.Files:
    """What the files of a model would say."""
    config = {"n_encoder_layers": model.config.n_layers} | model.config.to_dict()
    weights = {name: x.double().numpy() for name, x in own_weights(model).items()}
    return reference.Files(reference_files.DEFAULTS | config, weights)


def set_head(attention: str, head: int, to: Tensor | float = 0.0) -> Edit:
    """The z of one head of a module that attends is `to`: by default the head is off."""
    return set_at(f"{attention}.z", (slice(None), head), to)


def set_weight(attention: str, head: int, query: int, key: int, to: float = 0.0) -> Edit:
    """One weight of a head's pattern is `to`."""
    return set_at(f"{attention}.pattern", (slice(None), head, query, key), to)


def set_position(address: str, position: int, to: Tensor | float) -> Edit:
    """A value (B, T, D) is `to` at one position."""
    return set_at(address, (slice(None), position), to)
