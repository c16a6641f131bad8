"""Words and tokens on the page, as HTML of our own; a person's text is only ever text in it."""

import html
from collections.abc import Sequence

import numpy as np
import streamlit as st

from model.verify.check import Check
from viz.figures.labels import token_labels, visible


def notice(text: str, kind: str = "note") -> None:
    """One plain line to the person; `kind` is note, hint or error. The text is no markup."""
    role = "alert" if kind == "error" else "status"
    st.html(f'<p class="hl-{kind}" role="{role}">{html.escape(text)}</p>')


def written(prompt: str, continuation: str) -> None:
    """The sentence and, set apart, what the model wrote behind it."""
    st.html(
        f'<p class="hl-written"><span>{html.escape(prompt)}</span>'
        f"<mark>{html.escape(continuation)}</mark></p>"
    )


def token_strip(
    tokens: Sequence[str],
    probabilities: np.ndarray,
    *,
    numbers: bool = False,
    marked: int | None = None,
) -> None:
    """The sentence's tokens, each underlined by the probability the model gave it.

    `numbers` writes the probability below each token; `marked` is the token to frame.
    """
    pieces = []
    for number, (label, probability) in enumerate(
        zip(token_labels(tokens), probabilities, strict=True)
    ):
        known = bool(np.isfinite(probability))
        title = f"token {number}: " + (f"p = {probability:.4f}" if known else "nothing before it")
        share = 100 * probability if known else 0
        below = f"<small>{_short(probability)}</small>" if numbers else ""
        css_class = "hl-token hl-marked" if number == marked else "hl-token"
        pieces.append(
            f'<span class="{css_class}" title="{title}" style="--share:{share:.0f}%">'
            f"<bdi>{html.escape(label)}</bdi>{below}</span>"
        )
    legend = f'<span class="hl-legend">{_legend(token_labels(tokens))}</span>'
    inside = "".join([*pieces, legend])
    st.html(f'<div class="hl-strip" tabindex="0" role="group" aria-label="Tokens">{inside}</div>')


def pair(tokens: Sequence[str], query: int, key: int, text: str) -> None:
    """A line about one query and one key; `text` is ours, the tokens are a person's."""
    labels = token_labels(tokens)
    line(f"{html.escape(text)} {_chip(labels[query])} reads {_chip(labels[key])}")


def words(what: str, tokens: Sequence[str]) -> None:
    """Tokens in a row behind a word or two of ours."""
    chips = "".join(map(_chip, token_labels(tokens)))
    st.html(
        f'<div class="hl-strip"><span class="hl-legend">{html.escape(what)}</span>{chips}</div>'
    )


def lessons(inputs: Sequence[str], targets: Sequence[str], probabilities: np.ndarray) -> None:
    """What goes in at each position, what should come out, and how likely the model found it."""
    columns = [
        f'<span class="hl-lesson"><small>{number}</small>{_chip(read)}'
        f'<span aria-hidden="true">↓</span>{_chip(said)}<small>{_short(probability)}</small></span>'
        for number, (read, said, probability) in enumerate(
            zip(token_labels(inputs), token_labels(targets), probabilities, strict=True)
        )
    ]
    legend = (
        '<span class="hl-lesson hl-legend"><small>position</small><span>input</span><span></span>'
        "<span>target</span><small>p of the target</small></span>"
    )
    inside = "".join([legend, *columns])
    st.html(
        '<div class="hl-strip hl-lessons" tabindex="0" role="group" '
        f'aria-label="Inputs and targets">{inside}</div>'
    )


def token_line(text: str, token: str) -> None:
    """A line about one token; `text` is ours."""
    line(f"{html.escape(text)} {_chip(visible(token))}")


def identities(checks: Sequence[Check]) -> None:
    """Promises of a scheme, each with the worst error measured in this run. The names are ours."""
    for item in checks:
        verdict = "holds" if item.passed else "FAILS"
        allowed = f"{item.bound:.0e}" if item.bound else "0"
        kind = "good" if item.passed else "error"
        st.html(
            f'<p class="hl-{kind}" role="status">{html.escape(item.name)}: worst error '
            f"<b>{item.error:.1e}</b>, allowed {allowed}: <b>{verdict}</b></p>"
        )


def line(inner_html: str) -> None:
    """A line in the middle; what is a person's in it must be escaped."""
    st.html(f'<p class="hl-pair">{inner_html}</p>')


def _chip(label: str) -> str:
    return f'<span class="hl-token"><bdi>{html.escape(label)}</bdi></span>'


def _legend(labels: Sequence[str]) -> str:
    """What the bars and the signs in these labels mean."""
    signs = {
        "…": "… continues a word",
        "␣": "␣ is a space",
        "⏎": "⏎ is a line break",
        "·1/": "·1/2 is a part of a character",
    }
    used = [words for sign, words in signs.items() if any(sign in label for label in labels)]
    return "; ".join(["bar: the probability the model gave the token", *used])


def _short(probability: float) -> str:
    """A probability in five characters; the first token has none."""
    if not np.isfinite(probability):
        return "–"
    return "&lt;.001" if probability < 0.001 else f"{probability:.3f}"
