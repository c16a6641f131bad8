"""How vocabularies spell what their tokens stand for, and how a token is named for display."""

import re
from collections.abc import Iterable, Sequence

END_OF_WORD = "</w>"  # how BPE that is not made of bytes marks it (Sennrich et al. 2016)
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # how others spell what they have no piece for


def _symbols_of_bytes() -> dict[str, int]:
    """The printable stand-ins that byte-level BPE uses for bytes (GPT-2's `bytes_to_unicode`)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    symbols = {chr(byte): byte for byte in printable}
    return symbols | {chr(256 + i): byte for i, byte in enumerate(others)}


BYTE_OF_SYMBOL = _symbols_of_bytes()


def names(
    pieces: Sequence[str | bytes], *, is_byte_level: bool, end_of_word: str = ""
) -> tuple[str, ...]:
    """What the pieces of a text stand for; joined they read as the text. bytes stay as they are.

    A word has its space in front, also where the vocabulary marks its end; a piece alone that ends
    a word is named as a word. See `strings_of_bytes` for parts of characters.
    """
    ends = [bool(end_of_word) and x[-len(end_of_word) :] == end_of_word for x in pieces]
    begins = [len(pieces) == 1 and ends[0], *ends]
    whole = []
    for piece, starts_word in zip(pieces, begins, strict=False):
        if isinstance(piece, str):
            space = b" " if starts_word else b""
            piece = space + _text_of(piece.removesuffix(end_of_word), is_byte_level)
        whole.append(piece)
    return tuple(strings_of_bytes(whole))


def names_of_any(tokens: Sequence[str]) -> tuple[str, ...]:
    """The same of tokens whose vocabulary is not known, as their own spelling shows it.

    It is byte-level where each sign of all of them stands for a byte, and these are UTF-8.
    """
    end = END_OF_WORD if any(token.endswith(END_OF_WORD) for token in tokens) else ""
    signs = "".join(token.removesuffix(end) for token in tokens)
    is_byte_level = not any(map(_BYTE.fullmatch, tokens)) and BYTE_OF_SYMBOL.keys() >= set(signs)
    try:
        bytes(BYTE_OF_SYMBOL[sign] for sign in signs if is_byte_level).decode()
    except UnicodeDecodeError:
        is_byte_level = False
    return names(tokens, is_byte_level=is_byte_level, end_of_word=end)


def strings_of_bytes(tokens: list[bytes]) -> Iterable[str]:
    """Readable strings for tokens that may hold parts of characters.

    A character whose bytes are spread over several tokens is shown in each of them with its
    part, as 😀·2/4; bytes that form no character are shown in hexadecimal.
    """
    start = 0
    while start < len(tokens):
        end, text = _next_whole_text(tokens, start)
        if text is None:
            yield f"\\x{tokens[start].hex()}"
            start += 1
        elif end == start + 1:
            yield text
            start = end
        else:
            parts = end - start
            yield from (f"{text}·{part}/{parts}" for part in range(1, parts + 1))
            start = end


def bytes_of_symbols(piece: str) -> bytes:
    """What a piece of byte-level BPE stands for; one that is not spelled in symbols is text."""
    if BYTE_OF_SYMBOL.keys() >= set(piece):
        return bytes(BYTE_OF_SYMBOL[symbol] for symbol in piece)
    return piece.encode("utf-8", "surrogatepass")


def _text_of(piece: str, is_byte_level: bool) -> bytes:
    if is_byte_level:
        return bytes_of_symbols(piece)
    if byte := _BYTE.fullmatch(piece):
        return bytes.fromhex(byte[1])
    return piece.replace("▁", " ").encode("utf-8", "surrogatepass")


def _next_whole_text(tokens: list[bytes], start: int) -> tuple[int, str | None]:
    """The fewest tokens from `start` whose bytes decode, as long as only the end is missing."""
    for end in range(start + 1, len(tokens) + 1):
        try:
            return end, b"".join(tokens[start:end]).decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                break
    return start + 1, None
