"""Attention as pictures: all heads at a glance, and one head large."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.heatmap import Axis, heat_map, weights
from viz.figures.labels import axis_labels, escape, token_labels
from viz.theme import Palette, color_scale, template

GAP, MASKED, ZERO = 0, 1, 2  # byte values of the overview; above ZERO the weight
TILE_MOST = 48


def overview(
    patterns: np.ndarray,
    mask: np.ndarray,
    tokens: Sequence[str],
    colors: Palette,
    *,
    layer: int,
    head: int,
) -> go.Figure:
    """All layers × heads as one picture of bytes, the chosen head framed.

    patterns: (L, H, T, T), mask: (T, T). Brightness is the square root of the weight, so that
    faint patterns show. Above 48 tokens neighbouring cells are merged, keeping the largest.
    A click on a tile gives its point's customdata [layer, head].
    """
    n_layers, n_heads = patterns.shape[:2]
    tiles = _tiles(patterns, mask)  # (L, H, t, t)
    picture, pitch = _stitch(tiles)
    figure = go.Figure(
        go.Heatmap(
            z=picture,
            zmin=0,
            zmax=255,
            colorscale=_byte_scale(colors),
            showscale=False,
            hoverinfo="skip",
        )
    )
    _frame(figure, layer, head, pitch, colors)
    _add_targets(figure, patterns, tokens, pitch)
    _lay_out(figure, n_layers, n_heads, pitch, colors)
    return figure


def head_map(
    pattern: np.ndarray,
    mask: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    colors: Palette,
    *,
    name: str,
) -> go.Figure:
    """One head's pattern (Tq, Tk): queries down, keys across, weights from 0 to 1."""
    return heat_map(
        pattern,
        Axis("query", axis_labels(query_tokens)),
        Axis("key", axis_labels(key_tokens)),
        weights(),
        colors,
        title=f"{name}: each row is one token looking at the tokens in the columns",
        hidden=~mask,
    )


def strongest_pair(pattern: np.ndarray, *, skip_first_key: bool = True) -> tuple[int, int]:
    """Query and key of the largest weight in one head's pattern (Tq, Tk).

    The first token takes up much attention that has nowhere else to go (a sink), and a token
    often sees itself, so both are passed over when something else is left.
    """
    candidates = pattern.copy()
    if skip_first_key:
        candidates[:, 0] = 0.0
    np.fill_diagonal(candidates, 0.0)
    best = candidates if candidates.max(initial=0.0) > 0 else pattern
    query, key = np.unravel_index(best.argmax(), best.shape)
    return int(query), int(key)


def _tiles(patterns: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Bytes of every head's map: masked, zero, and the square root of the weight above it."""
    merge = -(-patterns.shape[-1] // TILE_MOST)
    largest = _merge_cells(patterns, merge)
    visible = _merge_cells(mask, merge)
    levels = ZERO + np.round(np.sqrt(np.clip(largest, 0, 1)) * (255 - ZERO))
    return np.where(visible, levels, MASKED).astype(np.uint8)


def _merge_cells(values: np.ndarray, merge: int) -> np.ndarray:
    """Maximum over merge × merge cells of the last two axes; the last cells may be fewer."""
    if merge == 1:
        return values
    missing = -values.shape[-1] % merge
    widths = [(0, 0)] * (values.ndim - 2) + [(0, missing), (0, missing)]
    padded = np.pad(values, widths)
    size = padded.shape[-1] // merge
    blocks = padded.reshape(*values.shape[:-2], size, merge, size, merge)
    return blocks.max(axis=(-3, -1))


def _stitch(tiles: np.ndarray) -> tuple[np.ndarray, int]:
    """One picture of all tiles with a gap between them, and the distance from tile to tile."""
    n_layers, n_heads, size, _ = tiles.shape
    pitch = size + max(1, size // 12)
    picture = np.full((n_layers, pitch, n_heads, pitch), GAP, np.uint8)
    picture[:, :size, :, :size] = tiles.swapaxes(1, 2)
    return picture.reshape(n_layers * pitch, n_heads * pitch), pitch


def _byte_scale(colors: Palette) -> list[list[object]]:
    background = [[0, colors.background], [0.5 / 255, colors.background]]
    masked = [[0.5 / 255, colors.masked], [1.5 / 255, colors.masked]]
    return background + masked + color_scale(colors.sequential, 1.5 / 255, 1.0)


def _frame(figure: go.Figure, layer: int, head: int, pitch: int, colors: Palette) -> None:
    gap = pitch * 0.04
    figure.add_shape(
        type="rect",
        x0=head * pitch - 0.5 - gap,
        x1=(head + 1) * pitch - 1 + gap / 2,
        y0=layer * pitch - 0.5 - gap,
        y1=(layer + 1) * pitch - 1 + gap / 2,
        line={"color": colors.frame, "width": 3},
    )


def _add_targets(
    figure: go.Figure, patterns: np.ndarray, tokens: Sequence[str], pitch: int
) -> None:
    """An invisible point on each tile: it carries the hover text and takes the click."""
    n_layers, n_heads = patterns.shape[:2]
    labels = [escape(label) for label in token_labels(tokens)]
    where, texts, data = [], [], []
    for layer in range(n_layers):
        for head in range(n_heads):
            query, key = strongest_pair(patterns[layer, head])
            weight = patterns[layer, head, query, key]
            where.append(((head + 0.45) * pitch, (layer + 0.45) * pitch))
            data.append([layer, head])
            texts.append(
                f"<b>L{layer} H{head}</b><br>strongest: “{labels[query]}” → “{labels[key]}”, "
                f"{weight:.3f}<br>click to open"
            )
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in where],
            y=[y for _, y in where],
            mode="markers",
            marker={"size": 34, "symbol": "square", "opacity": 0},
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
            customdata=data,
            hovertext=texts,
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    )


def _lay_out(figure: go.Figure, n_layers: int, n_heads: int, pitch: int, colors: Palette) -> None:
    center = (pitch - 1) / 2 - 0.5
    figure.update_layout(
        template=template(colors),
        title=f"All heads: {n_layers} layers × {n_heads} heads",
        height=int(np.clip(110 + 82 * n_layers, 260, 720)),
        margin={"t": 92},
        hoverdistance=80,
        dragmode=False,
    )
    figure.update_xaxes(
        tickvals=[h * pitch + center for h in range(n_heads)],
        ticktext=[f"H{h}" for h in range(n_heads)],
        side="top",
        showgrid=False,
        zeroline=False,
        constrain="domain",
        range=[-1.5, n_heads * pitch],
    )
    figure.update_yaxes(
        tickvals=[i * pitch + center for i in range(n_layers)],
        ticktext=[f"L{i}" for i in range(n_layers)],
        showgrid=False,
        zeroline=False,
        scaleanchor="x",
        constrain="domain",
        constraintoward="top",
        range=[n_layers * pitch, -1.5],
    )
