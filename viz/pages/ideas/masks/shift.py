"""Training targets: the input shifted by one, and how likely the model finds each."""

import numpy as np

from model.analysis.mask_kinds import own_mask, source_of
from model.analysis.probabilities import target_probabilities
from viz import runs
from viz.digits import digits
from viz.formulas.parts import loss_with_numbers
from viz.frame import inspector, tables, words
from viz.frame.page import Numbers
from viz.frame.view import View
from viz.labels import visible
from viz.pages.ideas.masks import shared
from viz.runs import masks

START, END = "⟨start⟩", "⟨end⟩"


def draw(view: View) -> Numbers:
    """Each input with the target that is to be predicted there."""
    edge = shared.end_of_text(view)  # the end-of-text token is start and end
    if edge is None:
        return {}
    ids, room = list(view.ids), view.config.max_seq_len - 1
    inputs, targets = (edge, *ids[:room]), (*ids, edge)[: room + 1]
    is_whole = len(targets) > len(ids)
    if not is_whole:
        words.notice(
            f"With the start token {room} of {len(ids)} tokens fit "
            f"{runs.decoder(view.handle).limit}: the last one is a target "
            "only, and there is no target after it."
        )
    run = masks.masked(view.handle, inputs, own_mask(view.config, len(inputs)))
    strings = runs.tokenizer(view.handle).token_strings(view.ids)
    given, wanted = [START, *strings[:room]], [*strings, END][: room + 1]
    probabilities = target_probabilities(run.trace.logits, targets)
    words.training_targets(given, wanted, [digits(p, 3) for p in probabilities])
    _note_loss(-np.log(probabilities), is_whole)
    inspector.checked("with the start token", run.checking.result)
    inspector.source(source_of(view.config.mask), "model.training.evaluation.token_losses")
    table = {
        "position": range(len(given)),
        "input": list(map(visible, given)),
        "target": list(map(visible, wanted)),
        "probability": probabilities,
    }
    inspector.export(view, {"Training targets": lambda: tables.csv(table)}, has_charts=False)
    return {"what": _what_each_sees(view, len(inputs))}


def _what_each_sees(view: View, n_inputs: int) -> str:
    """Which inputs a position attends to, and whether its target is among them."""
    mask = own_mask(view.config, n_inputs)
    if np.diagonal(mask, 1).any():
        n = int(np.diagonal(mask, 1).sum())
        return (
            f"Under this model's {view.config.mask.replace('_', ' ')} mask {n} of {n_inputs} "
            "positions attend to the very next input, which is their target: those probabilities "
            "say nothing of how well it predicts."
        )
    return (
        f"Each position attends to {_which(mask)}, and must predict the target below it. The mask "
        "is what keeps the target out of sight: it is the very next input."
    )


def _which(mask: np.ndarray) -> str:
    """Which inputs a position attends to under a mask that shows none after it."""
    if (mask == np.tri(len(mask), dtype=bool)).all():
        return "inputs up to its own"
    fewest, most = (int(find(mask.sum(axis=1))) for find in (np.min, np.max))
    return f"{most if fewest == most else f'{fewest} to {most}'} of the inputs up to its own"


def _note_loss(losses: np.ndarray, is_whole: bool) -> None:
    """The mean loss over all targets, (T,), and why it differs from the other pages'."""
    name = "model.analysis.probabilities.next_token_losses"
    inspector.formula(name)
    inspector.formula(name, loss_with_numbers(float(losses.sum()), len(losses)))
    end = "The end of a text is a token too. " if is_whole else ""
    inspector.note(
        f"Over all {len(losses)} training targets. {end}The tokens of the sentence come after "
        "the start token here, so the numbers may differ from those without it."
    )
