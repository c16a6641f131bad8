"""RoPE: queries and keys are rotated by their position; the score depends on their distance."""

import numpy as np

from model.analysis.heads import strongest_pair
from model.analysis.positions import rope_scores, rotation_speeds
from viz.digits import digits
from viz.figures.positions import wavelength_curve
from viz.figures.schemes import angle_map
from viz.figures.token_maps import signed_map
from viz.formulas import distance_with_numbers
from viz.frame import controls, inspector, layout, scenes, verdicts, words
from viz.frame.page import Numbers
from viz.frame.settings import OTHER_TOKEN, TOKEN
from viz.frame.view import View
from viz.kit.parts.rotation import ActualScore, Rotation
from viz.labels import token_labels
from viz.pages.ideas.positions.shared import Tab, show_rotor, two_positions, wave_formula
from viz.runs import positions

FAR = 100  # by how much the worked example shifts both tokens
SHOWN_POSITIONS = 128


def _unrotated(view: View) -> tuple[np.ndarray, np.ndarray]:
    """The chosen head's queries and keys before RoPE, (T, Dh) each."""
    q, k = positions.before_rotation(view.handle, view.sentence, view.layer)
    return q[view.head], k[view.head // (len(q) // len(k))]


def _rotation(view: View) -> Numbers:
    """One query and one key of the running model as rotated pairs of dimensions."""
    config = view.config
    with scenes.to_set():
        query, key = _pair_picker(view)
    if not view.record.mask[query, key]:
        words.notice("This key is masked for this query: they have a score, but no weight.")
    q, k = _unrotated(view)
    _rotor(view, query, key, q[query], k[key])
    verdicts.properties(positions.checks(view.handle, view.sentence))
    wave_formula(view, "model.positions.rotate_pairs")
    inspector.formula("model.analysis.positions.rope_scores")
    here, shifted = (
        float(
            rope_scores(q[[query]], k[[key]], [query + shift], [key + shift], config.position_base)[
                0, 0
            ]
        )
        for shift in (0, FAR)
    )
    inspector.formula(
        "model.analysis.positions.rope_scores",
        distance_with_numbers((query, key), FAR, here, shifted),
    )
    half = config.d_head // 2
    return {"head": view.head_name, "dimensions": f"{config.d_head:,}", "half": f"{half:,}"}


def _rotor(view: View, query: int, key: int, q: np.ndarray, k: np.ndarray) -> None:
    """The instrument with this pair of vectors, (Dh,) each, before RoPE."""
    config, labels = view.config, token_labels(view.tokens)
    owner = (view.sentence, view.model, view.head_name, query, key)
    places = two_positions(view, query, key, chosen_for=owner)
    actual = ActualScore(query, key, float(view.record.scores[view.head, query, key]))
    rotation = Rotation(
        kind="rope",
        first=_points(q),
        second=_points(k),
        frequencies=rotation_speeds(config.d_head, config.position_base),
        divisor=float(np.sqrt(config.d_head)),
        last_position=config.max_seq_len - 1,
        names=(f"query “{labels[query]}”", f"key “{labels[key]}”"),
        actual=actual,
    )
    show_rotor(f"{view.run.key}-{view.head_name}-{query}-{key}", rotation, places)


def _points(x: np.ndarray) -> np.ndarray:
    """The points RoPE rotates: dimension i with dimension i + Dh/2. (Dh,) → (Dh/2, 2)."""
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


def _scores(view: View) -> Numbers:
    """Scores had nothing been rotated, and as the model has them."""
    record, (q, k) = view.record, _unrotated(view)
    before, after = q @ k.T / np.sqrt(q.shape[-1]), record.scores[view.head]
    both = view.tokens, view.tokens
    seen = np.stack([before[record.mask], after[record.mask]])
    named = {
        "scores-before": (before, "before RoPE"),
        "scores-after": (after, "after RoPE, as the model has them"),
    }
    layout.show_charts(
        {
            key: signed_map(values, record.mask, both, "score", f"{view.head_name}: {when}", seen)
            for key, (values, when) in named.items()
        }
    )
    wave_formula(view, "model.positions.rotate_pairs")
    change = float(np.abs(after - before)[record.mask].max())
    return {"head": view.head_name, "change": digits(change, 2)}


def _angles(view: View) -> Numbers:
    """The angle of each pair at each position."""
    frequencies = rotation_speeds(view.config.d_head, view.config.position_base)
    shown = min(view.config.max_seq_len, SHOWN_POSITIONS)
    layout.show_chart(angle_map(frequencies, shown), key="angles")
    wave_formula(view, "model.positions.rotate_pairs")
    slower = ", the others ever more slowly" if len(frequencies) > 1 else ""
    return {"slower": slower}


def _wavelengths(view: View) -> Numbers:
    """After how many positions each pair is back where it was."""
    config = view.config
    frequencies = rotation_speeds(config.d_head, config.position_base)
    pair = f"pair i: dimensions i and i + {config.d_head // 2}"
    chart = wavelength_curve(frequencies, config.max_seq_len, pair)
    layout.show_chart(chart, key="wavelengths")
    wave_formula(view, "model.positions.rotate_pairs")
    turns = config.max_seq_len * frequencies[-1] / (2 * np.pi)
    return {"context": f"{config.max_seq_len:,}", "turns": digits(turns, 2)}


TAB = Tab(
    scenes={
        "rotation": _rotation,
        "scores": _scores,
        "angles": _angles,
        "wavelengths": _wavelengths,
    },
    wide=("rotation", "scores"),
    source=(
        positions.SOURCES["rope"],
        "model.positions.rope_angles",
        "model.analysis.positions.rope_scores",
    ),
)
