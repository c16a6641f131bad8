"""How further numbers of ideas and lessons come about; see `viz.live.about`."""

from viz.live.about import About

MORE_OF_LESSONS: dict[str, About] = {}
