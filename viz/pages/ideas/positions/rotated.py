"""What rotates with its position: pairs of dimensions of waves, and of RoPE's queries and keys."""

from collections.abc import Callable
from functools import partial

import numpy as np

from model.analysis.heads import strongest_pair
from model.analysis.positions import rope_scores, rotation_speeds
from viz.digits import digits
from viz.figures.positions import wavelength_curve
from viz.figures.schemes import angle_map
from viz.figures.token_maps import signed_map
from viz.formulas.parts import distance_with_numbers, rotation_with_numbers
from viz.frame import controls, inspector, layout, scenes, state, verdicts, words
from viz.frame.page import Numbers
from viz.frame.settings import FIRST_POSITION, OTHER_TOKEN, SECOND_POSITION, TOKEN
from viz.frame.view import View
from viz.kit.parts.rotation import ActualScore, Rotation, rotation_part
from viz.labels import token_labels
from viz.live import component
from viz.pages.ideas.positions.added import wave_formula
from viz.runs import positions
from viz.runs.kept import held

FAR = 100  # by how much the worked example shifts both tokens
SHOWN_POSITIONS = 128


def _speeds(view: View) -> np.ndarray:
    """By how many radians per position each pair of dimensions is rotated, (n_pairs,)."""
    config = view.config
    width = config.d_head if config.position == "rope" else config.d_model
    return rotation_speeds(width, config.position_base)


def _show_rotation(
    view: View, chosen: tuple[object, ...], at: tuple[int, int], rotation: Callable[..., Rotation]
) -> dict[str, int]:
    """The rotation of two sides, and the positions they stand at.

    A person moves them in the browser; they are back `at` the first ones where what is `chosen`,
    or the sentence or the model, is another.
    """
    most = view.config.max_seq_len - 1
    pair = {
        "first": FIRST_POSITION.given(default=at[0], high=most),
        "second": SECOND_POSITION.given(default=at[1], high=most),
    }
    state.only_for((view.given, view.model, *chosen), *pair.values())
    places = {name: int(state.number(setting)) for name, setting in pair.items()}
    shown = rotation(frequencies=_speeds(view), last_position=most)
    part = rotation_part("-".join(map(str, (view.run.key, *chosen))), shown, places)
    component.show(held(part), on_change=partial(state.take_over, prefix="place_"))
    verdicts.properties(positions.checks(view.handle, view.given))
    return places


def rotation_of_waves(view: View) -> Numbers:
    """Two positions as rotated pairs of dimensions, and the identity behind it, measured."""
    speeds = _speeds(view)
    upright = np.tile(np.array([1.0, 0.0], np.float32), (len(speeds), 1))
    names = ("the first", "the second")
    rotation = partial(
        Rotation, kind="wave", first=upright, second=upright, divisor=1.0, names=names
    )
    places = _show_rotation(view, (), (len(view.tokens) - 1, 0), rotation)
    pair, offset = len(speeds) // 4, places["first"] - places["second"]
    wave_formula(view, "model.positions.shift_waves")
    inspector.formula(
        "model.positions.shift_waves", rotation_with_numbers(pair, offset, float(speeds[pair]))
    )
    inspector.formula("model.positions.wave_product")
    product = float(np.cos(offset * speeds).sum())
    return {"distance": str(abs(offset)), "product": digits(product, 2)}


def rotation_of_scores(view: View) -> Numbers:
    """One query and one key of the running model as rotated pairs of dimensions."""
    config, labels = view.config, token_labels(view.tokens)
    with scenes.to_set():
        query, key = _pair_picker(view)
    if not view.record.mask[query, key]:
        words.notice("This key is masked for this query: they have a score, but no weight.")
    q, k = (side[[at]] for side, at in zip(_unrotated(view), (query, key), strict=True))
    rotation = partial(
        Rotation,
        kind="rope",
        first=_points(q),
        second=_points(k),
        divisor=float(np.sqrt(config.d_head)),
        names=(f"query “{labels[query]}”", f"key “{labels[key]}”"),
        actual=ActualScore(query, key, float(view.record.scores[view.head, query, key])),
    )
    _show_rotation(view, (view.head_name, query, key), (query, key), rotation)
    wave_formula(view, "model.positions.rotate_pairs")
    here, shifted = (
        float(rope_scores(q, k, [query + far], [key + far], config.position_base)[0, 0])
        for far in (0, FAR)
    )
    inspector.formula("model.analysis.positions.rope_scores")
    inspector.formula(
        "model.analysis.positions.rope_scores",
        distance_with_numbers((query, key), FAR, here, shifted),
    )
    half = config.d_head // 2
    return {"head": view.head_name, "dimensions": f"{config.d_head:,}", "half": f"{half:,}"}


def _unrotated(view: View) -> tuple[np.ndarray, np.ndarray]:
    """The chosen head's queries and keys before RoPE, (T, Dh) each."""
    q, k = positions.before_rotation(view.handle, view.given, view.layer)
    return q[view.head], k[view.head // (len(q) // len(k))]


def _points(x: np.ndarray) -> np.ndarray:
    """The points RoPE rotates: dimension i with dimension i + Dh/2. (1, Dh) → (Dh/2, 2)."""
    return np.ascontiguousarray(x.reshape(2, -1).T)


def _pair_picker(view: View) -> tuple[int, int]:
    """Query and key to look at, the head's strongest pair at first."""
    strongest = strongest_pair(view.pattern)
    query = controls.token(
        TOKEN.given(label="Query token"), view.tokens, strongest[0], "to begin with"
    )
    its_key = strongest[1] if query == strongest[0] else int(view.pattern[query].argmax())
    name = "to begin with" if query == strongest[0] else "strongest"
    return query, controls.token(OTHER_TOKEN.given(label="Key token"), view.tokens, its_key, name)


def scores(view: View) -> Numbers:
    """Scores had nothing been rotated, and as the model has them."""
    record, (q, k) = view.record, _unrotated(view)
    before, after = q @ k.T / np.sqrt(q.shape[-1]), record.scores[view.head]
    seen, both = np.stack([before[record.mask], after[record.mask]]), (view.tokens, view.tokens)
    named = {"before": "before RoPE", "after": "after RoPE, as the model has them"}
    charts = {}
    for (when, title), values in zip(named.items(), (before, after), strict=True):
        title = f"{view.head_name}: {title}"
        charts[f"scores-{when}"] = signed_map(values, record.mask, both, "score", title, seen)
    layout.show_charts(charts)
    wave_formula(view, "model.positions.rotate_pairs")
    change = float(np.abs(after - before)[record.mask].max())
    return {"head": view.head_name, "change": digits(change, 2)}


def wavelengths(view: View) -> Numbers:
    """The angle of each pair at each position, and after how many it is back where it was."""
    config, speeds = view.config, _speeds(view)
    is_rope, base = config.position == "rope", float(config.position_base)
    pair = f"pair i: dimensions i and i + {len(speeds)}" if is_rope else "pair i of dimensions"
    layout.show_charts(
        {
            "angles": angle_map(speeds, min(config.max_seq_len, SHOWN_POSITIONS)),
            "wavelengths": wavelength_curve(speeds, config.max_seq_len, pair),
        }
    )
    scheme = "rotate_pairs" if is_rope else "sinusoidal_encoding"
    wave_formula(view, f"model.positions.{scheme}")
    turns = config.max_seq_len * speeds[-1] / (2 * np.pi)
    return {
        "slower": ", the others ever more slowly" if len(speeds) > 1 else "",
        "shortest": f"{2 * np.pi / speeds[0]:.2f}",
        "longest": f"{2 * np.pi / speeds[-1]:,.0f}",
        "base": f"{base:,.0f}",
        "limit": f"{2 * np.pi * base:,.0f}",
        "context": f"{config.max_seq_len:,}",
        "turns": digits(turns, 2),
    }
