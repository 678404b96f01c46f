"""Linear students on Gaussian features of any covariance (`glm`).

A teacher gives the signs of a sum over Gaussian inputs u. The student sees Gaussian features v, which are correlated
with u, and minimises a loss of its output w.v / sqrt(d) (`fit`). `localentropy.theory.erm` and
`localentropy.theory.hidden_manifold` are cases.

    >>> import numpy as np
    >>> from localentropy.theory import gaussian_covariate
    >>> one, none = np.eye(4), np.zeros((4, 4))
    >>> round(gaussian_covariate.fit(one, one, one, "logistic", 0.01, alpha=3.0).generalization_error, 6)
    0.129914
    >>> round(gaussian_covariate.fit(one, none, one, "square", 1e-9, alpha=2.0).training_loss, 6)  # random labels
    0.25

Ridge regression on real data (`ridge`): the student minimises the sum of (y - w.v)^2 over n samples, and r |w|^2, for
labels of any kind. The errors depend on three things only: the eigenvalues of the features' covariance, the
coefficients E[y v] in the eigenvectors' basis, and the variance of the labels E[y^2]. Derivation: docs/glm/theory.md
section 5.

    >>> student = gaussian_covariate.ridge(np.ones(100), 0.05 * np.ones(100), 1.0, samples=200, regularization=1.0)
    >>> round(student.square_error, 6)
    1.471334
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localentropy.arguments import require_number, require_reals
from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.search import LARGEST_RESIDUAL
from localentropy.numerics.waiting import waited
from localentropy.quantities import COEFFICIENT, EIGENVALUE, IMAGES, MAGNITUDE, NUMBER_OF_SAMPLES, SAMPLES
from localentropy.theory.erm import Fit, OrderParameters, minimum

EMPTY = 1e-12
"""An eigenvalue below this, in units of the largest, is rounding: its direction is left out."""
TOLERANCE = 1e-8
"""Rounding of a covariance, in units of its largest entry."""
LARGEST_COVARIANCE = 1e60


@dataclass(frozen=True, eq=False)
class GaussianFeatures:
    """Gaussian features, by the spectrum of their covariance (docs/glm/theory.md eq. 36a).

    Attributes:
        alpha: samples per feature.
        eigenvalues: x of the covariance, positive, [directions].
        weights: share of the features that have this eigenvalue, [directions].
        shares: part of the variance of the teacher's sum that each direction explains, [directions].

    Example:
        >>> import numpy as np
        >>> from localentropy.theory.erm import minimum
        >>> from localentropy.theory.gaussian_covariate import GaussianFeatures
        >>> features = GaussianFeatures(3.0, np.array([1.0]), np.array([1.0]), np.array([1.0]))
        >>> round(minimum(features, "square", 1.0, {"alpha": 3.0}).generalization_error, 6)  # independent inputs
        0.150964
    """

    alpha: float
    eigenvalues: np.ndarray
    weights: np.ndarray
    shares: np.ndarray

    def answer(self, bend: float, noise: float, pull: float, regularization: float) -> OrderParameters:
        """V, N and M as in `erm.Features.answer`. What no direction explains of the teacher's sum has no response."""
        resolved = self.eigenvalues / (regularization + self.alpha * bend * self.eigenvalues)
        response, rest = self.alpha * pull * resolved, max(1.0 - float(np.sum(self.shares)), 0.0)
        M = float(self.shares @ response)
        spread = float(self.shares @ (response - M) ** 2) + rest * M * M
        own = self.alpha * noise * float(self.weights @ resolved**2)
        return OrderParameters(float(self.weights @ resolved), own + spread, M)


def fit(
    Omega: Sequence[Sequence[float]] | np.ndarray,
    Phi: Sequence[Sequence[float]] | np.ndarray,
    Psi: Sequence[Sequence[float]] | np.ndarray,
    loss: str = "square",
    regularization: float = 1.0,
    alpha: float = 1.0,
    teacher: Sequence[float] | np.ndarray | None = None,
) -> Fit:
    """The minimum of the risk, the sum of the losses and lambda |w|^2 / 2, for many features and samples.

    Source: Loureiro et al., arXiv:2102.08127; docs/glm/theory.md eqs. 24-27 and 36a. Labels are the signs of
    teacher.u / sqrt(k). If Phi is zero they are random: the test error is 1/2.

    Args:
        Omega: covariance of the student's features, E[v v^T], [d, d].
        Phi: covariance of teacher's and student's features, E[u v^T], [k, d].
        Psi: covariance of the teacher's features, E[u u^T], [k, k].
        loss: "square", "logistic", "hinge" or "huber", as in `localentropy.theory.erm`.
        regularization: lambda, in [1e-14, 1e6].
        alpha: samples per feature, n / d, in [1e-3, 1e3].
        teacher: its weights, [k]; None for the mean over independent Gaussian ones.

    Returns:
        Errors, losses and order parameters of the student.

    Raises:
        DomainError: an argument out of range; matrices of other shapes, not symmetric, with a negative eigenvalue, or
            that no features have together.
        ConvergenceError: a solve failed.

    Example:
        >>> import numpy as np
        >>> from localentropy.theory import gaussian_covariate
        >>> one = np.eye(4)
        >>> round(gaussian_covariate.fit(one, one, one, "logistic", 0.01, alpha=3.0).generalization_error, 6)
        0.129914
    """
    covariance = _covariance("Omega", Omega)
    inner = _covariance("Psi", Psi)
    mixed, sizes = require_reals("Phi", Phi, most=LARGEST_COVARIANCE), (len(inner), len(covariance))
    if mixed.shape != sizes:
        raise DomainError(f"Phi of shape {mixed.shape}: allowed is {sizes}, the sizes of Psi and of Omega")
    alpha = SAMPLES.require(alpha)
    if teacher is None:
        variance, projected = float(np.trace(inner)) / len(inner), mixed.T / math.sqrt(len(inner))
    else:
        direction = require_reals("teacher", teacher, (len(inner),), most=LARGEST_COVARIANCE)
        variance, projected = float(direction @ inner @ direction) / len(inner), mixed.T @ direction[:, None]
        projected = projected / math.sqrt(len(inner))
    if not variance > 0.0:
        raise DomainError(f"teacher: the variance of its sum is {variance:.12g}, allowed is a positive one")
    with waited("fit"):
        return _fit(covariance, projected, variance, loss, regularization, alpha)


def _fit(
    covariance: np.ndarray, projected: np.ndarray, variance: float, loss: str, regularization: float, alpha: float
) -> Fit:
    eigenvalues, vectors = np.linalg.eigh(covariance)
    there = eigenvalues > EMPTY * float(eigenvalues[-1])
    x = eigenvalues[there]
    shares = np.sum((vectors.T[there] @ projected) ** 2, axis=1) / (x * variance)
    if (explained := float(np.sum(shares))) > 1.0 + TOLERANCE:
        raise DomainError(f"Phi: the features explain {explained:.6g} of the teacher's variance, allowed is at most 1")
    features = GaussianFeatures(alpha, x, np.full(len(x), 1.0 / len(covariance)), shares)
    return minimum(features, loss, regularization, {"alpha": alpha})


def _covariance(name: str, values: Any) -> np.ndarray:
    """A symmetric matrix without negative eigenvalues and not zero."""
    matrix = require_reals(name, values, ("size", "size"), most=LARGEST_COVARIANCE)
    size = float(np.abs(matrix).max())
    if matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T, rtol=0.0, atol=TOLERANCE * size):
        raise DomainError(f"{name} of shape {matrix.shape}: allowed is a symmetric matrix")
    if not size > 0.0 or float(np.linalg.eigvalsh(matrix)[0]) < -TOLERANCE * size:
        raise DomainError(f"{name}: allowed is a covariance, not zero and without negative eigenvalues")
    return 0.5 * (matrix + matrix.T)


@dataclass(frozen=True)
class Ridge:
    """Errors of ridge regression, for many features and samples.

    Attributes:
        square_error: mean of (y - w.v)^2 on new samples.
        finite_set: the part of `square_error` that corrects for the finite set of images; 0 for exact moments.
        training_error: the same mean on the training set.
        noise: variance of the labels that no linear student explains.
        degrees_of_freedom: sum of lambda / (lambda + kappa), the number of directions that the samples resolve.
        effective_regularization: kappa.
        residual: relative error of the equation of kappa.
    """

    square_error: float
    finite_set: float
    training_error: float
    noise: float
    degrees_of_freedom: float
    effective_regularization: float
    residual: float


def ridge(
    eigenvalues: Sequence[float] | np.ndarray,
    coefficients: Sequence[float] | np.ndarray,
    variance: float,
    samples: float,
    regularization: float,
    images: float | None = None,
) -> Ridge:
    """Errors on new samples and on the training set.

    Source: `glm`, slide on learning curves of real data; docs/glm/theory.md eqs. 37-40.

    Args:
        eigenvalues: of the covariance E[v v^T], shape (p,), not negative, the largest in [1e-60, 1e60]. Those below
            1e-12 of the largest count as 0.
        coefficients: E[y v] along the eigenvectors, shape (p,), up to 1e60.
        variance: E[y^2], in [1e-60, 1e60].
        samples: n, in [1, 1e12].
        regularization: r, 0 or in [1e-60, 1e60]. At r = 0 n must differ from the number of positive eigenvalues.
        images: number M of images in the set over which the moments are means, more than the number of positive
            eigenvalues; None where the moments are exact. The best student on a set fits the noise of its images too. A
            correction for this is added (theory.md section 5).

    Returns:
        The errors and kappa.

    Raises:
        DomainError: an argument out of range, arrays of different shapes, a coefficient along an eigenvalue of 0,
            coefficients that explain more than the variance, or, at r = 0, as many samples as positive eigenvalues.
        ConvergenceError: kappa was not found.

    Example:
        >>> import numpy as np
        >>> from localentropy.theory import gaussian_covariate
        >>> student = gaussian_covariate.ridge(np.ones(100), 0.05 * np.ones(100), 1.0, samples=200, regularization=1.0)
        >>> round(student.square_error, 6)
        1.471334
    """
    variance = MAGNITUDE.require(variance)
    spectrum, weights = _spectrum(eigenvalues, coefficients, variance)
    samples = NUMBER_OF_SAMPLES.require(samples)
    regularization = require_number("regularization", regularization)
    if regularization != 0.0:
        MAGNITUDE.called("regularization").require(regularization)
    noise = variance - float(np.sum(weights**2 / spectrum))
    if noise < -EMPTY * variance:
        explained = variance - noise
        raise DomainError(f"variance = {variance:.12g} is below {explained:.12g}, which the coefficients explain")
    directions = len(spectrum)
    per_image = 0.0 if images is None else 1.0 / IMAGES.within(low=directions + 1).require(images)
    left_over = max(noise, 0.0)
    noise = left_over / (1.0 - directions * per_image)
    kappa = _effective_regularization(spectrum, samples, regularization)
    resolved = spectrum / (spectrum + kappa)
    lost = 1.0 - float(np.sum(resolved**2)) / samples
    if not lost > 0.0:
        raise DomainError(
            f"samples = {samples:.12g} is the number of directions: at regularization = 0 the error is infinite"
        )
    # (beta kappa / (lambda + kappa))^2 lambda with beta = b / lambda.
    bias = float(np.sum((weights * (1.0 - resolved)) ** 2 / spectrum))
    # On a set of M images each b^2 / lambda is too large by noise / M, in the mean.
    finite_set = noise * per_image * float(np.sum(resolved * (2.0 - resolved))) / lost
    error = (bias + left_over) / lost + finite_set
    degrees = float(np.sum(resolved))
    # r / kappa = n - sum of lambda / (lambda + kappa), without cancellation where r > 0.
    left = regularization / kappa if kappa > 0.0 and regularization > 0.0 else max(samples - degrees, 0.0)
    residual = abs(left + degrees - samples) / samples
    if not residual < LARGEST_RESIDUAL:
        raise ConvergenceError(
            "ridge", {"samples": samples, "regularization": regularization, "kappa": kappa}, residual
        )
    # Without regularization and with fewer samples than directions the training set is learned exactly.
    trained = (left / samples) ** 2 * error if regularization > 0.0 or kappa == 0.0 else 0.0
    return Ridge(error, finite_set, trained, noise, degrees, kappa, residual)


def _effective_regularization(spectrum: np.ndarray, samples: float, regularization: float) -> float:
    """kappa with n = sum of lambda / (lambda + kappa) + r / kappa; the right side falls with kappa."""
    from scipy.optimize import brentq

    if regularization == 0.0 and samples >= len(spectrum):
        return 0.0

    def excess(log_kappa: float) -> float:
        kappa = math.exp(log_kappa)
        return math.log((float(np.sum(spectrum / (spectrum + kappa))) + regularization / kappa) / samples)

    # The right side lies between its value if all lambda were 0, r / kappa, and (sum of lambda + r) / kappa.
    high = (float(np.sum(spectrum)) + regularization) / samples
    low = regularization / samples
    if low == 0.0:
        low = float(spectrum.min()) * (len(spectrum) / samples - 1.0)
    return math.exp(brentq(excess, math.log(low) - 1e-6, math.log(high) + 1e-6, xtol=1e-14, rtol=1e-15))


def _spectrum(eigenvalues: Any, coefficients: Any, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Positive eigenvalues and their coefficients."""
    spectrum = COEFFICIENT.called("eigenvalue").require_all(eigenvalues)
    weights = COEFFICIENT.require_all(coefficients)
    if spectrum.ndim != 1 or spectrum.shape != weights.shape:
        raise DomainError(
            f"coefficients have shape {weights.shape} and eigenvalues {spectrum.shape}: both must be (p,)"
        )
    top = float(spectrum.max())
    if top < EIGENVALUE.low or spectrum.min() < -EMPTY * top:
        raise DomainError(
            f"eigenvalue = {spectrum.min():.12g} is out of range: none may be negative, and the largest must be at "
            f"least {EIGENVALUE.low:g}"
        )
    there = spectrum > EMPTY * top
    # No label correlates with what does not vary. Rounding may leave as much as the eigenvalues left out.
    stray = np.abs(weights[~there]) > math.sqrt(EMPTY * top * variance)
    if stray.any():
        raise DomainError(
            f"coefficient = {weights[~there][stray][0]:.12g} belongs to an eigenvalue that is 0, up to rounding: it "
            "must be 0 too"
        )
    return spectrum[there], weights[there]
