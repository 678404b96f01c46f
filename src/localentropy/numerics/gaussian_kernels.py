"""exp, log and Gaussian tails that a compiler can turn into vector instructions.

A loop that calls the C library for one number cannot be vectorised. These functions are polynomials and a few
operations on the bits of a number, without branches, for the loops of other kernels. Relative errors: below 1e-15.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from localentropy.numerics.compiled import FUSED, instruction, subroutine

SQRT_HALF = math.sqrt(0.5)
SQRT_TWO_OVER_PI = math.sqrt(2.0 / math.pi)

_LOG_2_HIGH, _LOG_2_LOW = 0.6931471805598903, 5.497923018708371e-14
_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding it leaves the nearest integer in the last bits.
_BITS_OF_SQRT_HALF = 4604544271217802189


def _float_of_bits(typing: Any, bits: Any) -> Any:
    """The float64 with the bits of this int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


def _bits_of_float(typing: Any, value: Any) -> Any:
    """The bits of this float64 as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


_as_float: Any = instruction(_float_of_bits, lambda bits: np.int64(bits).view(np.float64))
_as_bits: Any = instruction(_bits_of_float, lambda value: np.float64(value).view(np.int64))


@subroutine(fastmath=FUSED)
def exp(x: float) -> float:
    """eˣ for −708 ≤ x ≤ 709: 2ᵏ times the Taylor series of the remainder, |r| ≤ ½ ln 2, to order 12."""
    shifted = x * 1.4426950408889634 + _ROUND
    k = shifted - _ROUND
    r = x - k * _LOG_2_HIGH - k * _LOG_2_LOW
    p = r * (1 / 479001600) + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _as_float((_as_bits(shifted) + 1023) << 52)


@subroutine(fastmath=FUSED)
def log(x: float) -> float:
    """ln x for normal x > 0: the exponent, and 2 artanh((m − 1)/(m + 1)) of the mantissa √½ ≤ m < √2 to order 21."""
    bits = _as_bits(x)
    exponent = (bits - _BITS_OF_SQRT_HALF) >> 52
    m = _as_float(bits - (exponent << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = z * (2 / 21) + 2 / 19
    p = p * z + 2 / 17
    p = p * z + 2 / 15
    p = p * z + 2 / 13
    p = p * z + 2 / 11
    p = p * z + 2 / 9
    p = p * z + 2 / 7
    p = p * z + 2 / 5
    p = p * z + 2 / 3
    p = p * z + 2.0
    return s * p + float(exponent) * 0.6931471805599453


@subroutine(fastmath=FUSED)
def erfcx(z: float) -> float:
    """exp(z²) erfc(z) for z ≥ 0.

    (1 + 2z) erfcx(z) is a polynomial in (z − 3.75)/(z + 3.75), the variable of Shepherd and Laframboise (1981). It is
    the Chebyshev series to degree 22, written in powers.
    """
    t = (z - 3.75) / (z + 3.75)
    p = -2.623107347133476e-09 * t - 1.9551358868985616e-09
    p = p * t + 3.197926671666804e-08
    p = p * t + 1.879082322370048e-08
    p = p * t - 2.4857126248016745e-07
    p = p * t - 5.084465378687302e-08
    p = p * t + 1.7419821586224816e-06
    p = p * t - 9.792625707303523e-07
    p = p * t - 1.1438048033346894e-05
    p = p * t + 2.2387565714911816e-05
    p = p * t + 5.164652974177416e-05
    p = p * t - 0.00029015535246077655
    p = p * t + 0.000293714378044958
    p = p * t + 0.0017556261651970652
    p = p * t - 0.009746579683265262
    p = p * t + 0.02836227737211114
    p = p * t - 0.05869339857664934
    p = p * t + 0.09230432116428125
    p = p * t - 0.10880393014244462
    p = p * t + 0.08227673848999506
    p = p * t + 0.0035854154854790257
    p = p * t - 0.14024059858554525
    p = p * t + 1.2375126308378275
    return p / (1.0 + 2.0 * z)


@subroutine(fastmath=FUSED)
def tail_mantissa(x: float, scaled: float) -> float:
    """M with H(x) = M exp(−x²/2) for x > 0 and H(x) = M otherwise, H(x) the Gaussian tail; `scaled` = erfcx(|x|/√2)."""
    square = min(0.5 * x * x, 700.0)
    return 0.5 * scaled if x > 0.0 else 1.0 - 0.5 * scaled * exp(-square)


@subroutine(fastmath=FUSED)
def log_tail(x: float) -> float:
    """ln H(x), H(x) = ∫ₓ^∞ Dz: absolute error below 1e-15 for x < 0, relative for x > 0."""
    mantissa = tail_mantissa(x, erfcx(abs(x) * SQRT_HALF))
    return log(mantissa) - (0.5 * x * x if x > 0.0 else 0.0)


@subroutine(fastmath=FUSED)
def hazard(x: float) -> float:
    """N(x)/H(x) = −d ln H/dx, relative error below 1e-14; below 1e-290 for x < −37."""
    scaled = erfcx(abs(x) * SQRT_HALF)
    bell = exp(-min(0.5 * x * x, 700.0))
    # Both sides are computed, because a branch would keep a loop from being compiled to vector instructions.
    left = SQRT_TWO_OVER_PI * bell / (2.0 - scaled * bell)
    return SQRT_TWO_OVER_PI / scaled if x > 0.0 else left
