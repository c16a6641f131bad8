"""A part as Python says it: what to show, what is chosen, and arrays that a browser may load."""

import hashlib
import json
import re
import zlib
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from secrets import token_bytes
from typing import Any, Protocol

import numpy as np

from model.lines import quoted
from viz.kit.files import kit_style, packed_plotly, part_style, script
from viz.kit.join import joined
from viz.kit.wire import themes_data

_SENT_AS = {"b1": "u1", "f2": "f4", "i8": "i4"}  # what a browser has no array for
OPENS = """const [{ open }, part] = await Promise.all(%s.map((name) => import(urls[name])));
const contents = JSON.parse(document.getElementById("contents").textContent);
open(part.default, document.getElementById("headlight"), contents);
"""
# Of weights in a file, where all digits of a float32 would fill a browser's memory: an error of
# 5e-7 is no more than that of a softmax in float32.
STEP = 2.0**-20
ROUNDED = "Attention weights are kept in this file in steps of 0.000001."
_KEY = token_bytes()  # nobody can work out what others have open
_INDEX = re.compile(r"[0-9]{1,6}")
_PLACE = re.compile(r'"?/\*(\w+)\*/"?')  # what is filled in page.html


class Shared:
    """An array that a browser may load, the first `split` axes index by index.

    What is no array of numpy but has a shape, a dtype and pieces, is worked out when asked for.
    Attention weights, `are_weights`, are so many that a file has them in steps of `STEP`.
    """

    def __init__(
        self,
        array: Any,  # noqa: ANN401
        split: int = 0,
        *,
        are_weights: bool = False,
    ) -> None:
        self.array = as_sent(array)
        self.split = split
        self.are_weights = are_weights

    @cached_property
    def about(self) -> dict[str, Any]:
        """What a browser is told of it; its id is new when its numbers are."""
        array = self.array
        about = {"dtype": array.dtype.str[1:], "shape": list(array.shape), "split": self.split}
        digest = hashlib.sha256(_KEY + json.dumps(about).encode())
        digest.update(array.data if isinstance(array, np.ndarray) else token_bytes())
        return {"id": digest.hexdigest()[:32], **about}

    def path(self, at: tuple[int, ...] = ()) -> str:
        """What the piece at these indices is loaded by."""
        return "/".join((self.about["id"], *map(str, at)))

    def pieces(self) -> Iterator[tuple[int, ...]]:
        """The indices of all that is loaded at once."""
        return np.ndindex(*self.array.shape[: self.split])


class Answers(Protocol):
    """What Python answers a part between two runs."""

    def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer, as JSON has it, but for its `arrays` by name. ValueError in words for the
        person.
        """
        ...


@dataclass(frozen=True, eq=False)
class Part:
    """One view that answers while the hand moves: `name` is its module in `viz/kit/parts`.

    `spec` is what it shows, `state` what a person may change, `arrays` what the browser loads by
    name. Of an array the first `split` axes are loaded index by index. What the browser asks
    between two runs, `answers` answers. `first` are the arrays, with their indices, that are drawn
    at once.
    """

    name: str
    spec: Mapping[str, Any]
    state: Mapping[str, Any]
    arrays: Mapping[str, Any] = field(repr=False, default_factory=dict)
    split: Mapping[str, int] = field(repr=False, default_factory=dict)
    answers: Answers | None = field(repr=False, default=None)
    first: Sequence[tuple[str, tuple[int, ...]]] = field(repr=False, default=())
    shared: dict[str, Shared] = field(init=False, repr=False)  # the arrays as a browser has them

    def __post_init__(self) -> None:
        shared = {
            name: array if isinstance(array, Shared) else Shared(array, self.split.get(name, 0))
            for name, array in self.arrays.items()
        }
        object.__setattr__(self, "shared", shared)

    @property
    def known(self) -> dict[str, dict[str, Any]]:
        """What a browser is told of each array."""
        return {name: shared.about for name, shared in self.shared.items()}

    @property
    def by_id(self) -> dict[str, Any]:
        """The arrays by the id that a browser has."""
        return {shared.about["id"]: shared.array for shared in self.shared.values()}

    @property
    def told(self) -> dict[str, Any]:
        """All that a browser is told at once, but for turns."""
        return self.told_of_run | {"themes": themes_data(), "asks": self.answers is not None}

    @property
    def told_of_run(self) -> dict[str, Any]:
        """What changes of that with the run."""
        return {"spec": dict(self.spec), "settings": dict(self.state), "arrays": self.known}

    def first_pieces(self) -> dict[str, Any]:
        """What is drawn at once, by the paths a browser has for it."""
        there = {name: self.shared[name] for name, _ in self.first}
        return {there[name].path(at): there[name].array[at] for name, at in self.first}

    def saying(self, spec: Mapping[str, Any]) -> "Part":
        """The same arrays, with other things said of them."""
        return self._but(spec=spec)

    def choosing(self, state: Mapping[str, Any]) -> "Part":
        """The same, with something else chosen."""
        return self._but(state=state)

    def _but(self, **fields: Mapping[str, Any]) -> "Part":
        part = copy(self)
        for name, value in fields.items():
            object.__setattr__(part, name, value)
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
        return _filled(page_for(self.name), contents=_as_json(self.contents))

    @property
    def contents(self) -> dict[str, Any]:
        """All that a browser needs where no Python answers: arrays by path, deflated."""
        packed = dict(self._pieces())
        is_rounded = any(shared.are_weights for shared in self.shared.values())
        notes = {"note": ROUNDED} if is_rounded else {}
        return {"told": {**self.told, "acked": 0}, "arrays": packed, **notes}

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
        for shared in self.shared.values():
            for at in shared.pieces():
                yield shared.path(at), _packed(shared, at)


class Pictured(ABC):
    """What shows itself in a notebook as its part, and is saved as that."""

    @property
    @abstractmethod
    def part(self) -> Part:
        """The picture."""

    def save(self, path: str | Path) -> None:
        """Write the picture as one HTML file, which opens without Python and without a network."""
        self.part.save(path)

    def _ipython_display_(self) -> None:
        self.part._ipython_display_()

    def _display_(self) -> object:
        return self.part._display_()


def page_for(name: str) -> str:
    """A page that shows a part of this name, once `contents` is filled in."""
    modules = ["kit/hosts/saved.js", f"kit/parts/{name}.js"]
    return _page(joined(modules, OPENS % modules), part_style(name))


def page_of(contents: Mapping[str, Any], module: str) -> str:
    """A page that holds contents, and a module that shows them."""
    return _filled(_page(module, kit_style()), contents=_as_json(contents))


def _page(module: str, style: str) -> str:
    plotly = b64encode(packed_plotly()).decode("ascii")
    page = script("kit/hosts/page.html")
    return _filled(
        page, style=style, plotly=plotly, script=module.replace("</script", "<\\/script")
    )


def _filled(page: str, **texts: str) -> str:
    """A page with some of its places filled in."""
    return _PLACE.sub(lambda found: texts.get(found[1], found[0]), page)


def _as_json(contents: Mapping[str, Any]) -> str:
    return json.dumps(contents).replace("<", "\\u003c")


def piece(array: Any, at: Sequence[str]) -> bytes:  # noqa: ANN401
    """The bytes of an array at indices as an address has them; LookupError if there are none."""
    if not all(_INDEX.fullmatch(index) for index in at):
        raise LookupError(f"no place in an array: {'/'.join(at)}")
    return array[tuple(map(int, at))].tobytes()


def answer(answers: Answers, asked: Mapping[str, Any]) -> bytes:
    """What is answered to a question: a line of JSON, then the bytes of the arrays it names.

    A browser that had to ask for these by their ids would see them a round trip later.
    """
    found = {"arrays": {}, **answers.more(asked)}
    arrays = {name: as_sent(array) for name, array in found["arrays"].items()}
    found["arrays"] = {
        name: {"dtype": array.dtype.str[1:], "shape": array.shape, "n_bytes": array.nbytes}
        for name, array in arrays.items()
    }
    line = json.dumps(found, allow_nan=False).encode()
    return b"\n".join([line, b"".join(array.tobytes() for array in arrays.values())])


def as_sent(array: Any) -> Any:  # noqa: ANN401
    """An array in a kind that browsers have too, little-endian, row by row.

    What is worked out when it is asked for stays so: it is in such a kind.
    """
    if not isinstance(array, np.ndarray):
        return array
    kind = array.dtype.str[1:]
    return np.ascontiguousarray(array, dtype=f"<{_SENT_AS.get(kind, kind)}")


def _packed(shared: Shared, at: tuple[int, ...]) -> str:
    """A piece in a file. Weights are deflated quickly: there are many, and it gains little."""
    found = shared.array[at]
    if shared.are_weights:
        found = (np.round(found / STEP) * STEP).astype(found.dtype)
    level = 1 if shared.are_weights else 9
    return b64encode(zlib.compress(found.tobytes(), level)).decode("ascii")
