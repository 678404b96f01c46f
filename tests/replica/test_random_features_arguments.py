"""Every argument out of range is refused by one line that names it, its value and what is allowed."""

import math
from typing import Any

import pytest

from localentropy.errors import DomainError
from localentropy.replica import random_features as rf

GOOD: dict[str, Any] = {"alpha_T": 3.0, "inv_alpha": 1.2}


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "three", "3", True, None, [1.0, 2.0], 1e-10, 10**400])
@pytest.mark.parametrize("name", ["alpha_T", "inv_alpha"])
def test_ratios_must_be_positive_and_finite(name, value):
    with pytest.raises(DomainError, match=name):
        rf.typical(**(GOOD | {name: value}))


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, "large", "0.1", False, 1e300])
def test_margin_must_be_finite_and_not_negative(value):
    with pytest.raises(DomainError, match="margin"):
        rf.typical(**GOOD, margin=value)
    with pytest.raises(DomainError, match="margin"):
        rf.alpha_c(3.0, margin=value)


def test_no_solutions_below_the_interpolation_threshold():
    with pytest.raises(DomainError, match=r"inv_alpha = 0.8 is below 1/alpha_c = 0.87748"):
        rf.typical(3.0, 0.8)
    with pytest.raises(DomainError, match=r"inv_alpha"):
        rf.kappa_max(3.0, 0.8)
    with pytest.raises(DomainError, match=r"inv_alpha"):
        rf.franz_parisi([0.1], 3.0, 0.8, 0.0)
    rf.typical(3.0, 1 / rf.alpha_c(3.0))  # the threshold itself is allowed


def test_no_solutions_above_the_maximum_margin():
    with pytest.raises(DomainError, match=r"margin = 0.5 is outside \[0, kappa_max = 0.233868"):
        rf.typical(**GOOD, margin=0.5)
    with pytest.raises(DomainError, match=r"margin_ref = 0.25 is outside \[0, kappa_max = 0.233868"):
        rf.franz_parisi([0.1], **GOOD, margin_ref=0.25)
    with pytest.raises(DomainError, match=r"margin = 0.25"):
        rf.franz_parisi([0.1], **GOOD, margin_ref=0.1, margin=0.25)
    rf.typical(**GOOD, margin=rf.kappa_max(**GOOD))


@pytest.mark.parametrize("distance", [0.0, 1.0, -0.1, 1.5, math.nan, "near", "0.1", 1e-300])
def test_distances_must_lie_between_0_and_1(distance):
    with pytest.raises(DomainError, match="distance"):
        rf.franz_parisi([0.1, distance], **GOOD, margin_ref=0.1)


@pytest.mark.parametrize("margin_ref", [-0.1, math.nan, "maximum", None])
def test_margin_of_the_reference(margin_ref):
    with pytest.raises(DomainError, match="margin_ref"):
        rf.franz_parisi([0.1], **GOOD, margin_ref=margin_ref)


def test_activation_and_mode_by_name():
    with pytest.raises(DomainError, match=r"allowed are sign, erf, tanh, identity$"):
        rf.typical(**GOOD, activation=None)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="nearest is 'tanh'"):
        rf.typical(**GOOD, activation="tahn")
    with pytest.raises(DomainError, match=r"allowed are raise, nan$"):
        rf.franz_parisi([0.1], **GOOD, margin_ref=0.1, unsolved="ignore")
    with pytest.raises(DomainError, match="without linear part"):
        rf.franz_parisi([0.1], **GOOD, margin_ref=0.0, activation=lambda z: z * z - 1)


def failing(z):
    raise KeyError("no value here")


@pytest.mark.parametrize("function", [failing, lambda z: None, lambda z: "one"])
def test_an_activation_that_fails_is_named(function):
    with pytest.raises(DomainError, match=r"activation = <function .* fails at") as refused:
        rf.typical(**GOOD, activation=function)
    assert "\n" not in str(refused.value)
