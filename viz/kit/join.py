"""Modules and all that they import as the text of one module.

A browser loads a text as a module only from an address of its own, from where `./marks` leads
nowhere: in a notebook and in a saved file alike. So the text carries every file and gives each an
address, those first that others import, whose addresses are filled in.
"""

import json
import re
from collections.abc import Sequence

from viz.kit.files import VIZ, script

_IMPORTED = re.compile(r'^((?:import|export)\b[^;"]*")(\.[\w./]+)(";)$', re.MULTILINE)
# `@name@` stands for the address of a file. What a page has loaded once it does not load again.
_PLACED = r"""const known = (globalThis.headlightModules ??= {});
const urls = {};
for (const [name, text] of %s) {
  const source = text.replace(/"@([\w./]+)@"/g, (_, other) => JSON.stringify(urls[other]));
  const made = () => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  urls[name] = known[source] ??= made();
}
"""


def joined(names: Sequence[str], ending: str) -> str:
    """Modules by their names, as kit/parts/heads.js, in the text of one; ValueError on a cycle.

    `ending` is what the text does with them: `import(urls[name])` loads one.
    """
    files: dict[str, str] = {}
    for name in names:
        _gather(name, files, ())
    return _PLACED % json.dumps(list(files.items())).replace("<", "\\u003c") + ending


def gathered(name: str) -> list[str]:
    """A module and all that it imports, those first that others import; ValueError on a cycle."""
    files: dict[str, str] = {}
    _gather(name, files, ())
    return list(files)


def _gather(name: str, files: dict[str, str], above: tuple[str, ...]) -> None:
    """Put a module behind all that it imports."""
    if name in above:
        raise ValueError(f"modules import each other: {' → '.join((*above, name))}")
    folder = (VIZ / name).parent

    def placed(found: re.Match[str]) -> str:
        other = (folder / found[2]).resolve().relative_to(VIZ).as_posix()
        if other not in files:
            _gather(other, files, (*above, name))
        return f"{found[1]}@{other}@{found[3]}"

    files[name] = _IMPORTED.sub(placed, script(name))
