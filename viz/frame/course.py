"""The kind of setting that a steered text is brought back from: what was changed at which token."""

import re
from dataclasses import dataclass
from typing import Any, cast

from model.decoding.course import NAMES, PUT, Change
from model.decoding.filters import Sampling
from viz.frame.kinds import Setting

PART = re.compile(r"(\d{1,6})-([a-z_]+)-(.+)")
WHOLE = re.compile(r"\d{1,18}")
ALL = "all"  # top-k that removes nothing
WHOLES = ("top_k", "seed", PUT)  # whole numbers


@dataclass(frozen=True)
class Changes(Setting[tuple[Change, ...]]):
    """At most `most` changes, each from a new token on; written 12-temperature-1.5~20-token-7.

    `n_tokens` is the size of the vocabulary.
    """

    most: int = 1
    n_tokens: int = 1

    def nearest(self, raw: object) -> tuple[tuple[Change, ...], str | None]:
        """The changes that are possible; the others are counted."""
        parts = raw if isinstance(raw, list | tuple) else filter(None, str(raw or "").split("~"))
        read = [part if isinstance(part, Change) else _read(str(part)) for part in parts]
        good = tuple(change for change in read if change and self._is_possible(change))
        n_lost = len(read) - len(good[: self.most])
        line = (
            f"{self.label}: {n_lost} of {len(read)} are no changes, or too many; they are such "
            f"as 12-temperature-1.5, at most {self.most}. The text may be another one."
        )
        return good[: self.most], line if n_lost else None

    def text(self, value: tuple[Change, ...]) -> str:
        """Token, name and value with hyphens between them, changes with a tilde."""
        return "~".join(f"{at}-{name}-{_written(what)}" for at, name, what in value)

    def _is_possible(self, change: Change) -> bool:
        if change.name == PUT:
            return isinstance(change.value, int) and change.value < self.n_tokens
        try:
            Sampling(**cast("dict[str, Any]", {change.name: change.value}))
        except (TypeError, ValueError):
            return False
        return True


def _read(part: str) -> Change | None:
    match = PART.fullmatch(part)
    if match is None or match[2] not in NAMES:
        return None
    name, text = match[2], match[3]
    if name == "order":
        return Change(int(match[1]), name, tuple(text.split(".")))
    if name == "top_k" and text == ALL:
        return Change(int(match[1]), name, None)
    try:
        value = int(text) if WHOLE.fullmatch(text) and name in WHOLES else float(text)
    except ValueError:
        return None
    is_of_kind = isinstance(value, int) == (name in WHOLES)
    return Change(int(match[1]), name, value) if is_of_kind else None


def _written(value: object) -> str:
    if value is None:
        return ALL
    return ".".join(value) if isinstance(value, tuple) else str(value)
