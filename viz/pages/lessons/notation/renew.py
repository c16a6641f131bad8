"""`python -m viz.pages.lessons.notation.renew`: draw every formula again, with KaTeX in node."""

import json

from viz.pages.lessons.notation.mathml import STORED, drawn, shipped_katex
from viz.pages.lessons.notation.symbols import every_latex


def main() -> None:
    """Write assets/formulas.json."""
    written = drawn(every_latex(), shipped_katex())
    STORED.write_text(json.dumps(written, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(written)} formulas and symbols: {STORED.name}")


if __name__ == "__main__":
    main()
