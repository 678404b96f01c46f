"""Expectation propagation on committees: against plain algebra, exact integrals, message passing and Monte Carlo."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr, ndtr

from localentropy.data.embedded import read_embedded
from localentropy.errors import DomainError
from localentropy.instances.committee import dress_coat_committee, unit_norm
from localentropy.landscape.expectation_propagation import _Factors, expectation_propagation
from localentropy.solvers.committee.sgd import Schedule, committee_sgd

EMBEDDED = Path(__file__).parents[2] / "data"


def majority(t):
    """Probability that most of the units are +, by the sum over all votes: t [K]."""
    votes = [v for v in product((-1, 1), repeat=len(t)) if sum(v) > 0]
    return float(np.exp(log_ndtr(np.array(votes) * t).sum(1)).sum())


def plain(patterns, weights, distance, iterations=300, damping=0.5):
    """The same approximation as one writes it: n × n matrices, the reference's direction projected out."""
    K, P, n = patterns.shape
    S = 1 - 2 * distance
    tau, nu = np.zeros((K, P)), np.zeros((K, P))
    for _ in range(iterations):
        mean, variance, volume = np.empty((K, P)), np.empty((K, P)), 0.0
        for k in range(K):
            w = weights[k] / np.linalg.norm(weights[k]) * math.sqrt(n)
            # An orthonormal basis of the space orthogonal to w.
            basis = np.linalg.svd(np.eye(n) - np.outer(w, w) / n)[0][:, : n - 1]
            X = patterns[k] / math.sqrt(n)
            own, Y = S * X @ w, X @ basis
            matrix, pull = Y.T @ np.diag(tau[k]) @ Y, Y.T @ (nu[k] - tau[k] * own)

            def norm(rho, matrix=matrix, pull=pull):
                inverse = np.linalg.inv(rho * np.eye(n - 1) + matrix)
                return (inverse @ pull) @ (inverse @ pull) + np.trace(inverse) - n * (1 - S * S)

            floor = -np.linalg.eigvalsh(matrix)[0]
            rho = brentq(norm, floor + 1e-6, floor + 1e6, xtol=1e-12, rtol=1e-14)
            covariance = np.linalg.inv(rho * np.eye(n - 1) + matrix)
            mean[k], variance[k] = own + Y @ covariance @ pull, np.diag(Y @ covariance @ Y.T)
            volume += (n - 1) / 2 * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1] / 2
            volume += pull @ covariance @ pull / 2 + rho * n * (1 - S * S) / 2
            volume += (nu[k] * own - tau[k] * own**2 / 2).sum()
            volume -= (n - 1) / 2 * (1 + math.log(2 * math.pi * n * (1 - S * S) / (n - 1)))
        V = 1 / (1 / variance - tau)
        omega = V * (mean / variance - nu)
        total, first, second = np.empty(P), np.empty((K, P)), np.empty((K, P))
        for mu in range(P):
            t = omega[:, mu] / np.sqrt(V[:, mu])
            total[mu] = majority(t)
            for k in range(K):
                up, down = (majority(np.where(np.arange(K) == k, far, t)) for far in (np.inf, -np.inf))
                bell = math.exp(-(t[k] ** 2) / 2) / math.sqrt(2 * math.pi)
                first[k, mu] = omega[k, mu] + math.sqrt(V[k, mu]) * bell * (up - down) / total[mu]
                # E[x²] from ∫ x² φ over a half line, then the variance.
                plus = (1 + t[k] ** 2) * ndtr(t[k]) + t[k] * bell
                minus = (1 + t[k] ** 2) * ndtr(-t[k]) - t[k] * bell
                second[k, mu] = V[k, mu] * (up * plus + down * minus) / total[mu] - first[k, mu] ** 2
        site = (1 / V + tau) ** -1
        normaliser = np.log(site / V) / 2 + (omega / V + nu) ** 2 * site / 2 - omega**2 / V / 2
        entropy = (volume + np.log(total).sum() - normaliser.sum()) / (K * n)
        tau = damping * tau + (1 - damping) * (1 / second - 1 / V)
        nu = damping * nu + (1 - damping) * (first / second - omega / V)
    return entropy


def problem(K, P, n, seed=0):
    """Correlated patterns of ±1, [K, P, n], and a reference without errors, [K, n]."""
    random = np.random.default_rng(seed)
    shared = random.standard_normal((P, 3)) @ random.standard_normal((3, K * n))
    patterns = np.where(shared + random.standard_normal((P, K * n)) > 0, 1, -1).reshape(P, K, n)
    weights = random.standard_normal((K, n))
    labels = np.sign(np.sign(np.einsum("pkn,kn->pk", patterns, weights)).sum(1)).astype(int)
    return (patterns * labels[:, None, None]).swapaxes(0, 1), weights


@pytest.mark.parametrize(
    ("K", "P", "n", "distance"),
    [
        (1, 6, 9, 0.12),
        (3, 5, 8, 0.01),
        (3, 5, 8, 0.6),
        (3, 12, 7, 0.12),
        (5, 7, 7, 0.01),
        (5, 7, 7, 0.5),
        (3, 6, 7, 0.3),
    ],
)
def test_it_is_the_plain_algorithm_with_fewer_and_with_more_patterns_than_inputs(K, P, n, distance):
    patterns, weights = problem(K, P, n)
    entropy, converged, residual, _ = expectation_propagation(
        patterns, weights, distances=[distance], tolerance=1e-10, max_iterations=1000
    )
    assert converged[0] and residual[0] <= 1e-10
    assert entropy[0] == pytest.approx(plain(patterns, weights, distance), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("distance", [0.02, 0.05, 0.3])
def test_one_pattern_is_exact(distance):
    """One factor times a Gaussian: the moments are exact, and only the multiplier of the norm is to be found."""
    patterns, weights = problem(1, 1, 12, seed=3)
    w = weights[0] / np.linalg.norm(weights[0])
    x = patterns[0, 0]
    for sign in (1, -1):
        own = (1 - 2 * distance) * sign * (x @ w)
        rest, square = 1 - (x @ w) ** 2 / 12, 12 * 4 * distance * (1 - distance)

        def volume(log_rho, own=own, rest=rest, square=square):
            rho = math.exp(log_rho)
            part = log_ndtr(own / math.sqrt(rest / rho))
            return part - 5.5 * (log_rho - math.log(11 / square)) + (rho * square - 11) / 2

        best = minimize_scalar(volume, bounds=(-10.0, 15.0), method="bounded", options={"xatol": 1e-9})
        entropy, converged, *_ = expectation_propagation(sign * patterns, weights, distances=[distance], tolerance=1e-9)
        assert converged[0]
        assert entropy[0] == pytest.approx(best.fun / 12, rel=1e-9)


def test_without_constraints_the_entropy_vanishes():
    """Patterns far on the right side of the reference exclude nothing, and nothing may remain of the algebra."""
    w = np.ones((3, 50))
    entropy, converged, _, iterations = expectation_propagation(np.ones((3, 4, 50)), w, distances=[1e-4, 0.002])
    assert converged.all() and np.all(iterations == 1)
    np.testing.assert_allclose(entropy, 0.0, atol=1e-15)


def test_the_entropy_is_stationary_in_the_factors():
    patterns, weights = problem(3, 30, 40)
    factors = _Factors(patterns, weights, 0.3)
    for _ in range(200):
        value, residual = factors.update(0.1)
    assert residual < 1e-12
    precisions, fields, multipliers = factors.state
    random = np.random.default_rng(0)
    turn, push = random.standard_normal(precisions.shape), random.standard_normal(fields.shape)

    def moved(step):
        factors.state = precisions + step * turn, fields + step * push, multipliers
        return factors.update(0.1)[0]

    step = 1e-3
    slope, bend = (moved(step) - moved(-step)) / (2 * step), (moved(step) + moved(-step) - 2 * value) / step**2
    assert abs(bend) > 1e-5
    assert abs(slope) < 1e-6 * abs(bend)


def test_a_point_does_not_depend_on_the_others():
    patterns, weights = problem(3, 60, 50, seed=2)
    wanted = [0.2, 0.01, 0.05]
    together = expectation_propagation(patterns, weights, distances=wanted, tolerance=1e-9)[0]
    alone = [expectation_propagation(patterns, weights, distances=[D], tolerance=1e-9)[0][0] for D in wanted]
    np.testing.assert_allclose(together, alone, rtol=1e-9)
    np.testing.assert_allclose(
        expectation_propagation(patterns, 7 * weights, distances=wanted, tolerance=1e-9)[0], together, rtol=1e-9
    )


def sampled(patterns, weights, distance, draws, seed=0):
    """ln of the fraction without errors per weight, and its error: directions at random at the exact distance."""
    K, _, n = patterns.shape
    random, good = np.random.default_rng(seed), 0
    w = unit_norm(weights)
    blocks = np.ascontiguousarray(patterns.swapaxes(1, 2), dtype=np.float32)
    for _ in range(draws // 50):
        u = random.standard_normal((K, 50, n))
        u = unit_norm(u - (u @ w[:, :, None]) * w[:, None])
        moved = (1 - 2 * distance) * w[:, None] + 2 * math.sqrt(distance * (1 - distance)) * u
        votes = np.sign(moved.astype(np.float32) @ blocks).sum(0)
        good += int((votes > 0).all(1).sum())
    fraction = good / draws
    return math.log(fraction) / (K * n), math.sqrt((1 - fraction) / fraction / draws) / (K * n)


def test_correlated_patterns_of_three_units_against_monte_carlo():
    patterns, weights = problem(3, 12, 60)
    for seed, distance in enumerate((0.01, 0.05, 0.2)):
        mean, error = sampled(patterns, weights, distance, 20_000, seed)
        entropy = expectation_propagation(patterns, weights, distances=[distance])[0][0]
        assert abs(entropy - mean) < 3.5 * error


@pytest.mark.slow
def test_images_against_monte_carlo():
    """The approximation itself is seen here: 20 000 draws resolve 1 %, and EP is up to a tenth too low."""
    instance = dress_coat_committee(read_embedded("dress_coat", EMBEDDED), 9)
    schedule = Schedule(learning_rate=2e-4, gamma=5.0, beta=2.0, beta_growth=1e-4)
    solution = committee_sgd(instance, seed=0, schedule=schedule)
    assert solution.solved
    patterns = np.broadcast_to(instance.data.signed_patterns, (9, 500, 784))
    entropy, converged, *_ = expectation_propagation(patterns, solution.weights, distances=[0.005, 0.01])
    assert converged.all()
    for distance, value in zip((0.005, 0.01), entropy, strict=True):
        mean, error = sampled(patterns, solution.weights, distance, 20_000)
        assert abs(value / mean - 1) < 0.1 + 3 * abs(error / mean)


def test_a_reference_far_from_a_solution_has_no_entropy():
    patterns, weights = problem(3, 20, 200)
    wrong = np.concatenate([patterns, -patterns], axis=1)  # no machine can be right on both
    entropy, converged, residual, iterations = expectation_propagation(
        wrong, 10 * weights, distances=[1e-6, 1e-5], max_iterations=20
    )
    assert not converged.any() and np.isnan(entropy).all()
    assert np.all(iterations > 0) and residual.shape == (2,)


def test_without_convergence_there_is_no_number():
    patterns, weights = problem(3, 20, 30)
    entropy, converged, residual, iterations = expectation_propagation(
        patterns, weights, distances=[0.1, 0.2], max_iterations=2
    )
    assert np.isnan(entropy).all() and not converged.any()
    assert np.all(residual > 1e-4) and iterations.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patterns": np.ones((2, 4, 5))}, "patterns of shape (2, 4, 5): allowed are (units, patterns, inputs)"),
        ({"weights": np.ones((3, 4))}, "weights of shape (3, 4): allowed is (3, 5) for these patterns"),
        ({"weights": np.zeros((3, 5))}, "weights must be finite, and no unit may have zeros only"),
        ({"weights": np.full((3, 5), np.nan)}, "weights must be finite"),
        ({"distances": [0.1, 1.0]}, "distance = 1 is outside (0, 1)"),
        ({"distances": []}, "no distance given"),
        ({"damping": 1.0}, "damping = 1.0 is out of range"),
        ({"max_iterations": 0}, "max_iterations = 0 is out of range"),
        ({"tolerance": 0.0}, "tolerance = 0.0 is out of range"),
    ],
)
def test_wrong_arguments(change, message):
    arguments = {"patterns": np.ones((3, 4, 5)), "weights": np.ones((3, 5)), "distances": [0.1]} | change
    with pytest.raises(DomainError) as error:
        expectation_propagation(arguments.pop("patterns"), arguments.pop("weights"), **arguments)
    assert message in str(error.value)
