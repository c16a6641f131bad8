"""What pages outside the lessons and the ideas hand on."""

from collections import Counter

import numpy as np
import torch

from model.analysis.attribution import attribute, words_of_head, words_of_neuron
from model.analysis.blanks import perplexity, predicted_in_turn
from model.analysis.cosine import cosine_similarity
from model.analysis.heads import Averages, traits
from model.analysis.interventions import run_rows
from model.analysis.lens import logit_lens
from model.analysis.patches import logits_without_each, mean_distances
from model.analysis.probabilities import next_token_losses
from model.analysis.source import losses_when_damaged
from model.capture import capture, capture_image, capture_translation
from model.data.tokenizer import MASK
from model.decoding.beam import beam_search
from model.inputs import translation_of
from model.survey.stored import read_survey
from model.tap import set_at
from model.trace import Site
from model.worked_out import softmax
from tests.viz.apps import TOM
from tests.viz.builders import shipped, stories, stories_trace
from tests.viz.pages.handed import Read, Table, at
from viz.digits import digits
from viz.formulas.parts import lens_with_numbers
from viz.frame.examples import pairs
from viz.frame.given import shipped_digits
from viz.labels import clipped, token_labels, visible, words_of

WARM = "The cat sat on the warm mat."


# --- look inside ------------------------------------------------------------------------------


def lens() -> Read:
    read, at_cell = logit_lens(stories_trace(TOM), stories().model), (2, 7)
    numbers = [float(x[at_cell]) for x in (read.logits[..., 0], read.log_total, read.entropy)]
    logit, log_total, entropy = numbers
    rank, n_words = int(read.rank[at_cell]) + 1, stories().tokenizer.vocab_size
    return {
        "lens z": read.probs[..., 0],
        "rank y": read.rank[:, 7] + 1,
        "most-likely x": read.probs[at_cell],
        "formulas": lens_with_numbers(logit, log_total, n_words, entropy, rank),
        "checks": f"the last row's logits are the model's own, max error {read.error:.1e}",
    }


GIRL, BOY = "The girl lost the ball, so", "The boy lost the ball, so"


def turned_by_a_second_prompt() -> Read:
    """Each layer by a run of the whole model, edited."""
    model, trace, other = stories().decoder, stories_trace(GIRL), stories_trace(BOY)
    tokens = [int(one.logits[-1].argmax()) for one in (trace, other)]
    names = [clipped(visible(stories().tokenizer.name(i)), 24) for i in tokens]
    rows = []
    for layer, record in enumerate(other.residuals):
        stream = torch.tensor(record.resid_post[-1])
        rows.append([set_at(f"decoder.blocks.{layer}.resid_post", (slice(None), -1), stream)])
    logits = run_rows(model, trace.given, rows)[:, -1].numpy()
    difference = logits[:, tokens[1]] - logits[:, tokens[0]]
    at_layer = 1 + max(i for i, x in enumerate(difference) if x <= 0)
    return {
        "turning y": difference,
        "anywhere": f"turns “{names[0]}” into “{names[1]}” from L{at_layer} on",
        "checks": "the logits are the second prompt’s own",
    }


def heads() -> Read:
    survey = read_survey(stories().folder)
    assert survey is not None
    measures = survey.measured("decoder.attn")
    said = traits({name: Averages(*(x.ravel() for x in y)) for name, y in measures.items()})
    n_heads = Counter(trait for of_head in said for trait in of_head)
    return {
        "heads x": measures["near"].values.ravel(),
        "heads y": measures["previous"].values.ravel(),
        "heads marker.color": measures["broad"].values.ravel(),
        "fact: near": digits(measures["near"].values[1, 6], 2),
        "column: heads": {
            **{trait.word: f"{n} of 48" for trait, n in n_heads.items()},
            "no single role": f"{said.count([])} of 48",
        },
        "captions": "200,116 tokens of held-out text",
        "anywhere": ["Some heads track the previous token", "Not tested: no parse of the text"],
    }


# --- contributions and beams ------------------------------------------------------------------


def ends(pushed: np.ndarray) -> np.ndarray:
    """The six largest, and the six smallest."""
    falling = np.sort(pushed)[::-1]
    return np.concatenate([falling[:6], falling[-6:]])


def parts_of_a_logit() -> Read:
    trace, model = stories_trace(TOM), stories().model
    found = attribute(trace, model, 7, int(trace.logits[7].argmax()))
    largest = np.argsort(-np.abs(found.neurons), axis=None, kind="stable")[:12]
    layer, neuron = map(int, np.unravel_index(largest[0], found.neurons.shape))
    return {
        "waterfall 1 y": np.append(found.parts, found.parts.sum()),
        "heads z": np.stack(list(found.heads.values())),
        "keys y": found.keys["decoder.blocks.1.attn"][3],
        "neurons x": found.neurons.ravel()[largest],
        "head-words x": ends(words_of_head(trace, model, Site("decoder", "self", 1), 3, 7)),
        "neuron-words x": ends(words_of_neuron(trace, model, layer, neuron, 7)),
        "fact: logit of the model": digits(found.logit),
        f"fact: sum of {len(found.parts)} shares": digits(found.parts.sum()),
        "checks": "the shares sum to the logit",
    }


def parts_of_a_difference() -> Read:
    trace, model = stories_trace(TOM), stories().model
    last = len(trace.tokens) - 1
    found = attribute(trace, model, last, 300, 5)
    return {
        "waterfall 1 y": np.append(found.parts, found.parts.sum()),
        "neuron-words x": ends(words_of_neuron(trace, model, 2, 7, last)),
        "fact: difference of two logits": digits(found.logit),
        "formulas": r"\ell_t - \ell_s",
    }


def three_beams() -> Read:
    loaded, given = stories(), stories_trace(TOM).ids.tolist()
    sizes = {"beam_width": 3, "max_new_tokens": 8, "length_penalty": 0.7}
    steps = [*beam_search(loaded.model, given, end_ids={loaded.tokenizer.end_id}, **sizes)]
    best, found = steps[-1].winner, [(i, x) for i, x in enumerate(steps, 1) for x in x.candidates]
    others = [i for i, x in found if x.kept and x.ids != best.ids[: len(x.ids)]]
    words = loaded.tokenizer.token_strings(best.ids)
    return {
        "beam 3 x": np.array([i for i, x in found if not x.kept]),
        "beam 4 x": np.array(others),
        "beam 5 text": [clipped(visible(word), 12) for word in words],
        "captions": [
            f"Beam search: log probability {digits(best.total)}, score {digits(best.score)}",
            "/ ((5 + n)/6)^α for n new tokens, as in GNMT (Wu et al. 2016); transformers divides",
        ],
    }


# --- other architectures ----------------------------------------------------------------------


def two_words_hidden() -> Read:
    loaded, before = shipped("blank"), stories_trace(WARM)
    ids, hiding = loaded.tokenizer.encode(WARM), loaded.tokenizer.id_of(MASK)
    labels, n = token_labels(loaded.tokenizer.token_strings(ids)), len(ids)
    both, one = (
        predicted_in_turn(loaded.model, ids, hiding, n=n, is_causal=x).losses for x in (False, True)
    )
    given = [hiding if place in (2, 5) else i for place, i in enumerate(ids)]
    tokens = loaded.tokenizer.token_strings(given)
    runs = [capture(loaded.model, given, tokens, x).logits for x in (None, np.tri(n, dtype=bool))]
    free, masked = (-np.log(softmax(x)[[2, 5], [ids[2], ids[5]]]).mean() for x in runs)
    other = next_token_losses(before.logits, before.ids)
    return {
        "sent: hidden": [[x, labels[x], ids[x]] for x in (2, 5)],
        "sent: logits": runs[1],
        "both-sides y": both,
        "both-sides 1 y": other,
        "under-the-mask y": both,
        "under-the-mask 1 y": one,
        f"fact: pseudo-perplexity of blank, {n} tokens": digits(perplexity(both), 2),
        "fact: stories minus blank": f"{digits(other.sum() - both[1:].sum(), 2)} nats",
        "fact: mean of the hidden tokens, no mask": f"{digits(free, 3)} nats",
        "fact: mean of the hidden tokens, causal mask": f"{digits(masked, 3)} nats",
        "captions": "can be negative for that reason alone",
    }


def example_with_its_german() -> Read:
    loaded, pair = shipped("translate"), pairs()[2]
    tokenizer, config = loaded.tokenizer, loaded.config
    source, fed = tokenizer.encode(pair.source), tokenizer.encode(pair.target)
    free = loaded.trace(pair.source).trace
    forced = capture_translation(loaded.model, *translation_of(tokenizer, source, fed))
    losses, held = next_token_losses(forced.logits, forced.ids), np.arange(len(free.ids) + 1)
    own, words = words_of(tokenizer.token_strings(fed))
    whole = [*forced.ids.tolist(), tokenizer.end_id]
    damaged = losses_when_damaged(loaded.model, forced.streams[0].ids.tolist(), whole)
    by_word = [np.bincount([*own, len(words)], weights=x) for x in damaged.values()]
    n_bytes = 2 * config.n_layers * config.n_kv_heads * config.d_head * 4  # k and v of a token
    largest = free.group("decoder.cross_attn").records[1].pattern[2].max()
    return {
        "sent: came": free.logits.argmax(axis=-1).tolist(),
        "forced y": losses,
        "fact: loss per word, fed in": f"{digits(losses.sum() / len(words), 3)} nats",
        "damage z": np.stack(by_word),
        "cache-parts y": np.where(held > 0, n_bytes * (len(source) + 1), 0),
        "cache-parts 1 y": n_bytes * held,
        "formulas": [digits(largest), "M W_K"],
        "checks": ["Check passed: measured", "gives the same losses"],
    }


def digit_of_the_test() -> Read:
    model, image = shipped("digits").model, shipped_digits().images[3]
    trace = capture_image(model, image / np.float32(255))
    best = int(trace.output[0].argmax())
    without = softmax(logits_without_each(model, image / np.float32(255)))[:, best]
    similar = cosine_similarity(trace.main.positions[1:]).reshape(7, 7, 7, 7).swapaxes(1, 2)
    return {
        "sent: shipped": {"chosen": 3, "label": int(shipped_digits().labels[3])},
        "sent: pixels": image.ravel(),
        "sent: logits": trace.output[0],
        "sent: rows": np.stack([x.pattern for x in trace.attention]).transpose(2, 0, 1, 3),
        "without z": without.reshape(7, 7),
        "distances y": np.ravel([mean_distances(x.pattern, 7, 4) for x in trace.attention]),
        "places z": similar.reshape(49, 49),
    }


TABLE: Table = {
    at("Logit lens", layer="1", token="7"): lens,
    at("Logit lens", lens_color="entropy"): lambda: {
        "lens z": logit_lens(stories_trace(TOM), stories().model).entropy
    },
    at("Logit lens", sentence=GIRL, second=BOY, layer="4"): turned_by_a_second_prompt,
    at("Heads", across="near", up="previous", colour_by="broad", layer="1", head="6"): heads,
    at("Contributions", layer="1", head="3", token="7"): parts_of_a_logit,
    at("Contributions", metric="difference", answer="300", instead="5", neuron="2-7"): (
        parts_of_a_difference
    ),
    at("Beam search", beam_width="3", alpha="0.7"): three_beams,
    at("Masked language model", sentence=WARM, blanks="2,5", causal="yes"): two_words_hidden,
    at(
        "Translation",
        source=pairs()[2].source,
        attention="decoder.cross_attn",
        layer="1",
        head="2",
        inspect="formula",
    ): example_with_its_german,
    at("Vision", digit="3"): digit_of_the_test,
}
