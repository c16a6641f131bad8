"""What the microscope is sent: every head at a glance, labels, and where to fetch the rest.

The browser computes everything of the head it shows from that head's own q, k and v, which it
fetches by address (`viz.live.routes`).
"""

import base64
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from model.analysis.heads import Role, measures, roles, sharpness, strongest_pair
from model.trace import AttentionKind, AttentionRecord, HeadGroup, Trace
from viz.kit.arrays import encoded_head, head_address
from viz.kit.part import Part
from viz.kit.tiles import MASKED, layer_tiles
from viz.kit.wire import (
    Bounds,
    Data,
    Option,
    Settings,
    bounds_data,
    finite,
    options_data,
    packed,
    stream_data,
)

_GROUPS: WeakKeyDictionary[Trace, list[Data]] = WeakKeyDictionary()
MASS = Bounds(0.1, 1.0, 0.05)  # cumulative attention shown
TAU = Bounds(0.1, 4.0, 0.1)  # attention temperature
MOST_SENT_ALONG = 400_000  # bytes; larger heads are fetched, so that the page does not wait

# By name in settings and in the URL, as on screen; a view has a class of its own in microscope.js.
VIEWS = {
    "map": "Step by step",
    "lines": "Lines",
    "sentence": "One token",
    "whatif": "What if",
    "compare": "Compare",
    "summary": "Summary",
}
# What each step of attention is called, and what it does; those between the first and the last are
# stages of a record (`model.worked_out.STAGES`), in their order.
STAGES = {
    "product": ("q·kᵀ", "Each query times each key."),
    "scaled": ("÷√d", "Divided by √d_head, so that softmax does not saturate."),
    "biased": ("+ bias", "Plus the bias added to these scores."),
    "capped": ("cap", "Bent below the model’s soft cap c: c · tanh(score / c)."),
    "masked": (
        "mask",
        "What a query must not see becomes −∞ (hatched), as later tokens that the model has to "
        "predict.",
    ),
    "sunk": ("sink", "The head’s sink joins the softmax: one score more, without a value."),
    "weights": ("softmax", "Each row becomes weights that sum to one."),
    "output": ("· v", "The weights mix the value vectors: z, one row per token."),
}
CHANGES = {
    "scale": "without scaling",
    "mask": "without the mask",
    "temperature": "attention temperature",
}
AGAINST = {"head": "another head", "sentence": "another sentence"}
HOW = {"mean": "mean", "maximum": "maximum"}
OVER = ("layer", "head", "all")


class RoleWords(NamedTuple):
    """How a role of a head is put: on its small map, in a list, in a sentence, and its number."""

    chip: str
    text: str
    says: str
    of: str = ""


ROLES = {  # by name in model.analysis.heads.AT_LEAST
    "previous": RoleWords("prev", "previous token", "attends to the previous token"),
    "next": RoleWords("next", "next token", "attends to the next token"),
    "first": RoleWords("first", "first token", "attends to the first token"),
    "self": RoleWords("self", "self", "attends to the token itself"),
    "same": RoleWords("same", "same token", "attends to earlier copies of the same token"),
    "induction": RoleWords(
        "after", "after copies", "attends to what came right after earlier copies of the token"
    ),
    "broad": RoleWords(
        "broad", "broad", "spreads its attention broadly", " of the largest possible row entropy"
    ),
    "sink": RoleWords("sink", "its sink", "looks at its sink"),
}


class OtherRun(NamedTuple):
    """Another input through the same model, to compare with."""

    trace: Trace
    key: str
    name: str = "second sentence"


def attention_part(
    trace: Trace,
    key: str,
    model: str,
    settings: Settings,
    runs: Sequence[OtherRun] = (),
    *,
    takes_text: bool = True,
) -> Part:
    """What the browser needs before it asks for a head; at most a megabyte.

    `key` is the one under which the trace is in the store. `runs` are compared with; `takes_text`
    says whether a person can have another one by typing.
    """
    spec = {
        "key": key,
        "model": model,
        "streams": _streams(trace),
        "groups": _groups(trace),
        "roles": [{"name": name, **words._asdict()} for name, words in ROLES.items()],
        "arrays": _chosen_head(trace, key, settings),
        "runs": [
            {"key": run.key, "name": run.name, "streams": _streams(run.trace)} for run in runs
        ],
        "views": options_data(views_of(trace, takes_text=takes_text)),
        "stages": [
            {"name": name, "text": text, "says": says} for name, (text, says) in STAGES.items()
        ],
        "changes": options_data(changes_of(trace)),
        "against": options_data(against_of(trace, takes_text=takes_text)),
        "how": options_data([Option(name, text) for name, text in HOW.items()]),
        "bounds": {"mass": bounds_data(MASS), "tau": bounds_data(TAU)},
        "tile_codes": {"masked": MASKED},
    }
    return Part("attention", spec, settings)


def stages_of(record: AttentionRecord) -> list[str]:
    """The steps that are shown of a layer; of one nobody can follow its weights and output."""
    has = ("weights", "output") if record.further else ("product", *record.stages, "output")
    return [name for name in STAGES if name in has]


def views_of(trace: Trace, *, takes_text: bool) -> list[Option]:
    """The views of a head; those that do not apply to a trace say why."""
    why = {}
    if all(option.why for option in against_of(trace, takes_text=takes_text)):
        why["compare"] = "there is one head alone, and no other input."
    return [Option(name, text, why.get(name)) for name, text in VIEWS.items()]


def changes_of(trace: Trace) -> list[Option]:
    """What may be changed of a head; what would change nothing says why."""
    why = {}
    if all(record.scale == 1 for record in trace.attention):
        why["scale"] = "scores are not scaled here."
    if all(record.mask.all() for record in trace.attention):
        why["mask"] = "nothing is masked here."
    return [Option(name, text, why.get(name)) for name, text in CHANGES.items()]


def against_of(trace: Trace, *, takes_text: bool) -> list[Option]:
    """What a head may be compared with; what there is none of says why."""
    why = {}
    if all(len(group.records) * group.n_heads == 1 for group in trace.groups):
        why["head"] = "there is no other head."
    if not takes_text:
        why["sentence"] = "this source takes no text."
    return [Option(name, text, why.get(name)) for name, text in AGAINST.items()]


def _streams(trace: Trace) -> Data:
    return {stream.name: stream_data(stream) for stream in trace.streams}


def _groups(trace: Trace) -> list[Data]:
    """All heads at a glance, made once of a run: of a long one that takes a while."""
    if trace not in _GROUPS:
        _GROUPS[trace] = [_group(group, trace) for group in trace.groups]
    return _GROUPS[trace]


def _group(group: HeadGroup, trace: Trace) -> Data:
    ids = trace.stream(group.queries).ids
    layers = [_layer(record.in_full, ids) for record in group.records]
    return {
        "name": group.name,
        "title": group.title,
        "stack": group.stack,
        "kind": group.kind,
        "queries": group.queries,
        "keys": group.keys,
        "n_layers": len(group.records),
        "n_heads": group.n_heads,
        "sites": [record.site.address for record in group.records],
        "tiles": packed(np.concatenate([layer["tiles"] for layer in layers])),
        **{name: [x[name] for x in layers] for name in ("sharpness", "strongest", "roles")},
    }


def _layer(record: AttentionRecord, ids: np.ndarray | None) -> Data:
    patterns, kind = record.pattern, record.site.kind
    return {
        "tiles": layer_tiles(record),
        "sharpness": [finite(value) for value in sharpness(patterns, kind)],
        "strongest": [_strongest(head, kind) for head in patterns],
        "roles": [_role(role) for role in roles(measures(record, ids))],
    }


def _role(role: Role | None) -> list[str | float] | None:
    return None if role is None else [role.name, role.value, role.n_queries]


def _strongest(pattern: np.ndarray, kind: AttentionKind) -> list[float | None]:
    query, key = strongest_pair(pattern, kind)
    return [query, key, finite(pattern[query, key])]


def _chosen_head(trace: Trace, key: str, settings: Settings) -> dict[str, str]:
    """The head to draw first, by its address, so that the browser need not ask; if it is small."""
    names = [group.name for group in trace.groups]
    wanted = settings.get("attention")
    group = trace.groups[names.index(wanted) if wanted in names else 0]
    record = group.records[min(settings["layer"], len(group.records) - 1)]
    head = min(settings["head"], record.n_heads - 1)
    data = encoded_head(record, head)
    if len(data) > MOST_SENT_ALONG:
        return {}
    return {head_address(key, record.site, head): base64.b64encode(data).decode("ascii")}
