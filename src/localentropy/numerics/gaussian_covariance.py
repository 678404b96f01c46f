"""Covariance of an activation's outputs at two correlated Gaussians: Q(q), and 1 - Q(1 - v) without cancellation.

Q(q) is E[g(u) g(v)] - E[g]^2 in units of its value at q = 1, for standard Gaussians u, v of correlation q
(docs/margins/theory.md eq. 30). Sign, ReLU and erf have closed forms. For any other g it is a power series whose
coefficients are the shares of g's Hermite polynomials. The series is summed for |q| <= 1/2. Nearer to 1 it converges
slowly where g has jumps or kinks. There, with q = cos(angle), u is sqrt(q) z + sqrt(1 - q) y, and

    E[g^2] - E[g(u) g(v)] = E_z[variance over y of g(u)]    (eq. 33a),

a sum of positive terms that vanishes with the angle; over sin(angle / 2) it is a smooth function of the angle, which is
interpolated. Where g jumps or bends is found, and no panel of a quadrature reaches across such a point.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from localentropy.arguments import require_choice, shown
from localentropy.errors import DomainError
from localentropy.numerics.activations import Activation, activation_function, remembered
from localentropy.numerics.jets import Jet, asin, sqrt
from localentropy.numerics.quadrature import unit_legendre

Array = np.ndarray

WIDEST = 12.0
"""A Gaussian is integrated up to so many standard deviations: an activation may grow."""
REACH = (-17.2718, 17.0941)
"""Where an activation is looked at. Typical jumps and kinks fall on no binary fraction of it."""
DEGREE = 24
"""Of the polynomials that resolve a function on a panel."""
UNRESOLVED = 1e-11
"""Size of the last coefficients, relative to the function, from which on a polynomial does not resolve the function."""
SHARPEST = 1e-5
"""A panel that is shorter and not resolved holds a jump or a kink."""
MOST_BREAKS = 16
"""Jumps and kinks of an activation."""
ORDERS = 64
"""Of the power series, which is used up to 1/2: the rest is below 1e-19."""
LARGEST_ANGLE = math.pi / 3.0

_ORDER = np.arange(DEGREE + 1)
_NODES = np.cos(math.pi * (_ORDER + 0.5) / (DEGREE + 1))
_ENDS = np.array([-1.0, 1.0]) * (1.0 - 1e-9)
_AT_ENDS = np.cos(_ORDER * np.arccos(_ENDS)[:, None])
# Values at the nodes -> coefficients of Chebyshev's polynomials.
_TO_COEFFICIENTS = np.cos(_ORDER[:, None] * np.arccos(_NODES)) * np.where(_ORDER[:, None] > 0, 2.0, 1.0) / (DEGREE + 1)


class Covariance(ABC):
    """Q of an activation, with two derivatives. `Identity`, `Sign`, `ReLU`, `Erf` and `ByQuadrature` are covariances.

    Example:
        >>> from localentropy.numerics.gaussian_covariance import Covariance, gaussian_covariance
        >>> isinstance(gaussian_covariance("tanh"), Covariance)
        True
    """

    @abstractmethod
    def covariance(self, q: Jet) -> Jet:
        """Q(q), -1 < q < 1."""

    @abstractmethod
    def lost(self, v: Jet) -> Jet:
        """1 - Q(1 - v), 0 < v < 2, without cancellation."""


class Identity(Covariance):
    """Covariance of g(u) = u.

    Example:
        >>> from localentropy.numerics.gaussian_covariance import Identity
        >>> from localentropy.numerics.jets import variables
        >>> Identity().covariance(variables([0.5])[0]).value
        0.5
    """

    def covariance(self, q: Jet) -> Jet:
        """Q(q) = q."""
        return q

    def lost(self, v: Jet) -> Jet:
        """1 - Q(1 - v) = v."""
        return v


class Sign(Covariance):
    """Covariance of the sign (`margins`, supplement III; docs/margins/theory.md eq. 33).

    Example:
        >>> from localentropy.numerics.gaussian_covariance import Sign
        >>> from localentropy.numerics.jets import variables
        >>> round(Sign().covariance(variables([0.5])[0]).value, 9)  # (2 / pi) asin(1 / 2)
        0.333333333
    """

    def covariance(self, q: Jet) -> Jet:
        """Q(q) = (2 / pi) asin q."""
        return (2.0 / math.pi) * asin(q)

    def lost(self, v: Jet) -> Jet:
        """The angle whose cosine is the overlap."""
        return (2.0 / math.pi) * _angle(v)


class ReLU(Covariance):
    """Covariance of max(u, 0) (`margins`, supplement III; docs/margins/theory.md eq. 33).

    Example:
        >>> from localentropy.numerics.gaussian_covariance import ReLU
        >>> from localentropy.numerics.jets import variables
        >>> round(ReLU().covariance(variables([0.5])[0]).value, 6)
        0.426422
    """

    def covariance(self, q: Jet) -> Jet:
        """Q(q) = [sqrt(1 - q^2) - 1 + q (pi / 2 + asin q)] / (pi - 1)."""
        return (q * (0.5 * math.pi + asin(q)) - q * q / (1.0 + sqrt(1.0 - q * q))) / (math.pi - 1.0)

    def lost(self, v: Jet) -> Jet:
        """By the angle whose cosine is the overlap."""
        x, cosine = _angle(v).value, 1.0 - v.value
        # sin x - x cos x
        bulge = math.sin(x) - x * cosine
        if x < 0.1:
            bulge = x**3 * (1.0 / 3.0 - x**2 * (1.0 / 30.0 - x**2 * (1.0 / 840.0 - x**2 / 45360.0)))
        return v.map(math.pi * v.value - bulge, math.pi - x, -1.0 / math.sin(x)) / (math.pi - 1.0)


class Erf(Covariance):
    """Covariance of the error function: a ratio of two angles, whose sines are 2 q / 3 and 2/3 (Williams 1996).

    Example:
        >>> from localentropy.numerics.gaussian_covariance import Erf
        >>> from localentropy.numerics.jets import variables
        >>> round(Erf().covariance(variables([0.5])[0]).value, 6)
        0.465704
    """

    def covariance(self, q: Jet) -> Jet:
        """Q(q) = asin(2 q / 3) / asin(2 / 3)."""
        return asin((2.0 / 3.0) * q) / math.asin(2.0 / 3.0)

    def lost(self, v: Jet) -> Jet:
        """By the chord between the two angles."""
        b = (2.0 / 3.0) * (1.0 - v)
        rise = (2.0 / 3.0) * (2.0 - v) / (math.sqrt(5.0) / 3.0 + sqrt(1.0 - b * b))
        return 2.0 * asin(v * sqrt(1.0 + rise * rise) / 3.0) / math.asin(2.0 / 3.0)


CLOSED_FORMS: dict[str, Covariance] = {"sign": Sign(), "relu": ReLU(), "erf": Erf(), "identity": Identity()}


def gaussian_covariance(activation: Activation) -> Covariance:
    """Q of an activation: the same object as the last time, as long as the activation is the same.

    Args:
        activation: "sign", "relu", "erf", "tanh", "identity", or a function of arrays or of one number, which may have
            jumps and kinks.

    Returns:
        The covariance.

    Raises:
        DomainError: unknown name; a function that fails, has no finite variance, has no linear part (as a
            constant or even function), or is not piecewise smooth.

    Example:
        >>> from localentropy.numerics.gaussian_covariance import gaussian_covariance
        >>> from localentropy.numerics.jets import variables
        >>> own = gaussian_covariance(lambda u: max(u, 0.0))  # found by quadrature
        >>> round(own.covariance(variables([0.5])[0]).value, 6)  # as that of "relu"
        0.426422
    """
    if callable(activation):
        return _by_quadrature(activation)
    words = (*CLOSED_FORMS, "tanh")
    if require_choice("activation", activation, words, besides=", and a function of one number") == "tanh":
        return _by_quadrature(np.tanh)
    return CLOSED_FORMS[activation]


@remembered
def _by_quadrature(activation: Callable[[Any], Any]) -> ByQuadrature:
    return ByQuadrature(activation_function(activation), f"activation = {shown(activation)}")


class ByQuadrature(Covariance):
    """Covariance of any piecewise smooth function.

    Args:
        function: of arrays.
        name: what an error message calls it.

    Raises:
        DomainError: the function fails, has no finite variance or no linear part (as a constant or even function),
            or is not piecewise smooth.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.gaussian_covariance import ByQuadrature
        >>> from localentropy.numerics.jets import variables
        >>> round(ByQuadrature(np.tanh, "tanh").lost(variables([1e-6])[0]).value, 12)  # 1 - Q(1 - v)
        1.177807e-06
    """

    def __init__(self, function: Callable[[Array], Any], name: str) -> None:
        def values(x: Array) -> Array:
            try:
                with np.errstate(all="ignore"):
                    found = np.asarray(function(x.ravel()), dtype=np.float64).reshape(x.shape)
            except Exception as failure:  # a user's function may raise anything
                raise DomainError(f"{name} fails ({shown(failure)}): it must give a number for a number") from None
            if not np.isfinite(found).all():
                raise DomainError(f"{name} is not finite on all of [-17, 17]")
            return found

        self._values = values
        wide = np.linspace(-WIDEST, WIDEST, 2001)
        squares = np.exp(-0.5 * wide * wide) * values(wide) ** 2
        if max(squares[0], squares[-1]) > 1e-14 * float(np.sum(squares)):
            raise DomainError(f"{name} grows too fast: its variance under N(0, 1) is not finite or not computable")
        self._edges, self._breaks = _panels(values, name)
        x, weight = self._gaussian_rule(np.union1d(self._edges, np.linspace(*REACH, 25)))
        g = values(x)
        self._mean = float(weight @ g)
        self._variance = float(weight @ (g - self._mean) ** 2)
        if not self._variance > 1e-20 * float(weight @ g**2):
            raise DomainError(f"{name} is constant: its variance must be positive")
        # Hermite's polynomials, normalised.
        shares, before, here = [], np.zeros_like(x), np.ones_like(x)
        for order in range(1, ORDERS):
            before, here = here, (x * here - math.sqrt(order - 1.0) * before) / math.sqrt(order)
            shares.append(float(weight @ (here * g)) ** 2 / self._variance)
        if shares[0] < 1e-12:
            raise DomainError(
                f"{name} has no linear part, E[z g(z)] = 0: the overlap of two typical solutions is then 0, and "
                f"entropies around it are not described by this theory"
            )
        self._series = np.array([0.0, *shares])
        self._tables = _resolved(self._near_one, 0.0, LARGEST_ANGLE)

    def covariance(self, q: Jet) -> Jet:
        """The series for small overlaps, the table for large ones."""
        if q.value > 0.5:
            return 1.0 - self.lost(1.0 - q)
        if q.value < -0.5:
            return self._interpolated(1, _angle(1.0 + q))
        n, powers = np.arange(ORDERS), q.value ** np.arange(ORDERS)
        first, second = n[1:] * powers[:-1], n[2:] * n[1:-1] * powers[:-2]
        return q.map(float(self._series @ powers), float(self._series[1:] @ first), float(self._series[2:] @ second))

    def lost(self, v: Jet) -> Jet:
        """The table for large overlaps."""
        if v.value > 0.5:
            return 1.0 - self.covariance(1.0 - v)
        return sqrt(0.5 * v) * self._interpolated(0, _angle(v))

    def _interpolated(self, row: int, angle: Jet) -> Jet:
        panel = next((panel for panel in self._tables if angle.value <= panel[1]), self._tables[-1])
        low, high, coefficients = panel
        unit = 2.0 / (high - low)
        x = (angle.value - low) * unit - 1.0
        polynomials = np.cos(_ORDER * math.acos(min(max(x, -1.0), 1.0)))
        value, first, second = (float(part[row] @ polynomials) for part in coefficients)
        return angle.map(value, unit * first, unit * unit * second)

    def _near_one(self, angles: Array) -> Array:
        """1 - Q over sin(angle / 2) at q = cos(angle), and Q at -cos(angle): shape (2, n)."""
        return np.array([self._at(float(angle)) for angle in angles]).T

    def _at(self, angle: float) -> tuple[float, float]:
        half = math.sin(0.5 * angle)
        root, rest = math.sqrt(math.cos(angle)), math.sqrt(2.0) * half
        # Averages over y vary with z as g does, and next to a break on the scale of y.
        layers = self._breaks[:, None] + rest * np.array([-9.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 9.0])
        places = np.concatenate([self._edges, layers.ravel()]) / root
        inside = places[np.abs(places) < WIDEST]
        z, weight = self._gaussian_rule(np.unique(np.concatenate([inside, -inside, np.linspace(-WIDEST, WIDEST, 17)])))
        ends = np.linspace(-WIDEST, WIDEST, 9)
        edges = np.clip((self._edges[None, :] - root * z[:, None]) / rest, -WIDEST, WIDEST)
        edges = np.sort(np.concatenate([edges, np.broadcast_to(ends, (len(z), len(ends)))], axis=1), axis=1)
        # Panels that the range of y cuts off have no length.
        edges = edges[:, np.ptp(edges, axis=0) + np.abs(np.abs(edges[0]) - WIDEST) > 0.0]
        edges = np.concatenate([np.full((len(z), 1), -WIDEST), edges, np.full((len(z), 1), WIDEST)], axis=1)
        y, weight_y = self._gaussian_rule(edges)
        g = self._values(root * z[:, None] + rest * y) - self._mean
        mean = np.sum(weight_y * g, axis=1)
        variance = np.sum(weight_y * (g - mean[:, None]) ** 2, axis=1)
        scale = self._variance
        return float(weight @ variance) / (scale * half), float(weight @ (mean * mean[::-1])) / scale

    @staticmethod
    def _gaussian_rule(edges: Array) -> tuple[Array, Array]:
        """Nodes and weights of int Dz on panels between edges, shape (..., panels + 1), one after the other."""
        unit, weight = unit_legendre(16)
        length = np.diff(edges, axis=-1)[..., None]
        z = edges[..., :-1, None] + length * unit
        density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) * length * weight
        shape = (*edges.shape[:-1], -1)
        return z.reshape(shape), density.reshape(shape)


def _angle(v: Jet) -> Jet:
    """The angle of cosine 1 - v."""
    return 2.0 * asin(sqrt(0.5 * v))


def _on_panel(low: float, high: float, places: Array) -> Array:
    return low + 0.5 * (high - low) * (1.0 + places)


def _panels(function: Callable[[Array], Array], name: str) -> tuple[Array, Array]:
    """Edges of panels on which a function is smooth, and those of them where it jumps or bends.

    Raises:
        DomainError: there are too many jumps or kinks, or features sharper than the shortest panel.
    """
    scale = float(np.max(np.abs(function(np.linspace(-3.0, 3.0, 601))))) or 1.0

    def roughness(low: float, high: float) -> float:
        values = function(_on_panel(low, high, np.append(_NODES, _ENDS)))
        coefficients = _TO_COEFFICIENTS @ values[: len(_NODES)]
        # What no node sees: a jump next to an end.
        missed = values[len(_NODES) :] - _AT_ENDS @ coefficients
        # Far out, errors weigh little.
        weight = math.exp(0.25 * min(abs(low), abs(high)) ** 2) if low * high > 0.0 else 1.0
        return float(max(np.max(np.abs(coefficients[-4:])), np.max(np.abs(missed)))) / (weight * scale)

    def split(low: float, high: float) -> float | None:
        if roughness(low, high) < UNRESOLVED:
            edges.append(high)
            return None
        middle = 0.5 * (low + high)
        if high - low > SHARPEST:
            found = split(low, middle)
            return split(middle, high) if found is None else found
        while low < middle < high:
            low, high = (low, middle) if roughness(low, middle) > roughness(middle, high) else (middle, high)
            middle = 0.5 * (low + high)
        return middle

    breaks: list[float] = []
    while len(breaks) <= MOST_BREAKS:
        edges = [REACH[0]]
        for low, high in itertools.pairwise([REACH[0], *sorted(breaks), REACH[1]]):
            found = split(low, high)
            if found is not None:
                breaks.append(found)
                break
        else:
            return np.array(edges), np.array(breaks)
    raise DomainError(
        f"{name} is not smooth between at most {MOST_BREAKS} jumps or kinks: its covariance is not computable"
    )


def _resolved(function: Callable[[Array], Array], low: float, high: float) -> list[tuple[float, float, list[Array]]]:
    """Panels with the coefficients of Chebyshev's polynomials of a function and of its first two derivatives."""
    coefficients = function(_on_panel(low, high, _NODES)) @ _TO_COEFFICIENTS.T
    if np.max(np.abs(coefficients[:, -4:])) > UNRESOLVED * np.max(np.abs(coefficients)) and high - low > SHARPEST:
        middle = 0.5 * (low + high)
        return _resolved(function, low, middle) + _resolved(function, middle, high)
    derivatives = [np.polynomial.chebyshev.chebder(coefficients, order, axis=1) for order in (1, 2)]
    padded = [np.pad(part, ((0, 0), (0, DEGREE + 1 - part.shape[1]))) for part in derivatives]
    return [(low, high, [coefficients, *padded])]
