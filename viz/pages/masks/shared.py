"""What several views share: choosing a kind of mask, and the tokens it is laid over."""

from dataclasses import dataclass

import numpy as np

from viz import ui
from viz.runs import Run, masks

NAMES = {
    "causal": "causal",
    "sliding_window": "sliding window",
    "prefix": "prefix",
    "global_tokens": "global tokens + window",
    "padding": "padding",
    "everything": "none: all see all",
}
WORDS = {
    "causal": "Each token reads itself and what came before. So each position can be trained to "
    "predict the next token without having seen it.",
    "sliding_window": "Each token reads itself and the few before it. What is further back arrives "
    "only by way of other tokens, a window a layer.",
    "prefix": "The first tokens, a question or a text to translate, all read each other; the rest "
    "is causal.",
    "global_tokens": "A window, and a few first tokens that everyone may read. Through them, "
    "anything reaches anything later in two layers, at little more than the window's cost.",
    "padding": "Sentences in a batch must be equally long, so the short ones are filled up. "
    "Nobody may read the filler.",
    "everything": "No mask at all, as in an encoder: each token reads all, on both sides.",
}
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


def choose(view: ui.View) -> Chosen:
    """The pickers of a mask: its kind, and the sizes this kind has."""
    config = view.run.trace.config
    with ui.row("mask"):
        kind = ui.choice("Mask", "mask", masks.KINDS, config.mask, NAMES.get, width=220)
        sizes = _sizes(view, kind)
    ui.show_complaints()
    filler = masks.filler_id(view.model, view.device)
    n_filler = sizes.n_filler if kind == "padding" else 0
    ids = (*view.run.trace.ids.tolist(), *(n_filler * [filler]))
    mask = masks.matrix(kind, sizes, config, len(ids))
    own = masks.own(config, len(ids))
    return Chosen(kind, sizes, ids, mask, is_own=bool((mask == own).all()))


def _sizes(view: ui.View, kind: str) -> masks.Sizes:
    """Each kind's own numbers; those of other kinds keep their defaults."""
    n_tokens = len(view.tokens)
    config, plain = view.run.trace.config, masks.Sizes()
    found = {}
    if kind in ("sliding_window", "global_tokens"):
        found["window"] = ui.number("Window", "window", 1, LONGEST, config.window or plain.window)
    if kind == "prefix":
        found["prefix_len"] = ui.number("Prefix", "prefix", 0, config.max_seq_len, plain.prefix_len)
    if kind == "global_tokens":
        found["n_global"] = ui.number("Global", "global", 0, config.max_seq_len, plain.n_global)
    room = config.max_seq_len - n_tokens
    if kind == "padding" and room:
        most = min(room, LONGEST)
        found["n_filler"] = ui.number("Filler", "filler", 0, most, min(plain.n_filler, most))
    elif kind == "padding":
        found["n_filler"] = 0
        ui.complain("The sentence fills the context: there is no room for filler.")
    return masks.Sizes(**found)


def run_under(view: ui.View, chosen: Chosen, mask: np.ndarray) -> Run:
    """The model on these tokens under a mask."""
    return masks.masked(view.model, view.device, chosen.ids, mask)


def mask_csv(tokens: tuple[str, ...], mask: np.ndarray) -> bytes:
    """A mask as CSV, 1 = may read."""
    return ui.table_csv(mask.astype(int), tokens, tokens, "query \\ key")
