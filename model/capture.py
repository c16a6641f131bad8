"""A model, tokens and whatever is attached → the frozen Trace of that one forward pass."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.architectures.decoder import STACK, DecoderTransformer
from model.config import BlockConfig
from model.tap import Attachment, Editor, Recorder, attach
from model.trace import RESIDUAL_NAMES, AttentionRecord, Facts, ResidualRecord, Site, Stream, Trace

TRACED = frozenset(
    ("embed", "positions", "q", "k", "v", "bias", "mask", "scores", "pattern", "z", *RESIDUAL_NAMES)
)


def capture(
    model: DecoderTransformer,
    ids: Sequence[int],
    tokens: Sequence[str],
    mask: np.ndarray | None = None,
    attachments: Sequence[Attachment] = (),
) -> Trace:
    """Run a decoder once on one sentence and keep everything.

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
    model: DecoderTransformer,
    ids: Sequence[Sequence[int]],
    tokens: Sequence[Sequence[str]],
    mask: np.ndarray | None = None,
    attachments: Sequence[Attachment] = (),
) -> list[Trace]:
    """Run a decoder once on sentences of equal length, and keep everything of each.

    ids and tokens: B sentences of T tokens each. mask: (B, T, T) bool. See `capture`.
    """
    _check_request(model, ids, tokens)
    recorder = Recorder(TRACED)
    batch = torch.tensor(ids, dtype=torch.long, device=model.device)  # (B, T)
    tap = attach(*attachments, recorder)
    logits = model(batch, mask=_on_device(mask, batch), tap=tap)
    for item in attachments:
        if isinstance(item, Editor):
            item.check_used()
    values = {address: _to_numpy(x) for address, x in recorder.values.items()}
    values |= {"ids": _to_numpy(batch), "logits": _to_numpy(logits)}
    return [_trace(values, row, tuple(tokens[row]), model.config) for row in range(len(batch))]


def facts_of(config: BlockConfig) -> Facts:
    """What a config tells of its model, as far as there is a fact for it."""
    known: dict[str, Any] = {
        field.name: getattr(config, field.name, None) for field in fields(Facts)
    }
    return Facts(**known)


def _check_request(
    model: DecoderTransformer, ids: Sequence[Sequence[int]], tokens: Sequence[Sequence[str]]
) -> None:
    if model.training and model.config.dropout:
        raise ValueError(
            "the model drops values while it is being trained; call model.eval() first"
        )
    for sentence, strings in zip(ids, tokens, strict=True):
        if len(sentence) != len(strings):
            raise ValueError(
                f"{len(sentence)} ids but {len(strings)} tokens; give one string for each id"
            )


def _on_device(mask: np.ndarray | None, batch: Tensor) -> Tensor | None:
    """A mask for all heads, (B, 1, T, T). batch: (B, T)."""
    if mask is None:
        return None
    expected = (*batch.shape, batch.shape[-1])
    if mask.shape != expected:
        raise ValueError(f"the mask has shape {mask.shape}; expected {expected} for these tokens")
    return torch.tensor(mask, dtype=torch.bool, device=batch.device)[:, None]


def _trace(
    values: dict[str, np.ndarray], row: int, tokens: tuple[str, ...], config: BlockConfig
) -> Trace:
    """The trace of one sentence of a batch."""
    layers = range(config.n_layers)
    embed = values[f"{STACK}.embed"][row]
    stream = Stream(
        name=STACK,
        kind="text",
        labels=tokens,
        ids=values["ids"][row],
        embed=embed,
        positions=values.get(f"{STACK}.positions", _zeros_like(embed)),
        residuals=tuple(_residual_record(values, row, layer) for layer in layers),
    )
    return Trace(
        facts=facts_of(config),
        streams=(stream,),
        attention=tuple(_attention_record(values, row, layer) for layer in layers),
        output=values["logits"][row],
    )


def _attention_record(values: dict[str, np.ndarray], row: int, layer: int) -> AttentionRecord:
    site = Site(STACK, "self", layer)
    q, k, v, scores, pattern, z = (
        values[f"{site.address}.{name}"][row] for name in ("q", "k", "v", "scores", "pattern", "z")
    )
    return AttentionRecord(
        site=site,
        queries=STACK,
        keys=STACK,
        q=q,
        k=k,
        v=v,
        scale=q.shape[-1] ** -0.5,
        bias=values.get(f"{site.address}.bias"),
        mask=_mask_of(values.get(f"{site.address}.mask"), row, pattern.shape),
        scores=scores,
        pattern=pattern,
        z=z,
    )


def _mask_of(mask: np.ndarray | None, row: int, shape: tuple[int, ...]) -> np.ndarray:
    """One sentence's mask: (T, T) where all heads share it, else (H, T, T). shape: (H, T, T)."""
    if mask is None:  # nothing was masked
        return _read_only(np.ones(shape[1:], dtype=bool))
    if mask.ndim == 2:
        return mask
    mine = mask[row]  # (1 or H, T, T)
    return mine[0] if len(mine) == 1 else mine


def _residual_record(values: dict[str, np.ndarray], row: int, layer: int) -> ResidualRecord:
    return ResidualRecord(
        **{name: values[f"{STACK}.blocks.{layer}.{name}"][row] for name in RESIDUAL_NAMES}
    )


def _to_numpy(x: Tensor) -> np.ndarray:
    return _read_only((x.float() if x.is_floating_point() else x).cpu().numpy())


def _zeros_like(array: np.ndarray) -> np.ndarray:
    return _read_only(np.zeros_like(array))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
