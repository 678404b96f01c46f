"""Activations σ of random features: functions of arrays, and moments under the standard normal distribution."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from localentropy.arguments import require_choice, shown
from localentropy.errors import DomainError

Activation = str | Callable[[Any], Any]
_Made = TypeVar("_Made")


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

    @property
    def linear_part(self) -> bool:
        """Whether mu_1 is not 0."""
        return self.mu_1**2 > 1e-12 * self.variance

    def covariance(self, weights: Any, projections: Any) -> Any:
        """Covariance of two pre-activations, from the overlap of their weights and of their weights' projections."""
        return self.mu_star_squared * weights + self.mu_1**2 * projections


def _sign(z: np.ndarray) -> np.ndarray:
    return 2 * (z >= 0).view(np.int8) - 1


def _erf(z: np.ndarray) -> np.ndarray:
    from scipy.special import erf

    return erf(z)


_PROBES = np.sin(np.arange(1.0, 33.0) ** 2) * np.linspace(0.1, 4.0, 32)
"""Where a function is looked at, in no order: one that mixes the elements of an array gives itself away."""

_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sign": _sign,
    "erf": _erf,
    "tanh": np.tanh,
    "identity": lambda z: z,
}

_ERF_MU_1 = 2.0 / math.sqrt(3.0 * math.pi)
_CLOSED_FORMS = {
    "sign": ActivationMoments(math.sqrt(2.0 / math.pi), 1.0 - 2.0 / math.pi),
    "erf": ActivationMoments(_ERF_MU_1, 2.0 / math.pi * math.asin(2.0 / 3.0) - _ERF_MU_1**2),
    "identity": ActivationMoments(1.0, 0.0),
}


def activation_function(activation: Activation) -> Callable[[np.ndarray], np.ndarray]:
    """The activation as a function of arrays; "sign" gives int8 and +1 at 0.

    Args:
        activation: "sign", "erf", "tanh", "identity", or a function of arrays or of one number.

    Returns:
        A function of arrays.

    Raises:
        DomainError: unknown name, or a function that fails or gives no finite number.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.activations import activation_function
        >>> activation_function("sign")(np.array([-0.5, 0.0, 2.0])).tolist()
        [-1, 1, 1]
        >>> activation_function(lambda z: min(1.0, max(-1.0, z)))(np.array([-3.0, 0.5])).tolist()  # takes one number
        [-1.0, 0.5]
    """
    if not callable(activation):
        return _FUNCTIONS[
            require_choice("activation", activation, _FUNCTIONS, besides=", and a function of one number")
        ]
    values = values_at_probes(activation)
    if _gives(activation, values):
        return activation
    with contextlib.suppress(Exception):
        if np.ndim(activation(float(_PROBES[0]))) == 0:
            return np.vectorize(activation, otypes=[np.float64])
    if _passed(activation) is _in_tensor:

        def of_arrays(z: np.ndarray) -> np.ndarray:
            return activation(_in_tensor(z)).detach().numpy()  # type: ignore[no-any-return]

        if _gives(of_arrays, values):
            return of_arrays
    return np.vectorize(function_of_numbers(activation), otypes=[np.float64])


def _gives(function: Callable[[np.ndarray], Any], one_by_one: tuple[float, ...]) -> bool:
    """Whether a function of the array of probes gives what it gives one by one."""
    try:
        with np.errstate(all="ignore"):
            together = np.asarray(function(_PROBES), np.float64)
        return together.shape == _PROBES.shape and np.allclose(together, one_by_one, rtol=1e-5, atol=1e-7)
    except Exception:  # a user's function may raise anything
        return False


def values_at_probes(activation: Activation) -> tuple[float, ...]:
    """Some numbers of an activation, by which one can tell whether a function still gives what it gave before.

    Args:
        activation: a name, or a function of arrays or of one number.

    Returns:
        Its values at fixed points; none for a name, whose numbers are always the same.

    Raises:
        DomainError: the function fails, or gives no finite number.

    Example:
        >>> from localentropy.numerics.activations import values_at_probes
        >>> slope = [1.0]
        >>> def activation(z):
        ...     return slope[0] * z
        >>> before = values_at_probes(activation)
        >>> slope[0] = 2.0
        >>> before == values_at_probes(activation)
        False
    """
    if not callable(activation):
        return ()
    of_numbers = function_of_numbers(activation)
    values = tuple(map(of_numbers, _PROBES.tolist()))
    for z, value in zip(_PROBES.tolist(), values, strict=True):
        if not math.isfinite(value):
            raise DomainError(
                f"activation = {shown(activation)} gives {value} at {z:.6g}: it must give a finite number"
            )
    return values


def function_of_numbers(function: Callable[[Any], Any]) -> Callable[[float], float]:
    """A function of arrays, of 0-d tensors or of numbers as one from a number to a number.

    Args:
        function: the user's.

    Returns:
        The same function. It raises a DomainError where the user's function fails.

    Raises:
        DomainError: only when the result is called.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.activations import function_of_numbers
        >>> function_of_numbers(np.tanh)(0.0)
        0.0
    """
    passed = _passed(function)

    def of_numbers(z: float) -> float:
        try:
            with np.errstate(all="ignore"):
                found = function(passed(z))
                return float(found if passed is float else found.item())
        except Exception as failure:  # a user's function may raise anything
            raise DomainError(
                f"activation = {shown(function)} fails at {z:.6g} ({shown(failure)}): it must give a number"
            ) from None

    return of_numbers


def remembered(make: Callable[[Callable[[Any], Any]], _Made]) -> Callable[[Callable[[Any], Any]], _Made]:
    """Decorator of what is made from a function: makes it again only if the function gives other numbers meanwhile.

    Args:
        make: takes a function of arrays or of one number, which need not have a hash.

    Returns:
        The same, with what was made last from up to 32 functions kept.

    Raises:
        DomainError: only when the result is called, see `values_at_probes`.

    Example:
        >>> import math
        >>> from localentropy.numerics.activations import remembered
        >>> @remembered
        ... def at_one(function):
        ...     print("asked")
        ...     return function(1.0)
        >>> at_one(math.cos) == at_one(math.cos)
        asked
        True
    """
    # The function is kept, so that no other one has its identity.
    made: dict[tuple[int, tuple[float, ...]], tuple[Callable[[Any], Any], _Made]] = {}

    @wraps(make)
    def made_once(function: Callable[[Any], Any]) -> _Made:
        key = id(function), values_at_probes(function)
        if key not in made:
            if len(made) == 32:
                made.clear()
            made[key] = function, make(function)
        return made[key][1]

    return made_once


def activation_moments(activation: Activation) -> ActivationMoments:
    """Moments of an activation given by name or as a callable.

    Args:
        activation: "sign", "erf", "tanh", "identity", or a function of one number with E[sigma(z)] = 0. The function
            may take 0-d tensors instead of numbers, and it may jump.

    Returns:
        The two coefficients.

    Raises:
        DomainError: unknown name; a function that fails; mean not zero; moments that are infinite or vanish.

    Example:
        >>> from localentropy.numerics.activations import activation_moments
        >>> moments = activation_moments("sign")
        >>> round(moments.mu_1, 6), round(moments.mu_star_squared, 6)  # √(2/π), 1 − 2/π
        (0.797885, 0.36338)
    """
    if callable(activation):
        return _moments_by_quadrature(activation)
    name = require_choice("activation", activation, _FUNCTIONS, besides=", and a function of one number")
    return _CLOSED_FORMS.get(name) or _moments_by_quadrature(math.tanh)


@remembered
def _moments_by_quadrature(function: Callable[[Any], Any]) -> ActivationMoments:
    at = function_of_numbers(function)
    mean = _gaussian_average(at)
    mu_1 = _gaussian_average(lambda z: z * at(z))
    square = _gaussian_average(lambda z: at(z) ** 2)
    if not square > 0.0:
        raise DomainError(f"activation = {shown(function)} vanishes: its variance must be positive")
    if abs(mean) > 1e-8 * math.sqrt(square):
        raise DomainError(
            f"activation = {shown(function)} has mean {mean:.6g} under N(0, 1): it must be 0 (subtract the mean)"
        )
    # A linear activation has no noise; rounding leaves about 1e-15.
    noise = square - mu_1**2
    return ActivationMoments(mu_1, noise if noise > 1e-12 * square else 0.0)


def _passed(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a function takes a number as: a number, an array, or a 0-d tensor. Found once, because failures are slow."""
    z = float(_PROBES[0])
    with np.errstate(all="ignore"):
        try:
            float(function(z))
        except TypeError:
            for passed in (_in_array, _in_tensor):
                with contextlib.suppress(Exception):
                    float(function(passed(z)).item())
                    return passed
        except Exception:  # a user's function may raise anything
            pass
    return float


def _in_array(z: float) -> np.ndarray:
    return np.array([z])


def _in_tensor(z: float | np.ndarray) -> Any:
    import torch

    return torch.tensor(np.array(z, np.float64))


def _gaussian_average(integrand: Callable[[float], float]) -> float:
    from scipy.integrate import quad

    total, error = 0.0, 0.0
    # Most jumps and kinks are at the origin. There they cost nothing, because 0 is an end point.
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
