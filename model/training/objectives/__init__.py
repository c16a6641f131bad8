"""What a model is trained for: a module for each objective, and the table a recipe chooses from."""

from model.training.objectives.base import Objective
from model.training.objectives.images import ImageClasses
from model.training.objectives.language_modelling import LanguageModelling
from model.training.objectives.letters import Letters
from model.training.objectives.masked import MaskedTokens
from model.training.objectives.tasks import (
    Brackets,
    Copy,
    Induction,
    ModularAddition,
    Reverse,
    Sort,
)
from model.training.objectives.translation import Translation

__all__ = ["OBJECTIVES", "LanguageModelling", "Objective"]

OBJECTIVES: dict[str, type[Objective]] = {
    "language_modelling": LanguageModelling,
    "masked": MaskedTokens,
    "translation": Translation,
    "images": ImageClasses,
    "letters": Letters,
    "copy": Copy,
    "reverse": Reverse,
    "sort": Sort,
    "induction": Induction,
    "brackets": Brackets,
    "modular_addition": ModularAddition,
}
