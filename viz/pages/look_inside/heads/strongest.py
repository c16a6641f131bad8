"""The chosen head: its words, its numbers, and the sentence of the text that wakes it most."""

from functools import partial

import numpy as np

from model.analysis.measures import MEASURES
from model.analysis.why.rule import RESTS, Counted, Rules
from model.survey.stored import Strongest
from viz.digits import digits
from viz.frame import box, gradual, layout, links, words
from viz.frame.view import View
from viz.labels import visible
from viz.pages.look_inside.heads.reading import Reading

MOST_RULES = 3  # that are shown of a head


def draw(view: View, reading: Reading, axes: tuple[str, str, str], rules: Rules | str) -> None:
    """Draw what is said of the chosen head."""
    head = view.layer * reading.n_heads + view.head
    layout.section(
        reading.names[head],
        reading.words(head),
        "Each word is a measure that reaches its bound; the counts below have the bounds. A look "
        f"is a query’s strongest key, with a weight of at least {RESTS}. It is by place alone, by "
        "the key whoever asks, by the query alone or by a match of both, and the rule says which "
        "words make it: “Why there?” on Attention takes one look apart.",
    )
    names = list(dict.fromkeys([*axes, *(x.measure for x in reading.traits[head])]))
    words.facts([(reading.number(name, head), MEASURES[name].short) for name in names])
    _looks(view, reading, rules)
    found = reading.strongest[view.layer][view.head] if reading.strongest else None
    if found is not None:
        _woken(found)
    words.ways(_ways_on(view, reading, head, found))


def _looks(view: View, reading: Reading, rules: Rules | str) -> None:
    """By which rules the head looks, the most frequent first, as far as they are counted."""
    if isinstance(rules, str):
        return words.caption(rules)
    own = rules.heads[view.layer, view.head]
    return gradual.draw(
        rules, partial(_by_rule, own), lambda: _how_far(own, rules, reading.corpus.said), "rules"
    )


def _by_rule(own: Counted) -> None:
    n, found = own.rules.total(), own.rules.most_common(MOST_RULES)
    if found:
        words.table(
            {
                "rule: what counts most": [rule for rule, _ in found],
                "looks": [f"{count:,} of {n:,}" for _, count in found],
            }
        )


def _how_far(own: Counted, rules: Rules, said: str) -> str:
    if rules.is_done:
        none = "" if own.rules else "It has no look: no weight is so large. "
        look = f"A look is a query’s strongest key, with weight {RESTS} or more."
        return f"{none}Counted on {said}. {look}"
    return f"Counted on {rules.progress:.0%} of {said}."


def _woken(found: Strongest) -> None:
    """The input on which an arrow of this head moves most."""
    if found.text:
        words.caption("Its top-activating text; the edge that moves most in it:")
        words.quote(found.text, found.target)
    else:
        words.caption(
            f"Test picture {found.number} activates it most; the edge that moves most in it:"
        )
    query = f"{visible(found.query_token)} ({found.query})"
    key = f"{visible(found.key_token)} ({found.key})"
    words.pair(query, key, "")
    weight, norm = digits(found.weight, 3), digits(found.norm, 2)
    words.caption(f"weight {weight}, ‖αv·W_O‖ {norm}, as the survey has it")


def _ways_on(view: View, reading: Reading, head: int, found: Strongest | None) -> list[words.Way]:
    """To Attention with the chosen head; of an input that was made, first with the strongest."""
    if not reading.sentence:
        return [_way_on(view, reading.names[head], found)]
    best = int(np.nanargmax(reading.values(reading.leads)))
    says = dict.fromkeys((head,), "Its map on these tokens") | {best: "Strongest on these tokens"}
    return [_on_made(view, reading, one, says[one]) for one in dict.fromkeys((best, head))]


def _on_made(view: View, reading: Reading, head: int, says: str) -> words.Way:
    """To Attention on the input that was made, with one head."""
    layer, number = divmod(head, reading.n_heads)
    where = {"layer": layer, "head": number, "attention": view.attention}
    address = links.to(view, "Attention", **box.address_of(reading.sentence), **where)
    value = f"{reading.number(reading.leads, head)} {MEASURES[reading.leads].short}"
    return words.Way(f"{reading.names[head]} on Attention", f"{says}: {value}.", "", address)


def _way_on(view: View, name: str, found: Strongest | None) -> words.Way:
    """To Attention: with the text that wakes the head, where there is one, and the arrow in it."""
    where = {"layer": view.layer, "head": view.head, "attention": view.attention}
    if found is None or not found.text:
        address = links.to(view, "Attention", **where)
        return words.Way(
            f"{name} on Attention", "Its map on this input, step by step.", "", address
        )
    where |= box.address_of(found.text)
    if not found.target:
        where |= {"cell": f"{found.query}-{found.key}"}
    address = links.to(view, "Attention", **where)
    return words.Way("Open on this sentence", f"{view.head_name} on Attention.", "", address)
