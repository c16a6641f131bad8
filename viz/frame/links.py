"""Addresses of other views of what is on screen."""

from urllib.parse import urlencode

from viz.frame import given, state
from viz.frame.settings import DIGIT, DRAWING, SENTENCE
from viz.frame.view import View


def to(view: View, page: str, **more: object) -> str:
    """A page on the same model and input, and more settings by their names."""
    return "?" + urlencode({"page": page, "model": view.model, **_input(view), **more})


def _input(view: View) -> dict[str, object]:
    trace = view.run.trace
    if trace.main.pixels is not None:
        drawn = state.value(DRAWING)
        return {DRAWING.name: drawn} if drawn else {DIGIT.name: state.value(DIGIT)}
    setting = given.kind_on(view).text or SENTENCE
    is_given = view.sentence and not state.is_too_long(setting)
    return {setting.name: view.sentence} if is_given else {}
