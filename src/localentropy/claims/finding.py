"""What a claim's test returns, and the statistics that several tests share.

A test is a function whose arguments are experiment tables by name (`def falls(thresholds): …`). It computes one number
that the claim is about, its error, and whether the claim holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

FEWEST = 5
"""Solved samples below which nothing is said about the solutions."""


class Untestable(Exception):
    """The tables cannot tell, and why; the scorecard makes a finding of it."""


class Verdict(StrEnum):
    """What a claim comes to."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable at this scale"


@dataclass(frozen=True)
class Finding:
    """The outcome of a claim's test.

    Attributes:
        quantity: what was measured, with the condition it is held to.
        value: our number; missing (NaN) where there is none.
        holds: whether the claim holds; None where the tables cannot tell.
        detail: further numbers, or why nothing can be said.
        error: standard error of the value; zero for theory, missing (NaN) where the value is a test's statistic.
    """

    quantity: str
    value: float
    holds: bool | None
    detail: str
    error: float = math.nan

    @classmethod
    def of_theory(cls, quantity: str, value: float, holds: bool, detail: str) -> Finding:
        """From theory alone, whose numbers have no error of sampling."""
        return cls(quantity, value, holds, detail, 0.0)

    @classmethod
    def untestable(cls, quantity: str, why: str) -> Finding:
        """Nothing can be said at this scale."""
        return cls(quantity, math.nan, None, why)

    @property
    def verdict(self) -> Verdict:
        """In words; what has no number is not reproduced."""
        if self.holds is None:
            return Verdict.NOT_TESTABLE
        return Verdict.REPRODUCED if self.holds and not math.isnan(self.value) else Verdict.NOT_REPRODUCED


def finite_size(D: np.ndarray | float) -> np.ndarray | float:
    """What is allowed for a finite latent dimension in the errors of solutions found: 0.5/D, a choice.

    The captions of figures 2 and 11 tell the deviations measured at each D.
    """
    return 0.5 / D


def largest(values: Iterable[float]) -> float:
    """The largest number; missing (NaN), so that it is within no bound, where one of them is.

    `max` and pandas would pass over a missing number.

    Raises:
        Untestable: there are none.
    """
    array = np.fromiter(values, dtype=float)
    if not array.size:
        raise Untestable("too few rows to compare")
    return float(array.max())


def smallest(values: Iterable[float]) -> float:
    """The smallest number, as `largest`."""
    return -largest(-value for value in values)


def largest_rise(values: np.ndarray, errors: np.ndarray) -> float:
    """How far a value lies above the smallest before it, at most, in standard errors of the difference.

    Raises:
        Untestable: fewer than two values.
    """
    before = [int(np.argmin(values[:end])) for end in range(1, len(values))]
    return largest((values[1:] - values[before]) / np.hypot(errors[1:], errors[before]))


def numbers(values: object, form: str = ".4g") -> str:
    """A few numbers for a sentence."""
    return ", ".join(format(float(value), form) for value in values)  # type: ignore[attr-defined]
