"""Which head a page is about: its group where there are several, its layer and its number."""

from viz.frame import controls, state
from viz.frame.examples import examples
from viz.frame.settings import HEAD, HEAD_GROUP, LARGE, LAYER
from viz.frame.view import View
from viz.kit.wire import Settings
from viz.runs import Run

At = tuple[str, int, int]


def choose(run: Run, model: str, *, has_pickers: bool, is_new: bool) -> At:
    """The group of heads, layer and head that are chosen, brought to those there are.

    Without a word where the model `is_new`, or where the page shows all heads and none large: then
    nobody asked for one that there is not.
    """
    state.only_for(model, LARGE)
    is_quiet = is_new or not (has_pickers or state.value(LARGE))
    titles, first = {group.name: group.title for group in run.trace.groups}, examples()[0]
    names = list(titles)
    kind = HEAD_GROUP.given(options=names, default=names[0], words=titles.get, follows=True)
    if is_quiet:
        state.settle_quietly(kind)
    group = run.trace.group(state.value(kind))
    layers, heads = range(len(group.records)), range(group.n_heads)
    layer = LAYER.given(options=layers, default=min(first.layer, layers[-1]))
    head = HEAD.given(options=heads, default=min(first.head, heads[-1]))
    if is_quiet:
        state.settle_quietly(layer)
        state.settle_quietly(head)
    if has_pickers:
        controls.pickers(
            "pickers-head",
            *([controls.picker(kind)] if len(names) > 1 else []),
            controls.picker(layer),
            controls.picker(head),
            on_change=state.take_over,
        )
    return group.name, state.value(layer), state.value(head)


def spelled(view: View) -> str:
    """The chosen head in one word, as instruments that show all heads have it."""
    return f"{view.attention}.{view.layer}.{view.head}"


def take_over(changes: Settings) -> None:
    """Keep what was chosen in an instrument that spells a head so, or has none large."""
    if (at := changes.pop("at", None)) is not None:
        state.put((LARGE, bool(at)))
    if at:
        state.put(*zip((HEAD_GROUP, LAYER, HEAD), at.rsplit(".", 2), strict=True))
    state.take_over(changes)
