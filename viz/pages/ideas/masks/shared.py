"""What several views share: choosing a kind of mask, and the tokens it is laid over."""

from dataclasses import dataclass

import numpy as np

from model.analysis.mask_kinds import TWO_SIDED, MaskSizes, mask_of_kind, own_mask
from viz import runs
from viz.frame import controls, notices, settings, words
from viz.frame.kinds import Number
from viz.frame.view import View
from viz.runs import Run, masks

NAMES = {
    "causal": "causal",
    "sliding_window": "sliding window",
    "prefix": "prefix",
    "global_tokens": "global tokens + window",
    "padding": "padding",
    "everything": "none",
}


@dataclass(frozen=True, eq=False)
class Chosen:
    """A mask over tokens: those of the sentence, and pad tokens after them under `padding`."""

    kind: str
    sizes: MaskSizes
    ids: tuple[int, ...]
    mask: np.ndarray
    is_own: bool

    @property
    def name(self) -> str:
        """The kind in words."""
        return NAMES[self.kind]


def in_words(chosen: Chosen) -> str:
    """What the mask lets tokens attend to, with its own numbers and its own sides."""
    kind, sizes, n = chosen.kind, chosen.sizes, len(chosen.ids)
    n_first = min(sizes.prefix_len if kind == "prefix" else sizes.n_global, n)
    first = f"first {n_first:,} tokens" if n_first > 1 else "first token"
    sides = "before it" if sizes.is_causal else "before it, and as many after it"
    others = f"{sizes.window - 1:,} token{'' if sizes.window == 2 else 's'} {sides}"
    near = f"Each token attends to itself and to at most {others}."
    if kind == "causal" or (kind == "prefix" and n_first < 2):
        return (
            "Each token attends to itself and to what came before, so each position can be trained "
            "to predict a next token that it has not seen."
        )
    if kind == "sliding_window" or (kind == "global_tokens" and not n_first):
        return f"{near} What is further away arrives by way of other tokens alone, if at all."
    if kind == "prefix":
        return (
            f"The {first} all attend to each other; the rest is causal. The prefix is for a "
            "question or a text to translate."
        )
    if kind == "global_tokens" and sizes.is_causal:
        return (
            f"{near} All later ones may attend to the {first}, but through "
            "the causal mask nothing that comes later is passed on that way."
        )
    if kind == "global_tokens":
        return (
            f"{near} All may attend to the {first}, which may attend to "
            "all: so anything reaches anything in two layers."
        )
    if kind == "padding":
        others = "itself and to what came before" if sizes.is_causal else "all others"
        return (
            "Sentences in a batch must be equally long, so the short ones are padded. No token may "
            f"attend to pad tokens. Else each attends to {others}."
        )
    return "No mask at all, as in an encoder: each token attends to all, on both sides."


def hides_nothing(mask: np.ndarray) -> bool:
    """Whether a mask leaves nothing to compare, (T, T), which is said then."""
    if mask.all():
        words.notice(
            "The model’s mask hides nothing of this sentence: there is nothing to compare."
        )
    return bool(mask.all())


def end_of_text(view: View) -> int | None:
    """The token for the end of a text, which pads and parts texts here; it is said if none is."""
    end = runs.tokenizer(view.handle).end_id
    if end >= 0:
        return end
    words.notice(
        f"{view.handle.name} has no token for the end of a text, which this view puts between "
        "texts or fills them up with; open a model whose tokenizer has one."
    )
    return None


def choose(view: View) -> Chosen:
    """The mask that is chosen, the model's own at first, with pickers for the sizes it has."""
    pad = runs.tokenizer(view.handle).end_id  # as users of GPT-2 have it
    kinds = [kind for kind in NAMES if kind != "padding" or pad >= 0]
    kind = controls.segments(
        settings.MASK_KIND.given(options=kinds, words=NAMES.get, default=view.config.mask)
    )
    sizes = _sizes(view, kind)
    ids = (*view.ids, *((sizes.n_pads if kind == "padding" else 0) * [pad]))
    mask = mask_of_kind(kind, sizes, len(ids))
    own = own_mask(view.config, len(ids))
    return Chosen(kind, sizes, ids, mask, is_own=bool((mask == own).all()))


def _sizes(view: View, kind: str) -> MaskSizes:
    """Each kind's own numbers; those of other kinds keep their defaults."""
    config, plain, sizes = view.config, MaskSizes(), {}

    def number(setting: Number, trained: int, usual: int) -> int:
        return controls.number(setting.given(default=trained or usual))

    if kind in ("sliding_window", "global_tokens"):
        sizes["window"] = number(settings.WINDOW.given(high=512), config.window, plain.window)
    if kind == "prefix":
        sizes["prefix_len"] = number(settings.PREFIX, config.prefix_len, plain.prefix_len)
    if kind == "global_tokens":
        sizes["n_global"] = number(settings.GLOBAL, config.n_global, plain.n_global)
    if kind == "padding":
        sizes["n_pads"] = _n_pad(view, plain.n_pads)
    if kind in TWO_SIDED:
        sizes["is_causal"] = controls.segments(settings.DIRECTION) == "causal"
    return MaskSizes(**sizes)


def _n_pad(view: View, usual: int) -> int:
    room = view.config.max_seq_len - len(view.tokens)
    most = min(int(settings.PAD_TOKENS.high), room)
    if most:
        return controls.number(settings.PAD_TOKENS.given(high=most, default=min(usual, most)))
    notices.add("The sentence fills the context: there is no room for pad tokens.")
    return 0


def run_under(view: View, chosen: Chosen, mask: np.ndarray) -> Run:
    """The model on these tokens under a mask."""
    n_pad = len(chosen.ids) - len(view.tokens)
    return masks.masked(view.handle, chosen.ids, mask, n_pad)
