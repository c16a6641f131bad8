"""Protects the trees of merges: they are the tokenizer's own, by another route than the library."""

from functools import cache
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken

from model.analysis.counts import by_script, script_of, single_bytes
from model.analysis.merges import Node, merge_forest, merged, rules_of, walk
from model.data.tokenizer import Merges, Tokenizer, train_bpe, train_characters
from tests.model.builders import edit_json
from tests.viz.builders import stories

CORPUS = ["the cat sat on the mat, the bat sat; aaaa aaaaa banana bananas abab 😀😀 مرحبا مرحبا"]


@cache
def small() -> Tokenizer:
    """A tokenizer with some merges of every kind of text in the corpus."""
    return train_bpe(CORPUS, 310)


def ids_of(forest: tuple[tuple[Node, ...], ...]) -> list[int]:
    """The tokens the trees end in."""
    return [token.id for pre_token in forest for token in pre_token]


def by_definition(content: bytes, merges: Merges) -> list[int]:
    """Sennrich et al. 2016 as it is written: the best pair of all, the first of these, again."""
    ids = [merges.bytes[byte] for byte in content]
    ranks = {pair[:2]: (rank, pair[2]) for rank, pair in enumerate(merges.rules)}
    while found := [(ranks[p][0], i) for i, p in enumerate(pairwise(ids)) if p in ranks]:
        _, i = min(found)
        ids[i : i + 2] = [ranks[ids[i], ids[i + 1]][1]]
    return ids


@given(st.text(alphabet="abnt sch,é😀م\n"))
def test_trees_end_in_the_tokens_of_any_text(text: str) -> None:
    merges = small().merges()
    assert merges is not None
    forest = merge_forest(small(), merges, text)
    assert ids_of(forest) == small().encode(text)
    for pre_token in forest:
        content = b"".join(token.bytes for token in pre_token)
        assert [token.id for token in pre_token] == by_definition(content, merges)


def test_a_tree_says_what_was_joined_and_when() -> None:
    """Merges (c, d), (a, b), (ab, cd) on a b c d: the lower rank first, wherever it stands."""
    rules = rules_of(Merges(bytes={}, rules=[(3, 4, 6), (1, 2, 5), (5, 6, 7)]))
    (root,) = merged([Node(i, bytes([96 + i])) for i in (1, 2, 3, 4)], rules)
    assert (root.id, root.bytes, root.rank, root.order, root.n_merges) == (7, b"abcd", 2, 2, 3)
    left, right = root.parts
    assert (left.rank, left.order, right.rank, right.order) == (1, 1, 0, 0)
    assert [node.bytes for node in walk([root])] == [b"abcd", b"ab", b"a", b"b", b"cd", b"c", b"d"]


def test_most_tokens_end_a_forest_inside_a_pre_token() -> None:
    tokenizer = stories().tokenizer
    text = "The " + 300 * "q"
    ids = tokenizer.encode(text)
    assert ids_of(merge_forest(tokenizer, tokenizer.merges(), text, 7)) == ids[:7]
    assert ids_of(merge_forest(tokenizer, tokenizer.merges(), text, 1)) == ids[:1]


def test_a_token_no_merge_made_is_whole(tmp_path: Path) -> None:
    tokenizer = small()
    copy = Tokenizer(type(tokenizer.backend).from_str(tokenizer.to_json()))
    copy.backend.add_tokens([AddedToken("日本", normalized=False)])
    copy.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    forest = merge_forest(loaded, loaded.merges(), "the 日本 cat")
    assert ids_of(forest) == loaded.encode("the 日本 cat")
    (whole,) = (p[0] for p in forest if p[0].bytes == "日本".encode())
    assert (whole.parts, whole.rank, whole.n_merges) == ((), None, 0)


def test_a_tokenizer_that_takes_known_words_whole(tmp_path: Path) -> None:
    """As Llama 3's: a pre-token in the vocabulary is one token, though merges do not lead there."""
    small().save(tmp_path / "tokenizer.json")

    def take_whole(fields: dict) -> None:
        fields["model"]["ignore_merges"] = True
        vocab = fields["model"]["vocab"]
        vocab["Ġbazt"] = len(vocab)

    edit_json(tmp_path / "tokenizer.json", take_whole)
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    forest = merge_forest(loaded, loaded.merges(), "the bazt cats")
    assert ids_of(forest) == loaded.encode("the bazt cats")
    assert (forest[1][0].bytes, forest[1][0].parts) == (b" bazt", ())
    assert len(forest[2]) > 1, "unknown as a whole, so merged"


def test_tokenizers_without_merges_give_leaves() -> None:
    characters = train_characters(["abc é"])
    assert (characters.kind, characters.merges()) == ("WordLevel", None)
    forest = merge_forest(characters, None, "cé b")
    assert ids_of(forest) == characters.encode("cé b")
    assert [token.bytes for (token,) in forest] == [b"c", "é".encode(), b" ", b"b"]


def test_bpe_that_marks_words_has_no_merges_of_bytes(tmp_path: Path) -> None:
    small().save(tmp_path / "tokenizer.json")
    edit_json(tmp_path / "tokenizer.json", lambda x: x["model"].update(end_of_word_suffix="!"))
    assert Tokenizer.load(tmp_path / "tokenizer.json").merges() is None


def test_scripts_with_the_fewest_bytes_per_token_come_first() -> None:
    tokenizer = stories().tokenizer
    forest = merge_forest(tokenizer, tokenizer.merges(), "The animal مرحبا 42 !")
    arabic, latin = by_script(forest)
    assert (arabic.script, arabic.bytes, latin.script, latin.bytes) == ("Arabic", 11, "Latin", 11)
    assert arabic.tokens == len(tokenizer.encode(" مرحبا"))
    assert latin.tokens == 2
    assert [script_of(text) for text in ("日本", "42", "ab日", "")] == ["CJK", None, "Latin", None]


def test_single_bytes_are_counted_and_those_that_are_no_whole_character() -> None:
    tokenizer = stories().tokenizer
    forest = merge_forest(tokenizer, tokenizer.merges(), "Hi.\n")
    assert single_bytes(forest) == (2, 0)
    forest = merge_forest(tokenizer, tokenizer.merges(), "😀.")
    assert single_bytes(forest) == (len(forest[0]), 4) == (5, 4)
