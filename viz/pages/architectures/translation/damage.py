"""What the decoder takes from the encoder: the loss of the same German, its source damaged."""

import numpy as np

from model.analysis.source import AS_IT_IS, OUTPUT_SHUFFLED
from model.decoding.translation import Written
from viz import runs
from viz.digits import digits
from viz.figures.translation import damage_map
from viz.frame import controls, inspector, layout, settings, state, words
from viz.frame.view import View
from viz.labels import words_of
from viz.runs import translating

ALLOWED = 1e-4  # nats, of losses that should be the same


def section(view: View, written: Written, fed: tuple[int, ...], way: str) -> None:
    """Draw it for the typed German, else for the model's own."""
    row = layout.section(
        "What is lost without the order of the English",
        "The same German is fed in; only what the decoder attends to changes.",
        "Cross-attention adds no positions to its keys: the encoder’s output in another order "
        "changes nothing, for what order there is, is in its vectors. English words in another "
        "order, or without their positions, are another matter. “Output” is the encoder’s; "
        "averaged, every row of it is the mean of all.",
    )
    seed = int(state.number(settings.SEED))
    if way != "sampling":  # whose seed stands above
        with row:
            seed = controls.number(settings.SEED)
    end_id = runs.tokenizer(view.handle).end_id
    context = translating.translator(view.handle).config.max_seq_len
    own = tuple(i for i in written.ids if i != end_id)
    target = (fed or own)[: context - 1]
    whole = (*target, end_id)
    losses = translating.damaged(view.handle, view.sentence, whole, seed)
    tokens = runs.tokenizer(view.handle).token_strings(target)
    groups, labels = words_of(tokens) if target else ([], [])
    groups, labels = [*groups, len(labels)], [*labels, "⟨end⟩"]
    by_word = {name: np.bincount(groups, weights=values) for name, values in losses.items()}
    chart = damage_map(labels, by_word, "Loss of each German word, in nats")
    layout.show_chart(chart, key="damage")
    _verdict(losses)
    inspector.source(
        "model.analysis.source.losses_when_damaged", "model.analysis.source.target_losses"
    )


def _verdict(losses: dict[str, np.ndarray]) -> None:
    error = float(np.abs(losses[OUTPUT_SHUFFLED] - losses[AS_IT_IS]).max())
    inspector.check(
        error <= ALLOWED,
        "the encoder’s output in another order gives the same losses, max error "
        f"{error:.1e} nats, allowed {ALLOWED:.0e}.",
    )
    more = {name: float((values - losses[AS_IT_IS]).sum()) for name, values in losses.items()}
    worst = max(more, key=lambda name: more[name])
    if more[worst] <= ALLOWED:
        words.notice("Nothing is lost here: under none of these is the German less likely.")
        return
    words.notice(f"Most is lost under “{worst}”: {digits(more[worst], 1)} nats more than as it is.")
