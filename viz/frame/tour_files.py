"""The files of lessons and other tours: steps through the views, as a teacher wrote them.

A tour is data. What it says is plain text; where its steps lead are addresses of the app, which are
looked at when the file is read: a view or a setting that does not exist is one line with file and
line.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

from model.files import read_text
from model.lines import quoted, spelled
from viz.frame import ASSETS
from viz.frame.settings import PAGE, SCENE, SETTINGS

FOLDER = ASSETS / "lessons"  # the steps of Learn, and in a folder of their own those of other pages
LARGEST = 200_000  # bytes
MOST_STEPS = 99
# Places a step can point at, and where they are on the page.
PLACES = {
    "next": ".hl-home-next, .hl-distribution",
    "heads": ".hl-heads",
    "map": ".hl-view-map .hl-map",
    "formula": ".hl-formula",
    "merges": "[class*=st-key-trees-]",
    "cards": ".hl-cards",
    "maps": ".hl-view-compare .hl-side, .hl-view-whatif .hl-side",
    "written": ".hl-written-text",
    "beam": ".st-key-figure-beam",
    "alive": ".hl-home",
    "digit_pad": ".hl-digit-pad",
    "diagram": ".hl-diagram",
    "page": ".st-key-page",
}
Scenes = tuple[tuple[str, tuple[str, ...]], ...]  # of every page, by its title


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: where it leads, what is said there, what to look at, and what to ask."""

    title: str
    text: str
    link: str
    look: str = "page"
    question: str = ""
    show: str = ""
    notes: str = ""


@dataclass(frozen=True)
class Tour:
    """Steps in their order; `name` is that of the file. `is_listed` where it is a step of Learn."""

    name: str
    title: str
    about: str
    steps: tuple[Step, ...]
    is_listed: bool = True


def read_all(scenes: Scenes) -> tuple[tuple[Tour, ...], list[str]]:
    """The tours in the order of their files' names, and a line for each file that is none."""
    tours, faults = [], []
    for path in (*sorted(FOLDER.glob("*.toml")), *sorted(FOLDER.glob("*/*.toml"))):
        try:
            tours.append(_read(path, path.stat().st_mtime_ns, scenes))
        except ValueError as error:
            faults.append(str(error))
    return tuple(tours), faults


@cache
def _read(path: Path, _changed: int, scenes: Scenes) -> Tour:
    text = read_text(path, LARGEST)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{spelled(path)}: {error}") from None
    file = _File(path, text, dict(scenes))
    file.refuse_unknown(content, ("title", "about", "step"), -1)
    entries = content.get("step", [])
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST_STEPS:
        raise ValueError(f"{spelled(path)}: a tour has 1 to {MOST_STEPS} parts [[step]]")
    if not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{spelled(path)}: each step is a part of its own, [[step]]")
    steps = tuple(file.step(number, entry) for number, entry in enumerate(entries))
    title, about = (str(content.get(name, "")) for name in ("title", "about"))
    return Tour(path.stem, title or path.stem, about, steps, path.parent == FOLDER)


@dataclass(frozen=True)
class _File:
    """A tour's file, to say where in it something is wrong."""

    path: Path
    text: str
    scenes: Mapping[str, Sequence[str]]

    def step(self, number: int, entry: dict[str, object]) -> Step:
        """One step; ValueError with file and line where it cannot be taken."""
        known = [field.name for field in fields(Step)]
        self.refuse_unknown(entry, known, number)
        for name in ("title", "text", "link"):
            if not entry.get(name):
                raise self.fault(number, "", f"step {number + 1} has no {name}")
        for name, value in entry.items():
            if not isinstance(value, str):
                raise self.fault(number, name, f"{name} must be text in quotes")
        step = Step(**{name: str(value) for name, value in entry.items()})
        if step.look not in PLACES:
            places = ", ".join(PLACES)
            raise self.fault(number, "look", f"no place “{quoted(step.look)}”; there are {places}")
        for name, link in (("link", step.link), ("show", step.show)):
            if link:
                self.refuse_link(number, name, link)
        return step

    def refuse_unknown(self, entry: dict[str, object], known: Sequence[str], number: int) -> None:
        """ValueError where there is a key that means nothing here."""
        for name in entry:
            if name not in known:
                keys = ", ".join(known)
                raise self.fault(number, name, f"unknown key “{quoted(name)}”; there are {keys}")

    def refuse_link(self, number: int, key: str, link: str) -> None:
        """ValueError where a link leads nowhere."""
        query = dict(parse_qsl(link.removeprefix("?"), keep_blank_values=True))
        page, scene = query.get(PAGE.name, ""), query.get(SCENE.name, "")
        if page not in self.scenes:
            raise self.fault(number, key, f"no page “{quoted(page)}”")
        if scene and scene not in (there := self.scenes[page]) and there:
            what = f"step {number + 1} has no scene “{quoted(scene)}” of {page}; there are "
            raise self.fault(number, key, f"{what}{', '.join(there)}")
        for name in query:
            if name not in SETTINGS:
                raise self.fault(number, key, f"no setting “{quoted(name)}”")

    def fault(self, number: int, key: str, what: str) -> ValueError:
        """What is wrong, with the line of a step's key; of the step where the key is not found."""
        lines = self.text.splitlines()
        starts = [i for i, line in enumerate(lines) if line.strip() == "[[step]]"]
        first = starts[number] if 0 <= number < len(starts) else 0
        last = starts[number + 1] if number + 1 < len(starts) else len(lines)
        at = first
        for i in range(first, last):
            if key and lines[i].split("=")[0].strip() == key:
                at = i
                break
        return ValueError(f"{spelled(self.path)} line {at + 1}: {what}")
