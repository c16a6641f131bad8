"""Whether a model of transformers is the one that its files mean: found once, when it is opened."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from model.adopted.adopt import sample
from model.adopted.model import AdoptedModel, output_of
from model.records import to_numpy
from model.sources.weights import named, odd_weights
from model.tap import Recorder, attach
from model.verify.check import Finding, relative_error

UNIFORM, BOUND = 1e-5, 1e-4  # of a weight in a row, from all others; of the output
UNREAD = re.compile(r"(^|\.)pooler\.")  # what reads the last stream and is shown nowhere
OF_LAYER = re.compile(r"\.\d+\.")
BUFFERS = re.compile(r"(inv_freq|masked_bias|attn\.bias|position_ids)$")  # computed, not learned
# What transformers writes by besides the logits, and the value at which it does not.
RULES: dict[str, object] = {
    **dict.fromkeys(("bad_words_ids", "begin_suppress_tokens", "exponential_decay_length_penalty")),
    **dict.fromkeys(("forced_bos_token_id", "forced_eos_token_id", "min_new_tokens")),
    **dict.fromkeys(("sequence_bias", "suppress_tokens")),
    **dict.fromkeys(("encoder_no_repeat_ngram_size", "min_length", "no_repeat_ngram_size"), 0),
    **dict.fromkeys(("encoder_repetition_penalty", "repetition_penalty"), 1.0),
}
UNSEEN = Finding(
    "cannot be seen from the files alone: weights exchanged for others of the same shape, some "
    "that are transposed, another number of heads or another activation; compare "
    "the files with those of the place they came from"
)


@torch.inference_mode()
def in_files(inner: Any, loading: Mapping[str, Collection[str]]) -> list[Finding]:  # noqa: ANN401
    """What the files say of the weights, and the weights of themselves. loading: transformers'.

    A matrix that the files do not have is set to zero: nothing that is shown is made up at random.
    """
    missing, weights = sorted(loading["missing_keys"]), dict(inner.named_parameters())
    there = {name: weight.data for name, weight in weights.items() if name not in missing}
    for name in missing:
        if name in weights and weights[name].ndim > 1:
            weights[name].data.zero_()
    taken = [*_missing(missing), *_not_taken(sorted(loading["unexpected_keys"]))]
    return [*taken, *_of_head(inner, missing), *odd_weights(there)]


def of_rules(inner: Any) -> Iterator[Finding]:  # noqa: ANN401
    """What its folder sets of how a target is written, which need not be the most likely one."""
    settings = (
        getattr(inner, "generation_config", None) if inner.config.is_encoder_decoder else None
    )
    values = {name: getattr(settings, name, None) for name in RULES}
    if rules := [name for name, x in values.items() if x not in (None, [], RULES[name])]:
        text = f"its folder sets {', '.join(rules)}, by which it writes"
        yield Finding(f"{text}: a token need not be the most likely one")


def _missing(names: list[str]) -> Iterator[Finding]:
    unread = [name for name in names if UNREAD.search(name)]
    if needed := [name for name in names if name not in unread]:
        text = f"its files do not have {named(needed)}: zero here, or as at the start"
        yield Finding(f"{text}; copy the whole folder again", is_off=True)
    if unread:
        yield Finding(f"its files do not have {named(unread)}, which no page shows")


def _not_taken(names: list[str]) -> Iterator[Finding]:
    """What was not taken: parts of layers are missed, another head is only not used."""
    learned = [name for name in names if not BUFFERS.search(name)]
    if of_layers := [name for name in learned if OF_LAYER.search(name)]:
        text = f"{named(of_layers)} of its files has no place in the model that config.json means"
        yield Finding(text, is_off=True)
    if others := [name for name in learned if name not in of_layers]:
        yield Finding(f"{named(others)} of its files is not used by this class of model")


def _of_head(inner: Any, missing: list[str]) -> Iterator[Finding]:  # noqa: ANN401
    """Whether what makes logits is the table of embeddings, as config.json means."""
    head = inner.get_output_embeddings()
    if head is None:
        return
    table = inner.get_input_embeddings()
    name = next(n for n, x in inner.named_modules(remove_duplicate=False) if x is head)
    if head.weight is table.weight:
        yield Finding(f"{name} is tied to the embeddings")
    elif f"{name}.weight" in missing:
        text = f"config.json does not tie {name} to the embeddings, so nothing is predicted"
        yield Finding(f"{text}; where it was tied, set tie_word_embeddings", is_off=True)
    elif getattr(inner.config.get_text_config(decoder=True), "tie_word_embeddings", False):
        text = f"config.json ties {name} to the embeddings, but the files have both, which differ"
        yield Finding(f"{text}; the files' are used, as transformers does")


def of_vocabulary(n_rows: int, n_tokens: int) -> Iterator[Finding]:
    """Whether each token has a row of the table of embeddings."""
    text = f"the tokenizer has {n_tokens:,} tokens, and the model rows for {n_rows:,}"
    if n_tokens > n_rows:
        yield Finding(f"{text}; use the tokenizer that it was trained with", is_off=True)
    if n_tokens < n_rows:
        yield Finding(f"{text}: the others stand for no text")


def of_layers(model: AdoptedModel) -> Iterator[Finding]:
    """Which layers are shown, where others of their list do not attend."""
    names = {module: name for name, module in model.inner.named_modules()}
    shown = {names[block.call.module]: block.call.module for block in model.anatomy.blocks}
    for place in dict.fromkeys(name.rpartition(".")[0] for name in shown):
        every = list(model.inner.get_submodule(place).children())
        own = [str(n) for n, layer in enumerate(every) if layer in shown.values()]
        if len(own) < len(every) and all(name[-1].isdigit() for name in shown):
            text = f"from L0 on, layer {named(own)} of its {len(every)}"
            yield Finding(f"only layers that attend are shown: {text}", is_said=True)


@torch.inference_mode()
def plain_output(inner: Any, side: int | None) -> Tensor:  # noqa: ANN401
    """What a model gives of a short input before it is adopted. side: of a picture."""
    return output_of(inner(**sample(inner, side)))


@torch.inference_mode()
def of_run(model: AdoptedModel, plain: Tensor) -> Iterator[Finding]:
    """What a run on the same short input shows: its output, and heads that do not choose."""
    given = sample(model.inner, model.pictures and model.pictures.side)
    recorder, (first, *later) = Recorder(("pattern", "mask")), given.values()
    output = model((first, later[0]) if later else first, tap=attach(recorder))
    if not bool(output.isfinite().all()):
        yield Finding("the output has values that are no finite numbers", is_off=True)
    elif relative_error(to_numpy(output), to_numpy(plain)) > BOUND:
        text = "the output differs from that of transformers' own eager attention"
        yield Finding(f"{text}; do not trust what is shown", is_off=True)
    sites = [site.address for site, _ in model.anatomy.attended]
    heads = {f"{site}.{n}": x for site in sites for n, x in enumerate(_even(recorder.values, site))}
    if names := [name for name, is_even in heads.items() if is_even]:
        who = "every head" if len(names) == len(heads) else named(names)
        yield Finding(f"{who} gives all tokens that it may see one weight", is_off=True)


def _even(values: Mapping[str, Tensor], site: str) -> list[bool]:
    """Of each head whether it gives each key of a row that is not hidden the same weight."""
    pattern = values[f"{site}.pattern"][0]
    seen = values.get(f"{site}.mask", pattern.new_ones(())).to(pattern.dtype)
    seen = seen.expand(1, *pattern.shape)[0]
    even = seen / seen.sum(-1, keepdim=True).clamp_min(1)
    return ((pattern - even).abs().amax((1, 2)) < UNIFORM).tolist()
