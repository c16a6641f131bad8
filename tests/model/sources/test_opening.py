"""Protects what is told while a model opens: its steps in their order, and an end half way."""

import itertools
import math
import random
from pathlib import Path

import gguf
import pytest
from transformers.tokenization_utils_base import generate_merges

from model import progress
from model.progress import Progress, Stage, Stopped
from model.sources.gguf import reading
from model.sources.table import open_named
from tests.model.adopted.gguf_files import written


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written(tmp_path / "little.gguf", "gemma3", kind="Q8_0")
    return tmp_path / "little.gguf"


def test_a_file_tells_its_steps_and_counts_its_tensors(file: Path) -> None:
    said: list[Stage] = []
    with progress.told_to(Progress(said.append)):
        open_named(str(file), "cpu")
    words = [words for words, _ in itertools.groupby(stage.words for stage in said)]
    assert words == [
        "Loading transformers",
        "Reading its header",
        "Reading its weights",
        "Dequantising",
        "Checking",
        "Reading its tokenizer",
    ]
    assert [stage.step for stage in said] == sorted(stage.step for stage in said)
    n = len(reading.read(file).stored)
    counts = [stage.pieces for stage in said if stage.pieces]
    assert counts == [f"{i} of {n} tensors" for i in range(n)]
    shares = [stage.share for stage in said if stage.words == "Dequantising"]
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0, 1)


def test_a_time_is_told_once_three_pieces_were_timed_by_their_median() -> None:
    now, said = [100.0], list[Stage]()
    sizes = {"a": 2.0, "b": 4.0, "c": 1.0, "d": 5.0}
    each_takes = {"a": 4.0, "b": 12.0, "c": 50.0, "d": 1.0}  # 2, 3 and 50 seconds for one
    told = Progress(said.append, clock=lambda: now[0])
    for piece in told.each(Stage(progress.WEIGHTS, "Words"), [*sizes], lambda x: sizes[x], "parts"):
        now[0] += each_takes[piece]
    assert [math.isnan(stage.seconds_left) for stage in said] == [True, True, True, False, True]
    assert said[3].seconds_left == 5.0 * 3.0
    assert said[3].share == 7 / 12 and said[3].pieces == "3 of 4 parts"
    assert said[3].progress == (progress.WEIGHTS + 7 / 12) / 4


def test_what_is_stopped_ends_at_once_and_leaves_the_packages_as_they_were(file: Path) -> None:
    own, said = gguf.GGUFReader, list[Stage]()
    told = Progress(lambda stage: (said.append(stage), stage.pieces[:2] == "5 " and told.stop()))
    with progress.told_to(told), pytest.raises(Stopped):
        open_named(str(file), "cpu")
    assert said[-1].pieces.startswith("5 of") and gguf.GGUFReader is own
    assert open_named(str(file), "cpu").off == ()


@pytest.mark.parametrize("has_scores", [False, True])
def test_pieces_are_merged_in_the_library_s_order(has_scores: bool) -> None:
    draw = random.Random(3)
    words = {"".join(draw.choices("abc", k=draw.randint(1, 5))) for _ in range(200)}
    vocab = {word: n for n, word in enumerate(sorted(words, key=lambda word: (len(word), word)))}
    scores = {word: float(draw.randint(0, 9)) for word in vocab} if has_scores else None
    for skipped in (None, ("ab", "c", "cab")):
        expected = generate_merges(vocab, scores, skipped)
        assert len(expected) > 100 and reading._merges(vocab, scores, skipped) == expected
