"""The rules of the house that no tool holds: ruff, import-linter, types and ESLint do the rest.

Each rule is a function from a file to a list of faults, so that the tests can also show it a bad
file and see it fail.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from model.commands import COMMANDS
from viz import VERSION

ROOT = Path(__file__).parent.parent
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("model/**/*.py")), *sorted(ROOT.glob("viz/**/*.py"))]
WEB_SUFFIXES = (".js", ".mjs", ".css", ".html")
WEB_FILES = [
    ROOT / ".streamlit/config.toml",
    *sorted(path for path in ROOT.glob("viz/**/*") if path.suffix in WEB_SUFFIXES),
]
MAX_FUNCTION_LINES, MAX_MODULE_LINES = 50, 400  # ESLint holds JavaScript to the same
UNSAFE_FLAGS = ("unsafe_allow_html", "allow_pickle")  # what else is unsafe, ruff finds

# What a browser would fetch: not a link a reader may follow, not the name of an XML dialect.
READERS_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(https?://[^)]*\)")
ADDRESS = re.compile(r"(?:(?:https?|wss?):|(?<=[\"'(\s])|^)//([\w-]+(?:\.[\w-]+)+)")
HARMLESS_HOSTS = ("www.w3.org", "127.0.0.1")

Rule = Callable[[Path], list[str]]


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a Python file, at any depth."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


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


def unsafe_flags(path: Path) -> list[str]:
    """Flags that let a text become HTML, or a file run code."""
    calls = [node for node in ast.walk(parse(path)) if isinstance(node, ast.Call)]
    flags = [flag for call in calls for flag in call.keywords if flag.arg in UNSAFE_FLAGS]
    return [str(flag.arg) for flag in flags if ast.unparse(flag.value) != "False"]


def foreign_addresses(path: Path) -> list[str]:
    """Other hosts a file names; in Python only in strings that are not docstrings."""
    texts = strings(path) if path.suffix == ".py" else [path.read_text(encoding="utf-8")]
    hosts = [host for text in texts for host in ADDRESS.findall(READERS_LINK.sub("", text))]
    return [host for host in hosts if host not in HARMLESS_HOSTS]


def too_long(path: Path) -> list[str]:
    """Functions that do not fit on a screen, and the file where it is longer than a sitting."""
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    lengths = [(x.name, (x.end_lineno or 0) - x.lineno + 1) for x in functions(path)]
    faults = [f"{name}: {n} lines" for name, n in lengths if n > MAX_FUNCTION_LINES]
    return faults + ([f"{path.name}: {n_lines} lines"] if n_lines > MAX_MODULE_LINES else [])


def _name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_room_is_read() -> None:
    """An empty list of files would satisfy every rule."""
    names = {_name_of(path) for path in SOURCES}
    assert {"app.py", "model/attention.py", "viz/studio.py", "viz/live/component.py"} <= names
    assert {"viz/live/main.js", "viz/live/core/maths.js"} <= set(map(_name_of, WEB_FILES))


@pytest.mark.parametrize("path", SOURCES, ids=_name_of)
@pytest.mark.parametrize("rule", [unsafe_flags, foreign_addresses, too_long])
def test_source_keeps_the_rule(rule: Rule, path: Path) -> None:
    assert rule(path) == []


@pytest.mark.parametrize("path", WEB_FILES, ids=_name_of)
def test_web_file_names_no_other_host(path: Path) -> None:
    assert foreign_addresses(path) == []


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = grimp.build_graph("model", "viz")
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert "model.config" in imports["model.attention"]
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other in a circle: {' ← '.join(error.args[1])}")


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("model/x.py", "import pickle", "TID251"),
        ("model/x.py", "from torch import load", "TID251"),
        ("model/x.py", "import torch\n\ntorch.load(path)", "TID251"),
        ("viz/x.py", "eval(text)", "S307"),
        ("viz/x.py", "exec(text)", "S102"),
        ("viz/x.py", "def f(a) -> None: ...", "ANN001"),
        ("viz/x.py", "def f(a: int): ...", "ANN201"),
        ("viz/x.py", "def f() -> None: ...", "D103"),
        ("viz/x.py", "class A:\n    def f(self) -> None: ...", "D102"),
        (
            "viz/x.py",
            "def f(" + ", ".join(f"x{i}: int" for i in range(8)) + ") -> None: ...",
            "PLR",
        ),
    ],
)
def test_ruff_finds_a_bad_file(name: str, text: str, code: str) -> None:
    """That the rules are switched on, which nothing else would notice."""
    ask = [sys.executable, "-m", "ruff", "check", "--no-cache", "--stdin-filename", name, "-"]
    answer = subprocess.run(ask, cwd=ROOT, input=text, capture_output=True, text=True)
    assert code in answer.stdout


BAD = [
    (unsafe_flags, "model/x.py", "np.load(path, allow_pickle=True)"),
    (unsafe_flags, "viz/x.py", "st.markdown(text, unsafe_allow_html=True)"),
    (foreign_addresses, "viz/x.py", "SCRIPT = 'https://cdn.example.org/plotly.js'"),
    (foreign_addresses, "viz/x.py", "st.markdown('![picture](https://example.org/a.png)')"),
    (foreign_addresses, "viz/x.py", "f'http://example.org/{name}'"),
    (foreign_addresses, "viz/x.js", "import Plotly from '//cdn.example.org/plotly.js';"),
    (foreign_addresses, "viz/x.css", "@import url(https://fonts.example.org/sans);"),
    (too_long, "viz/x.py", "def f() -> None:\n" + 50 * "    print()\n"),
    (too_long, "viz/x.py", 401 * "x = 1\n"),
]
GOOD = [
    (unsafe_flags, "model/x.py", "model.eval()\nnp.load(path, allow_pickle=False)"),
    (foreign_addresses, "viz/x.py", "'''See https://example.org.'''\n# https://example.org"),
    (foreign_addresses, "viz/x.py", "st.markdown('[the paper](https://example.org/1)')"),
    (foreign_addresses, "viz/x.py", "url = f'http://localhost:{port}'"),
    (foreign_addresses, "viz/x.js", "svg('http://www.w3.org/2000/svg'); // see a.b"),
    (too_long, "viz/x.py", "def f() -> None:\n" + 49 * "    print()\n"),
    (too_long, "viz/x.py", 400 * "x = 1\n"),
]


@pytest.mark.parametrize(("rule", "name", "text"), BAD)
def test_rule_finds_a_bad_file(rule: Rule, name: str, text: str, tmp_path: Path) -> None:
    assert rule(_written(tmp_path / name, text)) != []


@pytest.mark.parametrize(("rule", "name", "text"), GOOD)
def test_rule_passes_a_good_file(rule: Rule, name: str, text: str, tmp_path: Path) -> None:
    assert rule(_written(tmp_path / name, text)) == []


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELLS = ("", "sh", "bash", "shell", "console")
# `python -m MODULE --help` of each in one process: what they share takes seconds to import.
ASK_ALL = """
import contextlib, io, json, runpy, sys
answers = {}
for module in sys.argv[1:]:
    name, *words = module.split()
    sys.argv = [name, *words, "--help"]
    code = None
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = end.code
    answers[module] = [code, said.getvalue()]
print(json.dumps(answers))
"""
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
    asked = [sys.executable, "-c", ASK_ALL, *sorted(modules)]
    answer = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    answers = json.loads(answer.stdout)
    assert answers.keys() == modules
    for module, (code, said) in answers.items():
        assert code in (None, 0), f"{module}: {answer.stderr}"
        assert "usage" in said.lower(), module


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


def test_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\d+\.\d+\.\d+)$", changelog, re.MULTILINE)
    assert versions[0] == VERSION
    assert versions == sorted(versions, reverse=True)


def _pinned(text: str) -> dict[str, str]:
    """Packages and versions of a requirements file."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", text, re.MULTILINE)
    return {name.lower(): version for name, version in found}


def test_the_lock_is_of_the_requirements_and_has_every_hash() -> None:
    wanted = _pinned((ROOT / "requirements.txt").read_text())
    lock = (ROOT / "requirements.lock").read_text()
    locked = _pinned(lock)
    assert len(locked) > 40
    assert {name: locked.get(name) for name in wanted if name != "torch"} == {
        name: version for name, version in wanted.items() if name != "torch"
    }
    entries = re.split(r"^(?=[a-z])", lock, flags=re.MULTILINE)[1:]
    assert [entry.split("==")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_package_has_its_licence_listed() -> None:
    rows = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8").splitlines()
    listed = {row.split("|")[1].strip(): row.split("|")[2].strip() for row in rows if "|" in row}
    locked = _pinned((ROOT / "requirements.lock").read_text())
    assert set(locked) | {"torch"} <= set(listed)
    assert all(listed.values())
