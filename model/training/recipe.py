"""How one checkpoint is trained, as read from a TOML file in assets/recipes."""

import json
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import Any

from model.architectures.table import DEFAULT, architecture
from model.data.text import read_text
from model.data.tokenizer import TOKENIZERS
from model.device import PRECISIONS
from model.fields import check_types, from_fields
from model.lines import quoted
from model.training.objectives import OBJECTIVES
from model.training.optimizers import OPTIMIZERS, SCHEDULES
from model.training.plan import Plan, Stage
from model.weights import INITIALISATIONS

RECIPE_FILE = "recipe.toml"  # in the folder of a training
# What only says how a run is watched: a resumed run may differ in it.
_WATCHING = {"name", "log_every", "save_every", "evaluate_every", "snapshots", "probes"}
_ANY = _MOST_STEPS = 10**9  # a bound that is only there to find what is mistyped
_LINE = 96  # letters of a line of comment
NOTHING: Mapping[str, str] = MappingProxyType({})


def _entry(
    about: str,
    default: Any = MISSING,  # noqa: ANN401
    *,
    among: Collection[str] = (),
    within: tuple[float, float] | None = None,
) -> Any:  # noqa: ANN401
    """A field: what a person reads of it, what it may be one of, or from the least to the most.

    Beyond the bounds something is mistyped, or no machine can do it.
    """
    return field(default=default, metadata={"about": about, "among": among, "within": within})


_COUNT, _OR_NONE, _SHARE, _RATE = (1, _ANY), (0, _ANY), (0, 1), (0, 100)


@dataclass(frozen=True)
class Entry:
    """One field of a recipe, of its one stage or of its model: its value, and what it may be."""

    key: str
    value: Any
    about: str
    among: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How one checkpoint is trained; beside each field is what it means."""

    name: str = _entry("what the run is called")
    objective: str = _entry("what is learnt", "language_modelling", among=OBJECTIVES)
    tokenizer: str = _entry("what makes tokens of text, none for pictures", among=TOKENIZERS)
    vocab_size: int = _entry("tokens to make; 0 where that is not chosen", within=(0, 1_000_000))
    tokenizer_of: str = _entry(
        "a checkpoint whose tokenizer is taken; special tokens that it lacks come after its others",
        "",
    )
    weights_of: str = _entry(
        "a checkpoint, of the same sizes, whose weights training begins with", ""
    )
    model: dict[str, Any] = _entry("sizes and variants of the model")  # noqa: RUF009, has no default
    stages: tuple[Stage, ...] = _entry(
        "steps, and the length of their windows, one after the other"
    )
    batch_tokens: int = _entry("tokens in a step", within=(1, 10_000_000))
    optimizer: str = _entry("what changes the weights", "muon", among=OPTIMIZERS)
    schedule: str = _entry(
        "how learning rates go after warm-up: cosine falls as one, noam as 1/√step, constant not",
        "cosine",
        among=SCHEDULES,
    )
    matrix_lr: float = _entry("peak learning rate of the hidden matrices", 6e-3, within=_RATE)
    other_lr: float = _entry("that of embeddings, norms and biases", 2e-3, within=_RATE)
    weight_decay: float = _entry("how much matrices shrink, times their rate", 0.05, within=_RATE)
    warmup_steps: int = _entry("steps over which the rates rise", 100, within=_OR_NONE)
    final_lr_share: float = _entry("where cosine ends, as a share of the peak", 0.0, within=_SHARE)
    max_grad_norm: float = _entry(
        "the longest gradient, longer ones are scaled; 0 clips nothing", 1.0, within=_OR_NONE
    )
    label_smoothing: float = _entry(
        "share of a target’s probability that is spread over all classes, below 1", 0.0
    )
    average_last: int = _entry(
        "of how many steps the mean of the weights is kept (Vaswani et al. 2017, §6.1); 0 is off",
        0,
        within=_OR_NONE,
    )
    average_every: int = _entry("how far these steps are apart", 1, within=_COUNT)
    initialisation: str = _entry("how weights are drawn", "normal", among=INITIALISATIONS)
    precision: str = _entry("bfloat16 is used where it is native", "bfloat16", among=PRECISIONS)
    compile: bool = _entry("compile the model first, which needs a C++ compiler", default=False)
    seed: int = _entry("all that is random follows from it", 0, within=(0, 2**63 - 1))
    log_every: int = _entry("steps between lines of the log", 10, within=_COUNT)
    save_every: int = _entry(
        "steps between saves; there is one each half minute, too", 200, within=_COUNT
    )
    evaluate_every: int = _entry("steps between evaluations on held-out data", 500, within=_COUNT)
    probes: str = _entry(
        "texts whose attention is kept as it forms, one a line (of a translation the source, a "
        "tab, the target); empty takes what was held out first",
        "",
    )
    snapshots: int = _entry(
        "checkpoints kept on the way, each in its folder, at log-spaced steps from the first to "
        "the last; 0 keeps none",
        0,
        within=(0, 100),
    )

    def __post_init__(self) -> None:
        check_types(self, "recipe")
        if not self.stages:
            raise ValueError("recipe: there is no stage; give one with steps and seq_len")
        for entry in fields(self):
            name, value = entry.name, getattr(self, entry.name)
            among, within = (entry.metadata[key] for key in ("among", "within"))
            if among and value not in among:
                raise ValueError(f"recipe: {name} {quoted(value)!r}; choose {', '.join(among)}")
            if within and not within[0] <= value <= within[1]:
                raise ValueError(
                    f"recipe: {name} is {quoted(value)}; it must be from {within[0]:,} to "
                    f"{within[1]:,}"
                )
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(
                f"recipe: label_smoothing is {self.label_smoothing}; it must be at least 0 and "
                "below 1"
            )
        if self.weights_of and self.tokenizer != "none" and self.tokenizer_of != self.weights_of:
            raise ValueError(
                f"recipe: weights_of is {quoted(self.weights_of)!r} but tokenizer_of is "
                f"{quoted(self.tokenizer_of)!r}; name the same checkpoint in both"
            )
        for stage in self.stages:
            is_whole = 1 <= stage.seq_len <= self.batch_tokens
            if not 1 <= stage.steps <= _MOST_STEPS or not is_whole:
                raise ValueError(
                    f"recipe: a stage of {quoted(stage.steps)} steps with seq_len "
                    f"{quoted(stage.seq_len)} and batch_tokens {self.batch_tokens}; a batch holds "
                    f"at least one window, and a stage 1 to {_MOST_STEPS:,} steps"
                )
        n_averaged = (self.total_steps - 1) // self.average_every + 1
        if self.average_last > n_averaged:
            raise ValueError(
                f"recipe: average_last is {self.average_last}; it must be at most {n_averaged}: "
                f"no more of {self.total_steps} steps are {self.average_every} apart"
            )

    @property
    def plan(self) -> Plan:
        """Which batches the stages are."""
        return Plan(self.stages, self.batch_tokens, self.seed, self.label_smoothing)

    @property
    def determining(self) -> dict[str, str]:
        """The fields that the trained numbers depend on, as JSON; sizes of the model each alone."""
        found = {name: x for name, x in asdict(self).items() if name not in _WATCHING}
        model = {f"model.{name}": x for name, x in found.pop("model").items()}
        return {name: json.dumps(x) for name, x in (found | model).items()}

    @property
    def total_steps(self) -> int:
        """Steps of all stages."""
        return self.plan.total_steps

    def is_averaged(self, step: int) -> bool:
        """Whether the weights after so many steps are among those that are averaged."""
        n_later, rest = divmod(self.total_steps - step, self.average_every)
        return rest == 0 and 0 <= n_later < self.average_last

    def lr_share(self, step: int) -> float:
        """Share of the peak learning rates at a step, by the schedule."""
        return SCHEDULES[self.schedule](
            step,
            warmup_steps=self.warmup_steps,
            total_steps=self.total_steps,
            final_share=self.final_lr_share,
        )

    @classmethod
    def load(cls, path: Path, changes: Sequence[str] = ()) -> "Recipe":
        """Read a TOML recipe, with some fields set otherwise, as `changed` has it.

        ValueError when it is broken or has an unknown key.
        """
        text = read_text(path)
        try:
            return from_fields(cls, changed(tomllib.loads(text), changes), "recipe")
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is not valid TOML: {error}") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}; see `python -m model recipe`") from None

    def with_changes(self, changes: Sequence[str]) -> "Recipe":
        """The recipe with some fields set otherwise, as `changed` has it."""
        given = {**asdict(self), "stages": [asdict(stage) for stage in self.stages]}
        return from_fields(Recipe, changed(given, changes), "recipe")

    @property
    def entries(self) -> "list[Entry]":
        """All that can be set otherwise by `with_changes`, in the order of the file."""
        config = architecture(self.model.get("architecture", DEFAULT)).config
        own = [
            Entry(x.name, getattr(self, x.name), _about(x), tuple(x.metadata["among"]))
            for x in fields(self)
            if x.name not in ("stages", "model")
        ]
        of_stage = asdict(self.stages[0]) if len(self.stages) == 1 else {}
        stage = [Entry(name, value, "", ()) for name, value in of_stage.items()]
        model = [
            Entry(x.name, self.model.get(x.name, x.default), "", config.choices.get(x.name, ()))
            for x in fields(config)
            if x.name != "vocab_size"
        ]
        return [*own, *stage, *model]

    def to_toml(self) -> str:
        """The recipe as a file, with what each field means and may be."""
        blocks, tables = [], []
        for entry in fields(self):
            value = getattr(self, entry.name)
            about = "\n".join(f"# {line}" for line in wrap(_about(entry), _LINE))
            if entry.name == "stages":
                rows = (_table("[[stages]]", asdict(stage)) for stage in value)
                tables.append(f"{about}\n" + "\n".join(rows))
            elif entry.name == "model":
                tables.append(f"{about}\n{_table('[model]', value, _model_choices(value))}")
            else:
                blocks.append(f"{about}\n{entry.name} = {_toml(value)}\n")
        return "\n".join([*blocks, *tables])


def changed(given: Mapping[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """The fields of a recipe with some set otherwise, each as `KEY=VALUE`, the value as in TOML.

    A key that is no field of a recipe is one of its one stage, or of the model. ValueError where
    there is no value, or several stages.
    """
    found = {**given, "model": {**given.get("model", {})}}
    for change in changes:
        key, is_there, text = change.partition("=")
        if not is_there or not key.strip():
            raise ValueError(f"{quoted(change)!r} sets nothing; give KEY=VALUE, such as steps=500")
        key, value = key.strip(), _value(text.strip())
        if key in (entry.name for entry in fields(Recipe)):
            found[key] = value
        elif key in (entry.name for entry in fields(Stage)):
            stages = found.get("stages", [])
            if len(stages) != 1:
                raise ValueError(f"there are {len(stages)} stages; set {key} in the recipe's file")
            found["stages"] = [{**stages[0], key: value}]
        else:
            found["model"][key.removeprefix("model.")] = value
    return found


def _value(text: str) -> object:
    """What a value means in TOML; what means nothing there is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _about(entry: Field[Any]) -> str:
    among, within = (entry.metadata[key] for key in ("among", "within"))
    more = f": {', '.join(among)}" if among else ""
    if within and within[1] < _ANY:
        more += f" (from {within[0]:,} to {within[1]:,})"
    return f"{entry.metadata['about']}{more}"


def _model_choices(model: Mapping[str, Any]) -> dict[str, str]:
    """What variants of a model may be, by the name of the field."""
    choices = architecture(model.get("architecture", DEFAULT)).config.choices
    return {name: ", ".join(names) for name, names in choices.items()}


def _table(head: str, values: Mapping[str, Any], notes: Mapping[str, str] = NOTHING) -> str:
    lines = [
        f"{name} = {_toml(value)}" + (f"  # {notes[name]}" if name in notes else "")
        for name, value in values.items()
    ]
    return "\n".join([head, *lines, ""])


def _toml(value: object) -> str:
    """A plain value as TOML spells it, which for these is as JSON does."""
    return json.dumps(value, ensure_ascii=False)
