"""Functions with their first and second derivatives: a free entropy is written once, as in the paper.

A `Jet` is a number that depends on n variables: its value, gradient and Hessian at one point. Sums, products and the
functions below carry all three along, exactly.

    >>> x, y = variables([2.0, 3.0])
    >>> z = x * log(y)
    >>> z.gradient
    array([1.09861229, 0.66666667])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Union

import numpy as np

from localentropy.numerics.compiled import kernel

Array = np.ndarray
Number = Union["Jet", float]


class Jet:
    """A number that depends on n variables.

    Attributes:
        value: the number.
        derivatives: its gradient, and below it its Hessian, shape (1 + n, n).

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> x, y = variables([2.0, 3.0])
        >>> product = x * x * y
        >>> product.value, product.gradient.tolist(), product.hessian.tolist()
        (12.0, [12.0, 4.0], [[6.0, 4.0], [4.0, 0.0]])
    """

    __slots__ = ("derivatives", "value")
    # numpy's numbers leave products with jets to the jets.
    __array_ufunc__ = None

    def __init__(self, value: float, derivatives: Array) -> None:
        self.value = value
        self.derivatives = derivatives

    @property
    def gradient(self) -> Array:
        """Its first derivatives, shape (n,)."""
        return self.derivatives[0]

    @property
    def hessian(self) -> Array:
        """Its second derivatives, shape (n, n)."""
        return self.derivatives[1:]

    def __add__(self, other: Number) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.derivatives)
        return Jet(self.value + other.value, self.derivatives + other.derivatives)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Number) -> Jet:
        return self + (-other)

    def __rsub__(self, other: float) -> Jet:
        return -self + other

    def __mul__(self, other: Number) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.derivatives * other)
        a, b = self.value, other.value
        return Jet(a * b, _product(a, self.derivatives, b, other.derivatives))

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Jet:
        if not isinstance(other, Jet):
            return self * (1.0 / other)
        return self * other.map(1.0 / other.value, -1.0 / other.value**2, 2.0 / other.value**3)

    def __rtruediv__(self, other: float) -> Jet:
        return self.map(other / self.value, -other / self.value**2, 2.0 * other / self.value**3)

    def map(self, value: float, first: float, second: float) -> Jet:
        """f(self), from f and its first two derivatives at this number."""
        return Jet(value, _chain(first, second, self.derivatives))


def variables(point: Sequence[float] | Array) -> list[Jet]:
    """The variables themselves, as jets at a point.

    Args:
        point: values of the variables, shape (n,).

    Returns:
        n jets.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> [one.gradient.tolist() for one in variables([2.0, 3.0])]
        [[1.0, 0.0], [0.0, 1.0]]
    """
    n = len(point)
    derivatives = np.zeros((n, 1 + n, n))
    derivatives[:, 0] = np.eye(n)
    return [Jet(float(value), derivatives[index]) for index, value in enumerate(point)]


def plain(argument: Number) -> float:
    """The value of a jet; a number itself.

    Args:
        argument: a jet or a number.

    Returns:
        The number.

    Example:
        >>> from localentropy.numerics.jets import plain, variables
        >>> plain(variables([2.0])[0]), plain(2)
        (2.0, 2.0)
    """
    return argument.value if isinstance(argument, Jet) else float(argument)


def compose(value: float, gradient: Array, hessian: Array, arguments: Sequence[Number]) -> Jet:
    """A function of several jets and numbers, from its derivatives at their values.

    Args:
        value: of the function.
        gradient: its first derivatives by the arguments, shape (k,).
        hessian: its second derivatives, shape (k, k).
        arguments: k jets and numbers.

    Returns:
        The function as a jet.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.jets import compose, variables
        >>> x, y = variables([2.0, 3.0])
        >>> product = compose(6.0, np.array([3.0, 2.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), [x, y])
        >>> product.gradient.tolist() == (x * y).gradient.tolist()
        True
    """
    places = [index for index, argument in enumerate(arguments) if isinstance(argument, Jet)]
    inner = np.array([arguments[index].derivatives for index in places])  # type: ignore[union-attr]
    return Jet(value, _composed(gradient, hessian, np.array(places), inner))


@kernel
def _product(a: float, first: Array, b: float, second: Array):  # type: ignore[no-untyped-def]
    """Derivatives of a product, from the values and derivatives of the factors."""
    n = first.shape[1]
    derivatives = np.empty((1 + n, n))
    for i in range(n):
        derivatives[0, i] = a * second[0, i] + b * first[0, i]
        for j in range(n):
            cross = first[0, i] * second[0, j] + first[0, j] * second[0, i]
            derivatives[1 + i, j] = cross + a * second[1 + i, j] + b * first[1 + i, j]
    return derivatives


@kernel
def _chain(slope: float, bend: float, inner: Array):  # type: ignore[no-untyped-def]
    """Derivatives of f(x), from the two of f by x, and those of x."""
    n = inner.shape[1]
    derivatives = np.empty((1 + n, n))
    for i in range(n):
        derivatives[0, i] = slope * inner[0, i]
        for j in range(n):
            derivatives[1 + i, j] = bend * inner[0, i] * inner[0, j] + slope * inner[1 + i, j]
    return derivatives


@kernel
def _composed(gradient: Array, hessian: Array, places: Array, inner: Array):  # type: ignore[no-untyped-def]
    """Derivatives of f(x_1, ..., x_k), from those of f, shapes (k,) and (k, k), and of its arguments at `places`."""
    k, _, n = inner.shape
    derivatives = np.zeros((1 + n, n))
    for a in range(k):
        for i in range(1 + n):
            for j in range(n):
                derivatives[i, j] += gradient[places[a]] * inner[a, i, j]
        for i in range(n):
            slope = 0.0
            for b in range(k):
                slope += hessian[places[a], places[b]] * inner[b, 0, i]
            for j in range(n):
                derivatives[1 + j, i] += inner[a, 0, j] * slope
    return derivatives


def _function(derivatives: Callable[[float], tuple[float, float, float]]) -> Callable[[Jet], Jet]:
    return lambda argument: argument.map(*derivatives(argument.value))


def _exp(x: float) -> tuple[float, float, float]:
    value = math.exp(x)
    return value, value, value


def _sqrt(x: float) -> tuple[float, float, float]:
    root = math.sqrt(x)
    return root, 0.5 / root, -0.25 / (x * root)


def _logistic(x: float) -> tuple[float, float, float]:
    size = math.exp(-abs(x))
    small, large = size / (1.0 + size), 1.0 / (1.0 + size)
    value = large if x > 0 else small
    return value, small * large, small * large * (1.0 - 2.0 * value)


def _asin(x: float) -> tuple[float, float, float]:
    slope = 1.0 / math.sqrt((1.0 - x) * (1.0 + x))
    return math.asin(x), slope, x * slope**3


exp = _function(_exp)
expm1 = _function(lambda x: (math.expm1(x), math.exp(x), math.exp(x)))
log = _function(lambda x: (math.log(x), 1.0 / x, -1.0 / x**2))
sqrt = _function(_sqrt)
asin = _function(_asin)
logistic = _function(_logistic)
