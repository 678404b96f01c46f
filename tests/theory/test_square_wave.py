"""The square-wave perceptron: limits, two engines, plain integrals, enumeration with a teacher, refusals."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.numerics.channels import Channel, Sign
from localentropy.theory import (
    Perceptron,
    SquareWave,
    SquareWaveChannel,
    SquareWaveTeacher,
    TeacherStudent,
    alpha_c,
    bayes,
    franz_parisi,
    generalization_errors,
    kappa_max,
    typical,
)
from tests.enumeration import all_signs
from tests.finite_differences import five_point_slope, five_points, slope_at

PERIODS = [2.0, 3.0, 4.0, 7.0, 1000.0]


def wave(x, period):
    return np.where(np.mod(x, period) < period / 2, 1, -1)


def test_a_long_period_is_the_sign():
    assert alpha_c(Perceptron(energy=SquareWave(1000.0))) == pytest.approx(0.83308, abs=5e-6)
    assert alpha_c(SquareWaveTeacher(period=1000.0)) == pytest.approx(1.2447, abs=5e-5)
    found = bayes.transitions("binary", SquareWaveChannel(1000.0))
    assert (found.information_theoretic, found.algorithmic) == pytest.approx((1.244684, 1.492632), abs=5e-7)
    long, sign = typical(SquareWaveTeacher(0.9, 1000.0)), typical(TeacherStudent(0.9))
    for name, value in sign.order_parameters.items():
        assert getattr(long, name) == pytest.approx(value, rel=1e-9)


def test_a_short_period_stores_one_bit_a_weight():
    """Labels of neighbouring configurations are independent: ln 2 nats a pattern, from both sides."""
    storage, planted = ([f(period) for period in (7.0, 4.0, 3.0, 2.0)] for f in (
        lambda period: alpha_c(Perceptron(energy=SquareWave(period))),
        lambda period: alpha_c(SquareWaveTeacher(period=period)),
    ))  # fmt: skip
    assert (np.diff(storage) > 0).all() and (np.diff(planted) < 0).all()
    assert storage[-1] < 1 < planted[-1] < 1 + 1e-6 and storage[-1] > 1 - 1e-6


@pytest.mark.parametrize("period", PERIODS)
def test_the_posterior_is_a_typical_solution(period):
    """The Bayes-optimal student by `bayes`: one overlap instead of four order parameters, other integrals."""
    found, best = typical(SquareWaveTeacher(0.8, period)), bayes.learning(0.8, "binary", SquareWaveChannel(period))
    assert (found.q, found.r) == pytest.approx((best.overlap, best.overlap), rel=1e-9)
    assert found.entropy == pytest.approx(best.free_entropy + math.log(2), abs=1e-12)
    errors = generalization_errors(SquareWaveTeacher(0.8, period))
    assert errors == pytest.approx((best.gibbs_error, best.bayes_error), abs=1e-12)
    threshold = bayes.transitions("binary", SquareWaveChannel(period)).information_theoretic
    assert alpha_c(SquareWaveTeacher(period=period)) == pytest.approx(threshold, rel=1e-9)


@pytest.mark.parametrize("period", [2.0, 3.0, 6.0])
@pytest.mark.parametrize(("rest", "R"), [(0.91, 0.3), (0.02, 0.99), (0.1, 0.4), (0.5, 0.0)])
def test_disagreement_is_an_integral(period, rest, R):
    """Of the wave at u with that at R u + sqrt(rest) y, by a sum over intervals of both."""
    half, (node, weight) = period / 2, np.polynomial.legendre.leggauss(60)
    ends = half * np.arange(-math.ceil(9 / half), math.ceil(9 / half) + 1)
    right = ends[:-1] / half % 2 == 0
    u = (ends[:-1, None] + half * (node + 1) / 2).ravel()
    chance = np.diff(norm.cdf((ends - R * u[:, None]) / math.sqrt(rest)), axis=1) @ right
    wrong = np.where(np.repeat(right, 60), 1 - chance, chance)
    expected = float(np.tile(weight * half / 2, len(right)) @ (norm.pdf(u) * wrong))
    assert SquareWaveTeacher(period=period).disagreement(rest, R) == pytest.approx(expected, abs=1e-11)


def test_the_free_entropy_is_stationary_on_plain_sums():
    alpha, period = 0.9, 5.0
    solution = typical(SquareWaveTeacher(alpha, period))
    Z = np.linspace(-9, 9, 1201)
    weight, ends = norm.pdf(Z) * (Z[1] - Z[0]), np.arange(-8, 9) * period / 2
    right = ends[:-1] / (period / 2) % 2 == 0

    def inside(mean, root):
        return np.diff(norm.cdf((ends - mean[:, None]) / root), axis=1) @ right

    def entropy(q, r, q_hat, r_hat):
        h = math.sqrt(q_hat) * Z + r_hat
        omega = math.sqrt(q) * Z
        label = inside(r / q * omega, math.sqrt(1 - r * r / q))
        patterns = 2 * (weight * label) @ np.log(inside(omega, math.sqrt(1 - q)))
        return -0.5 * q_hat * (1 - q) - r_hat * r + weight @ np.logaddexp(h, -h) + alpha * patterns

    x = np.array([solution.q, solution.r, solution.q_hat, solution.r_hat])
    assert solution.entropy == pytest.approx(entropy(*x), abs=1e-12)
    for index in range(4):
        assert slope_at(lambda x: entropy(*x), x, 1e-3, index) == pytest.approx(0.0, abs=1e-8)


def test_enumeration_with_a_teacher():
    """Means over 400 teachers at N = 13: of the numbers of solutions at distances from them, and of ln of all."""
    N, P, period, rng = 13, 8, 4.0, np.random.default_rng(2)
    signs = all_signs(N).astype(float)
    model, numbers, logs = SquareWaveTeacher(P / N, period), [], []
    far = np.rint((N - signs.sum(1)) / 2).astype(int)
    for _ in range(400):
        # The teacher's weights are 1: others are a gauge.
        z = signs @ rng.standard_normal((N, P)) / math.sqrt(N)
        solves = (wave(z, period) == wave(z[far == 0], period)).all(1)
        numbers.append(np.bincount(far[solves], minlength=N + 1))
        logs.append(math.log(solves.sum()) / N)
    for distance in (1, 3, 6, 7):
        S = 1 - 2 * distance / N
        expected = math.comb(N, distance) * (1 - model.disagreement(1 - S * S, S)) ** P
        found = np.array([row[distance] for row in numbers])
        assert found.mean() == pytest.approx(expected, abs=3.5 * found.std() / 20)
    # The teacher itself is one solution more than N -> infinity knows.
    assert np.mean(logs) == pytest.approx(typical(model).entropy, rel=0.05)


@pytest.mark.parametrize("r", [1e-3, 0.3, 2.0, 1e3])
@pytest.mark.parametrize("period", [2.0, 4.0, 1000.0])
def test_averages_of_the_channel(period, r):
    """The general rule of channels, the derivative of the entropy, and the sign."""
    channel = SquareWaveChannel(period)
    if period > 2.0:
        assert channel.information(r) == pytest.approx(Channel.information(channel, r), rel=1e-8)
        assert channel.entropy(r) == pytest.approx(Channel.entropy(channel, r), rel=1e-9)
    slope = five_point_slope([channel.entropy(r * x) for x in five_points(1, 1e-3)], 1e-3 * r)
    assert channel.information(r) == pytest.approx(2 * (1 + r) * slope, rel=1e-7, abs=1e-9)
    if period == 1000.0:
        assert channel.errors(r) == pytest.approx(Sign().errors(r), rel=1e-9)


def test_responses_of_the_channel_are_derivatives():
    channel, V = SquareWaveChannel(3.0), 0.3
    for z in (-1.6, 0.2, 1.9, 3.3):
        y = channel.labels(np.array([z]), np.random.default_rng(1))
        for omega in (-0.8, 0.1, 1.4):
            at = five_points(np.array([omega]), 1e-3)
            g, slope = channel.response(y, np.array([omega]), V)
            logs = [channel.log_probability(y, place, V)[0] for place in at]
            assert g[0] == pytest.approx(five_point_slope(logs, 1e-3), abs=1e-8)
            pulls = [channel.response(y, place, V)[0][0] for place in at]
            assert -slope[0] == pytest.approx(five_point_slope(pulls, 1e-3), abs=1e-7)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: SquareWaveTeacher(0.8, 1.0), r"period = 1 is out of range: allowed are \[2, 1000\]"),
        (lambda: SquareWave(-1.0), "period = -1 is out of range"),
        (lambda: SquareWaveChannel(math.nan), "period = nan"),
        (lambda: typical(SquareWaveTeacher(1.1, 4.0)), r"above alpha_c = 1\.05048\d+: .* but the teacher"),
        (lambda: franz_parisi(SquareWaveTeacher(0.8), 0.1), "is not computed for SquareWaveTeacher; allowed are"),
        (
            lambda: kappa_max(SquareWaveTeacher(0.8)),
            "kappa_max is not computed for SquareWaveTeacher; allowed are ",
        ),
    ],
)
def test_refusals(ask, message):
    with pytest.raises(DomainError, match=message) as refused:
        ask()
    assert "\n" not in str(refused.value)
