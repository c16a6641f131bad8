"""Formulas as MathML, which browsers draw and print by themselves, and the symbols in them.

KaTeX makes them of LaTeX in node, where `python -m viz.pages.lessons.notation.renew` runs. They are
stored in assets/formulas.json, and a test compares that file with what KaTeX makes today.
"""

import html
import json
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as Xml

STORED = Path(__file__).parents[4] / "assets" / "formulas.json"
SCRIPT = Path(__file__).parents[4] / "scripts" / "mathml.js"
DIALECT = "{http://www.w3.org/1998/Math/MathML}"
# MathML Core has no other variants: letters of these are characters of their own.
VARIANTS = {("script", "L"): "ℒ", ("script", "K"): "𝒦", ("double-struck", "R"): "ℝ"}
WIDE, SPACE = "2em", "1em"  # \qquad and \quad
COMBINING = {"~": "\u0303", "^": "\u0302", "¯": "\u0304"}
BARS = ("ˉ", "‾")
APPLIED, THIN = "\u2061", "0.17em"  # the sign that a function is applied, and the space there


@cache
def stored() -> dict[str, str]:
    """MathML by LaTeX, as committed."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def tree(latex: str) -> Xml.Element | None:
    """A formula's MathML; None for one that is not stored."""
    found = stored().get(latex)
    return None if found is None else Xml.fromstring(found)  # noqa: S314  a file of ours


def inline(latex: str) -> str:
    """A symbol as HTML, for pages that take no MathML; one that is not stored as LaTeX."""
    found = tree(latex)
    return f"<code>{html.escape(latex)}</code>" if found is None else _as_html(found)


def _as_html(node: Xml.Element) -> str:
    inside = [_as_html(child) for child in node]
    if node.tag == "msub":
        return f"{inside[0]}<sub>{inside[1]}</sub>"
    if node.tag == "mover":
        return inside[0].replace("</i>", f"{COMBINING[_text(node[1])]}</i>")
    if node.tag == "mi" and len(node.text or "") == 1 and node.get("mathvariant") != "normal":
        return f"<i>{html.escape(node.text or '')}</i>"
    return html.escape(node.text or "") + "".join(inside)


def lines(latex: str) -> Iterator[str]:
    """A formula on lines of its own: it is broken where a wide space parts two statements."""
    found = tree(latex)
    if found is None:
        yield f"<code>{html.escape(latex)}</code>"
        return
    row = found[0] if len(found) == 1 and found[0].tag == "mrow" else found
    for part in _parted(list(row)):
        math = Xml.Element("math", {"display": "block"})
        math.extend(part)
        yield Xml.tostring(math, encoding="unicode")


def _parted(nodes: Sequence[Xml.Element]) -> Iterator[list[Xml.Element]]:
    part: list[Xml.Element] = []
    for node in nodes:
        width = node.get("width") if node.tag == "mspace" and part else None
        if width == WIDE or (width == SPACE and _text(part[-1]) == ","):
            yield part
            part = []
        else:
            part.append(node)
    if part:
        yield part


def drawn(formulas: Sequence[str], katex: Path) -> dict[str, str]:
    """MathML by LaTeX, as KaTeX's module makes it now; CalledProcessError where it refuses one."""
    asked = ["node", str(SCRIPT), str(katex)]
    answer = subprocess.run(  # noqa: S603  a script of ours; the formulas come by its input
        asked, input=json.dumps(list(formulas)), capture_output=True, text=True, check=True
    )
    return dict(zip(formulas, map(_plain, json.loads(answer.stdout)), strict=True))


def shipped_katex() -> Path:
    """The module of KaTeX that the installed Streamlit carries."""
    import streamlit  # what only shows formulas need not import it

    return next(Path(streamlit.__file__).parent.glob("static/static/js/katex.*.js"))


def _plain(written: str) -> str:
    """MathML Core of what KaTeX wrote: no copy of the LaTeX, words as words."""
    text = written.removeprefix('<span class="katex">').removesuffix("</span>")
    text = text.replace(f' xmlns="{DIALECT[1:-1]}"', "")
    math = Xml.fromstring(text)  # noqa: S314  of formulas of ours
    semantics = math[0]
    for child in semantics:
        if child.tag != "annotation":
            math.append(child)
    math.remove(semantics)
    _tidy(math)
    return Xml.tostring(math, encoding="unicode")


def _tidy(node: Xml.Element) -> None:
    """Letters of a word in one element, letters of a script as characters."""
    letters = {"mi", "mspace", "mtext"}
    is_word = len(node) > 1 and all(
        x.tag in letters and (x.tag != "mi" or x.get("mathvariant") == "normal") for x in node
    )
    if node.tag == "mrow" and is_word and any((x.text or "").isalpha() for x in node):
        word = "".join(x.text or " " for x in node)
        node.clear()
        node.tag, node.text = "mi", " ".join(word.split())
        return
    character = VARIANTS.get((node.get("mathvariant", ""), node.text or ""))
    if character:
        del node.attrib["mathvariant"]
        node.text = character
    if node.text in BARS:  # some fonts for mathematics have no bar that stretches
        node.attrib.clear()
        node.text = "¯"
    _space(node)
    for child in node:
        _tidy(child)


def _space(node: Xml.Element) -> None:
    """A thin space in the place of the invisible sign between a function and what it is of."""
    children = list(node)
    for place, child in enumerate(children):
        after = children[place + 1] if place + 1 < len(children) else None
        if child.text == APPLIED:
            child.tag, child.text = "mspace", None
            is_tight = after is None or _text(after)[:1] in ("(", "⁣")
            child.set("width", "0em" if is_tight else THIN)
        elif child.tag in ("munder", "msub") and _text(child[0])[-1:] == APPLIED:
            child.tail = THIN
    for child in children:
        if child.tail == THIN:
            child.tail = None
            node.insert(list(node).index(child) + 1, Xml.Element("mspace", {"width": THIN}))


# --- symbols ----------------------------------------------------------------------------------

# What every reader of formulas knows.
ELEMENTARY = {
    *("sin", "cos", "exp", "ln", "log", "max", "min", "arg min", "tanh", "π", "∞", "e", "…", "⋯"),
    *("arg", "Re", "⋮", "|", "∣", "/", "ℝ"),
}
FIXED = {("d", "h"), ("T", "q"), ("T", "k"), ("T", "s")}
SIGNS = set("⊤⊙∥⟨⟩∂∨∖←∩∈")


def symbols(node: Xml.Element) -> Iterator[str]:
    """The symbols of a formula, as `d_head`, `x̃` or `λ`; indices are symbols too."""
    if node.tag in ("msub", "msup", "msubsup") and len(node):
        yield from _with_scripts(node)
        return
    if (node.tag in ("mover", "munder") and node.get("accent")) or _is_accented(node):
        yield f"{_text(node[0])}{_text(node[1])}"
        return
    if node.tag == "mi" or (node.tag == "mo" and (node.text or "") in SIGNS):
        text = (node.text or "").strip()
        if text and text not in ELEMENTARY:
            yield text
        return
    for child in node:
        yield from symbols(child)


def _is_accented(node: Xml.Element) -> bool:
    return node.tag == "mover" and _text(node[1]) in ("~", "^", "¯")


def _text(node: Xml.Element) -> str:
    return "".join(node.itertext()).strip()


def _with_scripts(node: Xml.Element) -> Iterator[str]:
    """What stands below or above: part of the symbol's name, or an index of its own."""
    base, scripts = node[0], list(node[1:])
    names = list(symbols(base))
    below = scripts[0] if node.tag != "msup" else None
    above = scripts[-1] if node.tag != "msub" else None
    name = names.pop() if names and (not len(base) or _is_accented(base)) else ""
    if name and below is not None and _names(name, below):
        name, below = f"{name}_{_text(below)}", None
    if name and above is not None and set(_text(above)) <= {"′"}:
        name, above = f"{name}{_text(above)}", None
    yield from names
    if name:
        yield name
    for script in (below, above):
        if script is not None:
            yield from symbols(script)


def _names(base: str, below: Xml.Element) -> bool:
    """Whether what stands below is part of a name, not an index: a word, a capital after W."""
    text = _text(below)
    if below.tag in ("mi", "mtext") and len(text) > 1:
        return True
    return (base == "W" and text[:1].isupper()) or (base, text) in FIXED
