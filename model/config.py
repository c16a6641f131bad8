"""The sizes and the variants of a model, as frozen dataclasses that refuse nonsense.

`BlockConfig` has what every architecture has; each architecture adds a small config of its own.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from model.fields import check_types, from_fields

POSITION_NAMES = ("sinusoidal", "learned", "rope", "alibi", "none")
NORM_NAMES = ("layer", "rms")
NORM_PLACEMENTS = ("pre", "post")
FEEDFORWARD_NAMES = ("relu", "gelu", "gelu_tanh", "swiglu")
MASK_NAMES = ("causal", "sliding_window", "prefix", "global_tokens")

_DERIVED: Any = None  # stands until __post_init__ has worked the field out from others


@dataclass(frozen=True, kw_only=True)
class BlockConfig:
    """The sizes and variants of a stack of blocks.

    `n_kv_heads` defaults to `n_heads` (every head has its own keys and values) and `d_ff` to
    four times `d_model`. `dropout` is the share of values dropped while training (Vaswani et al.
    2017, §5.4); outside of training none is.

    Raises ValueError naming the numbers and the remedy when the fields do not fit together.
    """

    architecture: ClassVar[str]
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "position": POSITION_NAMES,
        "norm": NORM_NAMES,
        "norm_placement": NORM_PLACEMENTS,
        "feedforward": FEEDFORWARD_NAMES,
    }
    sizes: ClassVar[tuple[str, ...]] = (
        "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff", "max_seq_len",
    )  # fmt: skip

    d_model: int
    n_layers: int
    n_heads: int
    n_kv_heads: int = _DERIVED
    d_ff: int = _DERIVED
    max_seq_len: int
    position: str = "sinusoidal"
    norm: str = "layer"
    norm_placement: str = "pre"
    feedforward: str = "gelu"
    bias: bool = True
    dropout: float = 0.0
    norm_eps: float = 1e-5
    position_base: float = 10_000.0

    def __post_init__(self) -> None:
        if self.n_kv_heads is None:
            object.__setattr__(self, "n_kv_heads", self.n_heads)
        if self.d_ff is None and isinstance(self.d_model, int):
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        check_types(self, "config")
        self._check_choices()
        self._check_sizes()
        self._check_heads()
        self._check_numbers()

    @property
    def d_head(self) -> int:
        """Width of one head: d_model / n_heads."""
        return self.d_model // self.n_heads

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Build a config from parsed JSON or TOML; an unknown or missing key is a ValueError.

        null stands for a size that follows from others. `model.architectures.table.config_of` finds
        the config of the architecture that the fields name.
        """
        given = {
            name: x for name, x in fields.items() if name not in _derived(cls) or x is not None
        }
        named = given.pop("architecture", cls.architecture)
        if named != cls.architecture:
            raise ValueError(f"the config is of a {named!r}; this needs a {cls.architecture!r}")
        return from_fields(cls, given, "config")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON, and the architecture they are of."""
        return {"architecture": self.architecture, **dataclasses.asdict(self)}

    def _check_choices(self) -> None:
        for name, choices in self.choices.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"config: {name} is {value!r}; choose one of {', '.join(choices)}")

    def _check_sizes(self) -> None:
        for name in self.sizes:
            if getattr(self, name) < 1:
                raise ValueError(f"config: {name} is {getattr(self, name)}; it must be at least 1")

    def _check_heads(self) -> None:
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

    def _check_numbers(self) -> None:
        if not 0 < self.norm_eps < math.inf:
            raise ValueError(f"config: norm_eps is {self.norm_eps}; it must be above 0 and finite")
        if not 1 < self.position_base < math.inf:
            raise ValueError(
                f"config: position_base is {self.position_base}; it must be above 1 and finite"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(
                f"config: dropout is {self.dropout}; it must be at least 0 and below 1"
            )


def _derived(config: type[BlockConfig]) -> set[str]:
    return {field.name for field in dataclasses.fields(config) if field.default is _DERIVED}


@dataclass(frozen=True, kw_only=True)
class DecoderConfig(BlockConfig):
    """A decoder-only Transformer.

    `window` counts the positions a token may attend to under the sliding-window mask, itself
    included; `prefix_len` counts the first tokens that attend to each other under the prefix mask;
    `n_global` counts the first tokens that all attend to, whatever the window, under the mask of
    global tokens. `scale_embeddings` multiplies embeddings by √d_model (Vaswani et al. 2017, §3.4).
    """

    architecture: ClassVar[str] = "decoder"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {**BlockConfig.choices, "mask": MASK_NAMES}
    sizes: ClassVar[tuple[str, ...]] = ("vocab_size", *BlockConfig.sizes)

    vocab_size: int
    mask: str = "causal"
    window: int = 0
    prefix_len: int = 0
    n_global: int = 0
    tied_embeddings: bool = True
    scale_embeddings: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mask in ("sliding_window", "global_tokens") and self.window < 1:
            raise ValueError(
                f"config: mask is {self.mask} but window is {self.window}; "
                "set window to the number of positions each token may attend to (at least 1)"
            )
        for name in ("prefix_len", "n_global"):
            if not 0 <= getattr(self, name) <= self.max_seq_len:
                raise ValueError(
                    f"config: {name} {getattr(self, name)} is outside 0 to max_seq_len "
                    f"{self.max_seq_len}"
                )
