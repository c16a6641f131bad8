"""The component's own files: modules, styles, the page of a saved view, and its program."""

import base64
import json
import re
from collections.abc import Collection
from pathlib import Path

FOLDER = Path(__file__).parent
# What the browser does not load as a module of the page.
_NOT_LOADED = (
    "address.js",
    "rail.js",
    "tour.js",
    "loader.js",
    "early.js",
    "settled.js",
    "offline/offline.js",
)
_IMPORTED = re.compile(r'^(import\b[^;]*?")(\.[\w./]+)(";)$', re.MULTILINE)


def _modules() -> list[str]:
    """Scripts below this folder that run on the page; those of types alone load nothing."""
    names = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js"))
    return [name for name in names if name not in _NOT_LOADED and not name.endswith("/wire.js")]


MODULES = _modules()
# Home is where people begin; the other instruments are loaded after it, or when wanted.
FIRST = ("main.", "core/", "sentence_box/", "pickers/", "home/")
FIRST_MODULES = [name for name in MODULES if name.startswith(FIRST)]


def served_files(suffixes: Collection[str]) -> dict[str, Path]:
    """The files below this folder that end so, by name: nothing else can be asked for."""
    paths = (path for path in FOLDER.rglob("*") if path.suffix in suffixes)
    return {path.relative_to(FOLDER).as_posix(): path for path in paths}


def script(name: str) -> str:
    """The text of one script."""
    return (FOLDER / name).read_text(encoding="utf-8")


def component_style() -> str:
    """The style sheets of the core and of all instruments as one; the core's comes first."""
    own = FOLDER.glob("*/*.css")
    paths = sorted(own, key=lambda path: (path.parent.name != "core", path))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def offline_modules() -> str:
    """The modules of a saved view as an import map: each by its name, its text in its address.

    A page from the disk may load no other file, and where there is no folder there is no `../`.
    """
    found: dict[str, str] = {}
    wanted = ["offline/offline.js"]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        folder = (FOLDER / name).parent

        def named(match: re.Match[str], folder: Path = folder) -> str:
            other = (folder / match[2]).resolve().relative_to(FOLDER).as_posix()
            wanted.append(other)
            return f"{match[1]}{other}{match[3]}"

        text = _IMPORTED.sub(named, script(name))
        found[name] = f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"
    return json.dumps({"imports": found})
