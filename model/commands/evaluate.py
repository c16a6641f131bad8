"""`python -m model evaluate`: how well a model does what it was trained for, on held-out data."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.commands import cli
from model.commands.cli import OnProgress
from model.data.images import read_part
from model.data.pairs import read_pair
from model.data.text import read_text
from model.data.tokenizer import END_OF_TEXT
from model.decoding.translation import LENGTH_PENALTY
from model.sources.checkpoint import Checkpoint
from model.training.evaluation import Evaluation, evaluate
from model.training.objectives.base import accuracy
from model.training.objectives.images import whole_batches
from model.training.objectives.masked import hidden_windows
from model.training.scores import BEAM_WIDTH, bleu, refuse_missing_sacrebleu, translate_all

Scores = dict[str, Any]


def add_arguments(parser: ArgumentParser) -> None:
    """The model, the data, the windows."""
    cli.add_checkpoint_arguments(parser)
    parser.add_argument(
        "--text-file", type=Path, metavar="PATH", help="UTF-8 text to predict, fill in or translate"
    )
    parser.add_argument(
        "--window", type=int, metavar="N", help="tokens in a window (default: the context)"
    )
    parser.add_argument(
        "--by-position", type=int, metavar="N", help="also the mean loss of every N positions"
    )
    translation = parser.add_argument_group("a translation")
    translation.add_argument(
        "--reference-file", type=Path, metavar="PATH", help="the right translations, line by line"
    )
    translation.add_argument(
        "--beam-width", type=int, default=BEAM_WIDTH, metavar="W", help=f"({BEAM_WIDTH})"
    )
    translation.add_argument(
        "--length-penalty", type=float, default=LENGTH_PENALTY, metavar="A", help="(1)"
    )
    pictures = parser.add_argument_group("pictures")
    pictures.add_argument(
        "--images", type=Path, metavar="FILE.npz", help="with test_images and test_labels"
    )


def run(arguments: Namespace) -> cli.Answer:
    """Score the model as its architecture is scored."""
    loaded = cli.open_checkpoint(arguments)
    with cli.progress_bar("evaluate") as on_progress:
        scores = SCORES[loaded.config.architecture](loaded, arguments, on_progress)
    answer = {"checkpoint": loaded.name, **scores}
    return cli.Answer({name: value for name, value in answer.items() if value != ()})


def _predicted(loaded: Checkpoint, arguments: Namespace, on_progress: OnProgress) -> Scores:
    """Every token of a text, once."""
    path = _given(arguments, "text_file", loaded)
    text = read_text(path)
    scores = evaluate(
        loaded.decoder,
        loaded.tokenizer,
        text,
        window=arguments.window,
        bin_size=arguments.by_position,
        on_progress=on_progress,
    )
    return {"text_file": str(path), **asdict(scores), **_separators(text, scores)}


def _separators(text: str, scores: Evaluation) -> Scores:
    """How many there are: their bytes are counted, and here is what it is without them."""
    n_bytes = scores.bytes - len(END_OF_TEXT) * text.count(END_OF_TEXT)
    if n_bytes in (0, scores.bytes):
        return {}
    return {
        "separators": text.count(END_OF_TEXT),
        "bits_per_byte_without_separators": scores.bits_per_byte * scores.bytes / n_bytes,
    }


def _filled_in(loaded: Checkpoint, arguments: Namespace, on_progress: OnProgress) -> Scores:
    """15 % of the tokens of a text, each hidden behind [MASK]."""
    path = _given(arguments, "text_file", loaded)
    context = loaded.config.max_seq_len
    window = context if arguments.window is None else arguments.window
    if not 1 <= window <= context:
        raise ValueError(f"window is {window}; it must be between 1 and the context {context}")
    scores = accuracy(loaded.model, hidden_windows(loaded.tokenizer, read_text(path), window))
    return {"text_file": str(path), "window": window, **asdict(scores)}


def _translated(loaded: Checkpoint, arguments: Namespace, on_progress: OnProgress) -> Scores:
    """Each line of a file, by beam search, against its reference."""
    source = _given(arguments, "text_file", loaded)
    pairs = read_pair(source, _given(arguments, "reference_file", loaded))
    refuse_missing_sacrebleu()  # before the work, not after it
    translations = translate_all(
        cast("EncoderDecoderTransformer", loaded.model),
        loaded.tokenizer,
        pairs.sources,
        beam_width=arguments.beam_width,
        length_penalty=arguments.length_penalty,
        on_progress=on_progress,
    )
    settings = {"beam_width": arguments.beam_width, "length_penalty": arguments.length_penalty}
    return {"text_file": str(source), **settings, **asdict(bleu(translations, pairs.targets))}


def _told(loaded: Checkpoint, arguments: Namespace, on_progress: OnProgress) -> Scores:
    """The class of each picture."""
    path = _given(arguments, "images", loaded)
    images, n_classes = read_part(path, "test"), getattr(loaded.config, "n_classes", 0)
    if images.labels.max() >= n_classes:
        raise ValueError(
            f"{path}: a picture is of class {images.labels.max()}, but {loaded.name} has the "
            f"classes 0 to {n_classes - 1}; leave it out"
        )
    scores = accuracy(loaded.model, whole_batches(images))
    return {"images": str(path), **asdict(scores)}


def _given(arguments: Namespace, name: str, loaded: Checkpoint) -> Path:
    """An option that this architecture needs; ValueError where it is missing."""
    path = getattr(arguments, name)
    if path is None:
        raise ValueError(
            f"{loaded.name} is of the architecture {loaded.config.architecture!r}; give it "
            f"--{name.replace('_', '-')}"
        )
    return path


SCORES: dict[str, Callable[[Checkpoint, Namespace, OnProgress], Scores]] = {
    "decoder": _predicted,
    "encoder": _filled_in,
    "encoder_decoder": _translated,
    "vision": _told,
}
