"""Protects the windows: each token once per epoch, in an order that depends on the seed alone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.data.text import TokenWindows, encode_texts, hold_out, read_corpus, read_text
from model.data.tokenizer import END_OF_TEXT
from tests.model.builders import tiny_tokenizer


def positions(n_tokens: int, seq_len: int = 7, batch_size: int = 3, seed: int = 0) -> TokenWindows:
    """Windows of a text whose ids are their own positions."""
    return TokenWindows(np.arange(n_tokens), seq_len, batch_size, seed)


def epoch(windows: TokenWindows, number: int) -> np.ndarray:
    """The rows of one epoch, in their order. (windows_per_epoch, seq_len + 1)."""
    n, size = windows.windows_per_epoch, windows.batch_size
    steps = range(number * n // size, -(-(number + 1) * n // size))
    rows = np.concatenate([windows.batch(step) for step in steps])
    first = number * n - steps[0] * size
    return rows[first : first + n]


@given(st.integers(15, 200), st.integers(1, 7), st.integers(1, 5), st.integers(0, 3))
def test_each_token_is_predicted_once_per_epoch(
    n_tokens: int, seq_len: int, batch_size: int, number: int
) -> None:
    windows = positions(n_tokens, seq_len, batch_size)
    rows = epoch(windows, number)
    targets = np.sort(rows[:, 1:].ravel())
    assert (np.diff(rows, axis=1) == 1).all()  # a stretch of the text
    assert (np.diff(targets) == 1).all()  # no token twice, none left out in between
    assert 1 <= targets[0] <= seq_len
    assert targets[-1] < n_tokens
    assert n_tokens - len(targets) < 2 * seq_len  # what two ends of another offset leave


def test_epochs_differ_in_order_and_cut() -> None:
    windows = positions(500)
    first, *others = [epoch(windows, number) for number in range(5)]
    assert all(not np.array_equal(first, other) for other in others)
    assert len({int(rows.min()) for rows in (first, *others)}) > 1
    assert (np.diff(first[:, 0]) < 0).any()


def test_a_batch_depends_on_its_step_and_the_seed_alone() -> None:
    forwards, backwards = positions(500), positions(500)
    steps = range(60)  # through several epochs, more than are remembered
    expected = [forwards.batch(step).tolist() for step in steps]
    assert [backwards.batch(step).tolist() for step in reversed(steps)] == expected[::-1]
    assert [positions(500, seed=1).batch(step).tolist() for step in steps] != expected
    assert forwards.batch(0).shape == (3, 8)


def test_too_short_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match="13 tokens; windows of 7 need at least 15: give more"):
        positions(13)
    assert positions(15).windows_per_epoch == 1


def test_texts_are_closed_by_the_end_of_text() -> None:
    tokenizer = tiny_tokenizer()
    cat, end = tokenizer.encode("cat"), [tokenizer.end_id]
    ids = encode_texts(tokenizer, ["cat", f"cat{END_OF_TEXT}cat"])
    assert ids.tolist() == cat + end + cat + end + cat + end


THREE_WAYS = {
    "LF": (29, b"One day a fox ran.\n\nThe end.\n"),
    "CRLF": (32, b"One day a fox ran.\r\n\r\nThe end.\r\n"),
    "a mark": (35, "\ufeffOne day a fox ran.\r\n\r\nThe end.\r\n".encode()),
}


@pytest.mark.parametrize("way", THREE_WAYS)
def test_one_text_is_read_as_one_however_it_was_saved(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    n_bytes, content = THREE_WAYS[way]
    assert len(content) == n_bytes
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert read_text(path).encode() == THREE_WAYS["LF"][1]
    said = (
        f"{path}: line ends are read as LF, without a byte-order mark ({n_bytes - 29} bytes fewer)"
    )
    assert caplog.messages == ([] if n_bytes == 29 else [said])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read .*a.txt: No such file or directory; check the path"),
        (b"", "a.txt is empty; give a file with text"),
        ("naïve €".encode("cp1252"), "not valid UTF-8 .* at byte 2, .*Windows-1252.*; give a text"),
        (b"\xff\xfea\0b\0", "not valid UTF-8 .*: it begins with the mark of UTF-16; give a text"),
        (b"\xff\xfe\0\0a\0\0\0", "not valid UTF-8 .*: it begins with the mark of UTF-32; give a"),
        ("ab".encode("utf-16-be"), r"a NUL at byte 0, .*UTF-16.*; give a .*\(PowerShell's > "),
        (
            "ab".encode("utf-16-le"),
            "a NUL at byte 1, as files that are no text, or UTF-16, have; g",
        ),
        ("日本".encode("utf-16-le"), "a.txt is not valid UTF-8 .* at byte 0, .* or UTF-16; give"),
    ],
)
def test_unreadable_text_is_refused(content: bytes | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_text(tmp_path / "a.txt")


def test_a_folder_is_not_a_text(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot read .*: Is a directory"):
        read_text(tmp_path)


def test_held_out_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("en/valid.txt", "de/valid.txt", "a.txt")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(path.relative_to(tmp_path)))
    found = read_corpus(paths[:1], paths).held_out
    assert found == {name: name for name in ("en/valid.txt", "de/valid.txt", "a.txt")}
    assert list(read_corpus(paths, paths[:1]).held_out) == ["valid.txt"]
    with pytest.raises(ValueError, match=r"valid\.txt is given twice; give each file once"):
        read_corpus(paths, [*paths, paths[0]])


def test_held_out_text_is_the_end_of_each_text_and_not_trained_on() -> None:
    paragraphs = [f"paragraph {number}" for number in range(300)]
    texts = ["\n\n".join(paragraphs), "no paragraphs here " * 50]
    corpus = hold_out(texts)
    assert list(corpus.held_out) == ["corpus 0", "corpus 1"]
    for text, front, back in zip(texts, corpus.texts, corpus.held_out.values(), strict=True):
        assert front + back == text
        assert 0 < len(back) < 0.03 * len(text)
    assert corpus.held_out["corpus 0"].startswith("paragraph 29")


def test_something_is_held_out_of_a_text_that_ends_with_a_separator() -> None:
    corpus = hold_out([f"{'a story ' * 50}\n\n{END_OF_TEXT}"])
    assert all(corpus.held_out.values())
