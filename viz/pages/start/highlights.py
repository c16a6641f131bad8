"""Highlights of a sentence, each with what was measured and a link to its view."""

from model.analysis.ablation import Part
from model.analysis.circuits import value_norms
from model.analysis.findings import Copied, Edge, copied, heaviest_arrow, settled_from
from model.analysis.why.reasons import DEEP
from viz import runs
from viz.digits import digits, share
from viz.frame import links
from viz.frame.answers import probability_of
from viz.frame.said import Piece, Said, Word
from viz.frame.view import View
from viz.labels import token_labels, visible
from viz.pages.experiments.ablation.shared import name_of
from viz.runs import ablating, heads, whys
from viz.runs.kept import kept

SHORT = 24  # tokens whose words are read in a moment
Highlight = tuple[Said, Said, str]  # its title, what the numbers say, and the address it opens


def highlights(view: View) -> list[Highlight]:
    """A copy that a head looks for, the layer that has the answer, the heaviest arrow, the way."""
    of_all = (_induction(view), _settled(view), _most_carried(view), _circuit(view))
    return [one for one in of_all if one is not None]


@kept
def _heaviest(key: str, handle: runs.ModelHandle, _run: runs.Run) -> Edge | None:
    model, records = ablating.model_of(handle), _run.trace.attention
    return heaviest_arrow(records, [value_norms(record, model) for record in records])


@kept
def _copied(key: str, _run: runs.Run) -> Copied | None:
    return copied(_run.trace)


def _induction(view: View) -> Highlight | None:
    """The induction head, and what it copies; None where none is named or nothing is copied."""
    run = view.run
    copy = _copied(run.key, run)
    if copy is None:
        return None
    edge, role = copy.edge, copy.role
    probability = probability_of(run, edge.query, int(run.trace.ids[edge.key]))
    said = [
        f"On average here, on what followed the same token before{_on_random(view, edge)}. "
        f"At {copy.n_predicted} of {role.n_queries} repeats the model predicts "
        "that token next: from ",
        *(*_token(view, edge.query), " to ", *_token(view, edge.key)),
        f" with weight {digits(edge.value, 2)}, {share(probability)} by the model."
        f"{_rule(view, edge)}",
    ]
    title = f"{_name(view, edge)} puts {digits(role.value, 2)} of its weight after earlier copies"
    return title, said, _cell(view, edge)


def _on_random(view: View, edge: Edge) -> str:
    """How much of it that is where only induction leads there, as far as that is stored."""
    try:
        survey = heads.survey(view.handle)
    except ValueError:
        return ""  # the page Heads says why
    prefix = None if survey is None else survey.measured(edge.site.group).get("prefix")
    if prefix is None:
        return ""
    on_random = float(prefix.values[edge.site.layer, edge.head])
    return f", and {digits(on_random, 2)} of it on random tokens said twice"


def _settled(view: View) -> Highlight | None:
    """The layer from which the logit lens has the answer; None where it is the last."""
    if not view.offers >= {"decoder", "residuals", "vocabulary", "readout"}:
        return None
    last = len(view.tokens) - 1
    lens = runs.lens(view.handle, view.given, [last])
    row, n_layers = settled_from(lens.ids[:, -1, 0].tolist()), len(lens.ids) - 1
    if row == n_layers:
        return None
    answer = visible(runs.vocabulary(view.handle)[int(lens.ids[-1, -1, 0])])
    there, end = (share(float(lens.probs[i, -1, 0])) for i in (row, -1))
    where = f"after L{row - 1}" if row else "before the first layer"
    said = [
        f"After {row} of {n_layers} layers the logit lens has “",
        Word(answer),
        f"” as the most likely next token, and it stays so: {there} {where}, {end} at the end.",
    ]
    link = links.to(view, "Logit lens", layer=max(row - 1, 0), token=last)
    return f"The answer is there {where}", said, link


def _most_carried(view: View) -> Highlight | None:
    """The arrow that adds the longest vector; None where no query has a choice."""
    if "weights" not in view.offers:
        return None
    edge = _heaviest(view.run.key, view.handle, view.run)
    if edge is None:
        return None
    pattern = view.run.trace.record(edge.site).pattern
    weight = digits(float(pattern[edge.head, edge.query, edge.key]), 2)
    said = [
        *(*_token(view, edge.query), " → ", *_token(view, edge.key)),
        f" adds a vector of length {digits(edge.value, 1)}, the longest of all: its weight "
        f"{weight}, times its value through W_O.{_rule(view, edge)}",
    ]
    return f"{_name(view, edge)} carries most", said, _cell(view, edge)


def _circuit(view: View) -> Highlight | None:
    """How the most likely next token comes about; None of a model or a text without a circuit."""
    if not view.offers >= {"answers", "edits", "decoder", "vocabulary"} or len(view.tokens) < 2:
        return None
    last = len(view.tokens) - 1
    answer = int(view.run.trace.logits[last].argmax())
    p = share(probability_of(view.run, last, answer))
    said = (
        f"The most likely next token, {p} by the model: which words lead to it, by which heads "
        "and MLPs."
    )
    word = Word(visible(runs.vocabulary(view.handle)[answer]))
    return ["How “", word, "” comes about"], said, links.to(view, "Circuit")


def _token(view: View, place: int) -> list[Piece]:
    return ["“", Word(token_labels(view.tokens)[place]), f"” ({place})"]


def _rule(view: View, edge: Edge) -> str:
    """What counts in most of the head’s looks here, where one rule holds, read in a moment."""
    run = view.run
    if len(run.trace.main) > SHORT or len(run.trace.attention) > DEEP:
        return ""
    looks = whys.of_head(view.handle, run, edge.site, edge.head)
    n = f"{looks.rules[looks.holds]} of its {looks.rules.total()}"
    return f" In {n} looks here what counts most is {looks.holds}." if looks.holds else ""


def _name(view: View, edge: Edge) -> str:
    module = edge.site.address.rpartition(".")[2]
    part = Part(edge.site.stack, module, edge.site.layer, edge.head)
    return name_of(part, view.run.trace)


def _cell(view: View, edge: Edge) -> str:
    """The address of an edge on Attention."""
    where = {"layer": edge.site.layer, "head": edge.head}
    return links.to(view, "Attention", **where, cell=f"{edge.query}-{edge.key}")
