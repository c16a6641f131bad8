"""A text while it grows: what the browser is sent of it, by runs of the page and between them."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from model.analysis.probabilities import given_probabilities
from model.decoding.course import Change, Course, differences
from model.decoding.filters import Sampling
from model.decoding.sampling import CONTEXT_FULL, END_OF_TEXT
from model.decoding.writing import Writing
from model.trace import Trace
from viz.kit.part import Part
from viz.kit.parts.writing import (
    Step,
    WrittenText,
    marks_data,
    new_labels,
    step_of,
    weights_of,
    writing_part,
)
from viz.kit.sampling import Distribution, distribution_of
from viz.kit.wire import Data, Settings, stream_looks

LARGEST_NEW_SEED = 9999
AT_ONCE = 20  # tokens, where no page says how many
MORE_SECONDS = 0.03  # how long to write for one question of the browser


@dataclass(frozen=True, eq=False)
class Prompt:
    """The run that a text goes on from, and the head whose attention is shown of it.

    `key` is the run's own. Its trace is asked for, since a growth outlives what is kept of runs.
    """

    key: str
    ask: Callable[[], Trace]
    layer: int
    head: int
    head_name: str

    @property
    def trace(self) -> Trace:
        """What the model did on it."""
        return self.ask()

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its tokens."""
        return self.trace.tokens

    @property
    def ids(self) -> tuple[int, ...]:
        """Its tokens as the model has them."""
        return tuple(self.trace.ids.tolist())


@dataclass
class Shown:
    """A distribution on screen: logits (V,) and how to draw from them."""

    logits: np.ndarray
    sampling: Sampling


@dataclass(eq=False)
class Growth:
    """A text one visitor has written after a prompt; `sampling_of` reads a browser's sliders.

    The browser may ask for `more` between runs of the page; both hold the text's lock meanwhile.
    """

    prompt: Prompt
    writing: Writing
    vocabulary: Sequence[str]
    sampling_of: Callable[[Mapping[str, object], int], Sampling]  # with the vocabulary's size
    start: str = ""  # the special token that every text of the model begins with
    is_greedy: bool = False
    part: Part | None = None  # as a browser has it; its arrays go with it
    name: str = field(default_factory=partial(secrets.token_hex, 4))  # as no other text has it

    @property
    def key(self) -> str:
        """Another one when anything but head, steps and settings is."""
        return f"{self.prompt.key}-{self.name}-{self.writing.version}"

    def more(self, asked: Mapping[str, object]) -> Data:
        """Write on for a moment, and what is new since the tokens the browser has.

        `asked` has `known`, their number; `settings`, the sliders; and `at`, the token of the whole
        text whose distribution is shown, or None. What a person does in the text is its `act`.
        """
        writing, sliders = self.writing, asked.get("settings")
        with writing.lock:
            if isinstance(sliders, dict) and not self.is_greedy:
                now = self.sampling_of(sliders, len(self.vocabulary))
                writing.steer(replace(now, seed=writing.now.seed))
            self.act(asked.get("act"))
            writing.feed(MORE_SECONDS)
            steps = self._steps()
            known = _whole(asked.get("known"), len(steps)) or 0
            tokens = self._tokens()
            shown, _ = self._distribution(_whole(asked.get("at"), len(tokens)))
            return {
                "key": self.key,
                "known": known,
                "steps": [step.said for step in steps[known:]],
                **new_labels(tokens, len(self.prompt.ids) + known),
                "marks": marks_data(self._marks()),
                "running": writing.is_running,
                "note": self.state(),
                "shown": shown.said,
                "arrays": {"logits": shown.logits, **weights_of(steps[known:])},
            }

    def act(self, asked: object) -> None:
        """Put a token, write again from one, write on or stop, as a person asked for."""
        if not isinstance(asked, dict):
            return
        writing, n_prompt, kind = self.writing, len(self.prompt.ids), asked.get("kind")
        at = _whole(asked.get("at"), n_prompt + len(writing.steps))
        token_id = _whole(asked.get("token"), len(self.vocabulary) - 1)
        if kind == "write":
            writing.run(len(writing.steps) + AT_ONCE)
        elif kind == "stop":
            writing.is_running = False
        elif at is None or at < n_prompt:
            return
        elif kind == "again":
            n = at - n_prompt
            writing.again(n, another_seed(writing.course.at(n).seed))
        elif token_id is not None:
            writing.put(at - n_prompt, token_id)

    def alone(self, settings: Settings) -> Part:
        """All of the text with every distribution, for where no page is drawn again."""
        while self.writing.is_running:
            self.writing.advance(MORE_SECONDS)
        n_all = len(self.prompt.ids) + len(self.writing.steps)
        found = {one.said["key"]: one for one, _ in map(self._distribution, range(1, n_all + 1))}
        part = self._part(list(found.values()), settings, self.state())
        return part.saying({**part.spec, "alone": True})

    def whole(self, at: int | None, settings: Settings, note: str) -> tuple[Part, Shown]:
        """All of the text as the browser takes it, and the distribution that is shown.

        `at` is the token of the whole text that was chosen, None to follow the newest.
        """
        distribution, shown = self._distribution(at)
        self.part = self._part([distribution], settings, note)
        return self.part, shown

    def _part(self, shown: Sequence[Distribution], settings: Settings, note: str) -> Part:
        text = WrittenText(
            tokens=self._tokens(),
            steps=self._steps(),
            given=given_probabilities(self.prompt.trace).tolist(),
            looks=stream_looks(self.prompt.trace.main),
            marks=self._marks(),
            head_name=self.prompt.head_name,
            is_running=self.writing.is_running,
            note=note,
        )
        return writing_part(self.key, text, shown, settings, is_greedy=self.is_greedy, answers=self)

    def state(self) -> str:
        """Why the text rests, and what it has lost, in words."""
        writing, n = self.writing, len(self.writing.steps)
        lines = {
            CONTEXT_FULL: f"Stopped at {writing.model.limit}. Choose “slide window” to "
            "continue without the older half.",
            END_OF_TEXT: f"The model ended the text after {n} new tokens.",
        }
        line = lines.get(writing.stopped or "", "")
        if not line and n and not writing.is_running:
            line = f"{n} new tokens."
        if n and writing.steps[-1].n_dropped:
            has_positions = writing.model.config.position != "none"
            again = "what remains is numbered from position 0 again, and " if has_positions else ""
            line += (
                f" The full context dropped its older half: {again}the model cannot attend to what "
                "was dropped."
            )
            if self.start:
                line += (
                    f" {self.start}, which begins every text of this model, was dropped too; "
                    "it goes on without it."
                )
        return line

    # --- its parts --------------------------------------------------------------------------------

    def _tokens(self) -> list[str]:
        new = (self.vocabulary[step.token_id] for step in self.writing.steps)
        return [*self.prompt.tokens, *new]

    def _steps(self) -> list[Step]:
        """Each step is prepared once for a head."""
        prompt, steps = self.prompt, self.writing.steps
        sent = self.writing.sent.setdefault((prompt.layer, prompt.head), [])
        sent += [step_of(step, prompt.layer, prompt.head) for step in steps[len(sent) :]]
        return sent

    def _marks(self) -> dict[int, str]:
        return marks_of(self.writing.course, len(self.writing.steps))

    def _logits(self, at: int) -> np.ndarray | None:
        """Logits (V,) of token `at` of the whole text, or None where they are gone."""
        n, writing = at - len(self.prompt.ids), self.writing
        if n < 0 or (n == 0 and not writing.steps):
            return self.prompt.trace.logits[at - 1]
        prediction = writing.prediction(n)
        return None if prediction is None else prediction.logits.numpy()

    def _nearest(self, wanted: int | None) -> tuple[int, np.ndarray]:
        """The place whose distribution is shown, and its logits (V,): the nearest there are."""
        n_all = len(self.prompt.ids) + len(self.writing.steps)
        newest = n_all - (self.writing.stopped == END_OF_TEXT)  # nothing comes after an end
        for at in (wanted, newest, n_all - 1):
            logits = None if at is None or not 0 < at <= n_all else self._logits(at)
            if at is not None and logits is not None:
                return at, logits
        return len(self.prompt.ids), self.prompt.trace.logits[-1]

    def _distribution(self, wanted: int | None) -> tuple[Distribution, Shown]:
        at, logits = self._nearest(wanted)
        writing, n = self.writing, at - len(self.prompt.ids)
        is_written = 0 <= n < len(writing.steps)
        shown = Shown(logits, writing.course.at(n) if is_written else writing.now)
        all_ids = [*self.prompt.ids, *(step.token_id for step in writing.steps)]
        found = distribution_of(
            f"{self.prompt.key}-{hash(writing.course.until(max(n, 0)))}-{writing.version}-{at}",
            at,
            logits,
            self.vocabulary,
            shown.sampling if is_written else None,
            all_ids[at] if at < len(all_ids) else None,
        )
        return found, shown


def another_seed(seed: int) -> int:
    """Any other one that is short enough to be read out."""
    return (seed + 1 + secrets.randbelow(LARGEST_NEW_SEED)) % (LARGEST_NEW_SEED + 1)


def _whole(raw: object, most: int) -> int | None:
    """A whole number from 0 to `most`; None for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, int):
        return None
    return raw if 0 <= raw <= most else None


def marks_of(course: Course, n_steps: int) -> dict[int, str]:
    """What changed before a new token, in words, by its number."""
    marks: dict[int, str] = {}
    pairs = zip(course.turns, course.turns[1:], strict=False)
    for (_, before), (at, after) in pairs:
        changed = differences(at, before, after)
        marks[at] = "from here on " + ", ".join(_said(change, before) for change in changed)
    for at, _ in course.picks:
        marks[at] = "; ".join(filter(None, [marks.get(at), "put here by hand"]))
    return {at: words for at, words in marks.items() if at < n_steps}


def _said(change: Change, before: Sampling) -> str:
    """One change of the settings, in words."""
    was, now = _value(getattr(before, change.name)), _value(change.value)
    return f"{_name(change.name)} {was} → {now}"


def _name(setting: str) -> str:
    """What a setting is called in a sentence: top-p."""
    return setting.replace("_", "-")


def _value(value: object) -> str:
    if value is None:
        return "all"
    if isinstance(value, tuple):
        return ", ".join(map(_name, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
