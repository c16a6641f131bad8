"""The arrows that *Findings* tells of: a copy that a head looks for, and the longest vector."""

from dataclasses import dataclass

from model.analysis.ablation import Part
from model.analysis.findings import Found, strongest_copy
from model.trace import AttentionRecord, Site, Stream
from viz.digits import digits
from viz.frame import answers, links
from viz.frame.said import Piece, Said, Word
from viz.frame.view import View
from viz.pages.experiments.ablation.shared import name_of, probability_of
from viz.runs.finding import Scan

Finding = tuple[Said, Said, str]


@dataclass(frozen=True, eq=False)
class Shown:
    """The input on screen, and what is known of its heads."""

    view: View
    scan: Scan

    def link(self, page: str, **more: object) -> str:
        """The address of another view of this input."""
        return links.to(self.view, page, **more)

    def of_site(self, site: Site, head: int) -> dict[str, object]:
        """The part of an address that chooses a head."""
        record = self.record(site)
        group = next(group for group in self.view.run.trace.groups if record in group.records)
        return {"attention": group.name, "layer": site.layer, "head": head}

    def record(self, site: Site) -> AttentionRecord:
        """What was recorded at a site."""
        return next(x for x in self.view.run.trace.attention if x.site == site)


def copied(shown: Shown) -> Finding | None:
    """The copy that an induction head makes, or that there is nothing to copy; none of pictures."""
    trace = shown.view.run.trace
    if trace.main.ids is None:
        return None
    found = strongest_copy(trace)
    if found is None:
        none = "No token comes twice with another after it, as far as a head may attend: weight 0."
        return "No copy", none, shown.link("Heads")
    stream = trace.stream(shown.record(found.site).queries)
    said: list[Piece] = [
        "From “",
        token_of(stream, found.query),
        f"” ({found.query}) it attends to “",
        token_of(stream, found.key),
        f"” ({found.key}), which came after “",
        token_of(stream, found.key - 1),
        f"” before: weight {digits(found.value, 3)}, the largest of this kind",
    ]
    if trace.facts.architecture == "decoder":
        copied = int(trace.ids[found.key])
        probability = probability_of(shown.view.run, found.query, copied)
        said += [
            ". The model gives “",
            token_of(stream, found.key),
            f"” as the next token p = {digits(probability, 3)}",
        ]
    return f"{_name(shown, found)} looks for a copy", [*said, "."], _cell(shown, found)


def heaviest(shown: Shown) -> Finding | None:
    """The arrow that adds the longest vector."""
    view, found = shown.view, shown.scan.heaviest
    if found is None:
        return None
    record = shown.record(found.site)
    trace = view.run.trace
    weight = float(record.pattern[found.head, found.query, found.key])
    return (
        f"{_name(shown, found)} carries most",
        [
            "“",
            token_of(trace.stream(record.queries), found.query),
            f"” ({found.query}) → “",
            token_of(trace.stream(record.keys), found.key),
            f"” ({found.key}) adds a vector of length {digits(found.value, 2)}, the longest of all "
            f"arrows: its weight is {digits(weight, 3)}, times its value through W_O.",
        ],
        _cell(shown, found),
    )


def token_of(stream: Stream, place: int) -> str | Word:
    """The label of a token, or of a patch by its place."""
    label = answers.labels_of(stream)[place]
    if stream.ids is None:
        return label
    return Word(label)


def _name(shown: Shown, found: Found) -> str:
    part = Part(
        found.site.stack, found.site.address.rpartition(".")[2], found.site.layer, found.head
    )
    return name_of(part, shown.view.run.trace)


def _cell(shown: Shown, found: Found) -> str:
    """The address of an arrow under the microscope."""
    where = shown.of_site(found.site, found.head)
    return shown.link("Attention", **where, cell=f"{found.query}-{found.key}")
