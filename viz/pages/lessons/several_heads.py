"""Several heads: two that look apart, their likeness; split, put together, W_O."""

import numpy as np

from model.analysis.several import (
    Weights,
    alike,
    contributions,
    effective_rank,
    most_alike,
    spectra,
)
from model.trace import AttentionRecord
from viz.charts.chart import weights as shares
from viz.digits import digits
from viz.figures.several import alike_map, output_map, side_by_side, spectrum_lines, written_map
from viz.figures.token_maps import token_map
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


def _apart(view: View) -> Numbers:
    """The pattern of the chosen head, and of the one of its layer that is least like it."""
    record, head = view.record, view.head
    if _is_alone(record):
        return {}
    cosines = alike(np.asarray(record.pattern))[head]
    other, texts = int(cosines.argmin()), (view.query_tokens, view.key_tokens)
    layout.show_charts(
        {
            f"several-{which}": token_map(
                record.pattern[one],
                texts,
                shares(),
                f"{_name(one)} looks here",
                record.mask_of(one),
            )
            for which, one in {"head": head, "other": other}.items()
        }
    )
    inspector.attention(record)
    return {
        "heads": str(record.n_heads),
        "head": _name(head),
        "other": _name(other),
        "cosine": _said(cosines[other]),
        "columns": f"{record.z.shape[-1]:,}",
        "width": f"{record.n_heads * record.z.shape[-1]:,}",
    }


def _is_alone(record: AttentionRecord) -> bool:
    if record.n_heads == 1:
        words.notice("This layer has one head: there is nothing to compare it with.")
    return record.n_heads == 1


def _likeness(view: View) -> Numbers:
    """Which heads look at the same, and which write the same."""
    record, head = view.record, view.head
    inspector.export(view, inspector.pattern_table(view))
    if _is_alone(record):
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
        "apart": _apart,
        "alike": _likeness,
        "split": _put_together,
        "written": _written,
        "rank": _directions,
    },
    wide=("apart", "alike", "split"),
    needs_two=("apart", "alike"),
    source=(
        "model.analysis.several.contributions",
        "model.analysis.several.spectra",
        "model.analysis.several.effective_rank",
        "model.attention.MultiHeadAttention",
    ),
)
