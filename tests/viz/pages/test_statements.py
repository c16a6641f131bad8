"""Protects what pages say of the model that runs: with another config the words are others."""

import html
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint
from tests.viz.apps import captions, lines, open_page
from tests.viz.builders import latex_numbers
from viz.kit.growth import Growth


def opened(shelf: Path, page: str, /, config: dict[str, object], **query: str) -> AppTest:
    """A page on a small model of this config."""
    tiny_checkpoint(shelf / "tiny", **config)
    return open_page(page, sentence=SENTENCE, **query)


def said(app: AppTest) -> str:
    """Headings, what stands behind their question marks, captions and notes."""
    texts = [text for x in app.markdown for text in (x.value, x.proto.help)]
    told = [html.unescape(e.proto.body) for e in app.get("html") if '"hl-tour"' in e.proto.body]
    return " ".join([*texts, *captions(app), *lines(app, "note"), *lines(app, "plain"), *told])


def formulas(app: AppTest) -> str:
    """All formulas of the inspector and what stands below them."""
    return " ".join([*(x.value for x in app.latex), *lines(app, "pair")])


# --- sizes, norms, tying --------------------------------------------------------------------------


def test_home_names_the_sizes(shelf: Path) -> None:
    app = opened(shelf, "Home", {"n_layers": 4, "n_heads": 5})
    assert "4 layers of 5 heads run on your sentence" in said(app)


def test_home_says_where_the_layers_of_a_translator_are() -> None:
    app = open_page("Home", model="translate", source="A dog runs.")
    assert "12 attention layers (4 in the encoder, 4 + 4 in the decoder) of 4 heads" in said(app)


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_the_lens_has_the_final_norm_where_there_is_one(placement: str, shelf: Path) -> None:
    app = opened(shelf, "Logit lens", {"norm_placement": placement})
    assert ("with the final norm and the unembedding" in said(app)) == (placement == "pre")
    assert (r"\mathrm{norm}" in formulas(app)) == (placement == "pre")
    assert ("no final norm" in formulas(app)) == (placement == "post")


@pytest.mark.parametrize("tied", [True, False])
def test_a_tied_unembedding_is_said_with_what_it_does_here(tied: bool, shelf: Path) -> None:
    app = opened(shelf, "Logit lens", {"tied_embeddings": tied})
    assert ("The unembedding is the embedding itself: the input row has" in said(app)) == tied
    assert (f"of {len(SENTENCE)} positions." in said(app)) == tied


@pytest.mark.parametrize("scaled", [True, False])
def test_scaled_embeddings_are_said(scaled: bool, shelf: Path) -> None:
    config = {"position": "learned", "scale_embeddings": scaled}
    app = opened(shelf, "Positional encoding", config, scene="sum")
    assert ("√d_model · embedding + position" in said(app)) == scaled
    app = open_page("Positional encoding", sentence=SENTENCE, inspect="formula")
    assert (r"\sqrt{d_{\mathrm{model}}}\,E[t_p]" in formulas(app)) == scaled


# --- the formula of attention ---------------------------------------------------------------------


@pytest.mark.parametrize(("page", "query", "position"), [
    ("Home", {}, "alibi"), ("Home", {}, "rope"),
    ("Masks", {"scene": "edit"}, "alibi"), ("Masks", {"scene": "order"}, "alibi"),
])  # fmt: skip
def test_attention_has_a_bias_where_the_scheme_adds_one(
    page: str, query: dict[str, str], position: str, shelf: Path
) -> None:
    app = opened(shelf, page, {"position": position}, inspect="formula", **query)
    assert ("+ B + M" in formulas(app)) == (position == "alibi")
    assert r"\sqrt{d_{\mathrm{head}}}" in formulas(app)


def test_slopes_in_the_formula_are_of_this_many_heads(shelf: Path) -> None:
    config = {"position": "alibi", "n_heads": 5}
    app = opened(shelf, "Positional encoding", config, inspect="formula", scene="bias")
    assert "H = 5 is not a power of 2" in formulas(app)
    assert "|i - j|" in formulas(app)
    assert "strongest pair (first token and self left out): " in said(app)


# --- positions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [500.0, 10_000.0])
def test_waves_have_the_base_of_the_config(base: float, shelf: Path) -> None:
    app = opened(shelf, "Positional encoding", {"position_base": base}, scene="wavelengths")
    assert f"They approach {base:,.0f} · 2π" in said(app)
    assert ("10000" in "".join(x.value for x in app.latex)) == (base == 10_000)


@pytest.mark.parametrize("base", [20.0, 10_000.0])
def test_rope_says_how_far_its_slowest_pair_rotates(base: float, shelf: Path) -> None:
    config = {"position": "rope", "position_base": base}
    app = opened(shelf, "Positional encoding", config, scene="wavelengths")
    turns = 23 / (2 * np.pi * base ** (8 / 10))  # 5 pairs of 10 dimensions, context 23
    (number,) = latex_numbers(said(app).partition("the slowest rotates ")[2].partition(" times")[0])
    assert ("rotates < 0.01 times" in said(app)) == (turns < 0.005)
    assert number == pytest.approx(turns, abs=0.01)


def test_the_other_tabs_models_are_said_in_their_sizes(shelf: Path) -> None:
    tiny_checkpoint(shelf / "positions-rope", position="rope")
    tiny_checkpoint(shelf / "positions-alibi", position="alibi")
    app = opened(shelf, "Positional encoding", {"n_layers": 1}, model="tiny")
    assert "The other tabs run models of 2 layers × 3 heads." in said(app)
    tiny_checkpoint(shelf / "positions-alibi", position="alibi", n_layers=1)
    app = open_page("Positional encoding", sentence=SENTENCE, model="tiny")
    assert "models of other sizes: 1 layers × 3 heads, 2 layers × 3 heads." in said(app)


# --- masks ----------------------------------------------------------------------------------------

WINDOW = {"mask": "sliding_window", "window": 3}
PREFIX = {"mask": "prefix", "prefix_len": 4}


@pytest.mark.parametrize(("config", "query", "words"), [
    (WINDOW, {}, "it is the mask that the model was trained with."),
    (WINDOW, {"window": "4"}, "it is not the mask that the model was trained with"),
    ({"mask": "sliding_window", "window": 23}, {"mask": "causal"},
     "Over these tokens it is the mask that the model was trained with."),
    (PREFIX, {}, "The first 4 tokens all attend to each other"),
    (PREFIX, {"prefix": "1"}, "Each token attends to itself and to what came before."),
    ({}, {"mask": "global_tokens", "global": "0"}, "arrives by way of other tokens alone"),
    ({}, {"mask": "global_tokens", "global": "1", "sides": "both"}, "to the first token, which"),
], ids=str)  # fmt: skip
def test_masks_are_described_by_their_own_numbers(
    config: dict[str, object], query: dict[str, str], words: str, shelf: Path
) -> None:
    assert words in said(opened(shelf, "Masks", config, **query))


@pytest.mark.parametrize("config", [{}, PREFIX], ids=["causal", "prefix"])
def test_label_leakage_of_the_own_mask_is_said(config: dict[str, object], shelf: Path) -> None:
    app = opened(shelf, "Masks", config, scene="loss")
    assert ("Neither number says how well it predicts" in said(app)) == bool(config)
    assert ("The loss without a mask says nothing" in said(app)) == (not config)
    assert ("it never learnt to use what lies ahead" not in said(app)) or not config


@pytest.mark.parametrize(
    ("config", "name", "side"),
    [({"position": "rope"}, "causal", "right"), ({"position": "rope", **PREFIX}, "prefix", "left"),
     ({"position": "rope", **PREFIX}, "prefix", "right"),
     ({"position": "none", "mask": "sliding_window", "window": 3}, "sliding window", "left")],
)  # fmt: skip
def test_padding_is_said_for_the_own_mask(
    config: dict[str, object], name: str, side: str, shelf: Path
) -> None:
    config = {**config, "prefix_len": 19} if name == "prefix" else config
    text = said(opened(shelf, "Masks", config, scene="padding", side=side, second=SENTENCE[:18]))
    if side == "right":
        assert (f"the {name} mask hides that already" in text) == (name != "prefix")
        assert ("a padding mask is needed on this side, too" in text) == (name == "prefix")
    else:
        assert ("their rows are empty" in text) == (name != "prefix")
        assert (f"this model's {name} mask counts tokens from the start" in text) == (
            name == "prefix"
        )


def test_targets_are_said_for_the_own_mask(shelf: Path) -> None:
    app = opened(shelf, "Masks", WINDOW, scene="shift", inspect="source")
    assert "Each position attends to 1 to 3 of the inputs up to its own" in said(app)
    assert "model.masks.sliding_window" in captions(app)


@pytest.mark.parametrize("config", [{}, PREFIX], ids=["causal", "prefix"])
def test_a_cache_is_said_to_stand_from_when_it_does(config: dict[str, object], shelf: Path) -> None:
    app = opened(shelf, "KV cache", {**config, **GROUPED})
    assert ("of earlier tokens never change" in said(app)) == (not config)
    assert ("no longer change once the first 4 are in" in said(app)) == bool(config)


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
