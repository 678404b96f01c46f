"""Every argument out of range is refused by one line that names it, its value and what is allowed."""

import math
from typing import Any

import pytest

from localentropy.errors import DomainError
from localentropy.theory import RandomFeatures, alpha_c, franz_parisi, kappa_max, typical, typical_distance

GOOD: dict[str, Any] = {"alpha_T": 3.0, "inv_alpha": 1.2}


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "three", "3", True, None, [1.0, 2.0], 1e-10, 10**400])
@pytest.mark.parametrize("name", ["alpha_T", "inv_alpha"])
def test_ratios_must_be_positive_and_finite(name, value):
    with pytest.raises(DomainError, match=name):
        typical(RandomFeatures(**GOOD | {name: value}))


@pytest.mark.parametrize("value", [-4.1, math.nan, math.inf, "large", "0.1", False, 1e300])
def test_margin_must_be_finite_and_in_its_range(value):
    with pytest.raises(DomainError, match="margin"):
        typical(RandomFeatures(margin=value, **GOOD))
    with pytest.raises(DomainError, match="margin"):
        alpha_c(RandomFeatures(3.0, margin=value))


def test_no_solutions_below_the_interpolation_threshold():
    with pytest.raises(DomainError, match=r"inv_alpha = 0.8 is below 1/alpha_c = 0.87748"):
        typical(RandomFeatures(3.0, 0.8))
    with pytest.raises(DomainError, match=r"inv_alpha = 1e-06 is below 1/alpha_c = .* at alpha_T = 3 at margin = -4"):
        kappa_max(RandomFeatures(3.0, 1e-6))
    assert kappa_max(RandomFeatures(3.0, 0.8)) < 0
    with pytest.raises(DomainError, match=r"inv_alpha"):
        franz_parisi(RandomFeatures(3.0, 0.8), [0.1], 0.0)
    typical(RandomFeatures(3.0, 1 / alpha_c(RandomFeatures(3.0))))  # the threshold itself is allowed


def test_no_solutions_above_the_maximum_margin():
    with pytest.raises(DomainError, match=r"margin = 0.5 is out of range: allowed are \[-4, kappa_max = 0.233868"):
        typical(RandomFeatures(margin=0.5, **GOOD))
    with pytest.raises(DomainError, match=r"margin_ref = 0.25 is out of range: allowed are \[-4, kappa_max = 0.233868"):
        franz_parisi(RandomFeatures(**GOOD), [0.1], margin_ref=0.25)
    with pytest.raises(DomainError, match=r"margin = 0.25"):
        franz_parisi(RandomFeatures(margin=0.25, **GOOD), [0.1], margin_ref=0.1)
    typical(RandomFeatures(margin=kappa_max(RandomFeatures(**GOOD)), **GOOD))


@pytest.mark.parametrize("distance", [0.0, 1.0, -0.1, 1.5, math.nan, "near", "0.1", 1e-300])
def test_distances_must_lie_between_0_and_1(distance):
    with pytest.raises(DomainError, match="distance"):
        franz_parisi(RandomFeatures(**GOOD), [0.1, distance], margin_ref=0.1)


@pytest.mark.parametrize("margin_ref", [-4.1, math.nan, "maximum", None])
def test_margin_of_the_reference(margin_ref):
    with pytest.raises(DomainError, match="margin_ref"):
        franz_parisi(RandomFeatures(**GOOD), [0.1], margin_ref=margin_ref)


def test_activation_and_mode_by_name():
    with pytest.raises(DomainError, match=r"allowed are sign, erf, tanh, identity, and a function of one number$"):
        typical(RandomFeatures(activation=None, **GOOD))  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="nearest is 'tanh'"):
        typical(RandomFeatures(activation="tahn", **GOOD))
    with pytest.raises(DomainError, match=r"allowed are raise, nan$"):
        franz_parisi(RandomFeatures(**GOOD), [0.1], margin_ref=0.1, unsolved="ignore")
    with pytest.raises(DomainError, match="without linear part"):
        franz_parisi(RandomFeatures(activation=lambda z: z * z - 1, **GOOD), [0.1], margin_ref=0.0)


def failing(z):
    raise KeyError("no value here")


@pytest.mark.parametrize("function", [failing, lambda z: None, lambda z: "one"])
def test_an_activation_that_fails_is_named(function):
    with pytest.raises(DomainError, match=r"activation = <function .* fails at") as refused:
        typical(RandomFeatures(activation=function, **GOOD))
    assert "\n" not in str(refused.value)


def test_typical_distance_from_references_of_very_large_margins_is_refused():
    with pytest.raises(DomainError, match=r"margin_ref = 125.27.* is 199.5 deviations .* found up to about 150"):
        typical_distance(RandomFeatures(80.0, 64881.0, activation="tanh"))
