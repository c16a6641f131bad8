"""What a translation shows beside its trace, worked out once more from the files alone.

Losses of a target whose source is damaged, bytes of the cache's two parts, and cross-attention as
an alignment of words.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from model import reference
from model.verify.derived import log_softmax
from model.verify.named import Array, Made, Named
from model.verify.texts import Vocabulary

Ids = tuple[int, ...]
Change = Callable[[Array], Array]
BYTES = 4  # of a float32, in which the app runs
WORD = re.compile(r"[^\W_]+(?:['’](?=[^\W\d_])[^\W_]+)*|\S")  # letters and digits, or one sign
BROKEN = "surrogateescape"  # a part of a character stays as long as it is


def words_of_tokens(vocabulary: Vocabulary, ids: Sequence[int]) -> list[int]:
    """The word of each token, from 0: found in the text as a whole, (T,).

    White space is of the word after it.
    """
    pieces = [vocabulary[i] for i in ids]
    whole = b"".join(pieces)
    text = whole.decode(errors=BROKEN)
    words = list(WORD.finditer(text))
    starts = np.array([len(text[: word.start()].encode(errors=BROKEN)) for word in words] or [0])
    ends = np.cumsum([0, *map(len, pieces)])[:-1].tolist()
    begins = [len(whole) - len(whole[end:].lstrip()) for end in ends]
    owners = np.searchsorted(starts, begins, side="right") - 1
    found = np.unique(np.clip(owners, 0, None), return_inverse=True)[1]
    return found.tolist()


def summed(groups: Sequence[int]) -> Array:
    """1 where a token is of a word, (words, T)."""
    return (np.arange(max(groups) + 1)[:, None] == np.array(groups)).astype(float)


# --- one translation --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class IndependentTranslation(Named):
    """One source, ids with its end, and one target, ids with its start.

    Asked for by address: damage.losses (damages, words), in nats, of the target but its start,
    whose last token is a word of its own, and damage.lost, how much more in all; the order of what
    is shuffled is `seed`'s. parts.own and
    parts.of_source (Tt,) are bytes of keys and values after each token but the end was fed in,
    from none on: those of the source are there from the first.
    """

    files: reference.Files
    source: Ids
    target: Ids
    vocabulary: Vocabulary
    seed: int

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return self.vocabulary

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        return self.target

    def made(self) -> Made:
        """See `Named`."""
        return {
            "damage.losses": self.damaged,
            "damage.lost": self.lost,
            "parts.own": lambda: self.bytes_of_a_token * np.arange(len(self.target)),
            "parts.of_source": lambda: (
                self.bytes_of_a_token * len(self.source) * (np.arange(len(self.target)) > 0)
            ),
        }

    @property
    def bytes_of_a_token(self) -> int:
        """Of its key and its value, in every layer and head of the decoder."""
        config = self.files.config
        d_head = config["d_model"] // config["n_heads"]
        return config["n_layers"] * 2 * config["n_kv_heads"] * d_head * BYTES

    def order(self, n: int) -> list[int]:
        """The numbers below n as the seed shuffles them; never as they were."""
        found = np.random.default_rng(self.seed).permutation(n).tolist()
        return [*range(1, n), *range(min(n, 1))] if found == sorted(found) else found

    def damaged(self) -> Array:
        """Losses of each word under each damage, (damages, words)."""
        n = len(self.source)
        words = (*(self.source[i] for i in self.order(n - 1)), self.source[-1])
        order = self.order(n)
        losses = [
            self.losses(),
            self.losses("encoder.end", lambda x: x[order]),
            replace(self, source=words).losses(),
            self.losses("encoder.end", lambda x: np.broadcast_to(x.mean(axis=0), x.shape)),
        ]
        if self.files.config["position"] in ("sinusoidal", "learned"):
            losses.append(self.losses("encoder.positions", np.zeros_like))
        inner = words_of_tokens(self.vocabulary, self.target[1:-1])
        groups = [*inner, max(inner, default=-1) + 1]
        return np.stack(losses) @ summed(groups).T

    def lost(self) -> Array:
        """How much more each damage costs than none, (damages,)."""
        totals = self.array("damage.losses").sum(axis=1)
        return totals - totals[0]

    def losses(self, place: str = "", change: Change = np.asarray) -> Array:
        """−ln p of each token but the start, one array of the run changed. (Tt − 1,)."""

        def changed(name: str, array: Array) -> Array:
            return change(array) if name == place else array

        files = replace(self.files, change=changed)
        given = (np.array(self.source), np.array(self.target[:-1]))
        logits = dict(reference.arrays(files, given))["output"]
        return -log_softmax(logits)[np.arange(len(logits)), list(self.target[1:])]


# --- alignments -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linked:
    """A source, ids with its end, a target, ids with its start, and links made by hand."""

    source: Ids
    target: Ids
    links: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class IndependentAlignments(Named):
    """Cross-attention between the words of pairs, with the targets fed in.

    Asked for by address: align.words.3 is the mean of all heads for pair 3 (words of the target,
    of the source), align.words.3.1 that of layer 1, align.words.3.1.2 its head 2;
    align.agreement, likewise, the error rate, precision and recall over all pairs (Och & Ney 2003);
    align.rates (L, H + 1) the error rates of heads and, last, of a layer's mean. `is_input`: a
    token's row is the one it is fed in, else the one before, which predicts it.
    """

    files: reference.Files
    pairs: tuple[Linked, ...]
    vocabulary: Vocabulary
    is_input: bool

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return self.vocabulary

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        return self.pairs[0].target

    def made(self) -> Made:
        """See `Named`."""
        n_layers, n_heads = self.patterns[0].shape[:2]
        heads: dict[str, tuple[int, ...]] = {"": ()}
        heads |= {f".{i}": (i,) for i in range(n_layers)}
        heads |= {f".{i}.{h}": (i, h) for i in range(n_layers) for h in range(n_heads)}
        return {
            "align.rates": self.rates,
            **{f"align.agreement{at}": partial(self.agreement, of) for at, of in heads.items()},
            **{
                f"align.words.{number}{at}": partial(self.between, number, of)
                for number in range(len(self.pairs))
                for at, of in heads.items()
            },
        }

    @cached_property
    def patterns(self) -> list[Array]:
        """Cross-attention of each pair, (L, H, Tt, Ts)."""
        found = []
        for pair in self.pairs:
            given = (np.array(pair.source), np.array(pair.target))
            arrays = dict(reference.arrays(self.files, given))
            layers = range(self.files.config["n_layers"])
            found.append(
                np.stack([arrays[f"decoder.blocks.{i}.cross_attn.pattern"] for i in layers])
            )
        return found

    def between(self, number: int, of: tuple[int, ...]) -> Array:
        """Weights from each word of a target to each of its source, (words, words)."""
        pair, pattern = self.pairs[number], self.patterns[number][of]
        pattern = pattern.reshape(-1, *pattern.shape[-2:]).mean(axis=0)  # (Tt, Ts)
        rows = pattern[1:] if self.is_input else pattern[:-1]
        source = summed(words_of_tokens(self.vocabulary, pair.source[:-1]))
        target = summed(words_of_tokens(self.vocabulary, pair.target[1:]))
        own = rows[:, : source.shape[1]] @ source.T
        return (target @ own) / target.sum(axis=1, keepdims=True)

    def agreement(self, of: tuple[int, ...]) -> Array:
        """Error rate, precision and recall of the largest weight of each row, (3,)."""
        n_found = n_right = 0
        for number, pair in enumerate(self.pairs):
            best = self.between(number, of).argmax(axis=1).tolist()
            n_found += len(best)
            n_right += sum((source, target) in pair.links for target, source in enumerate(best))
        n_sure = sum(len(set(pair.links)) for pair in self.pairs)
        return np.array([1 - 2 * n_right / (n_found + n_sure), n_right / n_found, n_right / n_sure])

    def rates(self) -> Array:
        """Error rates of each head, and of each layer's mean, (L, H + 1)."""
        n_layers, n_heads = self.patterns[0].shape[:2]
        return np.array(
            [
                [self.agreement(of)[0] for of in (*((i, h) for h in range(n_heads)), (i,))]
                for i in range(n_layers)
            ]
        )
