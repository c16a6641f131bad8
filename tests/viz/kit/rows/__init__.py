"""What a row of the gallery's table is, and what a hand does in many of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.viz.kit.gallery import Gallery
from viz.kit.part import Part

Hand = Callable[[Gallery], object]


@dataclass(frozen=True)
class Row:
    """Something that is shown, what a hand does to it, and what it reads and has sent then.

    Of what it reads and has sent, only what is named here counts; `at` leads to a mark within it.
    """

    shows: Hand
    hand: Hand
    reads: Callable[[], Any]
    sends: Callable[[], dict[str, Any]] = dict
    at: str = ""


def part(make: Callable[[], Part], **changes: Any) -> Hand:  # noqa: ANN401
    """Show a part."""
    return lambda gallery: gallery.show(make(), **changes)


def mark(module: str, **given: Any) -> Hand:  # noqa: ANN401
    """Show a mark alone."""
    return lambda gallery: gallery.mark(module, **given)


class Has(str):
    """Words that stand somewhere in what is read."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) in str(other)


def nothing(_: Gallery) -> None:
    """Only look."""


def keys(pressed: str, on: str) -> Hand:
    """Press keys on what has a name."""
    return lambda gallery: gallery.press(pressed, on)


def click(text: str) -> Hand:
    """Click what says this."""
    return lambda gallery: gallery.locator("text, rect").filter(has_text=text).last.click()
