"""Protects that a page may only call the largest what an independent run finds largest."""

import numpy as np
import pytest

from model.verify.stated import as_stated, leading_ids

COSTS = np.array([[0.5, 3.0, np.nan], [-4.0, 3.0 - 1e-6, 1.0]])


def number(address: str) -> float:
    """What is at an address of the costs."""

    def array(name: str) -> np.ndarray:
        return {"costs": COSTS, "costs[1,:]": COSTS[1], "costs[0,1]": COSTS[0, 1]}[name]

    return float(as_stated(array, address))


def test_the_largest_is_there_with_its_number_and_its_place() -> None:
    assert number("costs[0,1]=max") == 3.0
    assert number("costs[0,1]=max.0") == 0
    assert number("costs[0,1]=max.1") == 1
    assert number("costs[1,0]=min") == -4.0
    assert number("costs[1,0]=size.0") == 1
    assert number("costs[1,2]=max3") == 1.0
    assert number("costs[1,:][1]=max") == COSTS[1, 1]


def test_what_differs_by_rounding_alone_may_be_called_either() -> None:
    assert number("costs[1,1]=max") == COSTS[1, 1]
    assert number("costs[0,1]=max2") == 3.0


@pytest.mark.parametrize(
    "address",
    ["costs[1,2]=max", "costs[0,0]=min", "costs[0,1]=size", "costs[1,0]=max3", "costs[1,2]=max2",
     "costs[0,2]=max"],
)  # fmt: skip
def test_what_does_not_hold_is_nowhere(address: str) -> None:
    with pytest.raises(ValueError, match="is not number"):
        number(address)


@pytest.mark.parametrize(
    "address", ["costs[0,1]=most", "costs=max", "costs[0]=max", "costs[7,7]=max"]
)
def test_what_states_nothing_is_said(address: str) -> None:
    with pytest.raises(ValueError, match=r"states nothing|no single number|no number"):
        number(address)


def test_what_rounding_moves_is_about_what_is_said() -> None:
    assert number("costs[0,1]=about3.01") == 3.01
    with pytest.raises(ValueError, match="is not about"):
        number("costs[0,1]=about2.9")


def test_an_address_without_a_statement_is_as_it_was() -> None:
    assert number("costs[0,1]") == 3.0


def test_ids_of_the_largest_are_in_their_order_but_for_those_alike() -> None:
    values = np.array([[1.0, 5.0, 3.0, 5.0 + 1e-7, -9.0], [4.0, 3.0, 2.0, 1.0, 0.0]])
    assert leading_ids(values, 3).tolist() == [[-1, -1, 2], [0, 1, 2]]
    assert leading_ids(values, 9).tolist() == [[-1, -1, 2, 0, 4], [0, 1, 2, 3, 4]]
