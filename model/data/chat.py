"""A chat as the model was trained to read it: its own template, and who wrote each token."""

import json
import re
import subprocess
import sys
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from model.data.chat_program import BEGIN, CLOSE, END, OPEN, SECONDS
from model.data.tokenizer import checked, without_specials, words_in
from model.given import Chat, Turn
from model.lines import quoted

PROGRAM = Path(__file__).with_name("chat_program.py")
PATIENCE = 5 * SECONDS  # where other work holds it up: its own bound is of the processor's time
NEW_LINE = "\n"
TEMPLATE = "template"  # who wrote what no turn says
ROLES = ("system", "user", "assistant")
REASON = 300  # characters of what a template says
MARKS = re.compile(f"[{BEGIN}{END}]")
STRAY = re.compile(f"[{OPEN}{CLOSE}]")
FRAMES = re.compile(f"{OPEN}(\\d{{1,5}}){OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")


class ReadChat(NamedTuple):
    """A chat as ids, and of each the number of the turn that says it; None: the template's own.

    `words` says which are of one pre-token, `text` is all of it but its special tokens.
    """

    ids: list[int]
    turns: tuple[int | None, ...]
    words: tuple[tuple[int, int], ...]
    text: str


class Span(NamedTuple):
    """Characters of a rendered chat that a turn says."""

    start: int
    end: int
    turn: int


class ChatTemplate(NamedTuple):
    """A template as its folder has it; `names` are its special tokens by what they are for.

    `added`: each added token, and whether it is special. `control_tokens`: those that the template
    alone may write, where the folder says so.
    """

    source: str
    names: tuple[tuple[str, str], ...]
    added: tuple[tuple[str, bool], ...]
    control_tokens: tuple[str, ...] | None = None


def turns_of(given: str | Sequence[Mapping[str, str]]) -> tuple[Turn, ...]:
    """What a user says, or turns as transformers takes them; ValueError for anything else."""
    if isinstance(given, str):
        return (Turn("user", given),)
    try:
        turns = tuple(Turn(one["role"], one["content"]) for one in given)
        more = [name for one in given for name in one if name not in ("role", "content")]
    except (TypeError, KeyError):
        raise ValueError(
            'this is no chat; give what the user says, or turns such as {"role": "user", '
            '"content": "Hello!"}'
        ) from None
    if more:
        raise ValueError(f"{quoted(more[0])!r} of a turn is not read here; give role and content")
    return turns


def template_of(own: Any) -> ChatTemplate | None:  # noqa: ANN401
    """That of a tokenizer of transformers, of several the usual one; None where it has none."""
    given = getattr(own, "chat_template", None)
    source = given.get("default") if isinstance(given, dict) else given
    if not source or not isinstance(source, str):
        return None
    added = tuple((token.content, token.special) for token in own.added_tokens_decoder.values())
    named = getattr(own, "chat_control_tokens", None)
    names = tuple(own.special_tokens_map.items())
    return ChatTemplate(source, names, added, None if named is None else tuple(named))


def read_chat(
    template: ChatTemplate, turns: Sequence[Turn], reading: Tokenizer, as_text: Tokenizer
) -> ReadChat:
    """The ids that transformers gives with `sanitize_control_tokens`, asking for an answer.

    No answer is asked for where the assistant has the last word. Of the two tokenizers `reading`
    takes special tokens for such, and the other one does not. ValueError, in one line, where there
    is no turn, or the template refuses.
    """
    _refuse_strange(turns)
    marked, framed = _rendered(template, tuple(turns))
    spans = _spans(MARKS.sub("", marked), framed, len(turns))
    starts = [one.start for one in spans]
    ids, said, words, text, done = [], [], [], "", 0
    for piece, is_text in _pieces(marked, [token for token, _ in template.added]):
        new, ends, own = _encoded(as_text if is_text else reading, piece, is_first=not done)
        if is_text and reading.token_to_id(piece) in new:
            raise ValueError(f"{quoted(piece)!r} cannot be read as text; leave it out of the chat")
        ids += new
        words += [(done, word) for word in own]
        text += piece if is_text else without_specials(reading, piece)
        for place in (done + max(0, end - 1) for end in ends):
            at = bisect(starts, place) - 1
            said.append(spans[at].turn if at >= 0 and place < spans[at].end else None)
        done += len(piece)
    if not ids:
        raise ValueError("its chat template writes nothing of this chat")
    return ReadChat(ids, tuple(said), tuple(words), text)


def roles_of(read: ReadChat, chat: Chat) -> tuple[str, ...]:
    """Who wrote each token: a role, or "template"; a begun answer is the assistant's."""
    said = (TEMPLATE if turn is None else chat.turns[turn].role for turn in read.turns)
    return (*said, *("assistant" for _ in chat.answer))


def refuse_longer(read: ReadChat, chat: Chat, most: int) -> None:
    """ValueError where a chat has more than `most` tokens: it says which turns have to go.

    The first ones of user and assistant, with what the template writes around them.
    """
    n, turns = len(read.ids) + len(chat.answer), chat.turns
    if n <= most:
        return
    if len(read.ids) <= most:
        raise ValueError(f"chat and answer have {n:,} tokens, and {most:,} fit; begin a new answer")
    counts = [read.turns.count(number) for number in range(len(turns))]
    begins = [read.turns.index(x) if counts[x] else n for x in range(len(turns))]
    own = [number for number, turn in enumerate(turns) if turn.role != "system"]
    fits = (
        number
        for number in own
        if turns[number].role == "user"
        and counts[number]
        and n - begins[number] + begins[own[0]] <= most
    )
    kept, longest = next(fits, None), max(range(len(turns)), key=counts.__getitem__)
    if kept is not None:
        remedy = f"leave out the first {own.index(kept)} of user and assistant"
    elif n - sum(counts) < most:
        remedy = f"shorten turn {longest}, which has {counts[longest]:,}"
    else:
        remedy = f"its template alone writes {n - sum(counts):,}"
    raise ValueError(f"the chat has {n:,} tokens, and {most:,} fit; {remedy}")


def _refuse_strange(turns: Sequence[Turn]) -> None:
    if not turns:
        raise ValueError("the chat has no turn; give what the user says")
    for number, turn in enumerate(turns):
        if turn.role not in ROLES:
            known = ", ".join(ROLES)
            raise ValueError(f"turn {number} is of {quoted(turn.role)!r}; give one of {known}")
        if not isinstance(turn.text, str):
            kind = type(turn.text).__name__
            raise ValueError(f"what the {turn.role} says in turn {number} is a {kind}, no text")
        if marks := re.findall(f"[{BEGIN}-{CLOSE}]", checked(turn.text)):
            raise ValueError(
                f"turn {number} has the character U+{ord(marks[0]):X}, which marks control tokens "
                "here; leave it out"
            )
        if not turn.text.strip() and turn.role != "system":
            raise ValueError(f"turn {number}, of the {turn.role}, is empty; write it or leave it")


@lru_cache(maxsize=32)
def _rendered(template: ChatTemplate, turns: tuple[Turn, ...]) -> tuple[str, str]:
    """The chat, in it between marks what looks like a control token; and with framed turns."""
    said = {
        "template": template.source,
        "names": dict(template.names),
        "added": template.added,
        "control_tokens": template.control_tokens,
        "roles": [turn.role for turn in turns],
        "texts": [turn.text for turn in turns],
        "asks": turns[-1].role != "assistant",
    }
    command = [sys.executable, "-I", str(PROGRAM)]
    try:
        done = subprocess.run(  # noqa: S603  our own program; the template only goes to its input
            command, input=json.dumps(said).encode(), capture_output=True, timeout=PATIENCE, env={}
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"its chat template was not rendered in {PATIENCE} seconds") from None
    if done.returncode < 0:
        raise ValueError(f"its chat template does not end within {SECONDS} seconds of computing")
    answer = json.loads(done.stdout) if not done.returncode else {"error": "it was ended"}
    if "error" in answer:
        reason = quoted(answer["error"], REASON)
        raise ValueError(f"its chat template refuses this: {reason}")
    try:
        return checked(answer["text"]), answer["framed"]
    except ValueError:
        raise ValueError("its chat template writes what is not valid Unicode") from None


def _spans(text: str, framed: str, n_turns: int) -> list[Span]:
    """Where what was written stands in the chat, by its frames in the other rendering of it.

    There the template could not trim it, so its own text before is looked for, then the turn's,
    each with or without white space at its ends. What it rewrites is the template's, and so is what
    it writes once more; after what was rewritten the next turn is looked for further on.
    """
    spans, at, done, is_in_step = [], 0, 0, True
    known: set[int] = set()
    for found in FRAMES.finditer(framed):
        number = int(found[1])
        if number in known or number >= n_turns:
            continue  # a template may write anything
        known.add(number)
        own = FRAMES.sub(lambda frame: frame[2], framed[done : found.start()])
        before, written = STRAY.sub("", own), found[2]
        done = found.end()
        trimmed = rf"{re.escape(before.rstrip())}\s*({re.escape(written.strip())})"
        patterns = map(re.compile, (f"{re.escape(before)}({re.escape(written)})", trimmed))
        tried = ((x.match if is_in_step else x.search)(text, at) for x in patterns)
        there = next(filter(None, tried), None)
        if there is not None:
            spans.append(Span(*there.span(1), number))
            at = there.end()
        is_in_step = there is not None
    return spans


def _pieces(text: str, added: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The chat cut at its marks: each piece, and whether it only looks like a control token."""
    longest_first = sorted(added, key=len, reverse=True)
    token = "|".join(map(re.escape, longest_first)) or "(?!)"
    cut = re.split(f"{BEGIN}({token}){END}|[{BEGIN}{END}]", text)
    return ((piece, bool(i % 2)) for i, piece in enumerate(cut) if piece)


def _encoded(
    backend: Tokenizer, piece: str, *, is_first: bool
) -> tuple[list[int], list[int], list[int]]:
    """Ids of a piece, as `encode_marked_chat` of transformers has them; their ends, and words.

    One that is not the first is encoded after a new line, so that no space is put before it.
    """
    line, encode = NEW_LINE * (not is_first), partial(backend.encode, add_special_tokens=False)
    before, encoding = encode(line).ids, encode(line + piece)
    if encoding.ids[: len(before)] != before:
        line, before, encoding = "", [], encode(piece)
    ends = [max(0, end - len(line)) for _, end in encoding.offsets]
    ids, ends, words = (row[len(before) :] for row in (encoding.ids, ends, words_in(encoding)))
    return ids, ends, words
