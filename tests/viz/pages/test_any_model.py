"""Protects pages on a model that transformers built: they open, or say what is missing."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tokenizers
import transformers as hf
from tokenizers import models, pre_tokenizers

from model.adopted import model as adopted
from model.sources.offers import REASONS
from model.sources.places import WHERE
from tests.model.adopted.families import (
    D,
    build,
    lacking,
    pictured,
    published,
    saved,
    tokens,
    words,
)
from tests.viz.apps import (
    captions,
    chart,
    checks_shown,
    control,
    facts,
    lesson,
    lines,
    open_page,
    picked,
)
from tests.viz.builders import live_data, numbers
from tests.viz.pages.generate.test_next_token import press, write_out
from tests.viz.pages.handed import Address, at, in_words, text_of
from tests.viz.pages.look_inside.test_tokens import cards
from viz import runs
from viz.charts import figure
from viz.frame.shipped import called
from viz.studio import PAGES

TEXT = "the red ball gave"
LONG = f"{TEXT} a"  # of another run than those that are kept


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    saved(folder / "some-llama", "llama", start="<s>")
    for name, start in (("short-started", "<s>"), ("short", "")):
        saved(folder / name, "llama", start=start, max_position_embeddings=48)
    build("bert", vocab_size=12).save_pretrained(folder / "some-bert")
    words().save_pretrained(folder / "some-bert")
    broken = build("gpt2", vocab_size=300)
    broken.transformer.h[1].mlp.c_fc.weight.data[0, 0] = float("nan")
    broken.save_pretrained(folder / "some-nan")
    tokens().save_pretrained(folder / "some-nan")
    hf.BertModel(build("bert", vocab_size=12).config).save_pretrained(folder / "bare-bert")
    words().save_pretrained(folder / "bare-bert")
    build("bert", vocab_size=12).save_pretrained(folder / "mute-bert")  # without a tokenizer
    saved(folder / "whole-bert", "bert")  # whose tokenizer has no mask token
    saved(folder / "some-marian", "marian", end="</s>")
    saved(folder / "some-bart", "bart", end="</s>")
    saved(folder / "capped", "gemma2", attn_logit_softcapping=1.0)
    saved(folder / "sunk", "gpt_oss")
    saved(folder / "gemma", "gemma3")
    saved(folder / "neox", "gpt_neox")
    for name, unknown in (("lacks-a-byte", None), ("has-an-unknown", "</s>")):
        lacking("Ã", unknown).save_pretrained(saved(folder / name))
    for kind in ("esm", "bertweet"):
        published(folder / kind, kind)
    build("gpt2", vocab_size=27).save_pretrained(folder / "letters")
    own = tokenizers.Tokenizer(
        models.WordLevel(dict(zip(" abcdefghijklmnopqrstuvwxyz", range(27), strict=True)))
    )
    own.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
    own.save(str(folder / "letters" / "tokenizer.json"))  # as the README's lines for nanoGPT do
    saved(folder / "some-lfm", "lfm2")
    saved(folder / "some-smollm", "smollm3")
    saved(folder / "some-deepseek", "deepseek_v3")
    config = build("bert", vocab_size=300).config
    config.num_labels = 300  # as many as words
    hf.BertForTokenClassification(config).save_pretrained(folder / "bert-labels")
    words().save_pretrained(folder / "bert-labels")
    pictured(folder / "some-dino", "dinov2")
    return folder


@pytest.fixture(autouse=True)
def _shelved(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHERE, str(shelf))


OF_DECODERS = (
    "Home", "Tokens", "Attention", "Heads", "Logit lens", "Next token", "Beam search", "KV cache",
    "Ablation", "Circuit", "Patching", "Positional encoding", "Masks", "Attention by hand",
    "Contributions", "Explanation", "Embeddings and similarity", "Multi-head attention", "Diagram",
    "Cost", "Transformer block",
)  # fmt: skip


DOG, OF_OTHERS = "the red dog", ("Masked language model", "Translation", "Vision")
NOT_SAID = ("does not apply to", "were not found", "has no token for the end of a text")
SUM = "The layers of this model differ in their sizes: the bytes are their sum."
MLP, NEURONS = "% of the sum of all squares", "The neurons of this MLP were not found."
NO_END = "letters has no token for the end of a text"


def block(model: str, scene: str) -> Address:
    """A scene of the lesson on a block."""
    return at("Transformer block", model=model, layer="1", scene=scene)


# An address, and words that stand there; of NOT_SAID only what is among them.
SHOWN: list[tuple[Address, list[str]]] = [
    *((at(x.title, model="some-llama"), []) for x in PAGES
      if x.title not in (*OF_DECODERS, *OF_OTHERS)),
    *((at(page, model="some-llama"), ["does not apply to some-llama"]) for page in OF_OTHERS),
    *((at(page, model="some-bert", sentence=DOG), [])
      for page in ("Home", "Attention", "Heads", "Masked language model", "Patching")),
    *((at(page, model=model, sentence=text), []) for page in ("Home", "Tokens")
      for model, text in (("esm", "MKTV"), ("bertweet", "the red thd"))),
    *((at(page, model="some-dino"), []) for page in ("Home", "Attention")),
    (at("Ablation", model="some-dino"), ["LABEL_"]),
    (at("Tokens", model="some-dino"), ["Tokens does not apply to some-dino: it has no vocabulary"]),
    (at("Tokens", model="some-llama", sentence=""), []),
    (at("Home", model="bert-labels", sentence=DOG), []),
    (at("Ablation", model="bert-labels", sentence=DOG),
     ["does not apply to", "it has no head that predicts, neither words nor classes."]),
    (at("Home", model="some-lfm", sentence=DOG), ["from L0 on, layer 1 of its 3."]),
    (at("KV cache", model="some-lfm", sentence=DOG),
     ["does not apply to", "it keeps more of earlier tokens than their keys and values."]),
    (at("KV cache", model="some-deepseek", sentence=DOG), [SUM]),
    (at("Heads", model="some-deepseek", sentence="red"),
     ["A token alone has nothing to choose from"]),
    (at("Diagram", model="gemma"),
     [r"\mathrm{norm}(\mathrm{attention}(\mathrm{norm}(x)))", "in 2 of 3 layers"]),
    (at("Diagram", model="neox"),
     [r"(x)) + \mathrm{FFN}(\mathrm{norm}(x))", "beside attention: both read the same"]),
    (at("Diagram", model="some-smollm"),
     [r"\mathrm{norm}(x)", "RoPE on queries and keys in 1 of 3 layers"]),
    (block("gemma", "norms"), ["this model is neither."]),
    (block("neox", "norms"), ["this model is neither."]),
    (block("sunk", "norms"), ["this model is pre-norm."]),
    (block("gemma", "neurons"), [MLP]),
    (block("neox", "neurons"), [MLP]),
    (block("sunk", "neurons"), [NEURONS]),
    (at("Masks", model="letters", sentence="a red fox", mask="padding"), []),
    (at("Masks", model="letters", sentence="a red fox", scene="padding"), [NO_END]),
    (at("Masks", model="letters", sentence="a red fox", scene="shift"), [NO_END]),
    (at("Masks", model="lacks-a-byte", sentence=LONG, scene="padding", side="left", second=TEXT),
     ["and this model counts positions from the"]),
]  # fmt: skip


@pytest.mark.parametrize("case", SHOWN, ids=in_words)
def test_a_page_shows_a_model_of_transformers_and_says_what_it_lacks(
    case: tuple[Address, list[str]],
) -> None:
    (page, query), words = case
    app = open_page(page, **{"sentence": TEXT} | dict(query))
    text = text_of(app)
    assert lines(app, "error") == []
    assert control(app, "model") == dict(query)["model"]
    assert [x for x in words if x not in text] == []
    assert [x for x in NOT_SAID if x in text and not any(x in word for word in words)] == []


@pytest.mark.parametrize(
    ("model", "steps"),
    [
        ("gemma", "stream norm attention norm sum norm MLP norm sum"),
        ("neox", "stream norm attention sum norm MLP sum"),
        ("sunk", "stream norm attention sum norm MLP sum"),
    ],
)
def test_the_block_has_the_steps_that_were_found(model: str, steps: str) -> None:
    app = open_page("Transformer block", model=model, sentence=TEXT, layer="1")
    assert lines(app, "error") == []
    assert [x.split(" ")[1] for x in chart(app, "block-steps").data[0]["y"]] == steps.split(" ")


def test_pages_serve_a_long_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopted, "KEPT_CELLS", 0)
    monkeypatch.setattr(runs, "LONG", 3)
    monkeypatch.setattr(runs, "MOST_LOGITS", 3)
    for page in OF_DECODERS:
        cut = {"off": "decoder.attn.1.2.3.0"} if page == "Ablation" else {}
        app = open_page(page, model="some-llama", sentence=LONG, **cut)
        assert lines(app, "error") == [], page
        assert control(app, "model") == "some-llama"
        checks = {row["check"]: row["verdict"] for row in checks_shown(app)[0]}
        assert set(checks.values()) == {"passed"}, page
        assert any("worked out from q and k" in name for name in checks), page
        assert not any(button.label == "Compute" for button in app.button), "they are few"


def test_where_fewer_tokens_fit_than_the_context_has_the_reason_is_said(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(shelf / "narrow", "llama", max_position_embeddings=64)
    monkeypatch.setattr(adopted, "MOST_CELLS", 3_000)
    app = open_page("Home", model="narrow", sentence=TEXT)
    most = runs.runnable(runs.handle_of("narrow", "cpu")).model.config.max_seq_len
    assert most < 64
    said = f"context 64, of which {most} tokens fit into a run here"
    assert any(line.endswith(said) for line in captions(app))
    (count,) = (x.proto.body for x in app.get("html") if "hl-count" in x.proto.body)
    assert "a run has at most 3,000 attention weights" in count


def test_a_map_that_is_too_large_is_a_line_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure, "MOST_CELLS", 16)
    app = open_page("Ablation", model="some-llama", sentence=TEXT)
    n = len(runs.tokenizer(runs.handle_of("some-llama", "cpu")).encode(TEXT))
    cells = f"This map is not drawn: its {n} × {n} cells are more than the 16 that a browser"
    assert sum(line.startswith(cells) for line in lines(app, "note")) == 1
    assert chart(app, "answers").data and lines(app, "error") == []


@pytest.mark.parametrize(
    ("model", "stage", "is_there"),
    [("capped", "capped", True), ("capped", "sunk", False), ("sunk", "sunk", True)]
    + [("some-llama", name, False) for name in ("biased", "nonsense")],
)
def test_a_stage_that_a_head_does_not_have_is_a_line(
    model: str, stage: str, is_there: bool
) -> None:
    app = open_page("Attention", model=model, sentence=TEXT, stage=stage)
    line = f"Stage {stage} does not exist here; showing weights."
    assert (line in lines(app, "note")) != is_there
    assert live_data(app)["settings"]["stage"] == (stage if is_there else "weights")


AS_IT_RAN = {
    "Cheaper attention": "cheaper-exact", "Attention by hand": "root-as-it-is",
    "Kernels": "kernel-pattern",
}  # fmt: skip


@pytest.mark.parametrize(
    ("model", "page"),
    [*zip(("capped", "sunk", "capped"), AS_IT_RAN, strict=True), ("sunk", "Kernels")],
)
def test_a_lesson_draws_the_weights_that_ran(model: str, page: str) -> None:
    at = {"layer": "1", "head": "2", "scene": "model"}
    app = open_page(page, model=model, sentence=TEXT, **at)
    assert lines(app, "error") == []
    record = runs.run(runs.handle_of(model, "cpu"), TEXT).trace.attention[1]
    drawn = numbers(chart(app, AS_IT_RAN[page]).data[0]["z"])
    np.testing.assert_allclose(drawn[record.mask], record.pattern[2][record.mask], atol=1e-6)
    assert {row["verdict"] for row in checks_shown(app)[0]} == {"passed"}
    if page == "Attention by hand":
        other = numbers(chart(app, "root-not-divided").data[0]["z"])
        expected = replace(record, scale=1.0).pattern_of(2)[record.mask]
        np.testing.assert_allclose(other[record.mask], expected, atol=1e-6)
    if page == "Kernels":
        what = {"capped": "its soft cap", "sunk": "its sink"}[model]
        assert what in lesson(app)


def test_one_limit_of_tokens_is_called_by_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WHERE, str(tmp_path))
    monkeypatch.setattr(adopted, "MOST_CELLS", 12 * 7**2)  # of 12 heads; its own context is longer
    saved(tmp_path / "short-llama", "llama")
    asked = {"model": "short-llama", "sentence": 5 * f"{TEXT} "}
    why = "its context is 2,048, and a run has at most 588 attention weights"
    limit = f"the 7 tokens that can be run here ({why})"
    app = open_page("KV cache", **asked)
    assert f"for {limit}" in facts(app)
    assert any(f"more than {limit}: the first 7 are shown" in x for x in lines(app, "note"))
    assert any(re.search(r"excess\".*>\d+ / 7 tokens<", x.proto.body) for x in app.get("html"))
    spec = live_data(open_page("Home", **asked))["spec"]
    assert spec["why_no_more"] == f"Stopped at {limit}."


@pytest.mark.parametrize(("model", "before"), [("some-llama", 1), ("some-marian", 0)])
def test_tokens_draws_the_trees_of_a_text_and_lets_others_stand_beside(
    model: str, before: int
) -> None:
    app = open_page("Tokens", model=model, sentence=TEXT)
    assert {row["verdict"] for row in checks_shown(app)[0]} == {"passed"}
    ids = runs.tokenizer(runs.handle_of(model, "cpu")).encode(TEXT)
    assert facts(app)["tokens / context"].split()[0] == str(len(ids))
    found = cards(app)
    assert [int(card[1]) for card in found] == ids
    added = found.pop(0 if before else -1)
    assert (added[0], added[2:]) == ("<s>" if before else "</s>", ("0", "0", "–"))
    assert sum(int(card[2]) for card in found) == len(TEXT)
    (hover, *_) = [trace for trace in chart(app, "merges").data if trace.get("customdata")]
    assert len(hover["text"]) == len(ids) - 1
    assert hover["customdata"][0][0].startswith(f"token {before}:")


@pytest.mark.parametrize(("model", "read"), [("lacks-a-byte", "�"), ("has-an-unknown", "</s>")])
def test_tokens_opens_where_a_byte_has_no_token(model: str, read: str) -> None:
    app = open_page("Tokens", model=model, sentence="the café ball")
    assert lines(app, "error") == [] and len(cards(app)) == 7 + (read == "</s>")
    assert {row["verdict"] for row in checks_shown(app)[0]} == {"passed"}
    assert any(f"reads the sentence as “the caf{read} ball”" in x for x in lines(app, "note"))


@pytest.mark.parametrize(("model", "start"), [("short-started", "<s>"), ("short", "")])
def test_that_a_start_token_was_dropped_is_said(model: str, start: str) -> None:
    asked = {"sentence": 40 * " red", "full": "slide", "mode": "greedy", "new_tokens": "16"}
    app = open_page("Next token", model=model, **asked)
    press(app, "Start")
    write_out(app)
    note = live_data(app)["note"]
    assert "The full context dropped its older half" in note
    said = f" {start}, which begins every text of this model, was dropped too; it goes on without"
    assert (said in note, "which begins every" in note) == (bool(start), bool(start))


def test_home_shows_a_model_that_gives_no_words() -> None:
    app = open_page("Home", model="bare-bert", sentence="the red dog")
    assert lines(app, "error") == []
    spec = live_data(app)["spec"]
    assert (spec["goal"], spec["d_model"], spec["has_stream"]) == ("vectors", D, True)
    assert spec["asked"] == len(spec["labels"]) // 2, "it sees both sides"


def test_the_file_of_a_model_may_have_more_than_its_weights() -> None:
    app = open_page("Cost", model="some-bart", sentence="the red dog", inspect="check")
    assert lines(app, "error") == [] and checks_shown(app)


def test_home_shows_what_an_encoder_decoder_of_transformers_writes() -> None:
    app = open_page("Home", model="some-marian", sentence=TEXT)
    assert lines(app, "error") == []
    spec = live_data(app)["spec"]
    target = runs.run(runs.handle_of("some-marian", "cpu"), TEXT).trace.ids.tolist()
    assert (spec["goal"], spec["came"]) == ("written", target[1:])
    assert [band["name"] for band in spec["bands"]] == ["encoder", "decoder"]


@pytest.mark.parametrize("page", ["Home", "Attention", "Ablation"])
def test_what_is_off_with_a_model_is_said_on_every_page(page: str) -> None:
    app = open_page(page, model="some-nan", sentence=TEXT)
    (said,) = lines(app, "warning")
    assert said.startswith("2 things are off with some-nan: transf")
    assert said.endswith(". The red badge has them all.")
    if page in {"Logit lens", "Ablation"}:
        assert any(x.startswith(f"{page} does not apply to some-nan") for x in lines(app, "note"))
        return
    every, (table,) = [x.proto.body for x in app.get("html")], checks_shown(app)
    reason = next(i for i, x in enumerate(every) if "values that are no finite numbers" in x)
    assert '"hl-error"' in every[reason]
    assert reason < next(i for i, x in enumerate(every) if "hl-checks" in x), "reasons stand first"
    verdicts = [x["verdict"] for x in table]
    assert verdicts == sorted(verdicts), "FAILED stands before passed"
    (faults,) = (x for x in table if x["check"] == "faults found when the model was opened")
    assert (faults["max error"], faults["allowed"], faults["verdict"]) == ("2", "0", "FAILED")
    (badge,) = app.get("popover")
    assert "checks failed" in badge.proto.popover.label
    assert badge.proto.id.endswith("-badge-failed"), "what page.css makes red"


@pytest.mark.parametrize(
    ("page", "model", "shown", "why"),
    [
        ("Vision", "some-dino", "digits", "pictures"),
        ("Masked language model", "whole-bert", "blank", "blanks"),
    ],
)
def test_a_page_for_another_kind_says_why_it_shows_another_model(
    page: str, model: str, shown: str, why: str
) -> None:
    app = open_page(page, model=model)
    said = f"{page} does not apply to {model}: {REASONS[why]}. Shown instead: {called(shown)}."
    assert said in lines(app, "note") and lines(app, "error") == []
    assert picked(app, "model") == shown
