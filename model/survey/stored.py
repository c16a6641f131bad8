"""A survey as it is stored with a checkpoint: JSON, read with every number checked."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from model.analysis.heads import Averages
from model.fields import from_fields
from model.files import MEGABYTE, read_json, replacing
from model.lines import spelled

STORED = "survey.json"  # in a checkpoint's folder
LARGEST = 16 * MEGABYTE
FORMAT = 1

Rows = list[list[float | None]]  # (L, H); null where there is nothing to average over


@dataclass(frozen=True)
class Average:
    """A measure of each head of a group, and over how many queries, (L, H) each."""

    values: Rows
    queries: list[list[int]]

    @property
    def averages(self) -> Averages:
        """The same as arrays, NaN where there is none."""
        values = np.array([[math.nan if x is None else x for x in row] for row in self.values])
        return Averages(values, np.array(self.queries))


@dataclass(frozen=True)
class Strongest:
    """The input that wakes a head most, as far as it opens alone, and the arrow there.

    `text`, and the `target` of a translation, or the `number` of a picture. Query and key are
    places and tokens of it; `weight` is the arrow's, `norm` its ‖αv·W_O‖.
    """

    text: str
    target: str
    number: int
    query: int
    key: int
    query_token: str
    key_token: str
    weight: float
    norm: float


@dataclass(frozen=True)
class Group:
    """All heads of one kind of attention: measures by name, their inputs, the mean of z.

    mean_z: (L, H, Dh), over all queries.
    """

    measures: dict[str, Average]
    strongest: list[list[Strongest]]
    mean_z: list[list[list[float]]]


@dataclass(frozen=True)
class Survey:
    """What `python -m model survey` found. `weights` is the SHA-256 of the weights it ran.

    `texts` says how many tokens came of which file; `window` is the longest input.
    """

    format: int
    checkpoint: str
    weights: str
    texts: dict[str, int]
    tokens: int
    window: int
    inputs: int
    groups: dict[str, Group]

    def measured(self, group: str) -> dict[str, Averages]:
        """The measures of a group by name; empty where the survey has no such group."""
        stored = self.groups.get(group)
        return {} if stored is None else {k: x.averages for k, x in stored.measures.items()}


def command(name: str) -> str:
    """What makes a survey of a checkpoint, to be copied."""
    return f"python -m model survey --checkpoint {name} --text-file TEXT"


def write_survey(path: Path, survey: Survey) -> None:
    """Write a survey, whole or not at all."""
    text = json.dumps(asdict(survey), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    with replacing(path) as new:
        new.write_text(text + "\n", encoding="utf-8")


def place_of(folder: Path) -> Path:
    """Where the survey of a model is: in its folder, or beside its file."""
    return folder / STORED if folder.is_dir() else folder.with_name(f"{folder.name}.{STORED}")


def read_survey(folder: Path, weights: str = "") -> Survey | None:
    """The survey stored with a checkpoint; None where there is none.

    weights: the SHA-256 of its weights now. ValueError when the file is broken, or of others.
    """
    path = place_of(folder)
    if not path.exists():
        return None
    fields = read_json(path, LARGEST)
    again = f"make it again: {command(folder.name)}"
    try:
        survey = from_fields(Survey, fields, "survey")
        _refuse_strange(survey)
    except ValueError as error:
        raise ValueError(f"{spelled(path)} holds no survey: {error}; {again}") from None
    if weights and survey.weights != weights:
        raise ValueError(
            f"{spelled(path)} is of the weights {survey.weights[:12]}, but model.safetensors is "
            f"now {weights[:12]}; {again}"
        )
    return survey


def _refuse_strange(survey: Survey) -> None:
    """ValueError for another format, heads that are missing, and numbers that are not finite."""
    if survey.format != FORMAT:
        raise ValueError(f"its format is {survey.format}; this version reads {FORMAT}")
    for name, group in survey.groups.items():
        shape = _shape(group.mean_z, 3)[:2]
        tables: Mapping[str, object] = {
            **{key: one.values for key, one in group.measures.items()},
            **{f"{key} queries": one.queries for key, one in group.measures.items()},
            "strongest": group.strongest,
        }
        for key, rows in tables.items():
            if _shape(rows, 2) != shape:
                raise ValueError(f"{name} has {shape} heads, but {key} has {_shape(rows, 2)}")
        for key, one in group.measures.items():
            if not all(x is None or math.isfinite(x) for row in one.values for x in row):
                raise ValueError(f"{key} of {name} has a number that is not finite")


def _shape(rows: object, depth: int) -> tuple[int, ...]:
    """The sizes of nested lists; ValueError where they are not even."""
    if depth == 0 or not isinstance(rows, list) or not rows:
        return ()
    inner = {_shape(row, depth - 1) for row in rows}
    if len(inner) > 1:
        raise ValueError("rows of several lengths")
    return (len(rows), *inner.pop())
