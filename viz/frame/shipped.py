"""What a person reads in the place of a model's name."""

import tomllib
from collections.abc import Mapping
from functools import cache

from viz import runs
from viz.frame import ASSETS


@cache
def shipped_models() -> Mapping[str, str]:
    """What the models do that come with Headlight, of assets/models.toml."""
    return tomllib.loads((ASSETS / "models.toml").read_text(encoding="utf-8"))


def called(name: str) -> str:
    """A model by what it does, where it comes with Headlight; else by its name."""
    return shipped_models().get(name, name)


def described(name: str) -> str:
    """A model by what it does and is, as in Story writer (GPT-style) · 5.8 M · 6 × 8.

    By its name alone where its files cannot be read; opening it says why.
    """
    return " · ".join((called(name), *runs.what_it_is(name)))
