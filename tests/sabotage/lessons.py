"""Faults of the lessons: their arithmetic in the browser, what is drawn of it, and what is said."""

from tests.sabotage.fault import Fault

BY_HAND = {"hand_cells": "1,2;0,1|1,0;1,1|2,0;0,3|", "hand_masking": "causal"}
TWO_HEADS = {"hand_cells": "1,2;0,1|1,0;1,1|2,0;0,3|1,2;3,4", "hand_heads": "2"}
WORKED, TABLES, PAGE = "viz/live/by_hand/worked.js", "viz/live/by_hand/tables.js", "by_hand.js"
TITLE, ROOTS = "Attention by hand", "Why √d?"
SMOOTHING = "model/analysis/kernels.py"
ROOT = "model/analysis/saturation.py"
BLOCK, IN_A_BLOCK = "model/analysis/block.py", "The block"
DEEP, RESIDUAL = "model/analysis/depth.py", "Why the residual?"
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
    Fault("lessons", "a block’s second norm given what the first is", BLOCK,
          '"pre": {"attn_norm": "resid_pre", "ffn_norm": "resid_mid"}',
          '"pre": {"attn_norm": "resid_pre", "ffn_norm": "resid_pre"}', "block-", "stories",
          IN_A_BLOCK, {"block_norm": "ffn"}),
    Fault("lessons", "BatchNorm over the dimensions of a token", BLOCK,
          "mean = x.mean(dim=0, keepdim=True)", "mean = x.mean(dim=1, keepdim=True)", "block-",
          "stories", IN_A_BLOCK),
    Fault("lessons", "neurons of the token before", "viz/pages/lessons/block.py",
          'found.values["activation"][token]', 'found.values["activation"][token - 1]',
          "block-neurons", "stories", IN_A_BLOCK),
    Fault("lessons", "SiLU drawn in GELU’s place", BLOCK, '"gelu": F.gelu,', '"gelu": F.silu,',
          "block-function", "stories", IN_A_BLOCK),
    Fault("lessons", "steps of the next layer’s block", "viz/pages/lessons/block.py",
          "run_inside(view.handle, view.ids, view.layer)",
          "run_inside(view.handle, view.ids, (view.layer + 1) % 6)", "block-", "stories",
          IN_A_BLOCK),
    Fault("lessons", "deviation without ε under the root", BLOCK,
          "np.sqrt(exact.var() + eps)", "np.sqrt(exact.var() + 0.1)", "block.statistics", "stories",
          IN_A_BLOCK, {"layer": "0"}),
    Fault("lessons", "the loss of each token itself", DEEP, "(logits[:-1], given[0, 1:])",
          "(logits[:-1], given[0, :-1])",
          "depth-own", "stories", RESIDUAL),
    Fault("lessons", "a loss that is a sum", DEEP, "(logits[:-1], given[0, 1:])",
          '(logits[:-1], given[0, 1:], reduction="sum")', "depth-own", "stories", RESIDUAL),
    Fault("lessons", "gradients one block further up", DEEP,
          'f"{model.name}.blocks.{layer}.resid_pre"', 'f"{model.name}.blocks.{layer}.resid_post"',
          "depth-own", "stories", RESIDUAL),
    Fault("lessons", "gradients as long as their parts together", DEEP,
          "found[address].double().norm().item()", "found[address].double().abs().sum().item()",
          "depth-own", "stories", RESIDUAL),
]  # fmt: skip
