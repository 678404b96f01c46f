"""The binary perceptron on random features of the inputs of a teacher in a latent space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from localentropy.numerics.activations import Activation, ActivationMoments, activation_moments
from localentropy.numerics.jets import Jet, Number, exp, expm1, logistic
from localentropy.numerics.saddle_point import Array
from localentropy.quantities import ALPHA_T, ALPHA_T_OF_THRESHOLDS, INV_ALPHA, MARGIN_OF_FEATURES, Quantity
from localentropy.theory.energies import Energy
from localentropy.theory.model import OPEN, Covariances, GroupCovariances, Model, PairCovariances


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
        log_narrowing: ln of (p_d - p_1) / v.
        log_spread: ln of (p_d - p_1 + y (p_1 - p_0)) / (v + delta).
        c: p_0 - r^2, what the projections of students of two groups share beyond the teacher.
        r: overlap of a projection with the teacher.
    """

    log_narrowing: Jet
    log_spread: Jet
    c: Jet
    r: Jet


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


@dataclass(frozen=True)
class RandomFeatures(Model):
    """Binary perceptron on random features of the inputs of a binary teacher (`overparam`, eqs. 50-54, 82-96).

    D latent inputs, N features, P = alpha N = alpha_T D patterns labelled by a teacher in the latent space. A solution
    of margin kappa has all its stabilities >= kappa, in units in which the pre-activation is w.x / sqrt(N). Entropies
    are in nats per weight. The latent term is minus the relative entropy of two Gaussians, the projections of the
    weights with and without patterns, so that the conjugates of p, p_d and r are eliminated in closed form. Typical
    solutions are tested to eight digits for alpha_T from 1e-3 to 1e3, inv_alpha up to 1e3 and every margin, against a
    solver in 50 digits. Franz-Parisi curves may fail for alpha_T far above 100, such as at 1000, and far below 1e-4.

    Attributes:
        alpha_T: patterns per latent dimension, P / D, in [1e-9, 1e9].
        inv_alpha: over-parameterization N / P, in [1e-9, 1e9].
        margin: kappa, in [-4, 1000].
        activation: "sign", "tanh", "erf", "identity", or a function of zero mean under N(0, 1). It may have jumps and
            kinks.
        energy: what patterns ask of stabilities, if this is not the margin; `GibbsLoss`, or a user's own.
        alpha: 1 / inv_alpha.
        moments: the moments of the activation.

    Example:
        >>> from localentropy.theory import RandomFeatures, franz_parisi, typical
        >>> round(typical(RandomFeatures(alpha_T=3.0, inv_alpha=2.0)).error_typical, 6)
        0.302173
        >>> curve = franz_parisi(RandomFeatures(alpha_T=3.0, inv_alpha=1.2), [0.01, 0.1])
    """

    alpha_T: float
    inv_alpha: float = OPEN
    margin: float = 0.0
    activation: Activation = field(default="sign", compare=False)
    energy: Energy | None = None
    alpha: float = field(init=False, repr=False)
    moments: ActivationMoments = field(init=False, repr=False)

    pair_names: ClassVar[tuple[str, ...]] = ("ln narrowing", "k", "apart", "shared", "taught")
    load: ClassVar[str] = "inv_alpha"
    teacher: ClassVar[bool] = True
    tried: ClassVar[tuple[Quantity, ...]] = (MARGIN_OF_FEATURES, ALPHA_T_OF_THRESHOLDS)

    def __post_init__(self) -> None:
        self._set(alpha=OPEN)
        if self.inv_alpha is not OPEN:
            self._set(inv_alpha=INV_ALPHA.require(self.inv_alpha))
            self._set(alpha=1.0 / self.inv_alpha)
        self._set(alpha_T=ALPHA_T.require(self.alpha_T))
        super().__post_init__()
        self._set(moments=activation_moments(self.activation))

    def at(self, **controls: float) -> Self:
        """This model with another alpha or margin."""
        if "alpha" in controls:
            controls["inv_alpha"] = 1.0 / controls["alpha"]
        return super().at(**controls)

    @property
    def without_pairs(self) -> str:
        """Why the solutions have no Franz-Parisi entropy: the activation has no linear part. Empty if it has one."""
        why = "activation without linear part (E[z sigma(z)] = 0): its patterns do not see the teacher"
        return "" if self.sees_teacher else why

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates. There are only two where the activation sees no teacher."""
        names = ("ln q_hat", "logit q", "ln A v", "ln p_hat (p_d - p)^2", "r")
        return names if self.sees_teacher else names[:2]

    @property
    def group_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the latent coordinates of groups; empty where the activation sees no teacher."""
        return ("ln narrowing", "ln spread", "ln p_hat spread^2", "r") if self.sees_teacher else ()

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
        return 1e-3 / (1.0 + (self.alpha + self.alpha_T) * self.variance * self.asked.slopes(self.variance)[0] ** 2)

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
        """The order parameters at coordinates. There are only two coordinates where the activation sees no teacher."""
        q, v = logistic(y[1]), logistic(-y[1])
        if not self.sees_teacher:
            return LatentOverlap(exp(y[0]), q, v, 0.0, 0.0, 1.0, q, 0.0)
        a, P = exp(y[2]), exp(y[3])
        M = 1.0 + a
        return LatentOverlap(exp(y[0]), q, v, a, P, M, q / (M * M) + P, y[4])

    def covariances(self, x: LatentOverlap) -> Covariances:
        """C, V and R (docs/overparam/theory.md eq. 3)."""
        square, noise = self.moments.mu_1**2, self.moments.mu_star_squared
        return Covariances(noise * x.q + square * x.c, noise * x.v + square * x.delta, self.moments.mu_1 * x.r)

    def site_entropy(self, x: LatentOverlap, alpha: Number) -> Jet:
        """The weights' entropy, and D/N times that of the latent sites (docs/overparam/theory.md eq. 6)."""
        if not self.sees_teacher:
            return super().site_entropy(x, alpha)
        latent = stiffening(x.a) + (x.P * x.a - x.q * (x.a * x.a) / (x.M * x.M) - x.r * x.r) / x.v
        return super().site_entropy(x, alpha) + (0.5 / self.alpha_T) * alpha * latent

    def weakly_loaded(self, load: float) -> Array:
        """Coordinates of the solution at a small load, to first order: the saddle-point equations at free students."""
        (g, bend), mu_1 = self.asked.slopes(self.variance), self.moments.mu_1
        if not self.sees_teacher:
            return super().weakly_loaded(load)
        alpha_T = load * self.alpha_T
        A = -alpha_T * mu_1**2 * bend
        p_hat, r_hat = alpha_T * (mu_1 * g) ** 2, alpha_T * mu_1 * math.sqrt(2.0 / math.pi) * g
        latent = self.alpha / self.alpha_T * (p_hat + r_hat**2) / (1.0 + A) ** 2
        q_hat = load * self.alpha * self.response * g**2 + latent
        v = 1.0 / (1.0 + q_hat)
        delta = v / (1.0 + A * v)
        return np.array(
            [math.log(q_hat), math.log(q_hat), math.log(A * v), math.log(p_hat) + 2.0 * math.log(delta), r_hat * delta]
        )

    def reported(self, x: LatentOverlap) -> dict[str, float]:
        """The order parameters q, p, p_d and r, and all conjugates (docs/overparam/theory.md eq. 4)."""
        p, p_hat, A = x.c + x.r**2, x.P / x.delta**2, x.a / x.v
        own = {"q": x.q, "p": p, "p_d": p + x.delta, "r": x.r, "q_hat": x.q_hat}
        return own | {"p_hat": p_hat, "p_d_hat": A - p_hat, "r_hat": x.r / x.delta}

    def pair_order_parameters(self, y: Sequence[Jet], x: Any, ref: LatentOverlap) -> LatentPair:
        """The latent order parameters of a difference (eq. 36); all but the first are measured in 1 - S^2."""
        k, apart, shared, taught = (x.spread * part for part in y[1:])
        p, T = ref.c + ref.r**2, x.tau / ref.v
        along = apart - T
        tau = 0.5 * (p - ref.delta) * (along - T) + (ref.q * ref.delta / ref.v) * T + shared
        c = k + taught * taught - along * ((p - ref.delta - 2.0 * ref.q * ref.delta / ref.v) * T - 2.0 * shared)
        return LatentPair(y[0], k, apart, shared, taught, c, tau + ref.delta * along, tau, ref.r * along + taught)

    def pair_covariances(self, x: Any, ref: LatentOverlap) -> PairCovariances:
        """The student's pre-activation is S times its reference's plus that of the difference."""
        square, noise, u = self.moments.mu_1**2, self.moments.mu_star_squared, x.latent
        V = noise * x.v + square * (x.v * exp(u.log_narrowing))
        return PairCovariances(
            x.s,
            noise * x.chi + square * u.c,
            V,
            square * u.sigma,
            noise * x.tau + square * u.tau,
            self.moments.mu_1 * u.rho,
        )

    def pair_stiffness(self, x: Any, pulled: float, bent: float) -> float:
        """The factor without the projections' overlap, which is eliminated (docs/overparam/theory.md eq. 35)."""
        square, noise = self.moments.mu_1**2, self.moments.mu_star_squared
        v, log_narrowing = x.v.value, x.latent.log_narrowing.value
        narrowing = math.exp(log_narrowing)
        latent = self.alpha / self.alpha_T * (math.expm1(log_narrowing) / v) ** 2
        own = self.alpha_T * bent * (square * v * narrowing) ** 2
        return latent + self.alpha * bent * (noise + square * narrowing**2) ** 2 / (1.0 - own)

    def pair_latent_entropy(self, x: Any, ref: LatentOverlap) -> Jet:
        """D/N times minus the relative entropy of a difference's projection with and without patterns (eq. 37)."""
        u = x.latent
        narrowing, k_free = u.log_narrowing, x.chi + x.tau * x.tau / ref.v**2
        changed = u.k * expm1(-narrowing) + k_free * expm1(narrowing)
        latent = narrowed(narrowing) + (changed - u.taught * u.taught - 2.0 * (u.apart * u.shared)) / x.v
        return (0.5 * self.alpha / self.alpha_T) * latent

    def group_order_parameters(self, y: Sequence[Jet], x: Any) -> LatentGroup | None:
        """The order parameters of the projections."""
        if not self.sees_teacher:
            return None
        return LatentGroup(y[0], y[1], x.q * exp(2.0 * y[1]) + exp(y[2]), y[3])

    def group_covariances(self, x: Any) -> GroupCovariances:
        """The overlaps of weights and of projections (docs/margins/theory.md section 11)."""
        square, noise, u = self.moments.mu_1**2, self.moments.mu_star_squared, x.latent
        if u is None:
            return GroupCovariances(noise * x.q, noise * x.v, noise * x.delta, 0.0)
        narrowed_v = x.v * exp(u.log_narrowing)
        spread = (x.v + x.delta) * exp(u.log_spread)
        return GroupCovariances(
            noise * x.q + square * u.c,
            noise * x.v + square * narrowed_v,
            noise * x.delta + square * (spread - narrowed_v),
            self.moments.mu_1 * u.r,
        )

    def group_latent_entropy(self, x: Any, alpha: Number) -> Number:
        """D/N times minus the relative entropy of the projections with and without patterns (docs/margins eq. 46)."""
        u = x.latent
        if u is None:
            return 0.0
        shared = u.c * expm1(-u.log_spread) + x.q * expm1(u.log_spread) - u.r * u.r
        latent = (1.0 - x.epsilon) * narrowed(u.log_narrowing) + x.epsilon * narrowed(u.log_spread)
        return (0.5 / self.alpha_T) * alpha * (latent + shared / (x.v + x.delta))

    def group_start(self, y: Array) -> Array:
        """Coordinates of groups of one student: both narrowings are those of typical solutions."""
        if not self.sees_teacher:
            return y[2:]
        narrowing = -math.log1p(math.exp(y[2]))
        return np.array([narrowing, narrowing, y[3], y[4]])


def stiffening(a: Jet) -> Jet:
    """a / (1 + a) - ln(1 + a), which is of order a^2."""
    x, M = a.value, 1.0 + a.value
    return a.map(x / M - math.log1p(x), -x / M**2, (x - 1.0) / M**3)


def narrowed(y: Jet) -> Jet:
    """y + 1 - exp(y), which is of order y^2."""
    return y.map(y.value - math.expm1(y.value), -math.expm1(y.value), -math.exp(y.value))
