"""One planted fault, as data."""

from dataclasses import dataclass, field

SELF_CHECK, BROWSER = "self-check", "browser"


@dataclass(frozen=True)
class Fault:
    """One fault: `old` becomes `new` in a file.

    `named` is a word of the array, figure or number that whoever notices must name. `seen_on` is a
    page, "" where the run's own check is asked; `query` is what else its address says, `then` a
    sentence that is typed once the page is drawn, `press` a button that is pressed then.
    """

    layer: str
    name: str
    file: str
    old: str
    new: str
    named: str
    model: str = "stories"
    seen_on: str = ""
    query: dict[str, str] = field(default_factory=dict)
    then: str = ""
    press: str = ""

    @property
    def probe(self) -> str:
        """Who is asked: the run's own check, or a page in the browser."""
        return BROWSER if self.seen_on else SELF_CHECK
