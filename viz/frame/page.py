"""What a page is: its name, what it is about, what it needs of a model, and what draws it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from model.verify.check import Check
from viz.frame.said import Said
from viz.frame.view import View

# What a figure says of itself, by the names its words have for it; None is what there is not.
Numbers = Mapping[str, Said | None]


def _none(view: View) -> Sequence[Check]:
    return ()


@dataclass(frozen=True)
class Page:
    """One page, which its module makes.

    `line` is what is seen, in one line, and `more` stands behind a "?" beside it; where both depend
    on the view, `said` gives them. `needs` are words of `offers.REASONS`. `checks` gives what the
    page adds to the checks of the run. What it shows itself, heads or tokens, the bar leaves out;
    where neither sentence nor model changes what it shows, `has_bar` is False. What is `under_way`
    on it the rail says beside its name; an instrument that fills a screen does not open the
    inspector. A page draws what it shows by `render`, or has `scenes`, by their names in the
    address: one figure each, whose words stand in a file of assets/lessons, beside it or, of those
    that are `wide`, above it; `needs_two` are those for which one token is too few; `source` names
    the functions that computed them. One whose scenes depend on the view `is_in_scenes`, too.
    """

    title: str  # in the rail and in the address
    icon: str
    line: str
    more: str = ""
    render: Callable[[View], None] | None = None
    said: Callable[[View], tuple[str, str]] | None = None
    needs: tuple[str, ...] = ()
    checks: Callable[[View], Sequence[Check]] = _none
    shows_heads: bool = False
    shows_tokens: bool = False
    opens_inspector: bool = True
    takes_caret: bool = False
    has_bar: bool = True
    under_way: Callable[[], str] = str  # nothing
    headline: str = ""  # where it is not its title
    scenes: Mapping[str, Callable[[View], Numbers]] = field(default_factory=dict)
    wide: tuple[str, ...] = ()
    needs_two: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    is_in_scenes: bool = False

    @property
    def has_scenes(self) -> bool:
        """Whether it says itself what a step of a lesson says of it."""
        return bool(self.scenes) or self.is_in_scenes
