"""Faults of the lessons: their arithmetic in the browser, what is drawn of it, and what is said."""

from tests.sabotage.fault import Fault

BY_HAND = {"hand_cells": "1,2;0,1|1,0;1,1|2,0;0,3|", "hand_masking": "causal"}
TWO_HEADS = {"hand_cells": "1,2;0,1|1,0;1,1|2,0;0,3|1,2;3,4", "hand_heads": "2"}
WORKED, TABLES, PAGE = "viz/live/by_hand/worked.js", "viz/live/by_hand/tables.js", "by_hand.js"
TITLE, ROOTS = "Attention by hand", "Why √d?"
SMOOTHING = "model/analysis/kernels.py"
ALIKE = "model/analysis/similarity.py"
SEVERAL = "model/analysis/several.py"
ROOT = "model/analysis/saturation.py"
HAND = f"viz/live/by_hand/{PAGE}"


def _hand(name: str, file: str, old: str, new: str, query: dict[str, str]) -> Fault:
    return Fault("lessons", name, file, old, new, "by_hand", "stories", TITLE, query)


LESSONS = [
    _hand("products by hand not divided", WORKED, "1 / Math.sqrt(q.columns / settings.heads)",
          "1 / Math.sqrt(2 * q.columns)", BY_HAND),
    _hand("a mask by hand that looks ahead", WORKED, "? j <= i :", "? j <= i + 1 :", BY_HAND),
    _hand("the second head by hand has the first one's columns", WORKED,
          "m.values[i * m.columns + head * width + j]", "m.values[i * m.columns + j]", TWO_HEADS),
    _hand("heads by hand put together in another order", WORKED,
          "sideBySide(heads.map(({ z }) => z))", "sideBySide(heads.map(({ z }) => z).reverse())",
          TWO_HEADS),
    _hand("W_O by hand the other way round", WORKED, "products(joined, transposed(out))",
          "products(joined, out)", TWO_HEADS),
    _hand("cells by hand in reverse", TABLES, "const value = m.values[at];",
          "const value = m.values[m.values.length - 1 - at];", BY_HAND),
    _hand("weights by hand shaded by their roots", TABLES, "Math.round(MOST_SHADE * value)",
          "Math.round(MOST_SHADE * Math.sqrt(value))", BY_HAND),
    _hand("the line by hand has another row's number", HAND,
          "digits(m.values[row * m.columns + column], 3)",
          "digits(m.values[(m.rows - 1 - row) * m.columns + column], 3)", BY_HAND),
    _hand("keys by hand shown in the place of queries", HAND,
          "cells[name].forEach((row, i) => row.forEach",
          'cells[name === "q" ? "k" : name].forEach((row, i) => row.forEach', BY_HAND),
    Fault("lessons", "the variance of half the products", ROOT,
          "np.mean(np.square(products))", "np.mean(np.square(products[::2]))", "variances",
          "stories", ROOTS),
    Fault("lessons", "a gradient without its cross terms", ROOT, "p[:, None] * (ones - p)",
          "p * (1 - p)", "root-gradient", "stories", ROOTS),
    Fault("lessons", "the largest weight that is the second largest", ROOT,
          "weights.max(axis=-1).mean()", "np.sort(weights)[:, -2].mean()", "root-largest",
          "stories", ROOTS),
    Fault("lessons", "√d undone twice", ROOT, "(scores - bias) * math.sqrt(d_head)",
          "(scores - bias) * d_head", "root-undivided", "stories", ROOTS),
    Fault("lessons", "a row of weights of the next query", "viz/pages/lessons/root.py",
          "WITH: products[0] / math.sqrt(d)", "WITH: products[1] / math.sqrt(d)", "one-row",
          "stories", ROOTS),
    Fault("lessons", "kernels of half the width", SMOOTHING, "(queries[:, None] - keys) / width",
          "(queries[:, None] - keys) / width * 2", "kernel-", "stories", "Kernels"),
    Fault("lessons", "the triangular kernel in Epanechnikov's place", SMOOTHING,
          "np.maximum(1 - u**2, 0)", "np.maximum(1 - np.abs(u), 0)  ", "kernel-", "stories",
          "Kernels", {"smoothing": "epanechnikov"}),
    Fault("lessons", "distances that are not halved", SMOOTHING,
          "-squares / (2 * np.sqrt(q.shape[-1]))", "-squares / np.sqrt(q.shape[-1])",
          "kernel-gaussian", "stories", "Kernels"),
    Fault("lessons", "a cosine divided by one length alone", ALIKE,
          "product / math.prod(lengths)", "product / lengths[0] ** 2", "pair.cosine", "stories",
          "Similarity"),
    Fault("lessons", "an angle that is only half of it", ALIKE, "math.degrees(2 * half)",
          "math.degrees(half)", "pair.degrees", "stories", "Similarity"),
    Fault("lessons", "the foot on the line of b", ALIKE, "a * (float(a @ b) / square)",
          "b * (float(a @ b) / square)", "two-vectors", "stories", "Similarity"),
    Fault("lessons", "nearest tokens in the order of their ids", ALIKE,
          'kind="stable")[:k]', 'kind="stable")[:k]; ids.sort()', "nearest-", "stories",
          "Similarity"),
    Fault("lessons", "a table of tokens that is scaled as the stream is", ALIKE,
          "module.weight.detach()", "(module.weight * module.scale).detach()", "nearest-dot",
          "stories", "Similarity"),
    Fault("lessons", "cosines of keys with their neighbour's lengths", ALIKE,
          "np.linalg.norm(k, axis=-1))\n", "np.linalg.norm(k[::-1], axis=-1))\n",
          "similar-cosines", "stories", "Similarity"),
    Fault("lessons", "heads that write through each other's part of W_O", SEVERAL,
          "record.z.astype(np.float64) @ weights.outputs",
          "record.z.astype(np.float64) @ weights.outputs[::-1]", "several-written", "stories",
          "Several heads"),
    Fault("lessons", "singular values of W_V alone", SEVERAL,
          "np.linalg.svd(r @ s.T, compute_uv=False)", "np.linalg.svd(r, compute_uv=False)",
          "several-spectra", "stories", "Several heads"),
    Fault("lessons", "a rank by the squares of singular values", SEVERAL,
          "np.divide(values, totals,", "np.divide(values**2, totals**2,", "effective_ranks",
          "stories", "Several heads"),
    Fault("lessons", "half of the parameters of a layer", SEVERAL,
          "sum(x.numel() for x in attention.parameters())",
          "sum(x.numel() for x in attention.parameters()) // 2", "heads.parameters", "stories",
          "Several heads"),
    Fault("lessons", "the likeness of the first halves of two arrays", SEVERAL,
          "cosine_similarity(arrays.reshape(len(arrays), -1))",
          "cosine_similarity(arrays.reshape(len(arrays), -1)[:, ::2])", "alike-", "stories",
          "Several heads"),
    Fault("lessons", "columns of W_O the other way round", "viz/pages/lessons/several_heads.py",
          "np.concatenate(list(weights.outputs)).T", "np.concatenate(list(weights.outputs))",
          "several-out", "stories", "Several heads"),
]  # fmt: skip
