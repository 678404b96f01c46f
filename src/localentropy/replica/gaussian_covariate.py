"""Ridge regression on Gaussian features of any covariance, such as those of real data (`glm`).

A student minimises the sum of (y - w.v)^2 over n samples, and r |w|^2. Where the features v are Gaussian the errors
depend on three things only: the eigenvalues of the features' covariance, the coefficients E[y v] in the eigenvectors'
basis, and the variance of the labels E[y^2]. Derivation: docs/glm/theory.md eqs. 37-40.

    >>> import numpy as np
    >>> from localentropy.replica import gaussian_covariate
    >>> gaussian_covariate.ridge(np.ones(100), 0.05 * np.ones(100), 1.0, samples=200, regularization=1.0).square_error
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localentropy.arguments import require_array, require_between, require_number
from localentropy.errors import ConvergenceError, DomainError

SAMPLES = (1.0, 1e12)
"""Range of samples."""
MAGNITUDES = (1e-60, 1e60)
"""Range of the largest eigenvalue, the coefficients, the variance, and a regularization that is not 0."""
EMPTY = 1e-12
"""An eigenvalue below this, in units of the largest, is rounding: its direction is left out."""
LARGEST_RESIDUAL = 1e-9
"""Relative error of the number of samples, from which a solve has failed."""


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
        eigenvalues: of the covariance E[v v^T], shape (p,), not negative, the largest in [1e-60, 1e60].
        coefficients: E[y v] along the eigenvectors, shape (p,), up to 1e60.
        variance: E[y^2], in [1e-60, 1e60].
        samples: n, in [1, 1e12].
        regularization: r, 0 or in [1e-60, 1e60]. At r = 0 n must differ from the number of positive eigenvalues.
        images: number M of images in the set over which the moments are means, more than the number of positive
            eigenvalues; None where the moments are exact. The best student on a set fits the noise of its images too. A
            correction for this is added (theory.md section 5).

    Raises:
        DomainError: an argument out of range, or coefficients that explain more than the variance.
        ConvergenceError: kappa was not found.
    """
    variance = require_between("variance", variance, *MAGNITUDES)
    spectrum, weights = _spectrum(eigenvalues, coefficients, variance)
    samples = require_between("samples", samples, *SAMPLES)
    if require_number("regularization", regularization) != 0.0:
        require_between("regularization", regularization, *MAGNITUDES)
    regularization = float(regularization)
    noise = variance - float(np.sum(weights**2 / spectrum))
    if noise < -EMPTY * variance:
        explained = variance - noise
        raise DomainError(f"variance = {variance:.12g} is below {explained:.12g}, which the coefficients explain")
    directions = len(spectrum)
    per_image = 0.0 if images is None else 1.0 / require_between("images", images, directions + 1, SAMPLES[1])
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
    spectrum = require_array("eigenvalue", eigenvalues, -MAGNITUDES[1], MAGNITUDES[1])
    weights = require_array("coefficient", coefficients, -MAGNITUDES[1], MAGNITUDES[1])
    if spectrum.ndim != 1 or spectrum.shape != weights.shape:
        raise DomainError(
            f"coefficients have shape {weights.shape} and eigenvalues {spectrum.shape}: both must be (p,)"
        )
    top = float(spectrum.max())
    if top < MAGNITUDES[0] or spectrum.min() < -EMPTY * top:
        raise DomainError(
            f"eigenvalue = {spectrum.min():.12g} is out of range: none may be negative, and the largest must be at "
            f"least {MAGNITUDES[0]:g}"
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
