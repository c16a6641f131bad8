"""What each key of a header does, found by changing it: all keys that llama.cpp has, by family.

`python -m tests.model.adopted.gguf_keys` writes it down anew, in docs/gguf-keys.md.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gguf

from model.sources.gguf.families import config_of
from model.sources.gguf.header import NO_EFFECT, Header
from model.sources.gguf.reading import About, oddities, read
from model.sources.gguf.tokenizer import known_kinds
from tests.model.adopted.gguf_families import GGUF_FAMILIES
from tests.model.adopted.gguf_files import written


def all_keys(architecture: str) -> list[str]:
    """All keys of `gguf.constants` that may stand in a file of a family."""

    def inside(kind: type) -> Iterator[str]:
        for value in vars(kind).values():
            if isinstance(value, type):
                yield from inside(value)
            elif isinstance(value, str) and value.startswith("{arch}."):
                yield value

    names = (gguf.Keys.LLM, gguf.Keys.Attention, gguf.Keys.Rope, gguf.Keys.SSM, gguf.Keys.ShortConv)
    keys = (key.replace("{arch}", architecture) for of in names for key in inside(of))
    return sorted({key for key in keys if "{" not in key})


def changed(about: About, key: str, value: object) -> tuple[dict[str, Any], list[str]]:
    """The config with another value of a key, and what is not known then; ValueError: refused."""
    header = Header({**about.said, key: value}, about.stored, about.factors)
    return config_of(header, {}), list(oddities(header))


def other_value(said: Any) -> Any:  # noqa: ANN401
    """Another legal value than one, of its kind."""
    if isinstance(said, bool):
        return not said
    if isinstance(said, int):
        return 2 * said + 3
    if isinstance(said, float):
        return 0.7 * said + 0.11
    if isinstance(said, str):
        return {"none": "linear", "linear": "yarn", "yarn": "linear"}.get(said, "odd")
    return 3


def effect(about: About, key: str) -> str:
    """What a key does, in words: refused, named, or the fields of the config that it changes."""
    value = other_value(about.said.get(key))
    try:
        config, odd = changed(about, key, value)
    except ValueError:
        return "refused"
    if odd:
        return "named"
    fields = (*_fields(about.config, config),)
    return ", ".join(fields) or "nothing"


def _fields(old: dict[str, Any], new: dict[str, Any], place: str = "") -> Iterator[str]:
    for name in dict.fromkeys((*old, *new)):
        one, other = old.get(name), new.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _fields(one, other, f"{place}{name}.")
        elif one != other:
            yield f"{place}{name}"


def effects(file: Path) -> dict[str, str]:
    """The effect of each key, of those in the file and all that could be there."""
    about = read(file)
    own = (x for x in about.said if x.startswith(f"{about.said['general.architecture']}."))
    every = dict.fromkeys((*own, *all_keys(about.said["general.architecture"])))
    return {key: effect(about, key) for key in every}


# Keys that are read and change nothing there, as in llama.cpp, and why.
WITHOUT = {
    "rope.scaling.original_context_length": "counts with yarn and with factors",
    "rope.scaling.yarn_beta_fast": "counts with yarn",
    "rope.scaling.yarn_beta_slow": "counts with yarn",
}
OF_ONE = {
    ("nemotron", "rope.scaling.type"): "its files have no factor",
    ("nemotron", "rope.scaling.factor"): "its files say that there is none",
    ("t5", "context_length"): "distances have no end",
    ("gemma4", "rope.scaling.attn_factor"): "of what turns as it is nothing is scaled",
}

PAGE = Path(__file__).parents[3] / "docs" / "gguf-keys.md"
HEAD = """# What a header of GGUF says, and what it becomes

Found by changing each key of a small file of each family in turn, all that llama.cpp has
(`python -m tests.model.adopted.gguf_keys`; a test holds this page beside the code). A key that
stands in no row of its family is named when a file with it is opened, the badge is red, and
`python -m model check` ends with 1. A family that stands in no row is refused in a line.

## Keys that become a field of the config

| key | field | families |
| --- | --- | --- |
"""
REFUSED = """
## Keys whose every other value is refused

| key | families |
| --- | --- |
"""
QUIET = """
## Keys that change no number

| key, or what it begins with | why | families |
| --- | --- | --- |
"""
KINDS = """
## How text is split before merging

What `tokenizer.ggml.pre` of a byte-level vocabulary may say. With none, or another one, text is
split as llama.cpp does where a file says nothing, and the badge is red:

"""


def page(files: Iterable[Path]) -> str:
    """The page, of a small file of each family."""
    rows: dict[tuple[str, str], set[str]] = {}
    for file in files:
        architecture = read(file).said["general.architecture"]
        for key, found in effects(file).items():
            rows.setdefault((key.partition(".")[2], found), set()).add(architecture)
    of = {row: ", ".join(sorted(rows[row])) for row in sorted(rows)}
    fields = [
        f"| {key} | {found} | {of[key, found]} |"
        for key, found in of
        if found not in ("named", "refused", "nothing")
    ]
    refused = [f"| {key} | {of[key, found]} |" for key, found in of if found == "refused"]
    quiet = [f"| {key} | {why} | all |" for key, why in (NO_EFFECT | WITHOUT).items()]
    quiet += [f"| {key} | {why} | {family} |" for (family, key), why in OF_ONE.items()]
    kinds = [f"- {kind}" for kind in sorted(known_kinds())]
    parts = (HEAD, _lines(fields), REFUSED, _lines(refused), QUIET, _lines(quiet), KINDS)
    return "".join((*parts, _lines(kinds)))


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def all_files(folder: Path) -> list[Path]:
    """A small file of each family."""
    for name in GGUF_FAMILIES:
        written(folder / f"{name}.gguf", name)
    return [folder / f"{name}.gguf" for name in GGUF_FAMILIES]


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        PAGE.write_text(page(all_files(Path(place))), encoding="utf-8")
