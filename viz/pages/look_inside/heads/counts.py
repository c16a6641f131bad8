"""How many heads do what, and what is said of heads in general, held against the counts."""

import numpy as np

from model.analysis.measures import MEASURES, TRAITS, Trait
from viz.frame import layout, words
from viz.pages.look_inside.heads.reading import NO_ROLE, Reading, in_words

BY_PLACE, INDUCTION = "kept", "Induction heads carry on what came before"
CLAIMS = {  # and the measure whose large values come nearest to what each says
    "Some heads track the previous token": "previous",
    "Some heads track syntax": BY_PLACE,
    INDUCTION: "prefix",
    "Heads rest on the first token, a sink": "first",
    "Heads copy what they attend to": "copying",
}
NAMED = 4  # heads of a row, the clearest first


def draw(reading: Reading) -> None:
    """Draw both tables."""
    layout.section(
        "How many heads do what",
        "Counted by the bounds below; a head may have several words, or none.",
        "The bounds are ours: a third of all weight on one kind of token, half on tokens 1 to 4 "
        "places away, rows nearly as even as they can be, half of the pattern kept when words "
        "change places, a copying score of one half either way. In a short sentence most are near.",
    )
    shown = [trait for trait in TRAITS if reading.has(trait.measure)]
    heads = [reading.clearest(trait) for trait in shown]
    n_none = sum(not said for said in reading.traits)
    total = len(reading.names)
    words.table(
        {
            "word": [*(trait.word for trait in shown), NO_ROLE],
            "measure": [
                *(f"{MEASURES[t.measure].name} {in_words(t)}" for t in shown),
                "none of these",
            ],
            "heads": [*(f"{len(h)} of {total}" for h in heads), f"{n_none} of {total}"],
            "the clearest": [
                *(_clearest(reading, t, h) for t, h in zip(shown, heads, strict=True)),
                "",
            ],
        },
        texts=("measure", "the clearest"),
    )
    layout.section(
        "What is said of heads",
        "Claims of the literature and of other tools, held against these counts.",
    )
    claims = CLAIMS | ({INDUCTION: reading.leads} if reading.leads else {})
    told = {text: x for text, x in claims.items() if x == BY_PLACE or reading.has(x)}
    words.claims([(text, _answer(reading, total, name)) for text, name in told.items()])


def _clearest(reading: Reading, trait: Trait, heads: list[int]) -> str:
    named = (f"{reading.names[i]} {reading.number(trait.measure, i)}" for i in heads[:NAMED])
    return ", ".join(named) or "none"


def _answer(reading: Reading, total: int, name: str) -> str:
    """What the counts say of a claim."""
    trait = MEASURES[name].large
    assert trait is not None, name
    heads = reading.clearest(trait) if reading.has(name) else []
    if name == BY_PLACE:
        answer = "Not tested: no parse of the text is here, so no measure of ours says syntax."
        if not reading.has(name):
            return answer
        return (
            f"{answer} What they do say: {len(heads)} of {total} keep half of their pattern when "
            "the words change places, so for these the place decides; for the others the words "
            "do, which may be syntax or not."
        )
    noun = "heads" if total != 1 else "head"
    answer = f"{len(heads)} of {total} {noun} {trait.do} ({in_words(trait)})"
    if not heads:
        best = int(np.nanargmax(reading.values(name)))
        answer += f"; the nearest is {reading.names[best]}, {reading.number(name, best)}"
    return f"{answer}."
