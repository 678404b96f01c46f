"""Binary perceptron that stores random patterns: replica theory of wide flat minima (`margins`, supplement I and II).

N weights +-1, P = alpha N random patterns. A solution of margin kappa has all its stabilities >= kappa, in units in
which the pre-activation is w.x / sqrt(N). All entropies are in nats per weight. Derivation: docs/margins/theory.md.

    >>> from localentropy.replica import perceptron
    >>> perceptron.typical(alpha=0.5).entropy
    >>> perceptron.franz_parisi([0.01, 0.1], alpha=0.5)

Every function raises DomainError for an argument out of range (naming it, its value and what is allowed) and where
there are no solutions, and ConvergenceError, with the point and the residual, for a solve that failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from localentropy.arguments import require_between
from localentropy.numerics.jets import Jet, Number
from localentropy.replica import franz_parisi as curves
from localentropy.replica import monotonicity, one_step
from localentropy.replica import typical as typicals
from localentropy.replica.ensemble import LARGEST_MARGIN, LOADS, Ensemble, Overlap

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Perceptron(Ensemble):
    """Patterns see the overlaps of the weights as they are."""

    response: ClassVar[float] = 1.0

    def covariances(self, x: Overlap) -> tuple[Jet, Jet, Number]:
        """C = q, V = 1 - q, no teacher (docs/margins/theory.md eq. 3)."""
        return x.q, x.v, 0.0

    def pair_covariances(self, x: Any, ref: Overlap) -> tuple[Number, Jet, Jet, Number, Jet, Number]:
        """The student's pre-activation is S times its reference's plus that of the difference (the same, eq. 17)."""
        return x.s, x.chi, x.v, 0.0, x.tau, 0.0


def typical(alpha: float, margin: float = 0.0) -> typicals.TypicalSolution:
    """Typical solutions: entropy and overlap (`margins`, eqs. 13-14; docs/margins/theory.md eqs. 3, 4).

    Args:
        alpha: patterns per weight, at least 1e-9 and at most alpha_c of this margin.
        margin: kappa, in [0, kappa_max].
    """
    return typicals.solution(_ensemble(alpha, margin))


def alpha_c(margin: float = 0.0) -> float:
    """Most patterns per weight at which solutions of a margin exist: zero entropy. At margin 0 it is 0.8331.

    Source: `margins`, main text; docs/margins/theory.md eq. 6.

    Args:
        margin: kappa, in [0, 1000].
    """
    return typicals.largest_alpha(_ensemble(1.0, margin))


def kappa_max(alpha: float) -> float:
    """Largest margin that solutions have: the zero of the entropy as a function of the margin.

    Source: `margins`, main text; docs/margins/theory.md eq. 6.

    Args:
        alpha: patterns per weight, at most alpha_c.
    """
    return typicals.largest_margin(_ensemble(alpha))


def franz_parisi(
    distances: Iterable[float] | float,
    alpha: float,
    margin_ref: float | str = "max",
    margin: float = 0.0,
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Franz-Parisi entropy: solutions of a margin at distance d from a typical one of `margin_ref`.

    Source: `margins`, eqs. 16, 26, 27; docs/margins/theory.md eqs. 8-14.

    Args:
        distances: Hamming distances per weight, each in [1e-9, 1), in any order.
        alpha: patterns per weight, at most alpha_c of both margins.
        margin_ref: margin of the reference in [0, kappa_max], or "max" for kappa_max.
        margin: margin of the solutions counted, in [0, kappa_max].
        unsolved: "raise", or "nan" for entropy, slope and replicon NaN at distances where the solve failed.

    Returns:
        One row per distance: distance, entropy (nats per weight), slope (its derivative by the distance), replicon
        (docs/margins/theory.md eq. 24; below 1 the replica-symmetric solution is stable), residual (relative error of
        the order parameters). `attrs`: alpha, margin_ref, margin, typical_distance.
    """
    return curves.labelled_table(_ensemble(alpha, margin), distances, margin_ref, unsolved, alpha=float(alpha))


def franz_parisi_one_step(
    distances: Iterable[float] | float,
    alpha: float,
    margin_ref: float | str = "max",
    margin: float = 0.0,
    block: float | None = None,
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Franz-Parisi entropy where students may fall into blocks of replicas: one step of replica-symmetry breaking.

    A row has q1 > q0 where such a solution branches off the replica-symmetric one, or is found from any splitting up to
    half of what students share beyond their reference. It has q1 = q0, the replica-symmetric solution, everywhere else:
    where the replicon is below 1, it is stable. Source: `margins`, supplement II.2; docs/margins/theory.md eqs. 25-28.

    Args:
        distances: Hamming distances per weight, each in [1e-9, 1), in any order.
        alpha: patterns per weight, at most alpha_c of both margins.
        margin_ref: margin of the reference in [0, kappa_max], or "max" for kappa_max.
        margin: margin of the solutions counted, in [0, kappa_max].
        block: m in [1e-3, 1], or None for the m in (0, 1) at which the entropy is stationary.
        unsolved: "raise", or "nan" for NaN at distances where the solve failed, with the residual reached.

    Returns:
        One row per distance: distance, entropy (nats per weight), entropy_rs (replica-symmetric), q0, q1, block (m; NaN
        where none was given and there is no stationary one), replicon, residual. `attrs`: alpha, margin_ref, margin.
    """
    student = _ensemble(alpha, margin)
    return one_step.labelled_table(student, distances, margin_ref, block, unsolved, alpha=float(alpha))


def kappa_min(alpha: float) -> float:
    """Smallest reference margin around which the entropy is nowhere negative.

    Source: `margins`, main text, point 3; docs/margins/theory.md eq. 22.

    Args:
        alpha: patterns per weight. Where even kappa_max is too small, DomainError is raised.
    """
    return monotonicity.smallest_positive_margin(_ensemble(alpha))


def kappa_u(alpha: float) -> float:
    """Smallest reference margin around which the entropy grows with distance up to its maximum.

    Source: `margins`, main text, points 4 and 5; docs/margins/theory.md eq. 22.

    Args:
        alpha: patterns per weight, at most `alpha_le`.
    """
    return monotonicity.smallest_monotonic_margin(_ensemble(alpha))


def alpha_le() -> float:
    """Patterns per weight above which the entropy is monotonic around no typical solution: 0.7290.

    There kappa_u = kappa_max (`margins`, main text, "Dense cluster threshold"; docs/margins/theory.md eq. 23).
    """
    return monotonicity.local_entropy_threshold(_ensemble(1.0))


def alpha_min() -> float:
    """Patterns per weight above which the entropy is negative near every typical solution: 0.7477.

    There kappa_min = kappa_max (docs/margins/theory.md eq. 23).
    """
    return monotonicity.positivity_threshold(_ensemble(1.0))


def thresholds() -> monotonicity.Thresholds:
    """alpha_c, alpha_le, kappa_max and the distance of the horizontal tangent there, alpha_min."""
    return monotonicity.thresholds(_ensemble(1.0))


def _ensemble(alpha: float, margin: float = 0.0) -> Perceptron:
    return Perceptron(require_between("alpha", alpha, *LOADS), require_between("margin", margin, 0.0, LARGEST_MARGIN))
