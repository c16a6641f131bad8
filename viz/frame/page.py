"""What a page is: a module of viz.pages with a name, an icon, needs, and what draws it."""

from collections.abc import Callable
from typing import Protocol

from viz.frame.view import View


class Page(Protocol):
    """A module of viz.pages. It may also have the function `checks`.

    `checks(view)` gives what the page adds to the checks of the run. `NEEDS` are words of
    `offers.REASONS`. One whose instrument fills a screen has `OPENS_INSPECTOR = False`.
    """

    render: Callable[[View], None]

    @property
    def TITLE(self) -> str:  # noqa: N802  a constant of the module
        """Its name, in the rail and in the address."""
        ...

    @property
    def ICON(self) -> str:  # noqa: N802
        """The icon beside its name."""
        ...

    @property
    def NEEDS(self) -> tuple[str, ...]:  # noqa: N802
        """What a model must offer for it."""
        ...
