"""The symmetric perceptron: closed forms, bounds by moments, plain integrals, enumeration."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.theory import (
    Perceptron,
    SymmetricPerceptron,
    alpha_c,
    binary_entropy,
    franz_parisi,
    replicon,
    typical,
    typical_distance,
)
from localentropy.theory.franz_parisi_entropy import SymmetricCurve, curve_of
from localentropy.theory.model import Covariances, PairCovariances
from localentropy.theory.symmetric_perceptron import Band
from tests.enumeration import all_signs
from tests.finite_differences import five_point_slope, five_points, slope_at

KAPPAS = [0.01, 0.3, 1.0, 2.5]
U = np.linspace(-1, 1, 401)
Z = np.linspace(-9, 9, 301)
WEIGHT = norm.pdf(Z) * (Z[1] - Z[0])


def inside(kappa):
    return ndtr(kappa) - ndtr(-kappa)


def of_reference(kappa):
    """Stabilities in the band and their weights, by Simpson's rule."""
    weight = norm.pdf(kappa * U) * np.where(np.arange(len(U)) % 2, 4.0, 2.0)
    weight[[0, -1]] /= 2
    return kappa * U, weight / weight.sum()


def chance(u, distance, kappa):
    """That a student at a distance from its reference solves a pattern, on which the reference has the stability u."""
    S, rest = 1 - 2 * distance, 2 * math.sqrt(distance * (1 - distance))
    return ndtr((kappa - S * u) / rest) - ndtr((-kappa - S * u) / rest)


def given_stabilities(distance, alpha, kappa):
    """Log mean number of solutions around a reference whose stabilities are those of typical solutions."""
    if distance > 1e-3:
        u, weight = of_reference(kappa)
        return binary_entropy(distance) + alpha * (weight @ np.log(chance(u, distance, kappa)))
    # Next to the edges only: two sides of the density N(kappa) / P, on the scale of the flips.
    t = np.linspace(0, 12, 2001)
    deviation = 2 * math.sqrt(distance)
    lost = deviation * np.trapezoid(log_ndtr(t), t) * 2 * norm.pdf(kappa) / inside(kappa)
    return binary_entropy(distance) + alpha * lost


@pytest.mark.parametrize("kappa", KAPPAS)
def test_the_mean_number_of_solutions_counts(kappa):
    cost = -math.log(inside(kappa))
    assert alpha_c(SymmetricPerceptron(kappa=kappa)) == pytest.approx(math.log(2) / cost, rel=1e-9)
    alpha = 0.7 * math.log(2) / cost
    found = typical(SymmetricPerceptron(alpha, kappa))
    assert (found.entropy, found.q, found.q_hat) == pytest.approx((0.3 * math.log(2), 0.0, 0.0), abs=1e-9)


def test_capacity_of_the_source():
    """arXiv:1901.00314: 1.8159 at kappa = 1."""
    assert alpha_c(SymmetricPerceptron()) == pytest.approx(1.8158755, abs=5e-8)


@pytest.mark.parametrize("kappa", [*np.geomspace(1e-3, 5.0, 20)])
def test_solutions_without_overlap_are_stable_at_every_width(kappa):
    """f'' = -2 kappa N(kappa) / P(|z| < kappa), and its square times alpha_c is below 1."""
    bend = 2 * kappa * norm.pdf(kappa) / inside(kappa)
    assert alpha_c(SymmetricPerceptron(kappa=kappa)) * bend**2 < 1.0


def test_replicon_is_the_square_of_the_second_derivative():
    assert replicon(SymmetricPerceptron(1.0)) == pytest.approx((2 * norm.pdf(1) / inside(1)) ** 2, abs=1e-9)


@pytest.mark.parametrize(("alpha", "kappa"), [(1.0, 1.0), (0.3, 0.5), (9.0, 2.0)])
def test_solutions_around_a_solution_are_fewer_than_both_moments_allow(alpha, kappa):
    """Jensen's inequality twice: the mean number around a reference of given stabilities, and the number of pairs."""
    distances = np.array([0.45, 0.3, 0.1, 0.03])
    found = franz_parisi(SymmetricPerceptron(alpha, kappa), distances)
    u, weight = of_reference(kappa)
    for row in found.itertuples():
        pairs = binary_entropy(row.distance) + alpha * math.log(weight @ chance(u, row.distance, kappa))
        assert row.entropy < given_stabilities(row.distance, alpha, kappa) < pairs
        # Far from the reference all three agree, up to the fourth power of the overlap.
        if row.distance > 0.4:
            assert pairs - row.entropy < alpha * (1 - 2 * row.distance) ** 4


@pytest.mark.parametrize("distance", [0.3, 0.05])
def test_the_curve_is_stationary_on_plain_integrals(distance):
    """phi over q, q_hat, S_hat at fixed S, from the density of the reference's stabilities; its slope is -2 dphi/dS."""
    alpha, kappa = 1.0, 1.0
    found = franz_parisi(SymmetricPerceptron(alpha, kappa), distance)
    u, weight = of_reference(kappa)
    S = 1 - 2 * distance

    def phi(at, S=S):
        q, q_hat, S_hat = at
        h = math.sqrt(q_hat) * Z + S_hat
        omega = S * u[:, None] + math.sqrt(q - S * S) * Z
        chance = ndtr((kappa - omega) / math.sqrt(1 - q)) - ndtr((-kappa - omega) / math.sqrt(1 - q))
        return (
            -0.5 * q_hat * (1 - q) - S_hat * S + WEIGHT @ np.logaddexp(h, -h)
            + alpha * weight @ np.log(chance) @ WEIGHT
        )  # fmt: skip

    curve = curve_of(SymmetricPerceptron(alpha, kappa), "max")
    assert isinstance(curve, SymmetricCurve)
    y = curve._branch.to(math.log(distance)).coordinates
    v = 4 * distance * (1 - distance) * math.exp(y[2])
    here = np.array([1 - v, math.expm1(y[0]), y[1] + 0.5 * math.log((1 - distance) / distance)])
    assert found["entropy"][0] == pytest.approx(phi(here), abs=1e-9)
    for index, step in enumerate((1e-2 * v, 1e-3, 1e-3)):
        assert slope_at(phi, here, step, index) == pytest.approx(0.0, abs=1e-6)
    by_S = slope_at(lambda S: phi(here, S), S, 1e-5)
    assert found["slope"][0] == pytest.approx(-2 * by_S, abs=1e-6)


def test_typical_solutions_are_isolated():
    """The entropy is negative next to a solution: as it is computed, and at a small load by the upper bound."""
    for alpha in (1.0, 1.7):
        curve = franz_parisi(SymmetricPerceptron(alpha), np.geomspace(1e-3, 0.5, 15), unsolved="nan")
        negative = curve[curve["entropy"] < 0]
        assert len(negative) > 0
        assert (curve["entropy"][curve["distance"] > negative["distance"].max()] > 0).all()
    assert given_stabilities(1e-9, 0.1, 1.0) < 0


def test_the_curve_is_even_and_ends_at_the_antipode():
    model = SymmetricPerceptron(1.0)
    curve = franz_parisi(model, [0.2, 0.8, 0.5])
    assert curve["entropy"][1] == pytest.approx(curve["entropy"][0], abs=1e-12)
    assert curve["slope"][1] == pytest.approx(-curve["slope"][0], abs=1e-12)
    assert (curve["entropy"][2], curve["slope"][2]) == pytest.approx((typical(model).entropy, 0.0), abs=1e-12)
    assert typical_distance(model) == curve.attrs["typical_distance"] == 0.5
    step = 1e-3
    around = franz_parisi(model, five_points(0.2, step))["entropy"]
    assert five_point_slope(around.to_numpy(), step) == pytest.approx(curve["slope"][0], abs=1e-8)


@dataclass(frozen=True)
class Stretched(Perceptron):
    """Pre-activations are twice as large."""

    response = 4.0
    variance = 4.0

    def covariances(self, x):
        return Covariances(*(4.0 * part for part in super().covariances(x)))

    def pair_covariances(self, x, ref):
        s, *others = super().pair_covariances(x, ref)
        return PairCovariances(s, *(4.0 * part for part in others))


def test_units_of_the_pre_activations_do_not_matter():
    stretched, expected = Stretched(1.0, energy=Band(2.0)), SymmetricPerceptron(1.0)
    found, curve = (franz_parisi(model, [0.3, 0.02]) for model in (stretched, expected))
    for column in ("entropy", "slope", "replicon"):
        np.testing.assert_allclose(found[column], curve[column], rtol=1e-9)
    assert alpha_c(stretched) == pytest.approx(alpha_c(expected), rel=1e-9)


def test_enumeration_has_the_numbers_of_solutions_and_of_pairs():
    """Means over 300 instances at N = 13, P = 13: of solutions, and of pairs at each distance, against their laws."""
    N, P, kappa, rng = 13, 13, 1.0, np.random.default_rng(1)
    signs = all_signs(N).astype(float)
    numbers, pairs = [], []
    for _ in range(300):
        solutions = signs[(np.abs(signs @ rng.standard_normal((N, P))) <= kappa * math.sqrt(N)).all(1)]
        numbers.append(len(solutions))
        distances = np.rint((N - solutions @ solutions.T) / 2).astype(int)
        pairs.append(np.bincount(distances.ravel(), minlength=N + 1))
    error = np.std(numbers, ddof=1) / math.sqrt(300)
    assert np.mean(numbers) == pytest.approx(2**N * inside(kappa) ** P, abs=float(3.5 * error))
    u, weight = of_reference(kappa)
    for k in (3, 5, 6):
        error = np.std([row[k] for row in pairs], ddof=1) / math.sqrt(300)
        expected = 2**N * math.comb(N, k) * (inside(kappa) * (weight @ chance(u, k / N, kappa))) ** P
        assert np.mean([row[k] for row in pairs]) == pytest.approx(expected, abs=float(3.5 * error))


def test_refusals():
    with pytest.raises(DomainError, match=r"alpha = 2, kappa = 1 is above alpha_c = 1\.81587549584: there are no"):
        typical(SymmetricPerceptron(2.0))
    with pytest.raises(DomainError, match=r"kappa = -1 is out of range: allowed are \[0.001, 5\]"):
        SymmetricPerceptron(1.0, -1.0)
    # There the solutions freeze, q -> 1.
    ends = r"^franz_parisi: no solution at distance = 0\.0001: followed from larger distances, .* ends at 0\.0010\d+ "
    with pytest.raises(ConvergenceError, match=ends):
        franz_parisi(SymmetricPerceptron(1.0), 1e-4)
    with pytest.raises(ConvergenceError, match=r"at distance = 0\.9999: followed from smaller .* ends at 0\.9989"):
        franz_parisi(SymmetricPerceptron(1.0), 0.9999)
    with pytest.raises(DomainError, match=r"^margin_ref = 0\.0 beside an energy: .*; leave margin_ref out$"):
        franz_parisi(SymmetricPerceptron(1.0), 0.1, 0.0)


@pytest.mark.parametrize(("alpha", "smallest"), [(1.0, 0.00106), (1.2, 0.0018)])
def test_students_freeze_at_a_distance_and_the_entropy_falls_without_end(alpha, smallest):
    """1 - q vanishes faster than the distance, and the entropy, which is negative, falls."""
    curve = curve_of(SymmetricPerceptron(alpha), "max")
    assert isinstance(curve, SymmetricCurve)
    distances = [0.01, 0.003, smallest * 1.05, smallest * 1.005]
    points = [curve.at(distance) for distance in distances]
    q = [1 - 4 * d * (1 - d) * math.exp(curve._branch.to(math.log(d)).coordinates[2]) for d in distances]
    free = 1 - np.array(q)
    assert (np.diff(free / distances) < 0).all() and free[-1] / distances[-1] < 0.01
    entropies = [point.entropy for point in points]
    assert entropies[-1] < entropies[-2] - 0.01 and max(entropies) < 0
    with pytest.raises(ConvergenceError, match=r"q=0\.999"):
        curve.at(0.97 * smallest)
