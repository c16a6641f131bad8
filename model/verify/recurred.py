"""What the lesson on recurrence shows, worked out once more in numpy float64 from the files.

Equations of the gated unit: Cho et al. 2014, eq. 5 to 8; of attention: Bahdanau et al. 2015,
appendix A. The Transformer is `model.reference`, from the same kind of file. Nothing of
`model.recurrence` is used.
"""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from model import reference
from model.verify.named import Array, Made, Named
from model.verify.texts import Vocabulary

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "recurrence"
MODELS, TASKS = ("fixed", "additive", "transformer"), ("reverse", "copy")
N_LETTERS = 26
START, END, FIRST_TASK = N_LETTERS, N_LETTERS + 1, N_LETTERS + 2
VOCABULARY = Vocabulary(
    {
        **{i: bytes([ord("a") + i]) for i in range(N_LETTERS)},
        **{START + i: word for i, word in enumerate((b"start", b"end", b"reverse", b"copy"))},
    },
    keeps_all=False,
)


@dataclass(frozen=True, eq=False)
class IndependentRecurrence(Named):
    """One row of letters under one task, in all three models.

    `letters` is what was typed, a to z. Addresses, after `recurrence.`: NAME.written, NAME.right,
    additive.energies, additive.weights, additive.contexts, transformer.patterns (L, H, Tt, Ts),
    transformer.own (L, H), NAME.parameters; NAME.rows.TASK and NAME.letters.TASK, the stored
    shares by length, NAME.length.TASK; and NAME.known, NAME.writing, NAME.from_source,
    NAME.within_target, steps one after the other; NAME.seen, rows in training,
    NAME.of_each.TASK, rows that were scored, source and answer, the ids read and due.
    """

    task: str
    letters: str

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return VOCABULARY

    @property
    def row(self) -> Sequence[int]:
        """See `Named`: the source."""
        ids = [ord(letter) - ord("a") for letter in self.letters]
        return [FIRST_TASK + TASKS.index(self.task), *ids, END]

    @cached_property
    def right(self) -> list[int]:
        """What should be written, without the end."""
        own = list(self.row[1:-1])
        return own[::-1] if self.task == "reverse" else own

    def made(self) -> Made:
        """See `Named`."""
        found: dict[str, Callable[[], Array]] = {
            "additive.energies": lambda: self._run("additive").stacked("energies"),
            "additive.weights": lambda: self._run("additive").stacked("weights"),
            "additive.contexts": lambda: self._run("additive").stacked("contexts"),
            "transformer.patterns": self._patterns,
            "transformer.own": self._own,
            "source": lambda: np.array(self.row),
            "answer": lambda: np.array([*self.right, END]),
        }
        for name in MODELS:
            found[f"{name}.written"] = partial(self._written, name)
            found[f"{name}.right"] = partial(self._n_right, name)
            found[f"{name}.seen"] = partial(_n_seen, name)
            found[f"{name}.parameters"] = partial(_n_parameters, name)
            for place, what in enumerate(("known", "writing", "from_source", "within_target")):
                found[f"{name}.{what}"] = partial(self._steps, name, place)
            for task in TASKS:
                found[f"{name}.of_each.{task}"] = partial(_n_rows, name, task)
                found[f"{name}.length.{task}"] = partial(_lengths, name, task)
                found[f"{name}.rows.{task}"] = partial(_shares, name, task, is_of_rows=True)
                found[f"{name}.letters.{task}"] = partial(_shares, name, task, is_of_rows=False)
        return {f"recurrence.{name}": make for name, make in found.items()}

    @cache  # noqa: B019  as long as the object itself is kept
    def _run(self, name: str) -> "_Run":
        longest = len(self.letters) + 4
        if name == "transformer":
            return _transformer_run(self.row, longest)
        return _recurrent_run(name, self.row, longest)

    def _written(self, name: str) -> Array:
        return np.array(self._run(name).target)

    def _n_right(self, name: str) -> Array:
        pairs = zip(self._run(name).target, self.right, strict=False)
        return np.array(sum(a == b for a, b in pairs))

    def _patterns(self) -> Array:
        files, target = _transformer(), self._run("transformer").target
        given = (np.array(self.row), np.array([START, *target[:-1]]))
        found = dict(reference.arrays(files, given))
        layers = range(files.config["n_layers"])
        return np.stack([found[f"decoder.blocks.{i}.cross_attn.pattern"] for i in layers])

    def _own(self) -> Array:
        """The mean weight of each head on the letter that is due."""
        patterns, n = self._patterns(), len(self.letters)
        n_rows = min(n, patterns.shape[2])
        due = [n - i if self.task == "reverse" else i + 1 for i in range(n_rows)]
        found = [patterns[:, :, i, place] for i, place in enumerate(due)]
        return np.mean(found, axis=0)

    def _steps(self, name: str, place: int) -> Array:
        n = len(self.letters)
        if name == "transformer":
            config = _transformer().config
            below, above = config["n_encoder_layers"], config["n_layers"]
            return np.array((below + above, below + above * (n + 1), 1, 1)[place])
        farthest = 2 if name == "additive" else (n + 3) // 2
        return np.array((2 * n + 3, 2 * n + 3, farthest, n + 1)[place])


@dataclass
class _Run:
    """What was written, and what was attended to at each token."""

    target: list[int]
    looked: list[dict[str, Array]]

    def stacked(self, name: str) -> Array:
        return np.stack([step[name] for step in self.looked])


# --- files --------------------------------------------------------------------------------------


@cache
def _weights(name: str) -> Mapping[str, Array]:
    stored = reference.Stored(FOLDER / name / "model.safetensors")
    return {key: stored[key] for key in stored}


@cache
def _transformer() -> reference.Files:
    return reference.read(FOLDER / "transformer")


def _n_parameters(name: str) -> Array:
    return np.array(sum(weight.size for weight in _weights(name).values()))


def _n_seen(name: str) -> Array:
    """Rows of all steps of training."""
    recipe = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return np.array(sum(stage["steps"] for stage in recipe["stages"]) * recipe["batch"])


def _n_rows(name: str, task: str) -> Array:
    """How many rows each length was scored on, by length."""
    return np.array([line["n_rows"] for line in _lines(name, task)])


def _lines(name: str, task: str) -> list[dict[str, Any]]:
    """What is stored of one task, the shortest rows first."""
    content = (FOLDER / name / "accuracy.json").read_text(encoding="utf-8")
    own = (line for line in json.loads(content)["scores"] if line["task"] == task)
    return sorted(own, key=lambda line: line["n_letters"])


def _lengths(name: str, task: str) -> Array:
    return np.array([line["n_letters"] for line in _lines(name, task)])


def _shares(name: str, task: str, *, is_of_rows: bool) -> Array:
    if is_of_rows:
        return np.array([line["n_exact"] / line["n_rows"] for line in _lines(name, task)])
    right, rows, letters = (
        np.array([line[what] for line in _lines(name, task)])
        for what in ("n_right", "n_rows", "n_letters")
    )
    return right / (rows * letters)


# --- recurrent ----------------------------------------------------------------------------------


def _sigmoid(x: Array) -> Array:
    return (1 + np.tanh(x / 2)) / 2


def _next_state(weights: Mapping[str, Array], unit: str, x: Array, h: Array) -> Array:
    """(1 − z) ∘ h + z ∘ h̃ of one input x, (D,), and one state h, (n,)."""
    n = len(h)
    w, b = weights[f"{unit}.of_input.weight"], weights[f"{unit}.of_input.bias"]
    u = weights[f"{unit}.of_gates.weight"]
    z = _sigmoid(w[:n] @ x + u[:n] @ h + b[:n])
    r = _sigmoid(w[n : 2 * n] @ x + u[n:] @ h + b[n : 2 * n])
    candidate = np.tanh(w[2 * n :] @ x + weights[f"{unit}.of_state.weight"] @ (r * h) + b[2 * n :])
    return (1 - z) * h + z * candidate


def _states(weights: Mapping[str, Array], unit: str, xs: Sequence[Array]) -> list[Array]:
    h = np.zeros(weights[f"{unit}.of_state.weight"].shape[0])
    found = []
    for x in xs:
        h = _next_state(weights, unit, x, h)
        found.append(h)
    return found


def _looked(weights: Mapping[str, Array], state: Array, annotations: Array) -> dict[str, Array]:
    """e_j = v·tanh(W s + U h_j), α = exp e_j / Σ exp e, c = Σ α_j h_j."""
    of_state = weights["attention.of_state.weight"] @ state
    of_annotations = weights["attention.of_annotations.weight"]
    v = weights["attention.v.weight"][0]
    energies = np.array([v @ np.tanh(of_state + of_annotations @ h) for h in annotations])
    alphas = reference.softmax(energies)
    return {"energies": energies, "weights": alphas, "contexts": alphas @ annotations}


def _recurrent_run(name: str, source: Sequence[int], longest: int) -> _Run:
    """Read a source and write its target greedily."""
    weights = _weights(name)
    embed = weights["embed.weight"]
    xs = [embed[i] for i in source]
    there = _states(weights, "forwards", xs)
    back = _states(weights, "backwards", xs[::-1])[::-1]
    annotations = np.array([np.concatenate(pair) for pair in zip(there, back, strict=True)])
    whole = np.concatenate([there[-1], back[0]])
    has_attention = "attention.v.weight" in weights
    first = back[0] if has_attention else whole
    state = np.tanh(weights["first_state.weight"] @ first + weights["first_state.bias"])
    run, last = _Run([], []), START
    while len(run.target) < longest and last != END:
        context = whole
        if has_attention:
            run.looked.append(_looked(weights, state, annotations))
            context = run.looked[-1]["contexts"]
        given = np.concatenate([embed[last], context])
        state = _next_state(weights, "decoder", given, state)
        logits = weights["output.weight"] @ np.concatenate([state, given]) + weights["output.bias"]
        last = int(logits.argmax())
        run.target.append(last)
    return run


def _transformer_run(source: Sequence[int], longest: int) -> _Run:
    """The same, the whole target so far run again for each token."""
    files, run = _transformer(), _Run([], [])
    while len(run.target) < longest and END not in run.target:
        given = (np.array(source), np.array([START, *run.target]))
        *_, (_, logits) = reference.arrays(files, given)
        run.target.append(int(logits[-1].argmax()))
    return run
