"""What a page hands to its charts, without the numbers: stored, as all figures are.

`python -m tests.viz.pages.stored` stores what it is now, and the difference is in the diff.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.apps import TOM, charts, open_page, told
from tests.viz.builders import PAGES, csv_rows
from tests.viz.pages.handed import Address
from tests.viz.pages.handed.table import TABLE
from viz import studio
from viz.frame import inspector
from viz.frame.view import View
from viz.pages.ideas import positions

FILE = Path(__file__).parent / "stored.txt"
SCHEME, FILLING = "positions-rope", ("Ablation", "Circuit", "Explanation", "Patching")
ROUNDING = 1e-3  # what is smaller may be another number elsewhere
PLAIN: list[Address] = [(page, (("model", SCHEME), ("sentence", "Tom ran."))) for page in PAGES]
SCENES: list[Address] = [
    *((page.title, (("scene", scene),)) for page in studio.PAGES for scene in [*page.scenes][1:]),
    ("Attention", (("view", "compare"), ("against", "sentence"), ("second", "Sam had a ball."))),
    *(
        (positions.PAGE.title, (("scheme", scheme), ("scene", scene)))
        for scheme, drawn in positions.SCENES.items()
        for scene in drawn
    ),
    ("Ablation", (("off", "decoder.attn.2.4"),)),
]


def _scene_of(of: Address) -> tuple[str, str | None, str | None]:
    page, query = of
    return page, dict(query).get("scheme"), dict(query).get("scene")


IN_TABLE = set(map(_scene_of, TABLE))
VIEWS: list[Address] = [*TABLE, *(of for of in SCENES if _scene_of(of) not in IN_TABLE)]

FILES: dict[str, list[str]] = {}  # what the page that was opened last offers of its own


def opened(of: Address) -> AppTest:
    """A page as it is opened to be compared with what is stored."""
    page, query = of
    FILES.clear()
    with pytest.MonkeyPatch.context() as patch:
        export = inspector.export

        def kept(view: View, files: inspector.Tables, *rest: object, **more: bool) -> None:
            for name, make in files.items():
                rows = csv_rows(make())
                FILES[name] = [" | ".join(map(_cell, row[:16])) for row in rows[:3]]
            export(view, files, *rest, **more)

        patch.setattr(inspector, "export", kept)
        pair = {"swap": "1-300"} if of in PLAIN else {}  # for who asks for a second prompt
        return open_page(page, **({"sentence": TOM} | pair | dict(query)))


def _cell(text: str) -> str:
    """A cell of a file: numbers with the digits that every machine agrees on."""
    if re.fullmatch(r"-?\d*", text):
        return text
    try:
        return f"{float(text):.2g}" if abs(float(text)) > ROUNDING else "about 0"
    except ValueError:
        return text


def name_of(of: Address) -> str:
    """A page with what is in its address, but for the sentence."""
    page, query = of
    rest = [
        f"{name}={value}" for name, value in query if name not in ("sentence", "source", "second")
    ]
    return " ".join([page, *(rest if rest != [f"model={SCHEME}"] else [])])


def described(of: Address, app: AppTest) -> str:
    """Its charts: what they are called and say; nothing of numbers and tokens."""
    found = [f"  told: {_rounded(text)}" for text in told(app)]
    found += [line for sent in charts(app) for line in _lines(sent, of[0] in FILLING)]
    if of[0] not in FILLING:
        found += [f"  file {name}: {line}" for name, lines in FILES.items() for line in lines]
    return "\n".join([f"== {name_of(of)}", *found])


def _rounded(text: str) -> str:
    """Words with the digits of their numbers that every machine agrees on."""
    return re.sub(r"\d+(\.\d+)?(e[+-]\d+)?", lambda found: _cell(found[0]), text)


def _lines(sent: dict, is_filling: bool) -> Iterator[str]:
    figure = json.loads(sent["figure"])
    layout = figure["layout"]
    yield f"{sent['key']}{' (clicks)' if sent['is_clickable'] else ''}"
    axes = sorted((name for name in layout if name[1:].startswith("axis")), key=lambda x: x[::-1])
    titles = [layout.get("title", {}), *(layout[name].get("title", {}) for name in axes)]
    named = [trace["name"] for trace in figure["data"] if trace.get("name")]
    heads = {"titles": [x.get("text") for x in titles], "legend": named, "hover": [
        x["hovertemplate"] for x in figure["data"] if "hovertemplate" in x]}  # fmt: skip
    heads["colours"] = [
        bar["title"]["text"].rstrip("\u00a0\u200b")
        for trace in figure["data"]
        for bar in (trace.get("colorbar"), trace.get("marker", {}).get("colorbar"))
        if bar
    ]
    if not is_filling:
        heads["words"] = [re.split("“|#| at ", _plain(sent["alt"]))[0]]  # then come tokens
    for head, texts in heads.items():
        kept = dict.fromkeys(_plain(text) for text in texts if text)
        if kept:
            yield f"  {head}: {' | '.join(kept)}"


def _plain(text: str) -> str:
    """A text whose numbers and tokens are left out."""
    text = re.sub(r"<extra></extra>|</?b>", "", text).replace("<br>", "; ")
    text = re.sub(r"“[^”]*”", "“”", text)
    if not text.startswith(("%{", "query", "key")) and "%{" not in text:
        text = re.sub(r"[<>]? ?[−-]?\d[\d,.]*(e[+-]\d+)?", "#", text)
    return text if len(text) < 240 else f"{text[:200]} …"


@cache
def stored() -> dict[str, str]:
    """What is stored, by page and address."""
    parts = FILE.read_text(encoding="utf-8").rstrip().split("\n\n")
    return {part.splitlines()[0].removeprefix("== "): part for part in parts}


if __name__ == "__main__":
    texts = [described(of, opened(of)) for of in (*PLAIN, *VIEWS)]
    FILE.write_text("\n\n".join(x for x in texts if "\n" in x) + "\n", encoding="utf-8")
