"""What a training needs, before anything is allocated: weights and memory."""

import torch

from model.architectures.table import architecture, config_of
from model.config import ModelConfig
from model.data.tokenizer import END_OF_TEXT, UNKNOWN
from model.files import MEGABYTE
from model.memory import free_memory
from model.training.objectives import OBJECTIVES
from model.training.recipe import Recipe

MOST_WEIGHTS = 2_000_000_000  # with gradient and moments four times as many numbers
JUDGED_AT_ONCE = 16  # windows
PROCESS_BYTES = 400 * MEGABYTE  # Python with torch


def planned(recipe: Recipe, vocab_size: int | None) -> tuple[ModelConfig, int]:
    """The config of a recipe's model and the number of its weights, before anything is allocated.

    `vocab_size` is None where it reads no text. ValueError when the config is impossible, too
    large, or its context shorter than a stage's windows.
    """
    sizes = {} if vocab_size is None else {"vocab_size": vocab_size}
    config = config_of({**recipe.model, **sizes})
    with torch.device("meta"):
        imagined = architecture(config.architecture).build(config)
    n_weights = sum(weight.numel() for weight in imagined.parameters())
    if n_weights > MOST_WEIGHTS:
        raise ValueError(
            f"recipe: the model has {n_weights:,} parameters; at most {MOST_WEIGHTS:,} are trained "
            "here: lower d_model, d_ff, n_layers or vocab_size"
        )
    longest, context = max(s.seq_len for s in recipe.stages), config.max_seq_len
    if longest > context:
        raise ValueError(
            f"recipe: a stage has seq_len {longest} but max_seq_len is {context}; lower one or "
            "raise the other"
        )
    return config, n_weights


def vocab_size_of(recipe: Recipe, text: str | None) -> int | None:
    """How many tokens a recipe's tokenizer has, at most; None where it reads no text.

    `text` is what is learnt from; None for what makes its own data.
    """
    objective = OBJECTIVES[recipe.objective]
    if not objective.reads_text:
        return None
    texts = [text] if text else [] if objective.needs_corpus else objective.read([], []).texts
    own = (END_OF_TEXT, UNKNOWN, *objective.specials)
    return recipe.vocab_size or len(set("".join(texts))) + len(own)


def needed_memory(recipe: Recipe, vocab_size: int | None) -> int:
    """Bytes a training takes, roughly and rather too many: weights, gradient and moments, what one
    step keeps, and the process itself.

    `vocab_size` is None where it reads no text. ValueError as `planned`.
    """
    config, n_weights = planned(recipe, vocab_size)
    n_classes = getattr(config, "vocab_size", 0)
    tokens = max(recipe.batch_tokens, JUDGED_AT_ONCE * config.max_seq_len)
    longest = max(stage.seq_len for stage in recipe.stages)
    numbers = 4 * n_weights + tokens * (config.numbers_of_token(longest) + 4 * n_classes)
    return PROCESS_BYTES + 4 * numbers


def refuse_too_large(recipe: Recipe, vocab_size: int | None, times: float = 1) -> None:
    """ValueError for what takes more than so many times the memory that is free."""
    needed, free = needed_memory(recipe, vocab_size), free_memory()
    if needed > times * free:
        raise ValueError(
            f"this training needs about {needed / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB "
            "are free; lower d_model, n_layers or batch_tokens"
        )
