"""Every builder of a figure on made-up arrays, all numbers different: no exchange can pass.

A builder stands here again where it has another way to draw.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import signature

import numpy as np
import plotly.graph_objects as go

from model.analysis.circle import Circle
from model.analysis.merges import Node

from viz.figures import (  # isort: skip
    ablation, attribution, beam, blanks, block, cache, cheaper, cost, depth,
    explanation, heads, kernels, lab, lens, masks, merges, patches, patching, positions,
    recurrence, saturation, scaling, schemes, several, similarity, token_maps,
    translation,
)  # fmt: skip
from viz.charts.chart import Axis, Chart, Row, from_zero, signed, weights
from viz.theme import LIGHT

Drawn = go.Figure | Chart | Row
WORDS = ("The", " cat", " <b>", " the", " cat")
LAYERS = ("L0", "L1", "L2")


def line(n: int, start: float = 1.0, step: float = 0.37) -> np.ndarray:
    """So many different numbers, no two of them equally far apart. (n,)."""
    return start + step * np.arange(n) + 0.013 * np.arange(n) ** 2


def grid(rows: int, columns: int, start: float = -1.0) -> np.ndarray:
    """Different numbers of both signs. (rows, columns)."""
    return line(rows * columns, start, 0.11).reshape(rows, columns)


def shares(rows: int, columns: int) -> np.ndarray:
    """Different numbers from 0 to 1. (rows, columns)."""
    return grid(rows, columns, 0.02) / grid(rows, columns, 0.05).max()


def holes(rows: int, columns: int) -> np.ndarray:
    """Numbers of which two are missing and one is infinite. (rows, columns)."""
    values = grid(rows, columns)
    values[0, [1, columns - 1]], values[rows - 1, 0] = np.nan, np.inf
    return values


def causal(rows: int, columns: int) -> np.ndarray:
    """Which of the columns each row may see. (rows, columns) bool."""
    return np.tri(rows, columns, columns - rows, dtype=bool)


def lens_grid(n_tokens: int, start: int) -> lens.Grid:
    """A window of the lens: three rows, two words a cell, the answer found in the last row."""
    cells = [[[f"w{r}{t}", f"<b>{r}{t}"] for t in range(n_tokens)] for r in range(3)]
    probs = np.stack([shares(3, n_tokens), shares(3, n_tokens) / 7], axis=-1)
    is_answer = np.arange(3)[:, None].repeat(n_tokens, axis=1) == 2
    is_blank = (np.arange(3)[:, None] + np.arange(n_tokens)) % 2 == 0
    labels = [f"<b>t{t}" for t in range(n_tokens)]
    return lens.Grid(cells, probs, grid(3, n_tokens, 0.3), is_answer, is_blank, labels, start)


def shown(builder: Callable[..., Drawn], *given: object, **named: object) -> partial[Drawn]:
    """A builder on what it is given; one that draws by itself, in the light palette."""
    colors = {"colors": LIGHT} if "colors" in signature(builder).parameters else {}
    return partial(builder, *given, **named, **colors)


def maps(n_tokens: int, n_columns: int) -> list[schemes.Part]:
    """Three matrices of the same tokens, the second with a hidden corner."""
    tokens = [f" t{i}" for i in range(n_tokens)]
    hidden = ~causal(n_tokens, n_columns)
    return [
        schemes.Part(
            name, tokens, grid(n_tokens, n_columns, start), hidden if name == "b" else None
        )
        for name, start in (("a", -1.0), ("b", -0.7), ("c", -0.4))
    ]


BEAM = [
    beam.Node(0, 0, None, "<b>", -0.11, -0.12, -0.13, True, False, True),
    beam.Node(0, 1, None, "x", -0.91, -0.92, -0.93, True, False, False),
    beam.Node(0, 2, None, "a word of many letters", -1.51, -1.52, -1.53, False, False, False),
    beam.Node(1, 0, 0, "y", -0.21, -0.33, -0.34, True, True, True),
    beam.Node(1, 1, 1, "z", -0.31, -1.24, -1.25, False, False, False),
]
C, A, T, SIGN = Node(67, b"c"), Node(65, b"a"), Node(84, b"t"), Node(9, "é".encode())
CA = Node(300, b"ca", 41, 0, (C, A))
PARTS = Node(195, b"\xc3"), Node(169, b"\xa9")  # of one character
MERGED = [(Node(400, b"cat", 1302, 1, (CA, T)),), (SIGN, *PARTS, Node(60, b"<"))]
ESTIMATES = attribution.Estimates(np.array([False, True, False, True]), np.full(4, np.nan),
                                  beside={"key": np.arange(4), "norm": line(4, 7)})  # fmt: skip
ACROSS, UP = heads.Measured("entropy", line(4, 0.3)), heads.Measured("share", line(4, 5, -0.7))
SCALING = (["GPT-3", "Gopher", "Chinchilla"], 1e23 * line(3, 3), 1e10 * line(3, 17, -4))

CASES = (
    shown(ablation.answer_bars, WORDS, (line(5, 0.1, 0.05), line(5, 0.2, 0.04)), title="T"),
    shown(ablation.pruning_curve, line(3, 2), ["none", "L0 <H1>", "L2 H3"], 2.1, title="T"),
    shown(ablation.weight_map, shares(3, 5), (WORDS[:3], WORDS), causal(3, 5), "T"),
    shown(attribution.waterfall, LAYERS, np.array([1.5, -0.7, 2.25]), title="T"),
    shown(attribution.waterfall, [f"P{i}" for i in range(23)], (-1) ** np.arange(23) * line(23, 2),
          title="T"),
    shown(attribution.part_map, attribution.head_axes(LAYERS, 4), holes(3, 4),
          signed("cost", holes(3, 4), "nats"), "T", chosen=(1, 2), off=[(0, 3)],
          estimates=attribution.Estimates(
              grid(3, 4) > 0.3, grid(3, 4, -2), beside={"metric": grid(3, 4, 2)})),
    shown(attribution.part_map, attribution.head_axes([f"L{i}" for i in range(30)], 33),
          grid(30, 33), signed("cost", grid(30, 33)), "T"),
    shown(attribution.token_bars, ["The", "<b>", "cat"], grid(1, 3, -0.2)[0], Axis("change"), "T"),
    shown(attribution.named_bars, ["<b>", "cat", "a name of many, many letters"],
          np.array([2.0, 0.5, -1.25]), "share", "T"),
    shown(attribution.named_bars, ["a"], np.array([0.75]), "share", "T"),
    shown(beam.beam_tree, BEAM, "<root>", "The winner’s score is −0.34."),
    shown(blanks.paired_bars, WORDS,
          {"both sides": line(5), "left": line(4, 2)},
          title="T"),
    shown(block.step_map, grid(3, 4) / 3, LAYERS, title="T"),
    shown(block.length_bars, line(3), LAYERS, ["stream", "norm", "MLP"], title="T"),
    shown(block.norm_scatter, line(4),
          {"LayerNorm": line(4, 2), "RMSNorm": line(4, 3), "none": line(4, 4)}, title="T"),
    shown(block.gain_bars, {"gain": line(4), "bias": line(4, -1)}, title="T"),
    shown(block.activation_points, {"ReLU": (line(3), line(3, 2)), "GELU": (line(3), line(3, 4))},
          "GELU", (line(4, 0.1), line(4, 0.7)), title="T"),
    shown(block.neuron_bars, line(4, -1), title="T"),
    shown(block.heights, line(4), {"attention": line(3, 0.1), "MLP": line(3, 0.2)}, 3, title="T"),
    shown(cache.cache_map, grid(3, 5, 0.2), 4, 2, WORDS, title="T"),
    shown(cache.cache_map, grid(2, 5, 0.2), 3, 3, WORDS, title="T"),
    shown(cache.cache_map, grid(2, 5, 0.2), 0, 3, WORDS, title="T"),
    shown(cache.cache_map, grid(2, 3, 0.2), 3, 3, WORDS[:3], title="T"),
    shown(cache.timing_lines, {"slow": {4: 0.001, 8: 0.002, 16: 0.004}, "fast": {4: 0.003}},
          {"slow": (1.25, 0.0003)}, 8, title="T"),
    shown(cheaper.error_lines, [1, 2, 4],
          {"window": line(3), "low rank": line(3, 2), "none": line(3, 4)}, "low rank"),
    shown(cheaper.tile_bars, line(5), WORDS, line(2, 3), 2),
    shown(cheaper.output_bars, line(3), line(3, 2), title="T"),
    shown(cheaper.memory_lines, [16, 1024, 4096], {"full": 1e5 * line(3), "tiles": 1e4 * line(3)},
          48),
    shown(cost.share_bars, {"embedding": [10, 30], "attention": [15, 90], "norms": [25, 60]},
          ["stories", "GPT-2"]),
    shown(cost.operation_lines, [16, 64, 1024],
          {"attention": [98, 393, 6442], "projections": [3145, 3146, 3147]}, "GPT-2"),
    shown(cost.pass_times, {32: [10.0, 12], 64: [20.0, 23], 128: [39.0, 46]}, [32, 48, 64],
          {cost.BY_LENGTH: np.stack([line(3, 10), line(3, 9), line(3, 12)]),
           cost.BY_WORK: np.stack([line(3, 20), line(3, 18), line(3, 25)])},
          np.array([[40.0, 38, 43], [44, 41, 49]])),
    shown(depth.gradient_lines, [2, 4, 8],
          {"pre, with": line(3), "post, with": line(3, 2), "pre": line(3, 3), "post": line(3, 4)},
          title="T", x="blocks"),
    shown(depth.gradient_lines, [0, 1], {"own": np.array([0.99, 0.01])}, title="T", x="block"),
    shown(depth.gradient_lines, [0, 1], {"own": np.array([3.7, 0.01])}, title="T", x="block"),
    shown(depth.gradient_lines, [2, 4], {"a": np.full(2, np.nan), "b": np.full(2, np.nan)},
          title="T", x="blocks"),
    shown(explanation.arrow_scatter, (line(4, 0.1), grid(1, 4)[0]),
          ("L0 H1", "<L1>", "L1 H2", "L2 H0"), {"idle": 2, "chosen": 1}, ESTIMATES,
          ("T", "weight", "nats")),
    shown(explanation.token_rows, {"removed": grid(1, 5)[0], "flow": line(5, 0.3)}, WORDS,
          title="T"),
    shown(heads.head_scatter, (*LAYERS, "L3"), ACROSS, UP,
          heads.Measured("first", line(4, 0.6)), 2),
    shown(heads.head_scatter, (*LAYERS, "L3"), UP, heads.Measured("gap", holes(2, 2).ravel()),
          heads.Measured("correlation", np.array([0.4, 0.1, -0.2, np.nan]), is_signed=True), 0),
    shown(heads.head_scatter, LAYERS, heads.Measured("alike", 1 - 1e-8 * line(3)),
          heads.Measured("apart", line(3)), heads.Measured("colour", line(3, 2)), 0),
    shown(kernels.fitted_curve, (line(4, 0.1), line(4, 5)), (line(3), line(3, 2), line(3, 3)),
          (1.5, 2.5)),
    shown(kernels.weights_by_place, line(4), line(4, 0.1, 0.02), 1.3),
    shown(lens.lens_map, lens_grid(5, 7), weights("probability"), (1, 9)),
    shown(lens.lens_map, replace(lens_grid(15, 2), entropy=holes(3, 15)),
          from_zero("entropy", holes(3, 15), "nats"), (2, 14)),
    shown(lens.rank_curve, {"logit lens": np.array([999, 4, 0])}, 1, 4096, "<b>"),
    shown(lens.rank_curve, {"a": np.arange(31)[::-1], "b": np.arange(31) % 30}, 30, 50, "T"),
    shown(lens.kl_curves, {"logit lens": np.array([9.0, 2.5, 0]), "<b>": line(3)}),
    shown(lens.agreement_curves, {"logit lens": np.array([0.1, 0.5, 1]), "<b>": shares(1, 3)[0]}),
    shown(lens.turning_curve, np.array([-3.0, np.nan, 2.5]), 2, ("he", "<b>")),
    shown(lens.most_likely_bars, WORDS[:4], line(4, 0.1, 0.05)[::-1], title="<b>"),
    shown(masks.leak_curves, {"after": line(5, 0.1, 0.1), "before": line(5, 0.2, 0.1),
                              "score_zero": line(5, 0.3, 0.1)}, WORDS),
    shown(masks.receptive_field_map, np.array([[0, -1, 3], [1, 0, -1], [4, 2, 0]]), WORDS[:3], 7),
    shown(masks.receptive_field_curve, [1, 3, 5, 8], 2, 9),
    shown(masks.cost_curves, [16, 64, 256],
          {masks.EVERY_PAIR: [256, 4096, 65536], "causal": [136, 2080, 32896]}, "causal"),
    shown(masks.loss_bars, {"causal": line(4), "none": line(4, 2)}, WORDS),
    shown(masks.change_bars, {"causal": line(5), "none": line(5, 2)}, WORDS, title="T"),
    shown(masks.share_map, shares(3, 4), title="T"),
    shown(merges.merge_trees, MERGED, 7, 3839),
    shown(patches.similarity_grid, grid(4, 4), title="T"),
    shown(patches.distance_curve, grid(3, 4, 2), title="T"),
    shown(patches.without_map, shares(1, 9)[0], title="T"),
    shown(attribution.part_map, attribution.head_axes(LAYERS[:2], 50), grid(2, 50),
          patching.RECOVERED, "T",
          estimates=attribution.Estimates(grid(2, 50) < -2, np.full((2, 50), np.nan))),
    shown(patching.estimate_scatter, {"heads": grid(2, 3), "MLP": grid(1, 2, 4)},
          {"heads": grid(2, 3, 0.5), "MLP": grid(1, 2, 5)}),
    shown(positions.table_map, grid(4, 3), n_used=2),
    shown(positions.table_map, grid(20, 3), n_used=2),
    shown(positions.wave_rows, grid(3, 70), n_used=2),
    shown(positions.wave_surface, grid(4, 6)),
    shown(positions.wavelength_curve, np.array([1.0, 0.1, 0.03]), context=512, pair_name="pair"),
    shown(positions.dimension_curves, grid(5, 4), [3, 1], n_used=2),
    shown(positions.dimension_curves, grid(91, 2), [1], n_used=3),
    shown(positions.similarity_map, grid(3, 3) / 3),
    shown(recurrence.accuracy_lines, {"RNN": ([2, 4], line(2, 0.3)), "both": ([3, 6], line(2)),
                                       "attention": ([1, 7], line(2, 0.4))}, 4, title="T"),
    shown(recurrence.alignment_map, shares(3, 4), (LAYERS, WORDS[:4]), 1, title="T"),
    shown(saturation.by_dimension, [1, 4, 16], {"q · k": line(3), "q · k / √d": line(3, 0.5)},
          Axis("variance", is_log=True), title="T", line=np.array([1.0, 4, 17])),
    shown(saturation.by_dimension, [1, 4, 16], {"q · k": line(3, 0.1)},
          Axis("largest", from_zero=True), title="T"),
    shown(saturation.weight_bars, {"q · k": line(4), "q · k / √d": line(4, 2)}, title="T"),
    shown(scaling.best_sizes, np.array([1e18, 1e22]),
          {"Kaplan": np.array([1e8, 1e12]), "Approach 1": np.array([2e8, 3e10])}, SCALING,
          (1e21, 5e9)),
    shown(scaling.equal_compute, [("10^20", np.array([1e7, 1e8]), line(2, 3)),
                                  ("10^21", np.array([2e7, 2e8]), line(2, 2))],
          (np.array([5e7, 9e7]), np.array([2.9, 1.9])), (6e7, 2.5), title="T"),
    shown(scaling.own_runs, np.array([1e5, 1e6]),
          [("small", np.array([2e5, 3e5]), line(2, 5), line(2, 5.1)),
           ("large", np.array([4e5, 5e5]), line(2, 4), line(2, 4.1))],
          ("stories", 7e5, 2.8, line(2, 2.9))),
    shown(lab.schedule, np.array([1, 2, 4]), line(3, 0.2, 0.1), {"a": 0.02, "b": 0.005}),
    shown(lab.curves, "T", Axis("loss", "nats"),
          [lab.Curve(0, "one", "held out", [10, 20, 30], line(3, 4).tolist()),
           lab.Curve(1, "two", lab.FREE, [10, 25], line(2, 3).tolist())], 15),
    shown(lab.circle, "01234", Circle(2, grid(5, 2), 0.75), 40),
    shown(schemes.angle_map, np.array([2.0, 0.1]), 5),
    shown(schemes.slope_bars, np.array([0.5, 0.25, 0.0625]), title="T"),
    shown(schemes.slope_bars, 2.0 ** -line(17), title="T"),
    shown(schemes.vector_maps, maps(4, 3)),
    shown(schemes.vector_maps, [*maps(4, 3)[:2], schemes.Part("c", WORDS[:4], grid(4, 3, 2))],
          share=0.5, n_scaled=3),
    shown(schemes.pattern_row, [*maps(3, 3), schemes.Part("d", WORDS[:2], shares(2, 2))]),
    shown(schemes.loss_curves, {"RoPE": (line(3), 8), "ALiBi": (line(4, 2), 4)}, n_trained=16),
    shown(several.side_by_side, grid(3, 4), 1, title="T"),
    shown(several.output_map, grid(5, 6), (1, 3), title="T"),
    shown(several.written_map, grid(3, 5, 1), WORDS, 2, title="T"),
    shown(several.spectrum_lines, grid(3, 4, 1), 1, title="T"),
    shown(several.alike_map, grid(3, 3) / 3, (1, 2), title="T"),
    shown(similarity.arrows, np.array([2.0, 3.0]), np.array([-1.0, 4.0]), np.array([0.5, 0.75])),
    shown(similarity.nearest_bars, WORDS[:4],
          (np.array([7, 3, 9, 1]), line(4)[::-1], line(4, 2)), 3, words=("cosine", "T")),
    shown(similarity.nearest_bars, WORDS[:2], (np.array([7, 3]), line(2, -1), line(2)), 4,
          words=("cosine", "T")),
    shown(token_maps.mask_map, causal(5, 5), WORDS),
    shown(token_maps.signed_map, grid(5, 5), causal(5, 5), (WORDS, WORDS), "score", "T",
          scale_of=np.array([3.0, -7.5])),
    shown(token_maps.pattern_map, shares(5, 5), causal(5, 5), WORDS, title="T"),
    shown(token_maps.pattern_map, shares(100, 100), causal(100, 100),
          [f" t{i}" for i in range(100)], title="T"),
    shown(token_maps.signed_map, grid(3, 5)[::-1], causal(3, 5), (WORDS[:3], WORDS), "bias", "T"),
    shown(token_maps.token_map, holes(3, 5), (WORDS[:3], WORDS), weights(), "T", causal(3, 5)),
    shown(translation.loss_bars, WORDS, line(5), [None, "<i>", None, None, "a long, long <b>"],
          [7, 3, 9, 1, 4], title="T"),
    shown(translation.damage_map, WORDS[:4], {"no order": line(4), "no words": line(4, 2)},
          title="T"),
    shown(translation.alignment_map, shares(3, 4), (WORDS[:4], LAYERS), {(3, 1), (0, 2)},
          title="T"),
    shown(translation.error_rate_map, shares(3, 5), title="T"),
    shown(translation.cache_growth, [1000, 2500, 4100], [7000, 7001, 7002], title="T"),
)  # fmt: skip
