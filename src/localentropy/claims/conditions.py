"""What a claim's test returns: a conjunction of conditions, each a number and what is asked of it.

A test is a function whose arguments are experiment tables by name. It returns `all_of(…)` of its conditions, or raises
`Untestable`:

    def capacity(typical):
        last = typical.loc[typical["alpha"].idxmax()]
        require(len(typical) > 1, "a line in α needed")
        return all_of(printed("α_c", last["alpha"], "0.833"), below("|entropy| there", abs(last["entropy"]), 1e-6))

A condition's words say what its number is. They hold no number that was measured, so they are the same on all tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from localentropy.analysis.statistics import normal_score

MAY_BE_MISSING = ("zero_error_epoch", "entropy", "local_entropy", "local_entropy_first")
"""Quantities that a run may lack: it always made errors; the messages did not converge.

Means skip missing numbers, so a claim is not judged if another quantity lacks one.
"""
FEWEST = 5
"""Solved samples below which nothing is said about the solutions."""
FARTHEST = 0.1
"""A computed number that is off the printed one by more than this part of it is another number.

Chosen here, when 4.2 % was the most that any claim had.
"""
REACH = 1.96
"""Standard errors from the middle of a 95 % interval to its ends."""
INTERVAL = "95 % inside"
"""How the bound of a condition begins that is judged by this interval of its value."""
LEAST = 0.01
"""Smallest p-value at which numbers and what they are compared with differ by chance."""


class Untestable(Exception):
    """The tables cannot decide the claim; the message says why. The scorecard makes a finding of it."""


def require(enough: object, why: str) -> None:
    """Refuse to judge a claim unless the tables are enough for it.

    Raises:
        Untestable: they are not; `why` says what is needed or missing.
    """
    if not enough:
        raise Untestable(why)


class Verdict(StrEnum):
    """The outcome of a claim's test, and of each of its conditions.

    It is open if the tables are too small to decide, or if the text can be read in two ways or gives no number.
    """

    REPRODUCED = "reproduced"
    OFF = "reproduced, printed number off"
    NOT_REPRODUCED = "not reproduced"
    OPEN = "open"


_SEVERITY = (Verdict.REPRODUCED, Verdict.OFF, Verdict.OPEN, Verdict.NOT_REPRODUCED)
"""The worst one decides about a conjunction."""


@dataclass(frozen=True)
class Condition:
    """A number of a claim's test, and what is asked of it.

    Attributes:
        words: what the number is.
        value: the number; missing (NaN) if there is none.
        bound: what is asked of it, in signs, such as `< 0.15`.
        holds: whether it is so; None if the tables cannot decide.
        lower, upper: the limits of the value, so that a reader sees how near it is.
        error: standard error of the value; missing (NaN) if it has none, as a statistic or a number of theory.
        printed: the number as the text prints it, if it is judged apart from the claim's statement.
    """

    words: str
    value: float
    bound: str
    holds: bool | None
    lower: float = -math.inf
    upper: float = math.inf
    error: float = math.nan
    printed: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on this condition alone. A printed number that is off by at most `FARTHEST` is no failure."""
        if self.holds is None:
            return Verdict.OPEN
        if self.holds:
            return Verdict.REPRODUCED
        near = self.printed and abs(self.value / float(self.printed) - 1.0) <= FARTHEST
        return Verdict.OFF if near else Verdict.NOT_REPRODUCED

    @property
    def inside(self) -> float:
        """By how much the value is inside its limits; negative if it is outside."""
        return min(self.value - self.lower, self.upper - self.value)

    @property
    def off(self) -> str:
        """How far the number is from the printed one, in per cent of it.

        Example:
            >>> digits("α_c", 1.6669, "1.63").off, digits("α_c", 7.6, "7.65").off
            ('+2.3 %', '-0.65 %')
        """
        apart = 100.0 * (self.value / float(self.printed) - 1.0)
        return f"{apart:+.1f} %" if abs(apart) >= 1.0 else f"{apart:+.2g} %"

    def open_if(self, blind: object) -> Condition:
        """The condition, open instead of failed if the tables would not show what is claimed."""
        return replace(self, holds=None) if blind and self.verdict is Verdict.NOT_REPRODUCED else self

    def fail_if(self, clear: object) -> Condition:
        """The condition, failed instead of open if the tables would show a clear case of what is claimed."""
        return replace(self, holds=False) if clear and self.holds is None else self


@dataclass(frozen=True)
class Finding:
    """The outcome of a claim's test.

    Attributes:
        conditions: what must all be so for the claim to hold, in the order of the test.
        detail: further numbers, or why nothing can be said.
    """

    conditions: tuple[Condition, ...]
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict of the worst condition."""
        return max((condition.verdict for condition in self.conditions), key=_SEVERITY.index)

    @property
    def off(self) -> str:
        """How far the printed numbers are off that are, in words; nothing with another verdict."""
        off = [condition.off for condition in self.conditions if condition.verdict is Verdict.OFF]
        return ", ".join(off) if self.verdict is Verdict.OFF else ""

    @property
    def worst_first(self) -> list[Condition]:
        """The conditions that fail, then those that are open or off, then those that hold, the nearest ones first."""

        def slack(condition: Condition) -> tuple[int, float]:
            sizes = [abs(each) for each in (condition.value, condition.lower, condition.upper) if math.isfinite(each)]
            relative = condition.inside / (max(sizes, default=1.0) or 1.0)
            return -_SEVERITY.index(condition.verdict), -math.inf if math.isnan(relative) else relative

        return sorted(self.conditions, key=slack)


def all_of(*conditions: Condition, detail: str = "") -> Finding:
    """The finding of a claim that holds if all of these conditions do."""
    return Finding(conditions, detail)


def above(
    words: str, value: float, limit: float, error: float = math.nan, *, by: float = 0.0, or_open: bool = False
) -> Condition:
    """A value is above a limit.

    Args:
        words: what the value is.
        value: the number.
        limit: what it must exceed.
        error: its standard error.
        by: standard errors by which it must be above.
        or_open: whether the condition is open where the value is neither above nor below by as much, and not failed.

    Example:
        >>> above("slope", 0.3, 0.0).holds, above("slope", 0.3, 0.0, 0.2, by=2, or_open=True).holds
        (True, None)
    """
    holds = _judged(value - limit, error, by, or_open)
    return Condition(words, float(value), _sign(">", limit, by), holds, lower=float(limit), error=float(error))


def below(
    words: str, value: float, limit: float, error: float = math.nan, *, by: float = 0.0, or_open: bool = False
) -> Condition:
    """A value is below a limit, as in `above`.

    Example:
        >>> below("overlap", 0.8, 1.0, 0.1, by=3).holds
        False
    """
    holds = _judged(limit - value, error, by, or_open)
    return Condition(words, float(value), _sign("<", limit, by), holds, upper=float(limit), error=float(error))


def at_least(words: str, value: float, limit: float, error: float = math.nan) -> Condition:
    """A value is a limit, or above it."""
    bound, holds = _sign("≥", limit), bool(value >= limit)
    return Condition(words, float(value), bound, holds, lower=float(limit), error=float(error))


def at_most(words: str, value: float, limit: float) -> Condition:
    """A value is a limit, or below it."""
    return Condition(words, float(value), _sign("≤", limit), bool(value <= limit), upper=float(limit))


def between(words: str, value: float, lower: float, upper: float, error: float = math.nan) -> Condition:
    """A value is inside an interval, without its ends."""
    holds = bool(lower < value < upper)
    bound = f"{lower:.5g} to {upper:.5g}"
    return Condition(words, float(value), bound, holds, float(lower), float(upper), float(error))


def agrees(words: str, value: float, error: float, within: float) -> Condition:
    """A difference is zero but for less than a stated one: its 95 % interval lies inside.

    It fails where the interval lies outside, and is open where the data cannot tell. So few data never show equality.

    Args:
        words: what the difference is.
        value: the difference.
        error: its standard error.
        within: the largest difference that counts as none.

    Example:
        >>> [agrees("excess", value, 0.002, 0.01).holds for value in (0.003, 0.009, 0.02)]
        [True, None, False]
    """
    reach = REACH * error
    holds = True if abs(value) + reach < within else False if abs(value) - reach > within else None
    return Condition(words, float(value), f"{INTERVAL} ±{within:g}", holds, -within, within, float(error))


def agree(words: str, differences: Sequence[Mean], within: float) -> tuple[Condition, Condition]:
    """Differences at several places are zero but for less than a stated one: no place is clearly outside, nor the mean.

    The mean, with weights by the errors, agrees as in `agrees`. So large errors leave it open.

    Args:
        words: what the difference is.
        differences: one at each place, with errors.
        within: the largest difference that counts as none.

    Raises:
        Untestable: there are none, or one has no error.

    Example:
        >>> [each.holds for each in agree("error − theory", [Mean(0.01, 0.02, 9), Mean(-0.01, 0.02, 9)], 0.01)]
        [True, None]
    """
    values, errors = (np.array([getattr(each, name) for each in differences]) for name in ("value", "error"))
    require(len(values) and (errors > 0.0).all(), f"{words}: places with runs that scatter needed")
    weights = errors**-2.0
    return (
        below(f"largest |{words}| / (3 SE + {within:g})", largest(np.abs(values) / (3.0 * errors + within)), 1.0),
        agrees(f"mean {words}", float(np.average(values, weights=weights)), float(weights.sum() ** -0.5), within),
    )


def scored(words: str, score: float, least: float = 2.0) -> Condition:
    """A difference that a claim says is positive, in units of its error: open if it is not decided.

    Args:
        words: what the difference is.
        score: the difference over its standard error, or a normal score.
        least: standard errors that decide.

    Example:
        >>> [scored("z of the fall", score).holds for score in (2.5, 0.5, -2.5)]
        [True, None, False]
    """
    holds = None if -least < score <= least else bool(score > least)
    return Condition(words, float(score), f"> {least:g}, open above {-least:g}", holds, lower=least)


class Mean(NamedTuple):
    """A mean over independent samples.

    Attributes:
        value: the mean.
        error: its standard error.
        samples: how many there are. Of a number that is known exactly nothing but the value is stated.
    """

    value: float
    error: float = 0.0
    samples: float = math.inf

    def __format__(self, form: str) -> str:
        """The mean and its error for a sentence, such as `0.400 ± 0.003`."""
        return f"{self.value:{form}} ± {self.error:{form}}"


ZERO = Mean(0.0)
"""A number that is known exactly."""


def mean_of(values: ArrayLike) -> Mean:
    """The mean of samples. It is missing (NaN) if one of them is, and its error if there is one sample only.

    Example:
        >>> mean_of([1.0, 2.0, 3.0])
        Mean(value=2.0, error=0.5773502691896258, samples=3)
    """
    array = np.asarray(values, dtype=float)
    error = float(array.std(ddof=1) / math.sqrt(array.size)) if array.size > 1 else math.nan
    return Mean(float(array.mean()) if array.size else math.nan, error, array.size)


def welch(high: Mean, low: Mean = ZERO) -> float:
    """By how much a mean is above another, as a normal score: the normal number of the same probability as Welch's t.

    Variances may differ. Their degrees of freedom are those of Welch and Satterthwaite. With one mean against a known
    number it is Student's t. Without an error there is no score (NaN).

    Example:
        >>> round(welch(Mean(1.0, 0.4, 5)), 3), round(welch(Mean(1.0, 0.3, 5), Mean(0.0, 0.4, 8)), 3)
        (1.833, 1.807)
    """
    squares = high.error**2, low.error**2
    if not sum(squares) > 0.0:
        return math.nan
    z = (high.value - low.value) / math.hypot(high.error, low.error)
    uncertain = sum(square**2 / (each.samples - 1.0) for square, each in zip(squares, (high, low), strict=True))
    return float(normal_score(z, sum(squares) ** 2 / uncertain + 1.0)) if uncertain > 0.0 else float(z)


def larger(words: str, high: Mean, low: Mean = ZERO, *, by: float = 2.0, or_open: bool = False) -> Condition:
    """A mean is larger than another, or than a number, by Welch's test.

    Args:
        words: what the normal score is of, which is the condition's value.
        high: the mean that is larger.
        low: the other one.
        by: the normal score that decides.
        or_open: whether the condition is open where neither is larger by as much, and not failed.

    Example:
        >>> [larger("rise", Mean(rise, 0.2, 9), by=2, or_open=True).holds for rise in (0.6, 0.1, -0.6)]
        [True, None, False]
    """
    return scored(words, welch(high, low), by) if or_open else above(words, welch(high, low), by)


def trend(words: str, means: ArrayLike, errors: ArrayLike, *, along: str) -> tuple[Condition, ...]:
    """Means with errors fall: none is clearly above a smaller one before it, and the last is clearly below the first.

    Clear is a difference of two standard errors.

    Args:
        words: what falls.
        means: in order.
        errors: their standard errors.
        along: what they are along.

    Raises:
        Untestable: fewer than two means.

    Example:
        >>> [each.holds for each in trend("error", [0.3, 0.31, 0.2], [0.01, 0.01, 0.01], along="α")]
        [True, True]
    """
    values, spread = np.asarray(means, dtype=float), np.asarray(errors, dtype=float)
    rise = largest_rise(values, spread)
    return (
        below(f"largest rise of the {words} along {along}, in SE", rise, 2.0),
        above(f"fall of the {words} from the first {along} to the last, in SE", whole_fall(values, spread), 2.0),
    )


def largest_of(words: str, scores: Iterable[float]) -> Condition:
    """The largest of several deviations is by chance: its p-value is above `LEAST`, by the law of the largest.

    The p-value is the probability that the largest of as many independent normal numbers is as large, 1 − (1 − p)ⁿ.

    Args:
        words: what deviates.
        scores: deviations as normal scores, of either sign.

    Raises:
        Untestable: there are none.

    Example:
        >>> largest_of("error", [0.5, -2.1]).holds, largest_of("error", [0.5, -3.1]).holds
        (True, False)
    """
    sizes = [abs(score) for score in scores]
    alone = 2.0 * stats.norm.sf(largest(sizes))
    return above(f"p-value of the largest {words}", -np.expm1(len(sizes) * np.log1p(-alone)), LEAST)


def printed(words: str, value: float, text: str) -> Condition:
    """A value is a printed number, rounded to its digits.

    Example:
        >>> printed("α_c", 0.8331, "0.833").holds, printed("α_c", 0.8336, "0.833").holds
        (True, False)
    """
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    lower, upper = float(text) - half, float(text) + half
    holds = bool(lower <= value <= upper)
    return Condition(words, float(value), f"{text} to the digits printed", holds, lower, upper)


def digits(words: str, value: float, text: str) -> Condition:
    """A printed number that is judged apart from the claim's statement, which needs conditions of its own.

    If only such conditions fail, by at most `FARTHEST`, the verdict is "reproduced, printed number off".
    """
    return replace(printed(words, value, text), printed=text)


def falls(words: str, *curves: ArrayLike, along: str) -> Condition:
    """Curves fall at every step.

    Args:
        words: what falls.
        *curves: values in order, of each curve.
        along: what they are along.

    Raises:
        Untestable: no curve has two values.

    Example:
        >>> falls("error", [0.3, 0.2, 0.1], along="α").words
        'largest step of the error along α'
    """
    return below(f"largest step of the {words} along {along}", largest(_steps(*curves)), 0.0)


def rises(words: str, *curves: ArrayLike, along: str) -> Condition:
    """Curves rise at every step, as in `falls`."""
    return above(f"smallest step of the {words} along {along}", smallest(_steps(*curves)), 0.0)


def undecided(words: str, why: str) -> Condition:
    """A condition on which the tables say nothing."""
    return Condition(words, math.nan, why, None)


def _judged(inside: float, error: float, by: float, or_open: bool) -> bool | None:
    least = by * error if by else 0.0
    return None if or_open and -least < inside <= least else bool(inside > least)


def _sign(sign: str, limit: float, by: float = 0.0) -> str:
    return f"{sign} {limit:.5g}" + (f" by {by:g} SE" if by else "")


def _steps(*curves: ArrayLike) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(np.diff(np.asarray(curve, dtype=float)) for curve in curves)])


def largest(values: Iterable[float]) -> float:
    """The largest number, or NaN if one of them is missing. NaN is within no bound.

    `max` and pandas would skip a missing number.

    Raises:
        Untestable: there are none.
    """
    array = np.fromiter(values, dtype=float)
    require(array.size, "too few rows to compare")
    return float(array.max())


def smallest(values: Iterable[float]) -> float:
    """The smallest number, as `largest`."""
    return -largest(-value for value in values)


def whole_fall(values: np.ndarray, errors: np.ndarray) -> float:
    """The fall from the first value to the last, in standard errors of the difference."""
    return float((values[0] - values[-1]) / np.hypot(errors[0], errors[-1]))


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
