"""The example sentences, each with a head that shows something, and those with a translation."""

import tomllib
from dataclasses import dataclass
from functools import cache

from model.names import head_name
from viz.frame import ASSETS
from viz.frame.view import View

HALF = 0.5  # of a row's weight


@dataclass(frozen=True)
class Example:
    """A sentence to start from, and what one head of a model shows on it."""

    title: str
    sentence: str
    model: str
    layer: int
    head: int
    shows: str
    cell: str  # query and key of what is shown, as 8-1


@cache
def examples() -> tuple[Example, ...]:
    """The example sentences of assets/examples.toml."""
    text = (ASSETS / "examples.toml").read_text(encoding="utf-8")
    return tuple(Example(**entry) for entry in tomllib.loads(text)["example"])


def what_to_try(view: View) -> str:
    """For an example sentence on its model: what its head shows. Nothing for any other.

    Nor where the cell has not most of its row: a model of that name may be another.
    """
    for example in examples():
        is_its = (example.sentence, example.model) == (view.sentence, view.model)
        if is_its and _is_shown(example, view):
            return f"Try: {head_name(example.layer, example.head)} {example.shows}."
    return ""


def _is_shown(example: Example, view: View) -> bool:
    records, (query, key) = view.group.records, map(int, example.cell.split("-"))
    if example.layer >= len(records) or example.head >= records[example.layer].n_heads:
        return False
    pattern = records[example.layer].pattern[example.head]
    return query < len(pattern) and bool(pattern[query, key] > HALF)


@dataclass(frozen=True)
class Pair:
    """An English sentence, its German, and sure links: numbers of an English and a German word."""

    source: str
    target: str
    links: frozenset[tuple[int, int]]


@cache
def pairs() -> tuple[Pair, ...]:
    """The pairs of assets/alignments.toml."""
    text = (ASSETS / "alignments.toml").read_text(encoding="utf-8")
    return tuple(
        Pair(entry["source"], entry["target"], frozenset(map(_link, entry["links"].split())))
        for entry in tomllib.loads(text)["pair"]
    )


def _link(text: str) -> tuple[int, int]:
    source, target = text.split("-")
    return int(source), int(target)


def pair_of(source: str) -> Pair | None:
    """The pair of a source, where it is one of those."""
    return next((pair for pair in pairs() if pair.source == source.strip()), None)
