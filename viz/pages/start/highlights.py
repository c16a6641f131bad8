"""Three highlights of a sentence, each the extreme of a measure and a link to its view."""

from dataclasses import dataclass

from model.analysis.ablation import Part
from model.analysis.circuits import value_norms
from model.analysis.findings import Copied, Edge, copied, heaviest_arrow, settled_from
from model.trace import AttentionRecord
from viz import runs
from viz.digits import digits
from viz.frame import links
from viz.frame.answers import probability_of
from viz.frame.said import Said, Word
from viz.frame.view import View
from viz.labels import token_labels, visible
from viz.pages.experiments.ablation.shared import name_of
from viz.runs import ablating
from viz.runs.kept import kept

Highlight = tuple[Said, Said, str]  # its title, what the numbers say, and the address it opens


def highlights(view: View) -> list[Highlight]:
    """A copy that a head looks for, the layer that has the answer, and the heaviest arrow."""
    shown = _Shown(view)
    found = [shown.copied(), shown.settled(), shown.heaviest()]
    return [one for one in found if one is not None]


@kept
def _heaviest(key: str, handle: runs.ModelHandle, _run: runs.Run) -> Edge | None:
    model, records = ablating.model_of(handle), _run.trace.attention
    return heaviest_arrow(records, [value_norms(record, model) for record in records])


@kept
def _copied(key: str, _run: runs.Run) -> Copied | None:
    return copied(_run.trace)


@dataclass(frozen=True, eq=False)
class _Shown:
    view: View

    def copied(self) -> Highlight | None:
        """The induction head, and what it copies; None where none is named or nothing is copied."""
        found = _copied(self.view.run.key, self.view.run)
        if found is None:
            return None
        edge, role = found.edge, found.role
        run, copy = self.view.run, int(self.view.run.trace.ids[edge.key])
        said = [
            f"On average {digits(role.value, 2)} of its weight lies on what followed the same "
            f"token before. At {found.n_predicted} of {role.n_queries} repeats the model predicts "
            "that token next: from “",
            *(self._token(edge.query), "” to “", self._token(edge.key)),
            f"” with weight {digits(edge.value, 2)}, {_p(probability_of(run, edge.query, copy))}.",
        ]
        return f"{self._name(edge)} attends after copies (induction)", said, self._cell(edge)

    def settled(self) -> Highlight | None:
        """The layer from which the logit lens has the answer; None where it is the last."""
        view = self.view
        if not view.offers >= {"decoder", "residuals", "vocabulary", "readout"}:
            return None
        last = len(view.tokens) - 1
        lens = runs.lens(view.handle, view.sentence, [last])
        row = settled_from(lens.ids[:, -1, 0].tolist())
        if row == len(lens.ids) - 1:
            return None
        answer = visible(runs.vocabulary(view.handle)[int(lens.ids[-1, -1, 0])])
        where = f"after L{row - 1}" if row else "before the first layer"
        p = _p(float(lens.probs[row, -1, 0]))
        said = [
            f"After {row} of {len(lens.ids) - 1} layers the logit lens has “",
            *(Word(answer), f"” as the most likely next token, and keeps it: {p}."),
        ]
        link = links.to(view, "Logit lens", layer=max(row - 1, 0), token=last)
        return f"The answer is there {where}", said, link

    def heaviest(self) -> Highlight | None:
        """The arrow that adds the longest vector; None where no query has a choice."""
        if "weights" not in self.view.offers:
            return None
        found = _heaviest(self.view.run.key, self.view.handle, self.view.run)
        if found is None:
            return None
        weight = float(self._record(found).pattern[found.head, found.query, found.key])
        said = [
            *(
                "“",
                self._token(found.query),
                "” → “",
                self._token(found.key),
                "” adds a vector of ",
            ),
            f"length {digits(found.value, 1)}, the longest of all: its weight {digits(weight, 2)}, "
            "times its value through W_O.",
        ]
        return f"{self._name(found)} carries most", said, self._cell(found)

    def _record(self, found: Edge) -> AttentionRecord:
        return self.view.run.trace.record(found.site)

    def _token(self, place: int) -> Word:
        return Word(token_labels(self.view.tokens)[place])

    def _name(self, found: Edge) -> str:
        module = found.site.address.rpartition(".")[2]
        part = Part(found.site.stack, module, found.site.layer, found.head)
        return name_of(part, self.view.run.trace)

    def _cell(self, found: Edge) -> str:
        """The address of an edge on Attention."""
        where = {"layer": found.site.layer, "head": found.head}
        cell = f"{found.query}-{found.key}"
        return links.to(self.view, "Attention", **where, cell=cell)


def _p(probability: float) -> str:
    """As p = 0.12, or p < 0.01."""
    said = digits(probability, 2)
    return f"p {said}" if said.startswith("<") else f"p = {said}"
