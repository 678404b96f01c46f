"""Message passing for a committee of two units: its channel, a plain twin, the limit of one unit, and the theory."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.stats import multivariate_normal

from localentropy.errors import DomainError
from localentropy.instances.committee_teacher import committee_teacher
from localentropy.instances.generalized_linear import generalized_linear
from localentropy.numerics.channels import Sign
from localentropy.numerics.priors import Gaussian
from localentropy.numerics.two_signs import TwoSigns
from localentropy.solvers.committee_amp import committee_amp, updates
from localentropy.solvers.generalized_amp import ChannelInputs, MessagePassing
from localentropy.theory import committee
from localentropy.theory.committee_channel import bayes_error

COVARIANCE = np.array([[0.7, -0.25], [-0.25, 0.4]])
LABELS = (1.0, -1.0, 0.0)


def quadrants(omega: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Z of the labels 1, −1 and 0, by scipy's multivariate normal."""
    both, neither = (
        multivariate_normal.cdf(sign * omega, cov=covariance, abseps=1e-12, releps=1e-12) for sign in (1.0, -1.0)
    )
    return np.array([both, neither, 1.0 - both - neither])


def twin(y: np.ndarray, omega: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """g and −∂g/∂ω from the moments of z beside the label, on a grid of z of spacing 0.05, right to 1e-3."""
    side = np.linspace(-6.0, 6.0, 241)[:-1] + 0.025
    z = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1)
    inverse, labels = np.linalg.inv(covariance), TwoSigns().labels(z)
    found = []
    for label, mean in zip(y, omega, strict=True):
        off = z - mean
        weight = np.exp(-0.5 * np.einsum("...a,ab,...b->...", off, inverse, off)) * (labels == label)
        weight /= weight.sum()
        first = np.einsum("ij,ija->a", weight, off)
        second = np.einsum("ij,ija,ijb->ab", weight, off, off) - np.outer(first, first)
        found.append((inverse @ first, inverse - inverse @ second @ inverse))
    return np.array([g for g, _ in found]), np.array([slope for _, slope in found])


def test_probabilities_are_those_of_quadrants() -> None:
    omega = np.random.default_rng(0).normal(size=(20, 2))
    omega[0] = 0.0
    found = TwoSigns().probabilities(omega, COVARIANCE)
    for column, mean in zip(found.T, omega, strict=True):
        np.testing.assert_allclose(column, quadrants(mean, COVARIANCE), atol=1e-9)


@pytest.mark.parametrize("label", LABELS)
def test_responses_are_derivatives_of_the_logarithm(label: float) -> None:
    omega, step = np.random.default_rng(1).normal(size=(9, 2)), 1e-5
    y, channel = np.full(9, label), TwoSigns()
    g, slope = channel.response(y, omega, COVARIANCE)
    for a in (0, 1):
        move = step * np.eye(2)[a]
        up, down = (channel.probabilities(omega + sign * move, COVARIANCE)[LABELS.index(label)] for sign in (1, -1))
        np.testing.assert_allclose(g[:, a], np.log(up / down) / (2 * step), rtol=1e-5, atol=1e-7)
        up, down = (channel.response(y, omega + sign * move, COVARIANCE)[0] for sign in (1, -1))
        np.testing.assert_allclose(slope[:, :, a], -(up - down) / (2 * step), rtol=1e-5, atol=1e-7)


def test_steps_are_those_of_a_plain_twin() -> None:
    """The messages written input by input, and the label's moments by a sum over a grid."""
    problem = committee_teacher(n=60, d=20, seed=3)
    means = 0.3 * problem.teacher.T
    found = list(islice(updates(TwoSigns(), problem.inputs, problem.labels, means), 3))
    V, g = np.eye(2), np.zeros((60, 2))
    for made, covariance in found:
        sums = [sum(x[i] * means[i] for i in range(20)) for x in problem.inputs]
        omega = np.array([own - V @ old for own, old in zip(sums, g, strict=True)])
        g, slope = twin(problem.labels, omega, V)
        precision = sum(slope) / 20
        precision = 0.5 * (precision + sqrtm(precision @ precision).real)  # without its negative part
        V = np.linalg.inv(np.eye(2) + precision)
        pulls = [sum(x[i] * each for x, each in zip(problem.inputs, g, strict=True)) for i in range(20)]
        means = np.array([V @ (pull + precision @ own) for pull, own in zip(pulls, means, strict=True)])
        np.testing.assert_allclose(made, means, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(covariance, V, rtol=1e-3, atol=1e-3)


class OneSign:
    """Signs, as a channel of one unit."""

    def response(self, y: np.ndarray, omega: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g, slope = Sign().response(y, omega[:, 0], float(covariance[0, 0]))
        return g[:, None], slope[:, None, None]


def test_one_unit_makes_the_steps_of_generalized_amp() -> None:
    problem = generalized_linear(n=200, d=80, seed=0)
    field = 0.1 * np.random.default_rng(3).standard_normal(80)
    inputs = ChannelInputs(Sign(), problem.inputs, problem.labels, square=1 / 80)
    other = MessagePassing(inputs, Gaussian(), field, damping=0.0, adaptive=False)
    one = updates(OneSign(), problem.inputs, problem.labels, field[:, None])
    for _, (means, covariance) in zip(other.updates(12, 1e-12), one, strict=False):
        np.testing.assert_allclose(means[:, 0], other.means, atol=1e-10)
        assert covariance[0, 0] == pytest.approx(other.variance[0], rel=1e-10)


@pytest.mark.parametrize(("alpha", "samples"), [(1.0, 10), (4.0, 10)])
def test_overlaps_and_error_are_those_of_theory(alpha: float, samples: int) -> None:
    d, rows = 300, []
    for sample in range(samples):
        problem = committee_teacher(round(alpha * d), d, sample)
        run = committee_amp(problem, seed=sample, max_iterations=150, tolerance=1e-4)
        error = problem.error(run.weights, run.covariance, samples=20_000, seed=sample)
        rows.append((*problem.overlaps(run.weights), error))
    theory = committee.learning(alpha)
    expected = np.array([theory.mean_overlap, theory.specialization, theory.bayes_error])
    mean, sem = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(samples)
    np.testing.assert_array_less(np.abs(mean - expected), 3.0 * sem + 0.02 * expected + 1e-6)
    assert sem[0] < 0.03 and sem[2] < 0.01 and bool(mean[1] > 0.5) is (alpha > 2.1)


def test_error_is_that_of_theory_at_given_overlaps() -> None:
    """Students of the overlaps of the theory: the teacher in noise, as a student of the posterior sees it."""
    d, q = 20_000, 0.8
    problem, noise = committee_teacher(n=1, d=d, seed=0), np.random.default_rng(1).standard_normal((2, d))
    student = q * problem.teacher + np.sqrt(q * (1.0 - q)) * noise
    error = problem.error(student, (1.0 - q) * np.eye(2), samples=400_000, seed=0)
    ratio = q / (1.0 - q)
    assert error == pytest.approx(bayes_error(ratio, ratio), rel=0.02)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"covariance": np.diag([1.0, -0.5])},
            r"covariance = \[\[1.0, 0.0\], \[0.0, -0.5\]\]: allowed are symmetric and",
        ),
        ({"covariance": np.diag([-1.0, -1.0])}, "allowed are symmetric and positive definite matrices"),
        ({"covariance": np.array([[1.0, 2.0], [2.0, 1.0]])}, "allowed are symmetric and positive definite matrices"),
        ({"covariance": np.array([[1.0, 0.5], [0.0, 1.0]])}, "allowed are symmetric and positive definite matrices"),
        ({"covariance": np.eye(3)}, r"covariance of shape \(3, 3\): allowed is \(2, 2\)"),
        ({"weights": np.ones(2)}, r"weights of shape \(2,\)"),
        ({"samples": 0}, "samples = 0 is out of range"),
    ],
)
def test_an_impossible_covariance_has_no_error(change: dict[str, Any], message: str) -> None:
    problem = committee_teacher(n=10, d=5, seed=0)
    arguments: dict[str, Any] = {"weights": problem.teacher, "covariance": np.eye(2), "samples": 9, "seed": 0}
    with pytest.raises(DomainError, match=message):
        problem.error(**arguments | change)


def test_overlaps_know_neither_the_order_nor_the_lengths_of_the_units() -> None:
    problem = committee_teacher(n=10, d=50, seed=0)
    units = problem.teacher / np.linalg.norm(problem.teacher, axis=1, keepdims=True)
    first = problem.overlaps(problem.teacher)
    assert problem.overlaps(problem.teacher[::-1]) == pytest.approx(first)
    cosine = float(units[0] @ units[1])
    assert problem.overlaps(np.sqrt(50) * units) == pytest.approx((1.0 + cosine, 1.0 - cosine))


def test_wrong_arguments_are_told_in_one_line() -> None:
    wrong: Any = generalized_linear(n=10, d=5, seed=0)
    with pytest.raises(DomainError, match="instance = GeneralizedLinear object: allowed is a CommitteeTeacher"):
        committee_amp(wrong, seed=0)
    problem = committee_teacher(n=10, d=5, seed=0)
    for name, value in (("epsilon", 0.0), ("max_iterations", 0), ("tolerance", -1.0), ("seed", 0.5)):
        given: Any = {"seed": 0} | {name: value}
        with pytest.raises(DomainError, match=name):
            committee_amp(problem, **given)
    with pytest.raises(DomainError, match="weights"):
        problem.overlaps(np.ones((2, 4)))
    with pytest.raises(DomainError, match="n = 0"):
        committee_teacher(n=0, d=5, seed=0)
