"""Protects the scores: by hand on small models, each token predicted once, nothing left out."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.data.tokenizer import END_OF_TEXT
from model.training.evaluation import (
    METRICS_FILE,
    evaluate,
    held_out_bytes_per_token,
)
from tests.model.builders import SENTENCE, tiny_model, tiny_tokenizer

TOKENIZER = tiny_tokenizer()
V = TOKENIZER.vocab_size


def model_for_text(**changes: object) -> DecoderTransformer:
    """A model of the tiny tokenizer's vocabulary."""
    return tiny_model(**{"vocab_size": V} | changes)


def probabilities(model: DecoderTransformer, ids: list[int]) -> Tensor:
    """What the model gives each next token. (T − 1,)."""
    probs = model(torch.tensor([ids[:-1]]))[0].double().softmax(dim=-1)
    return probs.gather(1, torch.tensor(ids)[1:, None])[:, 0]


def test_a_model_that_knows_nothing_needs_log_v_bits_per_token() -> None:
    model = model_for_text()
    model.embed.weight.zero_()  # tied: all logits are zero
    text = "the cat é😀"  # 10 tokens, 14 bytes
    scores = evaluate(model, TOKENIZER, text)
    assert (scores.tokens, scores.bytes) == (10, 14)
    assert scores.loss == pytest.approx(math.log(V), rel=1e-6)
    assert scores.perplexity == pytest.approx(V, rel=1e-6)
    assert scores.bits_per_byte == pytest.approx(math.log2(V) * 10 / 14, rel=1e-6)
    assert scores.tokens_per_second > 0


@pytest.mark.parametrize(("window", "batch_size"), [(1, 16), (3, 2), (11, 1)])
def test_each_token_is_predicted_once_from_its_own_window(window: int, batch_size: int) -> None:
    model, text = model_for_text(), f"{SENTENCE}{END_OF_TEXT}{SENTENCE}"
    ids = [TOKENIZER.end_id, *TOKENIZER.encode_documents(text)]
    cuts = [ids[start : start + window + 1] for start in range(0, len(ids) - 1, window)]
    chances = torch.cat([probabilities(model, cut) for cut in cuts])
    scores = evaluate(model, TOKENIZER, text, window=window, batch_size=batch_size)
    assert scores.tokens == len(chances) == len(ids) - 1 == 2 * len(SENTENCE) + 1
    assert scores.loss == pytest.approx(-chances.log().mean().item(), rel=1e-5)
    assert scores.perplexity == pytest.approx(math.exp(scores.loss))
    nats = scores.loss * scores.tokens
    assert scores.bits_per_byte == pytest.approx(nats / math.log(2) / len(text.encode()))


def test_window_is_the_context_by_default() -> None:
    model = model_for_text()
    scores = evaluate(model, TOKENIZER, SENTENCE)
    assert scores.window == 11
    assert scores.loss == evaluate(model, TOKENIZER, SENTENCE, window=11).loss
    assert scores.loss != evaluate(model, TOKENIZER, SENTENCE, window=3).loss


def test_progress_ends_at_the_whole() -> None:
    seen: list[tuple[int, int]] = []
    evaluate(
        model_for_text(), TOKENIZER, SENTENCE, window=3, batch_size=2,
        on_progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert seen == [(6, 21), (12, 21), (18, 21), (21, 21)]


def test_an_endless_perplexity_is_still_a_number() -> None:
    model = model_for_text()
    model.embed.weight.mul_(1e4)
    assert evaluate(model, TOKENIZER, SENTENCE).perplexity == math.exp(700)


def test_loss_by_position_is_over_whole_windows() -> None:
    """22 predictions in windows of 6: three whole ones, and a rest that is left out."""
    model, ids = model_for_text(), [TOKENIZER.end_id, *TOKENIZER.encode(SENTENCE)]
    losses = [-probabilities(model, ids[start : start + 7]).log() for start in (0, 6, 12)]
    means = torch.stack(losses).mean(dim=0).view(3, 2).mean(dim=1)
    scores = evaluate(model, TOKENIZER, SENTENCE, window=6, bin_size=2, batch_size=2)
    assert scores.by_position == pytest.approx(means.tolist(), rel=1e-5)
    assert evaluate(model, TOKENIZER, SENTENCE, window=6).by_position == ()
    with pytest.raises(ValueError, match=r"3 tokens, less than a window of 6, .* shorter window"):
        evaluate(model, TOKENIZER, "cat", window=6, bin_size=2)


@pytest.mark.parametrize("bin_size", [0, -1, 4, 7])
def test_bins_that_do_not_fill_the_window_are_refused(bin_size: int) -> None:
    with pytest.raises(ValueError, match=f"bins of {bin_size} .* window of 6; give a divisor"):
        evaluate(model_for_text(), TOKENIZER, SENTENCE, window=6, bin_size=bin_size)


@pytest.mark.parametrize("window", [0, -1, 12])
def test_impossible_windows_are_refused(window: int) -> None:
    with pytest.raises(ValueError, match=f"window is {window}; .* between 1 and the context 11"):
        evaluate(model_for_text(), TOKENIZER, SENTENCE, window=window)


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"empty|0 tokens"):
        evaluate(model_for_text(), TOKENIZER, "")


def test_bytes_per_token_of_held_out_text_are_those_of_the_last_evaluation(tmp_path: Path) -> None:
    assert held_out_bytes_per_token(tmp_path) == {}, "no log"
    scores = [None, {"a": {"bytes": 30, "tokens": 10}}, {"a": {"bytes": 7, "tokens": 2}}, None]
    log = "".join(json.dumps({"step": 1, "held_out": score}) + "\n" for score in scores)
    (tmp_path / METRICS_FILE).write_text(log)
    assert held_out_bytes_per_token(tmp_path) == {"a": 3.5}
    (tmp_path / METRICS_FILE).write_text('{"held_out": null}\n')
    assert held_out_bytes_per_token(tmp_path) == {}


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        "{}",
        '{"held_out": [3]}',
        '{"held_out": {"a": {"bytes": 3, "tokens": 0}}}',
        '{"held_out": {"a": {"bytes": -3, "tokens": 1}}}',
        '{"held_out": {"a": {"bytes": "3", "tokens": 1}}}',
    ],
)
def test_a_log_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / METRICS_FILE).write_text(line)
    with pytest.raises(ValueError, match=r"metrics.jsonl is not a log of training: .*remove it"):
        held_out_bytes_per_token(tmp_path)
