"""What no tool holds of the files themselves: hosts, the README, versions, the lock, licences."""

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from model.commands import COMMANDS
from model.sources.folder import FOR_GGUF
from model.sources.folder import VERSION as TRANSFORMERS
from viz import VERSION

ROOT = Path(__file__).parent.parent
SUFFIXES = (".py", ".js", ".css", ".html", ".toml")
SOURCES = [
    ROOT / "app.py",
    ROOT / ".streamlit/config.toml",
    *(path for room in ("headlight", "model", "viz") for path in (ROOT / room).rglob("*")),
]
# What a browser would fetch: not a link a reader may follow, not the name of an XML dialect.
READERS_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(https?://[^)]*\)|^\s*(?:#|//|\*).*$", re.MULTILINE)
HOST = re.compile(r"[\"'(](?:https?:|wss?:)?//([\w-]+(?:\.[\w-]+)+)")
HARMLESS = {"www.w3.org", "127.0.0.1", "moodle.school.example"}  # a dialect, here, an example
PACKAGES = {
    "PIL": "pillow",
    "huggingface_hub": "huggingface-hub",
}  # where modules are called otherwise
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TREE_LINE = re.compile(r"( *)(\S+(?: · \S+)*)")


def test_no_source_names_another_host_or_lets_text_be_code() -> None:
    texts = {p: p.read_text(encoding="utf-8") for p in SOURCES if p.suffix in SUFFIXES}
    assert len(texts) > 300
    hosts = {p: set(HOST.findall(READERS_LINK.sub("", text))) for p, text in texts.items()}
    assert {p: found - HARMLESS for p, found in hosts.items() if found - HARMLESS} == {}
    assert HOST.findall("import '//cdn.example.org/x.js'; f('https://example.org/')") != []
    unsafe = re.compile(r"(?:unsafe_allow_html|allow_pickle)=(?!False)")
    assert [p for p, text in texts.items() if p.suffix == ".py" and unsafe.search(text)] == []


def test_a_clone_on_windows_has_the_same_bytes(tmp_path: Path) -> None:
    """Files of a checkpoint are compared by hash, wherever git turns line ends around."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    packed = tmp_path / "a.tar"
    files = [str(x.relative_to(ROOT)) for x in (ROOT / "assets/checkpoints").glob("*/*.json")]
    git = ["git", "-c", "core.autocrlf=true", "archive", "--worktree-attributes", "HEAD", *files]
    packed.write_bytes(subprocess.run(git, cwd=ROOT, check=True, capture_output=True).stdout)
    with tarfile.open(packed) as found:
        for file in files:
            assert found.extractfile(file).read() == (ROOT / file).read_bytes(), file


def paper(name: str) -> str:
    """The text of one of the papers for people."""
    return (ROOT / name).read_text(encoding="utf-8")


PAPERS = sorted(
    str(path.relative_to(ROOT))
    for folder in (".", "docs", "deploy")
    for path in (ROOT / folder).glob("*.md")
)


@pytest.mark.parametrize("name", PAPERS)
def test_links_of_the_papers_lead_to_files(name: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", paper(name))
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


def test_the_tree_of_the_house_is_on_disk() -> None:
    """Two spaces a level, `a · b` is two paths, <name> any."""
    texts = FENCE.findall(paper("docs/tour.md"))
    (tree,) = (text for _, text in texts if text.startswith("app.py"))
    paths: list[str] = []
    folders: list[str] = []
    for line in filter(str.strip, tree.splitlines()):
        found = TREE_LINE.match(line)
        assert found
        folders = folders[: len(found[1]) // 2]
        names = [re.sub(r"<[^>]+>", "*", name) for name in found[2].split(" · ")]
        paths += ["".join(folders) + name for name in names]
        folders += [name for name in names if name.endswith("/")]
    assert {"app.py", "model/", "viz/", "tests/"} <= set(paths)
    assert [path for path in paths if not any(ROOT.glob(path))] == []


def test_commands_in_the_papers_are_there() -> None:
    readme = paper("README.md")
    makefile = paper("Makefile")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    targets = set(re.findall(r"(?:^|`|[A-Z]+=\S+ )make ([a-z]+)", readme, re.MULTILINE))
    assert {"run", "test"} <= targets <= set(phony[1].split())
    commands = set(re.findall(r"python3? -m model ([a-z]+)", paper("docs/commands.md")))
    assert commands == set(COMMANDS)


def test_a_term_is_explained_in_one_place() -> None:
    explained = tomllib.loads((ROOT / "assets" / "terms.toml").read_text(encoding="utf-8"))["term"]
    bold = re.findall(r"\*\*(.+?)\*\*", paper("docs/glossary.md"))
    words = {word.casefold() for text in bold for word in text.split(", ")}
    assert words.isdisjoint(term["name"].casefold() for term in explained)


def test_changelog_begins_with_this_version() -> None:
    changelog = paper("CHANGELOG.md")
    assert re.findall(r"^## (\d+\.\d+\.\d+)$", changelog, re.MULTILINE)[0] == VERSION


def test_every_package_that_is_imported_is_asked_for() -> None:
    """Not only brought along by another one, which may drop it."""
    nodes = [
        node
        for path in SOURCES
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    ]
    modules = [x.name for node in nodes if isinstance(node, ast.Import) for x in node.names]
    modules += [x.module for x in nodes if isinstance(x, ast.ImportFrom) and x.module]
    names = {module.partition(".")[0] for module in modules}
    others = names - sys.stdlib_module_names - {"headlight", "model", "viz", "torch"}
    others = {PACKAGES.get(name, name) for name in others}
    notebook = {"anywidget", "IPython", "traitlets"}  # the last two are what a widget is made of
    extras = _pinned("tests/requirements.txt")
    assert others - notebook - {"gguf", "transformers"} <= set(_pinned("requirements.txt"))
    assert "anywidget" in extras
    assert extras["transformers"] == TRANSFORMERS
    assert set(FOR_GGUF) <= {f"{name}=={version}" for name, version in extras.items()}


def _pinned(name: str) -> dict[str, str]:
    """Packages and versions of a requirements file."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", text, re.MULTILINE)
    return {package.lower(): version for package, version in found if package != "torch"}


def test_pip_installs_what_make_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert project["dependencies"] == lines
    extras = {name for names in project["optional-dependencies"].values() for name in names}
    tests = _pinned("tests/requirements.txt").items()
    assert extras <= {f"{name}=={version}" for name, version in tests}


def test_the_lock_is_of_the_requirements_and_every_licence_is_listed() -> None:
    locked = _pinned("requirements.lock")
    assert _pinned("requirements.txt").items() <= locked.items()
    rows = paper("docs/third-party.md").splitlines()
    licences = {row.split("|")[1].strip(): row.split("|")[2].strip() for row in rows if "|" in row}
    assert {*locked, "torch"} <= set(licences)
    assert all(licences.values())


def test_what_the_container_copies_is_there() -> None:
    lines = (ROOT / "deploy/Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [x.split()[1:-1] for x in lines if x.startswith("COPY") and "--from" not in x]
    assert copied
    assert [name for names in copied for name in names if not (ROOT / name).exists()] == []
    compose = (ROOT / "deploy/compose.yaml").read_text(encoding="utf-8")
    mounts = re.findall(r"volumes: \[\"(.+)\"\]", compose)
    assert [mount.endswith(":ro,z") for mount in mounts] == [True, True]
    assert "TRANSFORMERS: ${TRANSFORMERS:-}" in compose and "ARG TRANSFORMERS=" in lines
