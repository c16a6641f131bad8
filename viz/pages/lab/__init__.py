"""Lab: a training of a person's own, set up, begun, watched, stopped and gone on with."""

from viz.frame import inspector
from viz.frame.page import Page
from viz.frame.view import View
from viz.pages.lab import setup, watch


def render(view: View) -> None:
    """Draw the page: what can be begun, and what was."""
    setup.draw()
    watch.draw()
    inspector.source(
        "model.training.trainer.Trainer",
        "model.training.optimizers.cosine",
        "model.training.optimizers.noam",
        "model.analysis.heads.induction",
    )
    inspector.export(view, {})


PAGE = Page(
    "Lab",
    ":material/experiment:",
    "Train a small Transformer here, and watch its heads form.",
    "A training is a process of its own: it goes on when you leave the page, and one that was "
    "begun in a terminal is shown as well. What it has come to opens on every page at any time.",
    render,
    opens_inspector=False,
)
