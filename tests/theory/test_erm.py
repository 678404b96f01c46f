"""Empirical risk minimisation: written integrals, closed forms, simulation, Bayes' bound, extremes, refusals."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import expit, ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.theory import bayes, erm, hidden_manifold, losses

ALL = sorted(losses.LOSSES)
POINTS = [
    (0.4, 0.3, 0.5),
    (20.0, 2.0, 1.5),
    (3.0, 0.01, 2.0),
    (1e-3, 1e-6, 1e-3),
    (800.0, 0.2, 0.02),
    (0.1, 1.0, 30.0),
    (265.0, 2.45, 357.0),
]
"""V, N, M."""


def value(loss, x):
    return {
        "square": 0.5 * (1 - x) ** 2,
        "logistic": np.logaddexp(0, -x),
        "hinge": np.maximum(0, 1 - x),
        "huber": np.where(np.abs(1 - x) < 1, 0.5 * (1 - x) ** 2, np.abs(1 - x) - 0.5),
    }[loss]


def written_proximal(loss, omega, V):
    """By a root of the derivative, or of its jump."""
    if loss == "square":
        return (omega + V) / (1 + V)
    if loss == "hinge":
        return omega + V if omega + V < 1 else max(omega, 1.0)
    if loss == "huber":
        return brentq(lambda x: x - omega - V * np.clip(1 - x, -1, 1), omega - V - 1, omega + V + 1, xtol=1e-14)
    return brentq(lambda x: x - omega - V * expit(-x), min(omega, 0) - 1, max(omega, 0) + V + 1, xtol=1e-14, rtol=1e-14)


def written_averages(loss, V, N, M):
    """Eq. 25 by adaptive quadrature, with the derivative's slope as a difference."""
    Q = N + M * M
    root, slope = math.sqrt(Q), M / math.sqrt(N)
    kinks = [(1 - V) / root, 1 / root] if loss == "hinge" else [-V / root, math.log1p(V) / root, (2 + V) / root]
    points = sorted({p for p in (*kinks, 0.0, -10 / slope, -3 / slope, 3 / slope, 10 / slope) if -9 < p < 9})

    def mean(function):
        return 2 * quad(lambda xi: norm.pdf(xi) * function(xi), -9, 9, points=points, limit=500, epsabs=1e-13)[0]

    def pulled(xi):
        return (written_proximal(loss, root * xi, V) - root * xi) / V

    def bent(xi):
        step = 1e-4 * min(root, 1.0)
        return (pulled(xi - step / root) - pulled(xi + step / root)) / (2 * step)

    return [
        # The derivatives of two losses have kinks: their mean slopes have tests of their own.
        mean(lambda xi: ndtr(slope * xi) * bent(xi)) if loss not in ("hinge", "huber") else None,
        mean(lambda xi: ndtr(slope * xi) * pulled(xi) ** 2),
        mean(lambda xi: norm.pdf(slope * xi) * math.sqrt(Q / N) * pulled(xi)),
        mean(lambda xi: ndtr(slope * xi) * value(loss, root * xi + V * pulled(xi))),
    ]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("loss", ALL)
def test_averages(loss, point):
    found = losses.LOSSES[loss].averages(*point)
    written = written_averages(loss, *point)
    if loss not in ("hinge", "huber"):
        assert found.bend == pytest.approx(written[0], rel=1e-6, abs=1e-9)
    assert found[1:] == pytest.approx(written[1:], rel=1e-8, abs=1e-11)


@pytest.mark.parametrize(("V", "N", "M"), POINTS)
def test_slope_of_the_hinge_loss(V, N, M):
    """It is the part of patterns whose output is pulled to the kink, over V."""
    root, T = math.hypot(math.sqrt(N), M), M / math.sqrt(N)
    low, high = max((1 - V) / root, -9), min(1 / root, 9)
    points = [p for p in (0.0, -3 / T, 3 / T) if low < p < high]
    part = 0.0
    if low < high:
        part = quad(lambda xi: norm.pdf(xi) * ndtr(T * xi), low, high, points=points or None, epsabs=1e-14)[0]
    assert losses.LOSSES["hinge"].averages(V, N, M).bend == pytest.approx(2 * part / V, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(("V", "N", "M"), POINTS)
def test_slope_of_hubers_loss(V, N, M):
    """It is the part of patterns whose output stays nearer than 1 to the label, over 1 + V."""
    root, T = math.hypot(math.sqrt(N), M), M / math.sqrt(N)
    low, high = max(-V / root, -9), min((2 + V) / root, 9)
    points = [p for p in (0.0, -3 / T, 3 / T) if low < p < high]
    part = quad(lambda xi: norm.pdf(xi) * ndtr(T * xi), low, high, points=points or None, epsabs=1e-14, limit=200)[0]
    assert losses.LOSSES["huber"].averages(V, N, M).bend == pytest.approx(2 * part / (1 + V), rel=1e-8, abs=1e-12)


def test_hinge_loss_is_never_negative():
    assert losses.LOSSES["hinge"].averages(1000.0, 10.0, 0.01).loss == 0.0


@pytest.mark.parametrize("V", [1e-6, 0.3, 40.0, 1e9])
def test_proximal_point(V):
    omega = np.array([-1e4, -30.0, -1.0, 0.0, 2.0, 50.0])
    x = losses.proximal(omega, V)
    assert x == pytest.approx(omega + V * expit(-x), rel=1e-12, abs=1e-10 * max(1.0, 1e-3 * V))


@pytest.mark.parametrize(
    ("alpha", "loss", "regularization", "error"),
    [
        (1.0, "logistic", 0.0316, 0.2544),
        (3.0, "logistic", 0.0093, 0.1299),
        (3.0, "hinge", 0.01, 0.1428),
        (3.0, "square", math.pi / 2 - 1, 0.1498),
    ],
)
def test_numbers_of_another_program(alpha, loss, regularization, error):
    assert erm.fit(alpha, loss, regularization).generalization_error == pytest.approx(error, abs=6e-5)


@pytest.mark.parametrize(("alpha", "loss", "regularization"), [(1.3, "logistic", 0.2), (0.6, "hinge", 0.5)])
def test_fixed_point_iteration(alpha, loss, regularization):
    """The equations, iterated from a small start."""
    V, Q, M = 1.0, 0.5, 0.1
    for _ in range(120):
        A, B, C, _ = written_averages_coarse(loss, V, Q - M**2, M)
        V_hat, q_hat, m_hat = alpha * A, alpha * B, alpha * C
        V = 1 / (regularization + V_hat)
        Q, M = (m_hat**2 + q_hat) * V**2, m_hat * V
    found = erm.fit(alpha, loss, regularization)
    assert (found.susceptibility, found.norm, found.overlap) == pytest.approx((V, Q, M), rel=1e-4)


def written_averages_coarse(loss, V, N, M):
    xi = np.linspace(-8, 8, 40_001)
    weight = 2 * norm.pdf(xi) * (xi[1] - xi[0])
    root, T = math.hypot(math.sqrt(N), M), M / math.sqrt(N)
    omega = root * xi
    eta = losses.proximal(omega, V) if loss == "logistic" else np.where(omega + V < 1, omega + V, np.maximum(omega, 1))
    slope = (eta - omega) / V
    if loss == "logistic":
        bend = expit(eta) * expit(-eta) / (1 + V * expit(eta) * expit(-eta))
    else:
        bend = ((omega > 1 - V) & (omega < 1)) / V
    label = weight * ndtr(T * xi)
    edge = weight * norm.pdf(T * xi) * root / math.sqrt(N)
    return label @ bend, label @ slope**2, edge @ slope, label @ value(loss, eta)


def test_square_loss_by_its_quadratic_equation():
    for alpha, strength in ((0.2, 1e-4), (1.0, 0.3), (7.0, 20.0)):
        b = strength + alpha - 1
        V = (-b + math.sqrt(b * b + 4 * strength)) / (2 * strength)
        found = erm.fit(alpha, "square", strength)
        assert found.susceptibility == pytest.approx(V, rel=1e-10)
        M = alpha * math.sqrt(2 / math.pi) * V / (1 + V)
        assert found.overlap == pytest.approx(M, rel=1e-10)
        gain = alpha * V**2 / (1 + V) ** 2
        assert found.norm == pytest.approx((M**2 + gain * (1 - 2 * M * math.sqrt(2 / math.pi))) / (1 - gain), rel=1e-9)


def test_strong_regularization_is_hebbs_rule():
    """w is the sum of y x over lambda, for every loss: M / sqrt(N) = sqrt(2 alpha / pi)."""
    expected = math.atan(1 / math.sqrt(2 * 1.7 / math.pi)) / math.pi
    for loss in ALL:
        assert erm.fit(1.7, loss, 1e6).generalization_error == pytest.approx(expected, rel=1e-5)


def student(loss, X, y, strength):
    """The minimum of the risk by a library's optimizer; the hinge loss in the dual."""
    n, d = X.shape
    if loss == "square":
        return np.linalg.solve(X.T @ X + strength * np.eye(d), X.T @ y)
    if loss in ("logistic", "huber"):

        def risk(w):
            z = y * (X @ w)
            pull = expit(-z) if loss == "logistic" else np.clip(1 - z, -1, 1)
            return value(loss, z).sum() + 0.5 * strength * w @ w, -X.T @ (y * pull) + strength * w

        return minimize(risk, np.zeros(d), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-14}).x

    def dual(a):
        w = X.T @ (a * y) / strength
        return 0.5 * strength * w @ w - a.sum(), y * (X @ w) - 1

    a = minimize(dual, np.full(n, 0.5), jac=True, method="L-BFGS-B", bounds=[(0, 1)] * n, options={"maxiter": 3000}).x
    return X.T @ (a * y) / strength


@pytest.mark.parametrize(
    ("alpha", "loss", "strength"),
    [(1.4, "square", 0.3), (1.4, "logistic", 0.1), (1.4, "hinge", 0.3), (1.4, "huber", 0.3)],
)
def test_simulation(alpha, loss, strength):
    rng, d, runs = np.random.default_rng(7), 600, 24
    rows = []
    for _ in range(runs):
        X = rng.normal(size=(round(alpha * d), d)) / math.sqrt(d)
        teacher = rng.normal(size=d)
        teacher *= math.sqrt(d) / np.linalg.norm(teacher)
        y = np.sign(X @ teacher)
        w = student(loss, X, y, strength)
        M, Q = w @ teacher / d, w @ w / d
        rows.append((M, Q, math.acos(M / math.sqrt(Q)) / math.pi, value(loss, y * (X @ w)).mean()))
    found = erm.fit(alpha, loss, strength)
    mean, error = np.mean(rows, 0), np.std(rows, 0, ddof=1) / math.sqrt(runs)
    expected = np.array([found.overlap, found.norm, found.generalization_error, found.training_loss])
    assert (np.abs(mean - expected) < 3.5 * error + 3 / d * expected).all()


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0, 10.0])
def test_optimal_regularization(alpha):
    assert erm.optimal_regularization(alpha, "square") == pytest.approx(math.pi / 2 - 1, rel=2e-7)
    best = bayes.learning(alpha).bayes_error
    logistic = erm.fit(alpha, "logistic", erm.optimal_regularization(alpha, "logistic")).generalization_error
    assert 0 < logistic / best - 1 < 1e-3
    hinge = erm.optimal_regularization(alpha, "hinge")
    around = [erm.fit(alpha, "hinge", factor * hinge).generalization_error for factor in (0.8, 1.0, 1.25)]
    assert best < around[1] < min(around[0], around[2])


@pytest.mark.parametrize("alpha", [1e-3, 2e-3, 5e-3, 1e-2])
def test_the_optimal_regularization_of_few_samples_lies_in_the_narrow_dip_of_the_hinge_loss(alpha):
    for fit, best, places in (
        (partial(erm.fit, alpha, "hinge"), erm.optimal_regularization(alpha, "hinge"), (0.3, 1.6)),
        (
            partial(hidden_manifold.fit, alpha, 1.0, "hinge"),
            hidden_manifold.optimal_regularization(alpha, 1.0, "hinge"),
            (0.2, 0.8),
        ),
    ):
        around = [fit(strength).generalization_error for strength in np.linspace(*places, 61)]
        assert fit(best).generalization_error <= min(around)


@pytest.mark.parametrize("loss", ALL)
def test_extremes(loss):
    """Every corner is solved, and no error is below Bayes'."""
    for alpha in (1e-3, 1.0, 1e3):
        for strength in (1e-14, 1e-8, 1e-3, 1e6):
            found = erm.fit(alpha, loss, strength)
            assert bayes.learning(alpha).bayes_error < found.generalization_error < 0.5


@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("alpha", [0.7, 30.0, 358.33])
def test_weights_grow_where_the_regularization_falls(loss, alpha):
    """As for any minimum of a loss and a penalty; towards none the hinge loss has the largest margin."""
    found = [erm.fit(alpha, loss, strength) for strength in np.geomspace(1e3, 1e-14, 13)]
    norms = np.array([point.norm for point in found])
    assert (np.diff(norms) >= -1e-11 * norms[1:]).all()
    assert (np.diff([point.training_loss for point in found]) <= 1e-11).all()


@pytest.mark.parametrize("x", [-2.0, -0.38, -0.05, 0.4])
@pytest.mark.parametrize("T", [0.3, 5.0, 200.0])
def test_means_below_a_kink(x, T):
    def mean(function):
        ends = [-12.0, x - 1.0, x - 0.1, *(x - step / (1.0 + T) for step in (3.0, 1.0)), x]
        if x > 0.0:
            ends = sorted([-12.0, -3.0 / T, 0.0, x / 2, x])
        return sum(
            quad(lambda xi: function(xi) * norm.pdf(xi) * ndtr(T * xi), *piece, epsabs=0)[0]
            for piece in pairwise(sorted(ends))
        )

    whole, first = losses._below(x, T)
    assert whole == pytest.approx(mean(lambda xi: 1.0), rel=1e-9, abs=1e-300)
    assert first == pytest.approx(mean(lambda xi: xi), rel=1e-7, abs=1e-18)


@pytest.mark.parametrize("point", [(1.0, 0.03), (0.1, 1e-6), (10.0, 1e-4), (1000.0, 0.1)])
def test_twice_the_nodes(point, monkeypatch):
    before = [erm.fit(point[0], loss, point[1]) for loss in ("logistic", "hinge", "huber")]
    monkeypatch.setattr(losses, "SPACING", 0.12)
    monkeypatch.setattr(losses, "PANEL_NODES", 64)
    for loss, found in zip(("logistic", "hinge", "huber"), before, strict=True):
        after = erm.fit(point[0], loss, point[1])
        assert after.generalization_error == pytest.approx(found.generalization_error, rel=1e-10)
        assert (after.norm, after.overlap) == pytest.approx((found.norm, found.overlap), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: erm.fit(0.0), "alpha = 0 is out of range"),
        (lambda: erm.fit(1.0, "logistics"), "nearest is 'logistic'"),
        (lambda: erm.fit(1.0, "hinge", 0.0), "regularization = 0 is out of range: allowed are"),
        (lambda: erm.optimal_regularization(1.0, "exponential"), "loss = 'exponential' is not known"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()


def test_a_failed_solve_says_where(monkeypatch):
    monkeypatch.setattr(erm, "LARGEST_RESIDUAL", 0.0)
    with pytest.raises(ConvergenceError, match=r"hinge did not converge at alpha=2, regularization=0\.3, V="):
        erm.fit(2.0, "hinge", 0.3)
