"""How byte-level BPE makes tokens: the bytes a text starts from, and the merges that join them."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from model.data.tokenizer import Merges, Tokenizer
from model.given import Typed


class Rule(NamedTuple):
    """What a merge makes of a pair of ids, and its place in the tokenizer's list, from 0."""

    rank: int
    made: int


@dataclass(frozen=True, eq=False)
class Node:
    """A token of the vocabulary: what merging starts from, or what a merge made of two others.

    `rank` is the merge's place in the tokenizer's list and `order` its place among the merges of
    its pre-token, both from 0 and None where no merge made it.
    """

    id: int
    bytes: bytes
    rank: int | None = None
    order: int | None = None
    parts: tuple["Node", ...] = ()

    @property
    def leaves(self) -> list["Node"]:
        """What merging started from, in the order of the text."""
        return [node for node in walk([self]) if not node.parts]

    @property
    def n_merges(self) -> int:
        """How many merges made it."""
        return len(self.leaves) - 1


PreToken = tuple[Node, ...]  # its tokens; merges never cross the border of a pre-token


def merge_forest(
    tokenizer: Tokenizer, merges: Merges | None, given: Typed, most: int | None = None
) -> tuple[PreToken, ...]:
    """The tokens of what is given as trees, by pre-token; at most the first `most` tokens.

    Without merges each token is a leaf. So is a token that no merge made, such as an added one;
    one that the tokenizer puts around a text has no bytes of it.
    Takes O(n log n) for a pre-token of n bytes.
    """
    table = None if merges is None else rules_of(merges)
    room, forest = most, []
    for ids in tokenizer.pre_tokens(given):
        if room is not None and room <= 0:
            break
        tokens = _trees(tokenizer, merges, table, ids)[:room]
        forest.append(tuple(tokens))
        room = None if room is None else room - len(tokens)
    return tuple(forest)


def rules_of(merges: Merges) -> dict[tuple[int, int], Rule]:
    """What becomes of each pair of ids that a merge joins."""
    return {
        (left, right): Rule(rank, made) for rank, (left, right, made) in enumerate(merges.rules)
    }


def merged(start: Sequence[Node], rules: dict[tuple[int, int], Rule]) -> list[Node]:
    """Join neighbours, always the pair of lowest rank and of those the leftmost, while any can be.

    Sennrich et al. 2016, §3.2, in the order of the library `tokenizers`: pairs wait in a queue.
    """
    nodes: list[Node | None] = list(start)
    end = len(nodes)
    before, after = list(range(-1, end - 1)), list(range(1, end + 1))
    n_done = 0

    def rule_at(left: int) -> Rule | None:
        right = after[left] if left >= 0 else end
        a, b = (nodes[left], nodes[right]) if right < end else (None, None)
        return rules.get((a.id, b.id)) if a and b else None

    waiting = [(rule, at) for at in range(end) if (rule := rule_at(at))]
    waiting = [(rule.rank, at, rule.made) for rule, at in waiting]
    heapify(waiting)
    while waiting:
        _, at, made = heappop(waiting)
        rule = rule_at(at)
        if rule is None or rule.made != made:
            continue  # a neighbour was joined to something else meanwhile
        right = after[at]
        nodes[at], nodes[right] = _joined(nodes[at], nodes[right], rule, n_done), None
        n_done += 1
        after[at] = after[right]
        if after[at] < end:
            before[after[at]] = at
        for left in (before[at], at):
            if rule := rule_at(left):
                heappush(waiting, (rule.rank, left, rule.made))
    return [node for node in nodes if node is not None]


def walk(roots: Sequence[Node]) -> list[Node]:
    """Every node of some trees, each before its parts, the left part first."""
    nodes, waiting = [], list(reversed(roots))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting.extend(reversed(node.parts))
    return nodes


def _joined(left: Node | None, right: Node | None, rule: Rule, order: int) -> Node:
    assert left is not None and right is not None  # rules are of two nodes
    return Node(rule.made, left.bytes + right.bytes, rule.rank, order, (left, right))


def _trees(
    tokenizer: Tokenizer,
    merges: Merges | None,
    rules: dict[tuple[int, int], Rule] | None,
    ids: Sequence[int],
) -> list[Node]:
    """The tokens of one pre-token, which the tokenizer made these ids of."""
    if merges is None or rules is None:
        return [Node(i, tokenizer.token_bytes(i)) for i in ids]
    specials = tokenizer.special_ids
    whole = [Node(i, b"" if i in specials else tokenizer.token_bytes(i)) for i in ids]
    if any(map(tokenizer.is_added, ids)) or (merges.takes_known_whole and len(ids) == 1):
        return whole
    text = b"".join(node.bytes for node in whole)
    return merged([Node(merges.bytes[byte], bytes([byte])) for byte in text], rules)
