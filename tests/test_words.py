"""The field's words, as GLOSSARY.md has them: the worst of the old ones stay away.

Phrases are looked for in all that a person may read, comments too; names only among identifiers,
since "told" is good English and a bad name.
"""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PHRASES = (
    r"filler",
    r"likeliest",
    r"anew",
    r"hands of clocks",
    r"(?:numbers|values) a (?:token|layer)",
    r"one (?:row|column) a \w+",
    r"unturned|before turning|to move is to turn",
    r"how far knowledge travels",
    r"lessons? of a shifted",
    r"stood in sight",
    r"empty this row|hide this key",
    r"hide the first token",
    r"merge pieces",
    r"mass shown|of the mass before",
    r"signs aside",
    r"(?:layer|head) of the other",
    r"leans on",
    r"best so many",
    r"the model writes on",
    r"chart camera",
    r"is no (?:valid|json|number|whole number)",
    r"on the shelf",
)
NAMES = {
    "told", "heard", "tell", "SEEING_AHEAD", "seeing_ahead", "hide_nothing", "Lap", "laps", "Pace",
    "pace", "Filling", "filling", "lay_out_by_columns", "likeliest", "filler", "shelf",
}  # fmt: skip
FILES = sorted(
    path
    for pattern in ("app.py", "README.md", "model/**/*", "viz/**/*", "assets/*.toml")
    for path in ROOT.glob(pattern)
    if path.suffix in (".py", ".js", ".css", ".html", ".toml", ".md")
    and path.name != "program.js"  # the bundle of modules that are looked at
)
OLD_LINKS = {("viz/frame/settings.py", "filler")}  # what an address made long ago still says
PHRASE = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.IGNORECASE)
JS_COMMENT_OR_STRING = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL
)


def old_phrases(text: str) -> list[str]:
    """Phrases nobody in the field says; a line end counts as a space."""
    return [" ".join(found.split()) for found in PHRASE.findall(re.sub(r"\s+", " ", text))]


def old_names(path: Path, text: str) -> list[str]:
    """Identifiers of Python and JavaScript that are house dialect."""
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        names = [token.string for token in tokens if token.type == tokenize.NAME]
    elif path.suffix == ".js":
        names = re.findall(r"[A-Za-z_$][\w$]*", JS_COMMENT_OR_STRING.sub(" ", text))
    else:
        names = []
    return [name for name in names if name in NAMES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_file_has_the_words_of_the_field(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    found = [*old_phrases(text), *old_names(path, text)]
    assert [word for word in found if (name, word) not in OLD_LINKS] == []


def test_old_words_are_found() -> None:
    """So that the test above cannot pass by finding nothing."""
    assert old_phrases('"The likeliest token"  # 12 numbers a\n    token') == [
        "likeliest",
        "numbers a token",
    ]
    assert old_phrases("the most likely token, renewed") == []
    assert old_names(Path("x.py"), "told = 'heard'  # tell") == ["told"]
    assert old_names(Path("x.js"), "const told = `x`; // tell\nlet a = 'heard';") == ["told"]
    assert {path.suffix for path in FILES} >= {".py", ".js", ".toml", ".md"}
