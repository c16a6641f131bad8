"""Contributions: who made this answer? One logit as the sum of what every part added to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.attribution import Attribution
from model.analysis.metrics import DIFFERENCE, Metric
from model.names import head_name
from model.trace import AttentionRecord, Site
from viz.charts.chart import Axis, signed
from viz.digits import digits
from viz.figures.attribution import head_axes, named_bars, part_map, token_bars, waterfall
from viz.formulas import experiments as formulas
from viz.frame import answers, inspector, layout, links, second, state, tables, words
from viz.frame.page import Page
from viz.frame.settings import HEAD, HEAD_GROUP, LAYER, METRIC, NEURON
from viz.frame.view import View
from viz.runs import attributing

ALLOWED = 1e-4  # by which the parts may miss the logit
MOST_NEURONS = 12
MOST_CELLS, MOST_HEADS = 100, 14  # of a map of heads; with more, these many are bars
MOST_WORDS = 6  # at either end
SHARE = "share in the logit"
ATTRIBUTE = "model.analysis.attribution.attribute"


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of this run: a logit, and what is looked at of its parts."""

    view: View
    answer: Metric
    found: Attribution
    record: AttentionRecord  # the site of the chosen head
    head: int

    @property
    def head_name(self) -> str:
        """The chosen head, as in L2 H5."""
        return _head_name(self.record.site, self.head)


def render(view: View) -> None:
    """Draw the page."""
    with layout.slim_row("answer"):
        answer = _answer(view)
    asked = _asked(view, answer)
    _formulas(asked)
    left, right = layout.two_up("whole")
    with left:
        chart = waterfall(asked.found.names, asked.found.parts, "Share of each sublayer")
        layout.show_chart(chart, key="waterfall")
    with right:
        _heads(asked)
    _facts(asked)
    _one_head(asked)
    if asked.found.neurons.size:
        _neurons(asked)
    if "text" in view.offers:
        _on_second(asked)
    _ways_on(asked)
    inspector.source(
        ATTRIBUTE,
        "model.analysis.attribution.words_of_head",
        "model.frozen_norm.FrozenNorm",
    )
    neurons = asked.found.neurons
    shares = {"part": asked.found.names, SHARE: asked.found.parts}
    every_one = {
        "Every sublayer": lambda: tables.csv(shares),
        "Every neuron": lambda: tables.matrix_csv(neurons, corner="layer \\ neuron"),
    }
    inspector.export(view, every_one)


def _answer(view: View) -> Metric:
    position = answers.position_of(view)
    logits = answers.logits_of(view.run)[position].astype(np.float64)
    falling = np.argsort(-logits, kind="stable").tolist()
    metric = METRIC.given(options=("logit", "difference"))  # these alone are sums of shares
    return answers.ask(view, position, (falling[0], falling[1 % len(falling)]), falling, metric)


def _asked(view: View, answer: Metric) -> Asked:
    against = answer.other if answer.kind == DIFFERENCE else None
    found = attributing.attribution(
        view.handle, view.run, view.run.key, answer.position, answer.answer, against
    )
    if view.site.address in found.heads:
        record = view.record
    else:  # the encoder of a translation acts by way of other heads
        last = list(found.heads)[-1]
        record = next(x for x in view.run.trace.attention if x.site.address == last)
    return Asked(view, answer, found, record, min(view.head, record.n_heads - 1))


def _facts(asked: Asked) -> None:
    view, answer, found = asked.view, asked.answer, asked.found
    if view.site.address not in found.heads:
        words.notice(
            f"No logit depends directly on {view.group.title}: it acts by way of other heads. "
            f"Showing {_row_name(asked.record.site)}."
        )
    probability = digits(answers.probability_of(view.run, answer.position, answer.answer), 3)
    kind = "class" if view.run.trace.facts.predicts == "class" else "token"
    called = "logit of the model" if found.against is None else "difference of two logits"
    words.facts(
        [
            (digits(found.logit), called),
            (digits(float(found.parts.sum())), f"sum of {len(found.parts)} shares"),
            (f"{found.error:.0e}", f"error (allowed {ALLOWED:.0e})"),
            (probability, f"probability of the {kind}"),
        ]
    )
    inspector.check(
        found.error <= ALLOWED,
        f"the shares sum to the logit, error {found.error:.1e}, allowed {ALLOWED:.0e}.",
    )


def _heads(asked: Asked) -> None:
    found = asked.found
    sites = [record.site for record in asked.view.run.trace.attention]
    own = [site for site in sites if site.address in found.heads]
    values = np.stack([found.heads[site.address] for site in own])

    def look_at(row: int, head: int) -> None:
        state.put((HEAD_GROUP, own[row].group), (LAYER, own[row].layer), (HEAD, head))

    if values.size > MOST_CELLS:
        _largest_heads(own, values, look_at)
        return
    axes = head_axes(list(map(_row_name, own)), values.shape[1])
    chosen = own.index(asked.record.site), asked.head
    scale = signed(SHARE, values)
    chart = part_map(axes, values, scale, "Share of each head: click one", chosen=chosen)
    layout.show_chart(chart, key="heads", on_pick=look_at)


def _largest_heads(
    own: Sequence[Site], values: np.ndarray, look_at: Callable[[int, int], None]
) -> None:
    """Of many heads those with the largest shares, (L, H): a map of all has hardly a colour."""
    order = np.argsort(-np.abs(values).ravel(), kind="stable")[:MOST_HEADS]
    places = [divmod(int(place), values.shape[1]) for place in order]
    names = [_head_name(own[row], head) for row, head in places]
    title = f"Largest shares of {values.size} heads: click one"
    chart = named_bars(names, values.ravel()[order], SHARE, title)
    layout.show_chart(chart, key="heads", on_pick=lambda row, _: look_at(*places[row]))


def _head_name(site: Site, head: int) -> str:
    return head_name(site.layer, head, "" if site.kind == "self" else "cross")


def _row_name(site: Site) -> str:
    return f"L{site.layer}" if site.kind == "self" else f"L{site.layer} cross"


# --- one head ---------------------------------------------------------------------------------


def _one_head(asked: Asked) -> None:
    layout.section(
        f"Head {asked.head_name}",
        "Which tokens did it take its share from, and which answers does it push?",
        "A head writes the sum of weight × value over its keys, so its share in the logit is the "
        "sum of one share per key. Its output through the norm and the unembedding says which "
        "tokens it pushes up and down at this position.",
    )
    left, right = layout.two_up("head")
    view, site, head = asked.view, asked.record.site, asked.head
    with left:
        keys = answers.labels_of(view.run.trace.stream(asked.record.keys))
        title = f"Share of {asked.head_name} by the key it attends to"
        chart = token_bars(keys, asked.found.keys[site.address][head], Axis(SHARE), title)
        layout.show_chart(chart, key="keys")
    with right:
        pushed = attributing.by_head(view.handle, view.run, site, head, asked.answer.position)
        _words(asked, pushed, f"Pushed by {asked.head_name}", "head-words")


def _words(asked: Asked, pushed: np.ndarray, title: str, key: str) -> None:
    """The tokens with most added to them and most taken, never one twice."""
    names = answers.names_of(asked.view)
    falling, most = np.argsort(-pushed, kind="stable"), min(MOST_WORDS, len(names) // 2)
    ids = [*falling[:most], *falling[-most:]]
    chart = named_bars([names[i] for i in ids], pushed[ids], "added to the logit", title)
    layout.show_chart(chart, key=key)


# --- neurons ----------------------------------------------------------------------------------


def _neurons(asked: Asked) -> None:
    view, shares = asked.view, asked.found.neurons
    layout.section(
        "Neurons",
        "The largest shares of neurons of all layers; click one to see its words.",
        "An MLP is a sum over its neurons: activation × row of W_down (Geva et al. "
        "2021). Each neuron’s share is made in the same way as a head’s.",
    )
    order = np.argsort(-np.abs(shares).ravel(), kind="stable")[:MOST_NEURONS]
    places = [divmod(int(place), shares.shape[1]) for place in order]
    setting = NEURON.given(limits=shares.shape)
    layer, neuron = state.value(setting) or places[0]
    left, right = layout.two_up("neurons")
    with left:
        names = [f"L{layer} N{neuron}" for layer, neuron in places]
        title = "Largest shares of neurons: click one"
        chart = named_bars(names, shares.ravel()[order], SHARE, title)

        def look_at(row: int, _: int) -> None:
            state.put((setting, list(places[row])))

        layout.show_chart(chart, key="neurons", on_pick=look_at)
    with right:
        position = asked.answer.position
        pushed = attributing.by_neuron(view.handle, view.run, layer, neuron, position)
        _words(asked, pushed, f"Pushed by neuron L{layer} N{neuron}", "neuron-words")


# --- a second prompt --------------------------------------------------------------------------


def _on_second(asked: Asked) -> None:
    """What the same parts add to the same logit elsewhere, and where that differs most."""
    layout.section(
        "On a second prompt",
        "What do the same parts add to the same answer where a word is another?",
        "The answer and its position stay; each difference is the share here less the share there.",
    )
    view, answer, found = asked.view, asked.answer, asked.found
    run = second.run(view)
    if run is None:
        words.caption(second.ASKS)
        return
    first, other = view.run.trace.main, run.trace.main
    second.draw_rows(first.labels, other.labels)
    if len(first) != len(other):
        words.notice("Give a second prompt of as many tokens, so that its position is the same.")
        return
    there = attributing.attribution(
        view.handle, run, run.key, answer.position, answer.answer, found.against
    )
    left, right = layout.two_up("second")
    with left:
        title = "Share of each sublayer, on the second prompt"
        layout.show_chart(waterfall(there.names, there.parts, title), key="waterfall-second")
    with right:
        differences = found.parts - there.parts
        order = np.argsort(-np.abs(differences), kind="stable")[:MOST_NEURONS]
        names = [found.names[i] for i in order]
        chart = named_bars(names, differences[order], "here − there", "Where they differ most")
        layout.show_chart(chart, key="differences")


# --- the rest ---------------------------------------------------------------------------------


def _ways_on(asked: Asked) -> None:
    site = asked.record.site
    head = {"attention": site.group, "layer": site.layer, "head": asked.head}
    address = links.to(asked.view, "Attention", **head)
    title = f"{asked.head_name} on Attention"
    words.ways([words.Way(title, "Every weight of this head, on the same input.", query=address)])


def _formulas(asked: Asked) -> None:
    found = asked.found
    facts = asked.view.run.trace.facts
    written = formulas.attribution(
        norm=facts.norm or "layer",
        norm_placement=facts.norm_placement or "pre",
        has_two=found.against is not None,
    )
    inspector.formula(ATTRIBUTE, written)
    inspector.formula(
        ATTRIBUTE, formulas.attribution_with_numbers(found.names, found.parts, found.logit)
    )
    if facts.norm_placement == "post":
        inspector.note(
            "With post-norm the stream passes a norm after every sublayer. All of those that "
            "follow a part keep the scale of this run: the sum is exact, and more is held fixed "
            "than where only the last norm follows."
        )


PAGE = Page(
    "Contributions",
    ":material/waterfall_chart:",
    "Who made this answer? Each part of the model adds its share to the logit.",
    "Direct logit attribution (Elhage et al. 2021): embedding, heads, neurons and biases write "
    "into one stream, of which the unembedding makes logits. The scale of the last norm is "
    "taken as it was in this run: then the shares sum to the logit. What a part does by way "
    "of later layers is counted there.",
    render,
    needs=("answers", "parts"),
)
