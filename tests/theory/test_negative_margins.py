"""Binary weights that may miss a pattern by a little: a margin below 0."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.instances.perceptron import Instance, random_patterns
from localentropy.solvers.binary.constrained_bp import constrained_bp
from localentropy.theory import (
    Perceptron,
    RandomFeatures,
    TeacherStudent,
    TreeCommittee,
    alpha_c,
    around_teacher,
    franz_parisi,
    kappa_max,
    typical,
)
from localentropy.theory.around_teacher import sharing_nothing, without_overlap
from localentropy.theory.typical_solutions import LITTLE_ENTROPY, _beside_teacher, typical_point
from tests.enumeration import all_signs
from tests.solvers.test_constraints import AtLeast

Z = np.linspace(-9, 9, 4001)
WEIGHT = norm.pdf(Z) * (Z[1] - Z[0])


def written(alpha, margin, overlap=lambda q: q):
    """Entropy of the written saddle point on a plain grid, from no overlap; the pattern sees the overlap's function."""

    def pattern(q):
        common = overlap(q)
        h = (margin - math.sqrt(common) * Z) / math.sqrt(1 - common)
        return h, np.exp(norm.logpdf(h) - log_ndtr(-h)), (overlap(q + 1e-6) - overlap(q - 1e-6)) / 2e-6 / (1 - common)

    q = 1e-3
    for _ in range(300):
        _, g, slope = pattern(q)
        q_hat = alpha * slope * (WEIGHT @ g**2)
        q, before = WEIGHT @ np.tanh(math.sqrt(q_hat) * Z) ** 2, q
    assert q == pytest.approx(before, abs=1e-10)
    field = math.sqrt(q_hat) * Z
    return -0.5 * q_hat * (1 - q) + WEIGHT @ np.logaddexp(field, -field) + alpha * (
        WEIGHT @ log_ndtr(-pattern(q)[0])
    ), q


@pytest.mark.parametrize(("alpha", "margin"), [(0.5, -0.3), (1.5, -1.0), (5.0, -2.0), (1000.0, -3.5)])
def test_typical_solutions_are_the_written_ones(alpha, margin):
    for model, overlap in (
        (Perceptron, lambda q: q), (TreeCommittee, lambda q: 2 / math.pi * math.asin(q)),
    ):  # fmt: skip
        state, (entropy, q) = typical(model(alpha, margin)), written(alpha, margin, overlap)
        assert state.entropy == pytest.approx(entropy, abs=1e-8)
        assert state.q == pytest.approx(q, abs=1e-7)


@pytest.mark.parametrize("margin", [-0.3, -1.0, -2.0])
def test_the_capacity_is_the_zero_of_the_written_entropy(margin):
    alpha = alpha_c(Perceptron(margin=margin))
    assert alpha == pytest.approx(brentq(lambda a: written(a, margin)[0], 0.9 * alpha, 1.03 * alpha), rel=1e-7)


@pytest.mark.parametrize("margin", [-0.2, -1.0, -3.0])
def test_the_largest_margin_and_the_capacity_are_inverse(margin):
    for model in (Perceptron, TreeCommittee):
        assert kappa_max(model(alpha_c(model(margin=margin)))) == pytest.approx(margin, abs=1e-9)
    load = alpha_c(RandomFeatures(3.0, margin=margin, activation="tanh"))
    assert kappa_max(RandomFeatures(3.0, 1 / load, activation="tanh")) == pytest.approx(margin, abs=1e-9)


def test_a_blind_activation_makes_a_perceptron():
    """Few patterns per latent dimension: no pattern knows of the teacher."""
    found = typical(RandomFeatures(1e-9, 0.5, -1.0)).entropy
    assert found == pytest.approx(typical(Perceptron(2.0, -1.0)).entropy, rel=1e-7)


def test_a_teacher_solves_at_any_load():
    assert alpha_c(TeacherStudent(margin=-0.5)) == math.inf
    states = [typical(TeacherStudent(alpha, -0.5)) for alpha in (0.5, 2.0, 8.0, 50.0)]
    assert all(state.entropy > 0 for state in states)
    assert (np.diff([state.r for state in states]) > 0).all() and states[-1].r > 0.98
    with pytest.raises(DomainError, match="there are no solutions but the teacher"):
        kappa_max(TeacherStudent(2.0))


@pytest.mark.parametrize("alpha", [1.5, 2.0, 10.0])
def test_next_to_a_teacher_there_are_solutions_of_any_negative_margin(alpha):
    states = [typical(TeacherStudent(alpha, margin)) for margin in (-0.2, -0.1, -0.05, -0.02, -0.005)]
    assert all(state.entropy > 0 for state in states)
    assert (np.diff([state.entropy for state in states]) < 0).all() and states[-1].r > 0.9999


def test_of_two_states_the_one_with_more_solutions_is_typical():
    both = TeacherStudent(1.7, -0.15)
    far, beside = typical(both), typical(TeacherStudent(1.7, -0.1))
    assert 0.95 * far.entropy < _beside_teacher(both).value < far.entropy < LITTLE_ENTROPY
    assert far.r < 0.9 and beside.r > 0.99
    # Found by Newton steps from many starts, without a branch.
    assert (typical(TeacherStudent(2.0, -0.1)).entropy, typical(TeacherStudent(1.5, -0.05)).entropy) == pytest.approx(
        (0.005515, 0.001395), abs=1e-6
    )


@pytest.mark.parametrize(("alpha", "margin"), [(1.5, -1e-12), (1e6, -1e-15)])
def test_solutions_next_to_a_teacher_that_are_not_found_are_an_error_of_their_own(alpha, margin):
    with pytest.raises(ConvergenceError):
        typical(TeacherStudent(alpha, margin))


@pytest.mark.slow
def test_belief_propagation_finds_the_state_next_to_a_teacher():
    """Sums of 501 signs are odd, so a threshold of -8 lies in the middle between two of them."""
    N, alpha, margin = 501, 3.0, -8.0 / math.sqrt(501)
    entropies, overlaps = [], []
    for seed in range(6):
        patterns = random_patterns(N, round(alpha * N), seed).patterns
        teacher = np.where(np.random.default_rng(seed + 9).random(N) < 0.5, 1, -1)
        found = constrained_bp(
            Instance(patterns, np.sign(patterns @ teacher), seed), AtLeast(margin), seed=seed, damping=0.5
        )
        assert found.converged
        entropies.append(found.entropy)
        overlaps.append(found.magnetizations @ teacher / N)
    expected = typical(TeacherStudent(alpha, margin))
    for values, theory in ((entropies, expected.entropy), (overlaps, expected.r)):
        assert abs(np.mean(values) - theory) < 3 * np.std(values, ddof=1) / math.sqrt(6)
    assert np.std(entropies) < 0.004 and np.std(overlaps) < 0.01


def test_enumeration():
    """Mean log number of solutions of small samples, which differ from the limit by terms of order 1 / N."""
    alpha, margin, found = 1.0, -1.0, []
    for N in (9, 17):
        rng, weights = np.random.default_rng(N), all_signs(N)
        counts = [
            ((weights @ rng.standard_normal((N, round(alpha * N))) / math.sqrt(N)) >= margin).all(1).sum()
            for _ in range(120)
        ]
        assert min(counts) > 0
        logs = np.log(counts) / N
        found.append((logs.mean(), logs.std() / math.sqrt(len(logs))))
    limit = typical(Perceptron(alpha, margin)).entropy
    (small, small_error), (large, large_error) = found
    extrapolated = (17 * large - 9 * small) / 8
    error = math.hypot(17 * large_error, 9 * small_error) / 8
    assert abs(extrapolated - limit) < 3.5 * error


def test_surroundings():
    """Solutions of a smaller margin around those of a larger one: positive at all distances, at most all there are."""
    table = franz_parisi(Perceptron(1.0, -0.8), [1e-3, 0.05, 0.3], -0.3)
    assert (table["entropy"] > 0).all() and table["residual"].max() < 1e-8
    d = table["distance"]
    assert (table["entropy"] < -d * np.log(d) - (1 - d) * np.log1p(-d)).all()
    largest = franz_parisi(Perceptron(1.0, -0.8), [0.05])
    assert largest.attrs["margin_ref"] == kappa_max(Perceptron(1.0)) < 0


@pytest.mark.parametrize(("alpha", "margin"), [(16.7, -0.011), (50.0, -0.01), (5.0, -0.02)])
def test_students_who_share_nothing_beyond_the_teacher(alpha, margin):
    """Where the branch still finds them, the integral has the same solutions, to the overlap that it leaves out."""
    model = TeacherStudent(alpha, margin)
    branch, found = _beside_teacher(model), sharing_nothing(model)
    assert found.residual < 1e-5
    assert found.value == pytest.approx(branch.value, abs=1e-12)
    # The fourth coordinate, the logarithm of what they share, is rounding in the branch.
    np.testing.assert_allclose(found.coordinates[:3], branch.coordinates[:3], rtol=0.0, atol=found.residual + 1e-6)
    assert found.slope(0) == pytest.approx(branch.slope(0), rel=1e-6)  # by ln alpha


def test_solutions_next_to_the_teacher_are_found_at_all_loads():
    """Of these points the branch reaches four of five."""
    stream = np.random.default_rng(3)
    for alpha, margin in zip(np.exp(stream.uniform(0.3, 5.7, 40)), -np.exp(stream.uniform(-7.0, 0.0, 40)), strict=True):
        point = typical_point(TeacherStudent(alpha, margin))
        assert point.value > 0.0 and point.residual < 1e-4


def test_students_who_share_more_are_no_such_solutions():
    with pytest.raises(ConvergenceError, match=r"^solutions next to the teacher"):
        sharing_nothing(TeacherStudent(2.0, -0.5))
    with pytest.raises(ConvergenceError, match=r"^solutions next to the teacher"):
        sharing_nothing(TeacherStudent(0.1, -2.0))


def test_twice_the_nodes_around_the_teacher(monkeypatch):
    stream = np.random.default_rng(0)
    points = np.exp(stream.uniform([-2.0, -7.0, -14.0], [6.0, 1.3, -0.8], (100, 3)))
    found = [without_overlap(TeacherStudent(alpha, -size), distance) for alpha, size, distance in points]
    monkeypatch.setattr(around_teacher, "STABILITIES", 2 * around_teacher.STABILITIES)
    finer = [without_overlap(TeacherStudent(alpha, -size), distance) for alpha, size, distance in points]
    np.testing.assert_allclose(found, finer, rtol=1e-9, atol=1e-12)
