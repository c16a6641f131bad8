"""How well a model predicts a text, and the scores that are stored with a checkpoint."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

import torch
import torch.nn.functional as F
from torch import Tensor

from model.architectures.base import Model
from model.data.tokenizer import Tokenizer
from model.device import wide
from model.files import MEGABYTE, read_text
from model.lines import quoted, spelled

STORED = "held_out.json"  # scores in a checkpoint's folder
METRICS_FILE = "metrics.jsonl"  # the log of its training
LARGEST_LOG = 64 * MEGABYTE


@dataclass(frozen=True)
class Evaluation:
    """Scores of one model on one text; `loss` is in nats per token."""

    loss: float
    perplexity: float
    bits_per_byte: float
    tokens: int
    bytes: int
    window: int
    tokens_per_second: float
    by_position: tuple[float, ...] = ()  # mean loss of every `bin_size` positions of a window


@torch.inference_mode()
def evaluate(
    model: Model,
    tokenizer: Tokenizer,
    text: str,
    *,
    window: int | None = None,
    batch_size: int = 16,
    bin_size: int | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Evaluation:
    """Predict every token of a text once, in windows that do not overlap.

    The text is preceded by the end-of-text token, so its first token is predicted too, and each
    window sees only itself. `window` is the number of tokens in it, by default the model's
    context. Bits per byte = total nats / ln 2 / bytes of the text as UTF-8. With a `bin_size` the
    loss is also given by position in the window, over whole windows alone.
    Raises ValueError for an empty text, a window above the context, bins that do not fill it, and
    bins on a text shorter than a window.
    """
    window = model.config.max_seq_len if window is None else window
    _check_request(text, window, bin_size, model.config.max_seq_len)
    device = model.device
    ids = torch.tensor([tokenizer.end_id, *tokenizer.encode_documents(text)], device=device)
    started = time.perf_counter()
    total, done, sums, n_whole = 0.0, 0, torch.zeros(window, dtype=torch.float64), 0
    for inputs, targets in _window_batches(ids, window, batch_size):
        losses = token_losses(model(inputs), targets)  # (B, T)
        total += losses.sum().item()
        done += targets.numel()
        if targets.shape[1] == window:
            sums += losses.sum(dim=0)
            n_whole += len(targets)
        on_progress(done, len(ids) - 1)
    if bin_size and not n_whole:
        raise ValueError(
            f"the text has {done} tokens, less than a window of {window}, so there is no loss by "
            "position; give a longer text or a shorter window"
        )
    loss, n_bytes = total / done, len(text.encode())
    return Evaluation(
        loss=loss,
        perplexity=math.exp(min(loss, 700.0)),  # beyond that a float64 overflows
        bits_per_byte=total / math.log(2) / n_bytes,
        tokens=done,
        bytes=n_bytes,
        window=window,
        tokens_per_second=done / (time.perf_counter() - started),
        by_position=_binned(sums, n_whole, bin_size) if bin_size else (),
    )


def _check_request(text: str, window: int, bin_size: int | None, context: int) -> None:
    if not 1 <= window <= context:
        raise ValueError(f"window is {window}; it must be between 1 and the context {context}")
    if bin_size is not None and (bin_size < 1 or window % bin_size):
        raise ValueError(
            f"bins of {bin_size} positions do not fill a window of {window}; give a divisor of it"
        )
    if not text:
        raise ValueError("the text is empty; give at least one character")


def read_scores(folder: Path) -> dict[int, Evaluation]:
    """Scores stored with a checkpoint, by window.

    They lie in `held_out.json`, as a list of lines that the command `evaluate --by-position` has
    printed. Empty without such a file; ValueError when it is broken.
    """
    path = folder / STORED
    if not path.is_file():
        return {}
    try:
        lines = json.loads(path.read_text(encoding="utf-8"))
        scores = [_evaluation(line, folder.name) for line in lines]
        if len({score.window for score in scores}) < len(scores):
            raise ValueError("a window is there twice")
    except KeyError as error:
        raise ValueError(
            f"{path}: a line lacks {error}; store lines that --by-position has printed"
        ) from None
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} holds no scores: {error}; copy it again") from None
    return {score.window: score for score in scores}


def held_out_bytes_per_token(folder: Path) -> dict[str, float]:
    """Mean bytes per token of each text held out from a training, by its name, from its log.

    Empty without a log, where nothing was held out, and where bytes were not counted; ValueError
    when the log is broken.
    """
    path = folder / METRICS_FILE
    if not path.is_file():
        return {}
    text = read_text(path, LARGEST_LOG)
    try:
        held_out = [line["held_out"] for line in map(json.loads, text.splitlines())]
        scored = next((scores for scores in reversed(held_out) if scores), {})
        of_text = {name: score for name, score in scored.items() if "accuracy" not in score}
        ratios = {name: score["bytes"] / score["tokens"] for name, score in of_text.items()}
        if not all(0 < ratio < math.inf for ratio in ratios.values()):
            raise ValueError("a number of bytes is not above 0")
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as e:
        raise ValueError(f"{spelled(path)} is not a log of training: {quoted(e)}; remove it") from e
    return ratios


def _evaluation(line: object, name: str) -> Evaluation:
    """One line of stored scores of a checkpoint, every number checked."""
    if not isinstance(line, dict):
        raise ValueError(f"{str(line)[:40]!r} is not a line of scores")
    if line["checkpoint"] != name:
        raise ValueError(f"a line is of the checkpoint {str(line['checkpoint'])[:40]!r}")
    kinds = get_type_hints(Evaluation)
    numbers = {name: kinds[name](line[name]) for name in kinds if name != "by_position"}
    if not isinstance(line["by_position"], list):
        raise ValueError("by_position is not a list")
    by_position = tuple(map(float, line["by_position"]))
    if not all(0 <= x < math.inf for x in (*numbers.values(), *by_position)):
        raise ValueError("a number is negative or not finite")
    if not by_position or numbers["window"] < 1 or numbers["window"] % len(by_position):
        raise ValueError(f"{len(by_position)} bins do not fill a window of {numbers['window']}")
    return Evaluation(**numbers, by_position=by_position)


def token_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """−ln p(target) of every token. logits: (B, T, V), targets: (B, T). Returns (B, T) float64."""
    flat = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction="none")
    return wide(flat.view(targets.shape))


def _binned(sums: Tensor, n_windows: int, bin_size: int) -> tuple[float, ...]:
    """Mean loss of each bin of positions, from sums over windows."""
    return tuple((sums.view(-1, bin_size).mean(dim=-1) / n_windows).tolist())


def _window_batches(ids: Tensor, window: int, batch_size: int) -> list[tuple[Tensor, Tensor]]:
    """Inputs and targets, (B, window) each; a shorter last window comes alone."""
    n_whole = (len(ids) - 1) // window
    inputs = ids[: n_whole * window].view(-1, window)
    targets = ids[1 : n_whole * window + 1].view(-1, window)
    rest = ids[n_whole * window :]
    batches = [
        *zip(inputs.split(batch_size), targets.split(batch_size), strict=True),
        (rest[None, :-1], rest[None, 1:]),
    ]
    return [(x, y) for x, y in batches if x.numel()]
