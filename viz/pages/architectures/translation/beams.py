"""The tree of a beam search, where the German was found by one."""

from model.decoding.translation import LENGTH_PENALTY, Written
from viz import runs
from viz.digits import digits
from viz.figures.beam import beam_tree
from viz.frame import inspector, layout, words
from viz.frame.beams import explain, nodes_of, winner_of
from viz.frame.view import View

MOST_STEPS = 12  # that a tree has room for


def section(view: View, written: Written) -> inspector.Tables:
    """Draw the tree; nothing where there were no beams. Gives back what can be saved."""
    if not written.beams:
        return {}
    layout.section(
        "Beam search",
        "Several German texts grow side by side; the one with the best score wins.",
        "Filled: kept; open: removed. The score is the log probability of what was written, "
        f"divided by ((5 + n)/6)^α (GNMT’s; transformers has n^α) with α = {LENGTH_PENALTY:g}.",
    )
    nodes, winner = nodes_of(written.beams, runs.vocabulary(view.handle)), winner_of(written.beams)
    n_steps = len(written.beams)
    if n_steps > MOST_STEPS:
        words.notice(f"The first {MOST_STEPS} of {n_steps} steps are drawn.")
    begun = len(written.ids) - len(winner.ids)
    shown = [node for node in nodes if node.step < MOST_STEPS]
    root = view.tokens[begun] if begun else "⟨start⟩"
    says = f"{len(nodes)} candidates; the winner’s score is {digits(winner.score, 3)}."
    with layout.unsqueezed("beam", to_end=True):
        layout.show_chart(beam_tree(shown, root, says), key="beam")
    return explain(winner, nodes, LENGTH_PENALTY)
