"""Protects the parts of a logit: they sum to it, and each is that of an independent float64 run."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from model import reference
from model.analysis.attribution import attribute, words_of_head, words_of_neuron
from model.architectures.base import Transformer
from model.capture import capture, capture_image
from model.trace import Site, Trace
from tests.model.builders import (
    GROUPED,
    all_arrays,
    files_of,
    tiny_encoder,
    tiny_model,
    tiny_picture,
    tiny_translator,
    tiny_vision,
    translation_trace,
)

IDS = [3, 1, 4, 1, 5, 9, 2]
WRITTEN = {"attn": "attn_out", "cross_attn": "cross_out", "ffn": "ffn_out"}
NAMES = {"attn": "attention", "cross_attn": "cross-attention", "ffn": "MLP"}
Make = Callable[..., Transformer]
Changes = dict[str, Any]
VARIANTS: tuple[Changes, ...] = (
    {},
    {"norm_placement": "post"},
    {"norm": "rms", "feedforward": "swiglu", "tied_embeddings": False},
    {"bias": False, "position": "rope", "feedforward": "relu"},
    {**GROUPED, "position": "alibi", "norm_placement": "post", "norm": "rms"},
    {"position": "learned", "scale_embeddings": True},
    {"position": "learned", "norm": "rms", "norm_placement": "post", "feedforward": "gelu_tanh"},
)


def ran(model: Transformer) -> tuple[Transformer, Trace]:
    """A model and a run of it."""
    name = type(model).__name__
    if name == "VisionTransformer":
        return model, capture_image(model, tiny_picture())
    if name == "EncoderDecoderTransformer":
        return model, translation_trace(model)
    return model, capture(model, IDS, list("abcdefg"))


MAKERS = (tiny_model, tiny_encoder, tiny_translator, tiny_vision)
OF_TEXT_ALONE = {"tied_embeddings", "scale_embeddings"}


def is_possible(make: Make, changes: Changes) -> bool:
    """Whether an architecture has such a variant."""
    if make in (tiny_model, tiny_encoder):
        return True
    is_turned = changes.get("position") in ("rope", "alibi")
    return not is_turned and (make is tiny_translator or not OF_TEXT_ALONE & set(changes))


CASES = [(make, changes) for make in MAKERS for changes in VARIANTS if is_possible(make, changes)]


def asked(trace: Trace) -> list[tuple[int, int, int | None]]:
    """Positions and tokens to ask for, alone and against another."""
    last = len(trace.output) - 1
    return [(last, 4, None), (0, 2, 3), (last // 2, 1, 0)]


def activation(
    files: reference.Files, ran: dict[str, np.ndarray], stack: str, layer: int
) -> np.ndarray:
    """What the neurons of a layer give, (T, F)."""
    whole = reference.Reader(files)
    part = whole.part(stack) if files.config["architecture"] == "encoder_decoder" else whole
    part, block = part.part(f"blocks.{layer}"), f"{stack}.blocks.{layer}"
    x = ran.get(f"{block}.resid_cross", ran[f"{block}.resid_mid"])
    x = part.norm("ffn_norm", x) if files.config["norm_placement"] == "pre" else x
    up, kind = part.part("ffn").linear("up", x), files.config["feedforward"]
    if kind == "swiglu":
        return reference.silu(part.part("ffn").linear("gate", x)) * up
    return reference.ACTIVATIONS[kind](up)


def heads_by_hand(
    part: reference.Reader, ran: dict[str, np.ndarray], site: str, position: int
) -> tuple[np.ndarray, np.ndarray]:
    """What each head writes, (H, D), and what by each key, (H, Tk, D)."""
    z, pattern, v = (ran[f"{site}.{name}"] for name in ("z", "pattern", "v"))
    heads, keys = [], []
    for head, columns in enumerate(np.split(part.get("out_proj.weight"), len(z), axis=1)):
        heads.append(columns @ z[head, position])
        values = v[head * len(v) // len(z)]
        keys.append(
            [columns @ (a * x) for a, x in zip(pattern[head, position], values, strict=True)]
        )
    return np.stack(heads), np.array(keys)


def shares_by_hand(
    model: Transformer, trace: Trace, position: int, row: np.ndarray
) -> dict[str, np.ndarray]:
    """What `row` (D,) reads of each part at the end, in float64 from the weights.

    Each vector is written into the stream and goes forward through every norm that follows, which
    divides by the deviation of what this run gave it; by site heads (H,) or neurons (F,), and keys.
    """
    files, given, stack = files_of(model), all_arrays(trace), trace.main.name
    ran = {name: x.astype(np.float64) for name, x in given.items()}
    prefix = "decoder." if model.config.architecture == "encoder_decoder" else ""
    own = reference.Reader(files, prefix)
    begin = (ran[f"{stack}.{name}"][position] for name in ("embed", "positions"))
    parts = dict(zip(("embedding", "positions", "biases"), (*begin, 0 * row), strict=True))

    def pass_norm(name: str, x: np.ndarray) -> None:
        norm, is_rms, x = own.part(name), files.config["norm"] == "rms", x.astype(np.float64)
        scale = np.sqrt((x**2).mean() - (0 if is_rms else x.mean() ** 2) + files.config["norm_eps"])
        for part, vectors in parts.items():
            mean = 0 if is_rms else vectors.mean(axis=-1, keepdims=True)
            parts[part] = (vectors - mean) / scale * norm.get("gain")
        parts["biases"] = parts["biases"] + files.weights.get(f"{prefix}{name}.offset", 0)

    for layer in range(len(trace.main.residuals)):
        block, before = f"{stack}.blocks.{layer}.", "resid_pre"
        for kind, out in WRITTEN.items():
            if block + out not in ran:
                continue
            part, site = own.part(f"blocks.{layer}.{kind}"), block + kind
            if kind == "ffn":
                fired = activation(files, ran, stack, layer)[position]
                parts[site] = fired[:, None] * part.get("down.weight").T
                bias = part.linear("down", 0 * fired)
            else:
                parts[site], parts[f"{site}.keys"] = heads_by_hand(part, ran, site, position)
                bias = part.linear("out_proj", 0 * ran[f"{site}.z"][:, position].ravel())
            parts["biases"] = parts["biases"] + bias
            if files.config["norm_placement"] == "post":
                name = f"blocks.{layer}.{kind.removesuffix('_attn')}_norm"
                pass_norm(name, (given[block + before] + given[block + out])[position])
            before = "resid_cross" if kind == "cross_attn" else "resid_mid"
    if files.config["norm_placement"] == "pre":
        pass_norm("final_norm", given[f"{block}resid_post"][position])
    return {name: vectors @ row for name, vectors in parts.items()}


@pytest.mark.parametrize(("make", "changes"), CASES)
def test_each_part_is_what_it_wrote_sent_forward(make: Make, changes: Changes) -> None:
    """The run is float32; what is worked out from it is float64 on both sides.

    Sums of hundreds of terms, none above a thousand, are then apart by far less than 1e-9. Neurons
    are those of a second float32 run; by hand they come from the stream in float64.
    """
    model, trace = ran(make(**changes))
    unembed = deepcopy(model.get_submodule("unembed")).double()
    for position, token, against in asked(trace):
        pick = np.eye(trace.output.shape[-1])[token]
        pick -= 0 if against is None else np.eye(len(pick))[against]
        expected = shares_by_hand(model, trace, position, pick @ unembed.weight.numpy())
        if unembed.bias is not None:
            expected["biases"] = expected["biases"] + pick @ unembed.bias.numpy()
        found = attribute(trace, model, position, token, against)
        assert found.error <= 1e-4, "they sum to the logit"
        sites = [site for site in expected if site.endswith(tuple(WRITTEN))]
        sums = [expected[name].sum() for name in ("embedding", "positions", *sites, "biases")]
        of_neurons = [name.endswith("MLP") for name in found.names]
        for share, wanted, is_of_neurons in zip(found.parts, sums, of_neurons, strict=True):
            assert share == pytest.approx(wanted, abs=1e-5 if is_of_neurons else 1e-9)
        layers = [f"L{site.split('.')[2]} {NAMES[site.split('.')[3]]}" for site in sites]
        assert list(found.names) == ["embedding", "positions", *layers, "biases"]
        assert list(found.heads) == [site for site in sites if not site.endswith("ffn")]
        for site, shares in found.heads.items():
            np.testing.assert_allclose(shares, expected[site], rtol=0, atol=1e-9)
            np.testing.assert_allclose(
                found.keys[site], expected[f"{site}.keys"], rtol=0, atol=1e-9
            )
        neurons = [expected[site] for site in sites if site.endswith("ffn")]
        np.testing.assert_allclose(found.neurons, neurons, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("make", "changes"), CASES[::3])
def test_words_pushed_are_a_share_in_every_logit(
    make: Make, changes: Changes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.analysis.attribution.AT_ONCE", 4)
    model, trace = ran(make(**changes))
    position = len(trace.output) - 1
    site = Site(trace.main.name, "self", 1)
    pushed = words_of_head(trace, model, site, 2, position)
    by_neuron = words_of_neuron(trace, model, 0, 5, position)
    for token in (0, 3, trace.output.shape[-1] - 1):
        found = attribute(trace, model, position, token)
        assert pushed[token] == pytest.approx(found.heads[site.address][2], abs=1e-9)
        assert by_neuron[token] == pytest.approx(found.neurons[0, 5], abs=1e-9)


def test_refusals_name_the_numbers() -> None:
    model, trace = ran(tiny_model())
    with pytest.raises(ValueError, match="position 7 is none of 0 to 6"):
        attribute(trace, model, 7, 0)
    with pytest.raises(ValueError, match="token 17 is none of the 17; give 0 to 16"):
        attribute(trace, model, 0, 3, 17)
    with pytest.raises(ValueError, match="token 3 against itself is 0"):
        attribute(trace, model, 0, 3, 3)
    with pytest.raises(ValueError, match="neurons 0 to 12; 13 is none"):
        words_of_neuron(trace, model, 0, 13, 0)
    with pytest.raises(ValueError, match="layers 0 to 1; 2 is none"):
        words_of_neuron(trace, model, 2, 0, 0)
    translator, run = ran(tiny_translator())
    with pytest.raises(ValueError, match=r"no logit reads encoder\.blocks\.0\.attn directly"):
        words_of_head(run, translator, Site("encoder", "self", 0), 0, 0)
