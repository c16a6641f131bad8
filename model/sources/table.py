"""The sources of models by name: a new one is a module and an entry here."""

from model.sources.checkpoint import CheckpointSource
from model.sources.handle import (
    DEFAULT_SOURCE,
    NAMED_ALONE,
    TRANSFORMERS,
    ModelHandle,
    OpenModel,
    Source,
)
from model.sources.transformers import TransformersSource

SOURCES: dict[str, Source] = {
    DEFAULT_SOURCE: CheckpointSource(),
    TRANSFORMERS: TransformersSource(),
}


def model_names() -> list[str]:
    """All models of all sources, each once, as `ModelHandle.spelled` spells them."""
    spelled = (
        ModelHandle(source, name, device="", revision="").spelled
        for source, entry in SOURCES.items()
        for name in entry.names()
    )
    return list(dict.fromkeys(spelled))


def handle_of(spelled: str, device: str) -> ModelHandle:
    """The handle of a model as it is now; ValueError when there is no such model or source."""
    source, name = _split(spelled)
    return ModelHandle(source, name, device, SOURCES[source].revision(name))


def source_of(spelled: str) -> str:
    """The source of a model as it is spelled."""
    return _split(spelled)[0]


def open_model(handle: ModelHandle) -> OpenModel:
    """Open the model that a handle names."""
    return SOURCES[handle.source].open(handle.name, handle.device)


def described(handle: ModelHandle) -> tuple[str, ...]:
    """What a model is, in a few short parts: its parameters, its heads, its context."""
    return getattr(SOURCES[handle.source], "described", lambda name: ())(handle.name)


def architecture_of(handle: ModelHandle) -> str:
    """A model's architecture, found without opening it; empty where its source does not know."""
    return getattr(SOURCES[handle.source], "architecture", lambda name: "")(handle.name)


def card(handle: ModelHandle) -> str:
    """What was written about a model; may be empty."""
    return getattr(SOURCES[handle.source], "card", lambda name: "")(handle.name)


def _split(spelled: str) -> tuple[str, str]:
    """Source and name; what is before the colon counts only where it is a source.

    Of two models of one name the checkpoint is meant.
    """
    source, colon, name = spelled.partition(":")
    if colon and source in SOURCES:
        return source, name
    for source in NAMED_ALONE:
        if spelled in SOURCES[source].names():
            return source, spelled
    return DEFAULT_SOURCE, spelled
