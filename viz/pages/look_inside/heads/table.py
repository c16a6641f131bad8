"""All heads in a table, and all their measures as CSV."""

import numpy as np

from viz.figures.labels import visible
from viz.frame import layout, tables, words
from viz.pages.look_inside.heads.measures import MEASURES
from viz.pages.look_inside.heads.reading import Reading


def draw(reading: Reading, axes: tuple[str, str, str]) -> None:
    """Draw the words and the chosen measures of every head."""
    layout.section(
        "All heads",
        "Their words, and the measures chosen above. The export has every measure.",
    )
    shown = dict.fromkeys(axes)
    words.table(
        {
            "head": reading.names,
            "words": [reading.words(head) for head in range(len(reading.names))],
            **{
                MEASURES[name].name: [
                    reading.number(name, head) for head in range(len(reading.names))
                ]
                for name in shown
            },
        },
        texts=("words",),
    )


def csv(reading: Reading) -> bytes:
    """One line for each head: its words, every measure, and the text that wakes it most."""
    columns: dict[str, object] = {
        "head": [name.replace("\u00a0", " ") for name in reading.names],
        "words": [reading.words(head) for head in range(len(reading.names))],
    }
    for name in MEASURES:
        if name in reading.measures:
            columns[MEASURES[name].name] = reading.values(name)
            queries = reading.measures[name].n_queries.ravel()
            if queries.any():
                columns[f"{MEASURES[name].name}, queries"] = queries
    if reading.strongest:
        found = [one for layer in reading.strongest for one in layer]
        columns |= {
            "strongest text": [one.text for one in found],
            "query": [visible(one.query_token) for one in found],
            "key": [visible(one.key_token) for one in found],
            "weight": np.array([one.weight for one in found]),
            "norm moved": np.array([one.norm for one in found]),
        }
    return tables.frame_csv(tables.frame(columns))
