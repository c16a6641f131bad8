"""Addresses of other views of what is on screen."""

from collections.abc import Mapping
from urllib.parse import urlencode

from viz.frame import box, given, state
from viz.frame.settings import DIGIT, DRAWING, SENTENCE
from viz.frame.view import View


def to(view: View, page: str, /, **more: object) -> str:
    """A page on the same model and input, and more settings by their names."""
    return _address(page, view.model, _input(view), more)


def on_text(model: str, page: str, text: str, /, **more: object) -> str:
    """The same of a text that is read as it is, whatever is on screen."""
    return _address(page, model, box.address_of(text), more)


def _address(page: str, model: str, given: Mapping[str, object], more: Mapping[str, object]) -> str:
    return "?" + urlencode({"page": page, "model": model, **given, **more})


def _input(view: View) -> Mapping[str, object]:
    trace = view.run.trace
    if trace.main.pixels is not None:
        drawn = state.value(DRAWING)
        return {DRAWING.name: drawn} if drawn else {DIGIT.name: state.value(DIGIT)}
    setting = given.kind_on(view).text or SENTENCE
    if not view.sentence or state.is_too_long(setting):
        return {}
    is_sentence = setting.name == SENTENCE.name
    return box.address_of(view.given) if is_sentence else {setting.name: view.sentence}
