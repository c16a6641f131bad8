"""What a person reads in the place of a model's name."""

import tomllib
from collections.abc import Mapping
from functools import cache

from model.sources.places import folders
from viz import runs
from viz.frame import ASSETS

SAY_NOTHING = {"model", "checkpoint", "final", "best", "output", "model.gguf"}  # of a model


@cache
def shipped_models() -> Mapping[str, str]:
    """What the models do that come with Headlight, of assets/models.toml."""
    return tomllib.loads((ASSETS / "models.toml").read_text(encoding="utf-8"))


def called(name: str) -> str:
    """A model by what it does, where it comes with Headlight; else by its name.

    With the folder it is in, where that name says nothing.
    """
    folder = folders().get(name) if name.lower() in SAY_NOTHING else None
    own = f"{folder.parent.name}/{name}" if folder and folder.parent.name else name
    return shipped_models().get(name, own)


def described(name: str) -> str:
    """A model by what it does and is, as in Story writer (GPT-style) · 5.8 M · 6 × 8.

    By its name alone where its files cannot be read; opening it says why.
    """
    return " · ".join((called(name), *runs.what_it_is(name)))
