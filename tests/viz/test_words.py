"""Protects the words on screen: the field's own, and none of those that were used before."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from viz.frame import ASSETS

VIZ = Path(__file__).parents[2] / "viz"
SOURCES = [
    VIZ / "formulas.py",
    *sorted(path for room in ("frame", "pages", "figures") for path in VIZ.glob(f"{room}/**/*.py")),
]
OLD = {
    r"\breads?\b|\bbe read\b": "attends to",
    r"\bfillers?\b|\bfilled up\b": "padding, pad tokens",
    r"\blikeliest\b": "most likely",
    r"\banew\b": "again",
    r"\bbehind (?:them|the|each|a)\b": "after",
    r"\b(?:is|are) no (?:number|whole|power|measure|row|such)\b": "is not a …",
    r"\bworst (?:error|difference)\b": "max error",
    r"\b(?:values?|numbers?|row|column|window|bytes?) a (?:token|layer|position|value|dimension)\b":
        "per",
    r"\bknows? of\b|\bknowledge\b": "can be influenced by, receptive field",
    r"\bin sight of\b|\blessons?\b": "label leakage, training targets",
    r"\bhands? of clocks\b|\bturned by\b|\bbefore turning\b": "rotation, before RoPE",
    r"\bwrites on\b|\bGo on\b|\bOne token\b(?! )": "continues your text, Resume, Step",
    r"\bshelf\b": "found",
    r"\bnobody\b": "no token",
    r"\bkv heads?\b": "KV heads",
}  # fmt: skip


def sentences(path: Path) -> Iterator[str]:
    """The strings of a file that people may read: not docstrings, not single words."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings and " " in node.value.strip():
            yield node.value


def old_words(text: str) -> list[str]:
    """The old words in a text, each with what stands for it today."""
    found = ((match[0], new) for old, new in OLD.items() for match in re.finditer(old, text))
    return [f"“{word}”: {new}" for word, new in found]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(VIZ).as_posix())
def test_no_old_word_is_on_screen(path: Path) -> None:
    assert [word for text in sentences(path) for word in old_words(text)] == []


def test_examples_are_in_todays_words() -> None:
    entries = tomllib.loads((ASSETS / "examples.toml").read_text(encoding="utf-8"))["example"]
    assert len(entries) == 4
    assert [word for entry in entries for word in old_words(entry["shows"])] == []


@pytest.mark.parametrize(
    "text",
    [
        "the token in the row reads from the one in the column",
        "The filler means nothing, and nobody should read it.",
        "The likeliest next token, layer by layer",
        "Top-k many is no number; using all.",
        "17 checks, worst error 9e-07",
        "One row a position, one column a dimension",
        "if 8 kv heads",
    ],
)
def test_old_words_are_found(text: str) -> None:
    assert old_words(text)
