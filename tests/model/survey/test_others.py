"""Protects surveys of the other architectures, what is stored, excerpts, and each refusal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.commands import survey as command_of_survey
from model.data.tokenizer import MASK
from model.sources import checkpoint
from model.survey.excerpts import LONGEST, excerpt
from model.survey.samples import Asked
from model.survey.stored import STORED, read_survey
from model.survey.work import Job, survey
from tests.model.builders import (
    SENTENCE,
    edit_json,
    tiny_checkpoint,
    tiny_encoder,
    tiny_tokenizer,
    tiny_translation_checkpoint,
    tiny_vision,
)
from tests.model.conftest import Command


def encoder_folder(folder: Path) -> Path:
    """A checkpoint of an encoder."""
    tokenizer = tiny_tokenizer().with_specials([MASK])
    checkpoint.save(folder, tiny_encoder(vocab_size=tokenizer.vocab_size), tokenizer)
    return folder


def test_an_encoder_may_attend_to_the_next_token(tmp_path: Path) -> None:
    folder, text = encoder_folder(tmp_path / "tiny"), tmp_path / "a.txt"
    text.write_text(SENTENCE)
    found = survey(Job(folder, "cpu", Asked(texts=(text,)), folder / STORED), 1)
    measured = found.measured("encoder.attn")
    assert {"next", "previous", "prefix", "copying", "kept"} <= set(measured)


def test_pairs_are_surveyed_in_all_three_kinds_of_attention(tmp_path: Path) -> None:
    folder = tiny_translation_checkpoint(tmp_path / "tiny")
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("A dog runs.\nTwo boys, a ball.\n")
    target.write_text("Ein Hund rennt.\nZwei Jungen, ein Ball.\n")
    asked = Asked(texts=(source,), references=(target,))
    found = survey(Job(folder, "cpu", asked, folder / STORED), 1)
    assert list(found.groups) == ["encoder.attn", "decoder.attn", "decoder.cross_attn"]
    assert set(found.measured("decoder.cross_attn")) == {
        "broad",
        "entropy",
        "largest",
        "kept",
        "moved",
    }
    texts = {one.text for layer in found.groups["encoder.attn"].strongest for one in layer}
    assert texts <= {"A dog runs.", "Two boys, a ball."}


def test_pictures_are_surveyed(tmp_path: Path) -> None:
    model = tiny_vision()
    checkpoint.save(tmp_path / "tiny", model, None)
    size = model.config.image_size
    images = np.random.default_rng(0).integers(0, 255, (3, size, size), dtype=np.uint8)
    path = tmp_path / "a.npz"
    np.savez(path, test_images=images, test_labels=np.zeros(3, np.int64))
    asked = Asked(images=path)
    found = survey(Job(tmp_path / "tiny", "cpu", asked, tmp_path / "tiny" / STORED), 1)
    measured = found.measured("encoder.attn")
    assert "copying" not in measured
    numbers = {one.number for layer in found.groups["encoder.attn"].strongest for one in layer}
    assert numbers <= {0, 1, 2}


# --- what is stored -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with a survey."""
    folder = tiny_checkpoint(tmp_path_factory.mktemp("surveyed") / "tiny")
    text = folder.parent / "a.txt"
    text.write_text(SENTENCE)
    survey(Job(folder, "cpu", Asked(texts=(text,)), folder / STORED), 1)
    return folder


def _first(fields: dict[str, Any]) -> dict[str, Any]:
    return fields["groups"]["decoder.attn"]


DAMAGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another format": (lambda f: f.update(format=7), "its format is 7; this version reads 1"),
    "a key too many": (lambda f: f.update(more=1), "unknown key more"),
    "a key too few": (lambda f: f.pop("tokens"), "lacks tokens"),
    "text for a number": (lambda f: f.update(tokens="many"), "must be of type int"),
    "a row too short": (
        lambda f: _first(f)["measures"]["first"]["values"][0].pop(),
        "rows of several lengths",
    ),
    "a layer too few": (
        lambda f: _first(f)["measures"]["first"]["values"].pop(),
        r"has \(2, 3\) heads, but first has \(1, 3\)",
    ),
    "heads without text": (lambda f: _first(f)["strongest"].pop(), "strongest has"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_broken_survey_is_one_line_with_the_remedy(
    surveyed: Path, tmp_path: Path, damage: str
) -> None:
    change, message = DAMAGES[damage]
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / STORED).write_bytes((surveyed / STORED).read_bytes())
    edit_json(folder / STORED, change)
    with pytest.raises(ValueError, match=message) as refusal:
        read_survey(folder)
    assert "make it again: python -m model survey --checkpoint tiny" in str(refusal.value)


# --- excerpts -------------------------------------------------------------------------------------

TOKENS = [" One", " day", ".", " The", " cat", " sat", ".", " It", " was", " glad", "!", " Then"]


@pytest.mark.parametrize(
    ("query", "key", "text"),
    [
        (5, 4, "The cat sat."),
        (8, 4, "The cat sat. It was glad!"),
        (1, 0, "One day."),
        (11, 11, "Then"),
        (9, 1, "One day. The cat sat. It was glad!"),
    ],
)
def test_an_excerpt_is_whole_sentences(query: int, key: int, text: str) -> None:
    assert excerpt(TOKENS, query, key) == text


def test_an_excerpt_is_not_longer_than_it_may_be_and_starts_with_a_word() -> None:
    tokens = [token for i in range(100) for token in (f" w{i}", "x")]
    for query, key in ((150, 148), (150, 120), (199, 0), (1, 0)):
        words = excerpt(tokens, query, key).split()
        assert words[0].startswith("w")
        assert len(words) <= LONGEST / 2 + 1
        assert f"w{query // 2}x" in words or f"w{query // 2}" in words


# --- the command ----------------------------------------------------------------------------------


def test_the_command_prints_what_it_found(tmp_path: Path, command: Command) -> None:
    folder, text = tiny_checkpoint(tmp_path / "mine"), tmp_path / "a.txt"
    text.write_text(SENTENCE)
    result = command(command_of_survey, "--checkpoint", folder, "--text-file", text)
    answer = json.loads(result.out[-1])
    assert (result.code, result.err) == (0, [])
    assert answer["texts"] == {"a.txt": 21}
    assert sum(answer["roles"]["decoder.attn"].values()) == 6
    assert read_survey(folder) is not None
    checkpoint.load(folder, "cpu")  # its checksums still hold


BAD: dict[str, tuple[list[str], str]] = {
    "no text": ([], "'decoder'; give --text-file with one text or several, and nothing else"),
    "a text that is not there": (["--text-file", "none.txt"], "cannot read none.txt"),
    "an empty text": (["--text-file", "{empty}"], "is empty"),
    "one token": (["--text-file", "{one}"], "fewer than 2 tokens"),
    "a window above the context": (
        ["--text-file", "{text}", "--window", "99"],
        "window is 99; it must be between 2 and the context 23",
    ),
    "a window of one": (["--text-file", "{text}", "--window", "1"], "window is 1"),
    "fewer tokens than none": (["--text-file", "{text}", "--tokens", "-5"], "tokens is -5"),
    "no process": (
        ["--text-file", "{text}", "--processes", "0"],
        "processes is 0; give at least 1",
    ),
    "pictures for a text": (["--images", "{text}"], "give --text-file"),
    "a translation for none": (
        ["--text-file", "{text}", "--reference-file", "{text}"],
        "and nothing else",
    ),
    "a place that cannot be": (
        ["--text-file", "{text}", "--out", "{text}/a.json"],
        "cannot write",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name: str, surveyed: Path, tmp_path: Path, command: Command) -> None:
    words, message = BAD[name]
    files = {"text": SENTENCE, "empty": "", "one": "t"}
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    given = [word.format(**{file: tmp_path / file for file in files}) for word in words]
    result = command(command_of_survey, "--checkpoint", surveyed, *given)
    assert (result.code, len(result.err)) == (2, 1)
    assert message in result.err[0]
