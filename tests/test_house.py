"""The rules of the house: who imports whom, what is never done, and that the README is true.

Each rule is a function from a file to a list of faults, so that the tests can also show it a bad
file and see it fail.
"""

import ast
import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from model.commands import COMMANDS

ROOT = Path(__file__).parent.parent
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("model/**/*.py")), *sorted(ROOT.glob("viz/**/*.py"))]
TESTS = sorted(ROOT.glob("tests/**/*.py"))
WEB_SUFFIXES = (".js", ".mjs", ".css", ".html")
WEB_FILES = [
    ROOT / ".streamlit/config.toml",
    *sorted(path for path in ROOT.glob("viz/**/*") if path.suffix in WEB_SUFFIXES),
]
MAX_FUNCTION_LINES = 60


class Room(NamedTuple):
    """A module imports from its own floor and those below, and never some libraries."""

    floor: int
    never: tuple[str, ...] = ()


INSTRUMENTS = ("core", "microscope", "sampler", "writer", "editor", "rotor")  # and their base
ROOMS = {
    "model": Room(0, never=("streamlit", "plotly", "pandas")),
    "viz.theme": Room(1, never=("streamlit", "torch")),
    "viz.formulas": Room(1, never=("streamlit", "torch")),
    "viz.figures": Room(2, never=("streamlit", "torch")),
    "viz.runs": Room(3),
    "viz.live": Room(3, never=("torch",)),
    "viz.live.routes": Room(3, never=("torch", "streamlit")),
    "viz.live.store": Room(3, never=("torch", "streamlit")),
    "viz.live.files": Room(3, never=("torch", "streamlit")),
    **{f"viz.live.{name}": Room(3, never=("torch", "streamlit")) for name in INSTRUMENTS},
    "viz": Room(3, never=("torch",)),
    "viz.pages": Room(4, never=("torch",)),
    "viz.studio": Room(5, never=("torch",)),
    "app": Room(6, never=("torch",)),
    "tests": Room(7),
}
UNPICKLERS = ("pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve")
UNSAFE_CALLS = ("eval", "exec", "torch.load", "pd.read_pickle", "pandas.read_pickle")
UNSAFE_FLAGS = ("unsafe_allow_html", "allow_pickle")

# What a browser would fetch: not a link a reader may follow, not the name of an XML dialect.
READERS_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(https?://[^)]*\)")
ADDRESS = re.compile(r"(?:(?:https?|wss?):|(?<=[\"'(\s])|^)//([\w-]+(?:\.[\w-]+)+)")
HARMLESS_HOSTS = ("www.w3.org", "127.0.0.1")

Rule = Callable[[Path, Path], list[str]]


class Function(NamedTuple):
    """A function as found in a file, with the class it is a method of."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    owner: ast.ClassDef | None
    is_nested: bool


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(
    node: ast.AST, owner: ast.ClassDef | None = None, is_nested: bool = False
) -> Iterator[Function]:
    """Every function under a node, at any depth."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(child, owner, is_nested)
            yield from functions(child, None, True)
        else:
            inner = child if isinstance(child, ast.ClassDef) else owner
            yield from functions(child, inner, is_nested)


def module_name(path: Path, root: Path) -> str:
    """`viz/pages/__init__.py` is viz.pages."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_name(module: str) -> str | None:
    """The most particular room a dotted name is in; None for a library."""
    parts = module.split(".")
    prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in ROOMS), None)


def library(name: str) -> str:
    """`torch` of torch.nn.functional."""
    return name.split(".")[0]


def imports(path: Path, root: Path) -> list[str]:
    """Dotted names of all that a file imports, down to the name: model.capture.Trace."""
    module = module_name(path, root)
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    found = []
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            source = importlib.util.resolve_name(relative, package)
            found += [f"{source}.{alias.name}" for alias in node.names]
    return found


def strings(path: Path) -> list[str]:
    """The string constants of a Python file, f-strings included, docstrings not."""
    nodes = list(ast.walk(parse(path)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


def wrong_imports(path: Path, root: Path) -> list[str]:
    """Imports against app → studio → pages → ui, runs → figures → theme, formulas → model."""
    module, names = module_name(path, root), imports(path, root)
    room = ROOMS[room_name(module)]
    faults = [f"{name}: never imported here" for name in names if library(name) in room.never]
    faults += [
        f"{name}: is on a floor above"
        for name in names
        if room_name(name) and ROOMS[room_name(name)].floor > room.floor
    ]
    if room_name(module) != "viz.runs" and "streamlit" in map(library, names):
        # A page may name a type such as Trace; the model's functions it reaches through viz.runs.
        faults += [
            f"{name}: only viz.runs works with both streamlit and the model"
            for name in names
            if library(name) == "model" and not name.rpartition(".")[2][0].isupper()
        ]
    return faults


def unsafe_code(path: Path, root: Path) -> list[str]:
    """Code that could run what a file or a person sends: unpickling, eval, raw HTML."""
    names = imports(path, root)
    faults = [name for name in names if library(name) in UNPICKLERS or name in UNSAFE_CALLS]
    calls = [node for node in ast.walk(parse(path)) if isinstance(node, ast.Call)]
    faults += [name for call in calls if (name := ast.unparse(call.func)) in UNSAFE_CALLS]
    flags = [flag for call in calls for flag in call.keywords if flag.arg in UNSAFE_FLAGS]
    return faults + [flag.arg for flag in flags if ast.unparse(flag.value) != "False"]


def foreign_addresses(path: Path, root: Path) -> list[str]:
    """Other hosts a file names; in Python only in strings that are not docstrings."""
    texts = strings(path) if path.suffix == ".py" else [path.read_text(encoding="utf-8")]
    hosts = [host for text in texts for host in ADDRESS.findall(READERS_LINK.sub("", text))]
    return [host for host in hosts if host not in HARMLESS_HOSTS]


def untyped_functions(path: Path, root: Path) -> list[str]:
    """Functions with an argument or a result that has no type."""
    faults = []
    for node, owner, _ in functions(parse(path)):
        spec = node.args
        arguments = [*spec.posonlyargs, *spec.args]
        is_static = any(ast.unparse(entry) == "staticmethod" for entry in node.decorator_list)
        if owner and not is_static:
            arguments = arguments[1:]  # self or cls
        arguments += [*spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
        missing = [argument.arg for argument in arguments if argument.annotation is None]
        missing += [] if node.returns else ["return"]
        faults += [f"{node.name}: {', '.join(missing)}"] if missing else []
    return faults


def undocumented_functions(path: Path, root: Path) -> list[str]:
    """Public functions without a docstring; an override has the one of what it replaces."""
    found = list(functions(parse(path)))
    documented = {
        (owner.name, node.name) for node, owner, _ in found if owner and ast.get_docstring(node)
    }

    def is_override(node: ast.AST, owner: ast.ClassDef | None) -> bool:
        bases = map(ast.unparse, owner.bases) if owner else ()
        return any((base, node.name) in documented for base in bases)

    return [
        node.name
        for node, owner, is_nested in found
        if not (ast.get_docstring(node) or is_nested or is_override(node, owner))
        and not node.name.startswith("_")
        and not (owner and owner.name.startswith("_"))
    ]


def long_functions(path: Path, root: Path) -> list[str]:
    """Functions that do not fit on a screen."""
    lengths = [
        (node.name, node.end_lineno - node.lineno + 1) for node, *_ in functions(parse(path))
    ]
    return [f"{name}: {n} lines" for name, n in lengths if n > MAX_FUNCTION_LINES]


def _name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_room_is_read() -> None:
    """An empty list of files would satisfy every rule."""
    names = {_name_of(path) for path in SOURCES}
    assert {"app.py", "model/attention.py", "viz/studio.py", "viz/live/component.py"} <= names
    assert {"viz/live/main.js", "viz/live/core/maths.js"} <= set(map(_name_of, WEB_FILES))


@pytest.mark.parametrize("path", SOURCES, ids=_name_of)
@pytest.mark.parametrize(
    "rule",
    [wrong_imports, unsafe_code, foreign_addresses, untyped_functions, undocumented_functions],
)
def test_source_keeps_the_rule(rule: Rule, path: Path) -> None:
    assert rule(path, ROOT) == []


@pytest.mark.parametrize("path", WEB_FILES, ids=_name_of)
def test_web_file_names_no_other_host(path: Path) -> None:
    assert foreign_addresses(path, ROOT) == []


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=_name_of)
def test_functions_fit_on_a_screen(path: Path) -> None:
    assert long_functions(path, ROOT) == []


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_style(command: list[str]) -> None:
    """`make format` mends what this finds."""
    ruff = [sys.executable, "-m", "ruff", *command]
    answer = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (wrong_imports, "model/x.py", "import streamlit as st"),
        (wrong_imports, "model/x.py", "from plotly.graph_objects import Figure"),
        (wrong_imports, "model/x.py", "def f():\n    import pandas"),
        (wrong_imports, "model/x.py", "from viz import theme"),
        (wrong_imports, "viz/theme.py", "from viz.figures import heatmap"),
        (wrong_imports, "viz/figures/x.py", "import streamlit"),
        (wrong_imports, "viz/figures/x.py", "from torch import nn"),
        (wrong_imports, "viz/figures/x.py", "from ..runs import traces"),
        (wrong_imports, "viz/ui.py", "from .pages import attention"),
        (wrong_imports, "viz/ui.py", "import streamlit\nfrom model.capture import capture"),
        (wrong_imports, "viz/ui.py", "import streamlit\nimport model.capture"),
        (wrong_imports, "viz/pages/x.py", "from viz import studio"),
        (wrong_imports, "viz/pages/x.py", "import torch"),
        (wrong_imports, "viz/runs.py", "import viz.pages.attention"),
        (wrong_imports, "viz/figures/x.py", "from viz.live import store"),
        (wrong_imports, "viz/live/x.py", "import torch"),
        (wrong_imports, "viz/live/x.py", "from viz.pages import attention"),
        (wrong_imports, "viz/live/x.py", "import streamlit\nfrom model.verify import check"),
        (wrong_imports, "viz/live/routes.py", "import streamlit"),
        (wrong_imports, "viz/live/store.py", "from streamlit import session_state"),
        (wrong_imports, "viz/live/rotor/data.py", "import streamlit as st"),
        (wrong_imports, "app.py", "from tests import browser"),
        (unsafe_code, "model/x.py", "import pickle"),
        (unsafe_code, "model/x.py", "from torch import load"),
        (unsafe_code, "model/x.py", "torch.load(path, weights_only=True)"),
        (unsafe_code, "model/x.py", "np.load(path, allow_pickle=True)"),
        (unsafe_code, "viz/x.py", "eval(text)"),
        (unsafe_code, "viz/x.py", "st.markdown(text, unsafe_allow_html=True)"),
        (foreign_addresses, "viz/x.py", "SCRIPT = 'https://cdn.example.org/plotly.js'"),
        (foreign_addresses, "viz/x.py", "st.markdown('![picture](https://example.org/a.png)')"),
        (foreign_addresses, "viz/x.py", "f'http://example.org/{name}'"),
        (foreign_addresses, "viz/x.js", "import Plotly from '//cdn.example.org/plotly.js';"),
        (foreign_addresses, "viz/x.css", "@import url(https://fonts.example.org/sans);"),
        (untyped_functions, "viz/x.py", "def f(a) -> None: ..."),
        (untyped_functions, "viz/x.py", "def f(*names) -> None: ..."),
        (untyped_functions, "viz/x.py", "def f(a: int): ..."),
        (untyped_functions, "viz/x.py", "class A:\n    def f(self, a) -> None: ..."),
        (undocumented_functions, "viz/x.py", "def f() -> None: ..."),
        (undocumented_functions, "viz/x.py", "class A:\n    def f(self) -> None: ..."),
        (long_functions, "viz/x.py", "def f() -> None:\n" + 60 * "    print()\n"),
    ],
)
def test_rule_finds_a_bad_file(rule: Rule, name: str, text: str, tmp_path: Path) -> None:
    assert rule(_written(tmp_path / name, text), tmp_path) != []


DOCUMENTED = "class A:\n    def f(self):\n        'Says why.'\n"


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (wrong_imports, "viz/runs.py", "import streamlit\nfrom model.capture import capture"),
        (wrong_imports, "viz/pages/x.py", "import streamlit\nfrom model.capture import Trace"),
        (wrong_imports, "viz/pages/x.py", "from viz import runs, ui\nfrom viz.figures import maps"),
        (wrong_imports, "viz/formulas.py", "from model.attention import scaled_dot_product"),
        (wrong_imports, "viz/figures/x.py", "from viz.theme import TEMPLATE\nimport plotly"),
        (unsafe_code, "model/x.py", "model.eval()\nnp.load(path, allow_pickle=False)"),
        (foreign_addresses, "viz/x.py", "'''See https://example.org.'''\n# https://example.org"),
        (foreign_addresses, "viz/x.py", "st.markdown('[the paper](https://example.org/1)')"),
        (foreign_addresses, "viz/x.py", "url = f'http://localhost:{port}'"),
        (foreign_addresses, "viz/x.js", "svg('http://www.w3.org/2000/svg'); // see a.b"),
        (untyped_functions, "viz/x.py", "class A:\n    def f(self, a: int) -> None: ..."),
        (undocumented_functions, "viz/x.py", "def f():\n    'Says why.'\n    def g(): ..."),
        (undocumented_functions, "viz/x.py", DOCUMENTED + "class B(A):\n    def f(self): ..."),
        (wrong_imports, "viz/live/x.py", "import streamlit\nfrom model.verify import Check"),
        (wrong_imports, "viz/live/routes.py", "from model.analysis import summarise_patterns"),
        (long_functions, "viz/x.py", "def f() -> None:\n" + 59 * "    print()\n"),
    ],
)
def test_rule_passes_a_good_file(rule: Rule, name: str, text: str, tmp_path: Path) -> None:
    assert rule(_written(tmp_path / name, text), tmp_path) == []


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELLS = ("", "sh", "bash", "shell", "console")
TREE_LINE = re.compile(r"( *)(\S+(?: · \S+)*)")


def tree(readme: str) -> str:
    """The block of the README that starts with app.py."""
    trees = [text for _, text in FENCE.findall(readme) if text.startswith("app.py")]
    if len(trees) != 1:
        raise ValueError(f"{len(trees)} blocks of the README start with app.py; the tree is one")
    return trees[0]


def tree_paths(readme: str) -> list[str]:
    """The paths in the tree: two spaces a level, `a · b` is two of them, <name> any."""
    paths, folders = [], []
    for line in filter(str.strip, tree(readme).splitlines()):
        indent, names = TREE_LINE.match(line).groups()
        folders = folders[: len(indent) // 2]
        names = [re.sub(r"<[^>]+>", "*", name) for name in names.split(" · ")]
        paths += ["".join(folders) + name for name in names]
        folders += [name for name in names if name.endswith("/")]
    return paths


def commands(readme: str) -> list[str]:
    """Every line of a shell block, and every `make …` or `python …` in a sentence."""
    blocks = [text for language, text in FENCE.findall(readme) if language in SHELLS]
    lines = [line for text in blocks if text != tree(readme) for line in text.splitlines()]
    parts = [part.split("#")[0].strip("$ ") for line in lines for part in line.split("&&")]
    inline = re.findall(r"`((?:make|python3?) [^`]+)`", FENCE.sub("", readme))
    return [*filter(None, parts), *inline]


def unknown_targets(command: str) -> list[str]:
    """What a `make` command asks for and the Makefile does not have."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    return [word for word in shlex.split(command)[1:] if "=" not in word and word not in targets]


@pytest.fixture(scope="module")
def readme() -> str:
    """The README's text."""
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_tree_is_on_disk(readme: str) -> None:
    paths = tree_paths(readme)
    assert {"app.py", "model/", "viz/", "tests/"} <= set(paths)
    assert [path for path in paths if not any(ROOT.glob(path))] == []


def test_readme_commands_work(readme: str) -> None:
    """Each is a target of the Makefile, or a module or a command of ours that answers --help."""
    found = commands(readme)
    assert {"make run", "make test"} <= set(found)
    modules = set()
    for command in found:
        if command.startswith("make "):
            assert unknown_targets(command) == [], command
        elif module := re.match(r"\S*python3? -m (model [a-z]+|[\w.]+)", command):
            modules.add(module[1])
        else:
            assert command.split()[0] in ("git", "cd"), f"nothing tests {command!r}"
    assert {f"model {name}" for name in COMMANDS} <= modules
    for module in sorted(modules):
        ask = [sys.executable, "-m", *module.split(), "--help"]
        answer = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True)
        assert answer.returncode == 0, f"{module}: {answer.stderr}"
        assert "usage" in answer.stdout.lower(), module


def test_readme_is_read_right() -> None:
    """On a small README, so that the two tests above cannot pass by reading nothing."""
    readme = (
        "Try `make bench`, `model.eval()`.\n\n```sh\n# a comment\ngit clone it && cd it\n"
        "make PYTHON=python3.12 run  # a comment\n$ python -m model train --help\n```\n"
        "```\napp.py       the app\n\nmodel/     a word: app/x.py\n  a.py · b.py    two\n"
        "  deep/<name>/\n    c.py\nviz/   \n  *.js\n```\n```toml\nx = 1\n```\n"
    )
    model_paths = ["model/", "model/a.py", "model/b.py", "model/deep/*/", "model/deep/*/c.py"]
    assert tree_paths(readme) == ["app.py", *model_paths, "viz/", "viz/*.js"]
    in_blocks = ["git clone it", "cd it", "make PYTHON=python3.12 run"]
    assert commands(readme) == [*in_blocks, "python -m model train --help", "make bench"]
    assert unknown_targets("make PYTHON=python3.12 run") == []
    assert unknown_targets("make dance") == ["dance"]
