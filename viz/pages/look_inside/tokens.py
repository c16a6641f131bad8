"""Tokens: the bytes of the sentence, the merges that join them, and the tokens they become."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import streamlit as st

from model.analysis.counts import Counts, by_script, count, single_bytes
from model.analysis.merges import Node, PreToken, walk
from model.data.tokenizer import UNKNOWN
from model.lines import quoted
from model.verify.check import Check
from viz import runs
from viz.figures.merges import drawable, label_of, merge_trees, n_bytes
from viz.formulas.parts import merge_with_numbers
from viz.frame import controls, inspector, layout, notices, tables, words
from viz.frame.page import Page
from viz.frame.said import Said
from viz.frame.settings import PRE_TOKEN
from viz.frame.view import View
from viz.kit.wire import stream_looks
from viz.labels import clipped, visible
from viz.runs import tokens as token_runs

if TYPE_CHECKING:
    import pandas as pd


MANY_PIECES = 0.5  # of the bytes per token of held-out text
LEAST_MERGED = 1.5  # bytes per token, where no held-out text is known: most are single bytes
MOST_SCRIPTS = 3
LABEL_CHARACTERS = 20
LOOKED_UP = "A text becomes tokens: pieces that its vocabulary has, by the tokenizer’s own rules."
MORE_OF_MERGES = (
    "The text is first split into pre-tokens: words with the space before them, numbers, "
    "punctuation. Merges never cross their borders. In each, the pair of neighbours of lowest "
    "rank is joined, again and again, until no pair is in the tokenizer's list. #1 is the "
    "merge learnt first, of the pair most frequent in the text the tokenizer was made from. "
    "A space may be put before the first word, which makes it the token it is elsewhere."
)
WIDTHS = (16, 36, 54)  # bytes from which on a figure needs more room; see page.css


@dataclass(frozen=True, eq=False)
class Reading:
    """The sentence as the tokenizer cuts it, as far as the model was given it.

    `n_rules` merges the tokenizer has, None where it is made of other pieces.
    """

    view: View
    strings: tuple[str, ...]
    ids: tuple[int, ...]
    n_rules: int | None
    forest: tuple[PreToken, ...]
    held_out: dict[str, float]
    looks: list[str] | None

    @cached_property
    def tokens(self) -> list[Node]:
        """Every token."""
        return [token for pre_token in self.forest for token in pre_token]

    @property
    def drawn(self) -> list[int]:
        """The numbers of the pre-tokens that have bytes: others stand around the text."""
        return [number for number, one in enumerate(self.forest) if n_bytes([one])]

    @cached_property
    def counts(self) -> Counts:
        """Sizes of what the model was given: as our tokenizer has it, else as it was typed."""
        view = self.view
        text = view.run.reads if "weights" in view.offers else None
        text = text or runs.tokenizer(view.handle).plain_text(view.given)
        if view.run.n_cut:
            kept = runs.tokenizer(view.handle).decode(self.ids).rstrip(UNKNOWN)
            text = kept if text.startswith(" ") else kept.removeprefix(" ")
        return count(text, len(self.tokens))

    @property
    def few(self) -> float:
        """Fewer bytes per token than this are many pieces: half of what held-out text has."""
        return MANY_PIECES * min(self.held_out.values()) if self.held_out else LEAST_MERGED

    @property
    def falls_apart(self) -> bool:
        """Whether some pre-token is in pieces, and the text has few bytes per token."""
        is_cut = any(len(pre_token) > 1 for pre_token in self.forest)
        return is_cut and self.counts.bytes_per_token < self.few


def render(view: View) -> None:
    """Draw the page."""
    reading = _reading(view)
    chosen = _controls(reading)
    drawn = _drawn(reading, chosen)
    if view.run.reads is not None:
        words.notice(f"The tokenizer reads the sentence as “{quoted(view.run.reads)}”")
    if reading.n_rules is None:
        kind = runs.tokenizer(view.handle).kind
        words.notice(
            f"This tokenizer ({kind}) does not make the whole text of merges of bytes alone, so "
            "there is no tree to draw."
        )
    elif reading.drawn:
        _trees(reading, chosen, drawn)
    _note(reading)
    _cards(reading)
    if reading.n_rules is not None:
        _formulas(drawn, reading.n_rules)
    inspector.source("model.analysis.merges.merged")
    inspector.export(view, _tables(reading), has_charts=reading.n_rules is not None)


def _said(view: View) -> tuple[str, str]:
    if token_runs.merges(view.handle) is None:
        return LOOKED_UP, ""
    return PAGE.line, MORE_OF_MERGES


def checks(view: View) -> Sequence[Check]:
    """What the trees are compared with: the tokenizer's file, the sentence, the model's ids."""
    if token_runs.merges(view.handle) is None:
        return ()
    return token_runs.checks(view.handle, view.given, _given(view)[1])


def _given(view: View) -> tuple[tuple[str, ...], tuple[int, ...], list[str] | None]:
    """Strings, ids, looks: of an encoder with nothing hidden, of a translation of its source."""
    run = view.run
    if len(run.trace.streams) == 1:
        run = runs.run(view.handle, view.given)
    first = run.trace.streams[0]
    assert first.ids is not None, "the page is for text"
    ends = len(run.trace.streams) > 1 and "weights" in view.offers  # with a token of no text
    n = len(first) - ends
    looks = stream_looks(first)
    return first.labels[:n], tuple(first.ids[:n].tolist()), looks and looks[:n]


def _reading(view: View) -> Reading:
    strings, ids, looks = _given(view)
    merges = token_runs.merges(view.handle)
    n_rules = None if merges is None else len(merges.rules)
    forest = token_runs.forest(view.handle, view.given, len(ids))
    return Reading(view, strings, ids, n_rules, forest, _held_out(view), looks)


def _held_out(view: View) -> dict[str, float]:
    """Bytes per token of held-out text; none and a word where the log of training is broken."""
    try:
        return token_runs.held_out(view.handle)
    except ValueError as error:
        notices.add(str(error))
        return {}


def _controls(reading: Reading) -> int:
    """The pre-token that is drawn, −1 for all; beside it the sizes of the text."""
    forest, drawn = reading.forest, reading.drawn  # the names of options are kept, and no run
    fits = n_bytes(_drawn(reading, -1)) == n_bytes(forest)

    def name(number: int) -> str:
        if number < 0:
            return f"all {len(drawn)}" if fits else "from the start"
        label = label_of(*forest[number])
        return f"{number}: {clipped(label, LABEL_CHARACTERS)}"

    with layout.row("tokens"):
        setting = PRE_TOKEN.given(options=[-1, *drawn], words=name)
        chosen = -1 if reading.n_rules is None else controls.select(setting, width=200)
        words.facts(_facts(reading))
    return chosen


def _facts(reading: Reading) -> list[tuple[Said, str]]:
    counts, context = reading.counts, reading.view.run.trace.facts.max_seq_len
    fertility = "–" if counts.tokens_per_word is None else f"{counts.tokens_per_word:.2f}"
    sizes = {"character": counts.characters, "byte": counts.bytes, "word": counts.words}
    tokens = f"{counts.tokens:,}"
    ratios = sorted(reading.held_out.values())
    held_out = "–".join(dict.fromkeys(f"{ratio:.2f}" for ratio in (*ratios[:1], *ratios[-1:])))
    return [
        *((f"{n:,}", noun if n == 1 else f"{noun}s") for noun, n in sizes.items()),
        (f"{tokens} / {context:,}", "tokens / context") if context else (tokens, "tokens"),
        (fertility, "tokens per word"),
        (f"{counts.bytes_per_token:.2f}", "bytes per token"),
        *([(held_out, "on held-out text")] if held_out else []),
    ]


def _drawn(reading: Reading, chosen: int) -> list[PreToken]:
    """The pre-tokens that are chosen, as far as there is room."""
    return drawable([reading.forest[i] for i in (reading.drawn if chosen < 0 else [chosen])])


def _trees(reading: Reading, chosen: int, drawn: list[PreToken]) -> None:
    is_one = chosen >= 0 or len(reading.drawn) == 1
    wanted = n_bytes(reading.forest if chosen < 0 else [reading.forest[chosen]])
    if n_bytes(drawn) < wanted:
        words.notice(
            f"The first {n_bytes(drawn)} of {wanted:,} bytes are drawn; "
            + ("all are in the cards." if is_one else "choose a pre-token to see another.")
        )
    made = [token for pre_token in drawn for token in pre_token]
    n_merges = sum(token.n_merges for token in made)
    first = sum(map(len, reading.forest[: reading.drawn[0] if chosen < 0 else chosen]))
    with st.container(key=f"trees-{bisect_left(WIDTHS, n_bytes(drawn))}"):
        layout.show_figure(
            merge_trees(drawn, first, reading.n_rules or 0, reading.view.colors),
            key="merges",
            alt=f"Trees of {n_merges} merges: {n_bytes(drawn)} bytes become {len(made)} tokens, "
            f"{', '.join(map(label_of, made))}",
        )
    if len(reading.drawn) < len(reading.forest):
        words.caption("Tokens of 0 bytes are special: they stand for no bytes of a text.")


def _note(reading: Reading) -> None:
    """A word where the text falls into many pieces, with the numbers that say so."""
    counts, held_out = reading.counts, reading.held_out
    if not reading.falls_apart:
        return
    said = f"This text falls into many pieces: {counts.bytes_per_token:.2f} bytes per token"
    if held_out:
        name = min(held_out, key=lambda name: held_out[name])
        said += f", against {held_out[name]:.2f} in {name}, held out from the training"
    lines = [said, _of_single_bytes(*single_bytes(reading.forest), counts.tokens)]
    lines += [
        f"{share.script}: {share.bytes} bytes in {share.tokens} tokens"
        for share in by_script(reading.forest)[:MOST_SCRIPTS]
        if share.bytes < reading.few * share.tokens
    ]
    lines.append(
        "Merges are learnt from frequent pairs, so such text was rare where this tokenizer was "
        "made; expect little of the model on it"
    )
    words.notice(". ".join(lines) + ".")


def _of_single_bytes(n: int, n_parts: int, n_tokens: int) -> str:
    """How many tokens are one byte, and what such a byte is: a letter of English is all of one."""
    said = f"{n} of {n_tokens} tokens {'is a single byte' if n == 1 else 'are single bytes'}"
    if not n:
        return said
    if 0 < n_parts < n:
        part = "a part of a character" if n_parts == 1 else "parts of characters"
        return f"{said}, {n_parts} of them {part}"
    return f"{said}, {'each ' if n > 1 else ''}a {'part of a ' if n_parts else ''}character"


def _cards(reading: Reading) -> None:
    """Every token with its id and how it was made: its bytes, or where there are words its text."""
    made = reading.tokens
    rows = {"id": [str(token.id) for token in made]}
    if runs.tokenizer(reading.view.handle).is_byte_level:
        rows["bytes"] = [str(len(token.bytes)) for token in made]
    else:
        rows["spelled"] = [visible(token.bytes.decode()) for token in made]
    if reading.n_rules is not None:
        rows["merges"] = [str(token.n_merges) for token in made]
        ranks = (token.rank for token in made)
        rows["last merge"] = ["–" if rank is None else f"#{rank + 1}" for rank in ranks]
    titles = [f"token {i}: bytes {token.bytes.hex(' ')}" for i, token in enumerate(made)]
    words.token_cards(reading.strings, rows, titles, reading.looks)


def _formulas(drawn: list[PreToken], n_rules: int) -> None:
    """How merging goes, and with numbers the merge that was learnt last of those drawn."""
    name = "model.analysis.merges.merged"
    inspector.formula(name)
    tokens = [token for pre_token in drawn for token in pre_token]
    ranks = {node.rank: node for node in walk(tokens) if node.rank is not None}
    if not ranks:
        inspector.note("No merge applies to what is drawn.")
        return
    rank = max(ranks)
    node = ranks[rank]
    left, right = node.parts
    labels = [label_of(one) for one in (left, right, node)]
    inspector.beside_formula(lambda: words.merge_line("Of the merges drawn, learnt last:", *labels))
    inspector.formula(name, merge_with_numbers((left.id, right.id), node.id, rank + 1, n_rules))


def _tables(reading: Reading) -> inspector.Tables:
    made: inspector.Tables = {"Tokens": lambda: _tokens_csv(reading)}
    return made if reading.n_rules is None else made | {"Merges": lambda: _merges_csv(reading)}


def _tokens_csv(reading: Reading) -> bytes:
    """One line for each token; ranks count from 1 and are empty where no merge made it."""
    pre_tokens = [number for number, x in enumerate(reading.forest) for _ in x]
    made = reading.tokens
    return tables.csv(
        {
            "position": range(len(made)),
            "token": [visible(token) for token in reading.strings],
            "id": [token.id for token in made],
            "pre_token": pre_tokens,
            "bytes": [token.bytes.hex(" ") for token in made],
            "n_bytes": [len(token.bytes) for token in made],
            "merges": [token.n_merges for token in made],
            "rank_of_last_merge": _ranks(made),
        }
    )


def _merges_csv(reading: Reading) -> bytes:
    """One line for each merge, in the order in which they were made in each pre-token."""
    made = [
        (number, node)
        for number, pre_token in enumerate(reading.forest)
        for node in sorted(walk(pre_token), key=lambda node: node.order or 0)
        if node.parts
    ]
    return tables.csv(
        {
            "pre_token": [number for number, _ in made],
            "order": [node.order for _, node in made],
            "left": [label_of(node.parts[0]) for _, node in made],
            "left_id": [node.parts[0].id for _, node in made],
            "right": [label_of(node.parts[1]) for _, node in made],
            "right_id": [node.parts[1].id for _, node in made],
            "made": [label_of(node) for _, node in made],
            "id": [node.id for _, node in made],
            "rank": _ranks([node for _, node in made]),
        }
    )


def _ranks(nodes: Sequence[Node]) -> "pd.Series":
    """Ranks from 1, empty where no merge made a node."""
    return tables.whole_numbers([None if x.rank is None else x.rank + 1 for x in nodes])


PAGE = Page(
    "Tokens",
    ":material/account_tree:",
    "A text becomes tokens: its bytes are joined by merges, the earliest learnt first.",
    "",
    render,
    said=_said,
    needs=("vocabulary", "text"),
    checks=checks,
)
