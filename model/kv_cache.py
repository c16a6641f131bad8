"""The cache of keys and values: what a decoder need not compute again for the next token.

A token's keys and values depend only on what it may see, so under a mask that hides the future
they are final once computed (Shazeer 2019, §2.4, "incremental"). Keys are kept as they enter the
product, after RoPE; a cache belongs to one stream of tokens, never to the model.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from model.config import BlockConfig

Projection = Callable[[], tuple[Tensor, Tensor]]  # keys and values, (B, n_kv_heads, T, Dh) each


def cache_bytes(
    n_layers: int,
    n_kv_heads: int,
    d_head: int,
    seq_len: int,
    bytes_per_value: int = 2,
    batch: int = 1,
) -> int:
    """Bytes of the keys and values of `seq_len` tokens: 2 · L · n_kv_heads · Dh · T · bytes · B.

    (Pope et al. 2022, §3.3.) 2 bytes per value is half precision.
    """
    return 2 * n_layers * n_kv_heads * d_head * seq_len * bytes_per_value * batch


class KeysAndValues(Protocol):
    """What attention needs of a cache of one layer."""

    @property
    def start(self) -> int:
        """Position of the first new token: how many are held already."""
        ...

    def extended(self, project: Projection) -> tuple[Tensor, Tensor]:
        """Keys and values of all tokens, (B, n_kv_heads, Tk, Dh) each; `project` gives new ones."""
        ...


class StaticLayerCache:
    """Keys and values of a source that does not change, such as an encoder's output.

    They are computed at the first call and given back at every later one (Vaswani et al. 2017,
    §3.2.3: "encoder-decoder attention").
    """

    start = 0

    def __init__(self) -> None:
        self.held: tuple[Tensor, Tensor] | None = None

    def extended(self, project: Projection) -> tuple[Tensor, Tensor]:
        """See `KeysAndValues`."""
        self.held = project() if self.held is None else self.held
        return self.held

    def reorder(self, rows: Tensor) -> None:
        """Row i becomes what row rows[i] was. rows: whole numbers, (new B,)."""
        if self.held is not None:
            self.held = (self.held[0][rows], self.held[1][rows])


class LayerCache:
    """Keys and values of one layer, in memory taken once: appending copies only what is new.

    `cross` has those of its cross-attention; it stays empty where there is none.
    """

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        """keys and values: room for capacity tokens, (B, n_kv_heads, capacity, Dh)."""
        self.keys, self.values = keys, values
        self.cross = StaticLayerCache()
        self.length = 0

    @property
    def start(self) -> int:
        """See `KeysAndValues`."""
        return self.length

    def extended(self, project: Projection) -> tuple[Tensor, Tensor]:
        """See `KeysAndValues`."""
        return self.append(*project())

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write the keys and values of new tokens; give back those of all tokens so far.

        k and v: (B, n_kv_heads, Tq, Dh). Returns (B, n_kv_heads, Tk, Dh) each, views of the cache.
        The new ones count as held once every layer has them: see `KVCache.advance`.
        """
        start, n_new = self.length, k.shape[2]
        self.keys.narrow(2, start, n_new).copy_(k)
        self.values.narrow(2, start, n_new).copy_(v)
        return self.keys.narrow(2, 0, start + n_new), self.values.narrow(2, 0, start + n_new)

    def held(self) -> tuple[Tensor, Tensor]:
        """Keys and values of the tokens held, (B, n_kv_heads, length, Dh) each, views."""
        return self.keys.narrow(2, 0, self.length), self.values.narrow(2, 0, self.length)

    def reorder(self, rows: Tensor) -> None:
        """Row i becomes what row rows[i] was. rows: whole numbers, (new B,)."""
        self.cross.reorder(rows)
        held = [x[rows] for x in self.held()]
        if len(rows) != len(self.keys):
            self.keys, self.values = (
                x.new_empty(len(rows), *x.shape[1:]) for x in (self.keys, self.values)
            )
        self.keys.narrow(2, 0, self.length).copy_(held[0])
        self.values.narrow(2, 0, self.length).copy_(held[1])


class KVCache:
    """Keys and values of every layer, (B, n_kv_heads, capacity, Dh) each, for one call's tokens.

    Layers may differ in their sizes, and values from keys: see `kv_shapes` of a config.

    Hand it to the model with the new tokens, many (prefill) or one (decoding). No gradient flows
    through it: use it under `torch.inference_mode`. `capacity` counts tokens and is by default
    the model's context. Raises ValueError for a capacity or a batch below 1.
    """

    def __init__(
        self,
        config: BlockConfig,
        capacity: int | None = None,
        *,
        batch_size: int = 1,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.capacity = config.max_seq_len if capacity is None else capacity
        if self.capacity < 1 or batch_size < 1:
            raise ValueError(
                f"a cache for {self.capacity} tokens in {batch_size} rows holds nothing; give at "
                "least 1 of each"
            )
        self.layers = tuple(
            LayerCache(
                *(
                    torch.empty(batch_size, n, self.capacity, width, device=device, dtype=dtype)
                    for width in widths
                )
            )
            for n, *widths in config.kv_shapes
        )

    @property
    def length(self) -> int:
        """Tokens held."""
        return self.layers[0].length

    @property
    def batch_size(self) -> int:
        """Rows, each a text of its own."""
        return len(self.layers[0].keys)

    @property
    def bytes_held(self) -> int:
        """Bytes of the keys and values of the tokens held now."""
        return self.bytes_reserved // self.capacity * self.length

    @property
    def bytes_of_source(self) -> int:
        """Bytes of the keys and values of cross-attention, which do not grow; 0 without any."""
        held = (layer.cross.held or () for layer in self.layers)
        return sum(x.nbytes for pair in held for x in pair)

    @property
    def bytes_reserved(self) -> int:
        """Bytes taken from the machine, for as many tokens as fit."""
        return sum(layer.keys.nbytes + layer.values.nbytes for layer in self.layers)

    def check_room(self, n_rows: int, n_new: int) -> None:
        """ValueError when so many new tokens, (n_rows, n_new), do not fit."""
        if n_rows != self.batch_size:
            raise ValueError(
                f"the ids have {n_rows} rows but the cache has {self.batch_size}; make it with "
                f"batch_size {n_rows}"
            )
        if self.length + n_new > self.capacity:
            raise ValueError(
                f"the cache holds {self.length} tokens and has room for {self.capacity}, so "
                f"{n_new} more do not fit; make it with capacity {self.length + n_new}"
            )

    def advance(self, n_new: int) -> None:
        """Count tokens that all layers have appended; a forward pass that broke off counts none."""
        for layer in self.layers:
            layer.length += n_new

    def truncate(self, length: int) -> None:
        """Forget all but the first `length` tokens; ValueError when it holds fewer."""
        if not 0 <= length <= self.length:
            raise ValueError(
                f"the cache holds {self.length} tokens and cannot be cut to {length}; give 0 to "
                f"{self.length}"
            )
        for layer in self.layers:
            layer.length = length

    def reorder(self, rows: Sequence[int]) -> None:
        """Row i becomes what row rows[i] was; rows may repeat, be left out, be more or fewer.

        Raises ValueError when there is no such row, or none is left.
        """
        if not rows or not all(0 <= row < self.batch_size for row in rows):
            raise ValueError(
                f"rows {list(rows)} of a cache with {self.batch_size}; give at least one, each "
                f"0 to {self.batch_size - 1}"
            )
        if list(rows) == list(range(self.batch_size)):
            return
        index = torch.tensor(rows, device=self.layers[0].keys.device)
        for layer in self.layers:
            layer.reorder(index)
