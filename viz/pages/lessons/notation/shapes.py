"""What the letters of shapes stand for in the model that runs, and shapes with these numbers."""

from collections.abc import Mapping

from viz.frame.view import View
from viz.pages.lessons.notation.symbols import Symbol

OF_THE_MODEL = ("L", "T", "D", "F", "V", "Ts", "nmax")
OF_THE_HEAD = ("H", "G", "Tq", "Tk", "Dh")
# Symbols of these pages alone are of one architecture.
ONLY = {"Vision": "vision", "Translation": "encoder_decoder"}

Letters = Mapping[str, str]


def letters(view: View) -> Letters:
    """Each letter with its number, as far as the source of the model knows it."""
    trace, record = view.run.trace, view.record
    facts, output, embed = trace.facts, trace.output, trace.main.embed
    known = (
        facts.n_layers,
        len(trace.main),
        facts.d_model if embed is None else embed.shape[-1],
        facts.d_ff,
        None if output is None else output.shape[-1],
        len(trace.streams[0]) if len(trace.streams) > 1 else None,
        facts.max_seq_len,
    )
    of_head = (len(record.q), len(record.k), *record.scores.shape[1:], record.q.shape[-1])
    found = {
        letter: f"{n:,}" for letter, n in zip(OF_THE_MODEL, known, strict=True) if n is not None
    }
    return found | {letter: f"{n:,}" for letter, n in zip(OF_THE_HEAD, of_head, strict=True)}


def said(symbol: Symbol, known: Letters, architecture: str) -> str:
    """The shape of a symbol in letters, and in numbers where all of them are known."""
    shape = symbol.row.shape
    only = {ONLY.get(page, "") for page in symbol.pages}
    is_elsewhere = len(only) == 1 and not only <= {"", architecture}
    if shape.startswith("="):
        return known[shape[1:]] if shape[1:] in known and not is_elsewhere else ""
    if not shape:
        return ""
    sizes = shape.split(" ")
    written = f"({', '.join(map(_letter, sizes))})"
    if is_elsewhere or any(x not in known for size in sizes for x in size.split("·")):
        return written
    numbers = ("·".join(known[letter] for letter in size.split("·")) for size in sizes)
    return f"{written} = ({', '.join(numbers)})"


def _letter(size: str) -> str:
    return "n_max" if size == "nmax" else size
