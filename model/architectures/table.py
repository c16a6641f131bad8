"""The architectures by name: a new one is a module, a config, and an entry here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any, Literal

from model.architectures.base import Model
from model.architectures.decoder import DecoderTransformer
from model.architectures.encoder import EncoderTransformer
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.recurrent import Recurrent
from model.architectures.vision import VisionTransformer
from model.capture import capture, capture_image, capture_translation
from model.config import (
    DecoderConfig,
    EncoderConfig,
    EncoderDecoderConfig,
    ModelConfig,
    RecurrentConfig,
    VisionConfig,
)
from model.lines import quoted
from model.trace import Trace

DEFAULT = "decoder"  # what a config means that does not say

InputKind = Literal["text", "image"]


@dataclass(frozen=True)
class Architecture:
    """What the house needs to know of an architecture.

    `build` makes a model of a config, with whatever weights; `capture` runs it once on one input,
    which for text in one stack are ids and their strings, for a translation those of source and
    target, each together, and for vision a picture; `model.inputs` makes it of what a person gives.
    `capture` is None where nothing can be looked into.
    `package` is one that must be installed besides the requirements.
    """

    config: type[ModelConfig]
    build: Callable[[Any], Model]
    capture: Callable[..., Trace] | None
    input_kind: InputKind
    package: str | None = None


ARCHITECTURES: dict[str, Architecture] = {
    "decoder": Architecture(DecoderConfig, DecoderTransformer, capture, input_kind="text"),
    "encoder": Architecture(EncoderConfig, EncoderTransformer, capture, input_kind="text"),
    "encoder_decoder": Architecture(
        EncoderDecoderConfig,
        EncoderDecoderTransformer,
        capture_translation,
        input_kind="text",
    ),
    "vision": Architecture(VisionConfig, VisionTransformer, capture_image, input_kind="image"),
    "recurrent": Architecture(RecurrentConfig, Recurrent, None, input_kind="text"),
}


def architecture(name: str) -> Architecture:
    """An architecture by its name; ValueError when it is unknown or its package is missing."""
    known = ARCHITECTURES.get(name)
    if known is None:
        raise ValueError(
            f"the architecture {quoted(name)!r} is unknown; this version knows "
            f"{', '.join(ARCHITECTURES)}"
        )
    if known.package is not None and find_spec(known.package) is None:
        raise ValueError(
            f"the architecture {name!r} needs the package {known.package}, which is not "
            f"installed; install it: pip install {known.package}"
        )
    return known


def config_of(values: Mapping[str, Any]) -> ModelConfig:
    """The config that parsed JSON or TOML means, of the architecture it names.

    Raises ValueError for an unknown architecture, a key of another one, and what the config
    refuses.
    """
    given = dict(values)
    name = given.pop("architecture", DEFAULT)
    kind = architecture(str(name)).config
    for key in sorted(set(given) - _keys(kind)):
        for other, entry in ARCHITECTURES.items():
            if key in _keys(entry.config):
                raise ValueError(
                    f"config has {key}, a field of the architecture {other!r}, but its "
                    f"architecture is {name!r}; remove the field or name the other architecture"
                )
    return kind.from_dict(given)


def _keys(config: type[ModelConfig]) -> set[str]:
    return {field.name for field in fields(config)}
