"""Words and tokens on the page, as HTML of our own; a person's text is only ever text in it."""

import html
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat, zip_longest

import streamlit as st

from model.lines import one_line
from viz.frame.said import Said, Word, html_of
from viz.kit.wire import SPECIAL
from viz.labels import token_labels


def notice(text: Said, kind: str = "note") -> None:
    """One plain line to the person; `kind` is note, hint or error. The text is no markup."""
    role = "alert" if kind == "error" else "status"
    inside = html_of(one_line(text) if isinstance(text, str) else text)
    st.html(f'<p class="hl-{kind}" role="{role}">{inside}</p>')


# The line stands after what is drawn by now, and over what is there from before. These rules come
# and go with it: in the style sheet they would be asked at every change, 0.3 s for each page.
IN_PLACE = (
    "<style>.st-key-page > :has(> .st-key-working) { order: 1; } "
    '.st-key-page > :has([data-stale="true"]) { order: 2; }</style>'
)


def working_out(what: str, *, is_other: bool) -> str:
    """A line over the page; where what stands there is of another one, it is pale meanwhile."""
    other = " hl-other" * is_other
    return f'<p class="hl-working{other}" role="status">{html.escape(what)}</p>{IN_PLACE}'


def paragraph(text: Said) -> None:
    """A line of the page's own size. The text is no markup."""
    st.html(f'<p class="hl-plain" translate="yes">{html_of(text)}</p>')


def caption(text: Said) -> None:
    """A small line below what it is of. The text is no markup."""
    st.html(f'<p class="hl-aside" translate="yes">{html_of(text)}</p>')


def how_far(text: str) -> None:
    """How far a long computation has come, as a small line of its bar."""
    line = f'<span class="hl-how-far">{html_of(text)}</span>'
    st.html(f'<p class="hl-aside" translate="yes">{line}</p>')


def table(
    columns: Mapping[str, Sequence[Said]],
    texts: Collection[str] = (),
    heads: Mapping[str, Said] | None = None,
) -> None:
    """Columns by their names, the first of them the names of the rows. All are our own words.

    `texts` are columns of words, which begin at the left as the first does. `heads` are what stands
    above columns that have more than their names there.
    """
    kinds = [' class="hl-text"' if name in texts else "" for name in columns]
    names = zip(kinds, columns, strict=True)
    above = heads or {}
    head = "".join(f"<th{kind}>{html_of(above.get(name, name))}</th>" for kind, name in names)
    body = "".join(
        f"<tr>{''.join(f'<td{k}>{html_of(x)}</td>' for k, x in zip(kinds, row, strict=True))}</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    st.html(
        '<div class="hl-scrolls" tabindex="0" role="group" aria-label="Table"><table '
        f'class="hl-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def quote(text: str, translation: str = "") -> None:
    """A text of a file, and its translation; plain text both."""
    more = f"<br>{html.escape(translation)}" if translation else ""
    st.html(f'<blockquote class="hl-quote">{html.escape(text)}{more}</blockquote>')


def claims(pairs: Sequence[tuple[Said, Said]]) -> None:
    """What is said, and below it what the numbers say of it. All are our own words."""
    parts = (f"<div><dt>{html_of(a)}</dt><dd>{html_of(b)}</dd></div>" for a, b in pairs)
    st.html(f'<dl class="hl-claims" translate="yes">{"".join(parts)}</dl>')


def findings(items: Sequence[tuple[Said, Said, str]]) -> None:
    """A list: what was found, what the numbers say of it, and the address it is opened at."""
    parts = (
        f'<li><a href="{html.escape(address)}">{html_of(title)}</a><p>{html_of(said)}</p></li>'
        for title, said, address in items
    )
    st.html(f'<ol class="hl-findings" translate="yes">{"".join(parts)}</ol>')


def continued(prompt: str, continuation: str) -> None:
    """The sentence and, set apart, how the model continued it."""
    st.html(
        f'<p class="hl-written"><span>{html.escape(prompt)}</span>'
        f"<mark>{html.escape(continuation)}</mark></p>"
    )


@dataclass(frozen=True)
class Way:
    """A title and a line; a link to a page with all else as it is, or to an address, or steps.

    `steps` are what to do and what to type for it, unfolded at a click.
    """

    title: Said
    text: Said
    page: str = ""
    query: str = ""
    steps: tuple[tuple[str, str], ...] = ()


def ways(to: Iterable[Way]) -> None:
    """Links on to other views, side by side."""
    links = "".join(map(_way, to))
    st.html(f'<nav class="hl-ways" aria-label="Ways on">{links}</nav>')


def _way(way: Way) -> str:
    page, query = html.escape(way.page), html.escape(way.query)
    inside = f"<b>{html_of(way.title)}</b><span>{html_of(way.text)}</span>"
    if page:
        return f'<a class="hl-way" href="?page={page}" data-page="{page}">{inside}</a>'
    if query:
        return f'<a class="hl-way" href="{query}">{inside}</a>'
    steps = "".join(
        f"<li>{html.escape(what)}<code>{html.escape(typed)}</code></li>"
        for what, typed in way.steps
    )
    return f'<details class="hl-way"><summary>{inside}</summary><ol>{steps}</ol></details>'


def pair(query: str | Word, key: str | Word, text: str) -> None:
    """A line about one query and one key by their labels; `text` is ours, the labels a person's."""
    centred(f"{html.escape(text)} {_chip(query)} attends to {_chip(key)}")


def token_row(what: str, tokens: Sequence[str]) -> None:
    """Tokens in a row after a word or two of ours."""
    chips = "".join(map(_chip, token_labels(tokens)))
    st.html(
        f'<div class="hl-strip"><span class="hl-legend">{html.escape(what)}</span>{chips}</div>'
    )


def training_targets(
    inputs: Sequence[str], targets: Sequence[str], probabilities: Sequence[str]
) -> None:
    """The input at each position, its target, and the probability predicted for it."""
    legend = (
        "<small>position</small><span>input</span><span></span><span>target</span>"
        "<small>p of the target</small>"
    )
    columns = zip(token_labels(inputs), token_labels(targets), probabilities, strict=True)
    inside = (
        f'<small>{number}</small>{_chip(given)}<span aria-hidden="true">↓</span>{_chip(wanted)}'
        f"<small>{html_of(probability)}</small>"
        for number, (given, wanted, probability) in enumerate(columns)
    )
    _columns("Inputs and targets", legend, inside)


def token_pairs(names: tuple[str, str], first: Sequence[str], second: Sequence[str]) -> None:
    """Two rows of tokens below each other; where they differ both are framed."""
    legend = "".join(f"<span>{html.escape(name)}</span>" for name in names)
    differs = [one != other for one, other in zip_longest(first, second)]
    rows = [map(_chip, token_labels(tokens), differs) for tokens in (first, second)]
    columns = zip_longest(*rows, fillvalue="<span></span>")
    _columns("Tokens of both sentences", legend, map("".join, columns))


def token_cards(
    tokens: Sequence[str],
    rows: Mapping[str, Sequence[Said]],
    titles: Sequence[str],
    looks: Sequence[str] | None = None,
) -> None:
    """Each token with facts below it, and what its card says on hover; our own words only.

    `looks` are those of `stream_looks`.
    """
    legend = "<span>token</span>" + "".join(f"<small>{html.escape(name)}</small>" for name in rows)
    looks = looks or [""] * len(tokens)
    cards = (
        _chip(label, look=look) + "".join(f"<small>{html_of(value)}</small>" for value in values)
        for label, look, *values in zip(token_labels(tokens), looks, *rows.values(), strict=True)
    )
    said = (["special token" if x == SPECIAL else x for x in look.split()] for look in looks)
    seen = [", ".join([title, *look]) for title, look in zip(titles, said, strict=True)]
    _columns("Every token", legend, cards, seen, "cards")


def _columns(
    name: str,
    legend: str,
    columns: Iterable[str],
    titles: Sequence[str] = (),
    kind: str = "targets",
) -> None:
    """Tokens side by side, each with what stands above and below it, as HTML of our own."""
    cells = (
        f'<span class="hl-target" title="{html.escape(title)}">{column}</span>'
        for title, column in zip(titles or repeat(""), columns, strict=False)
    )
    st.html(
        f'<div class="hl-strip hl-{kind}" tabindex="0" role="group" aria-label="{name}">'
        f'<span class="hl-target hl-legend">{legend}</span>{"".join(cells)}</div>'
    )


def facts(pairs: Sequence[tuple[Said, Said]]) -> None:
    """Numbers side by side, each above what it counts. All are our own words."""
    columns = (
        f"<div><dt>{html_of(name)}</dt><dd>{html_of(value)}</dd></div>" for value, name in pairs
    )
    st.html(f'<dl class="hl-facts">{"".join(columns)}</dl>')


def merge_line(text: str, left: str, right: str, made: str) -> None:
    """A line about one merge; `text` is ours, the three labels a person's."""
    centred(f"{html.escape(text)} {_chip(left)} + {_chip(right)} → {_chip(made)}")


def token_line(text: Said, label: str | Word) -> None:
    """A line about one token by its label; `text` is ours."""
    centred(f"{html_of(text)} {_chip(label)}")


def passed_over(query: int, key: int) -> str:
    """What was left out where a head's strongest pair was looked for, see `strongest_pair`."""
    return " (first token and self left out)" if key not in (0, query) else ""


def centred(inner_html: str) -> None:
    """A line in the middle; what is a person's in it must be escaped."""
    st.html(f'<p class="hl-pair">{inner_html}</p>')


def _chip(label: str | Word, is_marked: bool = False, look: str = "") -> str:
    is_so = ["marked"] * is_marked + [x if x == SPECIAL else f"by-{x}" for x in look.split()]
    css_class = " ".join(["hl-token", *(f"hl-{name}" for name in is_so)])
    inside = html_of(Word(label) if isinstance(label, str) else label)
    return f'<span class="{css_class}">{inside}</span>'
