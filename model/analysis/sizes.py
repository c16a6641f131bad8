"""Parameters, operations and memory of a Transformer, counted from its sizes alone.

A `Shape` holds what they depend on, for a decoder, an encoder, both together, or a Vision
Transformer. Operations are those of matrix products, two for each product and sum (Kaplan et al.
2020, §2.1); softmax, norms and activations are not counted, as usual.
"""

from dataclasses import dataclass

from model.analysis.cost import latent_bytes
from model.analysis.seen import Seen
from model.config import BlockConfig
from model.kv_cache import cache_bytes

ADAM_BYTES = 16  # a parameter: its weight, gradient and two moments (Rajbhandari et al. 2020, §3.1)
PARTS = ("embedding", "positions", "attention", "MLP", "norms", "unembedding")


@dataclass(frozen=True, kw_only=True)
class Latent:
    """Multi-head latent attention (DeepSeek-AI 2024, §2.1): sizes of a head and of its latents.

    Queries come from a latent of `query` values, keys and values from one of `kv`; of a head's
    query and key `rope` values are rotated and `plain` ones are not; `rope` of the key is shared.
    """

    query: int
    kv: int
    rope: int
    plain: int
    value: int


@dataclass(frozen=True, kw_only=True)
class Experts:
    """A mixture of experts in place of the feed-forward (Dai et al. 2024, §3).

    Of `routed` experts each token takes `active`, and all `shared` ones. The first `dense` layers
    have an ordinary feed-forward; `has_bias` says that the router has one (Wang et al. 2024).
    """

    routed: int
    shared: int
    active: int
    d_expert: int
    dense: int = 0
    has_bias: bool = False


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The sizes of a model. ValueError where they cannot go together, with the numbers.

    `n_encoder_layers` are the blocks of an encoder that all `n_layers` attend to besides, 0 where
    there is none. `patch` counts the pixels of a patch where pictures enter in place of ids; then
    `vocab_size` is the number of classes. `is_causal` says that keys and values can be kept for
    later tokens. `positions` is the number of learned position vectors, 0 where there are none.
    `norm_vectors` are those of one norm: 2 with a gain and a shift, 1 with a gain alone. `biases`
    says whether linear layers have any.
    """

    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    d_ff: int
    vocab_size: int
    positions: int = 0
    norm_vectors: int = 1
    biases: bool = False
    gated: bool = False
    tied: bool = False
    final_norm: bool = True
    n_encoder_layers: int = 0
    patch: int = 0
    is_causal: bool = True
    latent: Latent | None = None
    experts: Experts | None = None

    def __post_init__(self) -> None:
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"{self.n_heads} heads cannot share {self.n_kv_heads} KV heads evenly; take a "
                f"divisor of {self.n_heads}"
            )

    @property
    def n_attentions(self) -> int:
        """Attentions of all layers, those of a decoder to an encoder with them."""
        return self.n_encoder_layers + self.n_layers * (2 if self.n_encoder_layers else 1)

    @property
    def n_blocks(self) -> int:
        """Blocks of both stacks."""
        return self.n_encoder_layers + self.n_layers

    @property
    def n_stacks(self) -> int:
        """An encoder and a decoder are two."""
        return 2 if self.n_encoder_layers else 1


def shape_of(config: BlockConfig) -> Shape:
    """The shape of one of our models, whatever its architecture, by its config."""
    return Shape(
        n_layers=config.n_layers,
        d_model=config.d_model,
        n_heads=config.n_heads,
        n_kv_heads=config.n_kv_heads,
        d_head=config.d_head,
        d_ff=config.d_ff,
        vocab_size=getattr(config, "vocab_size", 0) or getattr(config, "n_classes", 0),
        positions=config.max_seq_len if config.position == "learned" else 0,
        norm_vectors=1 + (config.norm == "layer" and config.bias),
        biases=config.bias,
        gated=config.feedforward == "swiglu",
        tied=getattr(config, "tied_embeddings", False),
        final_norm=config.norm_placement == "pre",
        n_encoder_layers=getattr(config, "n_encoder_layers", 0),
        patch=getattr(config, "patch_size", 0) ** 2,
        is_causal=hasattr(config, "mask"),  # an encoder's config has none
    )


# --- parameters -------------------------------------------------------------------------------


def attention_parameters(shape: Shape) -> int:
    """Weights of one layer's attention, biases with them: 4·D² where every head has its own k, v.

    (Vaswani et al. 2017, §3.2.2.)
    """
    latent, d_model, n_heads = shape.latent, shape.d_model, shape.n_heads
    if latent is not None:
        own = latent.plain + latent.rope
        queries = latent.query * (d_model + n_heads * own)
        down = d_model * (latent.kv + latent.rope)
        up = latent.kv * n_heads * (latent.plain + latent.value)
        return queries + down + up + n_heads * latent.value * d_model
    wide, narrow = n_heads * shape.d_head, shape.n_kv_heads * shape.d_head
    biases = (wide + 2 * narrow + d_model) * shape.biases
    return 2 * d_model * wide + 2 * d_model * narrow + biases


def feedforward_parameters(shape: Shape, d_ff: int | None = None) -> int:
    """Weights of one feed-forward: 2·D·F, with a gate 3·D·F (Shazeer 2020, §2), and biases."""
    wide = shape.d_ff if d_ff is None else d_ff
    n_up = 2 if shape.gated else 1
    biases = (n_up * wide + shape.d_model) * shape.biases
    return (n_up + 1) * shape.d_model * wide + biases


def parameters(shape: Shape | Seen, *, only_active: bool = False) -> dict[str, int]:
    """Weights by part, see `PARTS`; `only_active` counts those that one token goes through.

    Tied embeddings count once, as the embedding, and so does one that two stacks share. Of pictures
    the embedding is the map of a patch with the class token (Dosovitskiy et al. 2021, eq. 1).
    """
    if isinstance(shape, Seen):
        return shape.weights
    table = shape.vocab_size * shape.d_model
    of_patch = (shape.patch + shape.biases + 1) * shape.d_model
    of_classes = table + shape.vocab_size * shape.biases
    return {
        "embedding": of_patch if shape.patch else table,
        "positions": shape.n_stacks * shape.positions * shape.d_model,
        "attention": shape.n_attentions * attention_parameters(shape),
        "MLP": _all_feedforwards(shape, only_active),
        "norms": _norms(shape),
        "unembedding": of_classes if shape.patch else 0 if shape.tied else table,
    }


def _all_feedforwards(shape: Shape, only_active: bool) -> int:
    experts = shape.experts
    if experts is None:
        return shape.n_blocks * feedforward_parameters(shape)
    n_used = experts.shared + (experts.active if only_active else experts.routed)
    router = experts.routed * (shape.d_model + experts.has_bias)
    sparse = n_used * feedforward_parameters(shape, experts.d_expert) + router
    dense = experts.dense * feedforward_parameters(shape)
    return dense + (shape.n_layers - experts.dense) * sparse


def _norms(shape: Shape) -> int:
    """One before each attention and feed-forward, of latents two more, and the final ones."""
    n_norms = shape.n_attentions + shape.n_blocks + shape.n_stacks * shape.final_norm
    of_stream = n_norms * shape.norm_vectors * shape.d_model
    latents = shape.latent.query + shape.latent.kv if shape.latent else 0
    return of_stream + shape.n_layers * latents


# --- operations -------------------------------------------------------------------------------


def operations(shape: Shape | Seen, n_keys: int) -> dict[str, int]:
    """Operations of one token that attends to `n_keys`, by part: two for each weight it meets.

    With an encoder, of one token of the source and one of the target. Of a picture, of one patch:
    its embedding stands in place of the unembedding, which one token of a picture meets alone.
    q·kᵀ and the weighted sum of values take 2 · n · d each in every head, whatever the weights
    (Kaplan et al. 2020, table 1); a mask saves none of it here.
    """
    if isinstance(shape, Seen):
        return shape.operations(n_keys)
    active, added = parameters(shape, only_active=True), _biases(shape)
    latent = shape.latent
    of_head = latent.plain + latent.rope + latent.value if latent else 2 * shape.d_head
    unembedding = 2 * shape.vocab_size * shape.d_model
    ends = (
        {"patches": 2 * shape.patch * shape.d_model}
        if shape.patch
        else {"unembedding": unembedding}
    )
    return {
        "projections": 2 * (active["attention"] - added["attention"]),
        "attention": 2 * shape.n_attentions * shape.n_heads * of_head * n_keys,
        "MLP": 2 * (active["MLP"] - added["MLP"]),
        **ends,
    }


def pass_operations(shape: Shape, n_tokens: int) -> int:
    """Operations of one forward pass over `n_tokens`, of source and target each where both are.

    Of a picture the first token is the class token: it is no patch, and is alone unembedded.
    """
    of_token = operations(shape, n_tokens)
    total = n_tokens * sum(of_token.values())
    if not shape.patch:
        return total
    return total - of_token["patches"] + 2 * shape.vocab_size * shape.d_model


def _biases(shape: Shape) -> dict[str, int]:
    """Weights that are added and not multiplied with."""
    experts, n_layers = shape.experts, shape.n_layers
    of_router = (n_layers - experts.dense) * experts.routed * experts.has_bias if experts else 0
    if not shape.biases:
        return {"attention": 0, "MLP": of_router}
    of_heads = (shape.n_heads + 2 * shape.n_kv_heads) * shape.d_head + shape.d_model
    of_feedforward = (2 if shape.gated else 1) * shape.d_ff + shape.d_model
    return {
        "attention": shape.n_attentions * of_heads,
        "MLP": shape.n_blocks * of_feedforward,
    }


# --- memory -----------------------------------------------------------------------------------


def memory(shape: Shape | Seen, n_tokens: int, bytes_per_value: int = 2) -> dict[str, int]:
    """Bytes that weights, caches and maps of attention take, for one text of `n_tokens`.

    `training` is for weights, gradients and the moments of Adam alone, 16 bytes a parameter
    (Rajbhandari et al. 2020, §3.1). `cache` is 0 without a causal mask; with an encoder it has its
    keys and values too, for a source of as many tokens. `maps` are the weights of all heads over
    each other's tokens, n² a head, which FlashAttention never keeps (Dao et al. 2022).
    """
    total = sum(parameters(shape).values())
    of_weights = {"weights": total * bytes_per_value, "training": total * ADAM_BYTES}
    if isinstance(shape, Seen):
        return of_weights | shape.memory(n_tokens, bytes_per_value)
    layers, latent = shape.is_causal * shape.n_stacks * shape.n_layers, shape.latent
    cached = (
        latent_bytes(layers, latent.kv + latent.rope, n_tokens, bytes_per_value)
        if latent
        else cache_bytes(layers, shape.n_kv_heads, shape.d_head, n_tokens, bytes_per_value)
    )
    return {
        **of_weights,
        "cache": cached,
        "maps": shape.n_attentions * shape.n_heads * n_tokens * n_tokens * bytes_per_value,
    }


# --- kinds of layers --------------------------------------------------------------------------


@dataclass(frozen=True)
class LayerCost:
    """What one layer of a kind takes for n tokens of size d (Vaswani et al. 2017, table 1)."""

    name: str
    operations: float
    sequential: float
    path: float


def layer_costs(n: int, d: int, kernel: int, window: int) -> tuple[LayerCost, ...]:
    """Operations, steps that wait for each other, and the longest path between two tokens.

    The orders of Vaswani et al. 2017, table 1, with their constants taken as one; the convolution
    is dilated, its path log_k n.
    """
    reach, steps = float(kernel), 1
    while reach < n:
        reach, steps = reach * kernel, steps + 1
    return (
        LayerCost("self-attention", n * n * d, 1, 1),
        LayerCost("recurrent", n * d * d, n, n),
        LayerCost("convolutional", kernel * n * d * d, 1, steps),
        LayerCost("self-attention in a window", min(window, n) * n * d, 1, -(-n // window)),
    )
