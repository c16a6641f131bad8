"""What keys and values cost in models of other shapes: bytes, counted from published sizes."""

from dataclasses import dataclass

from model.kv_cache import cache_bytes

GROUPED_KV_HEADS = 8  # of Llama 2 70B and of most since


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """The sizes of a published model that its cache depends on, and where they are published.

    `latent` counts the values kept of a token in each layer in place of keys and values, 0 where
    keys and values themselves are kept. `window` bounds the tokens kept, 0 where all are.
    """

    name: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    max_seq_len: int
    source: str
    latent: int = 0
    window: int = 0


def latent_bytes(n_layers: int, n_latent: int, seq_len: int, bytes_per_value: int = 2) -> int:
    """Bytes of a latent of `n_latent` values per token and layer: L · n_latent · T · bytes.

    (DeepSeek-AI 2024, §2.1.4.) It stands for keys and values both, so there is no factor 2.
    """
    return n_layers * n_latent * seq_len * bytes_per_value


def latent_size(d_head: int) -> int:
    """Values of a latent in DeepSeek-V2's proportion: 4 · Dh compressed, Dh / 2 with positions.

    (DeepSeek-AI 2024, §2.1.4: 512 + 64 where Dh is 128.)
    """
    return 4 * d_head + d_head // 2


def published_bytes(model: KnownModel, n_tokens: int, bytes_per_value: int = 2) -> int:
    """Bytes of a known model's cache of `n_tokens`, laid out as published."""
    kept = _kept(model, n_tokens)
    if model.latent:
        return latent_bytes(model.n_layers, model.latent, kept, bytes_per_value)
    return cache_bytes(model.n_layers, model.n_kv_heads, model.d_head, kept, bytes_per_value)


def cache_variants(model: KnownModel, n_tokens: int) -> dict[str, int | None]:
    """Bytes of a known model's cache of `n_tokens` as published and in four other layouts.

    All in 2 bytes per value but `eight_bits`. `grouped` is None where its heads are no multiple of
    8 and so cannot share 8 key-value heads.
    """
    kept = _kept(model, n_tokens)
    can_share = model.n_heads % GROUPED_KV_HEADS == 0
    layers, d_head = model.n_layers, model.d_head
    return {
        "published": published_bytes(model, n_tokens),
        "eight_bits": published_bytes(model, n_tokens, bytes_per_value=1),
        "full_heads": cache_bytes(layers, model.n_heads, d_head, kept),
        "grouped": cache_bytes(layers, GROUPED_KV_HEADS, d_head, kept) if can_share else None,
        "latent": latent_bytes(layers, latent_size(d_head), kept),
    }


def _kept(model: KnownModel, n_tokens: int) -> int:
    """Tokens whose keys and values are kept: those of the window, where there is one."""
    return min(n_tokens, model.window) if model.window else n_tokens
