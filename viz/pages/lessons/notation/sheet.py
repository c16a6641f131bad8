"""All formulas on one sheet to print: HTML that needs no network, no script and no font of its own.

Browsers draw MathML themselves, with a font for mathematics where the machine has one.
"""

import html
from collections.abc import Iterator
from itertools import groupby

from viz.pages.lessons.notation import mathml
from viz.pages.lessons.notation.catalogue import CATALOGUE, Entry

STYLE = """
@page {
  size: A4; margin: 16mm 15mm 18mm;
  @bottom-right { content: counter(page); font: 8pt sans-serif; }
}
:root { color-scheme: light; }
* { box-sizing: border-box; }
body {
  max-width: 180mm; margin: 0 auto; padding: 8mm 0;
  background: #fff; color: #000;
  font: 9.5pt/1.4 "Source Sans 3", "Source Sans Pro", system-ui, "Segoe UI", Roboto, sans-serif;
}
h1 { margin: 0; font-size: 17pt; }
header p { margin: 1mm 0 0; color: #444; }
section { margin-top: 6mm; }
h2 { margin: 0 0 1mm; border-bottom: 0.4pt solid #000; font-size: 11.5pt; break-after: avoid; }
article {
  display: grid; grid-template-columns: 46mm 1fr; gap: 0 4mm; align-items: center;
  padding: 1.6mm 0; border-bottom: 0.3pt solid #bbb; break-inside: avoid;
}
h2 + article { break-before: avoid; }
h3 { margin: 0; font-size: 9.5pt; font-weight: 600; }
math {
  font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", math;
  font-size: 10.5pt;
}
.formula { margin: 1.5mm 0; overflow-x: auto; overflow-y: hidden; }
.formula math { display: block math; text-align: left; }
.source { margin: 0; color: #444; font-size: 8.2pt; }
mtable[columnalign="left left"] mtd { text-align: left; }
mtable[columnalign="right left"] mtd:first-child { text-align: right; }
mtable[columnalign="right left"] mtd:nth-child(2) { text-align: left; padding-left: 0; }
@media (max-width: 640px) { body { padding: 4mm; } article { display: block; } }
@media print { body { padding: 0; max-width: none; } .formula { overflow: visible; } }
"""


def sheet(version: str) -> str:
    """The sheet as a HTML document; `version` is the app's."""
    sections = "\n".join(_sections())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Headlight: formulas</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>Formulas</h1>
<p>The {len(CATALOGUE)} formulas of Headlight {html.escape(version)}, by the page that shows them
with the numbers of a model that runs. A vector is a row, x W; in recurrent and
additive networks it is W x, as in their papers. The page Notation has the symbols.</p></header>
{sections}
</body>
</html>
"""


def _sections() -> Iterator[str]:
    for page, entries in groupby(CATALOGUE, key=lambda entry: entry.page):
        inside = "\n".join(map(_article, entries))
        yield f"<section><h2>{html.escape(page)}</h2>\n{inside}\n</section>"


def _article(entry: Entry) -> str:
    drawn = "".join(
        f'<div class="formula">{math}</div>' for math in mathml.lines(entry.formula.latex)
    )
    return (
        f"<article><div><h3>{html.escape(entry.title)}</h3>"
        f'<p class="source">{html.escape(entry.formula.reference)}</p></div>'
        f"<div>{drawn}</div></article>"
    )
