"""How well a finished model does what it was trained for, beside the loss."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.data.tokenizer import Tokenizer
from model.decoding.translation import LENGTH_PENALTY, target_text, translated

BEAM_WIDTH = 5


@dataclass(frozen=True)
class Bleu:
    """BLEU (Papineni et al. 2002) as sacreBLEU counts it (Post 2018), of 100.

    `signature` says exactly how; `lower_case` is the same without regard to capitals.
    """

    bleu: float
    lower_case: float
    signature: str
    sentences: int


def refuse_missing_sacrebleu() -> None:
    """ValueError that says how to install it where it is not: running models does not need it."""
    if find_spec("sacrebleu") is None:
        raise ValueError(
            "BLEU needs the package sacrebleu, which is not installed; install it: "
            "pip install sacrebleu"
        )


def bleu(translations: Sequence[str], references: Sequence[str]) -> Bleu:
    """The score of translations, one reference each; ValueError when sacrebleu is not installed."""
    refuse_missing_sacrebleu()
    metrics = import_module("sacrebleu.metrics")
    cased = metrics.BLEU(tokenize="13a")
    score = cased.corpus_score(list(translations), [list(references)]).score
    lower = metrics.BLEU(tokenize="13a", lowercase=True)
    lower_score = lower.corpus_score(list(translations), [list(references)]).score
    return Bleu(score, lower_score, str(cased.get_signature()), len(references))


def translate_all(
    model: EncoderDecoderTransformer,
    tokenizer: Tokenizer,
    sources: Sequence[str],
    *,
    beam_width: int = BEAM_WIDTH,
    length_penalty: float = LENGTH_PENALTY,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[str]:
    """A translation of each source; ValueError when one is longer than the context."""
    texts = []
    for source in sources:
        ids = translated(model, tokenizer, source, beam_width, length_penalty)
        texts.append(target_text(tokenizer, ids))
        on_progress(len(texts), len(sources))
    return texts
