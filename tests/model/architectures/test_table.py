"""Protects the table of architectures: what a config means, and every refusal."""

import dataclasses
import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from model.architectures import table
from model.architectures.base import Transformer
from model.architectures.table import ARCHITECTURES, Architecture, architecture, config_of
from model.config import BlockConfig, DecoderConfig
from model.sources import checkpoint
from tests.model.builders import tiny_config, tiny_encoder


@dataclass(frozen=True, kw_only=True)
class TileConfig(BlockConfig):
    """A made-up architecture with a field of its own."""

    architecture: ClassVar[str] = "tiles"
    tile_size: int


@pytest.fixture(autouse=True)
def tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second architecture, whose package is not installed."""
    entry = dataclasses.replace(ARCHITECTURES["decoder"], config=TileConfig, package="no_such_pkg")
    monkeypatch.setitem(table.ARCHITECTURES, "tiles", entry)


def test_no_architecture_means_a_decoder() -> None:
    fields = tiny_config().to_dict()
    assert fields["architecture"] == "decoder"
    assert config_of(fields) == tiny_config()
    fields.pop("architecture")
    assert config_of(fields) == tiny_config()


def test_shipped_configs_that_say_nothing_are_decoders() -> None:
    for name in checkpoint.found_names():
        path = checkpoint.find_folder(name) / "config.json"
        says = json.loads(path.read_text()).get("architecture", "decoder")
        assert checkpoint.read_config(path).architecture == says
        assert isinstance(checkpoint.read_config(path), DecoderConfig) == (says == "decoder")


def test_an_unknown_architecture_is_named_with_those_known() -> None:
    with pytest.raises(
        ValueError, match=r"'rnn' is unknown; this version knows decoder, .*, tiles"
    ):
        config_of(tiny_config().to_dict() | {"architecture": "rnn"})


def test_a_missing_package_is_named_with_the_remedy() -> None:
    with pytest.raises(
        ValueError, match=r"'tiles' needs the package no_such_pkg.*: pip install no_such_pkg"
    ):
        architecture("tiles")


def test_a_field_of_another_architecture_names_both() -> None:
    with pytest.raises(
        ValueError, match=r"has tile_size, a field of the architecture 'tiles', .* is 'decoder'"
    ):
        config_of(tiny_config().to_dict() | {"tile_size": 4})
    with pytest.raises(ValueError, match="unknown key colour"):
        config_of(tiny_config().to_dict() | {"colour": 4})
    with pytest.raises(ValueError, match="the config is of a 'decoder'; this needs a 'tiles'"):
        TileConfig.from_dict(tiny_config().to_dict())


def test_what_needs_a_decoder_says_so() -> None:
    loaded = checkpoint.load("stories")
    other = dataclasses.replace(loaded, model=tiny_encoder())
    with pytest.raises(
        ValueError, match="stories is of the architecture 'encoder'; this needs a dec"
    ):
        _ = other.decoder
    assert loaded.decoder is loaded.model
    assert Architecture(DecoderConfig, Transformer, None, "text").package is None
