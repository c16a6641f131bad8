"""Tokens: the bytes of the sentence, the merges that join them, and the tokens they become."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import streamlit as st

from model.analysis.counts import Counts, by_script, count, n_single_bytes
from model.analysis.merges import Node, PreToken, walk
from model.data.tokenizer import UNKNOWN, Merges
from model.lines import quoted
from model.verify.check import Check
from viz import runs
from viz.figures.merges import drawable, label_of, merge_trees, n_bytes
from viz.formulas import merge_with_numbers
from viz.frame import controls, inspector, layout, notices, tables, words
from viz.frame.page import Page
from viz.frame.said import Said
from viz.frame.settings import PRE_TOKEN
from viz.frame.view import View
from viz.labels import clipped, visible
from viz.runs import Run
from viz.runs import tokens as token_runs

if TYPE_CHECKING:
    import pandas as pd


MANY_PIECES = 0.5  # of the bytes per token of held-out text
LEAST_MERGED = 1.5  # bytes per token, where no held-out text is known: most are single bytes
MOST_SCRIPTS = 3
LABEL_CHARACTERS = 20
HOW_MERGED = "its bytes are joined by merges, the earliest learnt first"
HOW_LOOKED_UP = "pieces that its vocabulary has, by the tokenizer’s own rules"
MORE_OF_MERGES = (
    "The text is first split into pre-tokens: words with the space before them, numbers, "
    "punctuation. Merges never cross their borders. In each, the pair of neighbours of lowest "
    "rank is joined, again and again, until no pair is in the tokenizer's list. #1 is the "
    "merge learnt first, of the pair most frequent in the text the tokenizer was made from. "
    "A space may be put before the first word, which makes it the token it is elsewhere."
)
WIDTHS = (16, 36, 54)  # bytes from which on a figure needs more room; see page.css


@dataclass(frozen=True, eq=False)
class Given:
    """What was typed as the model was given it: the run, and its tokens, strings and ids."""

    run: Run
    strings: tuple[str, ...]
    ids: tuple[int, ...]


def given_of(view: View) -> Given:
    """What was typed: of an encoder with nothing hidden, of a translation the source."""
    run = view.run
    if len(run.trace.streams) == 1:
        run = runs.run(view.handle, view.sentence)
    first = run.trace.streams[0]
    assert first.ids is not None, "the page is for text"
    ends = len(run.trace.streams) > 1 and "weights" in view.offers  # with a token of no text
    n = len(first) - ends
    return Given(run, first.labels[:n], tuple(first.ids[:n].tolist()))


@dataclass(frozen=True, eq=False)
class Reading:
    """The sentence as the tokenizer cuts it, as far as the model was given it."""

    view: View
    given: Given
    merges: Merges | None
    forest: tuple[PreToken, ...]
    held_out: dict[str, float]

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
        """Sizes of what the model was given."""
        view, text = self.view, _text(self.view)
        if view.run.n_cut:
            kept = runs.tokenizer(view.handle).decode(self.given.ids).rstrip(UNKNOWN)
            text = kept if text.startswith(" ") else kept.removeprefix(" ")
        return count(text, len(self.tokens))

    @cached_property
    def n_single(self) -> int:
        """Tokens of a single byte where no merge joined it to its neighbours."""
        return n_single_bytes(self.forest)

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
    if view.run.reads is not None:
        words.notice(f"The tokenizer reads the sentence as “{quoted(view.run.reads)}”")
    if reading.merges is None:
        kind = runs.tokenizer(view.handle).kind
        words.notice(
            f"This tokenizer ({kind}) does not make the whole text of merges of bytes alone, so "
            "there is no tree to draw."
        )
    elif reading.drawn:
        _trees(reading, chosen, len(reading.merges.rules))
    _note(reading)
    _cards(reading)
    if reading.merges is not None:
        _formulas(reading, chosen, len(reading.merges.rules))
    inspector.source("model.analysis.merges.merged")
    has_charts = reading.merges is not None
    inspector.export(view, _tables(reading), has_charts=has_charts)


def _said(view: View) -> tuple[str, str]:
    if token_runs.merges(view.handle) is None:
        return f"A text becomes tokens: {HOW_LOOKED_UP}.", ""
    return PAGE.line, MORE_OF_MERGES


def checks(view: View) -> Sequence[Check]:
    """What the trees are compared with: the tokenizer's file, the sentence, the model's ids."""
    if token_runs.merges(view.handle) is None:
        return ()
    return token_runs.checks(view.handle, view.sentence, given_of(view).ids)


def _reading(view: View) -> Reading:
    handle, given = view.handle, given_of(view)
    forest = token_runs.forest(handle, view.sentence, len(given.ids))
    return Reading(view, given, token_runs.merges(handle), forest, _held_out(view))


def _text(view: View) -> str:
    """The whole sentence as a tokenizer of ours has it; of others as it was typed."""
    return (view.run.reads if "weights" in view.offers else None) or view.sentence


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
        chosen = controls.select(setting, width=200) if reading.merges else -1
        words.facts(_facts(reading))
    return chosen


def _facts(reading: Reading) -> list[tuple[Said, str]]:
    counts, context = reading.counts, reading.view.run.trace.facts.max_seq_len
    per_word = counts.tokens_per_word
    used = f"{counts.tokens:,}"
    fertility = "–" if per_word is None else f"{per_word:.2f}"
    sizes = {"character": counts.characters, "byte": counts.bytes, "word": counts.words}
    return [
        *((f"{n:,}", noun if n == 1 else f"{noun}s") for noun, n in sizes.items()),
        (
            f"{used} / {context:,}" if context else used,
            "tokens / context" if context else "tokens",
        ),
        (fertility, "tokens per word"),
        (f"{counts.bytes_per_token:.2f}", "bytes per token"),
        *_reference(reading),
    ]


def _reference(reading: Reading) -> list[tuple[Said, str]]:
    """Bytes per token of text held out from the training, from the least to the most."""
    if not reading.held_out:
        return []
    ratios = reading.held_out.values()
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return [(low if low == high else f"{low}–{high}", "on held-out text")]


def _drawn(reading: Reading, chosen: int) -> list[PreToken]:
    """The pre-tokens that are chosen, as far as there is room."""
    return drawable([reading.forest[i] for i in (reading.drawn if chosen < 0 else [chosen])])


def _trees(reading: Reading, chosen: int, n_rules: int) -> None:
    drawn = _drawn(reading, chosen)
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
            merge_trees(drawn, first, n_rules, reading.view.colors),
            key="merges",
            alt=f"Trees of {n_merges} merges: {n_bytes(drawn)} bytes become {len(made)} tokens, "
            f"{', '.join(map(label_of, made))}",
        )
    if len(reading.drawn) < len(reading.forest):
        words.caption("Tokens of 0 bytes are put around the text by the tokenizer.")


def _note(reading: Reading) -> None:
    """A word where the text falls into many pieces, with the numbers that say so."""
    counts, held_out = reading.counts, reading.held_out
    if not reading.falls_apart:
        return
    said = f"This text falls into many pieces: {counts.bytes_per_token:.2f} bytes per token"
    if held_out:
        name = min(held_out, key=lambda name: held_out[name])
        said += f", against {held_out[name]:.2f} in {name}, held out from the training"
    lines = [f"{said}. {reading.n_single} of {counts.tokens} tokens are single bytes"]
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


def _cards(reading: Reading) -> None:
    """Every token with its id and how it was made."""
    made = reading.tokens
    rows = {
        "id": [str(token.id) for token in made],
        **_of_what(reading),
    }
    if reading.merges is not None:
        rows |= {
            "merges": [str(token.n_merges) for token in made],
            "last merge": [_rank(token) for token in made],
        }
    titles = [f"token {i}: bytes {token.bytes.hex(' ')}" for i, token in enumerate(made)]
    words.token_cards(reading.given.strings, rows, titles)


def _of_what(reading: Reading) -> dict[str, list[str]]:
    """How many bytes a token is, or where a vocabulary has words how it spells them."""
    if runs.tokenizer(reading.view.handle).is_byte_level:
        return {"bytes": [str(len(token.bytes)) for token in reading.tokens]}
    return {"spelled": [visible(token.bytes.decode()) for token in reading.tokens]}


def _rank(node: Node) -> str:
    return "–" if node.rank is None else f"#{node.rank + 1}"


def _formulas(reading: Reading, chosen: int, n_rules: int) -> None:
    """How merging goes, and with numbers the merge that was learnt last of those drawn."""
    inspector.formula("model.analysis.merges.merged")
    drawn = [token for pre_token in _drawn(reading, chosen) for token in pre_token]
    made = [node for node in walk(drawn) if node.rank is not None]
    if not made:
        inspector.note("No merge applies to what is drawn.")
        return
    node = max(made, key=lambda node: node.rank or 0)
    left, right = node.parts
    labels = [label_of(one) for one in (left, right, node)]
    inspector.beside_formula(lambda: words.merge_line("Of the merges drawn, learnt last:", *labels))
    inspector.formula(
        "model.analysis.merges.merged",
        merge_with_numbers((left.id, right.id), node.id, (node.rank or 0) + 1, n_rules),
    )


def _tables(reading: Reading) -> inspector.Tables:
    made: inspector.Tables = {"Tokens": lambda: _tokens_csv(reading)}
    return made if reading.merges is None else made | {"Merges": lambda: _merges_csv(reading)}


def _tokens_csv(reading: Reading) -> bytes:
    """One line for each token; ranks count from 1 and are empty where no merge made it."""
    pre_tokens = [number for number, x in enumerate(reading.forest) for _ in x]
    made = reading.tokens
    return tables.csv(
        {
            "position": range(len(made)),
            "token": [visible(token) for token in reading.given.strings],
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
    f"A text becomes tokens: {HOW_MERGED}.",
    "",
    render,
    said=_said,
    needs=("vocabulary", "text"),
    checks=checks,
)
