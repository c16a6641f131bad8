"""Predict each token of a translation from those before it and the source (Vaswani et al. 2017)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from model.architectures.base import Model
from model.data.pairs import EncodedPairs, LengthBuckets, Pairs, read_pairs
from model.data.tokenizer import PADDING, START_OF_TEXT, Tokenizer
from model.lines import quoted
from model.masks import padding
from model.training.objectives.base import (
    IGNORED,
    Accuracy,
    Examples,
    Objective,
    Probe,
    accuracy,
    cross_entropy,
    refuse_long_probe,
)
from model.training.plan import Plan


class Translation(Objective):
    """Predict the next token of the target at every position; padding teaches nothing.

    Each stage takes pairs of up to `seq_len` tokens a side, as many of about one length as have
    `batch_tokens` tokens of the target, padding included.
    """

    architectures = ("encoder_decoder",)
    specials = (START_OF_TEXT, PADDING)

    def __init__(self, tokenizer: Tokenizer, data: Pairs, plan: Plan) -> None:
        """ValueError when a pair is longer than a stage's `seq_len`."""
        super().__init__(tokenizer, data, plan)
        self.tokenizer = tokenizer
        encoded = EncodedPairs.of(data, tokenizer)
        self.n_tokens = int(encoded.lengths[:, 0].sum())
        self.stages = [
            (stage, LengthBuckets(encoded, stage.seq_len, plan.batch_tokens, plan.seed))
            for stage in plan.stages
        ]
        self.held_out = {
            name: EncodedPairs.of(pairs, tokenizer) for name, pairs in data.held_out.items()
        }

    @classmethod
    def read(cls, corpus: Sequence[Path], held_out: Sequence[Path]) -> Pairs:
        """Two text files each, source and target, whose lines say the same."""
        return read_pairs(corpus, held_out)

    def batches(self, steps_done: int) -> Iterator[Examples]:
        """Pairs of about one length: the source, the target so far, and its next tokens."""
        first = 0
        for stage, buckets in self.stages:
            for step in range(max(steps_done - first, 0), stage.steps):
                yield examples_of(buckets.pairs, buckets.rows(step))
            first += stage.steps

    def loss(self, model: Model, batch: Examples) -> Tensor:
        """Cross-entropy of the next tokens, smoothed as the plan says (Vaswani et al., §5.4)."""
        return cross_entropy(model, batch, self.plan.label_smoothing)

    def evaluate(self, model: Model) -> dict[str, Accuracy]:
        """How well the model predicts each held-out translation, the right one before it."""
        return {
            name: accuracy(model, _all_batches(pairs, self.plan.batch_tokens))
            for name, pairs in self.held_out.items()
        }

    def probes(self, texts: Sequence[str], longest: int) -> list[Probe]:
        """The given pairs, or the first held-out one: what each target token reads of a source."""
        pairs = [_pair_of(text) for text in texts]
        given = Pairs([source for source, _ in pairs], [target for _, target in pairs])
        encoded = EncodedPairs.of(given, self.tokenizer)
        for text, lengths in zip(texts, encoded.lengths, strict=True):
            refuse_long_probe(text, int(lengths.max()), longest)
        first = next(iter(self.held_out.values()), None)
        if not texts and first is not None and first.lengths[0].max() <= longest:
            encoded = replace(first, sources=first.sources[:1], targets=first.targets[:1])
        rows = (examples_of(encoded, [row]).inputs for row in range(len(encoded.sources)))
        return [_probe_of(self.tokenizer, inputs) for inputs in rows]

    def tokens_until(self, step: int) -> int:
        """Tokens of the targets, without padding."""
        tokens = 0
        for stage, buckets in self.stages:
            steps = min(step, stage.steps)
            tokens += buckets.tokens_until(steps)
            step -= steps
        return tokens


def _pair_of(text: str) -> tuple[str, str]:
    source, is_there, target = text.partition("\t")
    if not is_there or not source.strip() or not target.strip():
        raise ValueError(
            f"recipe: {quoted(text)!r} of probes is no pair; give source, a tab, target"
        )
    return source.strip(), target.strip()


def _probe_of(tokenizer: Tokenizer, inputs: Mapping[str, Tensor]) -> Probe:
    """What the tokens of a target attend to in its source."""
    source, target = (
        tokenizer.token_strings(inputs[name][0].tolist()) for name in ("source_ids", "target_ids")
    )
    words = "".join(source[:-1]).strip()  # the last token is the end
    return Probe(words, inputs, target, source, attention="cross_attn")


def examples_of(pairs: EncodedPairs, rows: Sequence[int]) -> Examples:
    """A batch of these pairs, padded on the right.

    Inputs: source_ids (B, Ts), source_mask (B, 1, 1, Ts), target_ids (B, Tt); targets (B, Tt).
    """
    sources, source_lengths = pairs.padded_sources(rows)
    targets, target_lengths = pairs.padded_targets(rows)  # (B, Tt + 1)
    is_text = padding(target_lengths - 1, targets.shape[1] - 1)[:, 0, 0]  # (B, Tt)
    inputs = {
        "source_ids": sources,
        "source_mask": padding(source_lengths, sources.shape[1]),
        "target_ids": targets[:, :-1],
    }
    return Examples(inputs, targets[:, 1:].masked_fill(~is_text, IGNORED))


def _all_batches(pairs: EncodedPairs, batch_tokens: int) -> Iterator[Examples]:
    buckets = LengthBuckets(pairs, pairs.longest, batch_tokens, seed=0)
    for step in range(buckets.batches_per_epoch):
        yield examples_of(pairs, buckets.rows(step))
