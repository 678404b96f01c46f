"""Quantities: every number that the library takes is checked by one, and programs are bounded by nothing else."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from localentropy import quantities
from localentropy.errors import DomainError
from localentropy.pipeline.config import ROOT
from localentropy.quantities import DAMPING, Count, Quantity

DECLARED = {name: one for name, one in vars(quantities).items() if isinstance(one, Quantity)}


def beyond(quantity: Quantity) -> list[float]:
    """The numbers next to both ends of the range, outside it."""
    if isinstance(quantity, Count):
        return [int(quantity.low) - 1, int(quantity.high) + 1]
    low = quantity.low if quantity.ends[0] == "(" else math.nextafter(quantity.low, -math.inf)
    high = quantity.high if quantity.ends[1] == ")" else math.nextafter(quantity.high, math.inf)
    return [low] if math.isinf(quantity.high) else [low, high]


def inside(quantity: Quantity) -> list[float]:
    """The ends, or the numbers next to them inside the range."""
    low = math.nextafter(quantity.low, math.inf) if quantity.ends[0] == "(" else quantity.low
    high = math.nextafter(quantity.high, -math.inf) if quantity.ends[1] == ")" else quantity.high
    return [low] if math.isinf(high) else [low, high]


@pytest.mark.parametrize("name", DECLARED)
def test_a_range_ends_where_it_says_and_a_refusal_says_where(name: str) -> None:
    quantity = DECLARED[name]
    for number in inside(quantity):
        assert quantity.require(number) == number
    for number in beyond(quantity):
        with pytest.raises(DomainError) as refused:
            quantity.require(number)
        message = str(refused.value)
        assert message.startswith(f"{quantity.name} = ") and "\n" not in message and len(message) < 200
        assert isinstance(quantity, Count) or quantity.interval in message


@pytest.mark.parametrize("name", [name for name, one in DECLARED.items() if not isinstance(one, Count)])
def test_arrays_have_the_same_range(name: str) -> None:
    quantity = DECLARED[name]
    assert quantity.require_all([inside(quantity)]).tolist() == [inside(quantity)]
    for number in beyond(quantity):
        with pytest.raises(DomainError, match=re.escape(f"is out of range: allowed are {quantity.interval}")):
            quantity.require_all([inside(quantity)[0], number])


def test_parts_of_a_range() -> None:
    part = DAMPING.within(high=0.5)
    assert (part.interval, part.within(low=0.25).interval) == ("[0, 0.5]", "[0.25, 0.5]")
    assert DAMPING.within(ends="()").interval == "(0, 1)"
    assert DAMPING.called("share").require(np.float32(0.5)) == 0.5
    with pytest.raises(DomainError, match=r"^share = 1 is out of range: allowed are \[0, 1\)$"):
        DAMPING.called("share").require(1)


def test_no_two_meanings_are_declared_twice() -> None:
    said = [(one.name, one.words) for one in DECLARED.values()]
    assert len(set(said)) == len(said) > 80


def test_programs_have_no_bounds_of_their_own() -> None:
    bounded = re.compile(r"Field\([^)]*\b(ge|gt|le|lt)=", re.S)
    files = sorted((ROOT / "src/localentropy").rglob("*.py"))
    assert [str(file) for file in files if bounded.search(file.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("value", [np.int64(3), np.uint8(3)])
def test_a_count_is_an_integer_of_python(value: Any) -> None:
    assert type(quantities.SIZE.require(value)) is int
    assert type(DAMPING.require(value * 0)) is float
