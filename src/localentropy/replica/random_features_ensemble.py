"""The ensemble of `random_features`: what a latent space and its teacher add to a binary perceptron."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from localentropy.numerics.activations import ActivationMoments
from localentropy.numerics.jets import Jet, Number, exp, expm1, logistic
from localentropy.numerics.saddle_point import Array
from localentropy.replica.ensemble import Ensemble
from localentropy.replica.patterns import pull


class LatentOverlap(NamedTuple):
    """Order parameters of typical solutions.

    Attributes:
        q_hat: conjugate of q.
        q: overlap of two solutions.
        v: 1 - q.
        a: (p_hat + p_d_hat) v, by which the patterns stiffen a projection; M = 1 + a.
        P: p_hat (p_d - p)^2.
        M: v / (p_d - p).
        c: p - r^2, what the projections of two solutions share beyond the teacher.
        r: overlap of a projection with the teacher.
    """

    q_hat: Any
    q: Any
    v: Any
    a: Any
    P: Any
    M: Any
    c: Any
    r: Any

    @property
    def delta(self) -> Any:
        """p_d - p."""
        return self.v / self.M


class LatentPair(NamedTuple):
    """Order parameters of the projection of u = w - S w_ref, the difference of a student and its reference.

    Attributes:
        log_narrowing: ln of (p_d - p) / v.
        c: overlap of the projections of two differences.
        sigma: of that of a difference and of its reference, P_S - S p_d_ref.
        tau: of that of a difference and of another reference, P_t - S p_ref.
        rho: of that of a difference and the teacher, r - S r_ref.
    """

    log_narrowing: Jet
    c: Jet
    sigma: Jet
    tau: Jet
    rho: Jet


@dataclass(frozen=True)
class RandomFeatures(Ensemble):
    """Binary perceptron on random features of the inputs of a binary teacher (`overparam`, eqs. 50-54, 82-96).

    The latent term is minus the relative entropy of two Gaussians, the projections of the weights with and without
    patterns, so that the conjugates of p, p_d and r are eliminated in closed form.

    Attributes:
        alpha_T: patterns per latent dimension.
        moments: of the activation.
    """

    alpha_T: float
    moments: ActivationMoments

    pair_names: ClassVar[tuple[str, ...]] = ("ln narrowing", "c", "sigma", "tau_latent", "rho")

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of the coordinates; two of these where the activation sees no teacher."""
        names = ("ln q_hat", "logit q", "ln A v", "ln p_hat (p_d - p)^2", "r")
        return names if self.sees_teacher else names[:2]

    @property
    def variance(self) -> float:
        """E[sigma^2]."""
        return self.moments.variance

    @property
    def response(self) -> float:
        """mu_star^2."""
        return self.moments.mu_star_squared

    @property
    def small_load(self) -> float:
        """A load at which `weakly_loaded` holds to about 1e-3."""
        return 1e-3 / (1.0 + (self.alpha + self.alpha_T) * self.variance * pull(self.margin, self.variance) ** 2)

    @property
    def sees_teacher(self) -> bool:
        """Whether the activation has a linear part; without one the latent space plays no role."""
        return self.moments.mu_1**2 > 1e-12 * self.variance

    def describe(self) -> str:
        """alpha_T and 1/alpha."""
        return f"alpha_T = {self.alpha_T:.12g}, inv_alpha = {1.0 / self.alpha:.12g}"

    def beyond(self, name: str, threshold: float) -> str:
        """What an error message says where 1/alpha is too small."""
        return (
            f"inv_alpha = {1.0 / self.alpha:.12g} is below 1/{name} = {1.0 / threshold:.12g} "
            f"at alpha_T = {self.alpha_T:.12g}"
        )

    def scales(self, y: Array) -> Array:
        """1 for the logarithms, |r| for r."""
        scales = np.ones(len(y))
        scales[4:] = max(abs(float(y[-1])), 1e-300)
        return scales

    def order_parameters(self, y: Sequence[Jet]) -> LatentOverlap:
        """The order parameters at coordinates; two of these where the activation sees no teacher."""
        q, v = logistic(y[1]), logistic(-y[1])
        if not self.sees_teacher:
            return LatentOverlap(exp(y[0]), q, v, 0.0, 0.0, 1.0, q, 0.0)
        a, P = exp(y[2]), exp(y[3])
        M = 1.0 + a
        return LatentOverlap(exp(y[0]), q, v, a, P, M, q / (M * M) + P, y[4])

    def covariances(self, x: LatentOverlap) -> tuple[Jet, Jet, Number]:
        """C, V and R (docs/overparam/theory.md eq. 3)."""
        square, noise = self.moments.mu_1**2, self.moments.mu_star_squared
        return noise * x.q + square * x.c, noise * x.v + square * x.delta, self.moments.mu_1 * x.r

    def site_entropy(self, x: LatentOverlap, alpha: Number) -> Jet:
        """The weights' entropy, and D/N times that of the latent sites (docs/overparam/theory.md eq. 6)."""
        if not self.sees_teacher:
            return super().site_entropy(x, alpha)
        latent = stiffening(x.a) + (x.P * x.a - x.q * (x.a * x.a) / (x.M * x.M) - x.r * x.r) / x.v
        return super().site_entropy(x, alpha) + (0.5 / self.alpha_T) * alpha * latent

    def weakly_loaded(self, load: float) -> Array:
        """Coordinates of the solution at a small load, to first order: the saddle-point equations at free students."""
        g, mu_1 = pull(self.margin, self.variance), self.moments.mu_1
        if not self.sees_teacher:
            return super().weakly_loaded(load)
        alpha_T = load * self.alpha_T
        A = alpha_T * mu_1**2 * g * (g - self.margin / self.variance)
        p_hat, r_hat = alpha_T * (mu_1 * g) ** 2, alpha_T * mu_1 * math.sqrt(2.0 / math.pi) * g
        latent = self.alpha / self.alpha_T * (p_hat + r_hat**2) / (1.0 + A) ** 2
        q_hat = load * self.alpha * self.response * g**2 + latent
        v = 1.0 / (1.0 + q_hat)
        delta = v / (1.0 + A * v)
        return np.array(
            [math.log(q_hat), math.log(q_hat), math.log(A * v), math.log(p_hat) + 2.0 * math.log(delta), r_hat * delta]
        )

    def pair_order_parameters(self, y: Sequence[Jet], spread: Jet) -> LatentPair:
        """The latent order parameters of a difference; all but the first are measured in 1 - S^2."""
        return LatentPair(y[0], *(spread * part for part in y[1:]))

    def pair_covariances(self, x: Any, ref: LatentOverlap) -> tuple[Number, Jet, Jet, Number, Jet, Number]:
        """The student's pre-activation is S times its reference's plus that of the difference."""
        square, noise, u = self.moments.mu_1**2, self.moments.mu_star_squared, x.latent
        V = noise * x.v + square * (x.v * exp(u.log_narrowing))
        return (
            x.s,
            noise * x.chi + square * u.c,
            V,
            square * u.sigma,
            noise * x.tau + square * u.tau,
            self.moments.mu_1 * u.rho,
        )

    def pair_stiffness(self, x: Any, pulled: float, bent: float) -> float:
        """With the overlap of the projections, which splits too, eliminated (docs/overparam/theory.md eq. 35)."""
        square, noise = self.moments.mu_1**2, self.moments.mu_star_squared
        v, log_narrowing = x.v.value, x.latent.log_narrowing.value
        narrowing = math.exp(log_narrowing)
        latent = self.alpha / self.alpha_T * (math.expm1(log_narrowing) / v) ** 2
        own = self.alpha_T * bent * (square * v * narrowing) ** 2
        return latent + self.alpha * bent * (noise + square * narrowing**2) ** 2 / (1.0 - own)

    def pair_latent_entropy(self, x: Any, ref: LatentOverlap) -> Jet:
        """D/N times minus the relative entropy of a difference's projection with and without patterns (eqs. 19, 20)."""
        u = x.latent
        delta_ref, p_ref = ref.delta, ref.c + ref.r**2
        # What the differences of two students share beyond the references and the teacher, with and without patterns.
        along, beyond = u.sigma - u.tau, u.tau - ref.r * u.rho
        k = (
            u.c
            - u.rho * u.rho
            + (ref.c / delta_ref**2 - 1.0 / delta_ref) * (along * along)
            - 2.0 / delta_ref * (along * beyond)
        )
        k_free = x.chi + x.tau * x.tau / ref.v**2
        bent = (
            u.c
            + 2.0 / ref.v**2 * (x.tau * (u.tau - ref.q * u.sigma))
            + (p_ref - delta_ref * (1.0 + ref.q) / ref.v) / ref.v**2 * (x.tau * x.tau)
        )
        narrowing = u.log_narrowing
        latent = narrowed(narrowing) + (k * exp(-narrowing) - bent + k_free * expm1(narrowing)) / x.v
        return (0.5 * self.alpha / self.alpha_T) * latent


def stiffening(a: Jet) -> Jet:
    """a / (1 + a) - ln(1 + a), which is of order a^2."""
    x, M = a.value, 1.0 + a.value
    return a.map(x / M - math.log1p(x), -x / M**2, (x - 1.0) / M**3)


def narrowed(y: Jet) -> Jet:
    """y + 1 - exp(y), which is of order y^2."""
    return y.map(y.value - math.expm1(y.value), -math.expm1(y.value), -math.exp(y.value))
