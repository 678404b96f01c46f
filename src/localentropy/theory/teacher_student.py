"""The binary perceptron that learns from a binary teacher."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from localentropy.numerics.jets import Jet, Number, exp, logistic, sqrt
from localentropy.numerics.saddle_point import Array, StationaryPoint
from localentropy.theory import sites
from localentropy.theory.energies import Energy
from localentropy.theory.model import OPEN, Covariances, GroupCovariances, Model, PairCovariances
from localentropy.theory.weights import Weights

if TYPE_CHECKING:
    from localentropy.theory.around_teacher import TaughtStudents


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


class TeacherGroup(NamedTuple):
    """What the teacher adds to the order parameters of groups.

    Attributes:
        r_hat: conjugate of r.
        r: overlap of a student with the teacher.
        c: q0 - r^2, what students of two groups share beyond the teacher.
    """

    r_hat: Jet
    r: Jet
    c: Jet


class TeacherPair(NamedTuple):
    """What the teacher adds to the order parameters of the difference u = w - S w_ref.

    Attributes:
        r_hat: conjugate of the overlap of a student with the teacher.
        rho: overlap of a difference with the teacher, r - S r_ref.
    """

    r_hat: Jet
    rho: Jet


class TaughtWeights(Weights):
    """Binary weights, and those of a teacher among them.

    Example:
        >>> from localentropy.theory.teacher_student import TaughtWeights
        >>> TaughtWeights().names
        ('ln q_hat', 'logit q', 'ln r_hat', 'logit r^2/q')
    """

    names = ("ln q_hat", "logit q", "ln r_hat", "logit r^2/q")
    pair_names = ("r_hat", "rho")
    group_names = ("ln r_hat", "logit r^2/q")

    def order_parameters(self, y: Sequence[Jet]) -> TeacherOverlap:
        """The order parameters at coordinates."""
        q, part = logistic(y[1]), logistic(y[3])
        return TeacherOverlap(exp(y[0]), q, logistic(-y[1]), exp(y[2]), sqrt(q * part), q * logistic(-y[3]))

    def entropy(self, x: TeacherOverlap, alpha: Number) -> Jet:
        """The terms without patterns of docs/margins/theory.md eq. 35."""
        return sites.binary(x.q_hat, x.q, x.v, x.r_hat, x.r)

    def start(self, model: Model, load: float) -> Array:
        """Coordinates of the solution at a small load, to first order."""
        g, _ = model.asked.slopes(1.0)
        q_hat, r_hat = load * model.alpha * g**2, load * model.alpha * model.labels.mean * g
        q = q_hat + r_hat**2
        return np.array([math.log(q_hat), math.log(q), math.log(r_hat), 2.0 * math.log(r_hat) - math.log(q_hat)])

    def pair_order_parameters(self, y: Sequence[Jet], x: Any, ref: TeacherOverlap) -> TeacherPair:
        """r_hat, and rho in units of 1 - S^2."""
        return TeacherPair(y[0], x.spread * y[1])

    def pair_fields(self, x: Any, ref: TeacherOverlap) -> tuple[Number, float, float]:
        """r_hat of students, q_hat and r_hat of references."""
        return x.latent.r_hat, ref.q_hat, ref.r_hat

    def pair_entropy(self, x: Any, ref: TeacherOverlap, alpha: float) -> Jet:
        """r_hat (r_ref - r), the terms of r_hat in docs/margins/theory.md eq. 40, with r = (1 - 2 d) r_ref + rho."""
        r_hat: Jet = x.latent.r_hat
        return r_hat * (2.0 * ref.r * x.d - x.latent.rho)

    def group_order_parameters(self, y: Sequence[Jet], x: Any) -> TeacherGroup:
        """r_hat, r and c of groups, at coordinates as for typical solutions."""
        return TeacherGroup(exp(y[0]), sqrt(x.q * logistic(y[1])), x.q * logistic(-y[1]))

    def group_field(self, x: Any) -> Jet:
        """r_hat."""
        r_hat: Jet = x.latent.r_hat
        return r_hat

    def group_entropy(self, x: Any, alpha: Number) -> Jet:
        """-r_hat r."""
        r_hat: Jet = x.latent.r_hat
        return -r_hat * x.latent.r

    def reported(self, x: TeacherOverlap) -> dict[str, float]:
        """q, q_hat; r, the overlap of a solution with the teacher; and r_hat, the conjugate of r."""
        return super().reported(x) | {"r": x.r, "r_hat": x.r_hat}


@dataclass(frozen=True)
class TeacherStudent(Model):
    """Binary perceptron that learns from a binary teacher's labels of random inputs (docs/margins/theory.md section 9).

    N weights +-1, P = alpha N random inputs +-1. A teacher of N weights +-1 gives the labels, so there is always one
    solution of margin 0. Units are those of `Perceptron`. The sites are written for a teacher whose weights
    are all +1. Then the random field of a weight is shifted by r_hat.

    Attributes:
        alpha: patterns per weight, in [1e-9, 1e9].
        margin: kappa, in [-4, 1000].
        energy: what patterns ask of stabilities, if this is not the margin; `GibbsLoss`, or a user's own.

    Example:
        >>> from localentropy.theory import TeacherStudent, alpha_c, typical
        >>> round(typical(TeacherStudent(alpha=0.8)).r, 6)  # overlap of a solution with the teacher
        0.454821
        >>> round(alpha_c(TeacherStudent()), 6)  # typical solutions end in the teacher
        1.244684
    """

    alpha: float = OPEN
    margin: float = 0.0
    energy: Energy | None = None

    weights: ClassVar[Weights] = TaughtWeights()  # type: ignore[misc]
    response: ClassVar[float] = 1.0
    teacher: ClassVar[bool] = True
    teacher_solves: ClassVar[bool] = True
    beyond_alpha_c: ClassVar[str] = "there are no solutions but the teacher"

    def students_of_teacher(self, typical: Array) -> TaughtStudents:
        """Solutions at distances from the teacher."""
        from localentropy.theory.around_teacher import TaughtStudents

        return TaughtStudents(self, typical)

    def sharing_nothing(self) -> StationaryPoint:
        """Typical solutions next to the teacher, where these share nothing beyond it."""
        from localentropy.theory.around_teacher import sharing_nothing

        return sharing_nothing(self)

    def covariances(self, x: TeacherOverlap) -> Covariances:
        """C = q - r^2, V = 1 - q, R = r."""
        return Covariances(x.c, x.v, x.r)

    def pair_covariances(self, x: Any, ref: TeacherOverlap) -> PairCovariances:
        """The student's pre-activation is S times its reference's plus that of the difference."""
        return PairCovariances(x.s, x.chi, x.v, 0.0, x.tau, x.latent.rho)

    def group_covariances(self, x: Any) -> GroupCovariances:
        """The overlaps (docs/margins/theory.md section 11)."""
        return GroupCovariances(x.latent.c, x.v, x.delta, x.latent.r)
