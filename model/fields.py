"""Dataclasses from parsed JSON or TOML: a key or a type that does not fit is named.

The types are those of the annotations. JSON and TOML know neither tuples nor dataclasses, so a
list becomes a tuple, and a table a dataclass, where the annotation says so.
"""

import dataclasses
import reprlib
import types
from collections.abc import Iterator
from itertools import repeat
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from model.lines import quoted


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=_Dataclass)

# What a value of a plain type may be. A bool is an int to Python, but to no one else.
_PLAIN: dict[object, tuple[type, ...]] = {
    bool: (bool,),
    int: (int,),
    float: (float, int),
    str: (str,),
    types.NoneType: (types.NoneType,),
}
_UNIONS = (Union, types.UnionType)

Part = tuple[object, object, str]  # of a value: itself, its annotation, and where it is


def from_fields(cls: type[T], fields: dict[str, Any], name: str) -> T:
    """Build a dataclass from parsed JSON or TOML.

    name: what the fields are of, as messages call it: "config" or "recipe".
    Raises ValueError naming unknown and missing keys and values of a wrong type, and TypeError
    for an annotation that this module does not know.
    """
    if not isinstance(fields, dict):
        raise ValueError(_wrong_type(fields, cls, name))
    known = {field.name: field for field in dataclasses.fields(cls) if field.init}
    unknown = sorted(map(str, set(fields) - set(known)))
    if unknown:
        raise ValueError(
            f"{name} has unknown key{'s' * (len(unknown) > 1)} {quoted(', '.join(unknown))}; "
            f"known keys are {', '.join(sorted(known))}"
        )
    missing = sorted(key for key in set(known) - set(fields) if _is_required(known[key]))
    if missing:
        what = name.partition(":")[0]
        raise ValueError(f"{name} lacks {', '.join(missing)}; add it to the {what}")
    hints = get_type_hints(cls)
    values = {key: _built(x, hints[key], _inside(name, key)) for key, x in fields.items()}
    for key, value in values.items():
        _refuse(_faults(value, hints[key], _inside(name, key)))
    return cls(**values)


def check_types(instance: object, name: str) -> None:
    """Compare the fields of a dataclass with their annotations, for its `__post_init__`.

    Raises ValueError naming the first value of a wrong type and the type it must have, and
    TypeError for an annotation that this module does not know.
    """
    _refuse(_faults(instance, type(instance), name))


def _is_required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _refuse(faults: Iterator[str]) -> None:
    fault = next(faults, None)
    if fault is not None:
        raise ValueError(fault)


def _built(value: object, hint: object, where: str) -> object:
    """The value with its lists and tables made what the annotation says, where they can be."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        options = [option for option in inner if option is not types.NoneType]
        return _built(value, options[0], where) if len(options) == 1 else value
    if isinstance(value, dict) and isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return from_fields(hint, value, where)
    if isinstance(value, dict) and origin is dict:
        return {key: _built(x, inner[1], f"{where}[{quoted(key)!r}]") for key, x in value.items()}
    if isinstance(value, list) and origin in (list, tuple):
        parts = _parts(origin(value), hint, where)
        return value if parts is None else origin(_built(*part) for part in parts)
    return value


def _faults(value: object, hint: object, where: str) -> Iterator[str]:
    """What keeps a value from being of the annotated type, one sentence each."""
    _check_annotation(hint, where)
    parts = _parts(value, hint, where)
    if parts is None:
        yield _wrong_type(value, hint, where)
        return
    for part in parts:
        yield from _faults(*part)


def _parts(value: object, hint: object, where: str) -> list[Part] | None:
    """What a value consists of that has annotations of its own; None where it does not fit."""
    origin, inner = get_origin(hint), get_args(hint)
    parts: list[Part] = []
    if hint is Any:
        fits = True
    elif origin in _UNIONS:
        fits = any(next(_faults(value, option, where), None) is None for option in inner)
    elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
        fits = isinstance(value, hint)
        hints = get_type_hints(hint)
        for field in dataclasses.fields(hint) if fits else ():
            parts.append(
                (getattr(value, field.name), hints[field.name], _inside(where, field.name))
            )
    elif isinstance(value, dict):
        fits = origin is dict
        for key, item in value.items() if fits else ():
            parts.append((key, inner[0], f"{where}: a key"))
            parts.append((item, inner[1], f"{where}[{quoted(key)!r}]"))
    elif isinstance(value, list | tuple):
        has_any_length = origin is list or Ellipsis in inner
        fits = type(value) is origin and (has_any_length or len(value) == len(inner))
        hints = repeat(inner[0]) if has_any_length else inner
        for index, (item, its_hint) in enumerate(zip(value, hints, strict=False)):
            parts.append((item, its_hint, f"{where}[{index}]"))
    else:
        is_stray_bool = isinstance(value, bool) and hint is not bool
        fits = isinstance(value, _PLAIN.get(hint, ())) and not is_stray_bool
    return parts if fits else None


def _check_annotation(hint: object, where: str) -> None:
    """TypeError for a type that nothing here compares a value with, however the value looks."""
    if get_origin(hint) in (*_UNIONS, dict, list, tuple):
        for part in get_args(hint):
            _check_annotation(part, where)
    elif hint not in (Any, Ellipsis, *_PLAIN) and not dataclasses.is_dataclass(hint):
        raise TypeError(f"{where} is annotated as {hint}; model.fields has to be taught that type")


def _inside(where: str, key: str) -> str:
    """`recipe`, then `recipe: stages[0]`, then `recipe: stages[0].steps`."""
    return f"{where}.{key}" if ":" in where else f"{where}: {key}"


def _wrong_type(value: object, hint: object, where: str) -> str:
    return f"{where} is {reprlib.repr(value)}; it must be of type {_spelled(hint)}"


def _spelled(hint: object) -> str:
    """A type as it is written in the source: `int | None`, `tuple[Stage, ...]`."""
    inner = [_spelled(option) for option in get_args(hint)]
    if get_origin(hint) in _UNIONS:
        return " | ".join(inner)
    if hint is Ellipsis or hint is types.NoneType:
        return "..." if hint is Ellipsis else "None"
    name = getattr(get_origin(hint) or hint, "__name__", str(hint))
    return f"{name}[{', '.join(inner)}]" if inner else name
