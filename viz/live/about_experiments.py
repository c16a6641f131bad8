"""How further numbers of experiments, encoders and pictures come about; see `viz.live.about`."""

from viz.live.about import About

MORE_OF_EXPERIMENTS: dict[str, About] = {}
