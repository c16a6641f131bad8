"""The ideas a Transformer is made of, each on the model that runs."""

from collections.abc import Callable
from functools import wraps

from viz.frame import words
from viz.frame.page import Numbers
from viz.frame.view import View


def of_several(draw: Callable[[View], Numbers]) -> Callable[[View], Numbers]:
    """A scene that compares tokens of the sentence: it says so where there is one alone."""

    @wraps(draw)
    def drawn(view: View) -> Numbers:
        if len(view.tokens) > 1:
            return draw(view)
        words.notice("One token has neither past nor future: type a sentence of two or more.")
        return {}

    return drawn
