"""Protects what costs are compared with: runs side by side are runs by themselves, cell by cell."""

import numpy as np
import pytest
import torch

from model.analysis.ablation import costs, edits_of, part_of, pruned, sizes_of, targets_of
from model.capture import capture, capture_image, capture_translation
from model.verify.costed import IndependentCosts
from model.verify.edited import Off
from model.verify.independent import IndependentRun
from tests.model.builders import (
    GROUPED,
    tiny_encoder,
    tiny_model,
    tiny_picture,
    tiny_translator,
    tiny_vision,
)
from tests.model.verify.test_other_architectures import files_of

IDS = [3, 1, 4, 1, 5, 9, 2]
SOURCE, TARGET = [3, 1, 4, 1, 5], [2, 7, 1, 6]
OF_TEXT = ["decoder.attn.0.1", "decoder.attn.1", "decoder.ffn.0", "decoder.attn.0.2.4"]
OF_PAIRS = ["encoder.attn.1.2", "decoder.cross_attn.1.0", "encoder.ffn.2", "decoder.attn.0.1"]
MODELS = {
    "decoder": (tiny_model(), OF_TEXT, "judged.next"),
    "grouped": (
        tiny_model(**GROUPED, position="rope", norm="rms", feedforward="swiglu"),
        OF_TEXT,
        "judged.next",
    ),
    "post-norm": (tiny_model(norm_placement="post", position="alibi"), OF_TEXT, "judged.next"),
    "encoder": (tiny_encoder(), [x.replace("decoder", "encoder") for x in OF_TEXT], "judged.own"),
    "translation": (tiny_translator(norm_placement="post"), OF_PAIRS, "judged.next"),
    "vision": (tiny_vision(), [x.replace("decoder", "encoder") for x in OF_TEXT], ""),
}


@pytest.mark.parametrize("name", MODELS)
def test_costs_are_those_of_the_analysis_and_of_single_runs(name: str) -> None:
    model, texts, judged = MODELS[name]
    if name == "translation":
        rows = ((ids, list(map(str, ids))) for ids in (SOURCE, TARGET))
        trace = capture_translation(model, *rows)
    elif name == "vision":
        trace = capture_image(model, tiny_picture())
        judged = f"judged.losses.0.{trace.output[0].argmax()}"
    else:
        trace = capture(model, IDS, list("abcdefg"))
    sizes = sizes_of(model, {stream.name: len(stream) for stream in trace.streams})
    parts = [part_of(text, sizes) for text in texts]
    rows = [*(edits_of([part], "zero") for part in parts), edits_of(parts[:2], "zero")]
    found = np.concatenate(list(costs(model, trace.given, rows, targets_of(trace))))
    grid = (((texts[0],), (texts[1],), None), ((texts[2],), (texts[3],), tuple(texts[:2])))
    run = IndependentRun(files_of(model), trace.given)
    independent = IndependentCosts(run, judged, {"some": grid})
    losses = independent.array("losses.some")
    assert np.isnan(losses[0, 2])
    ours = np.insert(found, 2, np.nan).reshape(2, 3)
    assert losses == pytest.approx(ours, abs=1e-5, nan_ok=True)
    off = IndependentRun(files_of(model), trace.given, off=Off((texts[3],)))
    assert losses[1, 1] == pytest.approx(off.array(judged).mean(), abs=1e-12)
    whole = run.array(judged).mean()
    assert independent.array("losses.none") == pytest.approx(whole, abs=1e-12)
    assert independent.array("costs.some") == pytest.approx(losses - whole, nan_ok=True)
    assert np.nanmax(np.abs(losses - whole)) > 1e-4


def test_heads_that_go_one_after_the_other() -> None:
    model, trace = tiny_model(), capture(tiny_model(), IDS, list("abcdefg"))
    sizes = sizes_of(model, {"decoder": 7})
    heads = [part_of(f"decoder.attn.{i}.{h}", sizes) for i in range(2) for h in range(3)]
    with torch.inference_mode():
        steps = [x for x in pruned(model, trace.given, heads, targets_of(trace)) if x is not None]
    texts = [step.part.text for step in steps]
    grid = (tuple(tuple(texts[:n]) for n in range(7)),)
    run = IndependentRun(files_of(model), trace.given)
    losses = IndependentCosts(run, "judged.next", {"pruned": grid}).array("losses.pruned")
    assert losses[0, 1:] == pytest.approx([step.loss for step in steps], abs=1e-5)
    assert losses[0, 0] == pytest.approx(run.array("judged.next").mean())


def test_what_is_not_there_is_refused() -> None:
    run = IndependentRun(files_of(tiny_model()), np.array(IDS))
    found = IndependentCosts(run, "judged.next", {"some": ((("decoder.attn.0.1",),),)})
    for address, said in (("costs.others", "there is nothing"), ("costs.some[0,1]", "no part")):
        with pytest.raises(ValueError, match=said):
            found.array(address)
