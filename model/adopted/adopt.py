"""From a model of transformers to one of ours: watch it once, and find what it is."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from model.adopted.anatomy import Anatomy, anatomy_of
from model.adopted.attention import register
from model.adopted.hooks import attending, can_attend, put_on
from model.adopted.model import AdoptedModel, Readout, output_of
from model.adopted.pictures import Pictures
from model.adopted.watched import Watched, close, watch
from model.kv_cache import KVCache
from model.lines import one_line
from model.parts import kind_of_norm
from model.records import to_numpy
from model.tap import Edit, Editor, attach
from model.trace import NEXT, Facts
from model.verify.check import relative_error

WATCHED = 6  # tokens of the pass that is watched
SAME = 1e-4  # how far a run in pieces may be from a run of the whole
STACKS = {
    "decoder": ("decoder",),
    "encoder": ("encoder",),
    "encoder_decoder": ("encoder", "decoder"),
    "vision": ("encoder",),
}
# What a model raises that is run in a way it was not written for.
UNRUN = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
CONTEXT = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")


def adopt(inner: Any, pictures: Pictures | None = None) -> AdoptedModel:  # noqa: ANN401
    """A model of transformers whose values go through our tap.

    inner: what `from_pretrained` of transformers gives. It is put to evaluation, and attends by our
    function in our passes. pictures: what is known of those it takes.
    Raises ValueError where its attention cannot be seen.
    """
    register()
    if not can_attend(inner.eval().requires_grad_(False)):
        raise _unseen(inner)
    try:
        inputs = sample(inner, pictures and pictures.side)
        with put_on(attending(inner)):
            watched = watch(inner, inputs)
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        raise ValueError(
            f"{type(inner).__name__} does not run on {inner.main_input_name} alone, as its files "
            f"describe them: {one_line(str(error))}"
        ) from None
    kind = _kind(inner, watched)
    anatomy = anatomy_of(inner, watched, STACKS[kind])
    if len(anatomy.stacks) < len(STACKS[kind]):
        raise ValueError(
            f"{type(inner).__name__} has one stack of layers that attend, and its config says "
            "is_encoder_decoder; use the file that the model was saved with"
        )
    readout = _readout(inner, anatomy, watched)
    facts = replace(
        _facts(inner, kind, anatomy, watched),
        norm=_norm(readout, anatomy.blocks[-1].call.gave.shape[-1]),
        tied_embeddings=_tied(inner),
    )
    model = AdoptedModel(inner, anatomy, watched, facts)
    model.pictures = pictures and pictures.of_rows({x.call.gave.shape[1] for x in anatomy.blocks})
    with torch.inference_mode():
        if readout and close(readout(anatomy.blocks[-1].call.gave), output_of(watched.output)):
            model.readout = readout
    if anatomy.has_residuals and len(anatomy.stacks) == 1:
        model.is_chain = _is_chain(model, watched, *inputs.values())
    is_decoder = kind == "decoder" and facts.predicts
    if is_decoder and not (model.stays and _resumes(model, watched)):
        model.config = replace(model.config, n_together=model.config.max_seq_len)
    return model


@torch.inference_mode()
def _is_chain(model: AdoptedModel, watched: Watched, given: Tensor) -> bool:
    """Whether a block needs nothing of those before it but the stream: the last one gives the same.

    Blocks that give more than a stream, such as a bias for those after them, are left as they are.
    """
    last = model.anatomy.blocks[-1]
    before = Editor(Edit(f"{last.address}.resid_pre", lambda value: last.call.given))
    try:
        output = model(given, tap=attach(before), first=len(model.anatomy.blocks) - 1)
    except UNRUN:
        return False
    return relative_error(to_numpy(output), to_numpy(output_of(watched.output))) < SAME


@torch.inference_mode()
def _resumes(model: AdoptedModel, watched: Watched) -> bool:
    """Whether keys and values are all that it keeps of earlier tokens, by what it then says."""
    ids = sample(model.inner)["input_ids"]
    cache = KVCache(model.config, WATCHED, device=model.device, dtype=model.dtype)
    try:
        parts = [model(part, cache=cache) for part in ids.split(2, dim=1)]
    except UNRUN:  # what is added to its scores may be of its own cache, as Doge's is
        return False
    expected = to_numpy(output_of(watched.output))
    return relative_error(to_numpy(torch.cat(parts, dim=1)), expected) < SAME


def _readout(inner: Any, anatomy: Anatomy, watched: Watched) -> Readout | None:  # noqa: ANN401
    """What turns the last stream into logits, where a norm and one matrix do; None elsewhere."""
    last, head = anatomy.blocks[-1].call, inner.get_output_embeddings()
    call = next((x for x in watched.calls if x.module is head), None)
    if call is None:
        return None
    later = (x for x in watched.calls if last.ended < x.began and x.ended < call.began)
    between = [x for x in later if x.takes_one]
    norm = next(
        (x.module for x in between if close(x.given, last.gave) and close(x.gave, call.given)), None
    )
    if norm is None and not close(call.given, last.gave):
        return None
    cap = getattr(inner.config.get_text_config(decoder=True), "final_logit_softcapping", None)
    return Readout(nn.Identity() if norm is None else norm, head, cap)


def _norm(readout: Readout | None, d_model: int) -> str | None:
    return None if readout is None else kind_of_norm(readout.final_norm, d_model)


def _tied(inner: Any) -> bool | None:  # noqa: ANN401
    """Whether one table serves input and output; None where there is no output of words."""
    head = inner.get_output_embeddings()
    return None if head is None else head.weight is inner.get_input_embeddings().weight


def _unseen(inner: nn.Module) -> ValueError:
    return ValueError(
        f"attention of {type(inner).__name__} does not go through transformers' attention "
        "interface, so it cannot be seen; open a model of another family"
    )


def sample(inner: Any, side: int | None = None) -> dict[str, Tensor]:  # noqa: ANN401
    """A short input, no two tokens alike where the vocabulary allows it."""
    config, device = inner.config, inner.device
    if inner.main_input_name == "pixel_values":
        generator = torch.Generator().manual_seed(0)
        size = (1, getattr(config, "num_channels", 3), *_sides(side or config.image_size))
        return {"pixel_values": torch.rand(size, generator=generator).to(device)}
    ids = [i for i in range(2 * WATCHED + 4) if i != config.get_text_config().pad_token_id]
    n_words = inner.get_input_embeddings().weight.shape[0]
    row = torch.tensor([ids], device=device) % n_words
    if config.is_encoder_decoder:
        both = row[:, :WATCHED], row[:, WATCHED : 2 * WATCHED - 1]
        return dict(zip(("input_ids", "decoder_input_ids"), both, strict=True))
    return {"input_ids": row[:, :WATCHED]}


def _sides(size: int | Sequence[int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def _kind(inner: Any, watched: Watched) -> str:  # noqa: ANN401
    """Which architecture of ours it is: a decoder is what does not see later tokens."""
    if inner.config.is_encoder_decoder:
        return "encoder_decoder"
    if inner.main_input_name == "pixel_values":
        return "vision"
    is_causal = bool(watched.attended) and watched.attended[0].is_causal
    return "decoder" if is_causal else "encoder"


def _facts(inner: Any, kind: str, anatomy: Anatomy, watched: Watched) -> Facts:  # noqa: ANN401
    """What is known of it, sizes as they were seen."""
    config = inner.config.get_text_config(decoder=True)
    blocks, stack = anatomy.of(anatomy.stacks[-1]), anatomy.stacks[-1]
    one = next(seen for site, seen in anatomy.attended if site.stack == stack)
    embed = inner.get_input_embeddings()
    return Facts(
        architecture=kind,
        n_layers=len(blocks),
        n_heads=one.n_heads,
        n_kv_heads=one.n_kv_heads,
        d_model=blocks[0].call.gave.shape[-1],
        d_head=one.d_head,
        d_ff=getattr(config, "intermediate_size", None),
        vocab_size=None if kind == "vision" else embed.weight.shape[0],
        max_seq_len=None if kind == "vision" else _context(inner, config),
        position=_position(anatomy, stack),
        norm_placement=_placement(anatomy),
        mask=_mask(anatomy, stack),
        predicts=_predicts(
            kind, output_of(watched.output), blocks[-1].call.gave, inner.get_output_embeddings()
        ),
    )


def _mask(anatomy: Anatomy, stack: str) -> str | None:
    """The kind of mask that all layers of a stack have; None where they differ, or hide nothing."""
    seen = {
        (x.is_causal, x.window)
        for site, x in anatomy.attended
        if site.stack == stack and site.kind == "self"
    }
    if len(seen) > 1:
        return None
    is_causal, window = seen.pop()
    return ("sliding_window" if window else "causal") if is_causal else None


def _position(anatomy: Anatomy, stack: str) -> str | None:
    """RoPE where each layer of a stack turns its queries and keys; None where it is not known."""
    own = (x for site, x in anatomy.attended if site.stack == stack and site.kind == "self")
    return "rope" if all(x.is_turned for x in own) else None


def _placement(anatomy: Anatomy) -> str | None:
    """Whether the stream goes on from a norm of each sum; None where the parts were not found."""
    if not anatomy.has_residuals:
        return None
    return "post" if anatomy.blocks[0].updates[0].norm else "pre"


def _predicts(kind: str, output: Tensor, stream: Tensor, head: Any) -> str | None:  # noqa: ANN401
    """What the output is about; None where a model gives no words but its stream, or labels."""
    if kind == "vision":
        return "class" if output.ndim == 2 else None
    is_of_each = output.ndim == 3 and output.shape[1] == stream.shape[1]
    if not is_of_each or head is None or head.weight.shape[0] != output.shape[-1]:
        return None
    return "hidden token" if kind == "encoder" else NEXT


def _context(inner: Any, config: Any) -> int | None:  # noqa: ANN401
    """How many tokens it takes: by its config, and by the rows of a table of positions.

    A table with a row for padding counts from the place after it, as RoBERTa does.
    """
    named = [getattr(config, name, None) for name in CONTEXT]
    known = [n for n in named if isinstance(n, int) and n > 0]
    most = min(known, default=math.inf)
    for name, module in inner.named_modules():
        if isinstance(module, nn.Embedding) and "position" in name and module.padding_idx:
            most = min(most, module.num_embeddings - module.padding_idx - 1)
    return None if most == math.inf else int(most)
