"""Energetic term of the Franz-Parisi entropy: a pattern seen by a reference and a nearby student.

The only costly piece of the theory, a three-dimensional integral, so its first derivatives are written
out (docs/theory/overparam.md eqs. 21, 22, 29) and shared with the value on the same nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from localentropy.errors import ConvergenceError
from localentropy.numerics.quadrature import (
    GAUSSIAN_RANGE,
    centred_gaussian_rule,
    gaussian_rule,
    unit_legendre,
)
from localentropy.numerics.saddle_point import Array
from localentropy.numerics.special import LOG_SQRT_2PI, hazard, log_tail

# Beyond this argument H(h) is computed from its logarithm: erfc underflows at 37.
_LARGEST_DIRECT = 30.0
_SMALLEST_GAMMA_SQUARED = 1e-16
_SMALLEST_WITH_EPSILON = 1e-13
# Below this, epsilon may leave [-1, 1] by rounding, and is clipped.
_SMALLEST_WITH_DIGITS = 1e-10
_LARGEST_EPSILON = 0.999
_BLOCK = 20_000


@dataclass(frozen=True)
class PairEnergy:
    """G_E(Q, Q_d, R, S, T) for a fixed reference (`overparam`, eqs. 92-93).

    A reference of margin `margin_ref` has pre-activation sqrt(Q_ref) z + sqrt(V_ref) x, the constrained
    student a z + b x + gamma y + sqrt(V) (rest), with z, y common to all replicas of one pattern.

    Attributes:
        Q_ref: covariance of two references' pre-activations.
        Q_d_ref: variance of a reference's pre-activation.
        R_ref: covariance of a reference's and the teacher's pre-activations.
        margin_ref: margin of the reference.
        margin: margin of the constrained student.
        nodes: quadrature nodes in z, nu, tau (the student's own direction in the plane of x and y, and its orthogonal).
    """

    Q_ref: float
    Q_d_ref: float
    R_ref: float
    margin_ref: float
    margin: float
    nodes: tuple[int, int, int]

    def free_entropy(self, fields: Tensor) -> Tensor:
        """G_E at fields = (Q, Q_d, R, S, T), shape (5,): a scalar, differentiable twice."""
        return _PairEnergyFunction.apply(fields, self)  # type: ignore[no-untyped-call,no-any-return]

    def positive(self, Q: float, Q_d: float, R: float, S: float, T: float) -> tuple[float, float, float]:
        """V, gamma^2 and gamma^2 (1 - epsilon^2), which delimit the domain."""
        shift = (S - T) ** 2 / (self.Q_d_ref - self.Q_ref)
        gamma_squared = Q - T * T / self.Q_ref - shift
        rest = 1.0 - self.R_ref**2 / self.Q_ref
        correlated = (R - self.R_ref * T / self.Q_ref) ** 2 / rest
        # The last is meaningful even where gamma^2 is not positive.
        return Q_d - Q, gamma_squared, gamma_squared - correlated

    def value_and_gradient(self, fields: Tensor) -> tuple[Tensor, Tensor]:
        """G_E (scalar) and its derivatives, shape (5,), by Gaussian integration by parts.

        Raises:
            ConvergenceError: fields at the border of the domain, where teacher and student agree too closely for
                the quadrature.
        """
        Q, Q_d, R, S, T = fields.tolist()
        V, V_ref = Q_d - Q, self.Q_d_ref - self.Q_ref
        rho = self.R_ref / math.sqrt(self.Q_ref)
        a, b = T / math.sqrt(self.Q_ref), (S - T) / math.sqrt(V_ref)
        # As gamma -> 0 the student becomes a free flip of the reference, and epsilon loses first its effect,
        # then its digits.
        gamma_squared = Q - a * a - b * b
        gamma, epsilon = math.sqrt(max(gamma_squared, _SMALLEST_GAMMA_SQUARED)), 0.0
        if gamma_squared > _SMALLEST_WITH_EPSILON:
            epsilon = (R - self.R_ref * T / self.Q_ref) / (gamma * math.sqrt(1.0 - rho * rho))
            if abs(epsilon) > _LARGEST_EPSILON and gamma_squared > _SMALLEST_WITH_DIGITS:
                raise ConvergenceError("energetic term", {"epsilon": epsilon, "gamma_squared": gamma_squared}, math.inf)
            epsilon = min(max(epsilon, -_LARGEST_EPSILON), _LARGEST_EPSILON)
        noise = math.sqrt((1.0 - rho * rho) * (1.0 - epsilon * epsilon))
        slope_z, slope_y = rho / noise, math.sqrt(1.0 - rho * rho) * epsilon / noise
        deviation, radius = math.sqrt(V), math.hypot(b, gamma)

        nodes_z, nodes_nu, nodes_tau = self.nodes
        tilt = abs(a - b * math.sqrt(self.Q_ref / V_ref)) / math.hypot(deviation, gamma)
        sharpness = max(math.sqrt(self.Q_ref / V_ref), abs(slope_z), tilt)
        z_rule = gaussian_rule(sharpness, nodes_z, self.margin_ref / math.sqrt(self.Q_ref))
        z, weight_z = (part.numpy() for part in z_rule)
        bound = (self.margin_ref - math.sqrt(self.Q_ref) * z) / math.sqrt(V_ref)
        log_reference = log_tail(torch.from_numpy(bound)).numpy()
        pull = hazard(torch.from_numpy(bound)).numpy() / math.sqrt(V_ref)

        # Rotate (x, y) to the student's own direction nu and its orthogonal tau: the costly functions of
        # the stability then live on a two-dimensional grid, and only the teacher's and the reference's
        # constraints, linear in tau, remain inside.
        nu, weight_nu = _student_rule(
            bound, (self.margin - a * z) / radius, b / radius, gamma / radius, deviation / radius, nodes_nu
        )
        agree, agree_density = _agreement(
            (b * nu - radius * bound[:, None]) / gamma,
            slope_z * z[:, None] + (slope_y * gamma / radius) * nu,
            slope_y * b / radius,
            -0.5 * nu * nu - log_reference[:, None],
            nodes_tau,
        )
        outer = weight_z[:, None] * weight_nu
        probability, probability_density = outer * agree, outer * agree_density / noise

        h = (self.margin - a * z[:, None] - radius * nu) / deviation
        log_H, g = _log_tail_and_hazard(h)
        weighted = probability * g
        gradient = [
            -0.5 * np.sum(weighted * g) / V,
            0.5 * np.sum(weighted * h) / V,
            np.sum(probability_density * g) / deviation,
            self._boundary_pull(z, weight_z * pull, (self.margin - a * z - b * bound) / deviation,
                                gamma / deviation, slope_z, slope_y) / deviation,
            -np.sum(weighted * pull[:, None]) / deviation,
        ]  # fmt: skip
        return torch.tensor(np.sum(probability * log_H)), torch.tensor(gradient, dtype=torch.float64)

    def _boundary_pull(
        self, z: Array, weight_z: Array, base: Array, sharpness: float, slope_z: float, slope_y: float
    ) -> float:
        """Average of hazard(h) over y where the reference is exactly at its margin."""
        y, weight_y = centred_gaussian_rule(torch.from_numpy(base / sharpness), max(sharpness, abs(slope_y)),
                                            self.nodes[1])  # fmt: skip
        _, g = _log_tail_and_hazard(base[:, None] - sharpness * y.numpy())
        agree = torch.erfc(-math.sqrt(0.5) * (slope_z * torch.from_numpy(z)[:, None] + slope_y * y)).numpy()
        return float(np.sum(weight_z[:, None] * weight_y.numpy() * agree * g))


def _agreement(limit: Array, U: Array, slope: float, log_weight: Array, nodes: int) -> tuple[Array, Array]:
    """Probability that teacher and reference agree with a pattern, given z and nu (eq. 29).

    Two integrals over tau below `limit`, with U moving by `slope` tau: of 2 H(-U), and of 2 N(U).

    Args:
        limit: shape (z, nu).
        U: at tau = 0, shape (z, nu).
        slope: of U in tau.
        log_weight: exponent to multiply with, apart from 1 / sqrt(2 pi), shape (z, nu).
        nodes: in tau.

    Returns:
        the two integrals, each of shape (z, nu).
    """
    start = np.maximum(-limit, -GAUSSIAN_RANGE)
    length = np.sqrt(np.maximum(start, 0.0) ** 2 + GAUSSIAN_RANGE**2) - start
    unit, unit_weight = (part.numpy() for part in unit_legendre(nodes))
    agree, agree_density = np.empty_like(U), np.empty_like(U)
    # Blocks that stay in cache, and below the size from which torch would use more threads.
    block = max(1, _BLOCK // (U.shape[1] * nodes))
    for first in range(0, len(U), block):
        rows = slice(first, first + block)
        tau = start[rows, :, None] + length[rows, :, None] * unit
        moved = tau * -slope
        moved += U[rows, :, None]
        weight = np.multiply(tau, tau, out=tau)
        weight *= -0.5
        weight += log_weight[rows, :, None] - 2.0 * LOG_SQRT_2PI
        np.exp(weight, out=weight)
        tails = torch.erfc(torch.from_numpy(moved * -math.sqrt(0.5))).numpy()
        tails *= weight
        moved *= moved
        moved *= -0.5
        np.exp(moved, out=moved)
        moved *= weight
        # einsum, not BLAS: its threads cost more than they bring here.
        agree[rows] = np.einsum("ijk,k->ij", tails, unit_weight)
        agree_density[rows] = np.einsum("ijk,k->ij", moved, unit_weight)
    return length * agree, length * agree_density * (2.0 * math.exp(-LOG_SQRT_2PI))


def _student_rule(
    bound: Array, kink: Array, cosine: float, sine: float, width: float, nodes: int
) -> tuple[Array, Array]:
    """Nodes in the student's direction nu = cosine x + sine y, given that x exceeds a bound.

    Two features may be sharp: the student's constraint at nu = kink, of width `width`, and the
    reference's, at nu = cosine * bound, of width `sine`. Nodes crowd around the sharper of the two. Where
    they are so far apart that the blunt one is poorly resolved, the integrand is negligible.

    Args:
        bound: lower limits of x, shape (z,).
        kink: positions of the student's constraint, shape (z,).
        cosine: share of x; may be negative.
        sine: share of y, positive.
        width: of the student's constraint.
        nodes: nodes per z.

    Returns:
        nu and its weights (without a Gaussian factor), each of shape (z, nodes).
    """
    low = np.maximum(bound, -GAUSSIAN_RANGE)
    high = np.sqrt(np.maximum(bound, 0.0) ** 2 + GAUSSIAN_RANGE**2)
    first = np.minimum(cosine * low, cosine * high) - GAUSSIAN_RANGE * sine
    last = np.maximum(cosine * low, cosine * high) + GAUSSIAN_RANGE * sine
    # Beyond nine widths ln H is below 1e-18.
    last = np.maximum(np.minimum(last, kink + GAUSSIAN_RANGE * width), first + 1e-3 * min(sine, width))
    centre, scale = (kink, width) if width < sine else (cosine * bound, sine)
    centre = np.clip(centre, first - 10.0, last + 10.0)
    scale = min(scale, 10.0)
    t_first, t_last = np.arcsinh((first - centre) / scale), np.arcsinh((last - centre) / scale)
    step = (t_last - t_first) / (nodes - 1)
    t = t_first[:, None] + step[:, None] * np.arange(nodes)
    return centre[:, None] + scale * np.sinh(t), scale * step[:, None] * np.cosh(t)


class _PairEnergyFunction(torch.autograd.Function):
    """G_E with its written-out gradient."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, fields: Tensor, energy: PairEnergy) -> Tensor:
        value, gradient = energy.value_and_gradient(fields)
        ctx.save_for_backward(fields)
        ctx.energy, ctx.gradient = energy, gradient  # type: ignore[attr-defined]
        return value

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *upstream: Tensor) -> tuple[Tensor, None]:
        (fields,) = ctx.saved_tensors  # type: ignore[attr-defined]
        gradient = _PairEnergyGradient.apply(fields, ctx.energy, ctx.gradient)  # type: ignore
        return upstream[0] * gradient, None


class _PairEnergyGradient(torch.autograd.Function):
    """The gradient as a function of the fields; its derivative by central differences.

    Second derivatives only steer the solver, so the 1e-8 that differences give is ample; they cost ten
    gradients, once.
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, fields: Tensor, energy: PairEnergy, gradient: Tensor
    ) -> Tensor:
        ctx.save_for_backward(fields)
        ctx.energy = energy  # type: ignore[attr-defined]
        ctx.hessian = None  # type: ignore[attr-defined]
        return gradient.clone()

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *upstream: Tensor) -> tuple[Tensor, None, None]:
        if ctx.hessian is None:  # type: ignore[attr-defined]
            ctx.hessian = _difference_hessian(ctx.energy, ctx.saved_tensors[0])  # type: ignore[attr-defined]
        return ctx.hessian @ upstream[0], None, None  # type: ignore[attr-defined]


def _difference_hessian(energy: PairEnergy, fields: Tensor) -> Tensor:
    """Second derivatives of G_E, shape (5, 5), by differences of the gradient inside the domain."""
    rows = []
    room = min(energy.positive(*fields.tolist()))
    for index in range(5):
        shift = torch.zeros(5, dtype=torch.float64)
        shift[index] = 1e-3 * min(room, 1.0)
        forward = energy.value_and_gradient(fields + shift)[1]
        backward = energy.value_and_gradient(fields - shift)[1]
        rows.append((forward - backward) / (2.0 * shift[index]))
    matrix = torch.stack(rows)
    return 0.5 * (matrix + matrix.T)


def _log_tail_and_hazard(h: Array) -> tuple[Array, Array]:
    """ln H and N/H on a large grid, by the vectorised erfc wherever it does not underflow.

    For h < 0 the logarithm has absolute, not relative, accuracy 1e-16, which is what an integral needs.
    """
    direct = np.minimum(h, _LARGEST_DIRECT)
    H = 0.5 * torch.erfc(torch.from_numpy(direct * math.sqrt(0.5))).numpy()
    g = np.exp(-0.5 * direct * direct - LOG_SQRT_2PI) / H
    log_H = np.log(H)
    beyond = h > _LARGEST_DIRECT
    if beyond.any():
        exact = torch.from_numpy(h[beyond])
        log_H[beyond], g[beyond] = log_tail(exact).numpy(), hazard(exact).numpy()
    return log_H, g
