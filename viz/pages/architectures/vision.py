"""Vision: a digit drawn by hand, what a Vision Transformer says of it, and what it looks at."""

from functools import cache

import numpy as np

from model.analysis.cosine import cosine_similarity
from model.analysis.patches import mean_distances
from model.config import VisionConfig
from model.worked_out import softmax
from viz.digits import digits
from viz.figures.patches import distance_curve, similarity_grid, without_map
from viz.frame import controls, given, heads, inspector, layout, state, words
from viz.frame.answers import logits_of, probability_of
from viz.frame.page import Page
from viz.frame.settings import DIGIT, DRAWING, SHUFFLE, WAY
from viz.frame.view import View
from viz.kit.parts.digit_pad import WAYS, Shipped, digit_pad_part
from viz.kit.wire import Settings
from viz.live import component
from viz.runs import pictures
from viz.runs.kept import held


def render(view: View) -> None:
    """Draw the page."""
    config = pictures.config_of(view.handle)
    pixels = given.picture()
    answers = pictures.answers(view.handle)
    shipped, chosen = _shipped(view), _settings(view)
    part = digit_pad_part(view.run.key, view.run.trace, pixels, answers, shipped, chosen)
    component.show(held(part), on_change=heads.take_over)
    left, right = layout.two_up("patches")
    with left:
        _needed(view, pixels, config)
        _order(view, pixels, config)
    with right:
        _distances(view, config)
    _positions(view)
    inspector.formula("model.embeddings.PatchEmbedding")
    inspector.attention(view.record)
    inspector.source("model.analysis.patches.rollout", "model.embeddings.PatchEmbedding")
    inspector.export(view, inspector.pattern_table(view))


def _settings(view: View) -> Settings:
    """What is chosen inside the digit pad."""
    return {
        "digit": int(state.number(DIGIT)),
        "drawing": state.value(DRAWING),
        "at": heads.spelled(view),
        "way": state.value(WAY.given(options=tuple(WAYS))),
    }


def _shipped(view: View) -> Shipped:
    """The shipped test digits, and those that this model gets wrong."""
    found = given.shipped_digits()
    answers = pictures.answered(view.handle, found.images)
    wrong = np.flatnonzero(answers != found.labels).tolist()
    row = int(state.number(DIGIT.given(high=len(found.labels) - 1)))
    return Shipped(row, int(found.labels[row]), len(found.labels), wrong)


def _probabilities(logits: np.ndarray) -> np.ndarray:
    return softmax(logits.astype(np.float64))


def _answer(view: View) -> tuple[int, float]:
    """The class the model gives this picture, and its probability."""
    best = int(logits_of(view.run)[0].argmax())
    return best, probability_of(view.run, 0, best)


def _needed(view: View, pixels: bytes, config: VisionConfig) -> None:
    best, before = _answer(view)
    layout.section(
        "Which patches does the answer need?",
        "One patch after the other is masked: what is left of the answer?",
        "A masked patch is attended to by no other row, in any layer: as if it were not there. "
        "Dark: the answer stands without it. Pale: without this patch it would fall.",
    )
    after = _probabilities(pictures.without_each(view.handle, pixels))[:, best]
    chart = without_map(after, f"Probability of {best} without the patch")
    layout.show_chart(chart, key="without")
    row, column = divmod(int(after.argmin()), config.image_size // config.patch_size)
    least = digits(float(after.min()), 3)
    words.caption(
        f"Of {digits(before, 3)} for {best} at the least {least} is left: without the "
        f"patch in row {row}, column {column}."
    )


@cache
def _shuffling(n: int, seed: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).permutation(n).tolist())


def _order(view: View, pixels: bytes, config: VisionConfig) -> None:
    best, before = _answer(view)
    layout.section(
        "Does the order of the patches matter?",
        "The same patches in another order: only positions tell the model where each one was.",
    )
    seed = int(controls.slider(SHUFFLE))
    n = (config.image_size // config.patch_size) ** 2
    found = _probabilities(pictures.shuffled(view.handle, pixels, _shuffling(n, seed)))
    other = int(found.argmax())
    words.facts(
        [
            (digits(before, 3), f"{best}, in order"),
            (digits(float(found[best]), 3), f"{best}, shuffled"),
            (f"{other}, p = {digits(float(found[other]), 3)}", "is said of the shuffled"),
        ]
    )


def _positions(view: View) -> None:
    table = view.run.trace.main.positions
    if table is None or not table.any():
        return
    layout.section(
        "What it learned of places",
        "For each patch, where it stands, a small picture: how alike the positions of all are.",
        "Nothing tells the model which patches are neighbours: its positions are a trained table "
        "(Dosovitskiy et al. 2021, fig. 7). Cosine of the rows.",
    )
    similar = cosine_similarity(table[1:])
    layout.show_chart(similarity_grid(similar, "Similarity of positions"), key="places")


def _distances(view: View, config: VisionConfig) -> None:
    layout.section(
        "How far do heads look?",
        "Mean distance between a patch and what it attends to, on this picture, head by head.",
        "Weights on patches alone, in pixels from corner to corner of two patches "
        "(Dosovitskiy et al. 2021, fig. 11).",
    )
    side = config.image_size // config.patch_size
    looks = [mean_distances(x.pattern, side, config.patch_size) for x in view.group.records]
    chart = distance_curve(np.stack(looks), "Mean attention distance by layer")
    layout.show_chart(chart, key="distances")


PAGE = Page(
    "Vision",
    ":material/draw:",
    "A picture is a row of patches, which attend to each other as words do.",
    "Draw a digit. It is made like those the model was trained on (the digit fills 20 of 28 "
    "pixels, its centre of mass in the middle), cut into square patches, and a class token, "
    "[CLS], is put before them: what it has gathered after the last layer decides. The stronger "
    "the colour on a patch, the more the row attends to it. Test digits are of MNIST, which the "
    "model was not trained on: a choice of hard ones, among them all of 10,000 that the shipped "
    "model gets wrong.",
    render,
    needs=("pictures",),
    shows_heads=True,
    shows_tokens=True,
    opens_inspector=False,
)
