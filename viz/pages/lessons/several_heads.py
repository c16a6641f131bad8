"""Several heads: split, look, put together, W_O; the same width in 1, 2, 4, 8 … heads; likeness."""

import numpy as np

from model.analysis.several import (
    Weights,
    alike,
    contributions,
    cuts,
    effective_rank,
    most_alike,
    spectra,
)
from viz import formulas_lessons as formulas
from viz.digits import digits
from viz.figures.several import alike_map, output_map, side_by_side, spectrum_lines, written_map
from viz.frame import controls, inspector, layout, words
from viz.frame.page import Page
from viz.frame.settings import HEAD, LAYER, TOKEN
from viz.frame.view import View
from viz.runs import heads as head_runs

BOTH = {"patterns": "where they look", "written": "what they write"}


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("several"):
        token = controls.token(TOKEN, view.query_tokens, len(view.query_tokens) - 1, "last")
    weights = head_runs.weights(view.handle, view.site)
    _one_token(view, weights, token)
    _all_tokens(view, weights)
    _cut_otherwise(view)
    _likeness(view, weights)
    inspector.source(
        "model.analysis.several.contributions",
        "model.analysis.several.spectra",
        "model.analysis.several.effective_rank",
        "model.analysis.several.cuts",
        "model.attention.MultiHeadAttention",
    )
    inspector.export(view, inspector.pattern_table(view))


# --- split, look, put together, W_O ---------------------------------------------------------------


def _one_token(view: View, weights: Weights, token: int) -> None:
    """One token's slices side by side, and the matrix they are multiplied by."""
    record, head, w_o = view.record, view.head, _whole(weights)
    left, right = layout.two_up("several-token")
    with left:
        chart = side_by_side(record.z[:, token], head, f"z of each head at token {token}")
        layout.show_chart(chart, key="several-z")
    with right:
        title = f"W_O, transposed: the framed columns meet H{head}’s z"
        layout.show_chart(output_map(w_o, (head, record.n_heads), title), key="several-out")
    formula = formulas.several_heads(record.n_heads, record.z.shape[-1], len(w_o))
    inspector.formula("model.attention.MultiHeadAttention", formula.latex, formula.reference)


def _whole(weights: Weights) -> np.ndarray:
    """W_O in one piece as the file has it, (D, H·Dh)."""
    return np.concatenate(list(weights.outputs)).T


def _all_tokens(view: View, weights: Weights) -> None:
    """How much each head writes, and of how many directions that is made."""
    record, head = view.record, view.head
    lengths = np.linalg.norm(contributions(record, weights), axis=-1)
    left, right = layout.two_up("several-heads")
    with left:
        title = "How much each head writes, ‖z W_O‖"
        chart = written_map(lengths, view.query_tokens, head, title)
        layout.show_chart(chart, key="several-written")
    columns = {
        f"L{view.layer}": [f"H{h}" for h in range(record.n_heads)],
        "size of its part of W_O": _said(np.linalg.norm(weights.outputs, axis=(1, 2)), 2),
        "mean of what it writes": _said(lengths.mean(axis=-1), 2),
    }
    if weights.values is None:
        words.table(columns)
        words.caption("No one matrix was seen that makes v of x, so W_V W_O is left out.")
        return
    values = spectra(weights.values, weights.outputs)
    ranks, d_head = effective_rank(values), values.shape[1]
    with right:
        chart = spectrum_lines(values, head, "Singular values of each head’s W_V W_O")
        layout.show_chart(chart, key="several-spectra")
    words.table({**columns, f"effective rank, of {d_head}": _said(ranks, 1)})
    words.caption(
        f"A head of {d_head:,} columns can write in at most so many directions, whatever it "
        "finds. The effective rank says how evenly it uses them: all of them where its "
        "singular values are equal, 1 where one is all there is. The norm before W_V is left "
        "out."
    )
    formula = formulas.effective_rank()
    inspector.formula("model.analysis.several.effective_rank", formula.latex, formula.reference)


def _said(values: np.ndarray, places: int) -> list[str]:
    return [digits(float(x), places) for x in values]


# --- the same width, cut otherwise ----------------------------------------------------------------


def _cut_otherwise(view: View) -> None:
    """The same width in more and fewer heads: equal parameters, narrower heads, more maps."""
    record, facts = view.record, view.run.trace.facts
    d_model = facts.d_model or 0
    n_heads, d_head = record.n_heads, record.z.shape[-1]
    layout.section(
        "More heads, as many parameters",
        f"One layer’s attention with d_model = {d_model:,}, in 1, 2, 4, 8 … heads.",
        "W_Q, W_K, W_V and W_O counted for layers as wide as this one, each head with keys and "
        "values of its own. More heads are more patterns, each of a lower rank, for the same "
        "parameters.",
    )
    found = cuts(d_model, n_heads, d_head, in_pairs=facts.position == "rope")
    cells = view.pattern.size
    words.table(
        {
            "heads": [f"{cut.n_heads}{' (as here)' * (cut.n_heads == n_heads)}"
                      for cut in found],
            "columns of a head": [
                f"{cut.d_head:,}" for cut in found
            ],
            "parameters": [
                f"{cut.parameters:,}" for cut in found
            ],
            "weights in all patterns of this input": [
                f"{cut.n_heads * cells:,}" for cut in found
            ],
        }
    )  # fmt: skip
    if len(record.k) != n_heads:
        words.caption(
            f"This model has fewer: its {n_heads} heads share {len(record.k)} heads of keys and "
            "values (Ainslie et al. 2023)."
        )


# --- likeness -------------------------------------------------------------------------------------


def _likeness(view: View, weights: Weights) -> None:
    """Which heads look at the same, and which write the same."""
    record, head = view.record, view.head
    layout.section(
        "Do heads repeat each other?",
        f"How alike the heads of L{view.layer} are on this input: {BOTH['patterns']}, and "
        f"{BOTH['written']}.",
        "The cosine of two heads’ patterns, or of all they write, each taken as one long vector. "
        "Two heads may look at the same and write other things. Many heads can be taken away from "
        "a trained model at little cost (Michel et al. 2019); Ablation measures it for these.",
    )
    if record.n_heads < 2:
        words.notice("This layer has one head: there is nothing to compare it with.")
        return
    found = {
        "patterns": alike(np.asarray(record.pattern)),
        "written": alike(contributions(record, weights)),
    }
    nearest = {name: _nearest(cosines, head) for name, cosines in found.items()}
    columns = zip(layout.two_up("several-alike"), found.items(), strict=True)
    for place, (name, cosines) in columns:
        with place:
            chart = alike_map(cosines, (head, nearest[name]), f"Alike in {BOTH[name]}")
            layout.show_chart(chart, key=f"alike-{name}")
    words.caption(
        [
            f"Most like H{head} in {BOTH['patterns']}: ",
            _most_like(found["patterns"][head], nearest["patterns"]),
            f". In {BOTH['written']}: ",
            _most_like(found["written"][head], nearest["written"]),
            ".",
        ]
    )
    _ask(view)
    words.ways(
        [
            words.Way("Heads", "What every head of this model does, measured.", page="Heads"),
            words.Way("Ablation", "What each head’s removal costs.", page="Ablation"),
        ]
    )


def _most_like(cosines: np.ndarray, other: int) -> str:
    """The head that is most like the one above, and how much; nothing is more like it than it."""
    return f"H{other}, cosine {digits(float(cosines[other]))}"


def _nearest(cosines: np.ndarray, head: int) -> int:
    others = cosines[head].copy()
    others[head] = -np.inf
    return int(others.argmax())


def _ask(view: View) -> None:
    layer, one, _ = most_alike(view.group.patterns())
    words.ask(
        "Which two heads of one layer look most alike on this input? Do they also write the same?",
        see="alike-patterns",
        **{LAYER.name: str(layer), HEAD.name: str(one)},
    )


PAGE = Page(
    "Multi-head attention",
    ":material/call_split:",
    "Every head makes its q, k and v from all of x, and W_O adds up what the heads write.",
    "It is not x that is cut into slices but q, k and v: a slice for each head, which has a "
    "pattern of its own. Their results z stand side by side in one vector again, and W_O "
    "multiplies it. That is a sum: each head’s z times the rows of W_O that meet it, so every "
    "head writes for itself.",
    render,
    needs=("projections",),
)
