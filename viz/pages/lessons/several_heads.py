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
from viz.digits import digits
from viz.figures.several import alike_map, output_map, side_by_side, spectrum_lines, written_map
from viz.formulas import FORMULAS
from viz.formulas import lessons as formulas
from viz.frame import controls, inspector, layout, scenes, words
from viz.frame.page import Numbers, Page
from viz.frame.settings import TOKEN
from viz.frame.view import View
from viz.runs import heads as head_runs

ENDS = ("least", "most", "of least", "of most")


def _weights(view: View) -> Weights:
    return head_runs.weights(view.handle, view.site)


def _name(head: int) -> str:
    return f"H{head}"


def _said(value: float) -> str:
    return digits(float(value), 2)


def _among(values: np.ndarray, head: int) -> dict[str, str | None]:
    """The chosen head, those that have least and most of something, and how much. values: (H,).

    None where all have as much.
    """
    at = {"head": head, "least": int(values.argmin()), "most": int(values.argmax())}
    found = {which: _name(one) for which, one in at.items()}
    found |= {f"of {which}": _said(values[one]) for which, one in at.items()}
    if found["of least"] != found["of most"]:
        return {**found}
    return {"head": _name(head), "of head": found["of head"]} | dict.fromkeys(ENDS)


def _put_together(view: View) -> Numbers:
    """One token's slices side by side, and the matrix they are multiplied by."""
    record, head = view.record, view.head
    with scenes.to_set():
        token = controls.token(TOKEN, view.query_tokens, len(view.query_tokens) - 1, "last")
    w_o = np.concatenate(list(_weights(view).outputs)).T  # in one piece, as the file has it
    left, right = layout.two_up("several-token")
    with left:
        chart = side_by_side(record.z[:, token], head, f"z of each head at token {token}")
        layout.show_chart(chart, key="several-z")
    with right:
        title = f"W_O, transposed: the framed columns meet {_name(head)}’s z"
        layout.show_chart(output_map(w_o, (head, record.n_heads), title), key="several-out")
    inspector.formula(
        "model.attention.MultiHeadAttention",
        formulas.several_heads(record.n_heads, record.z.shape[-1], len(w_o)),
    )
    return {"heads": str(record.n_heads), "columns": f"{record.z.shape[-1]:,}", "head": _name(head)}


def _written(view: View) -> Numbers:
    """How much each head writes for each token."""
    weights, head = _weights(view), view.head
    lengths = np.linalg.norm(contributions(view.record, weights), axis=-1)
    title = "How much each head writes, ‖z W_O‖"
    layout.show_chart(written_map(lengths, view.query_tokens, head, title), key="several-written")
    sizes = np.linalg.norm(weights.outputs, axis=(1, 2))
    return {
        **_among(lengths.mean(axis=-1), head),
        **{f"size {name}": said for name, said in _among(sizes, head).items()},
    }


def _directions(view: View) -> Numbers:
    """Of how many directions that is made which a head can write."""
    weights, head = _weights(view), view.head
    if weights.values is None:
        words.notice("No one matrix was seen that makes v of x, so W_V W_O is left out.")
        return {}
    values = spectra(weights.values, weights.outputs)
    title = "Singular values of each head’s W_V W_O"
    layout.show_chart(spectrum_lines(values, head, title), key="several-spectra")
    inspector.formula("model.analysis.several.effective_rank", FORMULAS["Effective rank"])
    return {**_among(effective_rank(values), head), "columns": f"{values.shape[1]:,}"}


def _cut_otherwise(view: View) -> Numbers:
    """The same width in more and fewer heads: equal parameters, narrower heads, more maps."""
    record, facts = view.record, view.run.trace.facts
    n_heads, d_head, d_model = record.n_heads, record.z.shape[-1], facts.d_model or 0
    found = cuts(d_model, n_heads, d_head, in_pairs=facts.position == "rope")
    here = {n_heads: " (as here)"}
    words.table(
        {
            "heads": [f"{cut.n_heads}{here.get(cut.n_heads, '')}" for cut in found],
            "columns of a head": [f"{cut.d_head:,}" for cut in found],
            "parameters": [f"{cut.parameters:,}" for cut in found],
            "weights in all patterns": [f"{cut.n_heads * view.pattern.size:,}" for cut in found],
        }
    )
    return {
        "heads": str(n_heads),
        "columns": f"{d_head:,}",
        "width": f"{n_heads * d_head:,}",
        "parameters": f"{found[0].parameters:,}",
        "of keys": str(len(record.k)),
    }


def _likeness(view: View) -> Numbers:
    """Which heads look at the same, and which write the same."""
    record, head = view.record, view.head
    inspector.export(view, inspector.pattern_table(view))
    if record.n_heads < 2:
        words.notice("This layer has one head: there is nothing to compare it with.")
        return {}
    found = {
        "looks": ("Alike in where they look", alike(np.asarray(record.pattern))),
        "writes": ("Alike in what they write", alike(contributions(record, _weights(view)))),
    }
    other = _nearest(found["looks"][1], head)
    layout.show_charts(
        {f"alike-{key}": alike_map(x, (head, other), title) for key, (title, x) in found.items()}
    )
    layer, one, _ = most_alike(view.group.patterns())
    return {
        "heads": str(record.n_heads),
        "head": _name(head),
        "other": _name(other),
        **{key: _said(x[head, other]) for key, (_, x) in found.items()},
        "layer": str(layer),
        "one": str(one),
    }


def _nearest(cosines: np.ndarray, head: int) -> int:
    others = cosines[head].copy()
    others[head] = -np.inf
    return int(others.argmax())


PAGE = Page(
    "Multi-head attention",
    ":material/call_split:",
    "Why several heads, and not one large one?",
    needs=("projections",),
    scenes={
        "alike": _likeness,
        "cuts": _cut_otherwise,
        "split": _put_together,
        "written": _written,
        "rank": _directions,
    },
    wide=("alike", "split"),
    needs_two=("alike",),
    source=(
        "model.analysis.several.contributions",
        "model.analysis.several.spectra",
        "model.analysis.several.effective_rank",
        "model.analysis.several.cuts",
        "model.attention.MultiHeadAttention",
    ),
)
