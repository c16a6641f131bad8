"""Protects the table of settings: each is declared once, lives in the address, and is mended."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from model.decoding.course import Change
from model.trace import HeadGroup, Trace
from tests.viz.apps import TOM, chosen, control, go, lines, offered_of, open_page, query_of, whole
from viz import runs, studio
from viz.frame import settings
from viz.frame.settings import SETTINGS

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
    Place("Lab", {"lab_task": "copy", "lab_fields": "steps=20"}),
    Place("Lab", {"lab_folder": "nowhere"}, {"lab": "watch"}),
    Place("Home", {"layers": 3, "sink": True, "small_weights": False}),
    Place("Attention", {"sentence": "The bear walked.", "layer": 4, "head": 5, "view": "compare",
                        "stage": "masked", "mass": 0.5, "change": "mask", "tau": 0.5,
                        "against": "sentence", "second": "A cat sat.", "how": "maximum",
                        "over": "all", "hide_first": True, "words": True, "other": (1, 6)}),
    Place("Attention", {"cell": (7, 3), "token": 5, "flipped": ((3, 1), (2, 2))},
          {"sentence": TOM}),
    Place("Home", {"tour": "10-architectures"}),
    Place("Home", {"step": 3}, {"tour": "01-tokens"}),
    Place("Tokens", {"pre_token": 4}, {"sentence": TOM}),
    Place("Positional encoding", {"picture": "surface", "image_format": "svg", "inspect": "export",
                        "present": True}, {"scene": "table"}),
    Place("Positional encoding", {"dimensions": (7, 3)}, {"scene": "curves"}),
    Place("Positional encoding", {"place_first": 9, "place_second": 4}, {"scene": "rotation"}),
    Place("Positional encoding", {"other_token": 3}),
    Place("Positional encoding", {"n_heads": 6}, {"scheme": "alibi"}),
    Place("Positional encoding", {"scheme": "rope"}, {"sentence": "x y"}),
    Place("Masks", {"mask": "everything"}),
    Place("Masks", {"window": 3, "global": 2, "sides": "both"}, {"mask": "global_tokens"}),
    Place("Masks", {"prefix": 5}, {"mask": "prefix"}),
    Place("Masks", {"pad_tokens": 3}, {"mask": "padding"}),
    Place("Masks", {"scene": "leak"}),
    Place("Masks", {"edits": ((3, 1), (2, 2))}, {"scene": "edit"}),
    Place("Masks", {"side": "right"}, {"scene": "padding"}),
    Place("Logit lens", {"model": "positions-none", "lens": "fitted"}),
    Place("Logit lens", {"lens_color": "entropy", "lens_start": 12},
          {"sentence": 22 * "The red ball was big. "}),
    Place("Next token", {"temperature": 1.5, "top_k": 5, "top_p": 0.5, "min_p": 0.25,
                      "order": ("min_p", "top_p", "top_k", "temperature")}),
    Place("Next token", {"seed": 7, "new_tokens": 12, "full": "slide", "mode": "greedy"}),
    Place("Next token", {"written": 3, "changes": (Change(1, "temperature", 1.5),)},
          {"sentence": "Tom had a red"}),
    Place("Tokens", {"read": "markup"}, {"sentence": TOM}),
    Place("Contributions", {"answer": 300, "instead": 5, "metric": "difference", "neuron": (2, 7)},
          {"sentence": TOM}),
    Place("Ablation", {"off": ("decoder.attn.2.4", "decoder.ffn.1"), "stands_in": "mean"},
          {"sentence": TOM}),
    Place("Ablation", {"neurons_of": "decoder.3", "any_neuron": 512}, {"sentence": TOM}),
    Place("Beam search", {"beam_width": 2, "alpha": 0.7}),
    Place("KV cache", {"part": "values", "heads": "this head", "prefill": 3, "held": 5,
                    "context": 4096}),
    Place("Heads", {"measured_on": "sentence", "across": "entropy", "up": "largest",
                    "colour_by": "previous", "sorted_by": "-near", "heads_that": "near"}),
    Place("Cost", {"shape": "GPT-2 small", "kernel": 5, "left_out": 96}),
    Place("Cost", {"own": (3, 10, 11, 4, 2, 5, 99, 12, "llama", "own")}, {"shape": "your own"}),
    Place("Patching", {"patch_stack": "decoder"}, RIDES),
    Place("Patching", {"other_digit": 5}, {"model": "digits"}),
    Place("Attention by hand", {"hand_cells": "1,2;0,1|1,0;0,3|1,0;0,1|1,0;0,1", "hand_heads": 2,
                                "hand_masking": "valid", "hand_valid": 1, "hand_scaled": False}),
    Place("Embeddings and similarity", {"near_count": 7}),
    Place("Embeddings and similarity", {"vectors": (-2.5, 0.3, 4.9, -5.0, 2.7)},
          {"scene": "vectors"}),
    Place("Kernels", {"smoothing": "boxcar", "width": 0.25, "asked_at": 3.5}),
    Place("Kernels", {"house": (90, 20)}, {"scene": "houses"}),
    Place("Attention by hand", {"root_d": 512}, {"scene": "query"}),
    Place("Transformer block", {"block_norm": "ffn"}, {"sentence": TOM, "scene": "norms"}),
    Place("Cheaper attention", {"cheaper": "low_rank", "kept_rank": 5}),
    Place("Notation", {"notation": "stream", "notation_words": "d_model",
                       "notation_formulas": "Masks"}),
    Place("Cheaper attention", {"tile_size": 3, "tiles_done": 3}, {"scene": "tiles"}),
    Place("Recurrence", {"row_task": "copy", "judged_by": "letters"}),
    Place("Recurrence", {"row_letters": "abcab", "row_place": 3, "row_head": 5}, {"scene": "row"}),
    Place("Scaling", {"scaling_compute": 21.5, "scaling_law": "kaplan", "scaling_times": -2},
          {"scene": "equal"}),
    Place("Scaling", {"scaling_counted": "all"}, {"scene": "own"}),
    Place("Attention", {"why": True, "why_taken": "kind:match", "why_other": 2},
          {"sentence": TOM, "layer": "3", "head": "2", "cell": "9-4"}),
    Place("Circuit", {"circuit_edges": 21, "circuit_edge": "5.4.0.6.6.45",
                      "circuit_which": "pruned"}, {"sentence": GIRL}),
    Place("Circuit", {"swap": (1, 300)}, {"sentence": TOM}),
    Place("Patching", {"restore": "second"}, {"sentence": GIRL}),
    Place("Patching", {"patch": "resid_pre.2.1"},
          {"sentence": GIRL}),
    Place("Explanation", {"measure": "norms", "arrow": "3.4.1"}, {"sentence": GIRL}),
    Place("Explanation", {"arrows_of": "encoder.attn"},
          {"model": "translate", "source": "A man rides a bicycle."}),
    Place("Masked language model", {"blanks": (1, 4), "blank": 1, "causal": True},
          {"sentence": TOM}),
    Place("Translation", {"large": True, "forced": (5, 6, 5),
                          "shown_heads": "layer", "align_by": "input",
                          "source": "A dog ran.", "target": "Ein Hund lief."}),
    Place("Vision", {"digit": 7, "way": "rollout", "shuffle": 5}),
]  # fmt: skip
FOLLOWING = {"page", "edits_of"}  # which other settings bring along


@pytest.fixture(autouse=True)
def _whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fills in is there at once: what is chosen by itself depends on how far it has come."""
    whole(monkeypatch)


def test_no_two_settings_have_one_name() -> None:
    assert [x.name for x in settings.DECLARED] == list(SETTINGS)


def test_settings_are_of_pages_that_exist() -> None:
    titles = {page.title for page in studio.PAGES}
    assert {setting.page for setting in SETTINGS.values()} - {""} <= titles


def test_pages_leave_the_session_to_the_frame() -> None:
    sources = sorted(PAGES.rglob("*.py"))
    assert len(sources) > 15
    named = ("session_state", "query_params")
    assert [path.name for path in sources if any(x in path.read_text() for x in named)] == []


def test_every_setting_has_a_place_in_these_tests() -> None:
    names = Counter(name for place in PLACES for name in place.values)
    assert max(names.values()) == 1
    elsewhere = {"device", "attention", "drawing"}
    elsewhere |= {
        "lab",
        "lab_run",
        "lab_beside",
        "lab_step",
        "lab_text",
        "lab_against",
        "lab_head",
        "lab_curve",
    }  # where a training is
    elsewhere |= {"system", "before", "begun"}  # of a chat
    elsewhere |= {"elsewhere_1", "elsewhere_2", "elsewhere_3"}  # once a circuit is there
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


def test_what_was_chosen_on_one_page_stands_on_the_next() -> None:
    """The same token and answer; what cannot be there is brought to what can, without a word."""
    app = open_page("Contributions", sentence=TOM, token="9", answer="300", seed="7")
    for page in ("Logit lens", "Embeddings and similarity", "Explanation"):
        go(app, page)
        assert (control(app, "token"), control(app, "answer")) == (9, 300)
    chosen(app, metric="loss")
    go(app, "Patching")
    assert (control(app, "metric"), control(app, "answer")) == ("loss", 300)
    go(app, "Contributions")
    assert control(app, "metric") == "logit"
    assert not any("exist" in line for line in lines(app, "note"))
    go(app, "Attention by hand")
    chosen(app, scene="variance")
    assert control(app, "seed") == 7


def test_what_was_chosen_stands_on_the_next_page_but_one() -> None:
    """Where it is the default of the page between, too; a second sentence where it fits."""
    app = open_page("Explanation", sentence=GIRL, metric="difference", second="A man.")
    for page in ("Patching", "Explanation"):
        go(app, page)
        assert control(app, "metric") == "difference"
    go(app, "Attention")
    chosen(app, second="A cat sat.")
    go(app, "Patching")
    assert lines(app, "error") == [] and control(app, "second") == "A cat sat."
    assert any("7" in line and "4" in line for line in lines(app, "note"))
