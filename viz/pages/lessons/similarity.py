"""Similarity: two vectors by hand, the nearest tokens in the embedding, and a head's products."""

import numpy as np

from model.analysis.similarity import (
    Alike,
    By,
    Nearest,
    compare,
    cosines,
    foot,
    nearest,
    products,
)
from viz import formulas_lessons as formulas
from viz.digits import digits, or_none
from viz.figures.similarity import arrows, nearest_bars
from viz.figures.token_maps import signed_map
from viz.frame import controls, inspector, layout, state, words
from viz.frame.page import Page
from viz.frame.settings import NEAR_COUNT, TOKEN, VECTORS
from viz.frame.view import View
from viz.live import component
from viz.runs import embedding

ORDERS: dict[By, str] = {"cosine": "cosine", "product": "dot product"}
NORMS = {
    "layer": "LayerNorm, which takes off the mean and divides by the deviation",
    "rms": "RMSNorm, which divides by the root mean square",
}

TIED = (
    "Embedding and unembedding are one table here (tied): the same rows, multiplied with the last "
    "layer’s output, give the logits, so they are trained for both."
)
UNTIED = "The unembedding is another table here: these rows serve the input alone."
AFTER = {
    "pre": "The first block attends by a row, with what its position adds, after {norm}: how long "
    "they were does not count there.",
    "post": "The first block attends by a row, with what its position adds, as it is: {norm}, "
    "comes after it.",
}


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("similarity"):
        a_x, a_y, b_x, b_y, times = controls.parts(VECTORS)
    _two_vectors(view, np.array([a_x, a_y]), np.array([b_x, b_y]), times)
    words.ask(
        "Can b be more like a than a is itself? By dot product, and by cosine?",
        see="two-vectors",
        **{VECTORS.name: "2,1.5,2,1.5,2"},
    )
    _in_the_embedding(view)
    _in_the_head(view)
    inspector.source(
        "model.analysis.similarity.compare",
        "model.analysis.similarity.nearest",
        "model.attention.attention_scores",
    )
    inspector.export(view, inspector.pattern_table(view))


# --- two vectors --------------------------------------------------------------------------------


def _two_vectors(view: View, a: np.ndarray, b: np.ndarray, times: float) -> None:
    scaled = times * b
    left, right = layout.two_up("similarity", (3, 2))
    alike = compare(a, scaled)
    with left:
        layout.show_figure(
            arrows(a, scaled, foot(a, scaled), view.colors),
            key="two-vectors",
            on_pick=lambda place: _drag(place, times),
            alt=f"Two arrows from 0: a to {_point(a)} and b to {_point(scaled)}; dot product "
            f"{digits(alike.product, 3)}.",
        )
    with right:
        _compared({"b": compare(a, b), f"{times:g} · b": alike})
        if not all(alike.lengths):
            words.notice(
                "A vector of length 0 has no direction: there is neither cosine nor angle."
            )
    formula = formulas.dot_product(
        (a.tolist(), scaled.tolist()), alike.product, alike.lengths, alike.cosine
    )
    inspector.formula("model.analysis.similarity.compare", formula.latex, formula.reference)


def _drag(place: component.Place, times: float) -> None:
    """Let a vector end where its handle was dragged to; the arrow of b shows it multiplied."""
    if "handle" not in place:
        return
    vectors, is_b = list(state.value(VECTORS)), int(place["handle"])
    factor = times if is_b else 1.0
    vectors[2 * is_b : 2 * is_b + 2] = (float(place[axis]) / factor for axis in ("x", "y"))
    value, _ = VECTORS.nearest(vectors)
    state.put((VECTORS, value))


def _compared(pairs: dict[str, Alike]) -> None:
    """What two vectors have in common, with b as it is and multiplied."""
    words.table(
        {
            "": ["dot product a · b", "length of a", "length of b", "cosine", "angle, degrees"],
            **{
                f"a and {name}": [
                    or_none(value)
                    for value in (alike.product, *alike.lengths, alike.cosine, alike.degrees)
                ]
                for name, alike in pairs.items()
            },
        }
    )
    words.caption("Move “b times”: the first and the third row change, the last two do not.")


def _point(vector: np.ndarray) -> str:
    return ", ".join(digits(float(component), 2) for component in vector)


# --- the embedding --------------------------------------------------------------------------------


def _in_the_embedding(view: View) -> None:
    """The tokens whose rows are nearest to that of one token of the sentence."""
    layout.section(
        "In the embedding",
        "The tokens whose rows in the model’s table are nearest to one of yours.",
        "Every token has a row of the embedding, a vector that was learned. The bar of the token "
        "itself is grey. A dot product favours long rows; below stands how long they are. Single "
        "bytes are written as \\xef, and “…” marks letters that no space stands before.",
    )
    stream = view.run.trace.streams[0]
    labels = [label.strip() for label in stream.labels]
    longest = max(range(len(labels)), key=lambda i: (labels[i].isalpha(), len(labels[i])))
    with layout.slim_row("nearest"):
        chosen = controls.token(TOKEN, stream.labels, longest, "longest")
        count = int(controls.slider(NEAR_COUNT))
    assert stream.ids is not None  # what has a vocabulary has ids
    token, table = int(stream.ids[chosen]), embedding.table(view.handle)
    found: dict[By, Nearest] = {by: nearest(table, token, count, by) for by in ORDERS}
    for place, (by, name) in zip(layout.two_up("nearest"), ORDERS.items(), strict=True):
        with place:
            _bars(view, found[by], token, name)
    _lengths(view, token, found, table)


def _bars(view: View, found: Nearest, token: int, name: str) -> None:
    """One order of the nearest tokens, by its name."""
    names = embedding.names(view.handle)
    chart = nearest_bars([names[i] for i in found.ids], found, token, (name, f"Nearest by {name}"))
    layout.show_chart(chart, key=f"nearest-{name.replace(' ', '-')}")


def _lengths(view: View, token: int, found: dict[By, Nearest], table: np.ndarray) -> None:
    """How long the rows are that each order brings, and what else there is to know of rows."""
    cosine, product = (digits(float(found[by].lengths.mean()), 2) for by in ORDERS)
    own, every = np.linalg.norm(table[token]), np.linalg.norm(table, axis=-1).mean()
    words.caption(
        f"Length of this token’s row: {digits(float(own), 2)}. Mean length of those above by "
        f"cosine: {cosine}, by dot product: {product}, of all {len(table):,}: "
        f"{digits(float(every), 2)}."
    )
    words.caption(_what_is_done_with_rows(view))


def _what_is_done_with_rows(view: View) -> str:
    """How the model goes on from a row, as far as that is known."""
    facts = view.run.trace.facts
    found = []
    if facts.tied_embeddings is not None:
        found.append(TIED if facts.tied_embeddings else UNTIED)
    if facts.norm is not None:
        found.append(AFTER[facts.norm_placement or "pre"].format(norm=NORMS[facts.norm]))
    return " ".join(found)


# --- a head ---------------------------------------------------------------------------------------


def _in_the_head(view: View) -> None:
    """The head's queries and keys, by dot product and by cosine."""
    record, head = view.record, view.head
    q, k, mask = record.q[head], record.k[record.kv_head(head)], record.mask_of(head)
    layout.section(
        "The same in the model",
        f"{view.head_name} compares its queries with its keys: by dot product, as it runs, and by "
        "cosine.",
        "Where the two maps differ, lengths decide. Divided by √d, and under ALiBi with its bias "
        "added, the left one goes through softmax.",
    )
    maps = {
        "products": (products(q, k), "q · k", "q · k, as it runs"),
        "cosines": (cosines(q, k), "cosine", "cosine of q and k"),
    }
    columns = zip(layout.two_up("similarity-head"), maps.items(), strict=True)
    for place, (name, (values, scale, title)) in columns:
        with place:
            tokens = view.query_tokens, view.key_tokens
            chart = signed_map(values, mask, tokens, scale, f"{view.head_name}: {title}")
            layout.show_chart(chart, key=f"similar-{name}")
    _ways_on(view, np.linalg.norm(k.astype(np.float64), axis=-1))


def _ways_on(view: View, lengths: np.ndarray) -> None:
    """How long the head's keys are, (Tk,), and where its products lead."""
    words.caption(
        f"Lengths of its keys: from {digits(float(lengths.min()))} to "
        f"{digits(float(lengths.max()))}."
    )
    words.ways(
        [
            words.Way(
                f"{view.head_name} in Attention",
                "These products through √d, mask and softmax, cell by cell.",
                page="Attention",
            )
        ]
    )
    formula = formulas.product_of_lengths()
    inspector.formula("model.attention.attention_scores", formula.latex, formula.reference)


PAGE = Page(
    "Embeddings and similarity",
    ":material/join_inner:",
    "Two vectors are alike where they point the same way; a dot product counts lengths too.",
    "a·b = ‖a‖ ‖b‖ cos θ. Multiplying b by a positive number multiplies the dot product by it "
    "and leaves angle and cosine as they are. The thick line is the projection of b onto a: "
    "its length times ‖a‖ is the dot product, below 0 where it points backwards. Attention "
    "compares queries with keys by dot products: a long key counts for more where it points "
    "along the query, for less where it points against it. Drag the ring at an arrow’s end, or "
    "move the sliders.",
    render,
    needs=("vocabulary",),
)
