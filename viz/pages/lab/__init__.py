"""Lab: a training of a person's own, set up, begun, watched, stopped and gone on with."""

from model.training import runs as trainings
from viz.frame import controls, inspector, layout, notices
from viz.frame.page import Page
from viz.frame.settings import LAB_VIEW
from viz.frame.view import View
from viz.pages.lab import setup, watch


def render(view: View) -> None:
    """Draw the page: what can be begun, or what was."""
    notices.guarded(_draw)()
    inspector.source(
        "model.training.trainer.Trainer",
        "model.training.optimizers.cosine",
        "model.training.optimizers.noam",
        "model.analysis.heads.induction",
    )
    inspector.export(view, {})


def _draw() -> None:
    found = watch.found()
    has_own = any(run.folder.parent not in trainings.shipped() for run in found)
    shown = LAB_VIEW.given(default="watch" if has_own else "new")
    with layout.beside_heading():
        view = controls.segments(shown)
    watch.draw(found) if view == "watch" else setup.draw()


PAGE = Page(
    "Lab",
    ":material/experiment:",
    "Train a small Transformer here, and watch its heads form.",
    "A training is a process of its own: it goes on when you leave the page, and one that was "
    "begun in a terminal is shown as well. What it has come to opens on every page at any time.",
    render,
    opens_inspector=False,
    has_bar=False,
    under_way=lambda: ", ".join(trainings.live_names()),
)
