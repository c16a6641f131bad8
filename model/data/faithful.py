"""What a tokenizer's file may hold: a tokenizer that would cut, pad or change a text is refused."""

import json
from typing import Any

import tokenizers
from tokenizers import models

from model.data.pieces import BYTE_OF_SYMBOL
from model.lines import quoted

MOST_PARTS = 20  # of a normalizer or a decoder

# What these change is said on screen. A Replace could make a text longer without end.
_NORMALIZERS = frozenset(
    ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "BertNormalizer", "Nmt")
)
# A Replace or a Strip among them could make a text longer without end, or fail on it.
_DECODERS = frozenset(("ByteLevel", "BPEDecoder", "Fuse", "Metaspace", "WordPiece"))


def refuse_unfaithful(backend: tokenizers.Tokenizer) -> None:
    """ValueError for a tokenizer that would cut, pad, or read one text in two ways."""
    if backend.truncation is not None:
        n_tokens = backend.truncation["max_length"]
        raise ValueError(f"the tokenizer cuts texts to {n_tokens} tokens; remove its truncation")
    if backend.padding is not None:
        raise ValueError("the tokenizer pads texts; remove its padding")
    if any(getattr(backend.model, name, None) for name in ("dropout", "alpha", "nbest_size")):
        raise ValueError(
            "the tokenizer cuts a text at random; remove dropout, alpha and nbest_size of its model"
        )
    ids = sorted(backend.get_vocab(with_added_tokens=True).values())
    if ids != list(range(len(ids))):
        raise ValueError(
            f"the tokenizer has {len(ids)} tokens but their ids are not 0 to {len(ids) - 1}, each "
            "once; use the file the model was trained with"
        )
    _refuse_unreadable(backend)
    for name, part, known in (
        ("normalizer", backend.normalizer, _NORMALIZERS),
        ("decoder", backend.decoder, _DECODERS),
    ):
        kinds = _kinds_of(part)
        if unknown := sorted(set(kinds) - known):
            raise ValueError(
                f"the tokenizer's {name} {quoted(unknown[0])} is not one that Headlight knows; "
                f"known are {', '.join(sorted(known))}"
            )
        if len(kinds) > MOST_PARTS:
            raise ValueError(
                f"the tokenizer's {name} has {len(kinds)} parts; at most {MOST_PARTS} are taken"
            )


def _refuse_unreadable(backend: tokenizers.Tokenizer) -> None:
    """ValueError where some character would have no token at all, and vanish."""
    if not isinstance(backend.model, models.BPE):
        model = json.loads(backend.to_str())["model"]
        known = backend.get_vocab(with_added_tokens=False)
        if model.get("unk_id") is None and model.get("unk_token") not in known:
            raise ValueError("the tokenizer has no token for unknown characters; add one to it")
        return
    added = {x.content for x in backend.get_added_tokens_decoder().values()}
    words = set(backend.get_vocab(with_added_tokens=False)) - added
    if strange := sorted(word for word in words if not set(word) <= BYTE_OF_SYMBOL.keys()):
        raise ValueError(
            f"the tokenizer is BPE but not byte-level: it has {quoted(strange[0])}; use one "
            "whose tokens are bytes"
        )
    if missing := sorted(BYTE_OF_SYMBOL.keys() - words):
        raise ValueError(
            f"the tokenizer lacks {len(missing)} of the 256 bytes, which would vanish from a text; "
            "use the file the model was trained with"
        )


def _kinds_of(part: Any) -> list[str]:  # noqa: ANN401, the library gives no common type
    """Names of all that a normalizer or a decoder consists of."""
    kinds, waiting = [], [] if part is None else [json.loads(part.__getstate__())]
    while waiting:
        one = waiting.pop()
        inner = one.get("normalizers", one.get("decoders"))
        if inner is None:
            kinds.append(one["type"])
        else:
            waiting.extend(inner)
    return kinds
