"""The engine on another ensemble: the classic binary teacher and student, with the same energetic term."""

import numpy as np
import pytest
import torch

from localentropy.numerics.continuation import Branch, find_root
from localentropy.numerics.quadrature import gaussian_rule
from localentropy.numerics.saddle_point import FreeEntropy
from localentropy.numerics.special import log_two_cosh
from localentropy.replica.random_features_typical import entropy, typical_energetic_term


class TeacherStudent(FreeEntropy):
    """Student and teacher in the same space; r is their overlap."""

    names = ("q", "r", "q_hat", "r_hat")
    scales = np.array([0.5, 1.0, 0.5, 1.0])

    def __init__(self, alpha):
        self.alpha = alpha

    def value(self, parameters):
        q, r, q_hat, r_hat = parameters.unbind()
        z, weight = gaussian_rule(q_hat.sqrt().item(), 96)
        student = weight @ log_two_cosh(q_hat.sqrt() * z + r_hat)
        energetic = typical_energetic_term(q, torch.ones_like(q), r, 0.0, 128)
        return 0.5 * q_hat * (q - 1) - r_hat * r + student + self.alpha * energetic

    def positive(self, parameters):
        q, r, q_hat, _ = parameters
        return np.array([q, 1 - q, q_hat, q - r * r])


def test_nishimori_condition_and_zero_entropy():
    start = np.array([0.06, 0.06, 0.065, 0.065])
    branch = Branch(TeacherStudent, "alpha", [(0.1, start)], step=0.1)
    point = branch.to(1.0)
    q, r, q_hat, r_hat = point.parameters
    assert (r, r_hat) == pytest.approx(
        (q, q_hat), abs=1e-9
    )  # a Bayes-optimal student: teacher and student exchangeable
    assert find_root(branch, entropy, np.inf) == pytest.approx(1.24468, abs=1e-5)
