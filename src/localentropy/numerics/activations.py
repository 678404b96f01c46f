"""Gaussian moments of the activation: all that the random-features theory needs to know of it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from localentropy.errors import DomainError

Activation = str | Callable[[Any], Any]


@dataclass(frozen=True)
class ActivationMoments:
    """Gaussian-equivalence coefficients of a zero-mean activation sigma (`overparam`, eq. 27).

    Attributes:
        mu_1: E[z sigma(z)] under N(0, 1).
        mu_star_squared: E[sigma(z)^2] - mu_1^2, the variance of the part that acts as noise.
    """

    mu_1: float
    mu_star_squared: float

    @property
    def variance(self) -> float:
        """E[sigma(z)^2]."""
        return self.mu_1**2 + self.mu_star_squared


def _erf_moments() -> ActivationMoments:
    mu_1 = 2.0 / math.sqrt(3.0 * math.pi)
    return ActivationMoments(mu_1, 2.0 / math.pi * math.asin(2.0 / 3.0) - mu_1**2)


def _tanh_moments() -> ActivationMoments:
    return _moments_by_quadrature(math.tanh)


_CLOSED_FORMS: dict[str, Callable[[], ActivationMoments]] = {
    "sign": lambda: ActivationMoments(math.sqrt(2.0 / math.pi), 1.0 - 2.0 / math.pi),
    "erf": _erf_moments,
    "tanh": _tanh_moments,
    "identity": lambda: ActivationMoments(1.0, 0.0),
}


def activation_moments(activation: Activation) -> ActivationMoments:
    """Moments of an activation given by name or as a callable.

    Args:
        activation: "sign", "tanh", "erf", "identity", or a function of one number (of a 0-d tensor,
            where it does not take numbers) with E[sigma(z)] = 0. It may jump; its moments are then found
            by bisection around the jumps.

    Raises:
        DomainError: unknown name; mean not zero; moments that are infinite or vanish.
    """
    if callable(activation):
        return _moments_by_quadrature(activation)
    if not isinstance(activation, str) or activation not in _CLOSED_FORMS:
        nearest = difflib.get_close_matches(str(activation), _CLOSED_FORMS, n=1, cutoff=0.0)
        raise DomainError(
            f"activation = {activation!r} is not known: allowed are {', '.join(_CLOSED_FORMS)} "
            f"or a callable; nearest is {nearest[0]!r}"
        )
    return _CLOSED_FORMS[activation]()


@lru_cache(maxsize=32)
def _moments_by_quadrature(function: Callable[[float], float]) -> ActivationMoments:
    mean = _gaussian_average(lambda z: _evaluate(function, z))
    mu_1 = _gaussian_average(lambda z: z * _evaluate(function, z))
    square = _gaussian_average(lambda z: _evaluate(function, z) ** 2)
    if not square > 0.0:
        raise DomainError(f"activation = {function!r} vanishes: its variance must be positive")
    if abs(mean) > 1e-8 * math.sqrt(square):
        raise DomainError(
            f"activation = {function!r} has mean {mean:.6g} under N(0, 1): it must be 0 (subtract the mean)"
        )
    # Rounding leaves about 1e-15 of noise to a linear activation, which has none.
    noise = square - mu_1**2
    return ActivationMoments(mu_1, noise if noise > 1e-12 * square else 0.0)


def _evaluate(function: Callable[[float], float], z: float) -> float:
    try:
        try:
            return float(function(z))
        except TypeError:
            import torch

            return float(function(torch.tensor(z, dtype=torch.float64)))  # type: ignore[arg-type]
    except Exception as failure:  # a user's function may raise anything
        raise DomainError(
            f"activation = {function!r} fails at {z:.6g} ({type(failure).__name__}: {failure}): it must give a number"
        ) from None


def _gaussian_average(integrand: Callable[[float], float]) -> float:
    from scipy.integrate import quad

    total, error = 0.0, 0.0
    # Separate half lines: a jump or a kink at the origin, the common case, then costs nothing.
    for low, high in ((-16.0, -4.0), (-4.0, 0.0), (0.0, 4.0), (4.0, 16.0)):
        part = quad(
            lambda z: integrand(z) * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi),
            low, high, epsabs=1e-14, epsrel=1e-13, limit=2000, full_output=1,
        )  # fmt: skip
        total += part[0]
        error += part[1]
    if not math.isfinite(total) or error > 1e-9 * max(1.0, abs(total)):
        raise DomainError(f"activation: a Gaussian moment is not finite or not computable (error {error:.3g})")
    return total
