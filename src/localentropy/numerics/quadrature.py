"""Rules for Gaussian integrals whose integrands vary on a known, possibly short, scale."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from localentropy.numerics.special import LOG_SQRT_2PI

# A Gaussian beyond 9 standard deviations weighs 1e-19: nothing that grows like a power matters there.
GAUSSIAN_RANGE = 9.0


def gaussian_rule(sharpness: float, nodes: int, centre: float = 0.0) -> tuple[Tensor, Tensor]:
    """Nodes and weights of int Dz f(z) ~ sum_i w_i f(z_i) for f varying on a scale 1/sharpness at `centre`.

    Trapezoid rule in t with z = centre + sinh(t)/a. The substitution spreads the nodes evenly on the
    scale 1/a near the centre and geometrically beyond, so that the error falls exponentially in `nodes`
    at a rate that depends on `sharpness` only through a logarithm.

    Args:
        sharpness: a; values below 1 are raised to 1, the scale of the Gaussian itself.
        nodes: number of nodes; an even number about centre 0 leaves out z = 0.
        centre: where f varies fastest; moved into [-6, 6] if it lies outside.

    Returns:
        z and w, each of shape (nodes,), float64.
    """
    z, weight = centred_gaussian_rule(torch.tensor([centre], dtype=torch.float64), sharpness, nodes)
    return z[0], weight[0]


def centred_gaussian_rule(centres: Tensor, sharpness: float, nodes: int) -> tuple[Tensor, Tensor]:
    """The same for many centres of shape (n,) at once; z and w have shape (n, nodes)."""
    scale = max(sharpness, 1.0)
    centres = centres.clamp(-6.0, 6.0)[:, None]
    first = torch.asinh(-(GAUSSIAN_RANGE + centres) * scale)
    step = (torch.asinh((GAUSSIAN_RANGE - centres) * scale) - first) / (nodes - 1)
    t = first + step * torch.arange(nodes)
    z = centres + torch.sinh(t) / scale
    return z, torch.exp(-0.5 * z * z - LOG_SQRT_2PI) * torch.cosh(t) * (step / scale)


@lru_cache(maxsize=64)
def unit_legendre(nodes: int) -> tuple[Tensor, Tensor]:
    """Gauss-Legendre nodes and weights on [0, 1], each of shape (nodes,)."""
    x, weight = np.polynomial.legendre.leggauss(nodes)
    return torch.from_numpy(0.5 * (x + 1.0)), torch.from_numpy(0.5 * weight)
