"""Local entropy of committee machines: a slow twin, exact limits, replica theory and direct Monte Carlo."""

import math

import numpy as np
import pytest
from scipy.optimize import fsolve, minimize_scalar
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.instances.committee import TreeCommittee, random_tree_committee, tree_committee, unit_norm
from localentropy.instances.perceptron import Instance
from localentropy.landscape.committee_local_entropy import (
    at_distance,
    committee_local_entropy,
    committee_solution_fraction,
)
from localentropy.solvers.committee.belief_propagation import committee_belief_propagation
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.focusing_kernels import update_weights_at_distance
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.sgd import committee_sgd
from localentropy.theory import Spherical, group_entropy
from tests.enumeration import probability_of_majority
from tests.finite_differences import five_point_curvature, five_point_slope, five_points
from tests.solvers.test_committee_sgd import SLOW


def test_weights_keep_norm_and_overlap_by_their_multipliers():
    random = np.random.default_rng(0)
    K, size, D = 3, 40, 0.07
    S = 1 - 2 * D
    fields = random.standard_normal((K, size)) * [[0.3], [2.0], [9.0]]
    reference = unit_norm(random.standard_normal((K, size))) * math.sqrt(size)
    old = random.standard_normal((K, size))
    for damping in (0.0, 0.4):
        means, variances = old.copy(), np.full(K, 0.5)
        residual = update_weights_at_distance(fields, reference, D, damping, means, variances)
        largest = 0.0
        for field, near, before, mean, variance in zip(fields, reference, old, means, variances, strict=True):

            def excess(unknown, field=field, near=near):
                precision, pull = unknown
                m = (field + pull * near) / precision
                return np.mean(m**2) + 1 / precision - 1, np.mean(m * near) - S

            free = 1 - S**2
            precision, pull = fsolve(excess, (1 / free + np.std(field) / math.sqrt(free), 0.0), xtol=1e-13)
            m = (field + pull * near) / precision
            np.testing.assert_allclose(mean, damping * before + (1 - damping) * m, atol=1e-9)
            assert variance == pytest.approx(damping * 0.5 + (1 - damping) / precision, rel=1e-9)
            largest = max(largest, np.abs(m - before).max() / math.sqrt(free), abs(0.5 * precision - 1))
        assert residual == pytest.approx(largest, rel=1e-9)


def test_overflow_is_noticed():
    means, variances = np.zeros((1, 2)), np.ones(1)
    for field in (np.nan, np.inf, 1e200):
        assert update_weights_at_distance(np.array([[1.0, field]]), np.ones((1, 2)), 0.1, 0.5, means, variances) == (
            math.inf
        )
    assert (means == 0).all() and (variances == 1).all()


def twin(instance, weights, D, rounds=400):
    """The fixed point as the equations are written, pattern answers by finite differences of ln Z.

    Returns:
        Entropy, and its derivative by the overlap S: minus the mean field towards the reference.
    """
    K, size, S = instance.units, instance.inputs_per_unit, 1 - 2 * D
    blocks = (instance.data.patterns * instance.data.labels[:, None]).reshape(-1, K, size) / math.sqrt(size)
    near = weights / np.sqrt(np.mean(weights**2, axis=1, keepdims=True))
    m, v, g, gamma = np.zeros((K, size)), np.ones(K), np.zeros((instance.P, K)), np.zeros((instance.P, K))

    def log_z(omega):
        return np.log(probability_of_majority(norm.cdf(omega / np.sqrt(v))))

    for _ in range(rounds):
        z = np.einsum("pki,ki->pk", blocks, m)
        omega, step = z - v * g, 1e-3 * np.sqrt(v)
        for unit, shift in enumerate(np.diag(step)):
            values = [log_z(place) for place in five_points(omega, shift)]
            first = five_point_slope(values, step[unit])
            second = five_point_curvature(values, log_z(omega), step[unit])
            g[:, unit] += 0.5 * (first - g[:, unit])
            gamma[:, unit] += 0.5 * (-second - gamma[:, unit])
        A = gamma.sum(0) / size
        B = np.einsum("pki,pk->ki", blocks, g) + A[:, None] * m
        along = np.mean(B * near, axis=1)
        across = B - along[:, None] * near
        c = 1 - S**2
        x = (1 + np.sqrt(1 + 4 * c * np.mean(across**2, axis=1))) / (2 * c)
        m, v = S * near + across / x[:, None], 1 / x
    z = np.einsum("pki,ki->pk", blocks, m)
    omega = z - v * g
    patterns = log_z(omega).sum() + ((omega - z) ** 2 / (2 * v)).sum()
    entropy = (0.5 * size * np.log(v / (1 - S**2)).sum() + patterns) / (K * size)
    return entropy, np.mean(S / (1 - S**2) - (S * x - along))


@pytest.fixture(scope="module")
def small():
    instance = random_tree_committee(N=63, P=60, K=3, seed=1)
    return instance, committee_focusing_bp(instance).weights


def test_the_slow_twin_has_the_same_fixed_point(small):
    instance, weights = small
    for D in (0.01, 0.2):
        found = committee_local_entropy(instance, weights, distances=[D], tolerance=1e-10)
        assert found.entropy[0] == pytest.approx(twin(instance, weights, D)[0], abs=1e-8)


def test_the_slope_is_the_field_towards_the_reference(small):
    """The entropy is stationary in all messages, so that only the explicit dependence on S is left."""
    instance, weights = small
    S, step = 0.7, 1e-4
    distances = [(1 - S - step) / 2, (1 - S + step) / 2]
    above, below = committee_local_entropy(instance, weights, distances=distances, tolerance=1e-11).entropy
    assert (above - below) / (2 * step) == pytest.approx(twin(instance, weights, (1 - S) / 2)[1], rel=1e-6)


def test_one_pattern():
    """The part of the weights that solve one pattern, whose pre-activations are Gaussian. Exact up to a part K/N."""
    instance = random_tree_committee(N=30000, P=1, K=3, seed=0)
    weights = np.random.default_rng(0).standard_normal((3, 10000))
    fields = instance.preactivations(unit_norm(weights))[0]
    for D in (0.02, 0.3):
        found = committee_local_entropy(instance, weights, distances=[D])
        exact = math.log(probability_of_majority(norm.cdf((1 - 2 * D) * fields / math.sqrt(4 * D * (1 - D)))))
        assert found.entropy[0] * 30000 == pytest.approx(exact, rel=1e-4)
        assert abs(exact) > 1e-2


def test_orthogonal_to_the_reference_is_the_whole_volume():
    """One condition among N/K = 333, so that the difference is of order K/N."""
    instance = random_tree_committee(N=999, P=1000, K=3, seed=0)
    weights = np.random.default_rng(0).standard_normal((3, 333))
    half = committee_local_entropy(instance, weights, distances=[0.5])
    free = committee_belief_propagation(instance)
    assert half.entropy[0] == pytest.approx(free.entropy, abs=2 * 3 / 999)
    assert half.entropy[0] != free.entropy


def typical_at_distance(alpha, D):
    """Replica theory of K = 3 around weights that know nothing of the patterns.

    The overlap of two solutions is Q = S² + (1 − S²) q, where q is that of their parts orthogonal to the reference; the
    Gaussian averages of reference and solutions join. Without reference it is eq. S.12 of docs/shaping/theory.md.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    grid = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij"), axis=-1)
    measure = np.prod(np.stack(np.meshgrid(weights, weights, weights, indexing="ij")), axis=0) / (2 * math.pi) ** 1.5

    def volume(q):
        Q = (1 - 2 * D) ** 2 + 4 * D * (1 - D) * q
        right = probability_of_majority(norm.cdf(math.sqrt(Q / (1 - Q)) * grid))
        return 0.5 * (math.log(1 - q) + q / (1 - q)) + alpha * np.sum(measure * np.log(right))

    return float(minimize_scalar(volume, bounds=(1e-6, 0.9), method="bounded", options={"xatol": 1e-9}).fun)


def test_around_weights_that_know_nothing_it_is_the_replica_theory():
    found = []
    for seed in range(8):
        instance = random_tree_committee(N=999, P=500, K=3, seed=seed)
        weights = np.random.default_rng(seed).standard_normal((3, 333))
        curve = committee_local_entropy(instance, weights, distances=[0.25, 0.4])
        assert curve.converged.all()
        found.append(curve.entropy)
    for point, D in enumerate((0.25, 0.4)):
        values = np.array(found)[:, point]
        error = values.std(ddof=1) / math.sqrt(8)
        assert error < 0.006
        assert abs(values.mean() - typical_at_distance(500 / 999, D)) < 3 * error


def test_around_focused_solutions_it_is_little_less_than_the_largest():
    """Replica theory of the best group with this overlap, K = 3 (`shaping`, figure 1)."""
    overlaps = np.array([0.9, 0.8, 0.7])
    theory = group_entropy(Spherical(1.0, 3), overlaps)["entropy"].to_numpy()
    found = []
    for seed in range(4):
        instance = random_tree_committee(N=999, P=999, K=3, seed=seed)
        weights = committee_focusing_bp(instance).weights
        found.append(committee_local_entropy(instance, weights, distances=(1 - np.sqrt(overlaps)) / 2).entropy)
    mean = np.mean(found, axis=0)
    assert (mean < theory).all() and (mean > theory - [0.012, 0.025, 0.035]).all()


def test_opposite_weights_are_at_the_opposite_distance(small):
    instance, weights = small
    near = committee_local_entropy(instance, weights, distances=[0.1, 0.3], tolerance=1e-10)
    far = committee_local_entropy(instance, -weights, distances=[0.9, 0.7], tolerance=1e-10)
    np.testing.assert_allclose(far.entropy, near.entropy, rtol=1e-9)


def test_norms_of_the_weights_and_other_distances_do_not_matter(small):
    instance, weights = small
    curve = committee_local_entropy(instance, weights, distances=[0.2, 0.01, 0.05])
    assert curve.converged.all() and (curve.residual <= 1e-6).all()
    np.testing.assert_array_equal(curve.distance, [0.2, 0.01, 0.05])
    assert curve.entropy[0] < curve.entropy[2] < curve.entropy[1] < 0
    for scale in (1e-200, 3.0, 1e200):
        scaled = committee_local_entropy(instance, weights * [[1.0], [scale], [2.0]], distances=[0.05])
        assert scaled.entropy[0] == pytest.approx(curve.entropy[2], rel=1e-10)


def test_near_weights_with_room_errors_are_rare_and_independent(small):
    """There the messages do not move the weights: the entropy is the sum over patterns of the Gaussian probability."""
    instance, weights = small
    fields = instance.preactivations(weights)
    for D in (0.0015, 0.002, 0.003):
        found = committee_local_entropy(instance, weights, distances=[D])
        right = probability_of_majority(norm.cdf((1 - 2 * D) * fields / math.sqrt(4 * D * (1 - D))))
        assert -1e-4 < found.entropy[0] < -1e-11
        assert found.entropy[0] == pytest.approx(np.log(right).sum() / 63, rel=2e-3)
    nearest = committee_local_entropy(instance, weights, distances=[1e-12])
    assert nearest.converged.all() and abs(nearest.entropy[0]) < 1e-15


def test_damping_is_raised_where_it_is_needed():
    instance = random_tree_committee(N=99, P=150, K=3, seed=0)
    weights = committee_focusing_bp(instance).weights
    curve = committee_local_entropy(instance, weights, distances=[0.1, 0.5])
    assert curve.converged.all()
    assert curve.iterations[0] < 1000 < curve.iterations[1]
    once = committee_local_entropy(instance, weights, distances=[0.5], damping=0.65)
    assert once.entropy[0] == pytest.approx(curve.entropy[1], rel=1e-12)


def test_what_does_not_converge_has_no_entropy():
    """Near weights with many errors there is no solution."""
    instance = random_tree_committee(N=99, P=100, K=3, seed=0)
    weights = np.random.default_rng(0).standard_normal((3, 33))
    curve = committee_local_entropy(instance, weights, distances=[0.01, 0.45], max_iterations=300)
    np.testing.assert_array_equal(curve.converged, [False, True])
    np.testing.assert_array_equal(np.isnan(curve.entropy), [True, False])
    assert curve.residual[0] > 1e-6 >= curve.residual[1]


def test_random_weights_are_at_the_distance_in_all_directions():
    random = np.random.default_rng(0)
    reference = random.standard_normal((3, 20))
    drawn = at_distance(reference, 0.1, random.standard_normal((4000, 3, 20)))
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=2), 1, rtol=1e-12)
    near = unit_norm(reference)
    np.testing.assert_allclose((drawn * near).sum(2), 0.8, rtol=1e-12)
    rest = (drawn - 0.8 * near) / 0.6
    for unit in range(3):
        covariance = rest[:, unit].T @ rest[:, unit] / 4000
        expected = (np.eye(20) - np.outer(near[unit], near[unit])) / 19
        np.testing.assert_allclose(covariance, expected, atol=5 * math.sqrt(2) / 20 / math.sqrt(4000))
        assert np.abs(rest[:, unit].mean(0)).max() < 4.5 / math.sqrt(20 * 4000)


def test_the_fraction_is_counted():
    """Against one weight after the other on all patterns."""
    instance = random_tree_committee(N=27, P=20, K=3, seed=0)
    weights = committee_focusing_bp(instance).weights
    found = committee_solution_fraction(instance, weights, distance=0.04, draws=4000, seed=0)
    random = np.random.default_rng(1)
    drawn = at_distance(weights, 0.04, random.standard_normal((4000, 3, 9)))
    right = np.mean([(np.sign(instance.preactivations(one)).sum(1) > 0).all() for one in drawn])
    assert 0.1 < right < 0.9
    assert abs(found.fraction - right) < 4 * math.sqrt(2 * right * (1 - right) / 4000)
    assert found.entropy == pytest.approx(math.log(found.fraction) / 27)
    assert found.error == pytest.approx(math.sqrt((1 - found.fraction) / (4000 * found.fraction)) / 27)


@pytest.fixture(scope="module")
def large():
    instance = random_tree_committee(N=999, P=1000, K=9, seed=0)
    return instance, {
        "wide": committee_focusing_bp(instance).weights,
        "sharp": committee_sgd(instance, seed=0).weights,
    }


@pytest.mark.parametrize(
    ("weights", "distance", "draws"), [("wide", 0.005, 10_000), ("wide", 0.009, 20_000), ("sharp", 0.001, 10_000)]
)
def test_message_passing_is_monte_carlo(large, weights, distance, draws):
    """The statistical errors, about 2 %, are larger than the difference of finite sizes below."""
    instance, solutions = large
    found = committee_local_entropy(instance, solutions[weights], distances=[distance])
    drawn = committee_solution_fraction(instance, solutions[weights], distance=distance, draws=draws, seed=0)
    assert drawn.error < 0.04 * abs(drawn.entropy)
    assert abs(found.entropy[0] - drawn.entropy) < 3.5 * drawn.error


@pytest.mark.slow
def test_five_algorithms_have_the_order_of_the_paper():
    """`shaping`, figure 4: near the solutions focusing BP is the highest, far from them least action is."""
    curves = []
    for seed in (1, 2):
        instance = random_tree_committee(N=999, P=1000, K=9, seed=seed)
        runs = (
            committee_focusing_bp(instance),
            committee_entropic_least_action(instance, seed=seed),
            committee_sgd(instance, seed=seed, schedule=SLOW),
            committee_sgd(instance, seed=seed),
            committee_least_action(instance, seed=seed),
        )
        assert all(run.solved for run in runs)
        found = [committee_local_entropy(instance, run.weights, distances=[0.01, 0.02, 0.05, 0.35]) for run in runs]
        assert all(one.converged.all() for one in found)
        curves.append([one.entropy for one in found])
    near, nearby, further, far = np.mean(curves, axis=0).T
    assert (np.diff(near) < 0).all() and (np.diff(nearby) < 0).all()
    assert near[0] > -0.01 and near[4] < 10 * near[1]
    assert further[4] < 2 * further[:4].min() and far[4] > far[:4].max()


def test_the_difference_of_finite_sizes_is_a_hundredth_of_a_nat_at_every_size():
    """Messages take pre-activations as Gaussian, which on a sphere of few dimensions they are not.

    In the log of the volume, not divided by N, this is the same for 11 inputs per unit as for 37.
    """
    for N, draws in ((99, 100_000), (333, 20_000)):
        instance = random_tree_committee(N=N, P=N, K=9, seed=0)
        weights = committee_focusing_bp(instance).weights
        found = committee_local_entropy(instance, weights, distances=[0.005])
        drawn = committee_solution_fraction(instance, weights, distance=0.005, draws=draws, seed=0)
        assert drawn.error * N < 0.003
        assert -0.03 < (found.entropy[0] - drawn.entropy) * N < 0


def test_fractions_of_nothing_and_everything():
    patterns = np.ones((2, 9), np.int8)
    instance = random_tree_committee(N=9, P=2, K=3, seed=0)
    both = type(instance)(Instance(patterns, np.array([1, -1], np.int8), seed=0), 3)
    none = committee_solution_fraction(both, np.ones((3, 3)), distance=0.1, draws=50, seed=0)
    many = random_tree_committee(N=99, P=2000, K=9, seed=0)  # all draws fail on the first of several parts
    assert committee_solution_fraction(many, np.ones((9, 11)), distance=0.1, draws=50, seed=0).fraction == 0.0
    assert none.fraction == 0 and none.entropy == -math.inf and math.isnan(none.error)
    one = type(instance)(Instance(patterns, np.array([1, 1], np.int8), seed=0), 3)
    every = committee_solution_fraction(one, np.ones((3, 3)), distance=1e-6, draws=50, seed=0)
    assert every.fraction == 1 and every.entropy == 0 and math.isnan(every.error)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"weights": np.ones((9, 3))}, r"weights of shape \(9, 3\): allowed is \(3, 9\)"),
        ({"weights": np.ones(27)}, r"weights of shape \(27,\)"),
        ({"weights": [[1.0] * 9, [1.0] * 9, [1.0]]}, "array of real numbers"),
        ({"weights": 1j * np.ones((3, 9))}, "array of real numbers"),
        ({"weights": np.full((3, 9), np.nan)}, "weights: nan is among them"),
        ({"weights": np.ones((3, 9)) * [[1], [0], [1]]}, "zeros"),
        ({"distances": [0.1, 1.0]}, r"distance = 1 is out of range: allowed are \[1e-15, 0\.999999999999999\]"),
        ({"distances": []}, "no distance"),
        ({"damping": 1.0}, "damping = 1 is out of range"),
        ({"tolerance": 0.0}, "tolerance = 0 is out of range"),
        ({"max_iterations": 0}, "max_iterations = 0"),
        ({"method": "messages"}, "nearest is 'message_passing'"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(wrong, message):
    options = {"weights": np.ones((3, 9)), "distances": [0.1]} | wrong
    with pytest.raises(DomainError, match=message) as error:
        committee_local_entropy(random_tree_committee(N=27, P=5, K=3, seed=0), options.pop("weights"), **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "wrong", [{"distance": 0.0}, {"draws": 0}, {"seed": 0.5}, {"weights": np.ones((3, 8))}, {"distance": [0.1, 0.2]}]
)
def test_wrong_arguments_of_the_fraction_are_refused_in_one_line(wrong):
    options = {"weights": np.ones((3, 9)), "distance": 0.1, "draws": 10, "seed": 0} | wrong
    with pytest.raises(DomainError) as error:
        committee_solution_fraction(random_tree_committee(N=27, P=5, K=3, seed=0), options.pop("weights"), **options)
    assert "\n" not in str(error.value)


def test_own_patterns():
    random = np.random.default_rng(0)
    patterns, labels = random.choice([-1, 1], (2, 20, 27)).astype(np.int8)
    labels = labels[:, 0]
    own = committee_local_entropy(
        TreeCommittee(Instance(patterns, labels, seed=0), 3), np.ones((3, 9)), distances=[0.3]
    )
    flipped = Instance(patterns * labels[:, None], np.ones(20, np.int8), seed=0)
    np.testing.assert_array_equal(
        own.entropy, committee_local_entropy(TreeCommittee(flipped, 3), np.ones((3, 9)), distances=[0.3]).entropy
    )
    for wrong in ((2 * patterns, labels), (patterns, 2 * labels)):
        with pytest.raises(DomainError, match=r"±1|allowed are 1 and -1"):
            Instance(*wrong, seed=0)


def test_units_with_one_input_are_refused():
    instance = random_tree_committee(N=3, P=2, K=3, seed=0)
    with pytest.raises(DomainError, match="inputs_per_unit = 1"):
        committee_local_entropy(instance, np.ones((3, 1)), distances=[0.1])
    with pytest.raises(DomainError, match="inputs_per_unit = 1"):
        committee_solution_fraction(instance, np.ones((3, 1)), distance=0.1, draws=10, seed=0)


def test_instances_of_another_kind_are_refused():
    real = tree_committee(D=5, P=5, N=27, K=3, seed=0, activation="tanh")
    with pytest.raises(DomainError, match="±1"):
        committee_local_entropy(real, np.ones((3, 9)), distances=[0.1])
