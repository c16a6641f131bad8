"""What is measured of heads, in words: names, formulas, and the bounds from which a measure says
something of a head. They are the rows of assets/measures.toml, which says what its fields are.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "assets" / "measures.toml"
# The mean over queries i with a choice of the weight on keys J_i.
ON_KEYS = r"\frac{1}{|I|}\sum_{i \in I} \sum_{j \in J_i} \alpha_{ij}, \qquad J_i = "


@dataclass(frozen=True)
class Trait:
    """A word that a measure supports: from its bound on or, where it is small, up to it."""

    measure: str
    is_small: bool
    at: float
    word: str
    do: str

    def holds(self, mean: float) -> bool:
        """Whether a head of this mean has the word; NaN has none."""
        return mean <= self.at if self.is_small else mean >= self.at


@dataclass(frozen=True)
class RoleWords:
    """How a role of a head is put: on its small map, in a sentence, and after its number."""

    chip: str
    says: str
    of: str = ""


@dataclass(frozen=True)
class Measure:
    """A measure in words: on an axis, in a table, explained; its formula, source and traits."""

    name: str
    short: str
    means: str
    latex: str
    reference: str
    source: str
    is_signed: bool = False
    of_model: bool = False
    role: RoleWords | None = None
    large: Trait | None = None
    small: Trait | None = None


def _measure(key: str, row: Mapping[str, Any]) -> Measure:
    fields = dict(row)
    if "keys" in fields:
        fields["latex"] = ON_KEYS + fields.pop("keys")
    for name in ("large", "small"):
        if name in fields:
            fields[name] = Trait(key, name == "small", **fields[name])
    if "role" in fields:
        fields["role"] = RoleWords(**fields["role"])
    return Measure(**fields)


MEASURES: dict[str, Measure] = {
    key: _measure(key, row) for key, row in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
}
OF_RUN = tuple(key for key, measure in MEASURES.items() if not measure.of_model)
TRAITS = tuple(
    trait
    for measure in MEASURES.values()
    for trait in (measure.large, measure.small)
    if trait is not None
)
# By the measure that a head is named for, from which mean on it is.
ROLES = {
    key: measure.large
    for key, measure in MEASURES.items()
    if measure.role is not None and measure.large is not None
}
