"""Protects the table of settings: each is declared once, lives in the address, and is mended."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from model.decoding.course import Change
from model.trace import HeadGroup, Trace
from tests.viz.apps import TOM, chosen, control, lines, offered_of, open_page, query_of, whole
from viz import runs, studio
from viz.frame import lessons, settings
from viz.frame.kinds import Text
from viz.frame.settings import OLD_NAMES, OLD_VALUES, SETTINGS, modern

PAGES = Path(studio.__file__).parent / "pages"


@dataclass(frozen=True)
class Place:
    """Where some settings are used: a page, what else its address says, and other values."""

    page: str
    values: dict[str, object]
    query: dict[str, str] = field(default_factory=dict)


RIDES = {"model": "translate", "source": "A man rides a bicycle."}
GIRL = "The girl lost the ball, so"
PLACES = [
    Place("Home", {"layers": 3, "sink": True}),
    Place("Attention", {"sentence": "The bear walked.", "layer": 4, "head": 5, "view": "lines",
                        "stage": "masked", "mass": 0.5, "change": "mask", "tau": 0.5,
                        "against": "sentence", "second": "A cat sat.", "how": "maximum",
                        "over": "all", "hide_first": True, "words": True, "other": (1, 6)}),
    Place("Attention", {"cell": (7, 3), "token": 5}, {"sentence": TOM}),
    Place("Home", {"tour": "10-architectures"}),
    Place("Home", {"step": 3}, {"tour": "01-tokens"}),
    Place("Tokens", {"pre_token": 4}, {"sentence": TOM}),
    Place("Positional encoding", {"picture": "surface", "dimensions": (7, 3), "place_first": 9,
                        "place_second": 4, "image_format": "svg", "inspect": "export",
                        "present": True}),
    Place("Positional encoding", {"query": 8, "key": 3}, {"model": "positions-rope"}),
    Place("Positional encoding", {"n_heads": 6}, {"model": "positions-alibi"}),
    Place("Positional encoding", {"swap": 1, "swap_with": 2}, {"model": "positions-none"}),
    Place("Positional encoding", {"scheme": "compare"}, {"sentence": "x y"}),
    Place("Masks", {"mask": "everything"}),
    Place("Masks", {"window": 3, "global": 2, "sides": "both"}, {"mask": "global_tokens"}),
    Place("Masks", {"prefix": 5}, {"mask": "prefix"}),
    Place("Masks", {"pad_tokens": 3}, {"mask": "padding"}),
    Place("Masks", {"masks": "leak"}),
    Place("Masks", {"edits": ((3, 1), (2, 2))}, {"masks": "edit"}),
    Place("Masks", {"padded": "A dog.", "side": "right"}, {"masks": "padding"}),
    Place("Logit lens", {"model": "positions-none"}),
    Place("Logit lens", {"lens_color": "entropy", "lens_start": 12, "after": 3},
          {"sentence": 22 * "The red ball was big. "}),
    Place("Next token", {"temperature": 1.5, "top_k": 5, "top_p": 0.5, "min_p": 0.25,
                      "order": ("min_p", "top_p", "top_k", "temperature")}),
    Place("Next token", {"seed": 7, "new_tokens": 12, "full": "slide", "mode": "greedy"}),
    Place("Next token", {"written": 3, "changes": (Change(1, "temperature", 1.5),)},
          {"sentence": "Tom had a red"}),
    Place("Contributions", {"answer": 300, "instead": 5, "neuron": (2, 7)}, {"sentence": TOM}),
    Place("Ablation", {"off": ("decoder.attn.2.4", "decoder.ffn.1"), "stands_in": "mean"},
          {"sentence": TOM}),
    Place("Ablation", {"neurons_of": "decoder.3", "any_neuron": 512}, {"sentence": TOM}),
    Place("Ablation", {"other_sentence": "Sam had a big dog. Sam gave Tom the big dog."},
          {"sentence": TOM, "stands_in": "other"}),
    Place("Beam search", {"beam_width": 2, "beam_tokens": 3, "alpha": 0.7}),
    Place("KV cache", {"part": "values", "heads": "this head", "prefill": 3, "held": 5,
                    "context": 4096}),
    Place("Heads", {"measured_on": "sentence", "across": "entropy", "up": "largest",
                    "colour_by": "previous", "sorted_by": "-near", "heads_that": "near"}),
    Place("Cost", {"shape": "GPT-2 small", "cost_tokens": 77, "kernel": 5, "cost_window": 9,
                   "left_out": 96}),
    Place("Cost", {"own_layers": 3, "own_width": 10, "own_heads": 4, "own_kv_heads": 2,
                   "own_d_head": 5, "own_ff": 11, "own_vocab": 99, "own_positions": 12,
                   "own_kind": "llama", "own_tied": "own"}, {"shape": "your own"}),
    Place("Patching", {"patch_stack": "decoder"}, RIDES),
    Place("Patching", {"other_digit": 5}, {"model": "digits"}),
    Place("Attention by hand", {"hand_cells": "1,2;0,1|1,0;0,3|1,0;0,1|1,0;0,1", "hand_heads": 2,
                                "hand_masking": "valid", "hand_valid": 1, "hand_scaled": False}),
    Place("Embeddings and similarity", {"a_x": -2.5, "a_y": 0.3, "b_x": 4.9, "b_y": -5.0,
                                        "b_times": 2.7, "near_token": 3, "near_count": 7}),
    Place("Kernels", {"smoothing": "boxcar", "width": 0.25, "asked_at": 3.5, "points": 4,
                      "house_size": 90, "house_width": 20,
                      "additive_seed": 6}),
    Place("Why √d?", {"root_d": 512, "root_seed": 3}),
    Place("Multi-head attention", {"split_token": 3}),
    Place("Transformer block", {"block_token": 3, "block_norm": "ffn",
                        "block_colour": "one"}, {"sentence": TOM}),
    Place("Why the residual?", {"depth": 16, "depth_seed": 5}),
    Place("Cheaper attention", {"cheaper": "low_rank", "kept_window": 3, "kept_global": 2,
                                "kept_rank": 5}),
    Place("Order", {"order_text": "a dog and a cat"}),
    Place("Notation", {"notation": "sizes", "notation_words": "d_model"}),
    Place("Cheaper attention", {"tiled_query": 9, "tile_size": 3, "tiles_done": 3},
          {"sentence": TOM}),
    Place("Recurrence", {"row_task": "copy", "judged_by": "letters", "row_letters": "abcab",
                         "row_place": 3, "row_head": 5}),
    Place("Scaling", {"scaling_compute": 21.5, "scaling_law": "kaplan", "scaling_times": -2,
                      "scaling_counted": "all"}),
    Place("Patching", {"corrupt": "The man lost the ball, so", "metric": "loss",
                       "restore": "second"}, {"sentence": GIRL}),
    Place("Patching", {"expected": 366, "versus": 262, "patch": "resid_pre.2.1"},
          {"sentence": GIRL}),
    Place("Explanation", {"asked": "difference", "explained": 366, "measure": "norms",
                          "arrow": "3.4.1"}, {"sentence": GIRL}),
    Place("Explanation", {"predicted_at": 2}, {"model": "blank", "sentence": TOM}),
    Place("Explanation", {"arrows_of": "encoder.attn"},
          {"model": "translate", "source": "A man rides a bicycle."}),
    Place("Masked language model", {"blanks": (1, 4), "blank": 1, "causal": True},
          {"sentence": TOM}),
    Place("Translation", {"large": True, "decode": "sampling", "beams": 3,
                          "forced": (5, 6, 5), "shown_heads": "layer", "align_by": "input",
                          "source": "A dog ran.", "target": "Ein Hund lief.", "damage_seed": 3}),
    Place("Vision", {"digit": 7, "way": "rollout", "shuffle": 5}),
    Place("Explanation", {"arrow_query": 1},
          {"model": "translate", "source": "A man rides a bicycle.", "arrows_of": "encoder.attn"}),
]  # fmt: skip
FOLLOWING = {"page", "edits_of"}  # which other settings bring along


@pytest.fixture(autouse=True)
def _whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fills in is there at once: what is chosen by itself depends on how far it has come."""
    whole(monkeypatch)


def test_two_settings_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="seed is declared twice"):
        settings.declared(Text("seed", "Seed", ""))
    assert all(name == setting.name for name, setting in SETTINGS.items())
    found = [*vars(settings).values(), *vars(lessons).values()]
    declared = [x for x in found if hasattr(x, "nearest") and hasattr(x, "name")]
    assert Counter(map(id, declared)) == Counter(map(id, SETTINGS.values()))


def test_settings_are_of_pages_that_exist() -> None:
    titles = {page.title for page in studio.PAGES}
    assert {title for setting in SETTINGS.values() for title in setting.pages} <= titles
    assert all(len(setting.pages) == len(set(setting.pages)) for setting in SETTINGS.values())


def test_pages_leave_the_session_to_the_frame() -> None:
    sources = sorted(PAGES.rglob("*.py"))
    assert len(sources) > 15
    named = ("session_state", "query_params")
    assert [path.name for path in sources if any(x in path.read_text() for x in named)] == []


def test_every_setting_has_a_place_in_these_tests() -> None:
    names = Counter(name for place in PLACES for name in place.values)
    assert max(names.values()) == 1
    elsewhere = {"device", "attention", "drawing"}
    assert set(names) | FOLLOWING | elsewhere == set(SETTINGS)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(place.values)[:40])
def test_a_setting_comes_from_the_address_and_goes_into_it(place: Place) -> None:
    written = {name: SETTINGS[name].text(value) for name, value in place.values.items()}
    app = open_page(place.page, **{"sentence": TOM} | place.query | written)
    assert {name: control(app, name) for name in place.values} == place.values
    query = {name: value[-1] for name, value in query_of(app).items()}
    assert {name: query[name] for name in written} == written
    assert not any("exist" in line or "using" in line for line in lines(app, "note"))


def test_the_device_comes_back_where_there_is_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    first = runs.device_names()[0]
    monkeypatch.setattr(runs, "device_names", lambda: ["cpu:0", first])
    app = open_page("Attention", sentence=TOM)
    assert (control(app, "device"), "device" in query_of(app)) == ("cpu:0", False)
    chosen(app, device=first)
    assert query_of(app)["device"] == [first]


def test_a_group_of_heads_is_picked_where_there_is_more_than_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Layer and head are then of that group."""
    assert not offered_of(open_page("Attention"), "attention")

    own = Trace.groups.func

    def groups(trace: Trace) -> tuple[HeadGroup, ...]:
        (group,) = own(trace)
        return group, HeadGroup("decoder.cross_attn", group.records[:2])

    monkeypatch.setattr(Trace, "groups", property(groups))
    app = open_page("Masks", sentence=TOM, layer="0")
    assert offered_of(app, "layer") == [f"L{layer}" for layer in range(6)]
    chosen(app, attention="decoder.cross_attn")
    assert offered_of(app, "layer") == ["L0", "L1"]
    assert query_of(app).items() >= {"attention": ["decoder.cross_attn"], "layer": ["0"]}.items()
    wrong = open_page("Masks", attention="encoder.attn", sentence=TOM)
    assert control(wrong, "attention") == "decoder.attn"
    assert sum("encoder.attn" in line for line in lines(wrong, "note")) == 1


def test_old_links_are_read_in_todays_words() -> None:
    assert not set(OLD_NAMES) & set(SETTINGS)
    assert set(OLD_NAMES.values()) | {name for name, _ in OLD_VALUES} <= set(SETTINGS)
    for (name, old), value in OLD_VALUES.items():
        assert old not in SETTINGS[name].__dict__.get("options", ())
        assert modern({name: old, "utm": "x"}) == {name: value, "utm": "x"}
    assert modern({"filler": "3", "pad_tokens": "5"}) == {"pad_tokens": "5"}, "today's wins"
    assert modern({"filler": "3"}) == {"pad_tokens": "3"}


@pytest.mark.parametrize(
    ("old", "today"),
    [
        ({"page": "Translation", "translator": "x"}, {"page": "Translation", "model": "x"}),
        ({"page": "Vision", "vision": "x", "model": "stories"}, {"page": "Vision", "model": "x"}),
        ({"page": "Encoder", "encoder": "x"}, {"page": "Masked language model", "model": "x"}),
        ({"page": "Masks", "translator": "x", "model": "y"}, {"page": "Masks", "model": "y"}),
        ({"page": "Masks", "vision": "x"}, {"page": "Masks"}),
        (
            {"page": "Home", "at": "decoder.cross_attn.3.0"},
            {"page": "Home", "attention": "decoder.cross_attn", "layer": "3", "head": "0",
             "large": "yes"},
        ),
        ({"page": "Home", "at": ""}, {"page": "Home"}),
    ],
)  # fmt: skip
def test_a_model_and_a_head_have_one_spelling_and_old_links_keep_theirs(
    old: dict[str, str], today: dict[str, str]
) -> None:
    assert modern(old) == today
