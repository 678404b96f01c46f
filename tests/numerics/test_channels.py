"""Channels: written integrals, derivatives, one rule against another, samples, both ends, refusals."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.numerics import channels
from localentropy.numerics.channels import Absolute, Channel, Door, Linear, Relu, Sign, as_channel
from localentropy.numerics.quadrature import gaussian_nodes
from tests.finite_differences import five_point_slope, five_points, slope_at
from tests.written_integrals import WEIGHT, Z, written

RATIOS = [1e-3, 0.3, 2.0, 30.0]
ALL = [Sign(), Absolute(), Linear(), Linear(0.3), Relu(), Door(0.67), Door(0.05), Door(3.0)]


@dataclass(frozen=True)
class Levels(Channel):
    """z rounded to -1, 0 or 1, as a user may write it."""

    edges, allowed = (-0.5, 0.5), "-1, 0 and 1"

    def labels(self, z, stream):
        return np.clip(np.round(z), -1, 1)

    def possible(self, y):
        return np.isin(y, (-1, 0, 1))

    def probabilities(self, omega, V):
        low, high = ((edge - omega) / math.sqrt(V) for edge in self.edges)
        middle = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        P = np.stack([ndtr(low), middle, ndtr(-high)])
        slope = np.stack([-norm.pdf(low), norm.pdf(low) - norm.pdf(high), norm.pdf(high)]) / math.sqrt(V)
        bend = np.stack([-low * norm.pdf(low), low * norm.pdf(low) - high * norm.pdf(high), high * norm.pdf(high)]) / V
        return P, slope, bend

    def response(self, y, omega, V):
        P, slope, bend = (np.choose(np.asarray(y, int) + 1, part) for part in self.probabilities(omega, V))
        return slope / P, (slope / P) ** 2 - bend / P

    def log_probability(self, y, omega, V):
        return np.log(np.choose(np.asarray(y, int) + 1, self.probabilities(omega, V)[0]))


@pytest.mark.parametrize("r", RATIOS)
def test_information_on_the_sign(r):
    m, x = r / (1 + r), math.sqrt(r)
    conjugate = written(lambda v: math.exp(-((x * v) ** 2) - log_ndtr(-x * v)), [0.0]) / (math.pi * (1 - m))
    assert Sign().information(r) == pytest.approx((1 - m) * conjugate, rel=1e-10)
    assert Sign().entropy(r) == pytest.approx(written(lambda v: 2 * ndtr(x * v) * log_ndtr(x * v), [0.0]), rel=1e-10)


@pytest.mark.parametrize("r", [0.03, 0.3, 2.0])
def test_information_on_the_absolute_value(r):
    """The formulas as they stand, on a plain grid."""
    m, V = r / (1 + r), 1 / (1 + r)
    omega = math.sqrt(m) * Z[:, None]
    z = omega + math.sqrt(V) * Z
    mean = WEIGHT @ (z**2 * (1 - np.tanh(omega * z / V) ** 2)) @ WEIGHT
    assert Absolute().information(r) == pytest.approx(1 - mean / V, rel=1e-8)
    folded = WEIGHT @ np.logaddexp(0, -2 * omega * z / V) @ WEIGHT
    assert Absolute().entropy(r) == pytest.approx(folded - 0.5 * math.log(2 * math.pi * math.e * V), rel=1e-8)
    known, rest = math.sqrt(m) * Z, math.sqrt(V)
    mean = rest * math.sqrt(2 / math.pi) * np.exp(-0.5 * (known / rest) ** 2) + known * (1 - 2 * ndtr(-known / rest))
    assert Absolute().errors(r).label == pytest.approx(1 - WEIGHT @ mean**2, abs=1e-9)


@pytest.mark.parametrize("r", [*RATIOS, 1e4])
@pytest.mark.parametrize("channel", [*ALL, Levels()], ids=str)
def test_information_is_the_derivative_of_the_entropy(channel, r):
    """I-MMSE: twice the derivative by m, in units of 1 - m."""
    # d/dm = (1 + r)^2 d/dr.
    slope = slope_at(channel.entropy, r, 1e-3 * r)
    # Rounding of the entropy, of order 1, limits the difference at small r.
    assert channel.information(r) == pytest.approx(2 * (1 + r) * slope, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("r", [1e-6, 0.3, 2.0, 30.0, 1e4])
@pytest.mark.parametrize("channel", [channel for channel in ALL if not channel.noisy], ids=str)
def test_own_rules_against_the_general_one(channel, r):
    assert channel.information(r) == pytest.approx(Channel.information(channel, r), rel=1e-9)
    assert channel.entropy(r) == pytest.approx(Channel.entropy(channel, r), rel=1e-10)


@pytest.mark.parametrize("channel", [*ALL, Levels()], ids=str)
def test_responses_are_derivatives_of_the_probability(channel):
    step, V = 1e-3, 0.4
    for z in (-1.6, -0.3, 0.2, 0.9, 3.3):
        y = channel.labels(np.array([z]), np.random.default_rng(1))
        for omega in (-0.8, 0.1, 1.2):
            at = five_points(np.array([omega]), step)
            logs = [float(channel.log_probability(y, place, V)[0]) for place in at]
            g, slope = channel.response(y, np.array([omega]), V)
            assert g[0] == pytest.approx(five_point_slope(logs, step), abs=1e-9, rel=1e-9)
            pulls = [float(channel.response(y, place, V)[0][0]) for place in at]
            assert -slope[0] == pytest.approx(five_point_slope(pulls, step), abs=1e-8, rel=1e-8)


@pytest.mark.parametrize("channel", [*ALL, Levels()], ids=str)
@pytest.mark.parametrize("r", [0.4, 6.0])
def test_averages_by_sampling(channel, r):
    """Teacher and samples of the posterior are drawn."""
    rng, draws, V = np.random.default_rng(5), 200_000, 1 / (1 + r)
    omega = math.sqrt(1 - V) * rng.standard_normal(draws)
    teacher, sample, other = (channel.labels(omega + math.sqrt(V) * rng.standard_normal(draws), rng) for _ in range(3))
    g, _ = channel.response(teacher, omega, V)
    errors = channel.errors(r)
    assert np.all(channel.possible(teacher))
    pairs = [
        (channel.information(r), V * g**2),
        (0.0, g),
        (channel.entropy(r), channel.log_probability(teacher, omega, V)),
        (errors.gibbs, sample != teacher),
        (errors.label, (teacher - sample) * (teacher - other)),
    ]
    if math.isfinite(errors.bayes):
        best = channel.log_probability(np.ones(draws), omega, V) > -math.log(2)
        pairs.append((errors.bayes, np.where(best, 1, -1) != teacher))
    for value, drawn in pairs:
        if math.isfinite(value):
            assert abs(np.mean(drawn) - value) < 4 * np.std(drawn) / math.sqrt(draws)


def test_far_from_the_labels():
    """No number overflows, and both tails follow the nearer edge."""
    omega = np.linspace(-40, 40, 801)
    for channel in ALL:
        y = np.full_like(omega, channel.labels(np.array([0.2]), np.random.default_rng(0))[0])
        with np.errstate(all="raise", under="ignore"):
            g, slope = channel.response(y, omega, 1.0)
            logs = channel.log_probability(y, omega, 1.0)
        assert np.isfinite([g, slope, logs]).all()
    g, _ = Door(0.67).response(np.ones(2), np.array([30.0, -30.0]), 1.0)
    assert g == pytest.approx([-(30 - 0.67), 30 - 0.67], rel=2e-3)


@pytest.mark.parametrize("channel", ALL, ids=str)
def test_both_ends(channel):
    """`weak` is the load at which r grows, and `limit` the information at last."""
    if channel.even:
        assert channel.information(1e-7) / 1e-7 == pytest.approx(1 / channel.weak, rel=1e-5)
    else:
        assert channel.weak == 0.0
        assert channel.information(1e-9) > 0.01
    assert channel.information(1e20) == pytest.approx(channel.limit, abs=1e-6)


def test_a_door_of_two_equal_labels_tells_no_sign():
    width = float(ndtri(0.75))
    assert Door(width).entropy(1e-9) == pytest.approx(-math.log(2), abs=1e-12)
    assert Door(width).weak == pytest.approx(1 / (4 * width * norm.pdf(width)) ** 2, rel=1e-12)


@pytest.mark.parametrize("r", [1e-6, 0.5, 7.0, 1e3, 1e9])
def test_twice_the_nodes(r, monkeypatch):
    def found():
        return [
            value
            for channel in (Sign(), Absolute(), Relu(), Door(0.67))
            for value in (channel.information(r), channel.entropy(r), channel.errors(r).label)
        ]

    before = found()
    monkeypatch.setattr(channels, "gaussian_nodes", lambda scale: gaussian_nodes(scale, 0.05))
    monkeypatch.setattr(channels, "NOISE_SPACING", 0.07)
    monkeypatch.setattr(channels, "PANEL_NODES", 32)
    assert found() == pytest.approx(before, rel=2e-11)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Door(0.0), "width = 0 is out of range"),
        (lambda: Linear(-1.0), "noise = -1 is out of range"),
        (lambda: as_channel("abs"), "nearest is 'absolute'"),
        (lambda: as_channel(3), "channel = 3: allowed are sign, absolute, relu, and a Channel as in localentropy"),  # type: ignore[arg-type]
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()
