"""Where the minimum of quadratic units becomes unique: the equations as written, and the variational problem behind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import norm

from localentropy.theory.quadratic_units import unique_minimum


def test_the_equations_hold_as_they_are_written() -> None:
    """On drawn u and h, with ω from a root finder; and the edge condition E (ω − 1)/ω² = 0, which follows."""
    found = unique_minimum()
    stream = np.random.default_rng(0)
    u, h = stream.standard_normal((2, 30_000)) * [[1.0], [np.sqrt(found.variance)]]
    constant = found.epsilon * u**2 - 2 * u * h - 2 * found.kappa * u**2
    omega = np.array(
        [
            np.exp(brentq(lambda y, c=c, s=s: np.exp(-2 * y) - c - s * np.exp(y), -20.0, 40.0))
            for c, s in zip(constant[:4000], 2 * found.kappa * u[:4000] ** 2, strict=True)
        ]
    )
    u, h = u[:4000], h[:4000]
    k = u**2 * omega**3
    for values, expected in (
        ((omega - 1) * u**2, 0.0),
        ((omega - 1) * u * h - found.kappa * ((omega - 1) * u) ** 2, 0.0),
        (1 - 1 / omega, 1 / found.alpha),
        (k * found.kappa / (1 + k * found.kappa), 1 / found.alpha),
        ((omega - 1) / omega**2, 0.0),
    ):
        assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(len(values))


def most(alpha: float) -> float:
    """α max E λ/(1 + λ) over λ(u, h), under E λu² = 0 and √α E λuh ≥ √(E λ²u²) with h of variance 1, on a grid."""
    s, ws = np.polynomial.legendre.leggauss(14)
    t, wt = np.polynomial.legendre.leggauss(18)
    u, h = np.meshgrid(5 * (0.5 * (s + 1)) ** 3, 4.5 * t, indexing="ij")
    weight = np.outer(ws * (0.5 * (s + 1)) ** 2, wt) * norm.pdf(u) * norm.pdf(h)
    keep = weight > 1e-8 * weight.sum()
    u, h, w = u[keep], h[keep], weight[keep] / weight[keep].sum()

    def cone(y: np.ndarray) -> float:
        own = np.expm1(y)
        return float(np.sqrt(alpha) * w @ (own * u * h) - np.sqrt(w @ (own * u) ** 2))

    def slope(y: np.ndarray) -> np.ndarray:
        own = np.expm1(y)
        return np.exp(y) * w * u * (np.sqrt(alpha) * h - own * u / np.sqrt(w @ (own * u) ** 2))

    found = minimize(
        lambda y: -w @ -np.expm1(-y), np.log1p(np.maximum(h, -0.6)), jac=lambda y: -w * np.exp(-y), method="SLSQP",
        bounds=[(-4.0, 8.0)] * len(w), options={"maxiter": 1500, "ftol": 1e-10},
        constraints=[
            {"type": "eq", "fun": lambda y: w @ (np.expm1(y) * u**2), "jac": lambda y: w * u**2 * np.exp(y)},
            {"type": "ineq", "fun": cone, "jac": slope},
        ],
    )  # fmt: skip
    assert found.success
    return -alpha * found.fun


def test_the_load_is_that_of_the_variational_problem() -> None:
    """The edge of the spectrum reaches 0 where this maximum is 1. The grid is coarse: 0.1 %."""
    load = unique_minimum().alpha
    assert most(load) == pytest.approx(1.0, abs=2e-3)
    assert most(0.97 * load) < 0.995
