"""The files a browser may have: modules and style sheets of the kit and of the instruments."""

import zlib
from collections.abc import Collection
from functools import cache
from importlib.util import find_spec
from pathlib import Path

VIZ = Path(__file__).parents[1]
FOLDERS = ("kit", "live")
RECORDED = VIZ.parent / "assets" / "home.json"  # the run that Home opens with
# What the browser does not load as a module of the page.
_NOT_LOADED = {
    "live/address.js",
    "live/rail.js",
    "live/tour.js",
    "live/loader.js",
    "live/early.js",
    "live/connection.js",
    "live/refused.js",
    "live/settled.js",
    "live/opening/opening.js",
    "kit/hosts/jupyter.js",
}
# Home is where people begin; the other parts are loaded after it, or when wanted.
_FIRST = (
    "live/main.",
    "kit/parts/home",
    "kit/parts/strip",
    "kit/parts/sentence_box",
    "kit/parts/pickers",
)
# What stands beside any other part; their style sheets name it.
_ELSEWHERE = ("figure", "pickers", "sentence_box")


def folder_of(package: str) -> Path:
    """Where a package is; importing it would take a while."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed: pip install -r requirements.txt")
    return Path(spec.origin).parent


PLOTLY = folder_of("plotly") / "package_data" / "plotly.min.js"


@cache
def packed_plotly() -> bytes:
    """plotly.js deflated, which browsers undo: 1.5 MB in place of 4.8."""
    return zlib.compress(PLOTLY.read_bytes(), 9)


def served_files(suffixes: Collection[str]) -> dict[str, Path]:
    """The files of these folders that end so, by name: nothing else can be asked for."""
    paths = (path for folder in FOLDERS for path in (VIZ / folder).rglob("*"))
    return {path.relative_to(VIZ).as_posix(): path for path in paths if path.suffix in suffixes}


def _modules() -> list[str]:
    """Scripts that run on the page; those of types alone load nothing."""
    names = sorted(served_files((".js",)))
    return [name for name in names if name not in _NOT_LOADED and not name.endswith("/wire.js")]


def _is_later(name: str) -> bool:
    return name.startswith("kit/parts/") and not name.startswith(_FIRST)


MODULES = _modules()
FIRST_MODULES = [
    name for name in MODULES if name.startswith(("kit/", *_FIRST)) and not _is_later(name)
]


def script(name: str) -> str:
    """The text of a file, by its name from the folder of the app's own."""
    return (VIZ / name).read_text(encoding="utf-8")


def component_style() -> str:
    """The kit's style sheet, and those of all that stands on a page."""
    names = sorted(path.stem for path in (VIZ / "kit/parts").glob("*.css"))
    return "\n".join([kit_style(), *map(_own_style, names), script("live/opening/opening.css")])


def part_style(name: str) -> str:
    """The style of one part where it stands alone."""
    return "\n".join([kit_style(), _own_style(name)])


def kit_style() -> str:
    """What all parts share."""
    return "".join(script(f"kit/{name}.css") for name in ("kit", "looks", "controls"))


def _own_style(name: str) -> str:
    """The sheet of a part, if it has one: it styles what is in it alone."""
    path = VIZ / f"kit/parts/{name}.css"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text if name in _ELSEWHERE or not text else f'[data-part="{name}"] {{\n{text}}}'
