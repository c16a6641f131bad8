"""A model that is open, and a run of it: pictures, arrays and tables of what it did."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any
from warnings import warn

import numpy as np
import pandas as pd

from headlight.arrays import numbers
from headlight.circuit import Circuit, circuit_of
from headlight.why import Why
from model.analysis.fitted_lens import FittedLens, Fitting
from model.analysis.lens import logit_lens
from model.analysis.why.reasons import reasons
from model.analysis.why.rule import counted
from model.data.chat import turns_of
from model.decoding.writing import write
from model.given import Chat
from model.lines import quoted
from model.names import head_name
from model.sources.handle import Traced
from model.sources.table import Runnable, open_runnable
from model.sources.tokens import strings_of
from model.sources.transformers import lent
from model.survey.measured import of_model, on_input
from model.survey.samples import random_repeats
from model.trace import Trace
from viz.figures.lens import row_names
from viz.frame.sliders import sampling_of
from viz.kit.growth import Growth, Prompt
from viz.kit.part import Part, Pictured
from viz.kit.parts.attention import attention_part
from viz.kit.sampling import sampling_data

MOST_NEW = 200  # each comes with its whole distribution


def opened(given: Any, tokenizer: Any, device: str) -> "Model":  # noqa: ANN401
    """See `headlight.open`."""
    if isinstance(given, str | Path):
        if tokenizer is not None:
            raise ValueError(f"{quoted(given)} brings its own tokenizer; leave yours out")
        return Model(open_runnable(str(given), device))
    if device != "auto":
        raise ValueError(f"a model in memory stays where it is; move it with .to({device!r})")
    loaded = lent(given, tokenizer)
    for one in loaded.report:
        warn(one.text, stacklevel=3)
    return Model(loaded)


@dataclass(frozen=True, eq=False)
class Model:
    """A model, ready to run: `m("text")`, of one that takes pictures `m(array)`.

    A translator is given its source and writes its target. `opened` is the model as the rest of
    Headlight knows it.
    """

    opened: Runnable

    def __call__(self, given: Any) -> "Run":  # noqa: ANN401
        """Run it once and keep everything. given: a text, or a picture (S, S) from 0 to 1."""
        _refuse_in_training(self.opened)
        is_text = isinstance(given, str)
        if is_text != (self.opened.input_kind == "text"):
            raise ValueError(f"{self.opened.name} takes {'a picture' if is_text else 'one text'}")
        traced = self.opened.trace(given if is_text else _pixels(given))
        for line in _what_became_of_it(traced):
            warn(line, stacklevel=2)
        return Run(self.opened, traced.trace)

    def chat(self, turns: str | Sequence[Mapping[str, str]]) -> "Run":
        """Run it on a chat, as it reads one by its own template; an answer is asked for.

        turns: what a user says, or turns as transformers takes them, such as [{"role": "user",
        "content": "Hello!"}]. `run.trace.main.roles` says who wrote each token. ValueError for a
        model without a template, for a chat that the template refuses, and for one too long.
        """
        _refuse_in_training(self.opened)
        if "chat" not in self.opened.offers:
            raise ValueError(f"{self.opened.name} has no chat template; give it a text")
        return Run(self.opened, self.opened.trace(Chat(turns_of(turns))).trace)

    def random_repeats(self) -> "Run":
        """Run it on 24 random tokens and the same again, on which induction is measured.

        The same tokens each time: `run.heads().nlargest(3, "induction")` are its induction heads.
        ValueError for what is no decoder.
        """
        _refuse_in_training(self.opened)
        ids = random_repeats(self.opened).ids
        return Run(self.opened, self.opened.captured((ids, strings_of(self.opened, tuple(ids)))))

    def fitted_lens(self) -> FittedLens:
        """One affine map a layer, by least squares on texts that the model writes: `run.lens(it)`.

        `plain` and `fitted` are the errors of the logit lens and of this one on other texts of its
        own. Takes seconds, of a large model minutes. ValueError for what is no decoder, and for one
        without a cache or too large.
        """
        _refuse_in_training(self.opened)
        if not {"decoder", "vocabulary", "readout", "cache"} <= self.opened.offers:
            raise ValueError(f"{self.opened.name} writes no text whose streams a lens could read")
        work = Fitting(self.opened)
        work.finish()
        assert work.found is not None  # it is finished
        return work.found

    def __repr__(self) -> str:
        facts = self.opened.config
        return f"<{self.opened.name}: {facts.n_layers} layers × {facts.n_heads} heads>"


@dataclass(frozen=True, eq=False)
class Run(Pictured):
    """One run of a model on one input. In a notebook it shows itself: all heads, live.

    `trace` is all that was kept, as plain numpy. Of a long text a pattern is worked out when looked
    at: `np.asarray(record.pattern)`.
    """

    opened: Runnable
    trace: Trace

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens, of a translation those of its target; `trace.streams` has both."""
        return self.trace.tokens

    def attention(self, layer: int, head: int, group: str = "") -> np.ndarray:
        """The weights of one head, (Tq, Tk), read-only.

        group: which attention, such as "decoder.cross_attn", where a model has several. ValueError
        for what is not there.
        """
        return self.trace.heads_at(layer, head, group).records[layer].pattern[head]

    def attention_view(self, layer: int, head: int, group: str = "") -> Part:
        """The picture with one head open; in a notebook it shows itself. See `attention`."""
        chosen = {
            "attention": self.trace.heads_at(layer, head, group).name,
            "layer": layer,
            "head": head,
        }
        return attention_part(self.trace, model=self.opened.name, chosen=chosen)

    def why(
        self,
        layer: int,
        head: int,
        query: int,
        key: int,
        *,
        other: int | None = None,
        group: str = "",
    ) -> Why:
        """Why a head looks from one token to another: its score as an exact sum, in a sentence.

        query, key: numbers of tokens. other: a second key, to say why it looks here and not there.
        group: as in `attention`. ValueError where there is nothing to explain, or a model's parts
        do not add up to the score.
        """
        site = self.trace.heads_at(layer, head, group).records[layer].site
        return Why(reasons(self.trace, self.opened.model, site).cell(head, query, key, other))

    def rules(self, layer: int, head: int, group: str = "") -> pd.DataFrame:
        """By which rules a head looks on this input, and how many of its looks, the most first.

        A look is a query's strongest key with at least 0.3 of its weight. ValueError as `why`.
        """
        site = self.trace.heads_at(layer, head, group).records[layer].site
        found = counted(reasons(self.trace, self.opened.model, site), head).rules.most_common()
        return pd.DataFrame(found, columns=["rule", "looks"])

    def lens(self, fitted: FittedLens | None = None) -> pd.DataFrame:
        """What the model would predict after each layer (the logit lens), a row for each token.

        fitted: another lens, as `model.fitted_lens()` gives it. `rank` is the place of the final
        prediction there, from 1. ValueError for a model whose layers cannot be read so.
        """
        decoder, name = self.opened.decoder, self.opened.name
        if "readout" not in self.opened.offers or not self.trace.main.residuals:
            raise ValueError(f"{name} has no stream that a norm and a matrix turn into its logits")
        lens = logit_lens(self.trace, decoder, k=1, fitted=fitted)
        rows, positions = np.indices(lens.rank.shape).reshape(2, -1)
        columns = {
            "after": np.array(row_names(len(lens.rank)))[rows],
            "position": positions,
            "token": np.array(self.tokens)[positions],
            "prediction": list(map(self.opened.tokenizer.name, lens.ids.ravel().tolist())),
            "probability": lens.probs.ravel(),
            "rank": lens.rank.ravel() + 1,
            "entropy": lens.entropy.ravel(),
        }
        return pd.DataFrame(columns)

    def heads(self) -> pd.DataFrame:
        """Every head measured on this input, as the page Heads measures it, a row for each."""
        of_weights, tables = of_model(self.opened.model), []
        for group, own in on_input(self.opened, self.trace).items():
            measures = {name: x.values for name, x in (own | of_weights).items()}  # (L, H) each
            layers, heads = np.indices(measures["broad"].shape)
            columns = {"layer": layers, "head": heads, **measures}
            table = pd.DataFrame({name: x.ravel() for name, x in columns.items()})
            table.insert(0, "group", group)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def circuit(
        self, second: str = "", *, answer: str | None = None, against: str | None = None
    ) -> Circuit:
        """What leads from the words to the answer, edge by edge, against another text.

        second: a text of as many tokens, as this with one word exchanged. answer, against: tokens;
        by default those that both texts make more likely. ValueError where there is no circuit:
        texts of different lengths, no difference, a model whose parts do not add up.
        """
        return circuit_of(self.opened, self.trace, second, answer, against)

    def checks(self) -> pd.DataFrame:
        """What this run was checked against: name, error, bound, and whether it passed."""
        checks = self.opened.check(self.trace)
        return pd.DataFrame([{**asdict(check), "passed": check.passed} for check in checks])

    def writing_view(
        self, new_tokens: int = 12, *, layer: int = 0, head: int = 0, seed: int = 0
    ) -> Part:
        """The text written on, and what each token was drawn from, with the sliders.

        In a notebook the model goes on when asked; saved (`.save(path)`), the text can be stepped
        through, and each distribution follows its sliders. ValueError for a model that writes none.
        """
        if not {"decoder", "text", "vocabulary"} <= self.opened.offers:
            raise ValueError(f"{self.opened.name} does not write a text token by token")
        if isinstance(new_tokens, bool) or new_tokens not in range(MOST_NEW + 1):
            raise ValueError(f"there are no {new_tokens!r} new tokens; give 0 to {MOST_NEW}")
        self.attention(layer, head, "decoder.attn")  # which refuses one that is not there
        prompt = Prompt(token_hex(8), lambda: self.trace, layer, head, head_name(layer, head))
        return _written(self.opened, prompt, new_tokens, seed)

    @property
    def part(self) -> Part:
        """The picture."""
        return self._part

    @cached_property
    def _part(self) -> Part:
        return attention_part(self.trace, model=self.opened.name)

    def __repr__(self) -> str:
        return f"<run of {self.opened.name} on {len(self.tokens)} tokens>"


def _written(opened: Runnable, prompt: Prompt, new_tokens: int, seed: int) -> Part:
    """A prompt with so many new tokens, for where no page is drawn again."""
    vocabulary = list(map(opened.tokenizer.name, range(opened.tokenizer.vocab_size)))
    now = replace(sampling_of({}, len(vocabulary)), seed=seed)
    writing = write(opened.decoder, opened.end_ids, prompt.ids, now)
    if new_tokens:
        writing.run(new_tokens)
    chosen = {**sampling_data(now), "at": None, "averaged": False, "rests": 0}
    return Growth(prompt, writing, vocabulary, sampling_of).alone(chosen)


def _refuse_in_training(given: Runnable) -> None:
    """A model in memory may have been told to train since it was opened."""
    if given.model.is_training:
        raise ValueError(f"{given.name} is in training mode, with dropout; call model.eval() first")


def _pixels(given: Any) -> np.ndarray:  # noqa: ANN401
    try:
        pixels = numbers(given)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError("this is no picture; give an array (S, S) from 0 to 1") from None
    if pixels.ndim != 2 or not pixels.size:
        raise ValueError(f"the array has the shape {pixels.shape}; give (S, S), from 0 to 1")
    if not np.all((pixels >= 0) & (pixels <= 1)):
        raise ValueError("pixels are not all from 0 to 1; divide them by the largest there can be")
    return pixels


def _what_became_of_it(traced: Traced) -> list[str]:
    """Where the tokenizer read another text, or not all of it had room, a line each."""
    n, n_cut = len(traced.trace.streams[0]), traced.n_cut
    cut = f"the text has {n + n_cut} tokens: the first {n} are run, the last {n_cut} are cut"
    read = f"the tokenizer turns the text into “{quoted(traced.reads)}”"
    return ([cut] if n_cut else []) + ([read] if traced.reads is not None else [])
