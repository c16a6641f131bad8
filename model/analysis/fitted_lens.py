"""A lens that is fitted: one affine map a layer, by least squares on text the model itself wrote.

Kin of the tuned lens (Belrose et al. 2023), whose maps are trained to lower the KL divergence. Here
each takes the stream after a layer as near as can be to the last one, in squares, and the final
norm and the unembedding read that.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from model.adopted.model import AnyDecoder
from model.kv_cache import KVCache
from model.masks import bidirectional_prefix
from model.sources.table import Runnable
from model.tap import Recorder, attach
from model.work import Work

ROWS, LENGTH = 96, 56  # texts, and tokens of each
EACH_HELD = 6  # of so many texts one is not fitted on
AT_ONCE = 8  # tokens of each text that are added up at once
RIDGE = 1e-4  # of the variance of each number of a stream
MOST_BYTES = 600_000_000  # that the sums of all layers may take
MULTIPLIED = 2e11  # products with the unembedding that the error may take
FEWEST, MOST = 64, 1024  # tokens that the error is measured on


@dataclass(frozen=True, eq=False)
class Errors:
    """What a lens says against what the model says in the end, by row, (L + 1,) each.

    `kl` is KL(final ‖ lens) in nats, `top1` how often the most likely token is the same.
    """

    kl: np.ndarray
    top1: np.ndarray


@dataclass(frozen=True, eq=False)
class FittedLens:
    """One affine map for each row of the lens but the last, which is the model's own.

    A stream h of row i is read as h A_i + b_i. `fitted` and `plain` are the errors of this lens and
    of the logit lens on the same `n_held` tokens of texts that it was not fitted on.
    """

    maps: np.ndarray  # (L, D, D)
    offsets: np.ndarray  # (L, D)
    n_fitted: int
    n_held: int
    plain: Errors
    fitted: Errors

    def moved(self, states: np.ndarray) -> np.ndarray:
        """Streams as the final norm is to read them. states: (L + 1, n, D)."""
        return np.concatenate([states[:-1] @ self.maps + self.offsets[:, None], states[-1:]])


Shares: TypeAlias = Generator[float, None, FittedLens]  # how much of it is done


class Fitting(Work):
    """A lens while it is fitted: texts are written, added up, solved for, and measured.

    ValueError where it would take too much memory, or the model writes no text.
    """

    def __init__(self, loaded: Runnable, seed: int = 0) -> None:
        model = loaded.decoder
        check_fits(model)
        self.found: FittedLens | None = None
        self._share = 0.0
        self._steps = fit(model, begins(loaded), seed)

    @property
    def progress(self) -> float:
        """See `Work`."""
        return 1.0 if self.found else self._share

    def go_on(self) -> bool:
        """See `Work`."""
        try:
            self._share = next(self._steps)
        except StopIteration as end:
            self.found = end.value
            return False
        return True


def check_fits(model: AnyDecoder) -> None:
    """ValueError where sums of all layers take too much memory, or texts cannot be written."""
    if bidirectional_prefix(model.config):
        raise ValueError("its first tokens attend to later ones: no lens is fitted to such a model")
    needed = 16 * model.n_blocks(model.name) * model.token_table.shape[-1] ** 2
    if needed > MOST_BYTES:
        raise ValueError(
            f"fitting a lens takes {needed / 1e9:.1f} GB for sums of its streams, more than "
            f"{MOST_BYTES / 1e9:.1f} GB: take a smaller model"
        )


def operations(model: AnyDecoder) -> float:
    """About how many multiplications and additions it takes to fit a lens."""
    weights = sum(weight.numel() for weight in model.parameters())
    return 2.0 * (weights * ROWS * LENGTH + how_many(model) * _products(model))


def begins(loaded: Runnable) -> tuple[list[int], bool]:
    """What a text begins with, and whether texts that people type do.

    Where the tokenizer puts nothing before a text, the token that ends one is what the first token
    is drawn after, and is taken away again: texts are as they are when they are typed.
    """
    tokenizer = loaded.tokenizer
    typed = tokenizer.encode(tokenizer.name(tokenizer.vocab_size // 2))
    start = list(takewhile(tokenizer.special_ids.__contains__, typed))
    return (start, True) if start else (sorted(loaded.end_ids)[:1], False)


def fit(model: AnyDecoder, start: tuple[list[int], bool], seed: int) -> Shares:
    """Write texts, fit on most of them, measure on the others; gives way with the share done."""
    is_held = np.arange(ROWS) % EACH_HELD == 0
    sums, texts = Sums(), Texts(model, start, seed)
    kept: list[Tensor] = []
    n_pieces = texts.length + 2 * model.n_blocks(model.name)
    for n, streams in enumerate(texts.written()):
        kept.append(streams)
        if len(kept) == AT_ONCE or n == texts.length - 1:
            sums.add(torch.cat([x[:, ~is_held] for x in kept], dim=1))
            kept = []
        texts.keep(streams[:, is_held])
        yield n / n_pieces
    return (yield from _solved(model, sums, texts, is_held))


def _solved(model: AnyDecoder, sums: "Sums", texts: "Texts", is_held: np.ndarray) -> Shares:
    """The maps of what is added up, and both lenses' errors at tokens that are held out."""
    n_layers, n = model.n_blocks(model.name), texts.length
    maps, offsets = [], []
    for layer in range(n_layers):
        weight, offset = sums.solved(layer)
        maps.append(weight)
        offsets.append(offset)
        yield (n + layer) / (n + 2 * n_layers)
    held = texts.held(is_held, how_many(model))
    plain, fitted = Errors(*np.zeros((2, n_layers + 1))), Errors(*np.zeros((2, n_layers + 1)))
    fitted.top1[-1] = plain.top1[-1] = 1
    with torch.inference_mode():
        final = model.read_out(held[-1]).log_softmax(dim=-1)
    for layer in range(n_layers):
        moved = held[layer] @ maps[layer].to(held) + offsets[layer].to(held)
        for errors, streams in ((plain, held[layer]), (fitted, moved)):
            errors.kl[layer], errors.top1[layer] = _against(model, streams, final)
        yield (n + n_layers + layer) / (n + 2 * n_layers)
    return FittedLens(
        torch.stack(maps).cpu().numpy(),
        torch.stack(offsets).cpu().numpy(),
        sums.n,
        held.shape[1],
        plain,
        fitted,
    )


def how_many(model: AnyDecoder) -> int:
    """How many tokens the errors are measured on, so that they take no longer than the fit."""
    return int(np.clip(MULTIPLIED / _products(model), FEWEST, MOST))


def _products(model: AnyDecoder) -> int:
    """Products with the unembedding for one token, read in both ways after every layer."""
    return 2 * (1 + model.n_blocks(model.name)) * model.token_table.numel()


@torch.inference_mode()
def _against(model: AnyDecoder, streams: Tensor, final: Tensor) -> tuple[float, float]:
    """KL and agreement with the final ln p, (n, V), of what streams (n, D) are read as."""
    said = model.read_out(streams).log_softmax(dim=-1)
    kl = (final.exp() * (final - said)).sum(dim=-1).mean()
    return float(kl), float((said.argmax(dim=-1) == final.argmax(dim=-1)).float().mean())


class Sums:
    """Sums over tokens of which least squares is made, of all rows of the lens at once.

    The first tokens' mean is taken off everywhere, so that large offsets cost no digits.
    """

    def __init__(self) -> None:
        self.n = 0
        self._shift: Tensor = torch.empty(0)  # (L + 1, D)
        self._means: Tensor = torch.empty(0)  # (L + 1, D), of what is left
        self._squares: Tensor = torch.empty(0)  # (L, D, D)
        self._products: Tensor = torch.empty(0)  # (L, D, D), with the last row's

    @torch.inference_mode()
    def add(self, streams: Tensor) -> None:
        """Add tokens. streams: (L + 1, n, D), of any device: sums are float64, the CPU's."""
        streams = streams.cpu()
        if not self.n:
            size = streams.shape[-1]
            empty = torch.zeros(len(streams) - 1, size, size, dtype=torch.float64)
            self._shift = streams.mean(dim=1)
            self._means = torch.zeros_like(self._shift, dtype=torch.float64)
            self._squares, self._products = empty, empty.clone()
        x = streams - self._shift[:, None]
        self.n += x.shape[1]
        self._means += x.double().sum(dim=1)
        self._squares += x[:-1].mT @ x[:-1]
        self._products += x[:-1].mT @ x[-1]

    @torch.inference_mode()
    def solved(self, layer: int) -> tuple[Tensor, Tensor]:
        """The map (D, D) and offset (D,) of one row, in float32: least squares, and a little ridge.

        The ridge is in shares of the variance of each number, whatever that is measured in.
        """
        mean, last = self._means[layer] / self.n, self._means[-1] / self.n
        squares = self._squares[layer] - self.n * mean[:, None] * mean
        products = self._products[layer] - self.n * mean[:, None] * last
        spread = squares.diagonal()
        ridge = RIDGE * spread + 1e-12 * spread.max()
        weight = torch.linalg.solve(squares + torch.diag(ridge), products).float()
        own, end = self._shift[layer].double() + mean, self._shift[-1].double() + last
        return weight, (end - own @ weight.double()).float()


@dataclass(eq=False)
class Texts:
    """Texts that a model writes, each token drawn from its own distribution.

    `begins` is what `begins` gives. The streams of the first token are no part of what is fitted:
    it is where heads look that have nothing to look for, and its stream is unlike all others.
    """

    model: AnyDecoder
    begins: tuple[list[int], bool]
    seed: int
    ids: Tensor = field(init=False)  # (B, T), grows
    _held: list[Tensor] = field(default_factory=list)

    @property
    def length(self) -> int:
        """How many tokens of each are read."""
        room = self.model.config.max_seq_len - len(self.begins[0])
        return max(1, min(LENGTH, room) - 1)

    @torch.inference_mode()
    def written(self) -> Iterator[Tensor]:
        """Write them: the streams of each token after the first, of all texts, (L + 1, B, D)."""
        model, (start, is_typed) = self.model, self.begins
        draw = torch.Generator(model.device).manual_seed(self.seed)
        new = torch.tensor([start], device=model.device).expand(ROWS, -1)
        self.ids = new if is_typed else _drawn(model(new)[:, -1], draw)
        capacity = self.ids.shape[1] + self.length
        device, dtype = model.device, model.dtype
        cache = KVCache(model.config, capacity, batch_size=ROWS, device=device, dtype=dtype)
        new = self.ids
        for place in range(self.length + 1):
            recorder = Recorder({"resid_pre", "resid_post"})
            logits = model(new, tap=attach(recorder), cache=cache)[:, -1]
            if place:
                yield self._streams(recorder)
            new = _drawn(logits, draw)
            self.ids = torch.cat([self.ids, new], dim=1)

    def keep(self, streams: Tensor) -> None:
        """Keep streams of texts that are held out. streams: (L + 1, B held, D)."""
        self._held.append(streams)

    def held(self, is_held: np.ndarray, n: int) -> Tensor:
        """Streams of up to n tokens that are held out, (L + 1, n, D).

        Texts may begin alike: a token that comes after the same tokens in one that was fitted on
        has the very same streams, and is left out.
        """
        rows, first = self.ids.tolist(), self.ids.shape[1] - 1 - len(self._held)
        seen = {tuple(row[:end]) for row, out in zip(rows, is_held, strict=True) if not out
                for end in range(first, len(row))}  # fmt: skip
        own = [row for row, out in zip(rows, is_held, strict=True) if out]
        new = [(at, row) for at in range(len(self._held)) for row, ids in enumerate(own)
               if tuple(ids[: first + at + 1]) not in seen]  # fmt: skip
        places = np.linspace(0, len(new) - 1, min(n, len(new))).round().astype(int)
        return torch.stack([self._held[at][:, row] for at, row in (new[i] for i in places)], dim=1)

    def _streams(self, recorder: Recorder) -> Tensor:
        """The rows of the lens at the last token of each text, (L + 1, B, D), in float32."""
        blocks = f"{self.model.name}.blocks"
        after = range(self.model.n_blocks(self.model.name))
        names = [f"{blocks}.0.resid_pre", *(f"{blocks}.{i}.resid_post" for i in after)]
        return torch.stack([recorder.values[name][:, -1] for name in names]).float()


def _drawn(logits: Tensor, draw: torch.Generator) -> Tensor:
    """A token of each row, (B, 1), from logits (B, V)."""
    return torch.multinomial(logits.float().softmax(dim=-1), 1, generator=draw)
