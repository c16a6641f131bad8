"""Protects what translations are compared with: words, damage, the cache's parts, alignments."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.alignment import agreement, merged_to_words, rows_of_target, strongest_links
from model.analysis.source import losses_when_damaged
from model.capture import capture_translation
from model.data.tokenizer import START_OF_TEXT, Tokenizer
from model.decoding.cache_run import two_parts
from model.decoding.translation import Way, write
from model.sources import checkpoint
from model.verify.searched import IndependentTexts, Tree
from model.verify.texts import NO_WORDS, texts_of
from model.verify.translated import (
    IndependentAlignments,
    IndependentTranslation,
    Linked,
    words_of_tokens,
)
from tests.model.builders import tiny_translator
from tests.model.verify.test_other_architectures import files_of
from viz.figures.labels import words_of

CHECKPOINT = Path("assets/checkpoints/translate")
SENTENCES = [
    "A man's dog isn't here, is it?",
    "Two children play with a red ball on the beach.",
    "café — naïve “quotes” … 3.14% a_b O'Neil's rock'n'roll",
    " leading space",
    "don’t'stop 'quoted' ' alone",
    "x",
    "日本語 und 😀 emoji",
    "(a)[b]{c}",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_found_in_the_text_are_those_joined_from_tokens(sentence: str) -> None:
    tokenizer = Tokenizer.load(CHECKPOINT / "tokenizer.json")
    ids = tokenizer.encode(sentence)
    groups, _ = words_of(tokenizer.token_strings(ids))
    assert words_of_tokens(texts_of(CHECKPOINT), ids) == groups


def test_words_of_broken_characters() -> None:
    tokenizer = Tokenizer.load(CHECKPOINT / "tokenizer.json")
    parts = tokenizer.encode("é ü 😀 ß")
    for ids in ([*parts[:2], parts[-1], *tokenizer.encode(" die Hunde")], parts[1:], parts[::-1]):
        groups, _ = words_of(tokenizer.token_strings(ids))
        assert words_of_tokens(texts_of(CHECKPOINT), ids) == groups


@pytest.mark.slow
def test_words_of_real_sentences() -> None:
    tokenizer = Tokenizer.load(CHECKPOINT / "tokenizer.json")
    text = Path("assets/alignments.toml").read_text(encoding="utf-8")
    for line in text.splitlines():
        ids = tokenizer.encode(line)
        if ids:
            groups, _ = words_of(tokenizer.token_strings(ids))
            assert words_of_tokens(texts_of(CHECKPOINT), ids) == groups, line


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_losses_under_damage_are_those_of_the_analysis(seed: int) -> None:
    found = checkpoint.load(CHECKPOINT, "cpu")
    tokenizer = Tokenizer.load(CHECKPOINT / "tokenizer.json")
    target = tokenizer.encode("Zwei Kinder spielen am Strand.")
    source = [*tokenizer.encode("Two children play on the beach."), tokenizer.end_id]
    whole = [tokenizer.id_of(START_OF_TEXT), *target, tokenizer.end_id]
    ours = losses_when_damaged(found.model, source, whole, seed)
    groups = [*words_of(tokenizer.token_strings(target))[0], 6]
    by_word = np.stack([np.bincount(groups, weights=losses) for losses in ours.values()])
    run = IndependentTranslation(
        found.files, tuple(source), tuple(whole), texts_of(CHECKPOINT), seed
    )
    assert run.array("damage.losses") == pytest.approx(by_word, abs=1e-4)
    parts = two_parts(found.model, source, whole[:-1])
    assert run.array("parts.own").tolist() == list(parts.own)
    assert run.array("parts.of_source").tolist() == list(parts.of_source)


PAIRS = (((3, 1, 4, 1, 0), (2, 7, 1, 6)), ((5, 2, 0), (2, 3, 3)))
LINKS = (((0, 0), (2, 1), (3, 2)), ((1, 0), (0, 1)))


@pytest.mark.parametrize("is_input", [True, False])
def test_alignments_are_those_of_the_analysis(
    is_input: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_translator()
    monkeypatch.setattr(
        "model.verify.translated.words_of_tokens", lambda words, ids: list(range(len(ids)))
    )
    pairs = tuple(Linked(*pair, links) for pair, links in zip(PAIRS, LINKS, strict=True))
    run = IndependentAlignments(files_of(model), pairs, NO_WORDS, is_input)
    found, sure = set(), set()
    for number, (source, target) in enumerate(PAIRS):
        rows = ((list(ids), list(map(str, ids))) for ids in (source, target))
        trace = capture_translation(model, *rows)
        pattern = trace.group("decoder.cross_attn").patterns()[1, 2]
        kept = list(rows_of_target(len(target) - 1, is_input=is_input))
        n = len(source) - 1
        words = merged_to_words(pattern[kept][:, :n], range(len(kept)), range(n))
        assert run.array(f"align.words.{number}.1.2") == pytest.approx(words, abs=1e-6)
        found |= {(number, *link) for link in strongest_links(words)}
        sure |= {(number, *link) for link in LINKS[number]}
    ours = agreement(found, sure)
    assert run.array("align.agreement.1.2") == pytest.approx(
        [ours.error_rate, ours.precision, ours.recall]
    )
    assert run.array("align.rates")[1, 2] == pytest.approx(ours.error_rate)
    assert run.array("align.rates").shape == (2, 4)


def test_texts_of_beams_with_a_source() -> None:
    model = tiny_translator()
    written = write(model, [3, 1, 4, 0], [2, 5], 0, Way(beam_width=3))
    texts = tuple(x.ids for step in written.beams for x in step.candidates)
    totals = [x.total for step in written.beams for x in step.candidates]
    run = IndependentTexts(files_of(model), (2, 5), Tree(texts), 1.0, NO_WORDS, (3, 1, 4, 0))
    assert run.array("texts.totals") == pytest.approx(totals, abs=1e-5)
