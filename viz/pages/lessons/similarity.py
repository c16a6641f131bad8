"""Similarity: the nearest tokens in the embedding, and two vectors by hand."""

import numpy as np

from model.analysis.similarity import By, compare, foot, nearest
from viz.digits import digits, or_none
from viz.figures.similarity import arrows, nearest_bars
from viz.formulas import lessons as formulas
from viz.frame import controls, inspector, layout, scenes, state, words
from viz.frame.page import Numbers, Page
from viz.frame.said import Word
from viz.frame.settings import NEAR_COUNT, TOKEN, VECTORS
from viz.frame.view import View
from viz.live import component
from viz.runs import embedding

ORDERS: dict[By, str] = {"cosine": "cosine", "product": "dot product"}
NORMS = {
    "layer": "LayerNorm, which takes off the mean and divides by the deviation",
    "rms": "RMSNorm, which divides by the root mean square",
}
TIED = "Embedding and unembedding are one table here (tied), whose rows are trained for both."
UNTIED = "The unembedding is another table here: these rows serve the input alone."
AFTER = {
    "pre": "The first block attends by a row and its position after {norm}: how long it was does "
    "not count there.",
    "post": "The first block attends by a row and its position as it is: {norm}, comes after it.",
}
NAMES = (
    "In brackets: the length of a row, which a dot product counts. “…” marks letters that no space "
    "stands before. Left out: {} special tokens, single bytes and control characters."
)


def _nearest(view: View) -> Numbers:
    """The tokens whose rows are nearest to that of one token of the sentence."""
    stream = view.run.trace.streams[0]
    labels = [label.strip() for label in stream.labels]
    longest = max(range(len(labels)), key=lambda i: (labels[i].isalpha(), len(labels[i])))
    with scenes.to_set():
        chosen = controls.token(TOKEN, stream.labels, longest, "longest")
        count = int(controls.slider(NEAR_COUNT))
    assert stream.ids is not None  # what has a vocabulary has ids
    token, table = int(stream.ids[chosen]), embedding.table(view.handle)
    lengths = {"own": np.linalg.norm(table[token]), "all": np.linalg.norm(table, axis=-1).mean()}
    names, readable, charts = embedding.names(view.handle), embedding.readable(view.handle), {}
    for by, name in ORDERS.items():
        found = nearest(table[: len(readable)], readable, token, count, by)
        called = [names[i] for i in found.ids]
        chart = nearest_bars(called, found, token, (name, f"Nearest by {name}"))
        charts[f"nearest-{name.replace(' ', '-')}"] = chart
        lengths[by] = found.lengths.mean()
    layout.show_charts(charts)
    words.caption(_what_is_done_with_rows(view, int((~readable).sum())))
    sizes = {"rows": f"{len(table):,}", "numbers": f"{table.shape[1]:,}"}
    means = {name: digits(float(length), 2) for name, length in lengths.items()}
    return {"token": Word(labels[chosen]), **sizes, **means}


def _what_is_done_with_rows(view: View, n_left_out: int) -> str:
    """How tokens are written, and how the model goes on from a row, as far as that is known."""
    facts = view.run.trace.facts
    found = [NAMES.format(f"{n_left_out:,}")]
    if facts.tied_embeddings is not None:
        found.append(TIED if facts.tied_embeddings else UNTIED)
    if facts.norm is not None:
        found.append(AFTER[facts.norm_placement or "pre"].format(norm=NORMS[facts.norm]))
    return " ".join(found)


def _vectors(view: View) -> Numbers:
    """Two vectors to drag, and what they have in common, with b as it is and multiplied."""
    with scenes.to_set():
        *numbers, times = controls.parts(VECTORS)
    a, b = np.reshape(numbers, (2, 2))
    scaled = times * b
    alike, before = compare(a, scaled), compare(a, b)
    ends = (", ".join(digits(float(number), 2) for number in end) for end in (a, scaled))
    layout.show_figure(
        arrows(a, scaled, foot(a, scaled), view.colors),
        key="two-vectors",
        plays=[arrows(a, b, foot(a, b), view.colors) for b in _turned(a, scaled)],
        on_pick=lambda place: _drag(place, times),
        alt="Two arrows from 0: a to {} and b to {}; dot product ".format(*ends)
        + f"{digits(alike.product, 3)}.",
    )
    columns = {
        f"a and {name}": [or_none(x) for x in (y.product, *y.lengths, y.cosine, y.degrees)]
        for name, y in (("b", before), (f"{times:g} · b", alike))
    }
    what = ["dot product a · b", "length of a", "length of b", "cosine", "angle, degrees"]
    words.table({"": what, **columns})
    formula = formulas.dot_product(
        (a.tolist(), scaled.tolist()), alike.product, alike.lengths, alike.cosine
    )
    inspector.formula("model.analysis.similarity.compare", formula)
    none = "is none, since a vector of length 0 has no direction"
    return {
        "times": f"{times:g}",
        "before": digits(before.product, 2),
        "after": digits(alike.product, 2),
        "cosine": f"stays at {digits(alike.cosine, 2)}" if all(alike.lengths) else none,
    }


def _turned(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """b on its way from the direction of a to its own."""
    start, end = (float(np.arctan2(y, x)) for x, y in (a, b))
    n = scenes.MOST_TURNS + 1
    angles = [start + (end - start) * turn / (n - 1) for turn in scenes.turns(n)]
    return [np.linalg.norm(b) * np.array([np.cos(x), np.sin(x)]) for x in angles]


def _drag(place: component.Place, times: float) -> None:
    """Let a vector end where its handle was dragged to; the arrow of b shows it multiplied."""
    if "handle" not in place:
        return
    vectors, is_b = list(state.value(VECTORS)), int(place["handle"])
    factor = times if is_b else 1.0
    vectors[2 * is_b : 2 * is_b + 2] = (float(place[axis]) / factor for axis in ("x", "y"))
    value, _ = VECTORS.nearest(vectors)
    state.put((VECTORS, value))


PAGE = Page(
    "Embeddings and similarity",
    ":material/join_inner:",
    "How can a model compute with words?",
    needs=("vocabulary",),
    scenes={"nearest": _nearest, "vectors": _vectors},
    wide=("nearest",),
    source=(
        "model.analysis.similarity.compare",
        "model.analysis.similarity.nearest",
    ),
)
