"""How further numbers of pages of one input come about; see `viz.live.about`."""

from viz.live.about import About

MORE_OF_VIEWS: dict[str, About] = {}
