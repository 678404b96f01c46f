"""Checks of arguments: every refusal is one short line, whatever is passed."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from localentropy.arguments import (
    require_array,
    require_between,
    require_choice,
    require_fraction,
    require_integer,
    require_number,
    require_positive,
    shown,
)
from localentropy.errors import DomainError


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


NO_NUMBERS: list[Any] = [
    "1", "x" * 300, b"1", None, True, np.bool_(True), np.array(True), 1 + 2j, [1.0], np.ones((3, 3)), torch.ones(2, 2),
    {}, {1.0}, object, Unprintable(), math.nan, math.inf, 10**400, 10**5000, -(10**5000),
]  # fmt: skip
CHECKS: dict[str, Callable[[str, Any], object]] = {
    "number": require_number,
    "integer": require_integer,
    "small integer": lambda name, value: require_integer(name, value, 1, 9),
    "choice": lambda name, value: require_choice(name, value, ("sign", "absolute")),
    "positive": lambda name, value: require_positive(**{name: value}),
    "fraction": lambda name, value: require_fraction(**{name: value}),
    "between": lambda name, value: require_between(name, value, 0.0, 1.0),
    "array": lambda name, value: require_array(name, [0.5, value], 0.0, 1.0),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("number", range(len(NO_NUMBERS)))
def test_a_refusal_is_one_short_line(check, number):
    value = NO_NUMBERS[number]
    if check == "integer" and isinstance(value, int) and not isinstance(value, bool):
        assert require_integer("argument", value) == value
        return
    with pytest.raises(DomainError) as refused:
        CHECKS[check]("argument", value)
    message = str(refused.value)
    assert message.startswith("argument = ")
    assert "\n" not in message
    assert len(message) < 200


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0), Fraction(1), torch.tensor(1.0)])
def test_numbers_of_all_kinds(value):
    assert require_number("argument", value) == 1.0
    assert type(require_number("argument", value)) is float
    array = require_array("argument", value, 0.0, 1.0)
    assert (array.shape, array.dtype) == ((), np.float64)


@pytest.mark.parametrize("values", [(0.1, 0.2), np.array([0.1, 0.2]), torch.tensor([0.1, 0.2], dtype=torch.float64)])
def test_arrays_of_all_kinds(values):
    assert require_array("argument", values, 0.0, 1.0).tolist() == [0.1, 0.2]
    assert require_array("argument", [values, values], 0.0, 1.0).shape == (2, 2)


@pytest.mark.parametrize("values", [{0.1, 0.2}, frozenset({0.1}), {0.1: 1.0}])
def test_what_has_no_order_is_no_array(values):
    with pytest.raises(DomainError, match="allowed is a sequence of numbers"):
        require_array("argument", values, 0.0, 1.0)


def test_bytes_are_no_numbers():
    with pytest.raises(DomainError, match="is not a number"):
        require_array("argument", b"12", 0.0, 100.0)


def test_values_are_shown_as_python_writes_them():
    assert shown("a") == "'a'"
    assert shown(np.eye(2)) == "array([[1., 0.],        [0., 1.]])"
    assert shown(10**5000) == "int object"
    assert shown("x" * 300) == "'" + "x" * 78 + "…"
