"""Gaussian tails and hyperbolic functions in log space, differentiable twice in float64.

Notation: N(h) is the standard normal density, H(h) = int_h^inf Dz its tail, hazard(h) = N(h)/H(h).
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


class _Hazard(torch.autograd.Function):
    """N(h)/H(h) through erfcx, whose own derivative rule in torch cancels for large h."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, h: Tensor) -> Tensor:
        value = math.sqrt(2.0 / math.pi) / torch.special.erfcx(h / math.sqrt(2.0))
        ctx.save_for_backward(h)
        return value

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *upstream: Tensor) -> Tensor:
        (h,) = ctx.saved_tensors  # type: ignore[attr-defined]
        value = hazard(h)
        return upstream[0] * value * (value - h)


class _LogTail(torch.autograd.Function):
    """ln H(h) with derivative -hazard(h)."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, h: Tensor) -> Tensor:
        ctx.save_for_backward(h)
        positive = h.clamp(min=0.0)
        right = torch.log(0.5 * torch.special.erfcx(positive / math.sqrt(2.0))) - 0.5 * positive * positive
        left = torch.log1p(-0.5 * torch.erfc(-h.clamp(max=0.0) / math.sqrt(2.0)))
        return torch.where(h > 0, right, left)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *upstream: Tensor) -> Tensor:
        (h,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return -upstream[0] * hazard(h)


class _LogTwoCosh(torch.autograd.Function):
    """ln(2 cosh h) with derivative tanh h; torch's logaddexp overflows in its second derivative."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, h: Tensor) -> Tensor:
        ctx.save_for_backward(h)
        size = h.abs()
        return size + torch.log1p(torch.exp(-2.0 * size))

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *upstream: Tensor) -> Tensor:
        (h,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return upstream[0] * torch.tanh(h)


def hazard(h: Tensor) -> Tensor:
    """N(h)/H(h), elementwise; relative error below 1e-12 for every finite h, 0 below h = -38."""
    return _Hazard.apply(h)  # type: ignore[no-untyped-call,no-any-return]


def log_tail(h: Tensor) -> Tensor:
    """ln H(h) = ln int_h^inf Dz, elementwise; relative error below 1e-12 for every finite h."""
    return _LogTail.apply(h)  # type: ignore[no-untyped-call,no-any-return]


def tail(h: Tensor) -> Tensor:
    """H(h) = int_h^inf Dz, elementwise."""
    return 0.5 * torch.erfc(h / math.sqrt(2.0))


def log_two_cosh(h: Tensor) -> Tensor:
    """ln(2 cosh h), elementwise, without overflow."""
    return _LogTwoCosh.apply(h)  # type: ignore[no-untyped-call,no-any-return]


def binary_entropy(distance: np.ndarray) -> np.ndarray:
    """H_2(d) = -d ln d - (1-d) ln(1-d) in nats: configurations at Hamming distance dN, per weight.

    Args:
        distance: any shape, values in [0, 1].
    """
    from scipy.special import entr

    distance = np.asarray(distance, dtype=np.float64)
    return entr(distance) + entr(1.0 - distance)  # type: ignore[no-any-return]
