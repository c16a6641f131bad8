"""A part as Python says it: what to show, what is chosen, and arrays that a browser may load."""

import hashlib
import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from secrets import token_bytes
from typing import Any

import numpy as np

from model.lines import quoted
from model.worked_out import WorkedOut
from viz.kit.files import packed_plotly, part_style, script
from viz.kit.join import joined
from viz.kit.wire import themes_data

_SENT_AS = {"b1": "u1", "f2": "f4", "i8": "i4"}  # what a browser has no array for
OPENS = """const [{ open }, part] = await Promise.all(%s.map((name) => import(urls[name])));
const contents = JSON.parse(document.getElementById("contents").textContent);
open(part.default, document.getElementById("headlight"), contents);
"""
_INDEX = re.compile(r"[0-9]{1,6}")
_PLACE = re.compile(r'"?/\*(\w+)\*/"?')  # what is filled in page.html


@dataclass(frozen=True, eq=False)
class Part:
    """One view that answers while the hand moves: `name` is its module in `viz/kit/parts`.

    `spec` is what it shows, `state` what a person may change, `arrays` what the browser loads by
    name. Of an array the first `split` axes are loaded index by index.
    """

    name: str
    spec: Mapping[str, Any]
    state: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    split: Mapping[str, int] = field(repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        sent = {name: as_sent(array) for name, array in self.arrays.items()}
        object.__setattr__(self, "arrays", sent)

    @cached_property
    def known(self) -> dict[str, dict[str, Any]]:
        """What a browser is told of each array; its id is new when its numbers are."""
        return {name: _about(of, self.split.get(name, 0)) for name, of in self.arrays.items()}

    @cached_property
    def by_id(self) -> dict[str, np.ndarray]:
        """The arrays by the id that a browser has."""
        return {self.known[name]["id"]: array for name, array in self.arrays.items()}

    @property
    def told(self) -> dict[str, Any]:
        """All that a browser is told at once, but for turns."""
        told = {"spec": dict(self.spec), "settings": dict(self.state), "arrays": self.known}
        return told | {"themes": themes_data()}

    def saying(self, spec: Mapping[str, Any]) -> "Part":
        """The same arrays, with other things said of them."""
        part = copy(self)
        object.__setattr__(part, "spec", spec)
        return part

    def save(self, path: str | Path) -> None:
        """Write it as one file, which opens without Python and without a network."""
        page = self.page()
        try:
            Path(path).expanduser().write_text(page, encoding="utf-8")
        except (OSError, TypeError, ValueError, RuntimeError) as error:  # ~ of nobody; no name
            why = f"{quoted(path)!r} cannot be written: {getattr(error, 'strerror', error)}"
            raise ValueError(f"{why}; give the name of a file in a folder that is there") from None

    def page(self) -> str:
        """The text of that file."""
        modules = ["kit/hosts/saved.js", f"kit/parts/{self.name}.js"]
        return page_of(self.contents, joined(modules, OPENS % modules), part_style(self.name))

    @property
    def contents(self) -> dict[str, Any]:
        """All that a browser needs where no Python answers: arrays by path, deflated."""
        packed = dict(self._pieces())
        return {"told": {**self.told, "acked": 0}, "arrays": packed}

    def _ipython_display_(self) -> None:
        """Show it in a notebook. ModuleNotFoundError names what is to be installed for that."""
        from viz.kit.hosts.jupyter import display

        display(self)

    def _display_(self) -> object:
        """What marimo shows."""
        from viz.kit.hosts.jupyter import widget

        return widget(self)

    def _pieces(self) -> Iterator[tuple[str, str]]:
        """All that may be loaded, packed, by its path."""
        for about in self.known.values():
            for at in np.ndindex(*about["shape"][: about["split"]]):
                path = "/".join((about["id"], *map(str, at)))
                yield path, _packed(self.by_id[about["id"]], at)


def page_of(contents: Mapping[str, Any], module: str, style: str = "") -> str:
    """A page that holds contents, and a module that shows them."""
    texts = {
        "style": style or script("kit/kit.css"),
        "plotly": b64encode(packed_plotly()).decode("ascii"),
        "contents": json.dumps(contents).replace("<", "\\u003c"),
        "script": module,
    }
    return _PLACE.sub(lambda found: texts[found[1]], script("kit/hosts/page.html"))


def piece(array: np.ndarray, at: Sequence[str]) -> bytes:
    """The bytes of an array at indices as an address has them; LookupError if there are none."""
    if not all(_INDEX.fullmatch(index) for index in at):
        raise LookupError(f"no place in an array: {'/'.join(at)}")
    return array[tuple(map(int, at))].tobytes()


def as_sent(array: np.ndarray) -> np.ndarray:
    """An array in a kind that browsers have too, little-endian, row by row.

    What is worked out when it is asked for stays so: it is in such a kind.
    """
    if isinstance(array, WorkedOut):
        return array
    kind = array.dtype.str[1:]
    return np.ascontiguousarray(array, dtype=f"<{_SENT_AS.get(kind, kind)}")


def _packed(array: np.ndarray, at: tuple[int, ...]) -> str:
    """A piece in a file; of a long run in steps of 0.0001, as otherwise it would not be opened."""
    is_long = isinstance(array, WorkedOut)
    found = np.round(array[at], 4) if is_long else array[at]
    return b64encode(zlib.compress(found.tobytes(), 1 if is_long else 9)).decode("ascii")


def _about(array: np.ndarray, split: int) -> dict[str, Any]:
    about = {"dtype": array.dtype.str[1:], "shape": list(array.shape), "split": split}
    digest = hashlib.blake2b(json.dumps(about).encode(), digest_size=16)
    digest.update(array.data if isinstance(array, np.ndarray) else token_bytes())
    return {"id": digest.hexdigest(), **about}
