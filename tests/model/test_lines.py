"""Protects our own lines: what comes from outside stays short, printable and on one line."""

import json

import pytest

from model.lines import LONGEST_LINE, LONGEST_QUOTE, json_line, one_line, quoted, spelled


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a cat", "a cat"),
        ("a\ncat\u2028sat", "a cat sat"),
        ("caf\udce9", "caf\\udce9"),
        ("x" * 200, "x" * 200),
        ("x" * 20_000, "x" * 199 + "…"),
        (10**3000, "1" + "0" * 198 + "…"),
    ],
    ids=["plain", "lines", "half a character", "just short enough", "long", "digits"],
)
def test_a_quote_is_short_and_on_one_line(given: object, expected: str) -> None:
    assert quoted(given) == expected
    assert len(quoted(given)) <= LONGEST_QUOTE


def test_a_long_message_keeps_its_beginning_and_its_remedy() -> None:
    line = one_line("the cause " + "x" * 20_000 + "; the remedy")
    assert len(line) == LONGEST_LINE
    assert line.startswith("the cause xx")
    assert line.endswith("xx; the remedy")
    assert one_line("short\n enough") == "short enough"


def test_a_path_that_is_not_utf8_can_be_printed() -> None:
    assert spelled("caf\udce9/config.json").encode() == b"caf\\udce9/config.json"


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85"], ids=ascii)
def test_a_line_of_json_is_one_line_to_everyone(end: str) -> None:
    answer = {"text": f"a{end}b", f"c{end}": ["d"]}
    line = json_line(json.dumps(answer, ensure_ascii=False))
    assert len(line.splitlines()) == 1
    assert json.loads(line) == answer


def test_control_characters_are_seen_in_what_is_quoted() -> None:
    assert quoted("a\x00b\x1b\x7f") == "a␀b␛␡"
    assert quoted(" two\n lines\t") == "two lines"
    assert quoted("\u202egnp.txt") == "\ufffdgnp.txt"
