"""What several views share: choosing a kind of mask, and the tokens it is laid over."""

from dataclasses import dataclass

import numpy as np

from model.analysis.mask_kinds import TWO_SIDED, MaskSizes, mask_of_kind, own_mask
from model.config import DecoderConfig
from viz import runs
from viz.frame import controls, notices, settings, tables, words
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
WORDS = {
    "causal": "Each token attends to itself and to what came before. So each position can be "
    "trained to predict the next token without having seen it.",
    "sliding_window": "What is further away arrives by way of other tokens, one window per layer.",
    "prefix": "The prefix is for a question or a text to translate.",
    "global_tokens": "It costs little more than a window alone.",
    "padding": "Sentences in a batch must be equally long, so the short ones are padded. No token "
    "may attend to pad tokens.",
    "everything": "No mask at all, as in an encoder: each token attends to all, on both sides.",
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
    general, sizes = WORDS[chosen.kind], chosen.sizes
    if chosen.kind == "sliding_window":
        return f"{_near(sizes)} {general}" if sizes.window > 1 else _near(sizes)
    if chosen.kind == "prefix":
        if sizes.prefix_len < 2:
            return f"{WORDS['causal']} {general}"
        first = _the_first(min(sizes.prefix_len, len(chosen.ids)))
        return f"The {first} all attend to each other; the rest is causal. {general}"
    if chosen.kind == "global_tokens":
        return _global_in_words(chosen, general)
    if chosen.kind == "padding":
        others = "itself and to what came before" if sizes.is_causal else "all others"
        return f"{general} Else each attends to {others}."
    return general


def _near(sizes: MaskSizes) -> str:
    """What a window lets each token attend to."""
    near = sizes.window - 1
    if not near:
        return "Each token attends to itself alone."
    sides = "before it" if sizes.is_causal else "before it, and as many after it"
    return (
        f"Each token attends to itself and to at most {near:,} token{'' if near == 1 else 's'} "
        f"{sides}."
    )


def _the_first(n: int) -> str:
    """How many of the first tokens there are, of so many that were asked for."""
    return "first token" if n == 1 else f"first {n:,} tokens"


def _global_in_words(chosen: Chosen, general: str) -> str:
    """A window and global tokens, if there are any."""
    sizes, n = chosen.sizes, min(chosen.sizes.n_global, len(chosen.ids))
    near, first = _near(sizes), _the_first(n)
    if not n:
        return f"{near} Without a global token it is a sliding window."
    verb = "attends" if n == 1 else "attend"
    if sizes.is_causal:
        return (
            f"{near} To the {first} all later ones may attend. {general} With the causal mask "
            "nothing that comes later is passed on through it."
        )
    return (
        f"{near} The {first} {verb} to all, and all may attend to {'it' if n == 1 else 'them'}. "
        f"{general} So anything reaches anything in two layers."
    )


def is_of_config(config: DecoderConfig, chosen: Chosen) -> bool:
    """Whether a mask has the kind and the sizes that a model's config names."""
    sizes = chosen.sizes
    own = {
        "causal": True,
        "sliding_window": sizes.window == config.window and sizes.is_causal,
        "prefix": sizes.prefix_len == config.prefix_len,
        "global_tokens": (sizes.window, sizes.n_global) == (config.window, config.n_global)
        and sizes.is_causal,
    }
    return chosen.kind == config.mask and own[chosen.kind]


def lacks_end(view: View) -> bool:
    """Whether the tokenizer has no token for the end of a text, which pads and parts texts here."""
    return runs.tokenizer(view.handle).end_id < 0


def say_end_lacks(view: View) -> None:
    """Say so, in place of a view that needs one."""
    words.notice(
        f"{view.handle.name} has no token for the end of a text, which this view puts between "
        "texts or fills them up with; open a model whose tokenizer has one."
    )


def choose_kind(view: View) -> str:
    """The picker of a mask's kind, the model's own at first."""
    kinds = [kind for kind in NAMES if kind != "padding" or not lacks_end(view)]
    kind = settings.MASK_KIND.given(options=kinds, words=NAMES.get, default=view.config.mask)
    return controls.segments(kind)


def choose(view: View, kind: str) -> Chosen:
    """The mask of a kind, with pickers for the sizes this kind has."""
    sizes = _sizes(view, kind)
    pad = runs.tokenizer(view.handle).end_id  # as users of GPT-2 have it
    n_pad = sizes.n_pads if kind == "padding" else 0
    ids = (*view.ids, *(n_pad * [pad]))
    mask = mask_of_kind(kind, sizes, len(ids))
    own = own_mask(view.config, len(ids))
    return Chosen(kind, sizes, ids, mask, is_own=bool((mask == own).all()))


def _sizes(view: View, kind: str) -> MaskSizes:
    """Each kind's own numbers; those of other kinds keep their defaults."""
    config, plain, found = view.config, MaskSizes(), {}

    def number(setting: Number, trained: int, usual: int) -> int:
        return controls.number(setting.given(default=trained or usual))

    if kind in ("sliding_window", "global_tokens"):
        found["window"] = number(settings.WINDOW.given(high=512), config.window, plain.window)
    if kind == "prefix":
        found["prefix_len"] = number(settings.PREFIX, config.prefix_len, plain.prefix_len)
    if kind == "global_tokens":
        found["n_global"] = number(settings.GLOBAL, config.n_global, plain.n_global)
    if kind == "padding":
        found["n_pads"] = _n_pad(view, plain.n_pads)
    if kind in TWO_SIDED:
        found["is_causal"] = controls.segments(settings.DIRECTION) == "causal"
    return MaskSizes(**found)


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


def mask_csv(tokens: tuple[str, ...], mask: np.ndarray) -> bytes:
    """A mask as CSV, 1 = may attend."""
    return tables.tokens_csv(mask.astype(int), tokens)
