"""Spherical tree machines: written integrals, slow twins, limits, thresholds, refusals."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.numerics.quadrature import unit_legendre
from localentropy.theory import (
    Spherical,
    alpha_clustering,
    capacity_rs,
    group_entropy,
    spherical_tree,
    tree_patterns,
    typical,
)

INF = math.inf
Z, WEIGHT = np.polynomial.hermite_e.hermegauss(100)
WEIGHT = WEIGHT / WEIGHT.sum()


def log_majority(t):
    """ln F by the sum over what the units give."""
    p = ndtr(t)
    return math.log(p[0] * p[1] + p[0] * p[2] + p[1] * p[2] - 2 * p[0] * p[1] * p[2])


def log_product(t):
    return math.log(0.5 * (1 + np.prod(2 * ndtr(t) - 1)))


def ordered(x, parity):
    """Permuted, and for the product with signs of two units flipped, into the domain that is integrated over."""
    if not parity:
        return np.sort(x)[::-1].copy()
    size = np.sort(np.abs(x))[::-1]
    size[2] *= np.sign(np.prod(x))
    return size


def averages_of(parity, ratio, delta, nodes):
    return np.array(tree_patterns._three_units(parity, ratio, delta, *unit_legendre(nodes)))


@pytest.mark.parametrize("parity", [False, True])
def test_derivatives_of_the_log_probability(parity):
    function = tree_patterns.product if parity else tree_patterns.majority
    rng, unit = np.random.default_rng(0), 1e-5 * np.eye(3)
    for _ in range(20):
        t = 1.5 * rng.normal(size=3)
        g, bend, beside, unused = np.empty(3), np.empty((3, 3)), np.empty((2, 3)), np.empty((3, 3))
        assert function(t, g, bend) == pytest.approx((log_product if parity else log_majority)(t), rel=1e-11)
        for index in range(3):
            above = function(t + unit[index], beside[0], unused)
            below = function(t - unit[index], beside[1], unused)
            assert g[index] == pytest.approx((above - below) / 2e-5, abs=1e-8)
            assert bend[index] == pytest.approx((beside[0] - beside[1]) / 2e-5, abs=1e-8)


@pytest.mark.parametrize("parity", [False, True])
def test_log_probability_far_from_the_origin(parity):
    """Where the probability or what is missing to 1 is far below the smallest number."""
    function = tree_patterns.product if parity else tree_patterns.majority
    g, bend = np.empty(3), np.empty((3, 3))
    wrong = np.array([60.0, 55.0, -50.0]) if parity else np.array([-50.0, -50.0, -90.0])
    expected = log_ndtr(-50.0) if parity else 2 * log_ndtr(-50.0)
    assert function(wrong, g, bend) == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(g).all() and np.isfinite(bend).all()
    right = np.array([12.0, 11.0, 9.0])
    lost = ndtr(-right)
    expected = lost.sum() if parity else lost[0] * lost[1] + lost[0] * lost[2] + lost[1] * lost[2]
    assert -function(right, g, bend) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("parity", [False, True])
@pytest.mark.parametrize("delta", [-0.6, 0.5, 3.0, 40.0])
def test_highest_maximum_against_many_starts(parity, delta):
    """Twin: a general minimiser from a dense grid of starts; for delta < 0 it is the only stationary point."""
    log_f = log_product if parity else log_majority
    rng = np.random.default_rng(1)
    for _ in range(4):
        x = ordered(1.5 * rng.normal(size=3), parity)

        def loss(t, x=x):
            return 0.5 * np.sum((t - x) ** 2) - delta * log_f(t)

        axis = np.linspace(-2.5, 3.0, 6)
        grid = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
        starts = [x, *sorted(grid, key=loss)[: 12 if delta > 0 else 3]]
        best = min(minimize(loss, start, tol=1e-12).fun for start in starts)
        found, force, _ = tree_patterns.highest(parity, x, delta, np.empty((7, 3)))
        assert found == pytest.approx(-best / delta, abs=1e-8)
        assert force >= 0


@pytest.mark.parametrize("softness", [-12.0, -7.0, -1.0, 0.0, 1.0, 7.0, 30.0, 60.0])
def test_one_unit_moves_as_the_equation_says(softness):
    """t = x + delta g(t), from where t is -1e6 to where g is 1e-27."""
    delta = math.expm1(softness)
    for x in (-8.0, -1.0, -0.1, 0.0, 0.3, 2.0, 8.0):
        t = tree_patterns.single(x, delta)
        if t > -100:  # else g is known better than t + g
            g = math.exp(norm.logpdf(t) - log_ndtr(t))
            assert t - x == pytest.approx(delta * g, rel=1e-6, abs=1e-9)
        else:
            assert (1 + delta) * t - x == pytest.approx(-delta / t, rel=1e-4, abs=1e-4 * abs(x))


def test_domains_are_all_of_space():
    """Where the group does not move, the means are those over independent Gaussians."""
    t = np.stack(np.meshgrid(Z, Z, Z[:50], indexing="ij"))  # the third unit by symmetry
    weight = WEIGHT[:, None, None] * WEIGHT[None, :, None] * WEIGHT[None, None, :50]
    p = ndtr(0.8 * t)
    q = ndtr(-0.8 * t)
    majority = p[0] * p[1] + p[2] * (p[0] * q[1] + q[0] * p[1])
    opposite = q[0] * q[1] + q[2] * (p[0] * q[1] + q[0] * p[1])
    expected = np.sum(weight * (np.log(majority) + np.log(opposite)))
    assert tree_patterns.three_units(False, 0.64, 0.0)[0] == pytest.approx(expected, abs=1e-7)
    product = p[2] * (p[0] * p[1] + q[0] * q[1]) + q[2] * (p[0] * q[1] + q[0] * p[1])
    opposite = q[2] * (p[0] * p[1] + q[0] * q[1]) + p[2] * (p[0] * q[1] + q[0] * p[1])
    expected = np.sum(weight * (np.log(product) + np.log(opposite)))
    assert tree_patterns.three_units(True, 0.64, 0.0)[0] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("parity", [False, True])
def test_averages_by_monte_carlo(parity):
    """Value, force and stiffness over unordered patterns, within four standard errors."""
    function = tree_patterns.product if parity else tree_patterns.majority
    g, bend, rows = np.empty(3), np.empty((3, 3)), []
    for t in math.sqrt(1.5) * np.random.default_rng(2).normal(size=(40_000, 3)):
        rows.append([function(t, g, bend), np.sum(g * g), np.sum(bend * bend)])
    error = np.std(rows, axis=0) / math.sqrt(len(rows))
    assert (abs(np.mean(rows, axis=0) - tree_patterns.three_units(parity, 1.5, 0.0)) < 4 * error).all()
    assert (error < 0.02 * abs(np.mean(rows, axis=0))).all()


@pytest.mark.parametrize("parity", [False, True])
@pytest.mark.parametrize("ratio, delta", [(0.7, -0.3), (2.0, 0.8), (9.0, 4.3), (19.0, 30.0), (99.0, 3000.0)])
def test_twice_the_nodes(parity, ratio, delta):
    once = np.array(tree_patterns.three_units(parity, ratio, delta))
    twice = averages_of(parity, ratio, delta, 2 * (3 + math.ceil(8 * tree_patterns._reach(ratio, 6.0))))
    assert once[0] == pytest.approx(twice[0], abs=3e-6)
    assert once[1] == pytest.approx(twice[1], rel=2e-4)


@pytest.mark.parametrize("parity", [False, True])
def test_mean_value_grows_by_half_the_force(parity):
    """d G_E / d delta = E|g|^2 / 2: the envelope theorem, with the same nodes on both sides."""
    for delta in (-0.4, 0.3, 3.0):
        step = 1e-3
        above, here, below = (averages_of(parity, 1.5, delta + k * step, 40) for k in (1, 0, -1))
        assert (above[0] - below[0]) / (2 * step) == pytest.approx(0.5 * here[1], rel=2e-4)


@pytest.mark.parametrize("parity", [False, True])
@pytest.mark.parametrize("ratio", [0.05, 3.0, 99.0])
def test_the_saddle_point_equation_has_one_solution(parity, ratio):
    """Its right side grows at each node (S.10): a maximum that is not the highest would break this.

    At softness 0 exactly the integral has a wider range, so that its nodes are other ones.
    """
    softness = np.array([-8.0, -4.0, -1.0, -0.3, 1e-9, 0.3, 1.0, 1.5, 2.0, 4.0, 8.0, 14.0, 22.0, 28.0, 36.0, 50.0])
    sides = [2 * s + math.log(averages_of(parity, ratio, math.expm1(s), 13)[1]) for s in softness]
    assert (np.diff(sides) > 0).all()


@pytest.mark.parametrize("units", [1, INF])
@pytest.mark.parametrize("q, alpha", [(0.3, 0.5), (0.7, 1.0), (0.9, 1.9)])
def test_one_integral_as_it_is_written(units, q, alpha):
    """Twin: the maximum over u and the minimum over d_0 by scipy, Gauss-Hermite nodes (S.8, S.15)."""
    shown = q if units == 1 else 2 / math.pi * math.asin(q)
    stretch = 1.0 if units == 1 else 2 / math.pi / math.sqrt(1 - q * q)
    z, weight = np.polynomial.hermite_e.hermegauss(60)
    weight = weight / weight.sum()

    def energy(d_0):
        a = math.sqrt(stretch * d_0 / (1 - shown))
        best = [
            -minimize_scalar(lambda u, x=x: 0.5 * u * u - log_ndtr(a * u + x), tol=1e-10).fun
            for x in math.sqrt(shown / (1 - shown)) * z
        ]
        return q / (2 * (1 - q + d_0)) + alpha * weight @ best

    row = group_entropy(Spherical(alpha, units), q).iloc[0]
    if row.d_0 > 0:
        found = minimize_scalar(lambda y: energy(math.exp(y)), bracket=(-1.0, 1.0), tol=1e-6)
        assert row.entropy == pytest.approx(found.fun, abs=1e-6)
        assert row.d_0 == pytest.approx(math.exp(found.x), rel=1e-2)
        assert row.entropy == pytest.approx(energy(row.d_0), abs=1e-6)
    else:
        assert typical(Spherical(alpha, units)).q > q


@pytest.mark.parametrize("units, machine", [(1, "committee"), (3, "committee"), (INF, "committee"), (3, "parity")])
def test_stationary_and_smallest(units, machine):
    """The saddle point by finite differences of the entropy (S.8) in d_0, on both sides of d_0 = 0."""
    for q, alpha in [(0.3, 1.2), (0.85, 1.2)]:
        row = group_entropy(Spherical(alpha, units, machine), q).iloc[0]
        model = spherical_tree._Machine(float(units), machine == "parity", q)
        softness = math.log1p(row.d_0 / (1 - q))

        def entropy(s, model=model, alpha=alpha):
            return 0.5 * model.ratio * math.exp(-s) + alpha * spherical_tree._averages(model, s)[0]

        h = 0.02
        slope = (entropy(softness + h) - entropy(softness - h)) / (2 * h)
        bend = (entropy(softness + h) + entropy(softness - h) - 2 * entropy(softness)) / h**2
        assert bend > 0
        assert abs(slope) < 0.01 * bend
        assert row.entropy == pytest.approx(entropy(softness), abs=1e-12)
        assert row.residual < 1e-3


@pytest.mark.parametrize("alpha, entropy", [(1.99, -12.66792745), (1.999, -15.03116129)])
def test_small_overlaps_next_to_the_capacity(alpha, entropy):
    """There 1 + d_0 / (1 - q) is far below 1. Eq. S.8 of one unit, computed with 30 digits."""
    row = group_entropy(Spherical(alpha, 1), 0.001).iloc[0]
    assert row.entropy == pytest.approx(entropy, abs=spherical_tree.LARGEST_ERROR) and row.residual < 1e-9


@pytest.mark.parametrize("units", [1, 3, INF])
def test_group_of_typical_solutions(units):
    """d_0 = 0 at the overlap of typical solutions, where the group is what typical solutions are."""
    for alpha in (0.3, 1.0, 1.6):
        solution = typical(Spherical(alpha, units))
        row = group_entropy(Spherical(alpha, units), solution.q).iloc[0]
        assert row.d_0 == pytest.approx(0, abs=1e-7)
        assert row.entropy + 0.5 * math.log(1 - solution.q) == pytest.approx(solution.entropy, abs=1e-7)
        below, above = group_entropy(Spherical(alpha, units), [0.97 * solution.q, 1.03 * solution.q]).d_0
        assert below < 0 < above


def test_overlaps_of_typical_solutions():
    """Values of a derivation that was made elsewhere."""
    for alpha, q in [(1.0, 0.389), (1.5, 0.539), (1.76, 0.608)]:
        assert typical(Spherical(alpha, 3)).q == pytest.approx(q, abs=5e-4)


@pytest.mark.parametrize("alpha, q", [(1.0, 0.95), (1.0, 0.9), (1.0, 0.8), (1.0, 0.7), (1.5, 0.9), (1.5, 0.7)])
def test_committee_against_values_of_another_program(alpha, q):
    expected = {
        (1.0, 0.95): -0.0022, (1.0, 0.9): -0.0268, (1.0, 0.8): -0.1226, (1.0, 0.7): -0.2299,
        (1.5, 0.9): -0.157, (1.5, 0.7): -0.595,
    }  # fmt: skip
    row = group_entropy(Spherical(alpha), q).iloc[0]
    assert row.entropy == pytest.approx(expected[alpha, q], abs=5e-4)
    if (alpha, q) == (1.0, 0.9):
        assert row.pattern_term == pytest.approx(-0.130, abs=5e-4)


def test_parity_is_not_the_annealed_constant():
    table = group_entropy(Spherical(1.0, machine="parity"), [0.3, 0.5, 0.7, 0.8, 0.9])
    assert table.entropy.to_numpy() == pytest.approx([-0.573, -0.433, -0.218, -0.093, -0.0103], abs=5e-4)
    assert table.annealed.to_numpy() == pytest.approx(-math.log(2))
    assert (table.d_0 > 0).all()
    near_zero = group_entropy(Spherical(1.0, machine="parity"), 0.002).entropy[0]
    assert -math.log(2) < near_zero < -0.97 * math.log(2)


@pytest.mark.parametrize("units", [1, 3, INF])
def test_flat_near_overlap_one(units):
    """Below the replica-symmetric capacity the cost of a group vanishes with its size; it grows with the load."""
    for alpha in (0.9, 1.5):
        entropy = group_entropy(Spherical(alpha, units), [0.8, 0.9, 0.99]).entropy.to_numpy()
        assert entropy[0] < entropy[1] < entropy[2] < 1e-15
    if units != 3:  # the same code, a few seconds
        table = group_entropy(Spherical(1.0, units), 0.9999)
        assert (table.entropy[0], table.d_0[0]) == (0.0, INF)
    lighter, heavier = (group_entropy(Spherical(a, units), [0.5, 0.9]).entropy for a in (1.0, 1.2))
    assert (lighter > heavier).all()


def test_gardner():
    """The perceptron: entropy and saddle-point equation as Gardner wrote them, and the capacity 2."""
    for alpha in (0.2, 1.0, 1.7):
        solution = typical(Spherical(alpha, 1))

        def entropy(q, alpha=alpha):
            return 0.5 * (math.log(1 - q) + q / (1 - q)) + alpha * WEIGHT @ log_ndtr(math.sqrt(q / (1 - q)) * Z)

        assert solution.entropy == pytest.approx(entropy(solution.q), abs=1e-7)
        assert solution.entropy == pytest.approx(min(entropy(q) for q in np.linspace(0.01, 0.95, 4000)), abs=1e-6)
        x = math.sqrt(solution.q / (1 - solution.q)) * Z
        force = WEIGHT @ np.exp(2 * norm.logpdf(x) - 2 * log_ndtr(x))
        assert solution.q / (1 - solution.q) == pytest.approx(alpha * force, rel=1e-6)
        assert solution.residual < 1e-8
    assert capacity_rs(Spherical(units=1)) == 2.0
    assert typical(Spherical(1.999, 1)).q > 0.999
    assert typical(Spherical(1.999, 1)).replicon < 1


@pytest.mark.parametrize("units", [1, 3])
def test_capacity_from_small_distances(units):
    """The load at large overlaps, extrapolated, against the closed form."""
    load = [spherical_tree._typical_load(units, math.log(ratio)) for ratio in (100.0, 400.0, 1600.0)]
    # The rest is a power series in 1 / sqrt(ratio), here halved twice.
    first = [2 * load[1] - load[0], 2 * load[2] - load[1]]
    extrapolated = (4 * first[1] - first[0]) / 3
    assert extrapolated == pytest.approx(capacity_rs(Spherical(units=units)), rel=4e-3)


def test_capacities_are_mean_squared_distances():
    v = np.random.default_rng(0).normal(size=(400_000, 3))
    size, wrong = np.sort(np.abs(v), axis=1), (v < 0).sum(axis=1)
    sizes = np.sort(np.where(v < 0, -v, np.inf), axis=1)
    away = np.where(wrong == 2, sizes[:, 0] ** 2, 0.0) + np.where(wrong == 3, (size[:, :2] ** 2).sum(axis=1), 0.0)
    assert abs(away.mean() - 1 / capacity_rs(Spherical(units=3))) < 4 * away.std() / math.sqrt(len(v))
    away = np.where(wrong % 2 == 1, size[:, 0] ** 2, 0.0)
    assert abs(away.mean() - 1 / spherical_tree.rs_capacity(3, True)) < 4 * away.std() / math.sqrt(len(v))


def free_entropy(shared, q1, q0, block):
    """Entropic and pattern term of one step of symmetry breaking, as written in `shaping` (S.3); many units."""
    width = 1 - q1 + block * (q1 - q0)
    entropic = 0.5 * (math.log(1 - q1) + math.log(width / (1 - q1)) / block + q0 / width)
    a, b = shared(q1), shared(q0)
    t = (math.sqrt(a - b) * Z[None, :] + math.sqrt(b) * Z[:, None]) / math.sqrt(1 - a)
    return np.array([entropic, WEIGHT @ np.log(np.exp(block * log_ndtr(t)) @ WEIGHT) / block])


@pytest.mark.parametrize("units, alpha", [(1, 1.0), (INF, 2.5), (INF, 3.2)])
def test_replicon_is_the_curvature_of_the_broken_free_entropy(units, alpha):
    """Next to q_1 = q_0 the free entropy bends with the square of the splitting, by 1 - replicon."""
    solution = typical(Spherical(alpha, units))
    block, q = 0.5, solution.q

    def shared(x):
        return x if units == 1 else 2 / math.pi * math.asin(x)

    ratios = []
    for step in (0.02, 0.01, 0.005):
        terms = [free_entropy(shared, q + k * step, q + (block - 1) / block * k * step, block) for k in range(3)]
        entropic, pattern = terms[0] - 2 * terms[1] + terms[2]
        ratios.append(-alpha * pattern / entropic)
    extrapolated = (ratios[0] - 6 * ratios[1] + 8 * ratios[2]) / 3
    assert solution.replicon == pytest.approx(extrapolated, rel=1e-3)


def test_clustering():
    """The paper quotes 1.76 and 2.95 from other works; the stability of the replica-symmetric solution ends nearby."""
    for units, expected in [(3, 1.76), (INF, 2.95)]:
        found = alpha_clustering(Spherical(units=units))
        assert found == pytest.approx(expected, rel=0.02)
        assert typical(Spherical(found, units)).replicon == pytest.approx(1, abs=1e-6)
        below, above = (typical(Spherical(found * factor, units)).replicon for factor in (0.98, 1.02))
        assert below < 1 < above


def test_table():
    table = group_entropy(Spherical(0.8, INF), [0.9, 0.5])
    assert list(table) == ["overlap", "entropy", "d_0", "pattern_term", "annealed", "residual"]
    assert table.overlap.tolist() == [0.9, 0.5]
    assert table.attrs == {"alpha": 0.8, "units": INF, "machine": "committee", "margin": 0.0}
    first = 0.5 * table.overlap / (1 - table.overlap + table.d_0)
    assert table.entropy.to_numpy() == pytest.approx((first + table.pattern_term).to_numpy(), abs=1e-12)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: group_entropy(Spherical(1.0), 1.0), r"overlap = 1 is out of range: allowed are \[0.001, 0.9999\]"),
        (lambda: group_entropy(Spherical(4.1), 0.9), r"alpha = 4.1 is not below 4.0251"),
        (lambda: group_entropy(Spherical(1.0, 2), 0.9), r"units = 2 is out of range: allowed are 1, 3, math.inf"),
        (lambda: group_entropy(Spherical(1.0, INF, "parity"), 0.9), r"units = inf .* parity machine"),
        (lambda: group_entropy(Spherical(1.0, 3, "comittee"), 0.9), r"nearest is 'committee'"),
        (lambda: typical(Spherical(2.0, 1)), r"alpha = 2 is not below 1.9996"),
        (lambda: typical(Spherical(0.0)), r"alpha = 0 is out of range"),
        (lambda: alpha_clustering(Spherical(units=1)), r"no clustering transition"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(DomainError, match=message):
        call()
