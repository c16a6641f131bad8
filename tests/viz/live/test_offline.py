"""Protects the program of a saved view: it is built from the modules as they are."""

import hashlib
import re

from viz.live.files import FOLDER

PROGRAM = FOLDER / "offline/program.js"
FIRST_LINE = re.compile(r"// sha256 ([0-9a-f]{64}) of (.+)")
IMPORTED = re.compile(r"""^import\b[^;]*?["'](\.[\w./]+)["'];$""", re.MULTILINE)


def sources() -> tuple[str, list[str]]:
    """The digest in the first line, and the modules it is of."""
    digest, names = FIRST_LINE.fullmatch(
        PROGRAM.read_text(encoding="utf-8").splitlines()[0]
    ).groups()
    return digest, names.split()


def digest_of(names: list[str]) -> str:
    """As scripts/bundle.js has it."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\0".encode() + (FOLDER / name).read_bytes() + b"\0")
    return digest.hexdigest()


def test_the_program_is_of_the_modules_as_they_are() -> None:
    digest, names = sources()
    assert digest == digest_of(names), "stale: npm run bundle"


def test_no_module_is_missing() -> None:
    """From the first module, every import leads to one of the sources."""
    _, names = sources()
    wanted, seen = ["offline/offline.js"], set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        path = FOLDER / name
        for relative in IMPORTED.findall(path.read_text(encoding="utf-8")):
            wanted.append((path.parent / relative).resolve().relative_to(FOLDER).as_posix())
    assert seen == set(names)
    assert {"microscope/microscope.js", "core/heatmap.js"} <= seen


def test_the_program_needs_nothing_and_offers_one_thing() -> None:
    text = PROGRAM.read_text(encoding="utf-8")
    assert not re.search(r"^\s*(?:import|export)\b", text, re.MULTILINE)
    assert "var HeadlightOffline = " in text
