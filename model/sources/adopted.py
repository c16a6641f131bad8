"""A model of transformers that is open: its runs, and what they are checked against."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adopted.model import AdoptedModel, capture_adopted
from model.adopted.tokenizer import AdoptedTokenizer
from model.adopted.turning import turning
from model.analysis.attribution import can_attribute
from model.analysis.interventions import run_rows
from model.data.chat import refuse_longer, roles_of
from model.data.tokenizer import START_OF_TEXT
from model.decoding.predict import check_prompt
from model.given import Blanked, Chat, Given, Translation
from model.grown import Known, grown, nothing
from model.inputs import Text, blanked_ids
from model.parts import are_sums
from model.records import to_numpy
from model.sources.handle import Traced
from model.tap import Attachment, Edit, Recorder, attach
from model.trace import Facts, Stream, Trace
from model.verify.check import Check, Finding, relative_error
from model.verify.declared import Declared, Turn, check_declared
from model.verify.records import check_records

MOST_WRITTEN = 48  # tokens of a target
BOUND = 1e-4


@dataclass(frozen=True, eq=False)
class Adopted:
    """A model of transformers, opened. `report` says whether it is what its files mean."""

    name: str
    folder: Path
    model: AdoptedModel
    own_tokenizer: AdoptedTokenizer | None
    report: tuple[Finding, ...] = ()
    declared: Declared | None = None  # what its file says of attention

    @property
    def special_ids(self) -> frozenset[int]:
        """Ids of tokens that stand for no text; none where it reads none."""
        return self.own_tokenizer.special_ids if self.own_tokenizer else frozenset()

    @property
    def tokenizer(self) -> AdoptedTokenizer:
        """Its tokenizer; ValueError where its folder has none."""
        if self.own_tokenizer is None:
            raise ValueError(
                f"{self.name} has no tokenizer; put its tokenizer.json, or the files it is built "
                "of, into its folder"
            )
        return self.own_tokenizer

    @cached_property
    def end_ids(self) -> frozenset[int]:
        """Tokens that end a text: those of `generate` of transformers, or the tokenizer's.

        There may be several, such as the ends of a text and of a turn.
        """
        inner, rows = self.model.inner, range(self.model.facts.vocab_size or 0)
        for said in (getattr(inner, "generation_config", None), inner.config):
            ends = getattr(said, "eos_token_id", None)
            if known := frozenset(rows).intersection(ends if isinstance(ends, list) else [ends]):
                return known
        return frozenset({self.tokenizer.end_id})

    @property
    def off(self) -> tuple[str, ...]:
        """What of the report is not as it should be."""
        return tuple(one.text for one in self.report if one.is_off)

    @cached_property
    def _has_parts(self) -> bool:
        """Whether its logits are a sum of parts; found once."""
        return can_attribute(self.model)

    @property
    def config(self) -> Facts:
        """What is known of it."""
        return self.model.facts

    @property
    def decoder(self) -> AdoptedModel:
        """The model, where a decoder is needed; ValueError when it predicts no next token."""
        if self.config.architecture != "decoder" or not self.config.predicts:
            raise ValueError(f"{self.name} is no decoder: it does not say how a text goes on")
        return self.model

    @property
    def input_kind(self) -> str:
        """What the model takes."""
        return "image" if self.model.pictures else "text"

    @property
    def offers(self) -> frozenset[str]:
        """Other inputs, a vocabulary, and running again, where there is what reads them."""
        taken = ("text", "vocabulary") if self.own_tokenizer else ("image",)
        if self.own_tokenizer is None and self.model.pictures is None:
            return frozenset()
        again = (self.config.architecture,) if self.config.predicts else ()
        is_alone = len(self.model.anatomy.stacks) == 1
        offers = {
            "readout": self.model.readout,
            "mask": self.config.mask,
            "projections": self.model.has_projections,
            "answers": again,
            "blocks": self.model.stacks,
            "cache": again and not self.model.config.n_together,
            "chat": "decoder" in again and self.own_tokenizer and self.own_tokenizer.template,
            "sums": are_sums(self.model.sublayers),
            "edits": is_alone and self.model.anatomy.has_residuals,
            "parts": self._has_parts,
            "embeddings": self.model.embeds,
            "neurons": self.model.n_neurons,
            "blanks": "encoder" in again and self.own_tokenizer and self.own_tokenizer.can_hide,
        }
        known = (name for name, there in offers.items() if there)
        return frozenset((*taken, *again, *known))

    def trace(self, text: Given, mask: np.ndarray | None = None, known: Known = nothing) -> Traced:
        """Capture a text, markup, or a text with hidden tokens; a chat; or a picture, (S, S).

        What of a text is beyond the context is cut, a chat is refused then; a picture is enlarged
        to as many pixels as are taken.

        Of a source the target is what the model writes, the most likely token but for the rules
        of its folder, or what is fed in. mask: (T, T) bool, taken instead of the model's own.
        Where all but the last token is `known`, the last one alone is run.
        Raises ValueError for a text without tokens, and for what is no text.
        """
        pictures = self.model.pictures
        if isinstance(text, np.ndarray) and pictures:
            return Traced(self.captured((pictures.enlarged(text),), mask=mask))
        if isinstance(text, np.ndarray) or pictures:
            raise ValueError(f"{self.name} takes {'a picture' if pictures else 'a text'} alone")
        if isinstance(text, Chat):
            return self._of_chat(text, mask, known)
        words = text[0] if isinstance(text, Blanked | Translation) else text
        ids = self.tokenizer.encode(words)
        if not ids:
            raise ValueError("the text is empty; give a sentence of at least one token")
        kept = ids[: self.model.config.max_seq_len]
        if isinstance(text, Blanked):
            kept = blanked_ids(self.tokenizer, kept, text.blanks)
        row = (kept, self.tokenizer.labels(words, kept))
        if self.config.architecture != "encoder_decoder":
            trace = self._run(row, mask, known)
        else:
            target = self._target(kept, text.target if isinstance(text, Translation) else None)
            trace = self.captured((row, (target, self.tokenizer.token_strings(target))))
        return Traced(trace, len(ids) - len(kept), self.tokenizer.reads(words))

    def _of_chat(self, chat: Chat, mask: np.ndarray | None, known: Known) -> Traced:
        """See `trace`; ValueError for a chat that does not fit: nothing of it is cut."""
        read = self.tokenizer.chat(chat)
        refuse_longer(read, chat, self.model.config.max_seq_len)
        ids = self.tokenizer.encode(chat)
        trace = self._run((ids, self.tokenizer.token_strings(ids)), mask, known)
        stream = replace(trace.main, roles=roles_of(read, chat))
        return Traced(replace(trace, streams=(stream,)))

    def _run(self, row: Text, mask: np.ndarray | None, known: Known) -> Trace:
        """Capture ids and their labels; the last one alone, where the others are known."""
        goes_on = mask is None and {"decoder", "cache"} <= self.offers
        trace = grown(self.model, known, *row) if goes_on else None
        return trace.marked(self.special_ids) if trace else self.captured(row, mask=mask)

    def _target(self, source: Sequence[int], fed: Sequence[int] | None) -> list[int]:
        """The ids of a target from its start on: those that are fed in, or what is written."""
        start, end = self.tokenizer.id_of(START_OF_TEXT), self.tokenizer.end_id
        ids = fed
        if ids is None:  # without a head it writes nothing: its start is all it is given
            ids = self.written(source) if self.config.predicts else []
        return [start, *(i for i in ids if i != end)][: self.model.config.max_seq_len]

    def written(self, source: Sequence[int], most: int = MOST_WRITTEN) -> list[int]:
        """What the model writes of a source, as transformers has it write, without its start."""
        if not hasattr(self.model.inner, "generate"):
            raise ValueError(f"{self.name} has no head that writes a target; open one that has")
        self.model.check_length(len(source))
        check_prompt(source[:1], self.model.config.max_seq_len, most)
        n_new = min(most, self.model.config.max_seq_len - 1)
        options = {"do_sample": False, "num_beams": 1, "max_new_tokens": n_new}
        return self.model.inner.generate(self._batch(source), **options)[0, 1:].tolist()

    def captured(
        self,
        arguments: tuple[Any, ...],
        attachments: Sequence[Attachment] = (),
        mask: np.ndarray | None = None,
    ) -> Trace:
        """Capture ids and their labels, of a translation both of source and target, or pixels."""
        if pictures := self.model.pictures:
            pixels = _frozen(arguments[0])
            stream = Stream(self.model.name, "patches", pictures.labels, pixels=pixels)
            given = self._batch(pixels)
            return capture_adopted(self.model, given, [stream], mask, attachments)
        rows = arguments if isinstance(arguments[0], tuple) else (arguments,)
        streams = [
            Stream(stack, "text", tuple(labels), ids=_frozen(ids))
            for stack, (ids, labels) in zip(self.model.anatomy.stacks, rows, strict=True)
        ]
        given = self._given([ids for ids, _ in rows])
        trace = capture_adopted(self.model, given, streams, mask, attachments)
        return trace.marked(self.special_ids)

    @torch.inference_mode()
    def independent_logits(self, ids: Sequence[int]) -> np.ndarray:
        """Logits (T, V) of a text in one pass, without a cache and with nothing attached."""
        return to_numpy(self.model(self._batch(ids))[0])

    def check_edited(self, trace: Trace, edits: Sequence[Edit]) -> tuple[Check, ...]:
        """The output of an edited run against that of one beside the run as it is, in one batch."""
        if trace.output is None:
            return ()
        both = run_rows(self.model, trace.given, [list(edits), []])
        return (
            Check(
                "output with edits = in a batch",
                _error(trace.output, torch.atleast_2d(both[0])),
                BOUND,
            ),
        )

    @torch.inference_mode()
    def check(self, trace: Trace, mask: np.ndarray | None = None) -> tuple[Check, ...]:
        """Attention recomputed in float64, and the run against one of torch's fused attention."""
        cells = None if mask is None else torch.tensor(mask)[None, None]
        recorder = Recorder({"resid_post"})
        rows = trace.given if isinstance(trace.given, tuple) else (trace.given,)
        given = self._given([row.tolist() for row in rows])
        with turning(self.model.inner) as turns:
            plain = torch.atleast_2d(self.model(given, mask=cells, tap=attach(recorder))[0])
        errors = [] if trace.output is None else [_error(trace.output, plain)]
        for stream in trace.streams:
            for layer, residual in enumerate(stream.residuals):
                value = recorder.values[f"{stream.name}.blocks.{layer}.resid_post"]
                errors.append(_error(residual.resid_post, value[0]))
        return (
            *check_records(trace),
            *self._check_declared(trace, turns, is_own_mask=mask is None),
            Check("stream and output = those of torch's fused attention", max(errors), BOUND),
            Check("faults found when the model was opened", float(len(self.off)), 0.0),
        )

    def _check_declared(
        self, trace: Trace, turns: Sequence[Turn], *, is_own_mask: bool
    ) -> tuple[Check, ...]:
        """What ran against what its file says of attention, where its family is known."""
        if self.declared is None:
            return ()
        cap = self.model.readout and self.model.readout.softcap
        return check_declared(self.declared, trace, turns, cap, is_own_mask)

    def _batch(self, ids: Sequence[int] | np.ndarray) -> Tensor:
        return torch.tensor(np.array([ids]), device=self.model.device)

    def _given(self, rows: Sequence[Any]) -> Tensor | tuple[Tensor, Tensor]:
        """Rows of ids as the model takes them."""
        batches = [self._batch(ids) for ids in rows]
        return batches[0] if len(batches) == 1 else (batches[0], batches[1])


def _error(array: np.ndarray, plain: Tensor) -> float:
    expected = to_numpy(plain)
    return relative_error(array, expected) if array.shape == expected.shape else math.inf


def _frozen(ids: Iterable[int]) -> np.ndarray:
    array = np.array(list(ids))
    array.flags.writeable = False
    return array
