"""One input as it is asked about: what is run, which position predicts, and whose arrows count."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from model.data.tokenizer import MASK
from model.given import Input
from viz import runs
from viz.figures.labels import token_labels
from viz.frame import blanks, controls, state
from viz.frame.settings import ARROWS_OF, OTHER_TOKEN, TOKEN
from viz.frame.view import View
from viz.runs import blanks as blanked

CROSS = "decoder.cross_attn"


@dataclass(frozen=True)
class One:
    """An input as it is run, and the position whose answer is asked.

    `labels` has what stands in each stack's row, by the name of the stack; `hidden` the places that
    are blank.
    """

    given: Input
    position: int
    labels: Mapping[str, tuple[str, ...]]
    hidden: tuple[int, ...] = ()


def _text(view: View) -> One:
    """A decoder's: what comes after the last token."""
    return One(view.ids, len(view.ids) - 1, {"decoder": tuple(token_labels(view.tokens))})


def _blanked(view: View) -> One:
    """An encoder's: what stands in a blank, the first that is hidden until another is chosen."""
    handle, tokenizer = view.handle, runs.tokenizer(view.handle)
    ids = blanked.ids_of(handle, view.sentence)
    tokens = tokenizer.token_strings(ids)
    hidden = state.value(blanks.setting(handle, view.sentence, has_default=True))
    first = (hidden or blanks.first_blank(tokens))[0]
    place = controls.token(TOKEN.given(label="Blank"), tokens, first, "hidden")
    hidden = hidden if place in hidden else (place,)
    hiding = tokenizer.id_of(MASK)
    given = tuple(hiding if at in hidden else i for at, i in enumerate(ids))
    labels = tuple(token_labels(tokenizer.token_strings(given)))
    return One(given, place, {"encoder": labels}, hidden)


def _target(view: View) -> One:
    """A translation's: the German token after one of those that are there."""
    source, target = (tuple(ids.tolist()) for ids in view.run.trace.given)
    rows = [stream.labels for stream in view.run.trace.streams]
    setting = TOKEN.given(label="After German token")
    place = controls.token(setting, rows[1], len(target) // 2, "middle")
    first, second = (tuple(token_labels(row)) for row in (rows[0], rows[1][: place + 1]))
    return One((source, target[: place + 1]), place, {"encoder": first, "decoder": second})


def _picture(view: View) -> One:
    """A picture's: its class, which the class token says."""
    pixels = view.run.trace.main.pixels
    assert pixels is not None, "a picture has pixels"
    return One(pixels.astype(np.float32).tobytes(), 0, {"encoder": tuple(view.tokens)})


ONE: Mapping[str, Callable[[View], One]] = {
    "decoder": _text,
    "encoder": _blanked,
    "encoder_decoder": _target,
    "vision": _picture,
}


def choose(view: View) -> One:
    """What is run and asked, drawn as a control where there is a choice."""
    return ONE[view.run.trace.facts.architecture](view)


def group(view: View) -> str:
    """Which heads' arrows: a choice where a model attends in several ways."""
    names = [found.name for found in view.run.trace.groups]
    if len(names) == 1:
        return names[0]
    titles = {found.name: found.title for found in view.run.trace.groups}
    setting = ARROWS_OF.given(default=CROSS, options=names, words=titles.__getitem__)
    return controls.select(setting, width=250)


def query(view: View, one: One, name: str) -> int:
    """Which token attends: what predicts, and where all tokens attend to all a choice."""
    if name != "encoder.attn":
        return one.position
    labels, asked, called = one.labels["encoder"], one.position, "predicts"
    if len(one.labels) > 1:  # the source predicts nothing: what is attended to most does most
        cross = [x.pattern[:, one.position] for x in view.run.trace.group(CROSS).records]
        asked, called = int(np.mean(cross, axis=(0, 1)).argmax()), "attended to most"
    return controls.token(OTHER_TOKEN.given(label="Arrows from"), labels, asked, called)
