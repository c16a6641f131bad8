"""A head's rule: of what kind its looks are, and by which words, counted over one text or several.

A look is a row's strongest key, where the row has others and rests on this one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from model.analysis.heads import NEAR
from model.analysis.why.opened import in_words
from model.analysis.why.reasons import KINDS, OWN, PLACE, SIDES, Reasons, reasons
from model.analysis.why.row import Array, Scores
from model.analysis.why.sentence import KINDS_SAID, STANDS_OUT
from model.analysis.why.sides import WRITES, Sides, made_of, read_by
from model.analysis.writers import Writer
from model.architectures.base import Transformer
from model.trace import Trace
from model.work import Work, result_of

RESTS = 0.3  # the weight from which on a row's strongest key is a look
FEW, SHARE = 6, 0.4  # a rule holds of so many looks at least, and of this share of them
ENDS = {"key": ", whoever asks", "query": ", by place", "match": ""}


class Looks(NamedTuple):
    """The looks of one head, (n,) each; score: of the key, less the mean of those it may see."""

    head: int
    query: Array
    key: Array
    score: Array
    kind: Array


class Counted:
    """How many looks of a head there are of each kind, and by each rule."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()

    @property
    def holds(self) -> str:
        """The rule that is counted most, where its share of the looks is large; else nothing."""
        n = self.rules.total()
        most = [rule for rule, count in self.rules.most_common(1) if count >= SHARE * n]
        return most[0] if most and n >= FEW else ""


class Rules(Work):
    """The looks of all heads of one self-attention, by layer and head, counted text by text.

    traces: what makes the run of each text. The first piece refuses what cannot be asked.
    """

    def __init__(
        self, model: Transformer, group: str, traces: Sequence[Callable[[], Trace]]
    ) -> None:
        self.heads: defaultdict[tuple[int, int], Counted] = defaultdict(Counted)
        self._progress, self._pieces = 0.0, self._counted(model, group, traces)

    @property
    def progress(self) -> float:
        """See `Work`."""
        return self._progress

    def go_on(self) -> bool:
        """See `Work`."""
        self._progress = next(self._pieces, 1.0)
        return self._progress < 1

    def _counted(
        self, model: Transformer, group: str, traces: Sequence[Callable[[], Trace]]
    ) -> Iterator[float]:
        """Of each text the kinds of all layers, which are there soon, then the words."""
        for n, make in enumerate(traces):
            done, trace, looks = n / len(traces), make(), []
            layers = [reasons(trace, model, record.site) for record in trace.group(group).records]
            for layer, asked in enumerate(layers):
                looks.append([looks_of(asked, head) for head in range(asked.record.n_heads)])
                for one in looks[-1]:
                    self.heads[layer, one.head].kinds.update(one.kind.tolist())
                yield done
            for layer, words in enumerate(_words(layers)):
                for one in looks[layer]:
                    self.heads[layer, one.head].rules.update(rules_of(layers[layer], one, words))
                yield done + layer / len(layers) / len(traces)


def counted(asked: Reasons, head: int) -> Counted:
    """The looks of one head on one text."""
    looks, found = looks_of(asked, head), Counted()
    found.kinds.update(looks.kind.tolist())
    found.rules.update(rules_of(asked, looks, result_of(asked.words())))
    return found


def looks_of(asked: Reasons, head: int) -> Looks:
    """The looks of one head with their kinds; ValueError where sums are not the scores that ran."""
    record, site = asked.record, asked.site
    if site.kind == "cross" or asked.trace.stream(site.stack).kind != "text":
        raise ValueError("rules are counted where the words of one text attend to one another")
    pattern, seen = np.asarray(record.pattern[head]), record.mask_of(head)
    query = np.flatnonzero((seen.sum(axis=-1) > 1) & (pattern.max(axis=-1) >= RESTS))
    key = np.where(seen, pattern, -1)[query].argmax(axis=-1)
    _check(asked, result_of(asked.placed()), head, query)
    centred = _centred(asked, result_of(asked.placed()), head, query, key)
    by_kind = np.stack([centred[:, *sides] for sides in KINDS.values()])  # (4, n)
    bias = record.added[head][query] * _less_mean(seen[query], key)
    by_kind[list(KINDS).index("place")] += bias.sum(axis=-1)
    return Looks(head, query, key, by_kind.sum(axis=0), np.array([*KINDS])[by_kind.argmax(axis=0)])


def rules_of(asked: Reasons, looks: Looks, words: Sides) -> list[str]:
    """Each look in words: its kind, the words that make most of it, and where these stand."""
    _check(asked, words, looks.head, looks.query)
    rules = np.empty(len(looks.kind), object)
    for kind in set(looks.kind.tolist()):
        those = looks.kind == kind
        of_kind = Looks(looks.head, *(x[those] for x in looks[1:]))
        sides = [side for n in (0, 1) for side in _side(asked, words, n, KINDS[kind][n])]
        rules[those] = _of_kind(asked, of_kind, Sides(*sides))
    return rules.tolist()


def _side(asked: Reasons, words: Sides, number: int, own: int) -> tuple[Any, ...]:
    """One side as its words where what is the token's own makes a kind, else its place alone."""
    at = slice(2 * number, 2 * number + 2)
    return (
        words[at] if own == OWN else tuple(part[PLACE:] for part in result_of(asked.placed())[at])
    )


def _of_kind(asked: Reasons, looks: Looks, sides: Sides) -> list[str]:
    """The rules of looks of one kind."""
    kind, rules = str(looks.kind[0]), []
    at = list(zip(looks.query.tolist(), looks.key.tolist(), strict=True))
    if kind == "place":
        return [f"place alone: {_seen_from(query, key, 'token', 'itself')}" for query, key in at]
    centred = _centred(asked, sides, looks.head, looks.query, looks.key)
    may_say = np.logical_and.outer(_are_words(sides.asking), _are_words(sides.asked))
    labels = [label.strip() for label in asked.trace.stream(asked.site.stack).labels]
    for each, terms, score in zip(at, centred, looks.score, strict=True):
        best = np.unravel_index(np.where(may_say, terms, -np.inf).argmax(), may_say.shape)
        if terms[best] < STANDS_OUT * score:
            rules.append(f"{KINDS_SAID[kind]}; no words stand out")
            continue
        pair = sides.asking[best[0]].token, sides.asked[best[1]].token
        is_same = kind == "match" and labels[pair[0]] == labels[pair[1]]
        rules.append(_in_words(kind, each, pair) + ", the same word" * is_same)
    return rules


def _in_words(kind: str, at: tuple[int, int], words: tuple[int, int]) -> str:
    """As in the query’s own word with the word before the key."""
    said = [
        f"the {side}’s own word" if here == word else f"{_seen_from(here, word, 'word')} the {side}"
        for side, own, here, word in zip(SIDES, KINDS[kind], at, words, strict=True)
        if own == OWN
    ]
    return " with ".join(said) + ENDS[kind]


def _seen_from(here: int, there: int, what: str, own: str = "") -> str:
    """Where a word or token stands, seen from another; own: where it is this one."""
    apart, way = abs(there - here), "before" if there < here else "after"
    if not apart:
        return f"the {what} {own}"
    if there == 0 and apart > 1:
        return f"the first {what}, far before" if what == "word" else f"the first {what}"
    if apart > NEAR:
        return f"a {what} far {way}"
    return f"the {what} {way}" if apart == 1 else f"{apart} {what}s {way}"


def _are_words(side: Sequence[Writer]) -> list[bool]:
    """Which of a side may be named: words, or its place, which is all of it."""
    return [one.kind == "word" or len(side) == 1 for one in side]


def _centred(asked: Reasons, sides: Sides, head: int, query: Array, key: Array) -> Array:
    """Why queries look at these keys and not at others, by parts of both sides, (n, Wq, Wk)."""
    record = asked.record
    q, k = sides.q[:, head, query].numpy(), sides.k[:, record.kv_head(head)].numpy()
    less_mean = _less_mean(record.mask_of(head)[query], key)
    parts = np.einsum("nt,btd->bnd", less_mean, k, optimize=True)
    return record.scale * np.einsum("and,bnd->nab", q, parts, optimize=True)


def _less_mean(seen: Array, key: Array) -> Array:
    """What makes a row of scores one key's less the mean of those that are seen, (n, Tk)."""
    return np.eye(seen.shape[-1])[key] - seen / seen.sum(axis=-1, keepdims=True)


def _check(asked: Reasons, sides: Sides, head: int, query: Array) -> None:
    """ValueError where sums of the last of some rows are not its scores that ran."""
    if len(query):
        row = Scores(asked.record, head, int(query[-1]))
        q, k = sides.q[:, head, row.query].sum(dim=0), sides.k[:, asked.record.kv_head(head)]
        row.check(asked.record.scale * (k.sum(dim=0) @ q).numpy() + row.added)


def _words(layers: Sequence[Reasons]) -> Iterator[Sides]:
    """The words of each layer, for which the stream is read once."""
    trace, model, last = layers[0].trace, layers[0].model, layers[-1].site
    sites = {(asked.site.layer, WRITES["self"]): asked.site for asked in layers}
    stack = next(one for one in model.stacks if one.name == last.stack)
    streams = in_words(read_by(trace, model, last))
    for sublayer, stream in zip(stack.sublayers, streams, strict=False):
        site = sites.get((sublayer.layer, sublayer.writes))
        if site is not None:
            yield result_of(made_of(trace, model, site, stream))
