"""The folders that models lie in, and the names that they go by.

Each holds a config.json, or is a file in GGUF, which is all of a model: those that come with
Headlight, those of the folders that the environment names, and those that a person opened by their
path, which are remembered from start to start.
"""

import json
import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from model.files import (
    LARGEST_CONFIG,
    folder_at,
    folder_in,
    folder_to_write,
    is_gguf,
    read_json,
    replacing,
)
from model.lines import quoted, spelled
from model.sources import nanogpt
from model.sources.hub import is_name

SHIPPED = Path(__file__).resolve().parents[2] / "assets" / "checkpoints"
WHERE = "HEADLIGHT_MODELS"
VARIABLES = ("HEADLIGHT_CHECKPOINTS", WHERE)
HOME = "HEADLIGHT_HOME"  # where what is remembered lies; ~/.headlight where it is not set
MOST_REMEMBERED = 12
SNAPSHOT = "step-"  # what the folder of a checkpoint begins with that a training kept on its way
ADAPTER = "adapter_config.json"  # of peft
_seen: ContextVar[dict[Hashable, Any] | None] = ContextVar("what one look found", default=None)
_tried: ContextVar[tuple[Path, ...]] = ContextVar("a folder that is to be listed", default=())
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@contextmanager
def at_one_look() -> Iterator[None]:
    """Within it the disk is looked at once: it is quicker, and all see the same."""
    token = _seen.set({})
    try:
        yield
    finally:
        _seen.reset(token)


@contextmanager
def on_trial(folder: Path) -> Iterator[str]:
    """Within it a folder is among those that were opened by their path; gives its name.

    Listed it is only by `remember`: what ends half way leaves nothing there.
    """
    _refuse_unspelled(folder)
    token = _tried.set(() if folder in folders().values() else (folder,))
    try:
        with at_one_look():
            yield _name_of(folder)
    finally:
        _tried.reset(token)


def once_a_look(find: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """What a function finds on the disk, by its arguments."""

    @wraps(find)
    def ask(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        seen, asked = _seen.get(), (find, args, *kwargs.items())
        if seen is None:
            return find(*args, **kwargs)
        if asked not in seen:
            seen[asked] = find(*args, **kwargs)
        return seen[asked]

    return ask


@once_a_look
def folders() -> dict[str, Path]:
    """All folders of models by name, those that come with Headlight first; no two share one.

    ValueError where the environment names a folder that is none.
    """
    by_name: dict[str, Path] = {}
    for folder in dict.fromkeys(x for x in _all() if spelled(x.name) == x.name):
        name = next((name for name in _names(folder) if name not in by_name), str(folder))
        by_name[name] = folder
    return by_name


@once_a_look
def is_of_transformers(folder: Path) -> bool:
    """Whether transformers reads what a folder holds, by its config.json, or would with peft."""
    if _is_file(folder / ADAPTER) or is_gguf(folder):
        return True
    try:
        about = (folder / "config.json").stat()
        return _names_family(folder / "config.json", about.st_mtime_ns, about.st_size)
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=4096)
def _names_family(path: Path, _changed: int, _size: int) -> bool:
    config = read_json(path, LARGEST_CONFIG)
    return "model_type" in config or nanogpt.is_its(config)


def refuse_adapter(folder: Path) -> None:
    """ValueError for changes to another model, which transformers takes where peft is installed."""
    if _is_file(folder / ADAPTER):
        of = str(read_json(folder / ADAPTER, LARGEST_CONFIG).get("base_model_name_or_path"))
        raise ValueError(
            f"{spelled(folder)} has an adapter (LoRA) of {quoted(of)!r}; merge it into that model, "
            "save what merge_and_unload of peft gives, and open that"
        )


def given_folder(place: str) -> Path:
    """The folder of a model that a person names; ValueError where it is none, with what is."""
    folder = folder_at(place.strip().strip("\"'"))
    if folder is None or not place.strip():
        raise ValueError(f"{quoted(place)!r} {_why_none(place.strip())}")
    if not has_model(folder):
        refuse_adapter(folder)
        nanogpt.refuse_pickle(folder)
        inside = [below.name for below in _inside(folder) if has_model(below)]
        also = f", as {quoted(inside[0])!r} in it" if inside else ""
        raise ValueError(
            f"{quoted(str(folder))} has no config.json; give the folder of one model{also}"
        )
    return folder


def _why_none(place: str) -> str:
    if _is_file(place):
        return "is a file, and not in GGUF; give the folder that it is in"
    fetch = f"; a model of the hub is fetched by: headlight open {place} --download"
    return f"is not a folder or file here{fetch if is_name(place) else ''}"


def remembered() -> list[Path]:
    """The folders that were opened by their path, the last one first."""
    try:
        listed = read_json(_list(), LARGEST_CONFIG).get("folders")
    except (OSError, ValueError):
        return []
    every = listed if isinstance(listed, list) else []
    return [Path(place) for place in every if isinstance(place, str)]


def _refuse_unspelled(folder: Path) -> None:
    if spelled(str(folder)) != str(folder):
        raise ValueError(
            f"{quoted(str(folder))} is not UTF-8, so no address can name it; rename it"
        )


def _name_of(folder: Path) -> str:
    return next(name for name, there in folders().items() if there == folder)


def remember(folder: Path) -> str:
    """Keep a folder that was opened by its path; gives the name that it goes by."""
    _refuse_unspelled(folder)
    if folder not in folders().values():
        _write([folder, *remembered()][:MOST_REMEMBERED])
    return _name_of(folder)


def forget(folder: Path) -> None:
    """Do not offer a folder any longer that was opened by its path."""
    _write([there for there in remembered() if there != folder])


def _write(places: list[Path]) -> None:
    if seen := _seen.get():
        seen.clear()
    text = json.dumps({"folders": [str(place) for place in places]})
    try:
        folder_to_write(home())
        with replacing(_list()) as new:
            new.write_text(text, encoding="utf-8")
    except ValueError as error:
        raise ValueError(f"{error} ({HOME} says where)") from None


def home() -> Path:
    """Where lies what is kept from start to start."""
    return Path(os.path.expanduser(os.environ.get(HOME) or "~/.headlight"))


def trained() -> Path:
    """The folder of the trainings that were begun in the app, a folder each."""
    return home() / "runs"


def copies() -> Path:
    """The folder of the converted copies of files in GGUF."""
    return home() / "converted"


def _list() -> Path:
    return home() / "folders.json"


def unusable_folders() -> list[str]:
    """One line for each folder that is not offered, with the remedy."""
    return [
        f"The checkpoint {quoted(folder.name)!r} is left out: its folder's name is not UTF-8; "
        "rename it."
        for folder in dict.fromkeys(_all())
        if spelled(folder.name) != folder.name
    ]


def _all() -> Iterator[Path]:
    """Every place that has a model."""
    tops = [SHIPPED, *filter(None, map(folder_in, VARIABLES)), trained()]
    inside = (x for top in tops for x in (top, *_inside(top)))
    models = [x for x in (*inside, *_tried.get(), *remembered()) if has_model(x)]
    return (x for model in models for x in (model, *snapshots(model)))


def snapshots(folder: Path) -> list[Path]:
    """The checkpoints that a training kept on its way to the one in a folder, by their step."""
    return [x for x in _inside(folder) if x.name.startswith(SNAPSHOT) and has_model(x)]


def step_of(name: str) -> int | None:
    """The step of a checkpoint that a training kept on its way, by its name; None of others."""
    step = name.rpartition(f"/{SNAPSHOT}")[2]
    return int(step) if f"/{SNAPSHOT}" in name and step.isdecimal() else None


def has_model(folder: Path) -> bool:
    """Whether there is a config.json that can be seen, or a file that needs none."""
    return _is_file(folder / "config.json") or is_gguf(folder)


def _is_file(place: str | Path) -> bool:
    """Whether there is a file that can be seen; a name that no file can have is none."""
    try:
        return Path(place).is_file()
    except (OSError, ValueError):
        return False


def _inside(folder: Path) -> list[Path]:
    """What lies in a folder; ValueError where that may not be seen."""
    try:
        return sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise ValueError(
            f"{quoted(str(folder))} cannot be read ({error.strerror}); allow it, or copy the folder"
        ) from None


def _names(folder: Path) -> Iterator[str]:
    """What a folder may be called: by its own name, then with those of the folders above it.

    A snapshot in the cache of the hub is called after its model, and so is one of a training.
    """
    hub = folder.parents[1].name if folder.parent.name == "snapshots" else ""
    if hub.startswith("models--"):
        yield hub.removeprefix("models--").replace("--", "/")
    names = accumulate(reversed(folder.parts[1:]), lambda below, above: f"{above}/{below}")
    yield from islice(names, int(folder.name.startswith(SNAPSHOT)), None)
