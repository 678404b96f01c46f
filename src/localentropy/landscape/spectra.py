"""Spectra of the Hessian of any loss of any model of PyTorch, of all parameters or of one layer.

The matrix is never made: all that is needed are its products with vectors, each two passes of derivatives (Pearlmutter
1994). The density of eigenvalues is that of stochastic Lanczos quadrature (Ghorbani, Krishnan and Xiao,
arXiv:1901.10159), the trace that of Hutchinson.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from localentropy import seeds
from localentropy.arguments import listed, require_function, require_reals, shown
from localentropy.device import Tensor, torch
from localentropy.errors import DomainError
from localentropy.numerics.waiting import counted, waited
from localentropy.quantities import DRAWS, EIGENVALUES, LANCZOS, TOLERANCE, WIDTH_OF_BAND

_SMALL = 20
"""Parameters up to which the matrix is made: the method for the largest eigenvalues would keep as many vectors."""


class Hessian:
    """The second derivatives of a loss by the parameters of a model, where they are now.

    The model is used as it is: call `model.eval()` first if it has layers that are random in training. All is computed
    in the floating-point type of its parameters: `model.double()` is the most accurate.

    Attributes:
        names: of the parameters, as `model.named_parameters()` has them, in the order of the entries of a vector.
        sizes: numbers of entries of each.
        size: number of all their entries.

    Raises:
        DomainError: no model, no parameter of this layer that takes derivatives; a loss that is no function, is no
            single finite number, or does not depend on the parameters.

    Example:
        >>> import torch
        >>> from localentropy.landscape.spectra import Hessian
        >>> model = torch.nn.Linear(2, 1, bias=False).double()
        >>> Hessian(lambda model: (model.weight ** 2).sum(), model).matrix().tolist()
        [[2.0, 0.0], [0.0, 2.0]]
    """

    def __init__(
        self,
        loss: Callable[[torch.nn.Module], Tensor],
        model: torch.nn.Module,
        layer: str | None = None,
    ) -> None:
        """Derive once.

        Args:
            loss: takes the model, and returns its loss, one number.
            model: any.
            layer: name of a layer or of a parameter, such as "0" or "0.weight": the block of its parameters alone.
        """
        require_function("loss", loss)
        if not isinstance(model, torch.nn.Module):
            raise DomainError(f"model = {type(model).__name__} object: allowed is a torch.nn.Module")
        if layer is not None and not isinstance(layer, str):
            raise DomainError(f"layer = {shown(layer)}: allowed is a name of named_parameters(), or None")
        named = {name: one for name, one in model.named_parameters() if one.requires_grad}
        kept = {name: one for name, one in named.items() if layer is None or f"{name}.".startswith(f"{layer}.")}
        if not kept:
            if not named:
                raise DomainError("model: none of its parameters takes derivatives")
            layers = list(dict.fromkeys(name.rpartition(".")[0] or name for name in named))
            near = listed(layer, [repr(one) for one in layers])
            raise DomainError(f"layer = {shown(layer)} has no parameters that take derivatives: allowed are {near}")
        self._made_of = (loss, model, layer)
        self.names = tuple(kept)
        self._parameters = tuple(kept.values())
        self.sizes = tuple(one.numel() for one in self._parameters)
        self.size = sum(self.sizes)
        with torch.enable_grad():
            value = loss(model)
            if not (isinstance(value, Tensor) and value.numel() == 1 and bool(torch.isfinite(value).all())):
                raise DomainError("loss: what it returned is no single finite number")
            if not value.requires_grad:
                raise DomainError("loss: what it returned does not depend on the parameters of the model")
            found = torch.autograd.grad(value.sum(), self._parameters, create_graph=True, allow_unused=True)
        if all(one is None for one in found):
            raise DomainError("loss: what it returned does not depend on the parameters of the model")
        self._gradient = torch.cat(
            [
                torch.zeros_like(one).ravel() if slope is None else slope.ravel()
                for slope, one in zip(found, self._parameters, strict=True)
            ]
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made anew: graphs of derivatives cannot be copied.
        return Hessian, self._made_of

    def product(self, vector: np.ndarray) -> np.ndarray:
        """The Hessian times a vector, float64, [size].

        Raises:
            DomainError: a vector of another length or not finite; second derivatives that are not finite.
        """
        given = torch.from_numpy(require_reals("vector", vector, (self.size,))).to(self._gradient)
        if not self._gradient.requires_grad:  # a linear loss
            return np.zeros(self.size)
        parts = torch.autograd.grad(
            self._gradient, self._parameters, given, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        product = torch.cat([one.ravel() for one in parts]).double().cpu().numpy()
        if not np.isfinite(product).all():
            raise DomainError("loss: its second derivatives are not finite")
        return product

    def matrix(self) -> np.ndarray:
        """The whole matrix, [size, size], of `size` products. Memory: 8 size² bytes."""
        columns = np.array([self.product(one) for one in np.eye(self.size)])
        return (columns + columns.T) / 2


@dataclass(frozen=True, eq=False)
class Trace:
    """The trace of a Hessian.

    Attributes:
        mean: mean of v·Hv over the random vectors; its expectation is the trace.
        error: its standard error.
        parts: name of a parameter → the trace of its block of the Hessian. The blocks add up to the whole, and have no
            parts of their own.
    """

    mean: float
    error: float
    parts: Mapping[str, Trace]


@dataclass(frozen=True, eq=False)
class Density:
    """The distribution of eigenvalues, as the mean over random vectors of sums of points.

    Attributes:
        values: where the points are, ascending, [points].
        weights: of the points; they add up to 1, [points].
    """

    values: np.ndarray
    weights: np.ndarray

    def moment(self, power: int) -> float:
        """⟨λ^power⟩, a moment of the eigenvalues.

        With `steps` products for each vector, powers up to 2 steps − 1 have no error except that of the draws.

        Args:
            power: of the eigenvalues.

        Returns:
            The mean of this power over all eigenvalues.
        """
        return float(self.weights @ self.values**power)

    def at(self, values: ArrayLike, *, width: float) -> np.ndarray:
        """The density at `values`, in their shape, with each point a Gaussian of standard deviation `width`.

        Raises:
            DomainError: values that are not finite, a width that is not positive.
        """
        grid, width = require_reals("values", values), WIDTH_OF_BAND.require(width)
        bands = np.exp(-(((grid[..., None] - self.values) / width) ** 2) / 2)
        return bands @ self.weights / (width * math.sqrt(2 * math.pi))


def largest_eigenvalues(hessian: Hessian, count: int = 1, *, tolerance: float = 1e-12) -> np.ndarray:
    """The largest eigenvalues, by Lanczos' method from a fixed start.

    Args:
        hessian: the Hessian, as `Hessian` makes it.
        count: how many.
        tolerance: their relative error, unless single precision is worse.

    Returns:
        In descending order, [count].

    Raises:
        DomainError: no Hessian, a count outside [1, 1000] or above the number of parameters, a tolerance outside
            (0, 1].

    Example:
        >>> import torch
        >>> from localentropy.landscape.spectra import Hessian, largest_eigenvalues
        >>> model = torch.nn.Linear(30, 1, bias=False).double()
        >>> hessian = Hessian(lambda model: (model.weight ** 2).sum(), model)
        >>> largest_eigenvalues(hessian, 2).round(9).tolist()
        [2.0, 2.0]
    """
    _check(hessian)
    count, tolerance = EIGENVALUES.require(count), TOLERANCE.require(tolerance)
    if count > hessian.size:
        raise DomainError(f"count = {count}: there are {hessian.size} parameters")
    if hessian.size <= max(_SMALL, 2 * count):
        return np.linalg.eigvalsh(hessian.matrix())[::-1][:count].copy()
    start = np.random.default_rng(0).standard_normal(hessian.size)
    if not hessian.product(start).any():
        return np.zeros(count)
    operator = LinearOperator((hessian.size, hessian.size), matvec=hessian.product, dtype=np.float64)
    with waited("largest_eigenvalues"):
        found = eigsh(operator, k=count, which="LA", v0=start, tol=tolerance, return_eigenvectors=False)
    return np.sort(found)[::-1].copy()


def trace(hessian: Hessian, *, draws: int = 100, seed: int) -> Trace:
    """The trace by Hutchinson's method: the mean of v·Hv over vectors v of random signs.

    Args:
        hessian: the Hessian, as `Hessian` makes it.
        draws: random vectors.
        seed: root seed of the vectors.

    Returns:
        The mean and its standard error, which is NaN of a single draw, and those of each parameter's block.

    Raises:
        DomainError: no Hessian, draws < 1, a seed that is no integer.

    Example:
        >>> import torch
        >>> from localentropy.landscape.spectra import Hessian, trace
        >>> model = torch.nn.Linear(30, 1, bias=False).double()
        >>> trace(Hessian(lambda model: (model.weight ** 2).sum(), model), seed=0).mean
        60.0
    """
    _check(hessian)
    draws = DRAWS.require(draws)
    stream = seeds.generator(seed, "spectra/trace", size=hessian.size)
    starts = np.cumsum((0, *hessian.sizes[:-1]))
    products = np.empty((draws, len(starts)))
    for draw in counted(range(draws), "trace"):
        vector = stream.choice([-1.0, 1.0], hessian.size)
        products[draw] = np.add.reduceat(vector * hessian.product(vector), starts)
    parts = {name: _mean(of_part, {}) for name, of_part in zip(hessian.names, products.T, strict=True)}
    return _mean(products.sum(1), parts)


def _mean(draws: np.ndarray, parts: Mapping[str, Trace]) -> Trace:
    error = np.std(draws, ddof=1) / math.sqrt(len(draws)) if len(draws) > 1 else math.nan
    return Trace(float(np.mean(draws)), float(error), parts)


def spectral_density(hessian: Hessian, *, steps: int = 50, draws: int = 10, seed: int) -> Density:
    """The distribution of all eigenvalues, by stochastic Lanczos quadrature.

    From a random vector v of norm 1, `steps` products give a Gaussian quadrature of the eigenvalues, each with the
    weight of v on its eigenvector. The mean over v is the density.

    Args:
        hessian: the Hessian, as `Hessian` makes it.
        steps: products for each random vector; no more than there are parameters are made.
        draws: random vectors.
        seed: root seed of the vectors.

    Returns:
        Points and weights of all draws.

    Raises:
        DomainError: no Hessian, steps or draws < 1, a seed that is no integer.

    Example:
        >>> import torch
        >>> from localentropy.landscape.spectra import Hessian, spectral_density
        >>> model = torch.nn.Linear(30, 1, bias=False).double()
        >>> density = spectral_density(Hessian(lambda model: (model.weight ** 2).sum(), model), seed=0)
        >>> round(density.moment(1), 9), round(density.moment(2), 9)
        (2.0, 4.0)
    """
    _check(hessian)
    steps, draws = min(LANCZOS.require(steps), hessian.size), DRAWS.require(draws)
    stream = seeds.generator(seed, "spectra/density", size=hessian.size)
    values, weights = [], []
    for _ in counted(range(draws), "spectral_density"):
        diagonal, beside = _lanczos(hessian, stream.standard_normal(hessian.size), steps)
        points, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
        values.append(points)
        weights.append(vectors[0] ** 2 / draws)
    order = np.argsort(together := np.concatenate(values), kind="stable")
    return Density(together[order], np.concatenate(weights)[order])


def _lanczos(hessian: Hessian, start: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The tridiagonal matrix of the space of `steps` products: its diagonal, and what stands beside it."""
    basis = [start / np.linalg.norm(start)]
    diagonal, beside = list[float](), list[float]()
    while True:
        vector = hessian.product(basis[-1])
        diagonal.append(float(basis[-1] @ vector))
        size = np.linalg.norm(vector)
        for _ in range(2):  # twice is enough to keep all vectors orthogonal
            for one in basis:
                vector -= (one @ vector) * one
        left = float(np.linalg.norm(vector))
        # The space holds all its products.
        if len(diagonal) == steps or left <= 1e-7 * size:
            return np.array(diagonal), np.array(beside)
        beside.append(left)
        basis.append(vector / left)


def _check(hessian: object) -> None:
    if not isinstance(hessian, Hessian):
        raise DomainError(f"hessian = {type(hessian).__name__} object: allowed is a Hessian of {__name__}")
