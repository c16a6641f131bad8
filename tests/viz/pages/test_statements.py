"""Protects the lines that pages say: at an address, and of a model with another config."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, lines, open_page
from tests.viz.builders import latex_numbers
from tests.viz.pages.handed import Address, at, in_words, text_of
from viz.kit.growth import Growth

LONG = " ".join(["The old bear walked up the hill and saw the moon."] * 13)
SHORT = "The dog ran."
UNIT = "1,0;0,1;1,1|1,0;0,1;1,1|1,0;0,1;1,1|"
PAIRS = {"model": "positions-alibi"}
NO_EXAMPLE = "Showing the first example."

# An address on the shipped models, and words that stand there.
LINES: list[tuple[Address, list[str]]] = [
    (at("Home", model="translate", source="A dog runs."),
     ["12 attention layers (4 in the encoder, 4 + 4 in the decoder) of 4 heads"]),
    (at("Embeddings and similarity", scene="vectors", vectors="0,0,1.5,2.5,1.5"),
     ["the cosine is none, since a vector of length 0 has no direction"]),
    (at("Embeddings and similarity", model="blank", sentence="Two children play."),
     ["one table here (tied)", "most like that of “children”."]),
    (at("Embeddings and similarity", model="translate", source="Two children play."),
     ["LayerNorm, which takes off the mean and divides by the deviation, comes"]),
    (at("Attention by hand"), ["add up to 1, here 0.67, 0.33, and"]),
    (at("Attention by hand", hand_cells=UNIT, hand_masking="causal", hand_scaled="no"),
     ["the scores of the first query are 1.00, 0, 1.00.", "add up to 1, here 1.00, 0, 0, and"]),
    (at("Attention by hand", hand_cells="1,x|1|1|"),
     ["Q row 1, column 2: “x” is not a number.", NO_EXAMPLE]),
    (at("Attention by hand", hand_cells="<b>|1|1|"),
     ["Q row 1, column 1: “<b>” is not a number.", NO_EXAMPLE]),
    (at("Attention by hand", hand_cells="1|1|1|", hand_heads="2"),
     ["1 of Q's columns cannot be split among 2 heads", NO_EXAMPLE]),
    (at("Positional encoding", model="positions-none"),
     ["positions-none (no positions)", "its mask alone"]),
    (at("Positional encoding", model="positions-none", sentence="a a a"),
     ["Both are the same token: choose two to see another order."]),
    (at("Kernels", smoothing="boxcar", width="0.05", asked_at="0.5"),
     ["there is none, since no point is within a width of 0.05."]),
    (at("Kernels", smoothing="boxcar", scene="houses", house="140,5"),
     ["By the boxcar kernel nothing, since no house is within 5 m²;"]),
    (at("Kernels", scene="model", **PAIRS), ["goes without the bias added to its scores"]),
    (at("Kernels", scene="additive", **PAIRS), ["goes without the bias added to its scores"]),
    (at("Cheaper attention", scene="times"),
     ["Figure times does not exist here; showing What is lost."]),
    (at("Masks", scene="padding", second=""), ["Type a second sentence"]),
    (at("Masks", scene="padding", second=TOM), ["no padding is needed"]),
    (at("Masks", scene="padding", second=SHORT, side="right"),
     ["get 0 % of its attention, and with it.", "its logits are those that it has alone"]),
    (at("Masks", mask="padding", sentence=LONG, model="positions-learned"),
     ["no room for pad tokens"]),
    (at("Positional encoding", scene="bias", sentence="Tom", **PAIRS),
     ["at a distance of 0. The bias is 0 there."]),
]  # fmt: skip

WINDOW = {"mask": "sliding_window", "window": 3}
PREFIX = {"mask": "prefix", "prefix_len": 4}
WIDE = {"position": "rope", "mask": "prefix", "prefix_len": 19}
ALONE, ROPE, ALIBI = {"n_heads": 1, "n_kv_heads": 1}, {"position": "rope"}, {"position": "alibi"}
NORM, ROOT = r"\mathrm{norm}", r"\sqrt{d_{\mathrm{head}}}"
FINAL, TIED = "with the final norm and the unembedding", "The unembedding is the embedding itself"
SUM, SCALED = "√d_model · embedding + position", r"\sqrt{d_{\mathrm{model}}}\,W_E[t_p]"
OWN = "it is the mask that the model was trained with."
LEAKS, SAYS_NOTHING = (
    "Neither number says how well it predicts",
    "The loss without a mask says nothing",
)
EMPTY, NEEDED = "their rows come out as zeros", "Even at the right it is needed"
NEVER, ONCE = "of earlier tokens never change", "no longer change once the first 4 are in"
OUT_OF_SIGHT = "keeps the target out of sight"


def attention(page: str, **query: str) -> Address:
    """Where the formula of attention is."""
    return at(page, inspect="formula", **query)


def padded(side: str) -> Address:
    """Where a sentence that is a little shorter is padded."""
    return at("Masks", scene="padding", side=side, second=SENTENCE[:18])


# An address, the config of the model that runs, and what is said of it there; what is not.
OF_CONFIGS: list[tuple[Address, dict[str, object], list[str], list[str]]] = [
    (at("Home"), {"n_layers": 4, "n_heads": 5}, ["4 layers of 5 heads run on your sentence"], []),
    (at("Logit lens"), {"norm_placement": "pre", "tied_embeddings": True},
     [FINAL, NORM, TIED, f"of {len(SENTENCE)} positions."], ["no final norm"]),
    (at("Logit lens"), {"norm_placement": "post", "tied_embeddings": False}, ["no final norm"],
     [FINAL, NORM, TIED, f"of {len(SENTENCE)} positions."]),
    *(
        (at("Positional encoding", **query), {"position": "learned", "scale_embeddings": x}, [y], z)
        for query, x, y, z in (
            ({"scene": "sum"}, True, SUM, []),
            ({"scene": "sum"}, False, "embedding + position", [SUM]),
            ({"inspect": "formula"}, True, SCALED, []),
            ({"inspect": "formula"}, False, "W_E[t_p]", [SCALED]),
        )
    ),
    (attention("Home"), ALIBI, ["+ B + M", ROOT], []),
    (attention("Home"), ROPE, [ROOT], ["+ B + M"]),
    (attention("Masks", scene="edit"), ALIBI, ["+ B + M", ROOT], []),
    (attention("Masks", scene="order"), ALIBI, ["+ B + M", ROOT], []),
    (attention("Positional encoding", scene="bias"), {**ALIBI, "n_heads": 5},
     ["H = 5 is not a power of 2", "|i - j|", "strongest pair (first token and self left out): "],
     []),
    (at("Positional encoding", scene="wavelengths"), {"position_base": 500.0},
     ["They approach 500 · 2π"], ["10000"]),
    (at("Positional encoding", scene="wavelengths"), {"position_base": 10_000.0},
     ["They approach 10,000 · 2π", "10000"], []),
    (at("Masks"), WINDOW, [OWN], []),
    (at("Masks", window="4"), WINDOW, ["it is not the mask that the model was trained with"], []),
    (at("Masks", mask="causal"), {**WINDOW, "window": 23}, [f"Over these tokens {OWN}"], []),
    (at("Masks"), PREFIX, ["The first 4 tokens all attend to each other"], []),
    (at("Masks", prefix="1"), PREFIX, ["Each token attends to itself and to what came before, so"],
     []),
    (at("Masks", mask="global_tokens", **{"global": "0"}), {},
     ["arrives by way of other tokens alone"], []),
    (at("Masks", mask="global_tokens", sides="both", **{"global": "1"}), {},
     ["to the first token, which"], []),
    (at("Masks", scene="loss"), {}, [SAYS_NOTHING], [LEAKS]),
    (at("Masks", scene="loss"), PREFIX, [LEAKS],
     [SAYS_NOTHING, "it never learnt to use what lies ahead"]),
    (padded("right"), ROPE, ["the causal mask hides that already"], [NEEDED]),
    (padded("right"), WIDE, [NEEDED], ["the prefix mask hides that already"]),
    (padded("left"), WIDE, ["this model's prefix mask counts tokens from the start"], [EMPTY]),
    (padded("left"), {"position": "none", **WINDOW}, [EMPTY], ["counts tokens from the start"]),
    (at("Masks", scene="shift", inspect="source"), WINDOW,
     ["Each position attends to 1 to 3 of the inputs up to its own", "model.masks.sliding_window"],
     []),
    (at("Masks", scene="shift"), PREFIX, ["mask 3 of "], [OUT_OF_SIGHT]),
    (at("Masks", scene="shift"), {**PREFIX, "prefix_len": 1}, [OUT_OF_SIGHT], ["mask 0 of "]),
    (at("Masks", scene="reach"), {"n_layers": 1},
     ["after 1 layer, all this model has", "takes at most 1 layer;"], []),
    (at("KV cache"), GROUPED, [NEVER], [ONCE]),
    (at("KV cache"), {**PREFIX, **GROUPED}, [ONCE], [NEVER]),
    (at("Attention by hand", scene="model", layer="1", head="2"),
     {"d_model": 4, "n_heads": 4, "n_kv_heads": 4, "d_ff": 4}, ["L1 H2 divides by √1. "],
     ["Beside it are"]),
    (at("Multi-head attention"), {"n_heads": 1},
     ["This layer has one head: there is nothing to compare it with."], ["Show me"]),
    *((at("Multi-head attention", scene=scene), ALONE, ["H0"], ["most,", "least,", " go from"])
      for scene in ("written", "rank")),
    (at("Embeddings and similarity"), {"tied_embeddings": True}, ["one table here (tied)"], []),
    (at("Embeddings and similarity"),
     {"tied_embeddings": False, "norm": "rms", "norm_placement": "pre"},
     ["The unembedding is another table here", "RMSNorm"], ["(tied)"]),
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=in_words)
def test_a_line_stands_at_its_address(line: tuple[Address, list[str]]) -> None:
    (page, query), words = line
    app = open_page(page, **{"sentence": TOM} | dict(query))
    text = text_of(app)
    assert [x for x in words if x not in text] == []
    assert [x for x in lines(app, "error") if not any(word in x for word in words)] == []


@pytest.mark.parametrize("case", OF_CONFIGS, ids=in_words)
def test_what_is_said_follows_the_config(
    case: tuple[Address, dict[str, object], list[str], list[str]], shelf: Path
) -> None:
    (page, query), config, said, unsaid = case
    tiny_checkpoint(shelf / "tiny", **config)
    app = open_page(page, sentence=SENTENCE, **dict(query))
    text = text_of(app)
    assert lines(app, "error") == []
    assert ([x for x in said if x not in text], [x for x in unsaid if x in text]) == ([], [])


@pytest.mark.parametrize("base", [20.0, 10_000.0])
def test_rope_says_how_far_its_slowest_pair_rotates(base: float, shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", position="rope", position_base=base)
    app = open_page("Positional encoding", sentence=SENTENCE, scene="wavelengths")
    turns = 23 / (2 * np.pi * base ** (8 / 10))  # 5 pairs of 10 dimensions, context 23
    said = text_of(app).partition("the slowest rotates ")[2].partition(" times")[0]
    assert latex_numbers(said) == [pytest.approx(turns, abs=0.01)]
    assert said.startswith("< 0.01") == (turns < 0.005)


def test_the_other_tabs_models_are_said_in_their_sizes(shelf: Path) -> None:
    tiny_checkpoint(shelf / "positions-rope", position="rope")
    tiny_checkpoint(shelf / "positions-alibi", position="alibi")
    tiny_checkpoint(shelf / "tiny", n_layers=1)
    app = open_page("Positional encoding", sentence=SENTENCE, model="tiny", scheme="sinusoidal")
    assert "The other tabs run models of 2 layers × 3 heads." in text_of(app)
    tiny_checkpoint(shelf / "positions-alibi", position="alibi", n_layers=1)
    app = open_page("Positional encoding", sentence=SENTENCE, model="tiny", scheme="sinusoidal")
    assert "models of other sizes: 1 layers × 3 heads, 2 layers × 3 heads." in text_of(app)


@pytest.mark.parametrize("position", ["none", "alibi"])
def test_only_positions_are_numbered_again(position: str) -> None:
    config = SimpleNamespace(max_seq_len=9, position=position)
    writing = SimpleNamespace(
        steps=[SimpleNamespace(n_dropped=4)], is_running=False, stopped=None,
        model=SimpleNamespace(config=config, limit="the model's context"),
    )  # fmt: skip
    line = Growth.state(SimpleNamespace(writing=writing, start=""))
    assert ("numbered from position 0 again" in line) == (position != "none")
    assert "cannot attend to what was dropped" in line
