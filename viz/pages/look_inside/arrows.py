"""The arrows that *Findings* tells of: a copy that a head looks for, and the longest vector."""

from dataclasses import dataclass

from model.analysis.ablation import Part
from model.analysis.findings import Found, strongest_copy
from model.trace import AttentionRecord, Site, Stream
from viz.digits import digits
from viz.frame import answers, links
from viz.frame.numbers import Number, Piece, Said, Word, number, stated, word
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
        none: Said = [
            "No token comes twice with another after it, as far as a head may attend: weight ",
            number(shown.view.run, "found.copy", 0.0, "0"),
            ".",
        ]
        return "No copy", none, shown.link("Heads")
    stream = trace.stream(shown.record(found.site).queries)
    layer, head, query, key = _place(shown, found, "copies")
    said: list[Piece] = [
        "From “",
        token_of(shown, stream, found.query),
        "” (",
        query,
        ") it attends to “",
        token_of(shown, stream, found.key),
        "” (",
        key,
        "), which came after “",
        token_of(shown, stream, found.key - 1),
        "” before: weight ",
        number(shown.view.run, "found.copy", found.value, digits(found.value, 3)),
        ", the largest of this kind",
    ]
    if trace.facts.architecture == "decoder":
        copied = int(trace.ids[found.key])
        probability = probability_of(shown.view.run, found.query, copied)
        address = f"judged.probs.{found.query}.{copied}[0]"
        said += [
            ". The model gives “",
            token_of(shown, stream, found.key),
            "” as the next token p = ",
            number(shown.view.run, address, probability, digits(probability, 3)),
        ]
    title = [*_name(shown, found, layer, head), " looks for a copy"]
    return title, [*said, "."], _cell(shown, found)


def heaviest(shown: Shown) -> Finding | None:
    """The arrow that adds the longest vector."""
    view, found = shown.view, shown.scan.heaviest
    if found is None:
        return None
    record = shown.record(found.site)
    trace = view.run.trace
    layer, head, query, key = _place(shown, found, "arrows")
    return (
        [*_name(shown, found, layer, head), " carries most"],
        [
            "“",
            token_of(shown, trace.stream(record.queries), found.query),
            "” (",
            query,
            ") → “",
            token_of(shown, trace.stream(record.keys), found.key),
            "” (",
            key,
            ") adds a vector of length ",
            number(view.run, "found.longest", found.value, digits(found.value, 2)),
            ", the longest of all arrows: its weight is ",
            _weight(shown, found),
            ", times its value through W_O.",
        ],
        _cell(shown, found),
    )


def _weight(shown: Shown, found: Found) -> Number:
    record = shown.record(found.site)
    weight = float(record.pattern[found.head, found.query, found.key])
    address = f"{found.site.address}.pattern[{found.head},{found.query},{found.key}]"
    return number(shown.view.run, address, weight, digits(weight, 3))


def _place(shown: Shown, found: Found, what: str) -> list[Number]:
    """Layer, head, query and key of an arrow that is said to have the most of its kind."""
    place = (found.site.layer, found.head, found.query, found.key)
    return stated(shown.view.run, f"{found.site.group}.{what}", place)


def token_of(shown: Shown, stream: Stream, place: int) -> str | Word:
    """The label of a token, or of a patch by its place."""
    label = answers.labels_of(stream)[place]
    if stream.ids is None:
        return label
    return word(shown.view.run, f"{stream.name}.ids[{place}]", label)


def _name(shown: Shown, found: Found, layer: Number, head: Number) -> list[Piece]:
    """The head's name, of whose layer and number an address has said that they are right."""
    part = Part(
        found.site.stack, found.site.address.rpartition(".")[2], found.site.layer, found.head
    )
    trace = shown.view.run.trace
    return [name_of(part, trace)] if len(trace.streams) > 1 else ["L", layer, " H", head]


def _cell(shown: Shown, found: Found) -> str:
    """The address of an arrow under the microscope."""
    where = shown.of_site(found.site, found.head)
    return shown.link("Attention", **where, cell=f"{found.query}-{found.key}")
