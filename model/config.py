"""The sizes and the variants of a model, as frozen dataclasses that refuse nonsense.

`BlockConfig` has what every Transformer has; each architecture adds a small config of its own.
"""

import dataclasses
import reprlib
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from model.fields import check_types, from_fields
from model.lines import quoted

POSITION_NAMES = ("sinusoidal", "learned", "rope", "alibi", "none")
ADDED_POSITIONS = ("sinusoidal", "learned", "none")  # schemes that do not touch the scores
NORM_NAMES = ("layer", "rms")
NORM_PLACEMENTS = ("pre", "post")
FEEDFORWARD_NAMES = ("relu", "gelu", "gelu_tanh", "swiglu")
MASK_NAMES = ("causal", "sliding_window", "prefix", "global_tokens")

# More than any model known; files are not believed beyond it.
LARGEST_SIZE = 2**20
MOST_LAYERS = 2**10
LARGEST_NUMBER = 1e15

_DERIVED: Any = None  # stands until __post_init__ has worked the field out from others


class ModelConfig:
    """What the config of every architecture says, and how it is read and written.

    Each is a frozen dataclass. `max_seq_len` bounds what a model is given.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    architecture: ClassVar[str]
    predicts: ClassVar[str]  # what the output is about, see `model.trace.Facts`
    choices: ClassVar[dict[str, tuple[str, ...]]] = {}
    sizes: ClassVar[tuple[str, ...]]
    max_seq_len: int

    @property
    def in_words(self) -> str:
        """Its sizes in a line."""
        return ", ".join(f"{name} {getattr(self, name)}" for name in self.sizes)

    def numbers_of_token(self, longest: int) -> int:
        """Numbers that training keeps of each token, roughly, in rows of so many."""
        raise NotImplementedError

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

    def _check_sizes(self) -> None:
        for name in self.sizes:
            value, most = getattr(self, name), _largest(name)
            if not 1 <= value <= most:
                raise ValueError(
                    f"config: {name} is {reprlib.repr(value)}; it must be at least 1 and at most "
                    f"{most:,}"
                )


@dataclass(frozen=True, kw_only=True)
class BlockConfig(ModelConfig):
    """The sizes and variants of a stack of blocks.

    `n_kv_heads` defaults to `n_heads` (every head has its own keys and values) and `d_ff` to
    four times `d_model`. `dropout` is the share of values dropped while training (Vaswani et al.
    2017, §5.4), and `attention_dropout`, by default the same, the share of weights of a pattern;
    outside of training none is.

    Raises ValueError naming the numbers and the remedy when the fields do not fit together.
    """

    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "position": POSITION_NAMES,
        "norm": NORM_NAMES,
        "norm_placement": NORM_PLACEMENTS,
        "feedforward": FEEDFORWARD_NAMES,
    }
    sizes: ClassVar[tuple[str, ...]] = (
        "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff", "max_seq_len",
    )  # fmt: skip

    n_together: ClassVar[int] = 0  # see `bidirectional_prefix`

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
    attention_dropout: float = _DERIVED
    norm_eps: float = 1e-5
    position_base: float = 10_000.0

    def __post_init__(self) -> None:
        if self.n_kv_heads is None:
            object.__setattr__(self, "n_kv_heads", self.n_heads)
        if self.d_ff is None and isinstance(self.d_model, int):
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        if self.attention_dropout is None:
            object.__setattr__(self, "attention_dropout", self.dropout)
        check_types(self, "config")
        self._check_choices()
        self._check_sizes()
        self._check_heads()
        self._check_numbers()

    @property
    def d_head(self) -> int:
        """Width of one head: d_model / n_heads."""
        return self.d_model // self.n_heads

    @property
    def kv_shapes(self) -> tuple[tuple[int, int, int], ...]:
        """Of each layer the KV heads, and the width of their keys and of their values."""
        return ((self.n_kv_heads, self.d_head, self.d_head),) * self.n_layers

    @property
    def in_words(self) -> str:
        """See `ModelConfig`."""
        return f"of {self.n_layers} layers × {self.n_heads} heads, d_model {self.d_model}"

    def numbers_of_token(self, longest: int) -> int:
        """See `ModelConfig`."""
        n_layers = self.n_layers + getattr(self, "n_encoder_layers", 0)
        return n_layers * (20 * self.d_model + 5 * self.d_ff + 3 * self.n_heads * longest)

    def _check_choices(self) -> None:
        for name, choices in self.choices.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(
                    f"config: {name} is {quoted(value)!r}; choose one of {', '.join(choices)}"
                )

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
        for name, least in (("norm_eps", 0), ("position_base", 1)):
            value = getattr(self, name)
            if not least < value <= LARGEST_NUMBER:
                raise ValueError(
                    f"config: {name} is {reprlib.repr(value)}; it must be above {least} and at "
                    f"most {LARGEST_NUMBER:.0e}"
                )
        for name in ("dropout", "attention_dropout"):
            share = getattr(self, name)
            if not 0 <= share < 1:
                raise ValueError(
                    f"config: {name} is {reprlib.repr(share)}; it must be at least 0 and below 1"
                )


def _largest(size: str) -> int:
    return MOST_LAYERS if size.endswith("_layers") else LARGEST_SIZE


def _derived(config: type[ModelConfig]) -> set[str]:
    return {field.name for field in dataclasses.fields(config) if field.default is _DERIVED}


@dataclass(frozen=True, kw_only=True)
class TextConfig(BlockConfig):
    """What has a vocabulary.

    `scale_embeddings` multiplies embeddings by √d_model (Vaswani et al. 2017, §3.4).
    """

    sizes: ClassVar[tuple[str, ...]] = ("vocab_size", *BlockConfig.sizes)

    vocab_size: int
    tied_embeddings: bool = True
    scale_embeddings: bool = False


@dataclass(frozen=True, kw_only=True)
class DecoderConfig(TextConfig):
    """A decoder-only Transformer.

    `window` counts the positions a token may attend to under the sliding-window mask, itself
    included; `prefix_len` counts the first tokens that attend to each other under the prefix mask;
    `n_global` counts the first tokens that all attend to, whatever the window, under the mask of
    global tokens.
    """

    architecture: ClassVar[str] = "decoder"
    predicts: ClassVar[str] = "next token"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {**BlockConfig.choices, "mask": MASK_NAMES}

    mask: str = "causal"
    window: int = 0
    prefix_len: int = 0
    n_global: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window > LARGEST_SIZE:
            raise ValueError(
                f"config: window is {reprlib.repr(self.window)}; it must be at most "
                f"{LARGEST_SIZE:,}"
            )
        if self.mask in ("sliding_window", "global_tokens") and self.window < 1:
            raise ValueError(
                f"config: mask is {self.mask} but window is {self.window}; "
                "set window to the number of positions each token may attend to (at least 1)"
            )
        for name in ("prefix_len", "n_global"):
            value = getattr(self, name)
            if not 0 <= value <= self.max_seq_len:
                raise ValueError(
                    f"config: {name} {reprlib.repr(value)} is outside 0 to max_seq_len "
                    f"{self.max_seq_len}; change one of them"
                )


@dataclass(frozen=True, kw_only=True)
class EncoderConfig(TextConfig):
    """An encoder: every token attends to every other, as in BERT (Devlin et al. 2019)."""

    architecture: ClassVar[str] = "encoder"
    predicts: ClassVar[str] = "hidden token"


@dataclass(frozen=True, kw_only=True)
class EncoderDecoderConfig(TextConfig):
    """An encoder and a decoder that attends to its output (Vaswani et al. 2017, fig. 1).

    `n_layers` counts the blocks of the decoder, `n_encoder_layers` those of the encoder, by default
    as many. Both read one vocabulary with one embedding. `max_seq_len` bounds source and target,
    each alone.
    """

    architecture: ClassVar[str] = "encoder_decoder"
    predicts: ClassVar[str] = "next token"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        **BlockConfig.choices,
        "position": ADDED_POSITIONS,
    }
    sizes: ClassVar[tuple[str, ...]] = (*TextConfig.sizes, "n_encoder_layers")
    mask: ClassVar[str] = "causal"  # of the decoder

    n_encoder_layers: int = _DERIVED

    def __post_init__(self) -> None:
        if self.n_encoder_layers is None:
            object.__setattr__(self, "n_encoder_layers", self.n_layers)
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class VisionConfig(BlockConfig):
    """A Vision Transformer over square grey pictures cut into patches (Dosovitskiy et al. 2021).

    `image_size` and `patch_size` count pixels along one side. `max_seq_len` follows from them: the
    patches, and the class token before them.
    """

    architecture: ClassVar[str] = "vision"
    predicts: ClassVar[str] = "class"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        **BlockConfig.choices,
        "position": ADDED_POSITIONS,
    }
    sizes: ClassVar[tuple[str, ...]] = (
        *BlockConfig.sizes, "image_size", "patch_size", "n_classes",
    )  # fmt: skip

    max_seq_len: int = _DERIVED
    position: str = "learned"
    image_size: int
    patch_size: int
    n_classes: int

    def __post_init__(self) -> None:
        self._check_patches()
        n_tokens = self.n_patches + 1
        if self.max_seq_len is None:
            object.__setattr__(self, "max_seq_len", n_tokens)
        super().__post_init__()
        if self.max_seq_len != n_tokens:
            raise ValueError(
                f"config: max_seq_len is {self.max_seq_len} but there are {n_tokens - 1} patches "
                "and a class token; leave it out"
            )

    @property
    def n_patches(self) -> int:
        """Patches of a picture, P."""
        return (self.image_size // self.patch_size) ** 2

    def _check_patches(self) -> None:
        for name in ("image_size", "patch_size"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"config: {name} is {reprlib.repr(value)}; it must be a whole number of pixels"
                )
        if self.image_size % self.patch_size:
            raise ValueError(
                f"config: image_size {self.image_size} is not a multiple of patch_size "
                f"{self.patch_size}; change one of them so that patches fill the picture"
            )


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig(ModelConfig):
    """Gated units that read a source and write a target (Cho et al. 2014; Bahdanau et al. 2015).

    Sizes of the embedding E, of the states of each of the encoder's directions h, of the decoder's
    s, and of the hidden layer of additive attention a; without attention `n_attention` is 0.
    """

    architecture: ClassVar[str] = "recurrent"
    predicts: ClassVar[str] = "next token"
    sizes: ClassVar[tuple[str, ...]] = (
        "vocab_size", "n_embedding", "n_encoder", "n_decoder", "max_seq_len",
    )  # fmt: skip

    vocab_size: int
    n_embedding: int
    n_encoder: int
    n_decoder: int
    n_attention: int = 0
    max_seq_len: int

    def __post_init__(self) -> None:
        check_types(self, "config")
        self._check_sizes()
        if not 0 <= self.n_attention <= LARGEST_SIZE:
            raise ValueError(
                f"config: n_attention is {reprlib.repr(self.n_attention)}; it must be at least 0 "
                f"(no attention) and at most {LARGEST_SIZE:,}"
            )

    def numbers_of_token(self, longest: int) -> int:
        """See `ModelConfig`."""
        states = 10 * (2 * self.n_encoder + self.n_decoder)
        return states + 5 * (self.n_embedding + 2 * self.n_encoder) + 3 * self.n_attention * longest
