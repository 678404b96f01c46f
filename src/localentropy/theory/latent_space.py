"""Binary weights with projections into a latent space, where a teacher lives.

Each latent dimension sees all weights through random features, so that the projections of the weights are Gaussian. The
latent terms are minus the relative entropy of two Gaussians, the projections with and without patterns: the conjugates
of p, p_d and r are eliminated in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localentropy.numerics.jets import Jet, Number, exp, expm1, logistic
from localentropy.numerics.saddle_point import Array
from localentropy.theory.weights import Weights

if TYPE_CHECKING:
    from localentropy.theory.random_features import RandomFeatures


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


class LatentGroup(NamedTuple):
    """Order parameters of the projections of students in groups.

    Attributes:
        log_narrowing: ln of v / (the same of the weights).
        log_spread: ln of (v + delta) / (the same of the weights).
        v: p_d - p_1.
        delta: y (p_1 - p_0).
        c: p_0 - r^2, what the projections of students of two groups share beyond the teacher.
        r: overlap of a projection with the teacher.
    """

    log_narrowing: Number
    log_spread: Number
    v: Jet
    delta: Jet
    c: Jet
    r: Number


class LatentPair(NamedTuple):
    """Order parameters of the projection of u = w - S w_ref, the difference of a student and its reference.

    The last four are those of the formulas. Where references hardly differ from each other, they nearly obey linear
    relations. The deviations from these are the coordinates (docs/overparam/theory.md eq. 36).

    Attributes:
        log_narrowing: ln of (p_d - p) / v.
        k: overlap of the projections of two differences, beyond what the references and the teacher explain.
        apart: (sigma - tau) / (p_d_ref - p_ref) + t / v_ref, with t the overlap tau of the weights.
        shared: deviation of tau.
        taught: deviation of rho.
        c: overlap of the projections of two differences.
        sigma: overlap of the projections of a difference and its reference, P_S - S p_d_ref.
        tau: overlap of the projections of a difference and another reference, P_t - S p_ref.
        rho: overlap of the projection of a difference and the teacher, r - S r_ref.
    """

    log_narrowing: Jet
    k: Jet
    apart: Jet
    shared: Jet
    taught: Jet
    c: Jet
    sigma: Jet
    tau: Jet
    rho: Jet


class UnseenProjections(Weights):
    """Weights whose projections no pattern sees: their overlaps are those of the weights.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.latent_space import UnseenProjections
        >>> x = UnseenProjections().order_parameters(variables([0.0, 0.0]))
        >>> x.q.value, x.r
        (0.5, 0.0)
    """

    def order_parameters(self, y: Sequence[Jet]) -> LatentOverlap:
        """The order parameters at coordinates."""
        q_hat, q, v = super().order_parameters(y)
        return LatentOverlap(q_hat, q, v, a=0.0, P=0.0, M=1.0, c=q, r=0.0)

    def reported(self, x: LatentOverlap) -> dict[str, float]:
        """The order parameters q, p, p_d and r, and all conjugates (docs/overparam/theory.md eq. 4)."""
        p, p_hat, A = x.c + x.r**2, x.P / x.delta**2, x.a / x.v
        own = {"q": x.q, "p": p, "p_d": p + x.delta, "r": x.r, "q_hat": x.q_hat}
        return own | {"p_hat": p_hat, "p_d_hat": A - p_hat, "r_hat": x.r / x.delta}

    def group_order_parameters(self, y: Sequence[Jet], x: Any) -> LatentGroup:
        """The order parameters of the projections."""
        return LatentGroup(0.0, 0.0, x.v, x.delta, x.q, 0.0)


@dataclass(frozen=True)
class SeenProjections(UnseenProjections):
    """Weights whose projections the patterns see.

    Attributes:
        alpha_T: patterns per latent dimension.

    Example:
        >>> from localentropy.theory.latent_space import SeenProjections
        >>> SeenProjections(alpha_T=3.0).names
        ('ln q_hat', 'logit q', 'ln A v', 'ln p_hat (p_d - p)^2', 'r')
    """

    alpha_T: float

    names = ("ln q_hat", "logit q", "ln A v", "ln p_hat (p_d - p)^2", "r")
    pair_names = ("ln narrowing", "k", "apart", "shared", "taught")
    group_names = ("ln narrowing", "ln spread", "ln p_hat spread^2", "r")

    def order_parameters(self, y: Sequence[Jet]) -> LatentOverlap:
        """The order parameters at coordinates."""
        q, a, P = logistic(y[1]), exp(y[2]), exp(y[3])
        M = 1.0 + a
        return LatentOverlap(exp(y[0]), q, logistic(-y[1]), a, P, M, q / (M * M) + P, y[4])

    def entropy(self, x: LatentOverlap, alpha: Number) -> Jet:
        """The weights' entropy, and D/N times the latent term (docs/overparam/theory.md eq. 31)."""
        latent = stiffening(x.a) + (x.P * x.a - x.q * (x.a * x.a) / (x.M * x.M) - x.r * x.r) / x.v
        return super().entropy(x, alpha) + (0.5 / self.alpha_T) * alpha * latent

    def start(self, model: RandomFeatures, load: float) -> Array:  # type: ignore[override]
        """Coordinates of the solution at a small load, to first order: the saddle-point equations at free students."""
        (g, bend), mu_1, alpha_T = model.asked.slopes(model.variance), model.moments.mu_1, load * self.alpha_T
        A = -alpha_T * mu_1**2 * bend
        p_hat, r_hat = alpha_T * (mu_1 * g) ** 2, alpha_T * mu_1 * model.labels.mean * g
        latent = model.alpha / self.alpha_T * (p_hat + r_hat**2) / (1.0 + A) ** 2
        q_hat = load * model.alpha * model.response * g**2 + latent
        v = 1.0 / (1.0 + q_hat)
        delta = v / (1.0 + A * v)
        logs = math.log(q_hat), math.log(q_hat), math.log(A * v), math.log(p_hat) + 2.0 * math.log(delta)
        return np.array([*logs, r_hat * delta])

    def small_load(self, model: Any) -> float:
        """A load at which `start` holds to about 1e-3."""
        patterns = model.alpha + self.alpha_T
        return 1e-3 / (1.0 + patterns * model.variance * float(model.asked.slopes(model.variance)[0]) ** 2)

    def pair_order_parameters(self, y: Sequence[Jet], x: Any, ref: LatentOverlap) -> LatentPair:
        """The latent order parameters of a difference (eq. 36); all but the first are measured in 1 - S^2."""
        k, apart, shared, taught = (x.spread * part for part in y[1:])
        p, T = ref.c + ref.r**2, x.tau / ref.v
        along = apart - T
        tau = 0.5 * (p - ref.delta) * (along - T) + (ref.q * ref.delta / ref.v) * T + shared
        c = k + taught * taught - along * ((p - ref.delta - 2.0 * ref.q * ref.delta / ref.v) * T - 2.0 * shared)
        return LatentPair(y[0], k, apart, shared, taught, c, tau + ref.delta * along, tau, ref.r * along + taught)

    def pair_entropy(self, x: Any, ref: LatentOverlap, alpha: float) -> Jet:
        """D/N times minus the relative entropy of a difference's projection with and without patterns (eq. 37)."""
        u = x.latent
        narrowing, k_free = u.log_narrowing, x.chi + x.tau * x.tau / ref.v**2
        changed = u.k * expm1(-narrowing) + k_free * expm1(narrowing)
        latent = narrowed(narrowing) + (changed - u.taught * u.taught - 2.0 * (u.apart * u.shared)) / x.v
        return (0.5 * alpha / self.alpha_T) * latent

    def group_order_parameters(self, y: Sequence[Jet], x: Any) -> LatentGroup:
        """The order parameters of the projections."""
        v = x.v * exp(y[0])
        return LatentGroup(y[0], y[1], v, (x.v + x.delta) * exp(y[1]) - v, x.q * exp(2.0 * y[1]) + exp(y[2]), y[3])

    def group_entropy(self, x: Any, alpha: Number) -> Number:
        """D/N times minus the relative entropy of the projections with and without patterns (docs/margins eq. 46)."""
        u = x.latent
        shared = u.c * expm1(-u.log_spread) + x.q * expm1(u.log_spread) - u.r * u.r
        latent = (1.0 - x.epsilon) * narrowed(u.log_narrowing) + x.epsilon * narrowed(u.log_spread)
        return (0.5 / self.alpha_T) * alpha * (latent + shared / (x.v + x.delta))

    def group_start(self, y: Array) -> Array:
        """Coordinates of groups of one student: both narrowings are those of typical solutions."""
        narrowing = -math.log1p(math.exp(y[2]))
        return np.array([narrowing, narrowing, y[3], y[4]])


def stiffening(a: Jet) -> Jet:
    """a / (1 + a) - ln(1 + a), which is of order a^2.

    Args:
        a: above -1.

    Returns:
        The function.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.latent_space import stiffening
        >>> round(stiffening(variables([1.0])[0]).value, 6)
        -0.193147
    """
    x, M = a.value, 1.0 + a.value
    return a.map(x / M - math.log1p(x), -x / M**2, (x - 1.0) / M**3)


def narrowed(y: Jet) -> Jet:
    """y + 1 - exp(y), which is of order y^2.

    Args:
        y: any number.

    Returns:
        The function.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.latent_space import narrowed
        >>> round(narrowed(variables([1.0])[0]).value, 6)
        -0.718282
    """
    return y.map(y.value - math.expm1(y.value), -math.expm1(y.value), -math.exp(y.value))
