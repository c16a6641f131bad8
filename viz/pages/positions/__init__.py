"""Positions: what each scheme does to a model that runs, one tab per scheme, and a comparison."""

from collections.abc import Callable, Sequence

from model.verify.check import Check
from viz.frame import bar, controls, layout, notices, state, words
from viz.frame.settings import COMPARE
from viz.frame.view import View
from viz.pages.positions import alibi, compare, learned, none, rope, sinusoidal
from viz.runs import positions

TITLE = "Positions"
ICON = ":material/waves:"
NEEDS = ("decoder", "text", "residuals")

COMPARISON = "compare"
TABS: dict[str, str] = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "none": "None",
    COMPARISON: "Compare",
}
DRAW: dict[str, Callable[[View], None]] = {
    "sinusoidal": sinusoidal.draw,
    "learned": learned.draw,
    "rope": rope.draw,
    "alibi": alibi.draw,
    "none": none.draw,
    COMPARISON: compare.draw,
}


def checks(view: View) -> Sequence[Check]:
    """The properties of the model's position scheme."""
    return positions.checks(view.handle, view.sentence)


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "Attention alone cannot tell the order of tokens; a position scheme must. Five small "
        "models differ in nothing else: same data, same seed, same steps. Choose a scheme and its "
        "model runs on your sentence.",
    )
    tab = _scheme_picker(view)
    if tab != COMPARISON and view.handle not in positions.family(view.handle.device).values():
        config = view.config
        words.notice(
            f"This is {view.model}, {config.n_layers} layers × {config.n_heads} heads, which is "
            "none of them: choose a positions-… model above for one that compares with the others."
        )
    DRAW[tab](view)


def _scheme_picker(view: View) -> str:
    """The scheme of the model that runs, or the comparison; another scheme runs its model."""
    scheme, family = view.config.position, positions.family(view.handle.device)
    is_comparing = state.value(COMPARE)
    notices.show()

    def open_tab(chosen: str) -> None:
        state.put((COMPARE, chosen == COMPARISON))
        if chosen not in (COMPARISON, scheme):
            bar.switch_model(family[chosen].name)

    offered = {
        tab: name for tab, name in TABS.items() if tab in family or tab in (COMPARISON, scheme)
    }
    shown = COMPARISON if is_comparing else scheme
    return controls.tabs("Scheme", "scheme", offered, shown, open_tab)
