"""The sources of models by name: a new one is a module and an entry here."""

from pathlib import Path

from model.files import folder_at
from model.lines import quoted
from model.sources import hub, transformers
from model.sources.adopted import Adopted
from model.sources.checkpoint import Checkpoint, CheckpointSource, find_folder
from model.sources.handle import (
    DEFAULT_SOURCE,
    TRANSFORMERS,
    ModelHandle,
    OpenModel,
    Source,
)
from model.sources.offers import OURS_ALONE, of_other_kinds
from model.sources.places import folders, is_of_transformers, once_a_look
from model.sources.transformers import TransformersSource

Runnable = Checkpoint | Adopted  # what runs again, on other texts and under other conditions

SOURCES: dict[str, Source] = {
    DEFAULT_SOURCE: CheckpointSource(),
    TRANSFORMERS: TransformersSource(),
}


@once_a_look
def model_names() -> list[str]:
    """All models of all sources, each once, as `ModelHandle.spelled` spells them."""
    spelled = (
        ModelHandle(source, name, device="", revision="").spelled
        for source, entry in SOURCES.items()
        for name in entry.names()
    )
    return list(dict.fromkeys(spelled))


@once_a_look
def handle_of(spelled: str, device: str) -> ModelHandle:
    """The handle of a model as it is now; ValueError when there is no such model or source."""
    source, name = _split(spelled)
    return ModelHandle(source, name, device, SOURCES[source].revision(name))


def open_model(handle: ModelHandle) -> OpenModel:
    """Open the model that a handle names."""
    return SOURCES[handle.source].open(handle.name, handle.device)


def open_named(named: str, device: str = "auto") -> OpenModel:
    """A model by its name, or by its folder, of whichever kind; ValueError when there is none.

    A model of the hub, as openai-community/gpt2, is read from the copy that this machine has.
    """
    folder = folder_at(named)
    if folder is not None and is_of_transformers(folder):
        return transformers.load(folder, device)
    if "/" in named and folder is None and named not in model_names() and hub.is_name(named):
        return transformers.load(hub.copy_of(named), device)
    return open_model(handle_of(named, device))


def folder_of(named: str) -> Path:
    """Where a model lies that runs again, by its name or its folder; ValueError when nowhere."""
    source, name = _split(named)
    return getattr(SOURCES[source], "folder", find_folder)(name)


def open_runnable(named: str, device: str = "auto") -> Runnable:
    """The same, of a model that runs again; ValueError where one only has its records."""
    return runnable(open_named(named, device), named)


def runnable(loaded: OpenModel, named: str) -> Runnable:
    """An open model of this name that runs again; ValueError where it only has its records."""
    if not isinstance(loaded, Runnable):
        raise ValueError(f"{quoted(named)} has no weights to run again; open a checkpoint")
    return loaded


def described(handle: ModelHandle) -> tuple[str, ...]:
    """What a model is, in a few short parts: its parameters, its heads, its context."""
    return getattr(SOURCES[handle.source], "described", lambda name: ())(handle.name)


def architecture_of(handle: ModelHandle) -> str:
    """A model's architecture, found without opening it; empty where its source does not know."""
    return getattr(SOURCES[handle.source], "architecture", lambda name: "")(handle.name)


def has_template(handle: ModelHandle) -> bool:
    """Whether its files have a template of chats, found without opening it."""
    return getattr(SOURCES[handle.source], "has_template", lambda name: False)(handle.name)


def lacks(handle: ModelHandle) -> frozenset[str]:
    """What a model does not offer, as far as that is known before it is opened."""
    theirs = OURS_ALONE if handle.source == TRANSFORMERS else frozenset()
    return of_other_kinds(architecture_of(handle)) | theirs


def card(handle: ModelHandle) -> str:
    """What was written about a model; may be empty."""
    return getattr(SOURCES[handle.source], "card", lambda name: "")(handle.name)


def _split(spelled: str) -> tuple[str, str]:
    """Source and name; what is before the colon counts only where it is a source."""
    source, colon, name = spelled.partition(":")
    if colon and source in SOURCES:
        return source, name
    folder = folders().get(spelled)
    is_theirs = folder is not None and is_of_transformers(folder)
    return TRANSFORMERS if is_theirs else DEFAULT_SOURCE, spelled
