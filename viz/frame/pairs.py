"""Sentences and their translations, with the words that mean the same marked by hand."""

import tomllib
from dataclasses import dataclass
from functools import cache

from viz.frame import ASSETS


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
