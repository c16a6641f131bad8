"""What several views share: choosing a kind of mask, and the tokens it is laid over."""

from dataclasses import dataclass

import numpy as np

from viz import controls, ui
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
    "causal": "Each token reads itself and what came before. So each position can be trained to "
    "predict the next token without having seen it.",
    "sliding_window": "Each token reads itself and its near neighbours; with the causal mask, only "
    "those before it. What is further away arrives by way of other tokens, a window a layer.",
    "prefix": "The first tokens, a question or a text to translate, all read each other; the rest "
    "is causal.",
    "global_tokens": "A window, and a few first tokens that read everyone and that everyone may "
    "read, at little more than the window's cost. On both sides anything reaches anything through "
    "them in two layers; with the causal mask they cannot pass on what comes after them.",
    "padding": "Sentences in a batch must be equally long, so the short ones are filled up. "
    "Nobody may read the filler.",
    "everything": "No mask at all, as in an encoder: each token reads all, on both sides.",
}
SIDES = {"causal": "and causal", "both": "both sides"}
LONGEST = 512


@dataclass(frozen=True, eq=False)
class Chosen:
    """A mask over tokens: those of the sentence, and filler behind them under `padding`."""

    kind: str
    sizes: masks.Sizes
    ids: tuple[int, ...]
    mask: np.ndarray
    is_own: bool

    @property
    def name(self) -> str:
        """The kind in words."""
        return NAMES[self.kind]


def choose_kind(view: ui.View) -> str:
    """The picker of a mask's kind, the model's own at first."""
    return controls.segments("Mask", "mask", NAMES, view.run.trace.config.mask)


def choose(view: ui.View, kind: str) -> Chosen:
    """The mask of a kind, with pickers for the sizes this kind has."""
    config = view.run.trace.config
    sizes = _sizes(view, kind)
    filler = masks.filler_id(view.model, view.device)
    n_filler = sizes.n_filler if kind == "padding" else 0
    ids = (*view.run.trace.ids.tolist(), *(n_filler * [filler]))
    mask = masks.matrix(kind, sizes, len(ids))
    own = masks.own(config, len(ids))
    return Chosen(kind, sizes, ids, mask, is_own=bool((mask == own).all()))


def _sizes(view: ui.View, kind: str) -> masks.Sizes:
    """Each kind's own numbers; those of other kinds keep their defaults."""
    config, plain, found = view.run.trace.config, masks.Sizes(), {}
    if kind in ("sliding_window", "global_tokens"):
        found["window"] = controls.number(
            "Window", "window", 1, LONGEST, config.window or plain.window
        )
    if kind == "prefix":
        found["prefix_len"] = controls.number(
            "Prefix", "prefix", 0, LONGEST, config.prefix_len or plain.prefix_len
        )
    if kind == "global_tokens":
        found["n_global"] = controls.number(
            "Global", "global", 0, LONGEST, config.n_global or plain.n_global
        )
    if kind == "padding":
        found["n_filler"] = _filler(view, plain.n_filler)
    if kind in masks.TWO_SIDED:
        found["is_causal"] = controls.segments("Direction", "sides", SIDES, "causal") == "causal"
    return masks.Sizes(**found)


def _filler(view: ui.View, default: int) -> int:
    most = min(LONGEST, view.run.trace.config.max_seq_len - len(view.tokens))
    if most:
        return controls.number("Filler", "filler", 0, most, min(default, most))
    controls.complain("The sentence fills the context: there is no room for filler.")
    return 0


def run_under(view: ui.View, chosen: Chosen, mask: np.ndarray) -> Run:
    """The model on these tokens under a mask."""
    n_filler = len(chosen.ids) - len(view.tokens)
    return masks.masked(view.model, view.device, chosen.ids, mask, n_filler)


def mask_csv(tokens: tuple[str, ...], mask: np.ndarray) -> bytes:
    """A mask as CSV, 1 = may read."""
    return ui.table_csv(mask.astype(int), tokens, tokens, "query \\ key")
