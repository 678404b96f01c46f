"""Machines with weights on a sphere: the perceptron, and committees and parity machines that are trees."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from localentropy.arguments import require_choice, shown
from localentropy.errors import DomainError
from localentropy.quantities import ALPHA, MACHINES, MARGIN_OF_SPHERE
from localentropy.theory.model import OPEN, Asked


@dataclass(frozen=True)
class Spherical(Asked):
    """Tree machine with weights on a sphere that stores random patterns (`shaping`; docs/shaping/theory.md).

    N weights on the sphere |w|^2 = N belong in equal parts to K units. A unit sees its own part of a pattern and gives
    the sign of its sum. The machine's output is the majority of the units ("committee") or their product ("parity").
    There are alpha N random patterns. Volumes are divided by those without patterns, so their logarithms are at most 0.
    The logarithms are in nats per weight. `typical` and `replicon` are for committees, not for the parity machine.

    Attributes:
        alpha: patterns per weight, in [1e-9, 1e9].
        units: K, 1 (the perceptron), 3 or math.inf; 3 for the parity machine.
        machine: "committee" or "parity".
        margin: kappa of the perceptron, in [-4, 100]; 0 for more units. Only `alpha_c` and the capacities take another
            margin than 0.

    Example:
        >>> import math
        >>> from localentropy.theory import Spherical, typical
        >>> round(typical(Spherical(alpha=1.0, units=math.inf)).replicon, 6)
        0.240714
    """

    alpha: float = OPEN
    units: float = 3
    machine: str = "committee"
    margin: float = 0.0

    examples: ClassVar[Sequence[dict[str, Any]]] = (
        {"alpha": 1.0, "units": 3},
        {"alpha": 0.5, "units": 1},
        {"alpha": 0.5, "units": 1, "margin": -1.0},
    )

    def __post_init__(self) -> None:
        if self.alpha is not OPEN:
            self._set(alpha=ALPHA.require(self.alpha))
        number = isinstance(self.units, numbers.Real) and not isinstance(self.units, bool)
        if not number or self.units not in (1, 3, math.inf):
            wrong = "is out of range" if number else "is not a number"
            raise DomainError(f"units = {shown(self.units)} {wrong}: allowed are 1, 3, math.inf")
        self._set(units=float(self.units), machine=require_choice("machine", self.machine, MACHINES))
        if self.parity and self.units != 3:
            raise DomainError(f"units = {self.units:g} is out of range: the parity machine is computed for 3")
        self._set(margin=MARGIN_OF_SPHERE.require(self.margin))
        if self.units != 1 and self.margin != 0.0:
            raise DomainError(f"margin = {self.margin:g} is out of range: {self.units:g} units are computed for 0")

    @property
    def parity(self) -> bool:
        """Whether the output is the product of the units.

        Example:
            >>> from localentropy.theory import Spherical
            >>> Spherical(machine="parity").parity
            True
        """
        return self.machine == "parity"

    def require_no_margin(self, question: str) -> None:
        """Refuse a margin where a question is computed for margin 0 only.

        Raises:
            DomainError: naming the question and the margin.
        """
        if self.margin != 0.0:
            raise DomainError(f"margin = {self.margin:g} is out of range: {question} of spherical weights is for 0")
