"""How further numbers of pages of one input come about; see `viz.live.about`."""

from viz.live.about import About

MORE_OF_VIEWS: dict[str, About] = {
    "facts.d_model": About("numbers in the stream for each token", "model.trace.Facts"),
    "facts.context": About("tokens it takes at most", "model.trace.Facts"),
    "facts.n_tokens": About("tokens of what was typed", "model.trace.Trace"),
}
