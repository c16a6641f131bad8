"""Why a head looks there, in one plain sentence or two, from its numbers."""

from collections.abc import Callable

import numpy as np

from model.analysis.why.reasons import SIDES, Cell
from model.analysis.writers import Writer
from model.lines import quoted
from model.names import head_name

STANDS_OUT = 0.3  # of the score: from here on a pair of words is named
AGAINST = 0.2  # of the score: from here on what speaks against it is named
MOST_HEADS = 3  # of which is looked who brought a word
SPACE = "␣"  # of a token that is nothing else


def sentence(cell: Cell) -> str:
    """What kind of look it is, which words or writers make it, and what is left without them."""
    if not round(cell.score, 1):
        return f"{looks(cell)} Nothing sets its score apart."
    if not (_is_look(cell) and cell.score > 0):
        return f"{looks(cell)} {_compared(cell)}"
    return f"{looks(cell)}{_rather(cell)} What counts most is {SAID[cell.kind](cell)}"


def kind_in_short(cell: Cell) -> str:
    """The kind alone, which is there at once."""
    return f"{looks(cell)} Mostly {_kind(cell)}"


def looks(cell: Cell) -> str:
    """From where to where, and with what weight; below that of an even row it hardly does."""
    site, of, record = cell.reasons.site, cell.of, cell.of.record
    name = head_name(site.layer, of.head, "cross" if site.kind == "cross" else "")
    query, key = token(cell, record.queries, of.query), token(cell, record.keys, cell.key)
    looks = "looks" if _is_look(cell) else "hardly looks"
    return f"{name} {looks} from {query} to {key}, with weight {cell.weight:.2f}."


def _is_look(cell: Cell) -> bool:
    return cell.weight * cell.of.seen.sum() >= 1


def _rather(cell: Cell) -> str:
    """Where it might look instead, where it is compared with that."""
    of, other = cell.of, cell.other
    if other is None:
        return ""
    weight = of.record.pattern[of.head][of.query, other]
    return f" Why there and not to {token(cell, of.record.keys, other)}, weight {weight:.2f}?"


def _kind(cell: Cell) -> str:
    return f"{KINDS_SAID[cell.kind]} ({_share(cell)})"


def _share(cell: Cell) -> str:
    """What the kind gives that counts most, and the score to which all four add up."""
    return f"{signed(cell.kinds[cell.kind])}; all four kinds add up to {signed(cell.score)}"


def _compared(cell: Cell) -> str:
    is_higher = cell.score > 0
    with_what = "than the mean of the keys it may attend to"
    if cell.other is not None:
        with_what = f"than that of {token(cell, cell.of.record.keys, cell.other)}"
    return (
        f"Its score is {'higher' if is_higher else 'lower'} {with_what}, by {abs(cell.score):.1f}; "
        f"what {'raises' if is_higher else 'lowers'} it most is {KINDS_SAID[cell.kind]} "
        f"({signed(cell.kinds[cell.kind])})."
    )


KINDS_SAID = {
    "place": "place alone",
    "key": "the key, whoever asks",
    "query": "the query alone, by place",
    "match": "a match of query and key",
}


# --- by kind ------------------------------------------------------------------------------------


def _of_place(cell: Cell) -> str:
    left = cell.without_kind("place")[cell.key]
    return (
        f"{_kind(cell)}: what all tokens here share, seen from this place to that. "
        f"Without it the weight is {left:.2f}."
    )


def _of_side(cell: Cell) -> str:
    return f"{_kind(cell)}. {_strongest(cell, SIDES.index(cell.kind))}"


def _of_match(cell: Cell) -> str:
    words, centred = cell.words, cell.against(cell.words.terms)
    begin, pair = f"{_kind(cell)}.", _pair(cell)
    if pair is None:
        return f"{begin} No pair of words stands out. {_strongest(cell, 0, 1)}"
    a, b = pair
    rest = words.without(a, b)[cell.key]
    said = (
        f"{begin} The query holds {_whose(cell, words.asking[a], 0)}, and the key holds "
        f"{_whose(cell, words.asked[b], 1)}: together these two give {signed(centred[a, b])}. "
        f"Without this pair the weight is {rest:.2f}."
    )
    least = np.unravel_index(centred.argmin(), centred.shape)
    if centred[least] < -AGAINST * cell.score:
        one, other = words.asking[least[0]], words.asked[least[1]]
        said += (
            f" Against it counts {_short(cell, one, 0)} in the query with {_short(cell, other, 1)} "
            f"in the key ({signed(centred[least])})."
        )
    return said


SAID: dict[str, Callable[[Cell], str]] = {
    "place": _of_place,
    "key": _of_side,
    "query": _of_side,
    "match": _of_match,
}


def _strongest(cell: Cell, *sides: int) -> str:
    """The strongest writer of a side, or of both, and what is left without it."""
    score, side, best = max(_most(cell, side) for side in sides)
    by = cell.writers[side]
    what, left = _wrote(by.writers[best], SIDES[side]), by.without(best)[cell.key]
    return f"{what} gives {signed(score)}; without that the weight is {left:.2f}."


def _most(cell: Cell, side: int) -> tuple[float, int, int]:
    """What the writer gives that gives most on a side, the side, and which writer that is.

    Biases are none: nobody wrote them.
    """
    by = cell.writers[side]
    is_named = np.array([one.kind != "biases" for one in by.writers])
    scores = np.where(is_named, cell.against(by.terms), -np.inf)
    return float(scores.max()), side, int(scores.argmax())


def _wrote(writer: Writer, where: str) -> str:
    if writer.kind == "token":
        return f"The {where}’s own embedding"
    if writer.kind == "position":
        return f"The {where}’s position"
    return f"What {writer.name} wrote at the {where}"


# --- words --------------------------------------------------------------------------------------


def _pair(cell: Cell) -> tuple[int, int] | None:
    """The words of query and key that make most of the score; None where no pair stands out."""
    words, centred = cell.words, cell.against(cell.words.terms)
    left, right = ([x.kind == "word" for x in side] for side in (words.asking, words.asked))
    both = np.logical_and.outer(left, right)
    a, b = np.unravel_index(np.where(both, centred, -np.inf).argmax(), centred.shape)
    return (int(a), int(b)) if centred[a, b] >= STANDS_OUT * cell.score else None


def _whose(cell: Cell, word: Writer, side: int) -> str:
    """A word that a side holds: its own, or one that heads brought there."""
    at = (cell.of.query, cell.key)[side]
    if word.token == at:
        return f"its own word {_short(cell, word, side)}"
    before = ", the word before it," if word.token == at - 1 else ","
    by = _brought_by(cell, word.token, side) or "several heads"
    return f"{_short(cell, word, side)}{before} brought there by {by}"


def heads_looked_up(cell: Cell) -> list[list[tuple[int, int]]]:
    """The heads that the sentence needs told apart, of each side to which they brought its word."""
    pair = _pair(cell) if cell.kind == "match" and cell.score > 0 else None
    if pair is None:
        return []
    words = cell.words.asking[pair[0]], cell.words.asked[pair[1]]
    own = cell.of.query, cell.key
    return [_strongest_heads(cell, side) for side in (0, 1) if words[side].token != own[side]]


def _strongest_heads(cell: Cell, side: int) -> list[tuple[int, int]]:
    """The few that give most at a side, by layer and number."""
    by, scores = cell.writers[side], cell.against(cell.writers[side].terms)
    heads = [by.writers[n] for n in np.argsort(-scores) if by.writers[n].kind == "head"]
    return [(one.layer, one.head) for one in heads[:MOST_HEADS]]


def _brought_by(cell: Cell, word: int, side: int) -> str:
    """The head that brought a word to a side, of the few that give most there."""
    apart = cell.told_apart(_strongest_heads(cell, side))[side]
    scores = cell.against(apart.terms)
    those = [n for n, one in enumerate(apart.writers) if one.kind == "head" and one.token == word]
    best = max(those, key=lambda n: scores[n], default=None)
    if best is None or scores[best] <= 0:
        return ""
    return apart.writers[best].name


def _short(cell: Cell, writer: Writer, side: int) -> str:
    if writer.kind != "word":
        own = {"position": "the position", "biases": "what biases add"}
        return own.get(writer.kind, writer.name)
    record = cell.of.record
    return token(cell, (record.queries, record.keys)[side], writer.token)


def token(cell: Cell, stream: str, at: int) -> str:
    """A token in quotes, with its number where there are several such; a patch by its place."""
    of = cell.reasons.trace.stream(stream)
    labels = [quoted(label) or SPACE for label in of.labels]
    number = f" ({at})" if labels.count(labels[at]) > 1 else ""
    return f"patch {labels[at]}" if of.kind == "patches" else f"“{labels[at]}”{number}"


def signed(x: float) -> str:
    """A score with its sign: +1.5, −0.3; what is rounded to zero is 0."""
    return f"{x:+.1f}".replace("-", "−") if round(x, 1) else "0"
