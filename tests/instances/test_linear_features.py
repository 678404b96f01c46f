"""Problems of a linear student: inputs as they are written, exact errors against new inputs, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import erf

from localentropy.errors import DomainError
from localentropy.instances.linear_features import FEATURES, linear_problem
from localentropy.numerics.activations import activation_moments
from localentropy.theory import hidden_manifold

MAKE: Any = linear_problem  # wrong types on purpose


def test_inputs_are_the_features_of_what_the_teacher_sees():
    nonlinear = linear_problem("nonlinear", 30, 8, 1, p=20)
    source: Any = nonlinear.source
    z = source.latent @ source.features.T / math.sqrt(8)
    np.testing.assert_allclose(nonlinear.inputs, erf(z) / math.sqrt(20), rtol=1e-6)
    assert nonlinear.inputs.dtype == np.float64
    np.testing.assert_array_equal(nonlinear.labels, np.sign(source.latent @ source.teacher))
    gaussian: Any = linear_problem("gaussian", 30, 8, 1, p=20)
    np.testing.assert_array_equal(gaussian.labels, nonlinear.labels)
    np.testing.assert_array_equal(gaussian.source.features, source.features)
    noise = gaussian.inputs * math.sqrt(20) - activation_moments("erf").mu_1 * z
    assert np.std(noise) == pytest.approx(math.sqrt(activation_moments("erf").mu_star_squared), rel=0.15)
    independent: Any = linear_problem("independent", 30, 8, 1)
    assert independent.inputs.shape == (30, 8)
    np.testing.assert_array_equal(independent.labels, np.sign(independent.inputs @ independent.source.teacher))


@pytest.mark.parametrize("activation", ["erf", "tanh", "sign"])
@pytest.mark.parametrize("features", FEATURES)
def test_errors_are_those_on_new_inputs(features, activation):
    """Exact errors, within four standard errors of a count; counted ones are of the same inputs in every call."""
    p = 12 if features == "independent" else 60
    problem: Any = linear_problem(features, 50, 12, 3, p=p, activation=activation)
    w = np.random.default_rng(0).normal(size=p) + problem.labels @ problem.inputs
    found = problem.errors([w, -w], 40_000)
    if features == "independent":
        new = np.random.default_rng(1).normal(size=(40_000, 12)) / math.sqrt(12)
        outputs, labels = new @ w, np.sign(new @ problem.source.teacher)
    else:
        blocks = [(inputs @ w / math.sqrt(p), y) for inputs, y in problem.source.test_patterns(40_000)]
        outputs, labels = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    for exact, each in zip(found, (outputs * labels < 0, (labels - outputs) ** 2), strict=True):
        error = np.std(each) / math.sqrt(len(each))
        assert abs(exact[0] - np.mean(each)) < (1e-6 if features == "nonlinear" else 4 * error)
    assert found.generalization_error.sum() == pytest.approx(1.0, abs=1e-12)
    if features == "nonlinear":
        assert found.generalization_error[0] == pytest.approx(problem.source.test_error(w, 40_000), abs=2.6e-5)
    alone = problem.errors([-w], 40_000 if features == "nonlinear" else 7)
    assert alone.square_error == pytest.approx(found.square_error[1:], rel=1e-12)


def test_a_perfect_student():
    problem: Any = linear_problem("independent", 5, 30, 0)
    w = 0.7 * problem.source.teacher
    assert problem.errors([w, -w]).generalization_error == pytest.approx([0.0, 1.0], abs=1e-7)


def test_weights_that_see_only_the_noise_of_gaussian_features():
    problem: Any = linear_problem("gaussian", 5, 8, 1, p=20)
    _, _, rows = np.linalg.svd(problem.source.features.T)
    w = 3.0 * rows[-1]  # F^T w = 0
    errors = problem.errors([w])
    variance = activation_moments("erf").mu_star_squared * 9.0 / 20
    assert errors.square_error == pytest.approx([1.0 + variance], rel=1e-12)
    assert errors.generalization_error == pytest.approx([0.5], abs=1e-12)


@pytest.mark.parametrize(("loss", "alpha", "strength"), [("square", 0.6, 0.05), ("logistic", 2.0, 0.02)])
def test_strength_is_that_of_the_theory(loss, alpha, strength):
    """Gaussian features at d = 120, ten runs, within 3.5 standard errors and 3/d."""
    from localentropy.solvers.linear_student import train_linear_student

    d, p, rows = 120, 400, []
    for seed in range(10):
        problem = linear_problem("gaussian", round(alpha * p), d, seed, p=p)
        run = train_linear_student(problem.inputs, problem.labels, loss=loss, regularization=strength)
        error, square = problem.errors(run.weights[None])
        rows.append((error[0], square[0], run.training_loss))
    theory = hidden_manifold.fit(alpha, d / p, loss, strength)
    expected = np.array([theory.generalization_error, theory.square_error, theory.training_loss])
    mean, spread = np.mean(rows, 0), np.std(rows, 0, ddof=1) / math.sqrt(len(rows))
    assert (np.abs(mean - expected) < 3.5 * spread + 3 / d * expected).all()


@pytest.mark.parametrize("features", ["independent", "nonlinear", "gaussian"])
def test_a_student_without_an_opinion_is_wrong_half_of_the_time(features):
    errors = MAKE(features, 5, 4, 0).errors(np.zeros((2, 4)), 100)
    assert errors.generalization_error.tolist() == [0.5, 0.5]
    assert errors.square_error == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MAKE("nonlinar", 5, 5, 0), "nearest is 'nonlinear'"),
        (lambda: MAKE("independent", 5, 5, 0, p=6), "p = 6: independent inputs"),
        (lambda: MAKE("gaussian", 0, 5, 0), "n = 0 is out of range"),
        (lambda: MAKE("gaussian", 5, 5, 0, activation="erff"), "nearest is 'erf'"),
        (lambda: MAKE("gaussian", 5, 5, 0).errors(np.ones(5)), "weights of shape"),
        (lambda: MAKE("nonlinear", 5, 5, 0).errors(np.ones((1, 5)), 0), "test_samples = 0 is out of range"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
