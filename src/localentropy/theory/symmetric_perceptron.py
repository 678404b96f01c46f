"""The symmetric binary perceptron."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from localentropy.quantities import KAPPA
from localentropy.theory.energies import Energy, Steps
from localentropy.theory.model import OPEN
from localentropy.theory.perceptron import Perceptron


@dataclass(frozen=True)
class Band(Steps):
    """Stabilities are at most kappa in size.

    Attributes:
        kappa: half of the width.

    Example:
        >>> from localentropy.theory.symmetric_perceptron import Band
        >>> Band(1.0).edges, Band(1.0).hard
        ((-1.0, 1.0), True)
    """

    kappa: float

    energies: ClassVar[tuple[float, ...]] = (math.inf, 0.0, math.inf)  # type: ignore[misc]

    @property
    def edges(self) -> tuple[float, ...]:  # type: ignore[override]
        """-kappa, kappa."""
        return -self.kappa, self.kappa


@dataclass(frozen=True)
class SymmetricPerceptron(Perceptron):
    """Binary perceptron whose pre-activations are at most kappa in size (arXiv:1901.00314; docs/margins/theory.md).

    N weights +-1, P = alpha N random patterns. If w is a solution, so is -w. Solutions have no overlap, and the mean
    number of solutions is their typical one. Typical solutions are isolated.

    Attributes:
        alpha: patterns per weight, in [1e-9, 1e9].
        kappa: half of the width of the band, in [0.001, 5].

    Example:
        >>> from localentropy.theory import SymmetricPerceptron, alpha_c, franz_parisi
        >>> round(alpha_c(SymmetricPerceptron(kappa=1.0)), 6)
        1.815875
        >>> curve = franz_parisi(SymmetricPerceptron(alpha=1.0), [0.05, 0.1])
    """

    alpha: float = OPEN
    kappa: float = 1.0
    margin: float = field(default=0.0, init=False, repr=False)
    energy: Energy | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._set(kappa=KAPPA.require(self.kappa))
        self._set(energy=Band(self.kappa))
        super().__post_init__()

    def describe(self) -> str:
        """alpha and kappa.

        Example:
            >>> from localentropy.theory import SymmetricPerceptron
            >>> SymmetricPerceptron(alpha=1.0, kappa=0.5).describe()
            'alpha = 1, kappa = 0.5'
        """
        return f"{super().describe()}, kappa = {self.kappa:.12g}"
