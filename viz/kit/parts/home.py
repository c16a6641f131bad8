"""Home: an input runs through the model that is drawn, which says what it was trained to say."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from model.decoding.filters import Sampling
from model.trace import AttentionRecord, Stream, Trace
from viz.kit.part import Part
from viz.kit.sampling import limits_data
from viz.kit.wire import axis_labels, stream_labels, stream_looks

MOST_ROWS = (24, 20)  # of one text, and of each of two; of a longer one some words are one row
N_COLUMNS = 24  # numbers shown of each vector
SCHEMES = {  # in words, as a part of a sentence
    "sinusoidal": "waves, each slower than the one before",
    "learned": "a learned vector for each place",
    "rope": "Rotating queries and keys in each layer",
    "alibi": "A bias on the scores in each layer",
    "none": "The causal mask alone",
}


class Goal(NamedTuple):
    """What the model is asked: `name` is an entry of goals.js.

    `asked` is the place in the main stream whose output answers, the last one where it is negative.
    `hidden` has what stood in hidden places and its id, `came` the ids that came after each place.
    `specials` are ids that stand for no text, and what they mean. Without answers the vectors after
    the last layer are all that comes out.
    """

    name: str = "next"
    asked: int = -1
    hidden: tuple[tuple[int, str, int], ...] = ()
    came: tuple[int, ...] = ()
    specials: tuple[tuple[int, str], ...] = ()
    has_answers: bool = True


NEXT = Goal()


class Going(NamedTuple):
    """How the text may go on: why it cannot, or None, and a drawn token that could not stand.

    `after` is the text's length and the token with which it went on to be what it is.
    """

    why_no_more: str | None = "No model runs here: the text ends where it was saved."
    refused: tuple[int, int] | None = None
    after: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Band:
    """The rows of one stream: tokens `start` to `stop`, and one row each for what is around them.

    `first` is its first row among those of all bands.
    """

    stream: Stream
    start: int
    stop: int
    first: int

    @property
    def around(self) -> tuple[int, int]:
        """How many tokens the row before them stands for, and the row behind."""
        return self.start, len(self.stream) - self.stop

    @property
    def n(self) -> int:
        """Its rows."""
        return self.stop - self.start + sum(n > 0 for n in self.around)

    @property
    def rows(self) -> slice:
        """Where they are."""
        return slice(self.first, self.first + self.n)

    @property
    def own_rows(self) -> slice:
        """Where those of single tokens are."""
        first = self.first + (self.start > 0)
        return slice(first, first + self.stop - self.start)

    def row(self, place: int) -> int:
        """The row of a token, or of the ones it is folded with."""
        return self.first + min(max(place - self.start + (self.start > 0), 0), self.n - 1)

    def folded(self, array: np.ndarray, axis: int, *, is_summed: bool = False) -> np.ndarray:
        """An array along its tokens as one along its rows: of several tokens the sum, or zeros."""
        if not any(self.around):
            return array
        earlier, shown, later = np.split(array, [self.start, self.stop], axis)
        if not is_summed:
            earlier = later = np.zeros_like(shown.take([0], axis))
        ends = (part.sum(axis, keepdims=True, dtype=array.dtype) for part in (earlier, later))
        before, behind = (
            end.take(range(n > 0), axis) for end, n in zip(ends, self.around, strict=True)
        )
        return np.concatenate([before, shown, behind], axis)

    def labels(self, specials: Mapping[int, str]) -> list[str]:
        """What its rows are called."""
        known = stream_labels(self.stream)
        if self.stream.kind == "patches":
            n = len(known) - self.stream.side**2
            known = [*known[:n], *(f"patch {label}" for label in known[n:])]
        if self.stream.ids is not None:
            ids = self.stream.ids.tolist()
            known = [specials.get(i, label) for i, label in zip(ids, known, strict=True)]
        known = known[self.start : self.stop]
        earlier, later = self.around
        return [f"… {earlier} earlier"][:earlier] + known + [f"… {later} later"][:later]

    def looks(self) -> list[str]:
        """How its rows look; those of several tokens are plain."""
        looks = stream_looks(self.stream) or [""] * len(self.stream)
        earlier, later = self.around
        return [""][:earlier] + looks[self.start : self.stop] + [""][:later]

    def folds(self) -> list[int]:
        """Its rows that stand for several tokens."""
        ends = (self.first, self.first + self.n - 1)
        return [row for n, row in zip(self.around, ends, strict=True) if n]


@dataclass(frozen=True, eq=False)
class Picture:
    """A run as it is drawn: rows of all bands from top to bottom, a column for each attention."""

    trace: Trace
    bands: tuple[Band, ...]

    @cached_property
    def n(self) -> int:
        """All rows."""
        return sum(band.n for band in self.bands)

    def band(self, name: str) -> int:
        """The number of a stream's band."""
        return [band.stream.name for band in self.bands].index(name)

    @property
    def main(self) -> Band:
        """The band that answers."""
        return self.bands[-1]

    @cached_property
    def shown(self) -> np.ndarray:
        """Which numbers of a vector are drawn, (24,).

        Of sines and cosines the sines, from the shortest wave on: these change within a sentence.
        """
        width = self.trace.facts.d_model or N_COLUMNS
        return 2 * np.linspace(0, width / 4, N_COLUMNS).round().astype(int)

    def spread(self, band: Band, values: np.ndarray) -> np.ndarray:
        """Values of a band's tokens, (T, …), on the rows of all bands, zeros elsewhere."""
        rows = np.zeros((self.n, *values.shape[1:]), values.dtype)
        rows[band.rows] = band.folded(values, 0)
        return rows

    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Patterns (C, H, N, N) and masks (C, N, N) of all columns, over the rows of all bands."""
        records = self.trace.attention
        most = max(record.n_heads for record in records)
        pattern = np.zeros((len(records), most, self.n, self.n), np.float32)
        mask = np.zeros((len(records), self.n, self.n), bool)
        for i, record in enumerate(records):
            queries, keys = (self.bands[self.band(x)] for x in (record.queries, record.keys))
            own = slice(queries.start, queries.stop)
            square = keys.folded(record.pattern[:, own], -1, is_summed=True)
            pattern[i, : record.n_heads, queries.own_rows, keys.rows] = square
            may: np.ndarray = record.mask if record.mask.ndim == 2 else np.any(record.mask, axis=0)
            mask[i, queries.own_rows, keys.rows] = keys.folded(may[own], -1, is_summed=True)
        return pattern, mask

    def states(self) -> Iterator[tuple[int, Band, list[np.ndarray]]]:
        """Of each band where its states begin, and these: before, between and after its layers."""
        at = 0
        for band in self.bands:
            states = [band.stream.residuals[0].resid_pre] if band.stream.residuals else []
            for record in band.stream.residuals:
                parts = (record.resid_mid, record.resid_cross, record.resid_post)
                states += [part for part in parts if part is not None]
            yield at, band, states
            at += len(states)

    def about(self, specials: Mapping[int, str], opens: str) -> dict[str, Any]:
        """What is known of its rows and columns."""
        looks = [look for band in self.bands for look in band.looks()]
        return {
            **({"looks": looks} if any(looks) else {}),
            "labels": [label for band in self.bands for label in band.labels(specials)],
            "folded": [row for band in self.bands for row in band.folds()],
            "bands": [
                {"name": band.stream.name, "from": band.first, "to": band.first + band.n}
                for band in self.bands
            ],
            "columns": self.columns(opens),
        }

    def columns(self, opens: str) -> list[dict[str, Any]]:
        """What is known of each column, in the order of the forward pass."""
        begins = {band.stream.name: at for at, band, _ in self.states()}
        has_several = len(self.trace.groups) > 1
        found: list[dict[str, Any]] = []
        n_mlps = 0
        for i, record in enumerate(self.trace.attention):
            site = record.site
            following = self.trace.attention[i + 1 : i + 2]
            is_last = not any(_is_same_block(record, other) for other in following)
            begins[record.queries] += 1
            found.append(
                {
                    "title": _title(record) if has_several else "",
                    "name": "cross" if site.kind == "cross" else "layer",
                    "layer": site.layer,
                    "group": site.group,
                    "band": self.band(record.queries),
                    "keys": self.band(record.keys),
                    "n_heads": record.n_heads,
                    "at": begins[record.queries],
                    "mlp": n_mlps if is_last else None,
                    "opens": opens.replace("{attention}", site.group).replace(
                        "{layer}", str(site.layer)
                    ),
                }
            )
            begins[record.queries] += is_last
            n_mlps += is_last
        return found


def _is_same_block(record: AttentionRecord, other: AttentionRecord) -> bool:
    return (record.site.stack, record.site.layer) == (other.site.stack, other.site.layer)


def _title(record: AttentionRecord) -> str:
    """What to put before the name of a head."""
    return "Cross " if record.site.kind == "cross" else f"{record.site.stack.capitalize()} "


def home_part(
    trace: Trace,
    words: Sequence[str],
    goal: Goal = NEXT,
    opens: str = "",
    key: str = "",
    waves: str = "",
) -> Part:
    """A run and what is asked of it. `words` has what each output is called.

    `opens` is a head's address, with {attention}, {layer} and {head} in it, or empty; `waves` that
    of the page about positions, or empty.
    """
    picture = Picture(trace, bands_of(trace, goal.asked))
    main, facts = picture.main, trace.facts
    about = picture.about(dict(goal.specials), opens)
    outputs = _outputs(trace, main) if goal.has_answers else np.zeros((0, 0), np.float32)
    spec = {
        "key": key,
        "goal": goal.name,
        "plays": True,
        **about,
        "axis": axis_labels([label.removeprefix("patch ") for label in about["labels"]]),
        "asked": main.row(goal.asked % len(main.stream)),
        "begins": main.start - (main.start > 0) - main.first,
        "answers": [main.first, main.first + len(outputs)],
        "hidden": [
            [main.row(place), stood, i]
            for place, stood, i in goal.hidden
            if main.start <= place < main.stop
        ],
        "came": list(goal.came),
        "side": 0 if main.stream.pixels is None else main.stream.side,
        "n_tokens": len(main.stream),
        "d_model": facts.d_model,
        "vocab_size": outputs.shape[-1],
        "position": SCHEMES.get(facts.position or "", "What the model adds"),
        "waves": waves,
        "has_stream": bool(main.stream.residuals),
        **limits_data(),
    }
    pattern, mask = picture.squares()
    arrays = {
        **_vectors(picture),
        **({"logits": outputs} if goal.has_answers else {"last": _last(picture)}),
        "pattern": pattern,
        "mask": mask,
        "vocabulary": _vocabulary(tuple(words), goal.specials),
        **({} if main.stream.pixels is None else {"pixels": main.stream.pixels}),
    }
    spec["has_positions"] = bool(arrays["positions"].any())
    sampling = Sampling()
    state = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    state |= {"at": "", "cell": None, "appended": None, "forced": [], "blank": goal.asked}
    state |= {"blanks": [place for place, *_ in goal.hidden], "layers": None, "sink": False}
    first = [(name, ()) for name in arrays if name not in ("logits", "vocabulary")]
    asked = [("logits", (spec["asked"] - main.first,))] if len(outputs) else []
    spec = going_on(spec, Going())
    return Part("home", spec, state, arrays, {"logits": 1}, first=[*first, *asked])


@lru_cache(maxsize=4)
def _vocabulary(words: tuple[str, ...], specials: tuple[tuple[int, str], ...]) -> np.ndarray:
    """What each id is called, as JSON: the same for every token of a text that goes on."""
    meant = dict(specials)
    called = [meant.get(i, word) or " " for i, word in enumerate(words)]
    return np.frombuffer(json.dumps(called, ensure_ascii=False).encode(), np.uint8)


def going_on(spec: Mapping[str, Any], going: Going) -> Mapping[str, Any]:
    """What is said of a text, and how this may go on."""
    return {**spec, **going._asdict()}


def bands_of(
    trace: Trace, asked: int, rows: tuple[int, int] = MOST_ROWS, *, has_picture: bool = True
) -> tuple[Band, ...]:
    """The rows of each stream: around the asked place, or of a source from its beginning.

    `rows` is how many at most; a picture has all of its own, where it is shown itself.
    """
    most = rows[min(len(trace.streams), len(rows)) - 1]
    bands: list[Band] = []
    for stream in trace.streams:
        first = bands[-1].first + bands[-1].n if bands else 0
        place = asked % len(stream) if stream is trace.main else 0
        start, stop = _window(len(stream), place, most)
        if stream.kind == "patches" and has_picture:
            start, stop = 0, len(stream)
        bands.append(Band(stream, start, stop, first))
    return tuple(bands)


def _window(n: int, place: int, most: int) -> tuple[int, int]:
    """Of n tokens those that are shown: at most so many rows, with a place among them."""
    if n <= most:
        return 0, n
    start = max(0, place - most // 2)
    if start >= n - (most - 1):
        return n - (most - 1), n
    return start, start + most - (2 if start else 1)


def _outputs(trace: Trace, main: Band) -> np.ndarray:
    """The output for each row of the main stream, or for the only one that has an output."""
    logits = trace.logits
    return main.folded(logits, 0) if len(logits) == len(main.stream) else logits.copy()


def _vectors(picture: Picture) -> dict[str, np.ndarray]:
    """Lengths of the residual stream, (S, N), and some numbers of what is added to it."""
    norms = [
        picture.spread(band, np.linalg.norm(state, axis=-1).astype(np.float32))
        for _, band, states in picture.states()
        for state in states
    ]
    added = [
        picture.spread(band, residual.ffn_out[:, picture.shown])
        for band in picture.bands
        for residual in band.stream.residuals
    ]
    return {
        "norms": np.stack(norms) if norms else np.zeros((1, picture.n), np.float32),
        **first_vectors(picture),
        "ffn": np.stack(added) if added else np.zeros((1, picture.n, N_COLUMNS), np.float32),
    }


def first_vectors(picture: Picture) -> dict[str, np.ndarray]:
    """Some numbers of what each token becomes at first, and of what its place adds, (N, 24)."""
    return {
        "embed": _some(picture, _embedded),
        "positions": _some(picture, lambda stream: stream.positions),
    }


def _embedded(stream: Stream) -> np.ndarray | None:
    """What tokens become at first; where this is not known alone, all that enters layer 0."""
    if stream.embed is None and stream.residuals:
        return stream.residuals[0].resid_pre
    return stream.embed


def _last(picture: Picture) -> np.ndarray:
    """Some numbers of each vector after the last layer, (N, 24)."""
    return _some(picture, lambda at: at.residuals[-1].resid_post if at.residuals else None)


def _some(picture: Picture, of: Callable[[Stream], np.ndarray | None]) -> np.ndarray:
    """Some numbers of each vector, (N, 24): zeros in a band that has none."""
    rows = np.zeros((picture.n, N_COLUMNS), np.float32)
    for band in picture.bands:
        vectors = of(band.stream)
        if vectors is not None:
            rows += picture.spread(band, vectors[:, picture.shown])
    return rows
