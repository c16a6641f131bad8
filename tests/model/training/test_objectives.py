"""Protects the objectives: what a batch is, what its loss is, and that resuming changes neither."""

from dataclasses import replace

import torch

from model.architectures.decoder import DecoderTransformer
from model.data.text import Corpus
from model.training.evaluation import evaluate
from model.training.objectives import LanguageModelling
from model.training.plan import Plan, Stage
from tests.model.builders import SENTENCE, tiny_model, tiny_tokenizer
from tests.model.training.builders import CORPUS, toy_windows

PLAN = Plan((Stage(steps=3, seq_len=7), Stage(steps=5, seq_len=11)), batch_tokens=35, seed=0)
TOKENIZER = tiny_tokenizer()


def model_for_text() -> DecoderTransformer:
    """A model of the tiny tokenizer's vocabulary."""
    return tiny_model(vocab_size=TOKENIZER.vocab_size)


def test_loss_is_the_mean_over_all_positions() -> None:
    model, windows = model_for_text(), toy_windows()
    log_probs = model(windows[:, :-1]).log_softmax(dim=-1)
    expected = -log_probs.gather(2, windows[:, 1:, None]).mean()
    loss = LanguageModelling(TOKENIZER, CORPUS, PLAN).loss(model, windows)
    torch.testing.assert_close(loss, expected)
    smoothed = replace(PLAN, label_smoothing=0.1)
    loss = LanguageModelling(TOKENIZER, CORPUS, smoothed).loss(model, windows)
    torch.testing.assert_close(loss, 0.9 * expected - 0.1 * log_probs.mean())


def test_stages_set_the_length_of_the_windows() -> None:
    shapes = [tuple(x.shape) for x in LanguageModelling(TOKENIZER, CORPUS, PLAN).batches(0)]
    assert shapes == 3 * [(5, 8)] + 5 * [(3, 12)]


def test_held_out_texts_are_evaluated_by_name() -> None:
    corpus = Corpus(CORPUS.texts, {"one": SENTENCE, "two": "the cat"})
    scores = LanguageModelling(TOKENIZER, corpus, PLAN).evaluate(model_for_text())
    assert {name: x.tokens for name, x in scores.items()} == {"one": len(SENTENCE), "two": 7}
    assert scores["two"].loss == evaluate(model_for_text(), TOKENIZER, "the cat").loss
