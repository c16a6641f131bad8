"""The sources of models by name: a new one is a module and an entry here."""

from model.sources.checkpoint import CheckpointSource
from model.sources.handle import DEFAULT_SOURCE, ModelHandle, OpenModel, Source

SOURCES: dict[str, Source] = {DEFAULT_SOURCE: CheckpointSource()}


def model_names() -> list[str]:
    """All models of all sources, as `ModelHandle.spelled` spells them."""
    return [
        ModelHandle(source, name, device="", revision="").spelled
        for source, entry in SOURCES.items()
        for name in entry.names()
    ]


def handle_of(spelled: str, device: str) -> ModelHandle:
    """The handle of a model as it is now; ValueError when there is no such model or source."""
    source, name = _split(spelled)
    return ModelHandle(source, name, device, SOURCES[source].revision(name))


def open_model(handle: ModelHandle) -> OpenModel:
    """Open the model that a handle names."""
    return SOURCES[handle.source].open(handle.name, handle.device)


def _split(spelled: str) -> tuple[str, str]:
    """Source and name; what is before the colon counts only where it is a source."""
    source, colon, name = spelled.partition(":")
    return (source, name) if colon and source in SOURCES else (DEFAULT_SOURCE, spelled)
