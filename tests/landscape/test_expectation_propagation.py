"""Expectation propagation on committees: against plain algebra, exact integrals, message passing and Monte Carlo."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr, ndtr

from localentropy.data.embedded import read_embedded
from localentropy.instances.committee import (
    FullCommittee,
    TreeCommittee,
    dress_coat_committee,
    random_tree_committee,
    unit_norm,
)
from localentropy.instances.perceptron import Instance
from localentropy.landscape.committee_local_entropy import committee_local_entropy, committee_solution_fraction
from localentropy.landscape.expectation_propagation import _Factors
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.sgd import Schedule, committee_sgd
from tests.enumeration import probability_of_majority

DATA = Path(__file__).parents[2] / "data"


def plain(patterns, weights, distance, iterations=120, damping=0.4):
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
            total[mu] = probability_of_majority(ndtr(t))
            for k in range(K):
                up, down = (probability_of_majority(np.where(np.arange(K) == k, sure, ndtr(t))) for sure in (1, 0))
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
    """A tree with correlated patterns, and a reference without errors."""
    random = np.random.default_rng(seed)
    shared = random.standard_normal((P, 3)) @ random.standard_normal((3, K * n))
    patterns = np.where(shared + random.standard_normal((P, K * n)) > 0, 1, -1).astype(np.int8)
    weights = random.standard_normal((K, n))
    labels = np.sign(np.sign(np.einsum("pkn,kn->pk", patterns.reshape(P, K, n), weights)).sum(1)).astype(np.int8)
    return TreeCommittee(Instance(patterns, labels, seed), K), weights


def solve(instance, weights, distances, tolerance=1e-9, **options):
    return committee_local_entropy(
        instance, weights, distances=distances, method="expectation_propagation", tolerance=tolerance, **options
    )


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
    instance, weights = problem(K, P, n)
    found = solve(instance, weights, [distance], tolerance=1e-10)
    assert found.converged[0] and found.residual[0] <= 1e-10
    inputs = instance.data.signed_patterns.reshape(P, K, n).swapaxes(0, 1)
    assert found.entropy[0] == pytest.approx(plain(inputs, weights, distance), rel=1e-8, abs=1e-12)


def test_the_multiplier_of_the_norm_may_be_negative():
    """Where far fewer of the longer weights are solutions. The reference's own direction must not forbid it."""
    instance = random_tree_committee(60, 80, 1, 0)
    weights = committee_focusing_bp(instance).weights
    found = solve(instance, weights, [0.3])
    assert found.converged[0]
    assert found.entropy[0] == pytest.approx(plain(instance.unit_inputs, weights, 0.3), rel=1e-7)


def test_a_pattern_along_the_reference():
    """It is right where S > 0, and there is no volume where S < 0."""
    instance = random_tree_committee(20, 1, 1, 0)
    found = solve(instance, instance.unit_inputs[0], [0.01, 0.3, 0.7])
    np.testing.assert_allclose(found.entropy, [0.0, 0.0, np.nan], atol=1e-15)


def test_around_weights_with_many_errors_far_points_converge_alone():
    instance = random_tree_committee(200, 300, 1, 0)
    weights = np.random.default_rng(0).standard_normal((1, 200))
    found = solve(instance, weights, [0.05, 0.3, 0.5], tolerance=1e-6, max_iterations=50)
    np.testing.assert_array_equal(found.converged, [False, True, True])
    assert np.isnan(found.entropy[0]) and found.entropy[1] < found.entropy[2] < 0.0


def test_all_units_of_a_full_machine_see_the_same():
    random = np.random.default_rng(5)
    patterns, weights = random.choice(np.array([-1, 1], np.int8), (6, 8)), random.standard_normal((3, 8))
    labels = np.sign(np.sign(patterns @ weights.T).sum(1)).astype(np.int8)
    instance = FullCommittee(Instance(patterns, labels, 0), 3)
    found = committee_local_entropy(instance, weights, distances=[0.1], tolerance=1e-9)
    signed = patterns * labels[:, None]
    assert found.entropy[0] == pytest.approx(plain(np.stack([signed] * 3), weights, 0.1), rel=1e-8)


@pytest.mark.parametrize("distance", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("label", [1, -1])
def test_one_pattern_is_exact(distance, label):
    """One factor times a Gaussian: the moments are exact, and only the multiplier of the norm is to be found."""
    random = np.random.default_rng(3)
    x, w = random.choice(np.array([-1, 1], np.int8), 12), random.standard_normal(12)
    near = x @ w / np.linalg.norm(w)
    own = (1 - 2 * distance) * label * near
    rest, square = 1 - near**2 / 12, 12 * 4 * distance * (1 - distance)

    def volume(log_rho):
        rho = math.exp(log_rho)
        return log_ndtr(own * math.sqrt(rho / rest)) - 5.5 * (log_rho - math.log(11 / square)) + (rho * square - 11) / 2

    best = minimize_scalar(volume, bounds=(-10.0, 15.0), method="bounded", options={"xatol": 1e-9})
    instance = TreeCommittee(Instance(x[None], np.array([label], np.int8), 0), 1)
    found = solve(instance, w[None], [distance])
    assert found.converged[0]
    assert found.entropy[0] == pytest.approx(best.fun / 12, rel=1e-9)


def test_without_constraints_the_entropy_vanishes():
    """Patterns far on the right side of the reference exclude nothing, and nothing may remain of the algebra."""
    instance = TreeCommittee(Instance(np.ones((4, 150), np.int8), np.ones(4, np.int8), 0), 3)
    found = solve(instance, np.ones((3, 50)), [1e-4, 0.002])
    assert found.converged.all() and np.all(found.iterations == 1)
    np.testing.assert_allclose(found.entropy, 0.0, atol=1e-15)


def test_the_entropy_is_stationary_in_the_factors():
    instance, weights = problem(3, 30, 40)
    factors = _Factors(instance.unit_inputs, unit_norm(weights) * math.sqrt(40))
    factors.restart(0.3)
    for _ in range(100):
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
    instance, weights = problem(3, 60, 50, seed=2)
    wanted = [0.2, 0.01, 0.05]
    together = solve(instance, weights, wanted)
    assert together.converged.all() and together.distance.tolist() == wanted
    alone = [solve(instance, weights, [D]).entropy[0] for D in wanted]
    np.testing.assert_allclose(together.entropy, alone, rtol=1e-9)


@pytest.mark.parametrize(("K", "N", "P"), [(3, 603, 300), (9, 1998, 1000)])
def test_on_random_trees_it_agrees_with_message_passing(K, N, P):
    instance = random_tree_committee(N=N, P=P, K=K, seed=0)
    weights = committee_focusing_bp(instance, stop="first").weights
    distances = [0.005, 0.02, 0.05]
    messages = committee_local_entropy(instance, weights, distances=distances, method="message_passing")
    found = solve(instance, weights, distances, tolerance=1e-4)
    assert messages.converged.all() and found.converged.all()
    np.testing.assert_allclose(found.entropy, messages.entropy, atol=1e-4)


@pytest.mark.parametrize(("seed", "distance"), [(0, 0.01), (1, 0.05), (2, 0.2)])
def test_correlated_patterns_of_three_units_against_monte_carlo(seed, distance):
    instance, weights = problem(3, 12, 60)
    sampled = committee_solution_fraction(instance, weights, distance=distance, draws=20_000, seed=seed)
    found = solve(instance, weights, [distance])
    assert abs(found.entropy[0] - sampled.entropy) < 3.5 * sampled.error


@pytest.fixture(scope="module")
def images():
    return dress_coat_committee(read_embedded("dress_coat", DATA), 9)


def images_and_monte_carlo(images, solution, distances):
    assert solution.solved
    found = committee_local_entropy(images, solution.weights, distances=distances, tolerance=1e-4)
    assert found.converged.all()
    for distance, entropy in zip(found.distance, found.entropy, strict=True):
        sampled = committee_solution_fraction(images, solution.weights, distance=distance, draws=20_000, seed=0)
        yield entropy, sampled.entropy, sampled.error


@pytest.mark.slow
def test_images_around_alike_units_against_monte_carlo(images):
    solution = committee_entropic_least_action(images, seed=0, learning_rate=2e-3, coupling=30.0, coupling_growth=5e-3)
    for entropy, mean, error in images_and_monte_carlo(images, solution, [0.002, 0.005, 0.01]):
        assert abs(entropy - mean) < 3.5 * error


@pytest.mark.slow
def test_images_around_a_slow_descent_show_the_approximation(images):
    """Taking the units as independent on a pattern makes EP too low, by up to a sixth: here 15 ± 2 %."""
    schedule = Schedule(
        learning_rate=3e-5, gamma=0.5, gamma_growth=1e-3, beta=0.5, beta_growth=1e-3, stop="loss", epochs=6000
    )
    for entropy, mean, error in images_and_monte_carlo(
        images, committee_sgd(images, seed=0, schedule=schedule), [0.01]
    ):
        assert 1 - 3 * error / abs(mean) < entropy / mean < 1.17 + 3 * error / abs(mean)


@pytest.mark.slow
def test_far_from_solutions_on_images_all_points_converge(images):
    """Plain updates alternate there around solutions of least-action learning."""
    solution = committee_least_action(images, seed=0, learning_rate=1e-4)
    found = committee_local_entropy(images, solution.weights, distances=[0.02, 0.1, 0.15, 0.25], tolerance=1e-4)
    assert found.converged.all() and np.all(found.iterations < 60)
    assert np.all(np.diff(found.entropy) < 0)


def test_a_reference_far_from_a_solution_has_no_entropy():
    random = np.random.default_rng(0)
    patterns = random.choice(np.array([-1, 1], np.int8), (20, 600))
    both = Instance(np.concatenate([patterns, -patterns]), np.ones(40, np.int8), 0)  # no machine is right on all
    found = solve(TreeCommittee(both, 3), random.standard_normal((3, 200)), [1e-6, 1e-5], max_iterations=20)
    assert not found.converged.any() and np.isnan(found.entropy).all()
    assert np.all(found.iterations > 0)


def test_without_convergence_there_is_no_number():
    instance, weights = problem(3, 20, 30)
    found = solve(instance, weights, [0.1, 0.2], max_iterations=2)
    assert np.isnan(found.entropy).all() and not found.converged.any()
    assert np.all(found.residual > 1e-4) and found.iterations.tolist() == [2, 2]
