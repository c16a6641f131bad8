"""What pickers are sent: lists to choose from, and what is chosen of each."""

from collections.abc import Sequence
from typing import NamedTuple

from viz.kit.part import Part
from viz.kit.wire import Option, options_data


class Picker(NamedTuple):
    """One list, by the name of its setting. Without a choice, it shows its `placeholder`.

    Options that follow each other, such as the steps of a training, are dragged through; those of a
    row stand side by side as tokens, and the chosen one, pressed again, is let go.
    """

    name: str
    label: str
    options: Sequence[Option]
    chosen: str
    placeholder: str | None = None
    is_dragged: bool = False
    is_row: bool = False


def pickers_part(pickers: Sequence[Picker]) -> Part:
    """Lists side by side. Where there is a placeholder, nothing stays chosen."""
    lists = [{**picker._asdict(), "options": options_data(picker.options)} for picker in pickers]
    spec = {"key": " ".join(picker.name for picker in pickers), "pickers": lists}
    return Part("pickers", spec, {picker.name: picker.chosen for picker in pickers})
