"""Energies of annealing that depend on every pattern, as tables over the lattice of the sums.

With ±1 patterns and N odd the sum s = Σ_i w_i y ξ_i of a pattern is an odd integer, and a table gives its energy. The
entries are integers times a unit. So the energy in the kernel is exact, in whatever order it is added up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from localentropy.arguments import require_choice
from localentropy.errors import DomainError
from localentropy.quantities import GAMMA_OF_ENERGY

ENERGIES = ("errors", "linear", "cross_entropy")
_LEAST_LEVELS = {"linear": 2, "cross_entropy": 2**10}
"""The largest difference in the table, at least: the linear energy has the differences 0, 1, 2."""


@dataclass(frozen=True, eq=False)
class EnergyTable:
    """Energy of one pattern at each possible sum, and one step beyond.

    Attributes:
        unit: the energy of an entry 1.
        values: energies in this unit at s = −N − 2, −N, …, N + 2, int64, [N + 3].
    """

    unit: float
    values: np.ndarray

    @property
    def odd(self) -> np.ndarray:
        """ℓ(s − 2) − ℓ(s + 2) at s = −N, …, N, int32, [N + 1]."""
        return (self.values[:-2] - self.values[2:]).astype(np.int32)

    @property
    def even(self) -> np.ndarray:
        """ℓ(s − 2) + ℓ(s + 2) − 2 ℓ(s) at s = −N, …, N, int32, [N + 1]."""
        return (self.values[:-2] + self.values[2:] - 2 * self.values[1:-1]).astype(np.int32)


def energy_table(energy: str, N: int, P: int, least: int, gamma: float) -> EnergyTable:
    """The table of an energy at a margin.

    - "linear": max(0, h_min − s)/2, the number of flips from a pattern in error to the margin;
    - "cross_entropy": ln(1 + exp(−2 γ Δ))/(2 γ) with Δ = (s − h_min + 1)/√N (`shaping`, f_γ; there without a margin).
      Rounded to 1/L of the largest change that two flips can make. L = 2³⁰ for one pattern, and (2³¹ − 1)/P − 1,
      rounded down, for more: a sum of such changes over all patterns is below 2³¹.

    Args:
        energy: "linear" or "cross_entropy".
        N: number of weights, odd.
        P: number of patterns.
        least: h_min, the smallest sum without error.
        gamma: γ of the cross-entropy.

    Returns:
        The energies at all possible sums, as integers.

    Raises:
        DomainError: an unknown energy, γ outside [10⁻³, 10⁶], where the integers could overflow, more than 2 095 105
            patterns, where L would be below 2¹⁰ (7·10⁸ for the linear energy, whose sums would be too large).

    Example:
        >>> from localentropy.solvers.binary.energies import energy_table
        >>> energy_table("linear", N=5, P=3, least=1, gamma=1.0).values.tolist()  # at the sums −7, −5, …, 7
        [4, 3, 2, 1, 0, 0, 0, 0]
    """
    require_choice("energy", energy, ENERGIES[1:])
    levels = min(2**30, (2**31 - 1) // P - 1)
    if levels < _LEAST_LEVELS[energy]:
        most = (2**31 - 1) // (_LEAST_LEVELS[energy] + 1)
        raise DomainError(f"P = {P} is out of range: with energy = {energy!r} allowed is up to {most}")
    sums = np.arange(-N - 2, N + 3, 2)
    if energy == "linear":
        return EnergyTable(1.0, np.maximum(0, least - sums) // 2)
    gamma = GAMMA_OF_ENERGY.require(gamma)
    energies = np.logaddexp(0.0, -2.0 * gamma * (sums - least + 1) / math.sqrt(N)) / (2.0 * gamma)
    unit = float((energies[:-2] - energies[2:]).max()) / levels
    return EnergyTable(unit, np.rint(energies / unit).astype(np.int64))
