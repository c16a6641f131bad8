"""What checks found, in lines and tables of the page; their names are ours."""

import html
from collections.abc import Sequence

import streamlit as st

from model.lines import one_line
from model.verify.check import Check, in_digits
from viz.frame.words import notice


def warning(what: str, why: str) -> None:
    """A line in the red of the badge: what is off, and in what. The texts are no markup."""
    said = f"<b>{html.escape(what)}</b> {html.escape(one_line(why))}"
    st.html(f'<p class="hl-warning" role="status">{said}</p>')


def check_line(passed: bool, text: str) -> None:
    """A quiet line for a check that passed, an alert for one that did not. The text is ours."""
    if passed:
        st.caption(f":material/verified: Check passed: {text}")
    else:
        notice(f"Check FAILED: {text}", kind="error")


def checks_table(checks: Sequence[Check]) -> None:
    """What each check found, those that failed first: max error, what is allowed, verdict.

    The names are ours.
    """
    rows = "".join(map(_check_row, sorted(checks, key=lambda one: one.passed)))
    head = "<tr><th>check</th><th>max error</th><th>allowed</th><th>verdict</th></tr>"
    st.html(f'<table class="hl-checks"><thead>{head}</thead><tbody>{rows}</tbody></table>')


def _check_row(item: Check) -> str:
    numbers = in_digits(item.error), in_digits(item.bound, 0)
    cells = (item.name, *numbers, "passed" if item.passed else "FAILED")
    fault = "" if item.passed else ' class="hl-failed"'
    return f"<tr{fault}>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"


def properties(checks: Sequence[Check]) -> None:
    """Properties of a scheme, each with the largest error of this run. The names are ours."""
    for item in checks:
        kind, verdict = ("good", "verified") if item.passed else ("error", "NOT verified")
        error, allowed = (in_digits(x, 0) for x in (item.error, item.bound))
        st.html(
            f'<p class="hl-{kind}" role="status">{html.escape(item.name)}: property '
            f"<b>{verdict}</b> (max error <b>{error}</b>, allowed {allowed})</p>"
        )
