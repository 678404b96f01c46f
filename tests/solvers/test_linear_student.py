"""Empirical risk minimisation: plain twins, optimality conditions, the duality gap as a bound, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.solvers.linear_student import train_linear_student

TRAIN: Any = train_linear_student  # wrong types on purpose
LOSSES = ("square", "logistic", "hinge")
SHAPES = [(14, 5), (6, 6), (5, 14)]


def problem(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) / math.sqrt(p), rng.choice([-1.0, 1.0], n)


def value(loss, m):
    if loss == "square":
        return 0.5 * (1 - m) ** 2
    return math.log1p(math.exp(-m)) if loss == "logistic" else max(0.0, 1 - m)


def risk(loss, X, y, w, strength):
    return sum(value(loss, label * (x @ w)) for x, label in zip(X, y, strict=True)) + 0.5 * strength * w @ w


def twin(loss, X, y, strength):
    """Gradient descent, pattern by pattern; for the hinge loss one dual variable after the other."""
    n, p = X.shape
    if loss != "hinge":
        w, step = np.zeros(p), 1 / (np.linalg.norm(X, 2) ** 2 + strength)
        for _ in range(20_000):
            gradient = strength * w
            for x, label in zip(X, y, strict=True):
                m = label * (x @ w)
                gradient = gradient - ((1 - m) if loss == "square" else 1 / (1 + math.exp(m))) * label * x
            w = w - step * gradient
            if np.abs(gradient).max() < 1e-11:
                return w
        raise AssertionError("the twin did not converge")
    a, w = np.zeros(n), np.zeros(p)
    for _ in range(20_000):
        before = w
        for i in range(n):
            best = a[i] + strength * (1 - y[i] * (X[i] @ w)) / (X[i] @ X[i])
            change, a[i] = min(max(best, 0.0), 1.0) - a[i], min(max(best, 0.0), 1.0)
            w = w + change * y[i] * X[i] / strength
        if np.abs(w - before).max() < 1e-12:
            return w
    raise AssertionError("the twin did not converge")


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("strength", [0.05, 2.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_against_a_plain_twin(loss, strength, n, p):
    X, y = problem(n, p)
    run = train_linear_student(X, y, loss=loss, regularization=strength)
    expected = twin(loss, X, y, strength)
    np.testing.assert_allclose(run.weights, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    assert run.converged
    assert run.training_loss == pytest.approx(risk(loss, X, y, expected, 0.0) / n, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(("n", "p"), [(300, 100), (80, 200)])
@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_the_gradient_vanishes(loss, n, p):
    X, y = problem(n, p, 1)
    run = train_linear_student(X, y, loss=loss, regularization=0.01)
    m = y * (X @ run.weights)
    pull = 1 - m if loss == "square" else 1 / (1 + np.exp(m))
    terms = np.abs(0.01 * run.weights).max()
    assert np.abs(0.01 * run.weights - X.T @ (y * pull)).max() < 1e-4 * terms


@pytest.mark.parametrize(("n", "p"), [(300, 100), (80, 200)])
def test_conditions_of_the_hinge_loss(n, p):
    """λ w is the sum of y x over patterns below the margin, and of parts in [0, 1] of those on it."""
    X, y = problem(n, p, 2)
    run = train_linear_student(X, y, loss="hinge", regularization=0.05)
    Z = y[:, None] * X
    m = Z @ run.weights
    on = np.abs(m - 1) < 1e-5
    assert 0 < on.sum() <= p
    left = 0.05 * run.weights - Z[(m < 1) & ~on].sum(0)
    parts, *_ = np.linalg.lstsq(Z[on].T, left, rcond=None)
    assert np.abs(Z[on].T @ parts - left).max() < 1e-4 * np.abs(left).max()
    assert parts.min() > -1e-4 and parts.max() < 1 + 1e-4


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_bounds_what_is_missing(loss):
    X, y = problem(120, 40, 3)
    best = train_linear_student(X, y, loss=loss, regularization=0.02)
    at_zero = risk(loss, X, y, np.zeros(40), 0.02)
    least = risk(loss, X, y, best.weights, 0.02)
    assert -1e-12 < best.gap < 1e-6 and best.converged
    if loss == "square":
        return
    for most in (1, 3, 8):
        early = train_linear_student(X, y, loss=loss, regularization=0.02, max_iterations=most)
        missing = risk(loss, X, y, early.weights, 0.02) / at_zero - least / at_zero
        assert early.iterations <= most and not early.converged
        assert 0 < missing <= early.gap


def test_both_forms_of_ridge_regression():
    """A pattern of zeros changes no weights, and makes the other matrix the smaller one."""
    X, y = problem(50, 50, 4)
    more = np.vstack([X[:49], np.zeros((1, 50))])
    few = train_linear_student(X[:49], y[:49], loss="square", regularization=1e-3)
    many = train_linear_student(more, y, loss="square", regularization=1e-3)
    np.testing.assert_allclose(few.weights, many.weights, rtol=1e-8, atol=1e-9)
    assert few.converged and many.converged
    assert many.training_loss * 50 == pytest.approx(few.training_loss * 49 + 0.5, rel=1e-9)


@pytest.mark.parametrize("strength", [1e-8, 1e6])
@pytest.mark.parametrize("loss", LOSSES)
def test_extremes(loss, strength):
    X, y = problem(30, 60, 5)
    run = train_linear_student(X, y, loss=loss, regularization=strength)
    assert run.converged
    if strength > 1:  # Hebb's rule, with the slope of the loss at zero
        slope = 0.5 if loss == "logistic" else 1.0
        expected = slope * (y @ X) / strength
        np.testing.assert_allclose(run.weights, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    else:
        assert (y * (X @ run.weights) > 0.99).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_patterns_does_not_matter(loss):
    X, y = problem(200, 80, 6)
    order = np.random.default_rng(0).permutation(200)
    one, other = (
        train_linear_student(X[rows], y[rows], loss=loss, regularization=0.05).weights for rows in (slice(None), order)
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-5 * np.abs(one).max())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loss": "hing"}, "nearest is 'hinge'"),
        ({"regularization": 0.0}, "regularization = 0 is out of range"),
        ({"tolerance": -1.0}, "tolerance = -1 is out of range"),
        ({"max_iterations": 0}, "max_iterations = 0 is out of range"),
        ({"labels": np.ones(3)}, r"labels of shape \(3,\): allowed is \(4,\)"),
        ({"labels": np.zeros(4)}, r"labels\[0\] = 0.0: allowed are 1 and -1"),
        ({"inputs": np.full((4, 2), math.nan)}, "inputs: nan is among them"),
    ],
)
def test_refusals(change, words):
    given: dict[str, Any] = {"inputs": np.ones((4, 2)), "labels": np.ones(4), "loss": "hinge", "regularization": 1.0}
    with pytest.raises(DomainError, match=words) as refused:
        TRAIN(**(given | change))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("size", [1e-60, 1e60])
@pytest.mark.parametrize("regularization", [1e-60, 1e60])
def test_nothing_overflows_in_silence(loss, size, regularization):
    with np.errstate(over="raise", invalid="raise"):
        student = train_linear_student(
            size * np.eye(4), np.ones(4), loss=loss, regularization=regularization, max_iterations=50
        )
    assert np.isfinite(student.weights).all()


@pytest.mark.parametrize("kind", [np.float32, np.int64, list, bool])
def test_labels_of_all_kinds(kind):
    inputs, labels = problem(12, 6)
    expected = train_linear_student(inputs, labels, loss="hinge", regularization=0.1).weights
    if kind is bool:
        with pytest.raises(DomainError, match="labels: array of type bool given"):
            train_linear_student(inputs, labels > 0.0, loss="hinge", regularization=0.1)
        return
    given = labels.tolist() if kind is list else labels.astype(kind)
    assert np.array_equal(train_linear_student(inputs, given, loss="hinge", regularization=0.1).weights, expected)
