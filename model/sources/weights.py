"""What a model's weights show by themselves, each beside those in its place in other layers."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import torch
from torch import Tensor

from model.lines import quoted
from model.verify.check import Finding

ROWS, COLUMNS = 256, 512  # of a matrix that are looked at, evenly spread
SMALLEST = 8  # rows and columns of a matrix that tells something
STEPS = 12  # of the power method: enough for a singular value that stands out
# How far from chance a matrix is at most that was drawn, and half of its place where training
# shows: less trained places, as in the models that come with Headlight, are not judged.
DRAWN, TRAINED = 4.0, 60.0
TIMES = 10.0  # as large, or as small, as in the other layers
LIKE_OTHERS, BY_CHANCE = 0.35, 4.0  # correlation of norms; the same, in widths of chance


Named = Mapping[str, Tensor]


def odd_weights(weights: Named) -> Iterator[Finding]:
    """What is off with some weights, by their names, and whether all look untrained."""
    ends = {name: torch.stack(weight.aminmax()).tolist() for name, weight in weights.items()}
    broken = [name for name, both in ends.items() if not all(map(math.isfinite, both))]
    if broken:
        yield Finding(f"{named(broken)} has values that are no finite numbers", is_off=True)
    drawn = []
    for same in _by_place({name: x for name, x in weights.items() if name not in broken}):
        are_matrices = all(x.ndim == 2 and min(x.shape) >= SMALLEST for x in same.values())
        several = [name for name, x in same.items() if x.numel() > 1]  # one is always the same
        left = [name for name in several if ends[name][0] == ends[name][1]]
        counts = Counter(ends[name][0] for name in left)
        few = [x for x in left if are_matrices or 2 * counts[ends[x][0]] <= len(same)]
        if few:
            yield Finding(f"{named(few)} is {abs(ends[few[0]][0]):g} everywhere", is_off=True)
        others = {name: _sampled(x) for name, x in same.items() if name not in left}
        if are_matrices and others:
            beyond = {name: beyond_chance(x) for name, x in others.items()}
            yield from _unlike_others(same, others, beyond)
            drawn.append((len(same) > 1, max(beyond.values()) < DRAWN))
    # What stands once in a model may be a table that was computed; layers come first.
    of_layers = [is_drawn for are_several, is_drawn in drawn if are_several]
    if drawn and all(of_layers or [is_drawn for _, is_drawn in drawn]):
        yield Finding("all weights look as at the start: this model is not trained")


def _by_place(weights: Named) -> list[dict[str, Tensor]]:
    """Weights that stand in the same place of several layers; of vectors, those of all norms."""
    places: dict[str, dict[str, Tensor]] = defaultdict(dict)
    for name, weight in weights.items():
        is_norm = weight.ndim == 1 and name.endswith("weight")
        place = "norms" if is_norm else re.sub(r"\d+", "#", name)
        places[place][name] = weight.flatten(0, -2) if weight.ndim > 2 else weight
    return list(places.values())


def _sampled(matrix: Tensor) -> Tensor:
    """Some rows and columns, evenly spread."""
    rows = matrix[:: max(1, len(matrix) // ROWS)][:ROWS]
    if rows.ndim == 2:
        rows = rows[:, :: max(1, rows.shape[1] // COLUMNS)][:, :COLUMNS]
    return rows.contiguous()


def _unlike_others(whole: Named, sampled: Named, beyond: Mapping[str, float]) -> Iterator[Finding]:
    """What is off with one of the matrices in a place. sampled: those that are not constant."""
    sizes, known = {name: float(x.norm()) for name, x in sampled.items()}, dict[float, str]()
    usual, are_several = median(sizes.values()), len(sampled) > 2
    is_trained = are_several and median(beyond.values()) > TRAINED
    turned = _turned([whole[name] for name in sampled]) if is_trained else [False] * len(sampled)
    for (name, size), is_turned in zip(sizes.items(), turned, strict=True):
        first = known.setdefault(size, name)
        if is_trained and beyond[name] < DRAWN:
            text = "looks drawn at random, as at the start, and those of the other layers do not"
        elif first != name and torch.equal(whole[first], whole[name]):
            text = f"has the very numbers of {quoted(first)}"
        elif are_several and usual and not usual / TIMES <= size <= usual * TIMES:
            text = f"is {size / usual:.2g} times as large as in the other layers"
        elif is_turned:
            text = "looks transposed: its rows are like the columns of the other layers"
        else:
            continue
        yield Finding(f"{quoted(name)} {text}", is_off=True)


def beyond_chance(part: Tensor) -> float:
    """How far a matrix is from independent numbers, in the widths of what chance makes of these.

    The most of three: its largest singular value, whose square is about (√n + √m)² mean squares
    then, with a width of (√n + √m)(1/√n + 1/√m)^⅓ (Johnstone 2001, theorem 1.1), and how unlike
    each other its rows are in size, and its columns. part: (n, m).
    """
    product = torch.linspace(-1, 1, part.shape[1], device=part.device)
    for _ in range(STEPS):
        left = torch.nn.functional.normalize(part @ product, dim=0)
        product = left @ part
    n, m = (math.sqrt(size) for size in part.shape)
    width, squares = (n + m) * (1 / n + 1 / m) ** (1 / 3), part.square()
    value = (float(product.square().sum() / squares.mean()) - (n + m) ** 2) / width
    return max(value, _unevenness(squares), _unevenness(squares.T))


def _unevenness(squares: Tensor) -> float:
    """How much the means of rows differ beyond chance: normal numbers' by 2 / m, ± √(2 / n)."""
    n, m = squares.shape
    means = squares.mean(1)
    return (float(means.var() / means.mean() ** 2) * m / 2 - 1) / math.sqrt(2 / n)


def _turned(matrices: Sequence[Tensor]) -> list[bool]:
    """Whether the norms of rows of each matrix are like those of columns of the others."""
    n, m = matrices[0].shape
    if n != m:  # it would not fit
        return [False] * len(matrices)
    rows, columns = (_profiles([x.norm(dim=side) for x in matrices]) for side in (1, 0))
    others = (1 - torch.eye(len(matrices), device=rows.device)) / (len(matrices) - 1)
    own = ((rows @ rows.T + columns @ columns.T) * others).sum(1)
    turned = ((rows @ columns.T + columns @ rows.T) * others).sum(1)
    chance = BY_CHANCE * math.sqrt(2 / n / (len(matrices) - 1))
    return ((turned > max(LIKE_OTHERS, chance)) & (turned - own > LIKE_OTHERS)).tolist()


def _profiles(norms: Sequence[Tensor]) -> Tensor:
    """Logarithms of norms (L, n), centred and of length one: a product is a correlation."""
    logs = torch.stack(list(norms)).clamp_min(1e-30).log()
    return torch.nn.functional.normalize(logs - logs.mean(1, keepdim=True), dim=1)


def named(names: Sequence[str]) -> str:
    """The first few names, and how many there are more."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(quoted, names[:3])) + more
