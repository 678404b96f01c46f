"""A model stated in a test: the classic binary teacher and student, whose typical solutions are known."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.numerics.jets import Jet, compose, exp, logistic, sqrt
from localentropy.replica.ensemble import Ensemble
from localentropy.replica.patterns import pull
from localentropy.replica.typical import largest_alpha, typical_point

Z, WEIGHT = np.polynomial.legendre.leggauss(400)
Z, WEIGHT = 10 * Z, 10 * WEIGHT * norm.pdf(10 * Z)


class TeacherOverlap(NamedTuple):
    """q of two students, v = 1 - q, c = q - r^2 with r the overlap with the teacher, and the conjugates."""

    q_hat: Any
    r_hat: Any
    q: Any
    v: Any
    c: Any
    r: Any


def site(q_hat: Jet, r_hat: Jet) -> Jet:
    """int Dz ln 2 cosh(sqrt(q_hat) z + r_hat): by parts, q_hat halves the second derivative by r_hat."""
    h = math.sqrt(q_hat.value) * Z + r_hat.value
    tanh = np.tanh(h)
    square = 1 - tanh**2
    third, fourth = -2 * tanh * square, square * (4 - 6 * square)
    mean = [float(WEIGHT @ f) for f in (np.logaddexp(h, -h), tanh, square, third, fourth)]
    hessian = np.array([[0.25 * mean[4], 0.5 * mean[3]], [0.5 * mean[3], mean[2]]])
    return compose(mean[0], np.array([0.5 * mean[2], mean[1]]), hessian, [q_hat, r_hat])


@dataclass(frozen=True)
class TeacherStudent(Ensemble):
    """Student and teacher in the same space: phi = -q_hat v/2 - r_hat r + site + alpha G_E(q, 1, r)."""

    names: ClassVar[tuple[str, ...]] = ("ln q_hat", "logit q", "ln r_hat", "logit r^2/q")
    response: ClassVar[float] = 1.0
    local_entropy_guess: ClassVar[tuple[float, float]] = (1.0, 0.01)

    def kept(self, S):
        return S

    def order_parameters(self, y):
        q, part = logistic(y[1]), logistic(y[3])
        return TeacherOverlap(exp(y[0]), exp(y[2]), q, logistic(-y[1]), q * logistic(-y[3]), sqrt(q * part))

    def fields(self, x):
        return x.c, x.v, x.r

    def site_entropy(self, x, alpha):
        return site(x.q_hat, x.r_hat) - 0.5 * x.q_hat * x.v - x.r_hat * x.r

    def weakly_loaded(self, load):
        g = pull(self.margin, 1.0)
        q_hat, r_hat = load * self.alpha * g**2, load * self.alpha * math.sqrt(2 / math.pi) * g
        q = q_hat + r_hat**2
        return np.array([math.log(q_hat), math.log(q), math.log(r_hat), math.log(r_hat**2 / q_hat)])

    def pair_fields(self, x, ref):
        raise NotImplementedError


@pytest.mark.parametrize("alpha", [0.1, 1.0, 1.2])
def test_nishimori_condition(alpha):
    """A Bayes-optimal student: teacher and student are exchangeable."""
    model = TeacherStudent(alpha, 0.0)
    point = typical_point(model)
    x = model.values(point.coordinates)
    assert (x.r, x.r_hat) == pytest.approx((x.q, x.q_hat), abs=1e-12)
    assert 0 <= point.residual < 1e-9


def test_overlap_solves_the_one_equation_that_the_condition_leaves():
    x = TeacherStudent(1.0, 0.0).values(typical_point(TeacherStudent(1.0, 0.0)).coordinates)
    ratio = math.sqrt(x.q / (1 - x.q))
    hazard = np.exp(norm.logpdf(ratio * Z) - log_ndtr(ratio * Z))
    q_hat = 2 / (1 - x.q) * WEIGHT @ (ndtr(ratio * Z) * hazard**2)
    assert x.q_hat == pytest.approx(q_hat, rel=1e-11)
    assert x.q == pytest.approx(WEIGHT @ np.tanh(math.sqrt(x.q_hat) * Z + x.q_hat), rel=1e-11)


def test_entropy_vanishes_where_the_teacher_alone_is_left():
    assert largest_alpha(TeacherStudent(1.0, 0.0)) == pytest.approx(1.24468, abs=1e-5)
    with pytest.raises(DomainError, match=r"alpha = 1.3 is above alpha_c = 1.2446"):
        typical_point(TeacherStudent(1.3, 0.0))
