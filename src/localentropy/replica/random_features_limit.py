"""Infinitely over-parameterized limit of the random-features perceptron: many features per pattern."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from localentropy.numerics.continuation import Branch
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint
from localentropy.replica.random_features_typical import (
    NODES,
    Ensemble,
    typical_energetic_term,
    unloaded_points,
)


@dataclass(frozen=True)
class LimitFreeEntropy(FreeEntropy):
    """s_1(p, p_d, r) in S = ln 2 + alpha s_1 + O(alpha^2) (docs/theory/overparam.md eq. 13; `overparam`, eqs. 59-60).

    The students are a Gaussian vector in the latent space that sees each pattern with a noise of
    variance mu_star^2.

    Attributes:
        ensemble: control parameters; alpha is not used.
        nodes: nodes of the Gaussian integral.
    """

    ensemble: Ensemble
    nodes: int = NODES

    names = ("p", "p_d", "r")

    @property
    def scales(self) -> Array:
        """Coefficients of the saddle-point equations."""
        return np.array([0.5, 0.5, 1.0]) / self.ensemble.alpha_T

    def positive(self, parameters: Array) -> Array:
        """p - r^2 and p_d - p, the variances of the common and of the individual part of a student."""
        p, p_d, r = parameters
        return np.array([p - r * r, p_d - p])

    def value(self, parameters: Tensor) -> Tensor:
        """s_1, nats per pattern, at parameters of shape (3,)."""
        p, p_d, r = parameters.unbind()
        moments = self.ensemble.moments
        latent = 1.0 - p_d + torch.log(p_d - p) + (p - r * r) / (p_d - p)
        energetic = typical_energetic_term(
            moments.mu_1**2 * p,
            moments.mu_star_squared + moments.mu_1**2 * p_d,
            moments.mu_1 * r,
            self.ensemble.margin,
            self.nodes,
        )
        return latent / (2.0 * self.ensemble.alpha_T) + energetic

    def parameters(self, coordinates: Tensor) -> Tensor:
        """ln(p_d - p) replaces p_d."""
        p, log_variance, r = coordinates.unbind()
        return torch.stack([p, p + torch.exp(log_variance), r])

    def coordinates(self, parameters: Array) -> Array:
        """Inverse of `parameters`."""
        p, p_d, r = parameters
        return np.array([p, np.log(p_d - p), r])


def overparameterized_point(ensemble: Ensemble, nodes: int = NODES) -> StationaryPoint:
    """Saddle point of s_1, reached by adding patterns per latent dimension.

    Raises:
        ConvergenceError: the branch could not be followed.
    """

    def family(load: float) -> LimitFreeEntropy:
        return LimitFreeEntropy(replace(ensemble, alpha_T=load * ensemble.alpha_T), nodes)

    load, points = unloaded_points(replace(ensemble, alpha=0.0))
    branch = Branch(family, "load", [(position, x[1:4]) for position, x in points], step=20.0 * load)
    return branch.to(1.0)
