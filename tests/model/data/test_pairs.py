"""Protects pairs of sentences: what is read, which come together, and that none is left out."""

from pathlib import Path

import numpy as np
import pytest

from model.data.pairs import EncodedPairs, LengthBuckets, Pairs, read_pairs
from model.data.tokenizer import PADDING, START_OF_TEXT, train_characters

TOKENIZER = train_characters(["abc"], (START_OF_TEXT, PADDING))


def pairs_of(n: int, seed: int = 0) -> EncodedPairs:
    """Pairs of 1 to 9 letters a side."""
    draw = np.random.default_rng(seed)
    sources, targets = (["abc"[int(draw.integers(3))] * int(draw.integers(1, 10)) for _ in range(n)]
                        for _ in range(2))  # fmt: skip
    return EncodedPairs.of(Pairs(sources, targets), TOKENIZER)


def written(folder: Path, **texts: str) -> list[Path]:
    """Text files by their names."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def test_lines_are_pairs(tmp_path: Path) -> None:
    paths = written(tmp_path, a="one\ntwo \n", b="eins\nzwei\n", c="three\n", d="drei\n")
    found = read_pairs(paths, paths[:2])
    assert found.sources == ["one", "two", "three"]
    assert found.targets == ["eins", "zwei", "drei"]
    assert found.held_out["a"].targets == ["eins", "zwei"]
    assert found.texts[:2] == [" one", " two"]
    assert found.digest != read_pairs(paths[:2], paths[:2]).digest
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo \r\n")
    assert read_pairs(paths, paths[:2]) == found


def test_held_out_pairs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    texts = {"valid.en": "one\n", "valid.de": "eins\n", "valid.it": "uno\n", "valid.fr": "un\n"}
    paths = written(tmp_path, **texts)
    assert list(read_pairs(paths, paths[:2]).held_out) == ["valid"]
    held_out = read_pairs(paths, paths).held_out
    assert {name: pairs.targets for name, pairs in held_out.items()} == {
        "valid.en": ["eins"], "valid.it": ["un"],
    }  # fmt: skip


def test_without_held_out_files_the_last_hundredth_is_kept_apart(tmp_path: Path) -> None:
    numbers = "".join(f"{i}\n" for i in range(200))
    found = read_pairs(written(tmp_path, a=numbers, b=numbers))
    assert (len(found.sources), found.held_out["corpus"].sources) == (198, ["198", "199"])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a": "x\n"}, "1 files for pairs of sentences; give each source with its target"),
        ({"a": "x\n", "b": "y\nz\n"}, "has 1 lines but .*b has 2"),
        ({"a": "x\n\nz\n", "b": "y\n\nz\n"}, "line 2 is empty; remove it on both sides"),
        ({"a": "x\n", "b": ""}, "b is empty"),
    ],
)
def test_what_are_no_pairs_is_refused(texts: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_pairs(written(tmp_path, **texts))


def test_ids_begin_and_end_and_padding_fills() -> None:
    pairs = EncodedPairs.of(Pairs(["ab", "a"], ["c", "cab"]), TOKENIZER)
    a, b, c = (TOKENIZER.encode(x)[0] for x in "abc")
    start, end, pad = TOKENIZER.id_of(START_OF_TEXT), TOKENIZER.end_id, TOKENIZER.id_of(PADDING)
    sources, source_lengths = pairs.padded_sources([0, 1])
    targets, target_lengths = pairs.padded_targets([0, 1])
    assert sources.tolist() == [[a, b, end], [a, end, pad]]
    assert targets.tolist() == [[start, c, end, pad, pad], [start, c, a, b, end]]
    assert (source_lengths.tolist(), target_lengths.tolist()) == ([3, 2], [3, 5])


@pytest.mark.parametrize("batch_tokens", [10, 37, 1000])
def test_every_pair_comes_once_per_epoch_within_the_budget(batch_tokens: int) -> None:
    pairs = pairs_of(101)
    buckets = LengthBuckets(pairs, 10, batch_tokens, seed=3)
    n = buckets.batches_per_epoch
    orders = []
    for epoch in (0, 1):
        batches = [buckets.rows(epoch * n + number) for number in range(n)]
        assert sorted(row for rows in batches for row in rows) == list(range(101))
        for rows in batches:
            lengths = pairs.lengths[rows, 0]
            assert len(rows) == 1 or len(rows) * lengths.max() <= batch_tokens
        orders.append(batches)
    assert orders[0] != orders[1]
    assert n == 1 or {len(x) for x in map(set, orders[0])}


def test_a_batch_is_of_about_one_length() -> None:
    pairs = pairs_of(500)
    buckets = LengthBuckets(pairs, 10, 60, seed=0)
    spans = [
        np.ptp(pairs.lengths[buckets.rows(step), 0]) for step in range(buckets.batches_per_epoch)
    ]
    assert max(spans) <= 2
    assert np.mean(spans) < 0.5


def test_the_batch_of_a_step_depends_on_step_and_seed_alone() -> None:
    pairs = pairs_of(101)
    one, two = (LengthBuckets(pairs, 10, 40, seed=5) for _ in range(2))
    steps = [31, 2, 90, 31]
    assert [one.rows(step) for step in steps] == [two.rows(step) for step in reversed(steps)][::-1]
    other = LengthBuckets(pairs, 10, 40, seed=6)
    assert [one.rows(step) for step in range(9)] != [other.rows(step) for step in range(9)]


def test_tokens_are_counted_without_padding() -> None:
    pairs = pairs_of(101)
    buckets = LengthBuckets(pairs, 10, 40, seed=5)
    n_steps = 2 * buckets.batches_per_epoch + 3
    counted = sum(int(pairs.lengths[buckets.rows(step), 0].sum()) for step in range(n_steps))
    assert buckets.tokens_until(n_steps) == counted
    assert buckets.tokens_until(0) == 0


def test_a_pair_that_is_too_long_is_named() -> None:
    pairs = EncodedPairs.of(Pairs(["a", "abcabc"], ["b", "b"]), TOKENIZER)
    with pytest.raises(ValueError, match="pair 2 has 7 tokens; the stage has seq_len 5: raise it"):
        LengthBuckets(pairs, 5, 40, seed=0)
