"""Protects reading configs: each key and each value that does not fit is named, with the type."""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from model.fields import check_types, from_fields


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A part of a cart."""

    spokes: int
    width: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Cart:
    """A field of every type that a config may have."""

    name: str
    wheels: tuple[Wheel, ...]
    axle: Wheel | None = None
    load: int | None = None
    is_red: bool = False
    weight: float = 1.0
    size: tuple[int, float] = (1, 2.0)
    notes: list[str] = field(default_factory=list)
    prices: dict[str, int] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    wheel_of: dict[str, Wheel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_types(self, "cart")


FIELDS = {"name": "c", "wheels": [{"spokes": 7}, {"spokes": 5, "width": 2}]}
WHEELS = (Wheel(spokes=7), Wheel(spokes=5, width=2))


def test_tables_become_dataclasses_and_lists_tuples() -> None:
    assert from_fields(Cart, FIELDS, "cart") == Cart(name="c", wheels=WHEELS)
    more = {
        "axle": {"spokes": 3},
        "load": None,
        "size": [3, 4],
        "notes": ["a"],
        "prices": {"a": 1},
        "extra": {"anything": [{"at": None}]},
        "wheel_of": {"left": {"spokes": 3}},
    }
    expected = Cart(
        name="c",
        wheels=WHEELS,
        axle=Wheel(spokes=3),
        size=(3, 4),
        notes=["a"],
        prices={"a": 1},
        extra={"anything": [{"at": None}]},
        wheel_of={"left": Wheel(spokes=3)},
    )
    assert from_fields(Cart, FIELDS | more, "cart") == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, "cart: name is 3; it must be of type str"),
        ({"name": None}, "cart: name is None; it must be of type str"),
        ({"load": "4"}, "cart: load is '4'; it must be of type int | None"),
        ({"load": True}, "cart: load is True; it must be of type int | None"),
        ({"load": 2.0}, "cart: load is 2.0; it must be of type int | None"),
        ({"is_red": 1}, "cart: is_red is 1; it must be of type bool"),
        ({"weight": True}, "cart: weight is True; it must be of type float"),
        ({"weight": "1"}, "cart: weight is '1'; it must be of type float"),
        ({"axle": 3}, "cart: axle is 3; it must be of type Wheel | None"),
        ({"axle": {"spokes": "3"}}, "cart: axle.spokes is '3'; it must be of type int"),
        ({"wheels": {"spokes": 7}}, "cart: wheels is {'spokes': 7}; it must be of type tuple["),
        ({"wheels": [{"spokes": 7}, 5]}, "cart: wheels[1] is 5; it must be of type Wheel"),
        ({"wheels": [{"spokes": None}]}, "cart: wheels[0].spokes is None; it must be of type int"),
        ({"size": [1]}, "cart: size is [1]; it must be of type tuple[int, float]"),
        ({"size": [1.5, 2]}, "cart: size[0] is 1.5; it must be of type int"),
        ({"notes": "a"}, "cart: notes is 'a'; it must be of type list[str]"),
        ({"notes": ["a", 2]}, "cart: notes[1] is 2; it must be of type str"),
        ({"prices": [1]}, "cart: prices is [1]; it must be of type dict[str, int]"),
        ({"prices": {"a": "1"}}, "cart: prices['a'] is '1'; it must be of type int"),
        ({"extra": {3: 4}}, "cart: extra: a key is 3; it must be of type str"),
        ({"wheel_of": {"l": {}}}, "cart: wheel_of['l'] lacks spokes; add it to the cart"),
        ({"colour": 1}, "cart has unknown key colour; known keys are axle, extra, is_red, load"),
        ({"b": 1, "a": 1}, "cart has unknown keys a, b; known keys are"),
        ({"wheels": [{"spokes": 1, "a": 1}]}, "cart: wheels[0] has unknown key a; known keys are"),
        ({"wheels": [{}]}, "cart: wheels[0] lacks spokes; add it to the cart"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        from_fields(Cart, FIELDS | changes, "cart")


def test_all_missing_keys_are_named() -> None:
    with pytest.raises(ValueError, match=r"^cart lacks name, wheels; add it to the cart$"):
        from_fields(Cart, {}, "cart")


def test_what_is_no_table_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cart is \[1\]; it must be of type Cart"):
        from_fields(Cart, [1], "cart")


def test_a_dataclass_made_by_hand_is_checked_but_not_converted() -> None:
    with pytest.raises(ValueError, match=r"cart: wheels is \[.*\]; it must be of type tuple\[W"):
        Cart(name="c", wheels=[Wheel(spokes=7)])
    with pytest.raises(ValueError, match=r"cart: wheels\[0\] is {.*}; it must be of type Wheel"):
        Cart(name="c", wheels=({"spokes": 7},))
    with pytest.raises(ValueError, match=r"cart: wheels\[0\].spokes is '7'; it must be of type"):
        Cart(name="c", wheels=(Wheel(spokes="7"),))


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(ValueError, match="name is") as caught:
        from_fields(Cart, FIELDS | {"name": list(range(9999))}, "cart")
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("annotation", [set[int], complex, list, bytes | None, tuple[range, ...]])
def test_an_annotation_it_does_not_know_is_a_defect(annotation: object) -> None:
    """Nothing passes, or is taken for an int, only because nobody thought of its type."""

    @dataclass
    class Odd:
        x: annotation

    for value in (3, "a", [range(3)], (range(3),)):
        with pytest.raises(TypeError, match=r"x.* is annotated as .*taught"):
            check_types(Odd(value), "odd")
