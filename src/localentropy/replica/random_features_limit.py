"""Infinitely over-parameterized limit of `random_features`: many features per pattern."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.numerics.continuation import Branch
from localentropy.numerics.jets import Jet, exp
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint
from localentropy.replica.patterns import hard_margin
from localentropy.replica.random_features_ensemble import RandomFeatures, stiffening


@dataclass(frozen=True)
class Overparameterized(FreeEntropy):
    """s_1 in entropy = ln 2 + alpha s_1 + O(alpha^2), at infinitely many features per pattern.

    The students are a Gaussian vector in the latent space that sees each pattern with a noise of variance mu_star^2
    (docs/overparam/theory.md eq. 13; `overparam`, eqs. 59-60). Control: the logarithm of a load, a factor on alpha_T.

    Attributes:
        ensemble: its alpha is not used.
        log_load: the control.
    """

    ensemble: RandomFeatures
    log_load: float = 0.0

    names = ("ln A", "ln p_hat (p_d - p)^2", "r")

    def controls(self) -> Array:
        """ln load."""
        return np.array([self.log_load])

    def scales(self, coordinates: Array) -> Array:
        """1 for the logarithms, |r| for r."""
        return np.array([1.0, 1.0, max(abs(float(coordinates[2])), 1e-300)])

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """s_1, nats per pattern."""
        moments = self.ensemble.moments
        a, P, r = exp(coordinates[0]), exp(coordinates[1]), coordinates[2]
        square = moments.mu_1**2
        V = moments.mu_star_squared + square / (1.0 + a)
        energy = hard_margin(square * P, V, moments.mu_1 * r, self.ensemble.margin)
        return 0.5 / self.ensemble.alpha_T * (stiffening(a) + P * a - r * r) + exp(controls[0]) * energy


def overparameterized_point(ensemble: RandomFeatures) -> StationaryPoint:
    """Saddle point of s_1, followed from small loads.

    Raises:
        ConvergenceError: the branch could not be followed.
    """
    first = ensemble.small_load
    branch = Branch(
        lambda log_load: Overparameterized(ensemble, log_load), "log_load", 0, math.log(first),
        ensemble.at(alpha=1e-12).weakly_loaded(first)[2:], step=1.0,
    )  # fmt: skip
    return branch.to(0.0)
