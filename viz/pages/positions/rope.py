"""RoPE: queries and keys turn with their position, and the score knows their distance alone."""

import numpy as np

from viz import controls, say, ui
from viz.figures.attention import strongest_pair
from viz.figures.labels import token_labels
from viz.figures.masks import score_map
from viz.figures.positions import wavelength_curve
from viz.figures.schemes import angle_map
from viz.formulas import distance_with_numbers
from viz.live import component
from viz.runs import positions

FAR = 100  # by how much the worked example moves both tokens
SHOWN_POSITIONS = 128


def draw(view: ui.View) -> None:
    """Draw the tab."""
    component.preload()
    _hands(view)
    _before_and_after(view)
    _angles(view)
    ui.source(
        positions.SOURCES["rope"],
        "model.positions.rope_angles",
        "model.analysis.positions.rope_scores",
    )
    record = view.run.trace.attention[view.layer]
    q, k = _unturned(view)
    tables = {
        f"Scores before {view.head_name}": lambda: _csv(view, _straight(q, k)),
        f"Scores after {view.head_name}": lambda: _csv(view, record.scores[view.head]),
    }
    ui.export(view, "positions", tables)


def _csv(view: ui.View, scores: np.ndarray) -> bytes:
    return ui.table_csv(scores, view.tokens, view.tokens, "query \\ key")


def _unturned(view: ui.View) -> tuple[np.ndarray, np.ndarray]:
    """The chosen head's queries and keys before they turn, (T, Dh) each."""
    q, k = positions.unturned(view.model, view.device, view.sentence, view.layer)
    return q[view.head], k[view.head // (len(q) // len(k))]


def _straight(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Scores had nothing been turned, (T, T)."""
    return q @ k.T / np.sqrt(q.shape[-1])


def _hands(view: ui.View) -> None:
    """One query and one key of the running model as rotating pairs."""
    config = view.run.trace.config
    ui.section(
        "A query and a key as hands of clocks",
        f"In {view.head_name} a query has {config.d_head} numbers. RoPE takes them as "
        f"{config.d_head // 2} points, number i with number i + {config.d_head // 2} (halves "
        "pairing), and turns each point by its own angle for every position. Hands of query and "
        "key turn alike, so moving both changes no angle between them, and no score.",
    )
    record = view.run.trace.attention[view.layer]
    query, key = _pair_picker(view, record.pattern[view.head])
    if not record.mask[query, key]:
        say.notice("This key is masked for this query: they have a score, but no weight.")
    q, k = _unturned(view)
    frequencies = positions.frequencies(config.d_head, config.position_base)
    labels = token_labels(view.tokens)
    most = config.max_seq_len - 1
    places = ui.places(query, key, most, (view.sentence, view.model, view.head_name, query, key))
    controls.show_complaints()
    component.show(
        component.ROTOR,
        component.rotor_data(
            "rope",
            f"{view.run.key}-{view.head_name}-{query}-{key}",
            _pairs(q[query]),
            _pairs(k[key]),
            frequencies,
            float(np.sqrt(config.d_head)),
            most,
            (f"query “{labels[query]}”", f"key “{labels[key]}”"),
            (query, key, float(record.scores[view.head, query, key])),
            places,
        ),
        on_told=ui.take_over_places,
    )
    say.identities(positions.checks(view.model, view.device, view.sentence))
    ui.formula("model.positions.rotate_pairs")
    ui.formula("model.analysis.positions.rope_scores")
    moved = [
        positions.rope_scores(
            q[[query]], k[[key]], [query + shift], [key + shift], config.position_base
        )[0, 0]
        for shift in (0, FAR)
    ]
    ui.formula(
        "model.analysis.positions.rope_scores",
        distance_with_numbers((query, key), FAR, float(moved[0]), float(moved[1])),
    )


def _pairs(x: np.ndarray) -> np.ndarray:
    """The points RoPE turns: number i with number i + Dh/2. (Dh,) → (Dh/2, 2)."""
    return np.ascontiguousarray(x.reshape(2, -1).T)


def _pair_picker(view: ui.View, pattern: np.ndarray) -> tuple[int, int]:
    """Query and key to look at, the head's strongest pair at first."""
    strongest = strongest_pair(pattern)
    with ui.row("pair"):
        query = ui.token_picker(view, "Query token", "query", strongest[0], "strongest")
        its_key = strongest[1] if query == strongest[0] else int(pattern[query].argmax())
        key = ui.token_picker(view, "Key token", "key", its_key, "strongest")
    return query, key


def _before_and_after(view: ui.View) -> None:
    ui.section(
        "Scores before and after turning",
        f"The same queries and keys of {view.head_name}, multiplied as they leave their "
        "projections, and after each has turned to its position. What differs is all this model "
        "knows of order, but for its mask.",
    )
    record = view.run.trace.attention[view.layer]
    scores = (
        ("scores-before", _straight(*_unturned(view)), "before turning"),
        ("scores-after", record.scores[view.head], "after turning, as the model has them"),
    )
    seen = np.stack([values[record.mask] for _, values, _ in scores])
    for column, (key, values, words) in zip(ui.two_up("scores"), scores, strict=True):
        with column:
            ui.show_figure(
                score_map(
                    values,
                    record.mask,
                    view.tokens,
                    view.colors,
                    f"{view.head_name}: {words}",
                    scale_of=seen,
                ),
                key=key,
                alt=f"Scores of {view.head_name} {words}, from {values.min():.2f} to "
                f"{values.max():.2f}.",
            )


def _angles(view: ui.View) -> None:
    config = view.run.trace.config
    ui.section(
        "How fast each pair turns",
        "The first pair turns by one radian a position and tells near tokens apart; the last ones "
        "hardly move and carry what does not depend on distance.",
    )
    frequencies = positions.frequencies(config.d_head, config.position_base)
    lengths = 2 * np.pi / frequencies
    left, right = ui.two_up("angles")
    with left:
        ui.show_figure(
            angle_map(frequencies, min(config.max_seq_len, SHOWN_POSITIONS), view.colors),
            key="angles",
            alt=f"Angle of each of {len(frequencies)} pairs at each position, as share of a turn.",
        )
    with right:
        ui.show_figure(
            wavelength_curve(
                frequencies,
                view.colors,
                context=config.max_seq_len,
                pair_name=f"pair i: dimensions i and i + {config.d_head // 2}",
            ),
            key="wavelengths",
            alt=f"Wavelength of each pair, from {lengths[0]:.2f} to {lengths[-1]:,.0f} positions.",
        )
