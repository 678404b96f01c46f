"""Random streams."""

from __future__ import annotations

import math

import numpy as np
import pytest

from localentropy import seeds
from localentropy.errors import DomainError

FIRST_DRAW = 519


def test_streams_differ_by_name_value_and_root_but_not_by_type() -> None:
    draws = [
        seeds.generator(1, "instance", D=3, sample=0).integers(2**62),
        seeds.generator(1, "test", D=3, sample=0).integers(2**62),
        seeds.generator(1, "instance", D=5, sample=0).integers(2**62),
        seeds.generator(2, "instance", D=3, sample=0).integers(2**62),
    ]
    assert len(set(draws)) == len(draws)
    assert seeds.entropy(1, "instance", alpha=2) == seeds.entropy(1, "instance", alpha=2.0)
    assert seeds.entropy(1, "instance", alpha=2) == seeds.entropy(np.int64(1), "instance", alpha=np.int64(2))  # type: ignore[arg-type]
    assert seeds.entropy(1, "instance", a=1, b=2) == seeds.entropy(1, "instance", b=2, a=1)
    # Streams are part of every published number: this value may never change.
    assert seeds.generator(1, "instance", D=3, sample=0).integers(1000) == FIRST_DRAW


def test_numbers_are_told_apart_by_value() -> None:
    def stream(value: object) -> int:
        return seeds.entropy(1, "instance", alpha=value)  # type: ignore[arg-type]

    assert stream(2**60) != stream(2**60 + 1) == stream(np.int64(2**60 + 1))
    assert stream(2**60) == stream(2.0**60)
    assert stream(0.0) == stream(-0.0) == stream(0) == stream(False)
    # As they always were.
    assert [stream(value) % 1000 for value in (0, 0.3, -1.5, 2**53, True)] == [391, 171, 671, 589, 704]


@pytest.mark.parametrize("root", [1.7, 1.0, "1", None, True, math.nan, 2**64, -(2**63) - 1, 10**400])
def test_what_is_no_seed_has_no_stream(root) -> None:
    for make in (seeds.entropy, seeds.child, seeds.generator):
        with pytest.raises(DomainError, match=r"^seed = ") as refused:
            make(root, "instance")
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, None, b"x", [1], 1j, 10**400, np.ones(2)])
def test_what_is_neither_number_nor_text_names_no_stream(value) -> None:
    with pytest.raises(DomainError, match=r"^margin") as refused:
        seeds.generator(1, "instance", margin=value)
    assert "\n" not in str(refused.value)
    with pytest.raises(DomainError, match=r"^stream = "):
        seeds.generator(1, value)
