"""How many heads do what, and what is said of heads in general, held against the counts."""

from model.analysis.heads import Trait
from viz.frame import layout, words
from viz.frame.said import Said
from viz.pages.look_inside.heads.measures import MEASURES, NO_ROLE, TRAITS
from viz.pages.look_inside.heads.reading import Reading, in_words

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
    shown = [trait for trait in TRAITS if reading.has(trait[0])]
    heads = [reading.clearest(trait) for trait in shown]
    n_none = sum(not said for said in reading.traits)
    total = len(reading.names)
    words.table(
        {
            "word": [*(TRAITS[trait].word for trait in shown), NO_ROLE],
            "measure": [*(f"{MEASURES[t[0]].name} {in_words(t)}" for t in shown), "none of these"],
            "heads": [
                *(f"{len(h)} of {total}" for h in heads),
                f"{n_none} of {total}",
            ],
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
    said = [claim for claim in _claims(reading, total) if claim]
    words.claims(said)


def _clearest(reading: Reading, trait: Trait, heads: list[int]) -> str:
    named = (f"{reading.names[i]} {reading.number(trait[0], i, 2)}" for i in heads[:NAMED])
    return ", ".join(named) or "none"


def _claims(reading: Reading, total: int) -> list[tuple[Said, Said] | None]:
    """Each claim and what the counts say of it; None where its measure is not there."""
    return [
        _claim(reading, total, "Some heads track the previous token", ("previous", False)),
        _syntax(reading, total),
        _claim(reading, total, "Induction heads carry on what came before", ("prefix", False)),
        _claim(reading, total, "Heads rest on the first token, a sink", ("first", False)),
        _claim(reading, total, "Heads copy what they attend to", ("copying", False)),
    ]


def _claim(reading: Reading, total: int, text: str, trait: Trait) -> tuple[Said, Said] | None:
    if not reading.has(trait[0]):
        return None
    found = reading.clearest(trait)
    noun = "heads" if total != 1 else "head"
    answer = f"{len(found)} of {total} {noun} {TRAITS[trait].does} ({in_words(trait)})"
    if not found:
        values = reading.values(trait[0])
        best = max((i for i in range(total) if values[i] == values[i]), key=lambda i: values[i])
        answer += f"; the nearest is {reading.names[best]}, {reading.number(trait[0], best)}"
    return text, f"{answer}."


def _syntax(reading: Reading, total: int) -> tuple[Said, Said]:
    answer = "Not tested: no parse of the text is here, so no measure of ours says syntax."
    trait = ("kept", False)
    if reading.has(trait[0]):
        answer += (
            f" What they do say: {len(reading.clearest(trait))} of {total} keep half of their "
            "pattern when the words change places, so for these the place decides; for the others "
            "the words do, which may be syntax or not."
        )
    return "Some heads track syntax", answer
