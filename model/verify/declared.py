"""What attention was told to do, worked out of a file's own words and compared with what ran.

Read are config.json or the header of a file in GGUF as they stand, not what a library made of them:
a check that compares two things made by one library sees nothing that both leave out.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from model.trace import AttentionRecord, Trace
from model.verify.angles import KINDS, Scaling
from model.verify.check import Check

Said = Mapping[str, Any]
FULL, SLIDING = "full_attention", "sliding_attention"
EXACT = 1e-6  # of a number that is kept in float32
# Rounding of an angle for each token before: its frequency is a power, a quotient and what scaling
# makes of it, each within half a unit of float32's last place, and the product with the position is
# one more. Four units of 2⁻²³ have all of them.
OF_ANGLE = 4 * 2.0**-23


class Turn(NamedTuple):
    """Cosines and sines (T, n) that ran, of all layers or of those of one kind."""

    layers: str | None
    cos: np.ndarray
    sin: np.ndarray


@dataclass(frozen=True)
class Family:
    """What a family means where its config leaves a key out, and in what it differs from Llama.

    `slides` says which layers have the window where no list of their kinds does. `share` is the
    part of a head that turns, 0 where positions are not rotations.
    """

    theta: float = 10_000.0
    share: float = 1.0
    window: int = 0
    slides: Callable[[Said, int], bool] = lambda _, layer: True
    scale: Callable[[Said, int, int], float] = lambda _, layer, width: width**-0.5
    caps: tuple[float | None, float | None] = (None, None)
    is_causal: bool = True
    has_local: bool = False
    rotation: Said | None = None


def _alternates(_: Said, layer: int) -> bool:
    return layer % 2 == 0


def _from_layer(config: Said, layer: int) -> bool:
    return layer >= config.get("max_window_layers", 28)


def _below_layer(config: Said, layer: int) -> bool:
    return layer % 2 == 0 and layer < config.get("max_window_layers", 28)


def _by_period(config: Said, layer: int) -> bool:
    return bool((layer + 1) % config.get("sliding_window_pattern", 6))


def _unturned(config: Said, layer: int) -> bool:
    given = config.get("no_rope_layers")
    period = config.get("no_rope_layer_interval", 4)
    return not (given[layer] if given else (layer + 1) % period)


def _by_scalar(config: Said, _layer: int, _width: int) -> float:
    return config.get("query_pre_attn_scalar", 256) ** -0.5


def _of_gpt2(config: Said, layer: int, width: int) -> float:
    scale = width**-0.5 if config.get("scale_attn_weights", True) else 1.0
    return scale / (layer + 1 if config.get("scale_attn_by_inverse_layer_idx") else 1)


_OSS = {"rope_type": "yarn", "factor": 32.0, "truncate": False,
        "original_max_position_embeddings": 4096}  # fmt: skip
_PLAIN, _BERT = Family(), Family(share=0.0, is_causal=False)
FAMILIES = {
    **dict.fromkeys(("llama", "gemma", "olmo", "olmo2", "phi3", "starcoder2", "qwen3_moe"), _PLAIN),
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "distilbert", "albert", "electra"), _BERT),
    **dict.fromkeys(("qwen2", "qwen3"), Family(window=4096, slides=_from_layer)),
    "qwen2_moe": Family(window=4096, slides=_below_layer),
    "gpt2": Family(share=0.0, scale=_of_gpt2),
    "mistral": Family(window=4096),
    "mixtral": Family(theta=1e6),
    "gemma2": Family(window=4096, slides=_alternates, scale=_by_scalar, caps=(50.0, 30.0)),
    "gemma3_text": Family(
        theta=1e6, window=4096, slides=_by_period, scale=_by_scalar, has_local=True
    ),
    "phi": Family(share=0.5),
    "stablelm": Family(share=0.25),
    "nemotron": Family(share=0.5),
    "gpt_neox": Family(share=0.25),
    "granite": Family(scale=lambda _, layer, width: 1.0),
    "smollm3": Family(theta=2e6, slides=_unturned),
    "gpt_oss": Family(theta=150_000.0, window=128, slides=_alternates, rotation=_OSS),
    "lfm2": Family(theta=1e6),
}
GATED = ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3")  # by use_sliding_window
LISTED = (*GATED, "gemma2", "gemma3_text", "gpt_oss", "lfm2")  # that have layer_types


@dataclass(frozen=True)
class Declared:
    """What a config, by the names that transformers has, says of attention. `where` it stands."""

    config: Said
    where: str

    @property
    def family(self) -> Family:
        """What is known of its family."""
        return FAMILIES[self.config["model_type"]]

    @property
    def kinds(self) -> Sequence[str]:
        """The kind of each layer, where a list says it."""
        is_listed = self.config["model_type"] in LISTED
        return (is_listed and self.config.get("layer_types")) or ()

    def kind(self, layer: int) -> str:
        """Whether a layer has the window."""
        if self.kinds:
            return self.kinds[layer]
        return SLIDING if self.family.slides(self.config, layer) else FULL

    def attending(self, n: int) -> list[int]:
        """The numbers of the layers that attend, of which n ran."""
        every = enumerate(self.kinds or [FULL] * n)
        return [layer for layer, kind in every if kind in (FULL, SLIDING)]

    def window(self, layer: int) -> int:
        """How many tokens a query of a layer sees, itself included; 0 for all before."""
        is_off = not self.config.get("use_sliding_window", self.config["model_type"] not in GATED)
        size = self.config.get("sliding_window", self.family.window)
        return 0 if is_off or self.kind(layer) == FULL else size or 0

    def scale(self, layer: int, record: AttentionRecord) -> float:
        """What q·k is multiplied by."""
        usual = self.family.scale(self.config, layer, record.q.shape[-1])
        return self.config.get("attention_multiplier") or usual

    def mask(self, layer: int, record: AttentionRecord) -> np.ndarray:
        """What may be attended to, (T, T)."""
        places = np.arange(record.q.shape[1])
        back = np.subtract.outer(places, places)
        window = self.window(layer)
        if self.config.get("use_bidirectional_attention"):  # half of a window on either side
            return np.abs(back) <= (window // 2 if window else len(places))
        is_causal = self.config.get("is_decoder") or self.family.is_causal
        seen = back >= 0 if self.config.get("is_causal", is_causal) else np.full(back.shape, True)
        return seen & (back < window) if window else seen

    def cap(self, name: str) -> float | None:
        """The soft cap of "attn" or of "final" logits."""
        default = self.family.caps[name == "final"]
        return self.config.get(f"{name}_logit_softcapping", default)

    def turned(self, layer: int, width: int, n_tokens: int) -> tuple[np.ndarray, float]:
        """The angle by which each pair of a head turns per position, and the factor of both."""
        is_local = self.family.has_local and self.kind(layer) == SLIDING
        said = self._rotation(is_local, self.kind(layer))
        own = "rope_local_base_freq" if is_local else "rope_theta"
        base = said.get("rope_theta") or self.config.get(own) or self.config.get("rotary_emb_base")
        base = base or (10_000.0 if is_local else self.family.theta)
        share = [x.get("partial_rotary_factor") for x in (said, self.config)]
        share = next((x for x in (*share, self.config.get("rotary_pct")) if x is not None), None)
        n = said.get("n_turned") or int(width * (self.family.share if share is None else share))
        kind = said.get("rope_type") or said.get("type") or "default"
        longest = self.config.get("max_position_embeddings", n_tokens)
        first = self.config.get("original_max_position_embeddings")
        first = first or said.get("original_max_position_embeddings") or longest
        return KINDS[kind](Scaling(said, float(base), n, width, n_tokens, longest, first))

    def _rotation(self, is_local: bool, kind: str) -> Said:
        """What is said of the rotation of a kind of layer, the older name before the newer."""
        given, older = (self.config.get(x) or {} for x in ("rope_parameters", "rope_scaling"))
        own = given.get(kind, given)
        if self.family.has_local:
            return own if is_local else {**own, **older}
        return older or own or self.family.rotation or {}


def of_config(config: Said, where: str = "config.json") -> Declared | None:
    """What config.json says of attention; None of a family, or in a way, that is not known."""
    if config.get("model_type") not in FAMILIES:
        return None
    given = [config.get(name) for name in ("rope_parameters", "rope_scaling")]
    whole = [one for one in given if isinstance(one, dict)]
    parts = [x for one in whole for x in (one, *one.values()) if isinstance(x, dict)]
    kinds = {str(x.get("rope_type") or x.get("type") or "default") for x in parts}
    return Declared(config, where) if kinds <= KINDS.keys() else None


def check_declared(
    declared: Declared,
    trace: Trace,
    turns: Sequence[Turn],
    final_cap: float | None,
    is_own_mask: bool = True,
) -> tuple[Check, ...]:
    """What ran against what was declared; each names the first layer that is off.

    turns: what rotated in a run of the same text. final_cap: what bends its logits.
    is_own_mask: whether it ran under its own masks.
    """
    records = trace.attention
    said, attending = f"what {declared.where} says", declared.attending(len(records))
    if len(attending) != len(records):
        return (Check(f"layers that attend = {said}", math.inf, 0.0),)
    layers = list(zip(attending, records, strict=True))
    longest = max(len(stream) for stream in trace.streams)
    compared: list[tuple[str, Callable[[int, AttentionRecord], float], float]] = [
        ("scale of scores", lambda n, x: _apart(x.scale, declared.scale(n, x)), EXACT),
        ("soft cap of scores", lambda _, x: _apart(x.softcap, declared.cap("attn")), EXACT),
        ("mask and window", lambda n, x: float((x.mask != declared.mask(n, x)).sum()), 0.0),
        (
            "rotation",
            lambda n, x: _turned_apart(declared, n, x, turns),
            EXACT + OF_ANGLE * longest,
        ),
    ]
    if not is_own_mask:
        compared = [one for one in compared if not one[0].startswith("mask")]
    last = _apart(final_cap, declared.cap("final"))
    return (
        *(_check(f"{name} = {said}", error, bound, layers) for name, error, bound in compared),
        Check(f"soft cap of logits = {said}", last, EXACT),
    )


def _check(
    name: str,
    error: Callable[[int, AttentionRecord], float],
    bound: float,
    layers: Sequence[tuple[int, AttentionRecord]],
) -> Check:
    """One comparison of all layers; what cannot be worked out equals nothing."""
    errors = []
    for layer, record in layers:
        with np.errstate(all="ignore"):
            try:
                errors.append(error(layer, record))
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                errors.append(math.inf)
    off = (x for (_, x), one in zip(layers, errors, strict=True) if not one <= bound)
    first = next((f", first in {x.site.address}" for x in off), "")
    return Check(f"{name}{first}", float(np.max(errors)), bound)


def _apart(ran: float | None, declared: float | None) -> float:
    if ran is None or declared is None:
        return 0.0 if ran is declared else math.inf
    return abs(ran - declared) / (abs(declared) or 1.0)


def _turned_apart(
    declared: Declared, layer: int, record: AttentionRecord, turns: Sequence[Turn]
) -> float:
    """How far the cosines and sines of a layer are from those declared."""
    own = [x for x in turns if x.layers in (None, declared.kind(layer))]
    if not own or not declared.family.share:
        return math.inf if own or declared.family.share else 0.0
    n_tokens, width = record.q.shape[1:]
    each, factor = declared.turned(layer, width, n_tokens)
    angles = np.outer(np.arange(n_tokens), each)
    given = own[0].cos.shape[-1]
    orders = (angles, np.tile(angles, 2), np.repeat(angles, 2, axis=-1))
    fitting = [x for x in orders if x.shape[-1] == given]
    return min((_largest(own[0], x, factor) for x in fitting), default=math.inf)


def _largest(turn: Turn, angles: np.ndarray, factor: float) -> float:
    pairs = ((turn.cos, np.cos(angles)), (turn.sin, np.sin(angles)))
    return max(float(np.abs(ran - factor * x).max()) for ran, x in pairs) / max(1.0, factor)
