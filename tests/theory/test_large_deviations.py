"""Local entropy of groups of y solutions: the free entropy as it is written on grids, limits, exact counts."""

import itertools
import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.jets import variables
from localentropy.numerics.saddle_point import evaluate, solve
from localentropy.theory import Perceptron, RandomFeatures, TeacherStudent, TreeCommittee, alpha_c, franz_parisi
from localentropy.theory.around_teacher import TaughtStudents
from localentropy.theory.franz_parisi_entropy import binary_entropy
from localentropy.theory.large_deviations import FIELD, LOGIT_DISTANCE, NAMES, RATIO, LargeDeviations
from localentropy.theory.local_entropies import (
    ZERO_EXTERNAL_ENTROPY,
    BestReferences,
    Groups,
    alpha_u,
    at_ratio,
    local_entropy,
    logit,
)
from localentropy.theory.typical_solutions import typical_point
from tests.enumeration import all_signs, limits, solving, transformed
from tests.finite_differences import five_point_slope, five_points, slope_at, slopes_of_jet

MODELS = {
    "perceptron": Perceptron(0.7, 0.0),
    "negative margin": Perceptron(0.8, -0.2),
    "teacher": TeacherStudent(0.9, 0.1),
    "sign": TreeCommittee(0.6, 0.1, "sign"),
    "relu": TreeCommittee(0.6, 0.0, "relu"),
    "features": RandomFeatures(3.0, 1.5, 0.1, "sign"),
}
TWIN_Y = (3.0, 20.0)


def jet_of(problem, coordinates, controls):
    """The free entropy with its derivatives, inside of its domain."""
    free = evaluate(problem, coordinates, controls)
    assert free is not None
    return free


def gaussian(at):
    """Nodes and weights of a Gaussian average, on panels that end at a place where the integrand bends."""
    t, weight = np.polynomial.legendre.leggauss(40)
    ends = np.unique(np.clip(at + np.array([-30.0, -3.0, -1.0, -0.2, 0.0, 0.2, 1.0, 3.0, 30.0]), -9.0, 9.0))
    length = np.diff(ends)[:, None]
    x = (ends[:-1, None] + 0.5 * length * (1.0 + t)).ravel()
    return x, (0.5 * length * weight).ravel() * norm.pdf(x)


def twin_sites(y, q1_hat, q0_hat, S_hat, r_hat):
    """Twin: the mean over x of ln of the sum over both signs of int Dz (2 cosh)^y."""
    x, w_x = gaussian(-r_hat / math.sqrt(q0_hat))
    shift = y * math.sqrt(q1_hat - q0_hat)
    z, step = np.linspace(-9.0 - shift, 9.0 + shift, 1201, retstep=True)
    field = (math.sqrt(q0_hat) * x[:, None] + r_hat) + math.sqrt(q1_hat - q0_hat) * z
    both = [
        logsumexp(y * np.logaddexp(h, -h) + norm.logpdf(z), axis=1) + math.log(step)
        for h in (field + S_hat, field - S_hat)
    ]
    return float(w_x @ np.logaddexp(*both))


def twin_patterns(y, C1, C0, free, R, margin):
    """Twin: the mean over what all students share of ln int Dz H^y; a teacher's weight is 2 H."""
    Q0, Q1 = C0 + R * R, C1 + R * R
    x, w_x = gaussian(margin / math.sqrt(Q0))
    z, step = np.linspace(-9.0 - 3.0 * math.sqrt(y), 9.0 + 5.0 * math.sqrt(y), 1201, retstep=True)
    omega = math.sqrt(Q0) * x[:, None] + math.sqrt(Q1 - Q0) * z
    inner = logsumexp(y * log_ndtr((omega - margin) / math.sqrt(free)) + norm.logpdf(z), axis=1) + math.log(step)
    return float((w_x * 2.0 * ndtr(R * x / math.sqrt(C0))) @ inner)


def twin_latent(y, q1, q0, p_d, p1, p0, r):
    """Twin: the latent sites of `overparam` in groups, with the conjugates that make it stationary; over y."""

    def inverse(free, spread, common):
        between = -common / spread**2
        return between, between + (1.0 / spread - 1.0 / free) / y

    free, spread = p_d - p1, p_d - p1 + y * (p1 - p0)
    p0_hat, p1_hat = (
        prior - tilted
        for prior, tilted in zip(
            inverse(1.0 - q1, 1.0 - q1 + y * (q1 - q0), q0), inverse(free, spread, p0 - r * r), strict=True
        )
    )
    p_d_hat = 1.0 / free - 1.0 / (1.0 - q1) - p1_hat
    r_hat = r / spread
    A, v = p1_hat + p_d_hat, 1.0 - q1
    M = 1.0 + A * v
    # ln int ds of a student is a quadratic form of its group's (t', z'), which is integrated, and of (t, z), averaged.
    a, b = math.sqrt(q0), math.sqrt(q1 - q0)
    c, d = math.sqrt(max(p0_hat, 0.0)), math.sqrt(p1_hat - p0_hat)
    m = np.array([a, 0.0, b, 0.0])
    B = np.array([0.0, c, 0.0, d])
    form = (v * np.outer(B, B) + np.outer(B, m) + np.outer(m, B) - A * np.outer(m, m)) / (2.0 * M)
    line = (2.0 * v * r_hat * B + 2.0 * r_hat * m) / (2.0 * M)
    constant = -0.5 * math.log(M) + r_hat**2 * v / (2.0 * M)
    K = np.eye(2) - 2.0 * y * form[2:, 2:]
    inner = np.linalg.inv(K)
    source = 2.0 * y * form[2:, :2]
    G = y * constant - 0.5 * math.log(np.linalg.det(K)) + y * np.trace(form[:2, :2])
    G += 0.5 * np.trace(source.T @ inner @ source) + 0.5 * (y * line[2:]) @ inner @ (y * line[2:])
    conjugates = 0.5 * p_d_hat * p_d - 0.5 * (y - 1.0) * p1_hat * p1 + 0.5 * y * p0_hat * p0 - r_hat * r
    return conjugates + G / y


def twin(model, order, y, S):
    """Twin: Psi(y, S) as it is written, from q0_hat, q1_hat, q0, q1, S_hat and what the model adds."""
    q0_hat, q1_hat, q0, q1, S_hat, *own = order
    r_hat = own[0] if isinstance(model, TeacherStudent) else 0.0
    psi = -0.5 * y * q1_hat - 0.5 * y * (y - 1.0) * q1_hat * q1 + 0.5 * y * y * q0_hat * q0 - y * S_hat * S
    psi += twin_sites(y, q1_hat, q0_hat, S_hat, r_hat)
    C1, C0, free, R = q1, q0, 1.0 - q1, 0.0
    if isinstance(model, TeacherStudent):
        R = own[1]
        psi -= y * r_hat * R
        C1, C0 = q1 - R * R, q0 - R * R
    elif isinstance(model, TreeCommittee):
        C1, C0 = (model.units.covariance(variables([q])[0]).value for q in (q1, q0))
        free = 1.0 - C1
    elif isinstance(model, RandomFeatures):
        p_d, p1, p0, r = own
        psi += y * model.alpha / model.alpha_T * twin_latent(y, q1, q0, p_d, p1, p0, r)
        square, noise = model.moments.mu_1**2, model.moments.mu_star_squared
        C1, C0 = noise * q1 + square * (p1 - r * r), noise * q0 + square * (p0 - r * r)
        free, R = noise * (1.0 - q1) + square * (p_d - p1), model.moments.mu_1 * r
    return psi + model.alpha * twin_patterns(y, C1, C0, free, R, model.margin)


def written(problem, coordinates):
    """The order parameters of `twin` at coordinates; without a reference there is no field."""
    x = problem.order_parameters(coordinates)
    epsilon, q0, own = x.epsilon.value, x.q.value, []
    split = epsilon * x.delta.value
    if isinstance(problem.model, TeacherStudent):
        own = [x.latent.r_hat.value, x.latent.r.value]
    if isinstance(problem.model, RandomFeatures):
        u = x.latent
        free = x.v.value * math.exp(u.log_narrowing.value)
        spread = (x.v.value + x.delta.value) * math.exp(u.log_spread.value)
        p0 = u.c.value + u.r.value**2
        p1 = p0 + epsilon * (spread - free)
        own = [p1 + free, p1, p0, u.r.value]
    q_hat, field = x.q_hat.value, 0.0 if x.field is None else x.field.value
    return np.array([q_hat, q_hat + epsilon * x.delta_hat.value, q0, q0 + split, field, *own])


def assert_derivatives(problem, coordinates, atol):
    """Gradient and Hessian, by coordinates and controls, are those of the value; of the Hessian, within `atol`."""
    here, n = np.concatenate([coordinates, problem.controls()]), len(coordinates)
    rows = slice(None, len(here) - (problem.epsilon == 0.0))  # second derivatives by epsilon are left out at 0
    free = jet_of(problem, coordinates, here[n:])
    for index in range(len(here))[rows]:
        slope, bends = slopes_of_jet(lambda place: jet_of(problem, place[:n], place[n:]), here, 1e-3, index)
        assert free.gradient[index] == pytest.approx(slope, abs=1e-9)
        np.testing.assert_allclose(free.hessian[index][rows], bends[rows], atol=atol)


def limit(y, powers, values):
    """The value at infinitely many replicas, where corrections are in these powers of 1/y."""
    return np.linalg.solve(np.stack([np.ones(len(y)), *(y**-power for power in powers)], 1), values)[0]


@lru_cache
def solved(name, y, distance=0.06):
    """A problem and its solution."""
    groups = Groups(BestReferences(MODELS[name]), 1.0 / y)
    groups.at(distance)
    problem = groups.problem(logit(distance))
    return problem, groups._arms[False].point


@pytest.mark.parametrize("y", TWIN_Y)
@pytest.mark.parametrize("name", MODELS)
def test_free_entropy_as_it_is_written(name, y):
    """At the solution, Psi has the value of its twin, which is stationary there in every order parameter."""
    problem, point = solved(name, y)
    order, S = written(problem, point.coordinates), 1 - 2 * 0.06
    assert y * point.value == pytest.approx(twin(problem.model, order, y, S), abs=2e-10 * y)
    for index in range(len(order)):
        step = 1e-3 * min(abs(order[index]), 1.0, 5.0 * (order[3] - order[2]))
        assert abs(slope_at(lambda at: twin(problem.model, at, y, S), order, step, index)) < 1e-6 * y**2, index


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_derivatives(name, epsilon):
    """Beside the solution."""
    problem, point = solved(name, 5.0)
    problem = LargeDeviations(problem.model, problem.logit_distance, epsilon, central=True)
    assert_derivatives(problem, point.coordinates + 0.1, atol=2e-8)


@pytest.mark.parametrize("name", MODELS)
def test_all_references_each_with_one_solution(name):
    """y = 1: the sum over references is the number of solutions times that of references beside each."""
    model, distances = MODELS[name], [0.2, 0.3, 0.45, 0.5]
    found = local_entropy(model, distances, 1)
    total = found["entropy"] + found["external_entropy"]
    np.testing.assert_allclose(total, typical_point(model).value + binary_entropy(distances), atol=1e-9)
    np.testing.assert_allclose(found["slope"][3], 0.0)


@pytest.mark.parametrize("name", MODELS)
def test_infinitely_many_replicas_are_the_limit(name):
    """Entropy: corrections in 1/y^2 and 1/y^3; external entropy: in 1/y and 1/y^2."""
    best = local_entropy(MODELS[name], 0.06).iloc[0]
    replicas = np.array([200.0, 400.0, 800.0])
    found = [local_entropy(MODELS[name], 0.06, y).iloc[0] for y in replicas]
    entropies = [row["entropy"] for row in found]
    assert limit(replicas, (2, 3), entropies) == pytest.approx(best["entropy"], abs=2e-9)
    external = limit(replicas, (1, 2), [row["external_entropy"] for row in found])
    assert external == pytest.approx(best["external_entropy"], abs=2e-5)
    # Without a correction, it would not be.
    assert abs(entropies[0] - best["entropy"]) > 1e-6


@pytest.mark.parametrize(
    ("replicas", "distance"), [(math.inf, 0.06), (1, 0.3), (6, 0.06), (ZERO_EXTERNAL_ENTROPY, 0.06)]
)
@pytest.mark.parametrize("name", MODELS)
def test_slope(name, replicas, distance):
    step = 1e-3
    around = local_entropy(MODELS[name], five_points(distance, step), replicas)
    slope = local_entropy(MODELS[name], distance, replicas)["slope"][0]
    assert slope == pytest.approx(five_point_slope(around["entropy"].to_numpy(), step), abs=2e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.15, 0.7])
@pytest.mark.parametrize("name", MODELS)
def test_twice_the_nodes(name, epsilon):
    """At random points around solutions, integrals are exact to 1e-11."""
    model, stream = MODELS[name], np.random.default_rng(5)
    best = BestReferences(model)
    for distance in (0.03, 0.08, 0.95 * best.widest):
        point = best.point(distance)
        assert point is not None
        coordinates = point.coordinates + 0.3 * stream.standard_normal(len(NAMES + model.weights.group_names))
        coordinates[FIELD] = abs(coordinates[FIELD])
        problems = [LargeDeviations(model, logit(distance), epsilon, finer=finer) for finer in (1, 2)]
        once, twice = (jet_of(problem, coordinates, problem.controls()) for problem in problems)
        assert once.value == pytest.approx(twice.value, abs=1e-11)
        np.testing.assert_allclose(once.gradient, twice.gradient, atol=1e-10)


def test_numbers_of_independent_calculations():
    """Loads and distances known to three digits, and the y where the external entropy vanishes."""
    storage, planted = alpha_u(Perceptron(1.0, 0.0)), alpha_u(TeacherStudent(1.0, 0.0))
    assert (storage.alpha, storage.distance) == (pytest.approx(0.7553, abs=5e-5), pytest.approx(0.021, abs=1e-3))
    assert planted.alpha == pytest.approx(1.087, abs=1e-3)
    found = local_entropy(MODELS["perceptron"], 0.03, ZERO_EXTERNAL_ENTROPY).iloc[0]
    assert found["replicas"] == pytest.approx(8.3, abs=0.05)
    assert abs(found["external_entropy"]) < 1e-12


@pytest.mark.parametrize(
    "model",
    [
        MODELS["perceptron"],
        MODELS["relu"],
        MODELS["features"],
        Perceptron(margin=-2.5),
        Perceptron(margin=3.0),
        TreeCommittee(margin=-1.5),
        TeacherStudent(margin=2.5),
        RandomFeatures(3.0, margin=-0.7, activation="tanh"),
    ],
    ids=repr,
)
def test_slope_touches_zero_at_the_threshold(model):
    """Below it, the slope is positive at every distance; above it, not beside the place of the tangent."""
    found = alpha_u(model)
    around = found.distance * np.linspace(0.6, 1.5, 19)
    below, above = (
        local_entropy(model.at(alpha=factor * found.alpha), around)["slope"].min() for factor in (0.9999, 1.0001)
    )
    at = local_entropy(model.at(alpha=found.alpha), found.distance).iloc[0]
    assert below > 0 > above
    assert abs(at["slope"]) < 1e-7
    assert (at["entropy"], at["external_entropy"]) == pytest.approx((found.entropy, found.external_entropy), abs=1e-7)


@pytest.mark.parametrize(
    ("model", "load", "distance", "replicas"),
    [
        (Perceptron(), 0.7665301, 0.0419665, 15.38913),
        (TreeCommittee(activation="relu"), 0.8043346, 0.0672422, 26.4552),
        pytest.param(TreeCommittee(), 0.6681201, 0.0022286, 13.63786, marks=pytest.mark.slow),
        pytest.param(Perceptron(margin=-0.2), 0.9932202, 0.0470002, 16.57433, marks=pytest.mark.slow),
        pytest.param(Perceptron(margin=0.5), 0.4265564, 0.0306955, 12.76971, marks=pytest.mark.slow),  # followed
        pytest.param(TeacherStudent(), 1.1074489, 0.0352049, 17.14523, marks=pytest.mark.slow),
        pytest.param(RandomFeatures(3.0), 1.0490014, 0.0381051, 12.95096, marks=pytest.mark.slow),
    ],
)
def test_the_curve_at_zero_external_entropy_has_a_gap_above_the_threshold(model, load, distance, replicas):
    """Along the curve of one load the distance falls with ln delta/v; above the threshold not everywhere.

    So a distance in the gap has three states, each of which is a stationary point with zero external entropy. For
    committees of signs the gap is at a small distance, and at loads where the best references still have none.
    """
    found = alpha_u(model, ZERO_EXTERNAL_ENTROPY)
    assert found[:2] == pytest.approx((load, distance), abs=2e-7)
    assert found.replicas == pytest.approx(replicas, abs=2e-4)
    assert found.alpha < alpha_c(model)
    assert (alpha_u(model).alpha < found.alpha) == (found.distance > 0.01)
    for factor, falls in ((1 - 4e-5, True), (1 + 4e-5, False)):
        at = model.at(alpha=factor * found.alpha)
        start = Groups(BestReferences(at), None).point(1.05 * found.distance)
        assert start is not None
        problem = LargeDeviations(at, 0.0, None, central=True)
        state = np.append(start.coordinates, [logit(1.05 * found.distance), math.log(at.alpha)])
        states = [state := at_ratio(problem, state, LOGIT_DISTANCE, state[RATIO] + 0.01)[0] for _ in range(90)]
        positions = np.array([state[-2] for state in states])
        turns = np.flatnonzero(np.diff(np.sign(np.diff(positions)))) + 1
        assert len(turns) == (0 if falls else 2)
    middle = positions[turns].mean()
    gap = LargeDeviations(at, middle, None)
    parts = zip(np.split(positions, turns), np.split(np.array(states), turns), strict=True)
    ratios = [solve(gap, part[np.abs(along - middle).argmin(), :-2]).coordinates[RATIO] for along, part in parts]
    assert min(np.diff(ratios)) > 0.02


def test_features_of_a_wide_latent_space_are_random_patterns():
    distances = [0.03, 0.1]
    for replicas in (math.inf, 5):
        random = local_entropy(Perceptron(0.6, 0.1), distances, replicas)
        errors = [
            (local_entropy(RandomFeatures(alpha_T, 1 / 0.6, 0.1, "sign"), distances, replicas) - random)["entropy"]
            for alpha_T in (1e-4, 1e-5)
        ]
        np.testing.assert_allclose(errors[0], 10 * errors[1], rtol=2e-3)


def test_a_committee_of_identities_is_a_perceptron():
    committee = TreeCommittee(0.6, 0.1, "identity")
    for replicas in (math.inf, 5):
        expected = local_entropy(Perceptron(0.6, 0.1), [0.03, 0.1], replicas)
        np.testing.assert_allclose(local_entropy(committee, [0.03, 0.1], replicas), expected, atol=1e-8)


def test_beyond_the_distance_of_typical_solutions():
    """The curve at y = infinity reaches the entropy of typical solutions with a horizontal tangent, and stays there."""
    widest = BestReferences(MODELS["perceptron"]).widest
    found = local_entropy(MODELS["perceptron"], [widest * (1 - 1e-3), widest * (1 + 1e-3), 0.3, 0.5])
    entropy = typical_point(MODELS["perceptron"]).value
    np.testing.assert_allclose(found["entropy"][1:], entropy)
    assert 0 < entropy - found["entropy"][0] < 1e-6
    assert found["external_entropy"][0] < 0 < found["external_entropy"][1]
    assert found["external_entropy"][3] == pytest.approx(math.log(2))
    many = local_entropy(MODELS["perceptron"], 0.3, 1e3).iloc[0]
    assert many["entropy"] == pytest.approx(entropy, abs=1e-6)
    assert many["external_entropy"] == pytest.approx(found["external_entropy"][2], abs=1e-3)


def test_all_configurations_around_the_best_references_solve_near_them():
    found = local_entropy(Perceptron(0.3, 0.0), [0.001, 0.005])
    np.testing.assert_allclose(found["entropy"], binary_entropy([0.001, 0.005]), atol=1e-9)
    assert found["residual"].max() < 1e-9
    assert found["external_entropy"].isna()[0]


@pytest.mark.parametrize("model", [Perceptron(0.5, -2.0), Perceptron(0.1, -1.5), TeacherStudent(2.0, -0.5)])
def test_a_curve_is_the_same_by_any_steps(model):
    """Where nearly all configurations solve, rounding is larger than what is missing."""
    distances = np.geomspace(1e-4, 0.2, 12)
    found = local_entropy(model, distances)
    alone = [local_entropy(model, distance)["entropy"][0] for distance in distances]
    np.testing.assert_allclose(found["entropy"], alone, rtol=0.0, atol=3e-8)
    assert (found["entropy"] < binary_entropy(distances) + 1e-10).all()


def test_the_teacher_becomes_the_best_reference_at_small_distances():
    """The curve comes down to that of students of the teacher, which never is above it."""
    curve = BestReferences(TeacherStudent(2.0, -1.0))
    students = TaughtStudents(curve.model, curve.typical.coordinates)
    above = [curve.at(d).entropy - students.at(d).entropy for d in (0.06, 0.05, 0.04, 0.03)]
    assert above[0] < 1e-5 and all(0 < later < 0.2 * sooner for sooner, later in itertools.pairwise(above))
    assert curve.at(0.01).external_entropy == 0.0


@pytest.mark.parametrize("model", [TeacherStudent(10.0, -0.5), TeacherStudent(100.0, -0.2)])
def test_around_the_teacher(model):
    """From typical solutions, where the slope is 0, to students who share nothing but the teacher, by an integral."""
    curve = BestReferences(model)
    assert curve.taught
    below = curve.at(curve.widest * (1.0 - 1e-9))
    assert below.entropy == pytest.approx(curve.typical.value, abs=1e-12)
    assert below.slope == pytest.approx(0.0, abs=1e-6)
    students = TaughtStudents(model, curve.typical.coordinates)
    for distance in (0.4 * curve.widest, 2e-4):
        row, S = students.at(distance), 1.0 - 2.0 * distance
        step = 1e-3 * distance
        values = [students.at(distance + k * step).entropy for k in (-2, -1, 1, 2)]
        assert row.slope == pytest.approx(five_point_slope(values, step), rel=1e-6)
    written = quad(lambda z: 2.0 * norm.pdf(z) * log_ndtr((S * z - model.margin) / math.sqrt(1.0 - S * S)), 0.0, 9.0)
    assert row.entropy == pytest.approx(binary_entropy(distance) + model.alpha * written[0], abs=1e-10)
    with pytest.raises(ConvergenceError, match=r"^local entropy of groups around the teacher"):
        local_entropy(model, 2e-4, 5.0)


def test_at_zero_external_entropy_the_teacher_exists_too():
    """Where fewer solutions are around the other references, and where y is large on the way only."""
    model = TeacherStudent(1.5, -0.2)
    found = local_entropy(model, [0.1, 0.02], ZERO_EXTERNAL_ENTROPY)
    students = TaughtStudents(model, typical_point(model).coordinates)
    assert found["entropy"][1] == pytest.approx(students.at(0.02).entropy, abs=1e-12)
    assert students.at(0.1).entropy < found["entropy"][0] and found["replicas"][0] < math.inf
    later = local_entropy(TeacherStudent(2.0, -0.3), 0.03, ZERO_EXTERNAL_ENTROPY).iloc[0]
    assert 1e3 < later["replicas"] < 1e4 and abs(later["external_entropy"]) < 1e-20


@pytest.mark.parametrize("margin", [-1.989, -1.144])
def test_curves_start_at_every_load(margin):
    """At negative margins and loads from few patterns to many, from a first point near that of typical solutions."""
    for alpha in (0.05, 0.2, 0.6, 1.5, 4.0, 8.0):
        curve = BestReferences(TeacherStudent(alpha, margin))
        assert curve.taught or 0.9 * curve.widest < curve.first < curve.widest


def test_curves_of_neighbouring_margins():
    """They move smoothly with the margin, where they start at once and where they do not."""
    margins = [-0.7, -0.75, -0.8, -0.85, -0.9, -1.0]
    found = [local_entropy(TeacherStudent(1.0, margin), [0.1, 0.3])["entropy"].to_numpy() for margin in margins]
    fitted = np.polynomial.Polynomial.fit(margins[:2] + margins[3:], [row[0] for row in (found[:2] + found[3:])], 4)
    assert fitted(-0.8) == pytest.approx(found[2][0], abs=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.6,), "distance = 0.6 is out of range: allowed are [0.0001, 0.5]"),
        ((0.1, 0.5), "replicas = 0.5 is out of range: allowed are [1, 10000], math.inf and 'zero external entropy'"),
        (
            (0.1, "zero"),
            "'zero' is not known: allowed are 'zero external entropy', math.inf and [1, 10000]; nearest is 'z",
        ),
        (
            (0.1, "inf"),
            "'inf' is not known: allowed are 'zero external entropy', math.inf and [1, 10000]; nearest is math.",
        ),
        ((0.1, math.nan), "replicas = nan is out of range"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(DomainError) as caught:
        local_entropy(MODELS["perceptron"], *arguments)
    assert message in str(caught.value)


def test_no_solutions():
    with pytest.raises(DomainError, match="is above alpha_c"):
        local_entropy(Perceptron(0.9, 0.0), 0.1)


def test_curves_that_end():
    """Groups of eight near one reference: at small distances this state of them does not exist."""
    groups = Groups(BestReferences(MODELS["perceptron"]), 1 / 8)
    for distance in (9e-4, 3e-4):  # the second time, the place where the curve ended is known
        words = r"^local entropy of groups of 8, whose states may end here, did not converge at distance=0\.00"
        with pytest.raises(ConvergenceError, match=words):
            groups.at(distance)
    words = (
        r"^local_entropy: no solution at distance = 0\.0003: followed from larger distances, the curve of groups of 8, "
        r"whose states may end here, ends at 0\.00\d+ \(residual .*\); unsolved='nan' gives NaN there$"
    )
    with pytest.raises(ConvergenceError, match=words):
        local_entropy(MODELS["perceptron"], 3e-4, 8.0)


def test_unsolved_distances(monkeypatch):
    def fail(*_):
        raise ConvergenceError("local entropy", {"distance": 0.01}, 0.5)

    monkeypatch.setattr(BestReferences, "at", fail)
    with pytest.raises(ConvergenceError):
        local_entropy(MODELS["perceptron"], 0.01)
    found = local_entropy(MODELS["perceptron"], 0.01, unsolved="nan")
    assert found["entropy"].isna().all()
    assert found["residual"][0] == 0.5


ALPHA, DISTANCE = 0.4, 0.2
POWERS = (2, 4)


def counted(N, shell, stream):
    """ln Z / N of one training set; ln of sums of powers of the numbers of solutions at a distance, the largest one.

    All are over N, and numbers are divided by that of all configurations at the distance.
    """
    solutions = solving(N, round(ALPHA * N), stream)
    if not solutions.any():
        return None
    counts = np.rint(transformed(transformed(solutions) * shell) / len(shell))
    logarithms = np.log(counts[counts > 0]) - math.log(math.comb(N, round(DISTANCE * N)))
    sums = [np.logaddexp.reduce(y * logarithms) for y in POWERS]
    return np.array([math.log(solutions.sum()), *sums, logarithms.max()]) / N


@pytest.mark.parametrize(
    "samples", [{10: 1500, 15: 200}, pytest.param({10: 3000, 15: 1000, 20: 60}, marks=pytest.mark.slow)]
)
def test_enumeration(samples):
    """All references and all solutions of small systems: theory lies between limits in 1/N and in 1/N^2."""
    stream = np.random.default_rng(2107)
    means, errors = [], []
    for N, number in samples.items():
        flips = (all_signs(N) < 0).sum(1) if N < 20 else np.array([i.bit_count() for i in range(2**N)])
        shell = transformed(flips == round(DISTANCE * N))
        drawn = (counted(N, shell, stream) for _ in range(number))
        values = np.array([numbers for numbers in drawn if numbers is not None])
        assert len(values) > 0.99 * number, "samples with solutions are not typical"
        control, values = values[:, 0] - typical_point(Perceptron(ALPHA, 0.0)).value, values[:, 1:]
        # A sample's luck is common to all its numbers.
        values = values - np.outer(control, [np.polyfit(control, column, 1)[0] for column in values.T])
        means.append(values.mean(0))
        errors.append(values.std(0) / math.sqrt(len(values)))
    model, free = Perceptron(ALPHA, 0.0), float(binary_entropy(DISTANCE))
    rows = [local_entropy(model, DISTANCE, y).iloc[0] for y in (*POWERS, ZERO_EXTERNAL_ENTROPY)]
    theory = [y * (row["entropy"] - free) + row["external_entropy"] for y, row in zip((*POWERS, 1), rows, strict=True)]
    for right, *of_sizes in zip(theory, np.transpose(means), np.transpose(errors), strict=True):
        low, high, error = limits(samples, *of_sizes)
        assert max(low - right, right - high) < 3 * error


def test_finite_numbers_of_replicas_have_no_threshold():
    with pytest.raises(DomainError, match=r"^replicas = 7: allowed are math.inf and 'zero external entropy'$"):
        alpha_u(Perceptron(), 7)


def test_thresholds_are_searched_where_this_was_tried():
    with pytest.raises(DomainError, match=r"^margin = 30 is out of range: allowed are \[-2.5, 3\]$"):
        alpha_u(TreeCommittee(margin=30.0, activation="relu"))


@pytest.mark.parametrize("model", [Perceptron(20.0, -2.0), Perceptron(0.01, 5.0), RandomFeatures(3.0, 100.0, 3.0)])
def test_curves_start_at_large_margins_of_both_signs(model):
    """Around a best reference there are at least as many solutions as around a typical one, at most all weights."""
    distances = [0.01, 0.05, 0.2]
    found = local_entropy(model, distances)["entropy"].to_numpy()
    assert (found > franz_parisi(model, distances)["entropy"].to_numpy() - 1e-12).all()
    assert (found < binary_entropy(np.array(distances)) + 1e-12).all()
