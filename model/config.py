"""The sizes and the variants of one model, as a frozen dataclass that refuses nonsense."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

POSITION_NAMES = ("sinusoidal", "learned", "rope", "alibi", "none")
NORM_NAMES = ("layer", "rms")
NORM_PLACEMENTS = ("pre", "post")
FEEDFORWARD_NAMES = ("relu", "gelu", "gelu_tanh", "swiglu")
MASK_NAMES = ("causal", "sliding_window", "prefix", "global_tokens")

_CHOICES = {
    "position": POSITION_NAMES,
    "norm": NORM_NAMES,
    "norm_placement": NORM_PLACEMENTS,
    "feedforward": FEEDFORWARD_NAMES,
    "mask": MASK_NAMES,
}
_SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff", "max_seq_len")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything needed to build a decoder-only Transformer.

    `n_kv_heads` defaults to `n_heads` (every head has its own keys and values) and `d_ff` to
    four times `d_model`. `window` counts the positions a token may see under the sliding-window
    mask, itself included; `prefix_len` counts the first tokens that see each other under the
    prefix mask; `n_global` counts the first tokens that all see, whatever the window, under the
    mask of global tokens. `scale_embeddings` multiplies embeddings by √d_model (Vaswani et al.
    2017, §3.4).

    Raises ValueError naming the numbers and the remedy when the fields do not fit together.
    """

    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    n_kv_heads: int | None = None
    d_ff: int | None = None
    max_seq_len: int
    position: str = "sinusoidal"
    norm: str = "layer"
    norm_placement: str = "pre"
    feedforward: str = "gelu"
    mask: str = "causal"
    window: int = 0
    prefix_len: int = 0
    n_global: int = 0
    tied_embeddings: bool = True
    scale_embeddings: bool = False
    bias: bool = True
    norm_eps: float = 1e-5
    position_base: float = 10_000.0

    def __post_init__(self) -> None:
        self._check_types()
        if self.n_kv_heads is None:
            object.__setattr__(self, "n_kv_heads", self.n_heads)
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        self._check_choices()
        self._check_sizes()
        self._check_mask()

    @property
    def d_head(self) -> int:
        """Width of one head: d_model / n_heads."""
        return self.d_model // self.n_heads

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "ModelConfig":
        """Build a config from parsed JSON or TOML; an unknown or missing key is a ValueError."""
        known = {field.name: field for field in dataclasses.fields(cls)}
        unknown = sorted(set(fields) - set(known))
        if unknown:
            raise ValueError(
                f"config has unknown key{'s' * (len(unknown) > 1)} {', '.join(unknown)}; "
                f"known keys are {', '.join(sorted(known))}"
            )
        required = {name for name, field in known.items() if field.default is dataclasses.MISSING}
        missing = sorted(required - set(fields))
        if missing:
            raise ValueError(f"config lacks {', '.join(missing)}; add it to the config")
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def _check_types(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            expected = {bool: bool, str: str, float: (int, float)}.get(field.type, int)
            is_stray_bool = isinstance(value, bool) and field.type is not bool
            if not isinstance(value, expected) or is_stray_bool:
                kind = getattr(field.type, "__name__", "int")
                raise ValueError(f"config: {field.name} is {value!r}; it must be of type {kind}")

    def _check_choices(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"config: {name} is {value!r}; choose one of {', '.join(choices)}")

    def _check_sizes(self) -> None:
        for name in _SIZES:
            if getattr(self, name) < 1:
                raise ValueError(f"config: {name} is {getattr(self, name)}; it must be at least 1")
        if self.d_model % self.n_heads:
            raise ValueError(
                f"config: d_model {self.d_model} is not a multiple of n_heads {self.n_heads}; "
                "change one of them so that heads have equal width"
            )
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"config: n_heads {self.n_heads} is not a multiple of n_kv_heads "
                f"{self.n_kv_heads}; every group of query heads shares one key-value head"
            )
        if self.position == "sinusoidal" and self.d_model % 2:
            raise ValueError(
                f"config: d_model {self.d_model} is odd; sinusoidal positions pair dimensions, "
                "use an even d_model"
            )
        if self.position == "rope" and self.d_head % 2:
            raise ValueError(
                f"config: d_head {self.d_head} is odd; RoPE rotates pairs of dimensions, "
                "use an even d_model / n_heads"
            )
        if not 0 < self.norm_eps < math.inf:
            raise ValueError(f"config: norm_eps is {self.norm_eps}; it must be above 0 and finite")
        if not 1 < self.position_base < math.inf:
            raise ValueError(
                f"config: position_base is {self.position_base}; it must be above 1 and finite"
            )

    def _check_mask(self) -> None:
        if self.mask in ("sliding_window", "global_tokens") and self.window < 1:
            raise ValueError(
                f"config: mask is {self.mask} but window is {self.window}; "
                "set window to the number of positions each token may see (at least 1)"
            )
        for name in ("prefix_len", "n_global"):
            if not 0 <= getattr(self, name) <= self.max_seq_len:
                raise ValueError(
                    f"config: {name} {getattr(self, name)} is outside 0 to max_seq_len "
                    f"{self.max_seq_len}"
                )
