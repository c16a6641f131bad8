"""What a page is: its name, what it is about, what it needs of a model, and what draws it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from model.verify.check import Check
from viz.frame.view import View


def _none(view: View) -> Sequence[Check]:
    return ()


@dataclass(frozen=True)
class Page:
    """One page, which its module makes.

    `line` is what is seen, in one line, and `more` stands behind a "?" beside it; where both depend
    on the view, `said` gives them. `needs` are words of `offers.REASONS`. `checks` gives what the
    page adds to the checks of the run. What it shows itself, heads or tokens, the bar leaves out;
    an instrument that fills a screen does not open the inspector.
    """

    title: str  # in the rail and in the address
    icon: str
    line: str
    more: str
    render: Callable[[View], None]
    said: Callable[[View], tuple[str, str]] | None = None
    needs: tuple[str, ...] = ()
    checks: Callable[[View], Sequence[Check]] = _none
    shows_heads: bool = False
    shows_tokens: bool = False
    opens_inspector: bool = True
    takes_caret: bool = False
    headline: str = ""  # where it is not its title
