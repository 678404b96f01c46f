"""Binary perceptron that learns from a binary teacher's labels of random inputs: replica theory.

N weights +-1, P = alpha N random inputs +-1. A teacher of N weights +-1 gives the labels, so that there is always one
solution of margin 0. docs/margins/theory.md section 9 derives the formulas. Functions, arguments, errors and units are
those of `localentropy.replica.perceptron`.

    >>> from localentropy.replica import teacher_student
    >>> teacher_student.typical(alpha=0.8).r
    >>> teacher_student.alpha_c()  # typical solutions end in the teacher
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from localentropy.arguments import require_between
from localentropy.numerics.jets import Jet, Number, exp, logistic, sqrt
from localentropy.numerics.saddle_point import Array
from localentropy.replica import franz_parisi as curves
from localentropy.replica import monotonicity, sites
from localentropy.replica import typical as typicals
from localentropy.replica.ensemble import LARGEST_MARGIN, LOADS, Ensemble
from localentropy.replica.patterns import pull

if TYPE_CHECKING:
    import pandas as pd


class TeacherOverlap(NamedTuple):
    """Order parameters of typical solutions.

    Attributes:
        q_hat: conjugate of q.
        q: overlap of two solutions.
        v: 1 - q.
        r_hat: conjugate of r.
        r: overlap of a solution with the teacher.
        c: q - r^2, what two solutions share beyond the teacher.
    """

    q_hat: Any
    q: Any
    v: Any
    r_hat: Any
    r: Any
    c: Any


class TeacherPair(NamedTuple):
    """What the teacher adds to the order parameters of the difference u = w - S w_ref.

    Attributes:
        r_hat: conjugate of the overlap of a student with the teacher.
        rho: overlap of a difference with the teacher, r - S r_ref.
    """

    r_hat: Jet
    rho: Jet


@dataclass(frozen=True)
class TeacherStudent(Ensemble):
    """Patterns see the overlaps of the weights, with each other and with the teacher, as they are.

    The sites are written where all teacher's weights are +1: the random field of a weight is then shifted by r_hat.
    """

    names: ClassVar[tuple[str, ...]] = ("ln q_hat", "logit q", "ln r_hat", "logit r^2/q")
    pair_names: ClassVar[tuple[str, ...]] = ("r_hat", "rho")
    response: ClassVar[float] = 1.0
    beyond_alpha_c: ClassVar[str] = "there are no solutions but the teacher"

    def order_parameters(self, y: Sequence[Jet]) -> TeacherOverlap:
        """The order parameters at coordinates."""
        q, part = logistic(y[1]), logistic(y[3])
        return TeacherOverlap(exp(y[0]), q, logistic(-y[1]), exp(y[2]), sqrt(q * part), q * logistic(-y[3]))

    def covariances(self, x: TeacherOverlap) -> tuple[Jet, Jet, Number]:
        """C = q - r^2, V = 1 - q, R = r."""
        return x.c, x.v, x.r

    def site_entropy(self, x: TeacherOverlap, alpha: Number) -> Jet:
        """The terms without patterns of docs/margins/theory.md eq. 35."""
        return sites.binary(x.q_hat, x.q, x.v, x.r_hat, x.r)

    def weakly_loaded(self, load: float) -> Array:
        """Coordinates of the solution at a small load, to first order."""
        g = pull(self.margin, 1.0)
        q_hat, r_hat = load * self.alpha * g**2, load * self.alpha * math.sqrt(2.0 / math.pi) * g
        q = q_hat + r_hat**2
        return np.array([math.log(q_hat), math.log(q), math.log(r_hat), 2.0 * math.log(r_hat) - math.log(q_hat)])

    def pair_order_parameters(self, y: Sequence[Jet], spread: Jet) -> TeacherPair:
        """r_hat, and rho in units of 1 - S^2."""
        return TeacherPair(y[0], spread * y[1])

    def pair_covariances(self, x: Any, ref: TeacherOverlap) -> tuple[Number, Jet, Jet, Number, Jet, Number]:
        """The student's pre-activation is S times its reference's plus that of the difference."""
        return x.s, x.chi, x.v, 0.0, x.tau, x.latent.rho

    def pair_site_fields(self, x: Any, ref: TeacherOverlap) -> tuple[Number, float, float]:
        """r_hat of students, q_hat and r_hat of references."""
        return x.latent.r_hat, ref.q_hat, ref.r_hat

    def pair_latent_entropy(self, x: Any, ref: TeacherOverlap) -> Jet:
        """r_hat (r_ref - r), the terms of r_hat in docs/margins/theory.md eq. 40, with r = (1 - 2 d) r_ref + rho."""
        r_hat: Jet = x.latent.r_hat
        return r_hat * (2.0 * ref.r * x.d - x.latent.rho)


@dataclass(frozen=True)
class TypicalSolution(typicals.TypicalSolution):
    """Replica-symmetric description of the typical solutions of a teacher's labels.

    Attributes:
        r: overlap of a solution with the teacher.
        r_hat: its conjugate.
    """

    r: float
    r_hat: float


def typical(alpha: float, margin: float = 0.0) -> TypicalSolution:
    """Typical solutions: entropy and overlaps; at margin 0 the teacher is one of them, q = r.

    Source: docs/margins/theory.md eqs. 35-37.

    Args:
        alpha: patterns per weight, at least 1e-9 and at most alpha_c of this margin.
        margin: kappa, in [0, kappa_max].
    """
    ensemble = _ensemble(alpha, margin)
    x = ensemble.values(typicals.typical_point(ensemble).coordinates)
    return TypicalSolution(**vars(typicals.solution(ensemble)), r=x.r, r_hat=x.r_hat)


def alpha_c(margin: float = 0.0) -> float:
    """Most patterns per weight at which typical solutions of a margin exist: zero entropy. At margin 0 it is 1.2447.

    Args:
        margin: kappa, in [0, 1000].
    """
    return typicals.largest_alpha(_ensemble(1.0, margin))


def kappa_max(alpha: float) -> float:
    """Largest margin that typical solutions have: the zero of the entropy as a function of the margin.

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
    """Franz-Parisi entropy around typical solutions of a margin; arguments and columns as for the perceptron.

    Source: docs/margins/theory.md eqs. 38, 39.
    """
    return curves.labelled_table(_ensemble(alpha, margin), distances, margin_ref, unsolved, alpha=float(alpha))


def kappa_min(alpha: float) -> float:
    """Smallest reference margin around which the entropy is nowhere negative."""
    return monotonicity.smallest_positive_margin(_ensemble(alpha))


def kappa_u(alpha: float) -> float:
    """Smallest reference margin around which the entropy grows with distance up to its maximum."""
    return monotonicity.smallest_monotonic_margin(_ensemble(alpha))


def alpha_le() -> float:
    """Patterns per weight above which the entropy is monotonic around no typical solution: 1.0466."""
    return monotonicity.local_entropy_threshold(_ensemble(1.0))


def alpha_min() -> float:
    """Patterns per weight above which the entropy is negative near every typical solution: 1.0818."""
    return monotonicity.positivity_threshold(_ensemble(1.0))


def thresholds() -> monotonicity.Thresholds:
    """alpha_c, alpha_le, kappa_max and the distance of the horizontal tangent there, alpha_min."""
    return monotonicity.thresholds(_ensemble(1.0))


def _ensemble(alpha: float, margin: float = 0.0) -> TeacherStudent:
    return TeacherStudent(
        require_between("alpha", alpha, *LOADS), require_between("margin", margin, 0.0, LARGEST_MARGIN)
    )
