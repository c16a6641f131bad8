"""LaTeX of all that is shown, and with the numbers on screen filled in.

What neither a model nor a choice changes stands in assets/formulas.toml. Only numbers and our own
symbols enter a formula, never a person's text.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.digits import digits, equals

_FILE = Path(__file__).parents[2] / "assets" / "formulas.toml"


@dataclass(frozen=True)
class Formula:
    """A formula as the field writes it, and where it comes from.

    name: what it is of, where its key does not say so in words. pages: those where it stands.
    """

    latex: str
    reference: str
    name: str = ""
    pages: Sequence[str] = ()

    def with_numbers(self, numbers: str) -> "Formula":
        """The formula, and its numbers beside it."""
        return Formula(rf"{self.latex},\qquad {numbers}", self.reference)


def _read() -> dict[str, Formula]:
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        key: Formula(**entry | {"latex": " ".join(entry["latex"].splitlines())})
        for key, entry in entries.items()
    }


FORMULAS = _read()


def breakable(latex: str) -> str:
    """A formula that goes on in the next line between its parts, where there is no room."""
    return latex.replace(r"\qquad", r"\qquad\allowbreak")


def operand(number: float, places: int = 4) -> str:
    """A number among others in a formula; in powers of ten where `digits` could but say `<`."""
    text = digits(number, places)
    return scientific(number) if text[0] in "<>" else text.replace("−", "-")


def result(number: float, places: int = 4) -> str:
    """What a formula gives, with its relation sign."""
    return equals(number, places).replace("−", "-")


def scientific(number: float) -> str:
    """A small number as LaTeX: 3.1 · 10⁻⁷."""
    mantissa, _, exponent = f"{number:.1e}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if number else "0"
