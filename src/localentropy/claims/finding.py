"""What a claim's test returns, and the statistics that several tests share.

A test is a function whose arguments are experiment tables by name (`def falls(thresholds): …`). It computes one number
that the claim is about, its error, and whether the claim holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

MAY_BE_MISSING = ("zero_error_epoch", "entropy", "local_entropy", "local_entropy_first")
"""Quantities that a run may lack: it always made errors; the messages did not converge.

Means skip missing numbers, so a claim is not judged if another quantity lacks one.
"""
FEWEST = 5
"""Solved samples below which nothing is said about the solutions."""


class Untestable(Exception):
    """The tables cannot decide the claim; the message says why. The scorecard makes a finding of it."""


class Verdict(StrEnum):
    """The outcome of a claim's test."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable at this scale"


class Bounds(NamedTuple):
    """Between what a value must lie."""

    lower: float = -math.inf
    upper: float = math.inf

    def hold(self, value: float) -> bool:
        """Whether a value lies between them; a missing one does not."""
        return self.lower <= value <= self.upper


def printed(text: str) -> Bounds:
    """The values that are a printed number when they are rounded to its digits."""
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    return Bounds(float(text) - half, float(text) + half)


@dataclass(frozen=True)
class Finding:
    """The outcome of a claim's test.

    Attributes:
        quantity: what was measured, and the condition on it.
        value: our number; missing (NaN) if there is none.
        holds: whether the claim holds; None if the tables cannot decide.
        detail: further numbers, or why nothing can be said.
        error: standard error of the value; zero for theory, missing (NaN) if the value is a test's statistic.
        bounds: what the value itself is held to, so that a reader sees how near it is; None if nothing bounds it alone.
            They decide nothing: `holds` knows the further conditions too.
    """

    quantity: str
    value: float
    holds: bool | None
    detail: str
    error: float = math.nan
    bounds: Bounds | None = None

    @classmethod
    def of_theory(cls, quantity: str, value: float, holds: bool, detail: str, bounds: Bounds | None = None) -> Finding:
        """A finding on theory alone. Its numbers have no sampling error."""
        return cls(quantity, value, holds, detail, 0.0, bounds)

    @classmethod
    def untestable(cls, quantity: str, why: str) -> Finding:
        """Nothing can be said at this scale."""
        return cls(quantity, math.nan, None, why)

    @property
    def verdict(self) -> Verdict:
        """The verdict. A claim without a number is not reproduced."""
        if self.holds is None:
            return Verdict.NOT_TESTABLE
        return Verdict.REPRODUCED if self.holds and not math.isnan(self.value) else Verdict.NOT_REPRODUCED


def decided(scores: Iterable[float], least: float = 2.0) -> bool | None:
    """Whether differences that a claim says are positive are so, from the differences in units of their errors.

    Args:
        scores: difference over standard error, of each.
        least: standard errors that decide.

    Returns:
        True if each is above zero by `least`, False if one is below by as much or is missing, or else None.

    Raises:
        Untestable: there are none.
    """
    lowest = smallest(scores)
    return None if -least < lowest <= least else lowest > least


def jointly(*parts: bool | None) -> bool | None:
    """Whether all parts of a claim hold: False if one does not, None if one is open and no other fails."""
    return False if False in parts else None if None in parts else True


def finite_size(D: np.ndarray | float) -> np.ndarray | float:
    """The tolerance on errors of solutions at a finite latent dimension: 0.5/D, chosen here.

    The captions of figures 2 and 11 give the deviations measured at each D.
    """
    return 0.5 / D


def largest(values: Iterable[float]) -> float:
    """The largest number, or NaN if one of them is missing. NaN is within no bound.

    `max` and pandas would skip a missing number.

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
    """The largest rise of a value above the smallest before it, in standard errors of the difference.

    Raises:
        Untestable: fewer than two values.
    """
    before = [int(np.argmin(values[:end])) for end in range(1, len(values))]
    return largest((values[1:] - values[before]) / np.hypot(errors[1:], errors[before]))


def numbers(values: object, form: str = ".4g") -> str:
    """A few numbers for a sentence."""
    return ", ".join(format(float(value), form) for value in values)  # type: ignore[attr-defined]
