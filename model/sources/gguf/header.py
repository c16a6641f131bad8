"""A header of GGUF: its keys, which of them were read, and which change nothing.

Keys are those of llama.cpp (gguf-py/gguf/constants.py). Each key is read, is known to change
nothing, or is named by `Header.unread`: nothing is passed over in silence.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from model.files import StoredTensor
from model.lines import quoted

# Keys that change no number of a run, by what they begin with, and why.
NO_EFFECT: dict[str, str] = {
    "general.": "what the file is called, by whom it is, how it is stored, hints for sampling",
    "split.": "how a file was cut; one that is cut is refused",
    "quantize.": "what quantised it was led by",
    "imatrix.": "what quantised it was led by",
    "rope.scaling.finetuned": "tells how it was trained",
    "tokenizer.chat_template": "text around a conversation",
    "tokenizer.huggingface.json": "llama.cpp does not read it either",
    "tokenizer.ggml.token_type_count": "kinds of segments, of encoders alone",
    "tokenizer.ggml.fim_": "a text is written on, none is filled in",
    "tokenizer.ggml.prefix_token_id": "a text is written on, none is filled in",
    "tokenizer.ggml.suffix_token_id": "a text is written on, none is filled in",
    "tokenizer.ggml.middle_token_id": "a text is written on, none is filled in",
    "tokenizer.ggml.seperator_token_id": "stands between two texts",
    "tokenizer.ggml.add_sep_token": "stands between two texts",
    "tokenizer.ggml.cls_token_id": "stands before a text of an encoder",
    "tokenizer.ggml.mask_token_id": "stands for a hidden token",
}
# Values that say what there is without the key.
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "rope.scaling.attn_factor": (1,),
    "rope.scaling.yarn_attn_factor": (1,),
    "rope.scaling.yarn_ext_factor": (1, -1),
    "rope.scaling.yarn_log_multiplier": (0,),
    "rope.scaling.alpha": (0,),
    "attention.causal": (True,),
    "attention.clamp_kqv": (0,),
    "attention.scale": (0,),
    "attention.max_alibi_bias": (0,),
    "tensor_data_layout": ("Meta AI original pth",),
    "attention.shared_kv_layers": (0,),
    "attention.sliding_window": (0,),
    "attn_logit_softcapping": (0,),
    "final_logit_softcapping": (0,),
    "router_logit_softcapping": (0,),
    "logit_scale": (0, 1),
    "embedding_scale": (0, 1),
    "residual_scale": (0, 1),
    "pooling_type": (0,),
    "expert_count": (0,),
    "expert_used_count": (0,),
    "expert_shared_count": (0,),
    "expert_group_count": (0, 1),
    "expert_group_used_count": (0, 1),
    "expert_weights_scale": (0, 1),
    "leading_dense_block_count": (0,),
    "moe_every_n_layers": (0, 1),
    "nextn_predict_layers": (0,),
    "tokenizer.ggml.normalizer.lowercase": (False,),
}


class Listed(NamedTuple):
    """A list of a header that is not kept: of what, in words, and how many."""

    of: str
    n: int

    def __str__(self) -> str:
        """What it is, in words."""
        return f"a list of {self.n:,} {self.of}"


@dataclass
class Header:
    """Keys and tensors of a file, and which keys were read."""

    said: Mapping[str, Any]
    stored: Mapping[str, StoredTensor]
    factors: Mapping[str, np.ndarray]
    _read: set[str] = field(default_factory=set)

    @property
    def architecture(self) -> str:
        """What llama.cpp calls the family."""
        return str(self.said.get("general.architecture", ""))

    def own(self, key: str, usual: Any = None) -> Any:  # noqa: ANN401
        """What the family's key says; `usual` where it is not there."""
        return self.get(f"{self.architecture}.{key}", usual)

    def get(self, name: str, usual: Any = None) -> Any:  # noqa: ANN401
        """What any key says; `usual` where it is not there."""
        self._read.add(name)
        return self.said.get(name, usual)

    def needed(self, key: str) -> Any:  # noqa: ANN401
        """What the family's key says; ValueError where it is not there."""
        value = self.one(key)
        if value is None:
            raise ValueError(f"its header has no {self.architecture}.{key}")
        return value

    def one(self, key: str, usual: Any = None) -> Any:  # noqa: ANN401
        """The same of a key that may have a value for each layer; ValueError where these differ."""
        value = self.own(key, usual)
        if not isinstance(value, list):
            return value
        if len(set(value)) != 1:
            said = quoted(str(value[:4]))
            raise ValueError(
                f"{self.architecture}.{key} differs from layer to layer ({said}), and its class "
                "in transformers has one number for all"
            )
        return value[0]

    def count(self, key: str, usual: int | None = None, least: int = 1) -> int:
        """The same of a whole number that is not below `least`."""
        value = self.needed(key) if usual is None else self.one(key, usual)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(
                f"{self.architecture}.{key} is {quoted(str(value))}; it must be a whole number "
                f"from {least} on"
            )
        return value

    def number(self, key: str, usual: float | None = None) -> float:
        """The same of a number above zero."""
        value = self.needed(key) if usual is None else self.one(key, usual)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 < value < math.inf
        ):
            raise ValueError(
                f"{self.architecture}.{key} is {quoted(str(value))}; it must be a number above 0"
            )
        return value

    def given(self, key: str) -> float | None:
        """The same where it is there and not zero; None elsewhere."""
        value = self.one(key)
        is_none = value is None or (value == 0 and not isinstance(value, bool))
        return None if is_none else self.number(key)

    def agree(self, key: str, *values: object) -> None:
        """Read a key that can say one of some values alone; with another it is left unread."""
        if self.said.get(f"{self.architecture}.{key}", values[0]) in values:
            self.own(key)

    def has(self, part: str) -> bool:
        """Whether a tensor of any layer is there, as attn_q.bias."""
        return any(name == part or name.endswith(f".{part}") for name in self.stored)

    @property
    def unread(self) -> dict[str, Any]:
        """Keys that nobody read, with their values, without those that change nothing."""
        return {name: self.said[name] for name in self.said if not self._is_known(name)}

    def _is_known(self, name: str) -> bool:
        key = name.removeprefix(f"{self.architecture}.")
        said = self.said[name], isinstance(self.said[name], bool)  # as 1 is true in Python
        is_neutral = any(said == (x, isinstance(x, bool)) for x in NEUTRAL.get(key, ()))
        return name in self._read or is_neutral or key.startswith(tuple(NO_EFFECT))
