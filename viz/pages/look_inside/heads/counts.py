"""How many heads do what, and what is said of heads in general, held against the counts."""

from model.analysis.heads import Trait
from viz.frame import layout, words
from viz.frame.numbers import Said, number
from viz.frame.view import View
from viz.pages.look_inside.heads.measures import MEASURES, NO_ROLE, TRAITS
from viz.pages.look_inside.heads.reading import Reading, in_words

NAMED = 4  # heads of a row, the clearest first


def draw(view: View, reading: Reading) -> None:
    """Draw both tables."""
    layout.section(
        "How many heads do what",
        "Counted by the bounds below; a head may have several words, or none.",
        "The bounds are ours: a third of all weight on one kind of token, half on the four "
        "nearest, rows nearly as even as they can be, half of the pattern kept when words change "
        "places, a copying score of one half either way. In a short sentence most tokens are near.",
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
                *(
                    _count(view, reading, t, len(h), total)
                    for t, h in zip(shown, heads, strict=True)
                ),
                [number(view.run, reading.address("none"), n_none, str(n_none)), f" of {total}"],
            ],
            "the clearest": [
                *(_clearest(view, reading, t, h) for t, h in zip(shown, heads, strict=True)),
                "",
            ],
        },
        texts=("measure", "the clearest"),
    )
    layout.section(
        "What is said of heads",
        "Claims of the literature and of other tools, held against these counts.",
    )
    said = [claim for claim in _claims(view, reading, total) if claim]
    words.claims(said)


def _count(view: View, reading: Reading, trait: Trait, n: int, total: int) -> Said:
    name, is_small = trait
    address = f"{reading.group}.{reading.prefix}{'few' if is_small else 'many'}_{name}"
    return [number(view.run, address, n, str(n)), f" of {total}"]


def _clearest(view: View, reading: Reading, trait: Trait, heads: list[int]) -> Said:
    parts: list = []
    end = "min" if trait[1] else "max"
    for place, head in enumerate(heads[:NAMED], 1):
        parts += [", "] * bool(parts)
        parts += [
            f"{reading.names[head]} ",
            reading.number(view, trait[0], head, 2, f"={end}{place}"),
        ]
    return parts or "none"


def _claims(view: View, reading: Reading, total: int) -> list[tuple[Said, Said] | None]:
    """Each claim and what the counts say of it; None where its measure is not there."""
    return [
        _claim(view, reading, total, "Some heads track the previous token", ("previous", False)),
        _syntax(view, reading, total),
        _claim(
            view, reading, total, "Induction heads carry on what came before", ("prefix", False)
        ),
        _claim(view, reading, total, "Heads rest on the first token, a sink", ("first", False)),
        _claim(view, reading, total, "Heads copy what they attend to", ("copying", False)),
    ]


def _claim(
    view: View, reading: Reading, total: int, text: str, trait: Trait
) -> tuple[Said, Said] | None:
    if not reading.has(trait[0]):
        return None
    found = reading.clearest(trait)
    answer: list = [*_count(view, reading, trait, len(found), total)]
    answer.append(f" {'heads' if total != 1 else 'head'} {TRAITS[trait].does} ({in_words(trait)})")
    if not found:
        values = reading.values(trait[0])
        best = max((i for i in range(total) if values[i] == values[i]), key=lambda i: values[i])
        answer += [
            f"; the nearest is {reading.names[best]}, ",
            reading.number(view, trait[0], best, which="=max"),
        ]
    return text, [*answer, "."]


def _syntax(view: View, reading: Reading, total: int) -> tuple[Said, Said]:
    answer: list = ["Not tested: no parse of the text is here, so no measure of ours says syntax."]
    trait = ("kept", False)
    if reading.has(trait[0]):
        found = reading.clearest(trait)
        answer += [
            " What they do say: ",
            *_count(view, reading, trait, len(found), total),
            " keep half of their pattern when the words change places, so for these the place "
            "decides; for the others the words do, which may be syntax or not.",
        ]
    return "Some heads track syntax", answer
