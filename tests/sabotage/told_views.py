"""Faults in what pages of one input tell in words and single numbers."""

from tests.sabotage.fault import Fault

LENS, LENS_PAGE = "viz/pages/look_inside/lens.py", "Logit lens"

TOLD_OF_VIEWS: list[Fault] = [
    Fault("told", "each cell of the lens with the word of the one before", LENS,
          "words=[[reading.words(row, position) for position in window] for row in rows],",
          "words=[[reading.words(row, abs(position - 1)) for position in window] for row in rows],",
          "lens.words", seen_on=LENS_PAGE),
    Fault("told", "the second and third word of each cell exchanged", "model/analysis/lens.py",
          '"ids": top.indices,',
          '"ids": top.indices[:, [0, 2, 1, *range(3, top.indices.shape[1])]],',
          "lens.words", seen_on=LENS_PAGE),
]  # fmt: skip
