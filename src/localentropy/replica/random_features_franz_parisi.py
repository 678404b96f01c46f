"""Replica-symmetric Franz-Parisi entropy: solutions at a given distance from a typical reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from localentropy.numerics.quadrature import centred_gaussian_rule, gaussian_rule
from localentropy.numerics.saddle_point import Array, FreeEntropy
from localentropy.numerics.special import log_two_cosh
from localentropy.replica.random_features_pair_energy import PairEnergy
from localentropy.replica.random_features_typical import Ensemble

# Nodes in z (for a blunt reference; see `Reference.pair_energy`), nu, tau of the energetic term, and of the
# student term.
PAIR_NODES = (40, 56, 28)
STUDENT_NODES = 128

# Positions of the conjugates of the seven order parameters; 11 is S_hat.
_CONJUGATE = np.array([7, 8, 9, 10, 12, 13, 14])
# Overlaps of the students themselves (q, t) and of their projections on the latent space.
_DIRECT, _LATENT = np.array([0, 5]), np.array([1, 2, 3, 4, 6])
_SMALLEST_Q_HAT = 3e-11
# Parameters measured from those of the flipped reference: p, r, P_S, t, P_t, S_hat.
_SHIFTED = np.isin(np.arange(15), [1, 3, 4, 5, 6, 11])


@dataclass(frozen=True)
class Reference:
    """A typical solution to measure distances from.

    Attributes:
        ensemble: its control parameters; its margin is the reference margin.
        parameters: its order parameters and conjugates, shape (8,), as in `TypicalFreeEntropy`.
    """

    ensemble: Ensemble
    parameters: Array

    def pair_energy(self, margin: float, nodes: tuple[int, int, int]) -> PairEnergy:
        """Energetic term of a student of margin `margin` next to this reference."""
        moments = self.ensemble.moments
        q, p, p_d, r = self.parameters[:4].tolist()
        square, noise = moments.mu_1**2, moments.mu_star_squared
        Q, Q_d = noise * q + square * p, noise + square * p_d
        # The reference's measure varies in z on the scale sqrt(V/Q).
        sharpness = math.sqrt(max(Q / (Q_d - Q), 1.0))
        nodes_z = round(nodes[0] * (1.0 + 0.3 * math.log(sharpness)))
        return PairEnergy(Q, Q_d, moments.mu_1 * r, self.ensemble.margin, margin, (nodes_z, *nodes[1:]))


@dataclass(frozen=True)
class FranzParisiFreeEntropy(FreeEntropy):
    """phi_FP at fixed overlap with the reference (docs/theory/overparam.md eq. 17; `overparam`, eq. 96).

    Parameters: q, p, p_d, r of the constrained student; P_S, latent overlap with its reference; t, P_t,
    overlaps with another reference of the same patterns; and the conjugates of q, p, p_d, r, S, P_S, t,
    P_t.

    Attributes:
        reference: the typical solution of margin margin_ref.
        margin: kappa of the constrained student.
        overlap: S = 1 - 2d.
        nodes: of the energetic term, in z, nu, tau.
        student_nodes: of the student term, in each direction.
    """

    reference: Reference
    margin: float
    overlap: float
    nodes: tuple[int, int, int] = PAIR_NODES
    student_nodes: int = STUDENT_NODES
    energy: PairEnergy = field(init=False)

    names = ("q", "p", "p_d", "r", "P_S", "t", "P_t",
             "q_hat", "p_hat", "p_d_hat", "r_hat", "S_hat", "P_S_hat", "t_hat", "P_t_hat")  # fmt: skip
    # Large conjugates are those of a freezing student, near the end of its branch: no allowance for them.
    rounding = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "energy", self.reference.pair_energy(self.margin, self.nodes))

    @property
    def scales(self) -> Array:
        """Coefficients of the conjugate pairs."""
        D = self.reference.ensemble.alpha_D
        return np.array([0.5, D / 2, D / 2, D, D, 1.0, D, 0.5, D / 2, D / 2, D, 1.0, D, 1.0, D])

    def positive(self, parameters: Array) -> Array:
        """Variances of the fields of patterns, student sites and latent sites."""
        return self.positive_at_overlap(parameters, self.overlap)

    def variances(self, parameters: Array) -> Array:
        """1-q, p_d-p and the precision of a latent site, which are positive even at vanishing pull."""
        q, p, p_d = parameters[:3]
        return np.array([1.0 - q, p_d - p, 1.0 + (parameters[8] + parameters[9]) * (1.0 - q)])

    def positive_at_overlap(self, parameters: Array, S: float) -> Array:
        """The same at another overlap."""
        q, p, p_d, r, P_S, t, P_t, q_hat, p_hat, _, _, _, _, t_hat, _ = parameters.tolist()
        moments = self.reference.ensemble.moments
        square, noise = moments.mu_1**2, moments.mu_star_squared
        energetic = self.energy.positive(
            noise * q + square * p,
            noise + square * p_d,
            moments.mu_1 * r,
            noise * S + square * P_S,
            noise * t + square * P_t,
        )
        own = q_hat - t_hat**2 / self.reference.parameters[4]
        return np.array([q, *self.variances(parameters), p_hat, own, *energetic])

    def value(self, parameters: Tensor) -> Tensor:
        """phi_FP, nats per weight, at parameters of shape (15,)."""
        return self.value_at_overlap(parameters, torch.tensor(self.overlap, dtype=torch.float64))

    def slope(self, parameters: Array) -> float:
        """d phi_FP / d d at a solution: the explicit derivative, by the envelope theorem (eq. 23)."""
        S = torch.tensor(self.overlap, dtype=torch.float64, requires_grad=True)
        (by_overlap,) = torch.autograd.grad(self.value_at_overlap(torch.from_numpy(parameters), S), S)
        return -2.0 * by_overlap.item()

    def value_at_overlap(self, parameters: Tensor, S: Tensor) -> Tensor:
        """phi_FP as a function of the parameters and of the overlap: its explicit derivative is the slope."""
        return self._site_terms(parameters, S) + self._pattern_term(parameters, S)

    def _pattern_term(self, parameters: Tensor, S: Tensor) -> Tensor:
        """alpha G_E (eq. 21)."""
        q, p, p_d, r, P_S, t, P_t = parameters[:7].unbind()
        ensemble = self.reference.ensemble
        mu_1, noise = ensemble.moments.mu_1, ensemble.moments.mu_star_squared
        fields = torch.stack(
            [
                noise * q + mu_1**2 * p,
                noise + mu_1**2 * p_d,
                mu_1 * r,
                noise * S + mu_1**2 * P_S,
                noise * t + mu_1**2 * P_t,
            ]
        )
        return ensemble.alpha * self.energy.free_entropy(fields)

    def _site_terms(self, parameters: Tensor, S: Tensor) -> Tensor:
        """Bilinear terms, G_SS and alpha_D G_SE: all that does not see the patterns."""
        q, p, p_d, r, P_S, t, P_t, q_hat, p_hat, p_d_hat, r_hat, S_hat, P_S_hat, t_hat, P_t_hat = parameters.unbind()
        latent = 0.5 * (p_hat * p + p_d_hat * p_d) - r_hat * r - P_S_hat * P_S + P_t_hat * P_t
        latent = latent + self._latent_entropy(q, t, S, p_hat, p_d_hat, r_hat, P_S_hat, P_t_hat)
        return (
            0.5 * q_hat * (q - 1.0)
            - S_hat * S
            + t_hat * t
            + self._student_entropy(q_hat, S_hat, t_hat)
            + self.reference.ensemble.alpha_D * latent
        )

    def _student_entropy(self, q_hat: Tensor, S_hat: Tensor, t_hat: Tensor) -> Tensor:
        """G_SS (eq. 18; `overparam`, eq. 91); both signs of the reference weight contribute equally."""
        shift = S_hat - t_hat
        if q_hat.item() < 1.0:
            return self._student_entropy_of_weak_field(q_hat, t_hat, shift)
        return self._student_entropy_of_strong_field(q_hat, t_hat, shift)

    def _student_entropy_of_weak_field(self, q_hat: Tensor, t_hat: Tensor, shift: Tensor) -> Tensor:
        """Fields from the reference's x and from an independent z: accurate however small they are."""
        root_ref = math.sqrt(self.reference.parameters[4])
        x, weight_x = gaussian_rule(root_ref, self.student_nodes // 2)
        z, weight_z = gaussian_rule(1.0, self.student_nodes // 2)
        field = (t_hat / root_ref) * x + shift
        values = log_two_cosh(torch.sqrt(q_hat - (t_hat / root_ref) ** 2) * z + field[:, None])
        return 2.0 * (weight_x * torch.sigmoid(2.0 * root_ref * x)) @ values @ weight_z

    def _student_entropy_of_strong_field(self, q_hat: Tensor, t_hat: Tensor, shift: Tensor) -> Tensor:
        """The student's field is sqrt(q_hat) g, the reference's x = c g + sqrt(1-c^2) x': sharp in g only."""
        root_ref = math.sqrt(self.reference.parameters[4])
        root = torch.sqrt(q_hat)
        correlation = t_hat / (root * root_ref)
        rest = torch.sqrt(1.0 - correlation * correlation)
        # The student's sign changes at g = -shift / root, the reference's at x = 0.
        kink, width = -shift.item() / root.item(), rest.item() * root_ref
        slope = abs(correlation.item()) * root_ref / math.sqrt(1.0 + width * width)
        g, weight_g = gaussian_rule(max(root.item(), slope), self.student_nodes, kink if abs(kink) < 9.0 else 0.0)
        x, weight_x = centred_gaussian_rule(-(correlation / rest).detach() * g, width, self.student_nodes // 2)
        field = correlation * g[:, None] + rest * x
        agree = (torch.sigmoid(2.0 * root_ref * field) * weight_x).sum(dim=1)
        return 2.0 * weight_g @ (agree * log_two_cosh(root * g + shift))

    def _latent_entropy(
        self, q: Tensor, t: Tensor, S: Tensor, p_hat: Tensor, p_d_hat: Tensor, r_hat: Tensor, P_S_hat: Tensor,
        P_t_hat: Tensor,
    ) -> Tensor:  # fmt: skip
        """G_SE (eqs. 19, 20; `overparam`, eqs. 94-95): a Gaussian integral in closed form."""
        q_ref, _, p_d_ref, r_ref, _, p_hat_ref, p_d_hat_ref, _ = self.reference.parameters.tolist()
        v_ref = 1.0 - q_ref
        A_ref = p_hat_ref + p_d_hat_ref
        M_ref = 1.0 + A_ref * v_ref
        X = (p_d_ref - 2.0 * q_ref / M_ref + q_ref) / v_ref - 1.0
        Y = (p_d_ref - q_ref / M_ref) / v_ref
        c, e = P_S_hat - P_t_hat, S - t
        m_2 = q - (2.0 * A_ref / M_ref) * t * e + (X / v_ref) * e * e
        B_2 = r_hat * (r_hat + (2.0 * r_ref) * c) + p_hat + c * ((2.0 * v_ref / M_ref) * P_t_hat + p_d_ref * c)
        b = e * ((r_ref / v_ref) * r_hat + P_t_hat / M_ref + Y * c) + c * t / M_ref
        v, A = 1.0 - q, p_hat + p_d_hat
        M = 1.0 + A * v
        return 0.5 * ((v * B_2 + 2.0 * b - A * m_2) / M - torch.log(M))

    def flipped_reference(self) -> Array:
        """Parameters of a reference with random flips: a student that does not feel the patterns.

        The limit d -> 0 at margin_ref > margin (eq. 25), where the patterns' pull vanishes faster than any
        power of d.
        """
        S = self.overlap
        q_ref, p_ref, p_d_ref, r_ref = self.reference.parameters[:4].tolist()
        p_d = S * S * p_d_ref + 1.0 - S * S
        order = [S * S, S * S * p_d_ref, p_d, S * r_ref, S * p_d_ref, S * q_ref, S * p_ref]
        # Vanishing, but for S_hat; a variance of zero itself is a singular point of G_SS.
        conjugates = np.zeros(8)
        conjugates[0] = _SMALLEST_Q_HAT
        conjugates[4] = math.atanh(S)
        return np.array([*order, *conjugates])

    def iterate(self, parameters: Array) -> Array:
        """One pass of the saddle-point equations, each read as "parameter = ...", conjugates first.

        Contracts fast where the patterns pull weakly on the student. Works also at vanishing pull, where
        logarithms of the conjugates would not. The order in which the parameters are renewed keeps their
        covariances positive.
        """
        x = np.array(parameters)
        D = self.reference.ensemble.alpha_D
        pairing = np.array([0.5, D / 2, D / 2, -D, -D, 1.0, D])
        patterns = self._gradient(self._pattern_term, x)[:7]
        x[_CONJUGATE[_LATENT]] = -patterns[_LATENT] / pairing[_LATENT]
        sites = self._gradient(self._site_terms, x)[:7]
        x[_CONJUGATE[_DIRECT]] -= (patterns + sites)[_DIRECT] / pairing[_DIRECT]
        # Where the pull is below rounding its variance may come out negative; phi is stationary in it.
        x[7] = max(x[7], 1.000001 * x[13] ** 2 / self.reference.parameters[4] + _SMALLEST_Q_HAT)
        x[11] -= self._gradient(self._site_terms, x)[11] / (1.0 - self.overlap**2)
        for group in (_DIRECT, _LATENT):
            x[group] -= self._gradient(self._site_terms, x)[_CONJUGATE[group]] / pairing[group]
        return x

    def _gradient(self, function: Callable[[Tensor, Tensor], Tensor], parameters: Array) -> Array:
        point = torch.tensor(parameters, requires_grad=True)
        value = function(point, torch.tensor(self.overlap, dtype=torch.float64))
        return torch.autograd.grad(value, point)[0].numpy()

    def parameters(self, coordinates: Tensor) -> Tensor:
        """Inverse of `coordinates`."""
        free = self.flipped_reference()
        shifted = coordinates + torch.from_numpy(np.where(_SHIFTED, free, 0.0))
        y = shifted.unbind()
        v, p_hat = (1.0 - self.overlap**2) * torch.exp(y[0]), torch.exp(y[8])
        p_d = y[1] + (1.0 - self.overlap**2) * torch.exp(y[2])
        p_d_hat = torch.expm1(y[9]) / v - p_hat
        return torch.stack([1.0 - v, y[1], p_d, *y[3:7], torch.exp(y[7]), p_hat, p_d_hat, *y[10:]])

    def coordinates(self, parameters: Array) -> Array:
        """Distances from the flipped reference, and logarithms of what is positive.

        ln (1-q), ln (p_d-p), ln q_hat, ln p_hat and ln M replace q, p_d, q_hat, p_hat and p_d_hat, which
        vary by orders of magnitude as the student freezes or ceases to feel the patterns. Subtracting the
        flipped reference carries a solution along when the reference or the distance moves.
        """
        q, p, p_d, _, _, _, _, q_hat, p_hat, p_d_hat, *_ = parameters.tolist()
        coordinates: Array = parameters - np.where(_SHIFTED, self.flipped_reference(), 0.0)
        coordinates[[0, 2, 7, 8, 9]] = [
            math.log1p(-q) - math.log(1.0 - self.overlap**2),
            math.log(p_d - p) - math.log(1.0 - self.overlap**2),
            math.log(q_hat),
            math.log(p_hat),
            math.log1p((p_hat + p_d_hat) * (1.0 - q)),
        ]
        return coordinates
