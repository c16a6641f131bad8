"""How further numbers of experiments and of other architectures come about; see `viz.live.about`."""

from viz.live.about import About

MORE_OF_EXPERIMENTS: dict[str, About] = {}
