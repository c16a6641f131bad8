"""Protects models in a notebook: arrays and tables are the run's own, and mistakes get one line."""

import io
import subprocess
import sys
import zlib
from base64 import b64decode
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import headlight as hl
from headlight.circuit import Circuit
from headlight.opened import Run
from model.adopted import model as adopted
from model.analysis.paths.edges import effects
from model.decoding.filters import Sampling
from model.decoding.sampling import generate
from model.survey.measured import measured
from model.survey.samples import random_repeats
from tests.model.adopted.families import build, given, saved, tokens, words
from viz.kit.part import STEP, piece

ROOT = Path(__file__).parents[2]
TEXT = "the red ball gave the dog a ball"


@pytest.fixture(scope="module")
def run() -> Run:
    return hl.open("stories", device="cpu")("go on and go on")


def test_what_a_run_says_is_its_trace_s(run: Run, tmp_path: Path) -> None:
    last = run.trace.attention[5].pattern
    assert run.tokens == run.trace.tokens
    np.testing.assert_array_equal(run.attention(5, 7), last[7])
    assert not run.attention(5, 7).flags.writeable
    np.testing.assert_array_equal(run.part.shared["decoder.blocks.5.attn.pattern"].array, last)
    state = run.attention_view(3, 4).state
    assert (state["layer"], state["head"], state["attention"]) == (3, 4, "decoder.attn")
    with pytest.raises(ValueError, match="there is no head 9 of 8; give 0 to 7"):
        run.attention_view(3, 9)
    assert run.checks().passed.all()
    run.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == run.part.page()
    for place in (tmp_path, tmp_path / "nowhere" / "run.html", "a\0b", 5, "~nobody/run.html"):
        with pytest.raises(ValueError, match=r"cannot be written: .*; give the name of a file"):
            run.save(place)


def test_why_a_head_looks_there_is_told_in_a_sentence_and_in_tables(run: Run) -> None:
    why, pattern = run.why(3, 2, 4, 1), run.attention(3, 2)
    assert repr(why).startswith("L3 H2 looks from “")
    assert why.weight == pytest.approx(pattern[4, 1])
    assert why.kinds.score.sum() == pytest.approx(why.score, abs=1e-4)
    assert why.words.score.sum() == pytest.approx(why.score, abs=1e-4)
    for _, one in why.writers.groupby("side"):
        assert one.score.sum() == pytest.approx(why.score, abs=1e-4)
    first = why.words.dropna().iloc[0]
    left = why.without(query=first.query_token, key=first.key_token)
    assert left[1] == pytest.approx(first.weight_without)
    assert left.sum() == pytest.approx(1)
    writer = why.writers.iloc[0]
    left = why.without(**{writer.side: writer.writer})
    assert left[1] == pytest.approx(writer.weight_without)
    scores = run.trace.attention[3].scores[2][4]
    assert run.why(3, 2, 4, 1, other=3).score == pytest.approx(scores[1] - scores[3], abs=1e-4)
    for nothing, said in {
        (): "nothing is taken away; give query, key or both",
        ("L0 H9",): "'L0 H9' is no writer there; give the number of a token, or one of embedding",
        ("L0 H0", "L0 H1"): "give the numbers of two tokens, or the name of one writer",
    }.items():
        with pytest.raises(ValueError, match=said):
            why.without(*nothing)
    with pytest.raises(ValueError, match="there is no head 9 of 8; give 0 to 7"):
        run.why(3, 9, 4, 1)
    for head in range(8):
        rules, weights = run.rules(3, head), run.attention(3, head)
        assert rules.looks.sum() == (weights[1:].max(axis=-1) >= 0.3).sum()
        assert list(rules.looks) == sorted(rules.looks, reverse=True)


def test_the_last_rows_of_the_lens_are_the_model_s_predictions(run: Run) -> None:
    lens, logits = run.lens(), torch.tensor(run.trace.logits)
    assert len(lens) == 7 * len(run.tokens)
    last, best = lens[-len(run.tokens) :], logits.argmax(dim=-1).tolist()
    np.testing.assert_allclose(last.probability, logits.softmax(dim=-1).amax(dim=-1), rtol=1e-4)
    assert tuple(last.prediction) == run.opened.tokenizer.token_strings(best)
    assert (tuple(last.token), set(last["rank"])) == (run.tokens, {1})


def test_in_a_notebook_what_pictures_need_is_sent_on_opening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bool] = []
    monkeypatch.setattr("viz.kit.hosts.jupyter.prepare", lambda: sent.append(True))
    for shell, n in ((None, 0), (SimpleNamespace(kernel=None), 1)):
        monkeypatch.setattr("IPython.get_ipython", lambda shell=shell: shell)
        hl.open("stories", device="cpu")
        assert len(sent) == n


def test_a_text_goes_on_as_the_model_samples_it(run: Run) -> None:
    part = run.writing_view(5, layer=2, head=3, seed=7)
    sampling = Sampling(temperature=0.8, top_p=0.95, seed=7)
    model, ids = run.opened.decoder, run.trace.ids.tolist()
    new = list(generate(model, ids, sampling, max_new_tokens=5))
    assert [step["token_id"] for step in part.spec["steps"]] == [step.token_id for step in new]
    logits = np.stack([step.logits.numpy() for step in new])
    np.testing.assert_allclose(part.arrays["logits"][len(ids) - 1 : -1], logits, atol=1e-4)
    for asked, said in (
        ({"new_tokens": -1}, "there are no -1 new tokens; give 0 to 200"),
        ({"layer": 6}, "there is no layer 6 of 6; give 0 to 5"),
    ):
        with pytest.raises(ValueError, match=said):
            run.writing_view(**asked)
    digits = hl.open("digits", device="cpu")(np.zeros((28, 28)))
    with pytest.raises(ValueError, match="digits does not write a text token by token"):
        digits.writing_view()


def test_heads_are_measured_as_on_the_page(run: Run) -> None:
    heads = run.heads()
    for name, of in measured(run.trace, None, run.opened.model)["decoder.attn"].items():
        np.testing.assert_array_equal(heads[name], of.values.ravel())
    assert {"kept", "copying"} <= set(heads)
    assert list(zip(heads.layer, heads["head"], strict=True)) == list(np.ndindex(6, 8))


def test_random_repeats_show_the_heads_of_induction() -> None:
    run = hl.open("induction", device="cpu").random_repeats()
    heads = run.heads().set_index(["layer", "head"]).induction
    assert heads.nlargest(2).index.tolist() == [(1, 0), (1, 1)]
    pattern = run.attention(1, 0)
    after = [float(pattern[i, i - 23]) for i in range(24, 48)]  # of each what followed its copy
    assert heads[1, 0] == pytest.approx(np.mean(after), abs=1e-6)
    assert heads[1, 0] > 0.7 > 0.01 > heads[0, 0]
    assert run.trace.ids.tolist() == random_repeats(run.opened).ids, "those of the page"


@cache
def of_a_ball() -> Circuit:
    """What leads to the word that stood there before."""
    run = hl.open("stories", device="cpu")("The red ball. The red")
    return run.circuit("The red car. The red", answer="ball", against="car")


def test_a_circuit_has_its_edges_as_a_table(run: Run) -> None:
    found = of_a_ball()
    assert (found.answer, found.against) == (" ball", " car")
    edges = found.edges(20)
    exact = effects(found.found.all.paths, found.found.all.edges[:20])
    np.testing.assert_allclose(edges.effect, sorted(exact, key=lambda x: -abs(x)), rtol=1e-4)
    assert set(edges[edges.writer == "embedding"].token) == {" ball"}, "the word that differs"
    assert found.share(len(found.found.all.edges)) > found.share(20) > 0
    assert repr(found) == f"<circuit of ball rather than car: {found.found.all.n_all:,} edges>"
    assert found.part.spec["pruned"] is None
    pruned = found.pruned()
    assert 0.9 <= pruned.attrs["share"] <= 1.1
    assert found.part.spec["pruned"]["n"] == len(pruned) < 300
    assert found.share_on("The red ball. The red") == pytest.approx(pruned.attrs["share"], abs=1e-4)
    with pytest.raises(ValueError, match="the second text is empty; give one of as many tokens"):
        run.circuit()


def test_a_translation_has_all_its_groups() -> None:
    run = hl.open("translate", device="cpu")("A dog runs.")
    names = [group.name for group in run.trace.groups]
    assert [group["name"] for group in run.part.spec["groups"]] == names
    cross = run.attention(1, 0, group="decoder.cross_attn")
    assert cross.shape == (len(run.tokens), len(run.trace.stream("encoder")))
    assert run.heads().group.unique().tolist() == names


def test_a_picture_is_given_as_an_array() -> None:
    picture = np.linspace(0, 1, 784).reshape(28, 28)
    run = hl.open("digits", device="cpu")(picture)
    np.testing.assert_allclose(run.trace.main.pixels, picture, atol=1e-6)


IN_MEMORY = ["gpt2", "gpt_oss", "bert", "albert", "t5"]


def standing_on(model: Any) -> list[object]:  # noqa: ANN401
    """What each module has besides its weights, and how it attends."""
    return [
        (
            vars(x).keys(),
            len(x._forward_hooks) + len(x._forward_pre_hooks),
            getattr(getattr(x, "config", None), "_attn_implementation", None),
        )
        for x in model.modules()
    ]


@pytest.mark.parametrize("family", IN_MEMORY)
def test_a_model_in_memory_works_on_as_before(family: str) -> None:
    own = build(family, vocab_size=300, decoder_start_token_id=0)
    inputs = {**given(family), "output_attentions": True, "use_cache": False}
    next(own.parameters()).requires_grad_(False)
    trained = [weight.requires_grad for weight in own.parameters()]
    before, stood = own(**inputs), standing_on(own)
    models = [hl.open(own, tokens()), hl.open(own, tokens())]  # as in a cell that is run twice
    runs = [model(TEXT) for model in (*models, models[0])]
    assert all(run.checks().passed.all() for run in runs)
    assert standing_on(own) == stood
    torch.testing.assert_close(own(**inputs), before, rtol=0, atol=0)
    assert [weight.requires_grad for weight in own.parameters()] == trained
    patterns = [[record.pattern.tolist() for record in run.trace.attention] for run in runs]
    assert patterns[0] == patterns[1] == patterns[2]
    own.train()
    with pytest.raises(ValueError, match=r"model\.eval\(\)"):
        models[0](TEXT)
    own.eval().config._attn_implementation = "sdpa"
    again = models[0](TEXT)
    assert [record.pattern.tolist() for record in again.trace.attention] == patterns[0]


@pytest.mark.parametrize("family", IN_MEMORY)
def test_a_copy_of_an_opened_model_computes_with_its_own_weights(family: str) -> None:
    opened, alone = (build(family, vocab_size=300, decoder_start_token_id=0) for _ in range(2))
    hl.open(opened, tokens())(TEXT)
    torch.save(opened, file := io.BytesIO())
    assert b"headlight" not in file.getvalue() and b"model.adopted" not in file.getvalue()
    copy = deepcopy(opened)
    for model in (copy, alone):
        for name, weight in model.named_parameters():
            if ".0." in name:
                weight.data.mul_(0.5)
        model(**given(family)).logits.sum().backward()
    for ours, theirs in zip(copy.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=0)
    assert all(weight.grad is None for weight in opened.parameters())
    runs = [hl.open(model, tokens())(TEXT) for model in (copy, alone)]
    np.testing.assert_array_equal(runs[0].trace.output, runs[1].trace.output)
    assert runs[0].checks().passed.all()


def test_a_long_run_shows_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = hl.open(build("gpt2", vocab_size=300), tokens())
    whole = model(TEXT)
    monkeypatch.setattr(adopted, "KEPT_CELLS", 0)
    run = model(TEXT)
    np.testing.assert_allclose(run.attention(1, 2), whole.attention(1, 2), atol=1e-6)
    assert not run.attention(1, 2).flags.writeable
    pd.testing.assert_frame_equal(run.heads(), whole.heads(), atol=1e-4)
    assert run.checks().passed.all()
    name, at = run.part.known["decoder.blocks.1.attn.pattern"]["id"], ["2"]
    shown = np.frombuffer(piece(run.part.by_id[name], at), np.float32)
    np.testing.assert_array_equal(shown, run.attention(1, 2).ravel())
    data = b64decode(run.part.contents["arrays"][f"{name}/2"])
    saved = np.frombuffer(zlib.decompress(data), np.float32)
    np.testing.assert_allclose(saved, shown, atol=STEP / 2, rtol=0)
    run.save(tmp_path / "run.html")
    assert name in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_file_is_as_large_whether_weights_are_kept_or_worked_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text of 528 tokens had a file half as large as one of 527."""
    model, sizes = hl.open(build("gpt2", vocab_size=300), tokens()), []
    for cells in (adopted.KEPT_CELLS, 0):
        monkeypatch.setattr(adopted, "KEPT_CELLS", cells)
        sizes.append(sum(map(len, model("the red ball " * 9).part.contents["arrays"].values())))
    assert sizes[1] == pytest.approx(sizes[0], rel=1e-3)


def adapted() -> torch.nn.Module:
    model = build("llama")
    model.model.layers[1].self_attn.q_proj.base_layer = torch.nn.Linear(2, 3)  # as peft wraps it
    return model


def test_of_a_compiled_model_the_one_inside_runs() -> None:
    inner = build("lfm2", vocab_size=300)
    with pytest.warns(UserWarning) as said:
        model = hl.open(torch.compile(inner, backend="eager"), tokens())
    assert [str(one.message) for one in said] == [
        "Lfm2ForCausalLM was compiled: the model inside runs",
        "only layers that attend are shown: from L0 on, layer 1 of its 3",
    ]
    assert getattr(model.opened.model, "inner", None) is inner


def test_memory_and_folder_give_the_same(tmp_path: Path) -> None:
    ours = hl.open(build("gpt2", vocab_size=300), tokens())
    theirs = hl.open(saved(tmp_path / "gpt2"), device="cpu")
    np.testing.assert_array_equal(ours(TEXT).trace.logits, theirs(TEXT).trace.logits)
    with pytest.warns(UserWarning, match=r"the first 48 are run, the last \d+ are cut") as said:
        theirs("a b " * 40)
    assert {one.filename for one in said} == {__file__}
    with pytest.warns(UserWarning, match=r"turns the text into “the red \[UNK\]”"):
        hl.open(build("bert"), words())("The RED fox")


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("no checkpoint 'README.md'", lambda _: hl.open("README.md")),
        ("brings its own tokenizer", lambda _: hl.open("stories", "a tokenizer")),
        ("int is no model of transformers", lambda _: hl.open(5)),
        ("Linear is no model of", lambda _: hl.open(torch.nn.Linear(2, 2), tokens())),
        ("needs its tokenizer", lambda _: hl.open(build("gpt2"))),
        ("not read text but pixel_values", lambda _: hl.open(build("vit"), tokens())),
        (r"deepcopy\(model\)\.merge", lambda _: hl.open(adapted(), tokens())),
        (r"deepcopy\(model\)\.float", lambda _: hl.open(build("gpt2").half(), tokens())),
        (r"move it with \.to\('cuda'\)", lambda _: hl.open(build("gpt2"), device="cuda")),
        ("from 0 to 1; divide", lambda _: hl.open("digits")(np.full((28, 28), 255))),
        ("takes a picture", lambda _: hl.open("digits")("a picture")),
        ("takes one text", lambda _: hl.open("stories")(["a", "b"])),
        ("needs a decoder", lambda _: hl.open("digits")(np.zeros((28, 28))).lens()),
        (r"3 ways.*decoder\.attn", lambda _: hl.open("translate")("A dog.").attention(0, 0)),
        ("no layer 6 of 6; give 0 to 5", lambda run: run.attention(6, 0)),
        ("no head -1 of 8; give 0 to 7", lambda run: run.attention(0, -1)),
        ("no 1.5 edges; give a", lambda _: of_a_ball().share(1.5)),
        ("no -1 edges; give a", lambda _: of_a_ball().edges(-1)),
        ("5 is no text", lambda run: run.circuit(answer=5)),
        (
            "'' is not one token",
            lambda run: run.circuit("go on and go up", answer=""),
        ),
        (
            "are one token",
            lambda run: run.circuit("go on and go up", answer="He", against=" He"),
        ),
        ("'@' is not one token", lambda _: hl.open("shakespeare")("ab").circuit("ac", answer="@")),
        ("is no decoder", lambda _: hl.open("blank").random_repeats()),
        ("is no language model", lambda _: hl.open("translate")("A dog.").circuit("A cat.")),
        (
            "they part at “dog” and “big”",
            lambda _: hl.open("stories")("A dog.").circuit("A big dog."),
        ),
        ("there is decoder.attn", lambda run: run.attention(0, 0, "encoder.attn")),
    ],
)
def test_mistakes_get_one_line(line: str, ask: Callable[[Run], object], run: Run) -> None:
    with pytest.raises(ValueError, match=f"^[^\n]*{line}[^\n]*$"):
        ask(run)


def test_a_module_of_the_same_name_in_the_way_is_named(tmp_path: Path) -> None:
    """One that lies there is no harm, one that was imported is."""
    (tmp_path / "model.py").write_text("mine = 1")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; "
    before, after = (
        subprocess.run([sys.executable, "-c", code + program], capture_output=True, text=True)
        for program in ("import model; import headlight", "import headlight; import model.tap")
    )
    assert f"ImportError: {tmp_path / 'model.py'} stands in" in before.stderr
    assert after.stderr == ""
