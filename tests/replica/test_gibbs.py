"""A binary student at a temperature: other definitions, twins, Bayes' limit, thresholds, simulation, refusals."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.replica import bayes, gibbs
from tests.finite_differences import FIVE_POINTS, five_point_slope

Z = np.linspace(-9, 9, 3001)
WEIGHT = norm.pdf(Z) * (Z[1] - Z[0])


def potential(alpha, temperature, q, R, q_hat, R_hat):
    """-beta f as the theory's page writes it (eq. 42), on a plain grid."""
    sites = WEIGHT @ np.logaddexp(math.sqrt(q_hat) * Z + R_hat, -math.sqrt(q_hat) * Z - R_hat)
    floor = math.exp(-1 / temperature)
    label = ndtr(-R * Z / math.sqrt(q - R**2))
    pattern = WEIGHT @ (label * np.log(floor + (1 - floor) * ndtr(-math.sqrt(q / (1 - q)) * Z)))
    return -0.5 * q_hat * (1 - q) - R_hat * R + sites + 2 * alpha * pattern


def conjugates(alpha, temperature, state):
    """q_hat, R_hat from stationarity by q and R, by finite differences."""
    q, R, step = state.overlap, state.teacher_overlap, 1e-4
    by_q = five_point_slope([potential(alpha, temperature, q + k * step, R, 0, 0) for k in FIVE_POINTS], step)
    by_R = five_point_slope([potential(alpha, temperature, q, R + k * step, 0, 0) for k in FIVE_POINTS], step)
    return -2 * by_q, by_R


@pytest.mark.parametrize(("alpha", "temperature"), [(0.4, 0.7), (1.1, 0.25), (1.5, 0.36), (2.2, 1.0), (15.0, 10.0)])
def test_the_potential_is_stationary(alpha, temperature):
    state = gibbs.learning(alpha, temperature)
    q_hat, R_hat = conjugates(alpha, temperature, state)
    field = np.tanh(math.sqrt(q_hat) * Z + R_hat)
    assert state.overlap == pytest.approx(WEIGHT @ field**2, abs=1e-7)
    assert state.teacher_overlap == pytest.approx(WEIGHT @ field, abs=1e-7)
    value = potential(alpha, temperature, state.overlap, state.teacher_overlap, q_hat, R_hat)
    assert state.free_entropy == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize(("alpha", "temperature"), [(0.4, 0.7), (1.3, 0.3), (2.2, 1.0)])
def test_energy_and_entropy_are_derivatives(alpha, temperature):
    """The energy by the inverse temperature, the load's price by the load."""
    state, beta, step = gibbs.learning(alpha, temperature), 1 / temperature, 1e-3
    slope = five_point_slope([gibbs.learning(alpha, 1 / (beta + k * step)).free_entropy for k in FIVE_POINTS], step)
    assert state.energy == pytest.approx(-slope, abs=1e-8)
    assert state.entropy == pytest.approx(state.free_entropy + beta * state.energy, abs=1e-12)
    assert state.generalization_error == pytest.approx(math.acos(state.teacher_overlap) / math.pi)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.4])
def test_temperature_0_is_bayes_posterior(alpha):
    found, posterior = gibbs.learning(alpha, 0.0), bayes.perceptron(alpha, "binary")
    assert (found.overlap, found.teacher_overlap) == pytest.approx((posterior.overlap,) * 2, abs=1e-10)
    assert found.entropy == pytest.approx(posterior.free_entropy + math.log(2), abs=1e-10)
    near = gibbs.learning(alpha, 0.04)
    assert (near.overlap, near.entropy) == pytest.approx((found.overlap, found.entropy), abs=1e-8)


def test_thresholds_at_temperature_0_are_bayes():
    transitions = bayes.transitions("binary_perceptron")
    assert gibbs.spinodal(0.0) == pytest.approx(transitions.algorithmic, abs=1e-10)
    assert gibbs.equilibrium(0.0) == pytest.approx(transitions.information_theoretic, abs=1e-10)
    assert gibbs.zero_entropy(0.0) == pytest.approx(transitions.information_theoretic, abs=1e-10)


def test_the_glass_ends_at_1_643_or_1_667():
    """Numbers of another program; the talk prints 1.63 (Seung, Sompolinsky and Tishby)."""
    ends = gibbs.glass_ends()
    assert (ends.on_spinodal, ends.on_spinodal_temperature) == pytest.approx((1.6429, 0.3303), abs=6e-5)
    assert (ends.on_line, ends.on_line_temperature) == pytest.approx((1.6669, 0.3652), abs=6e-5)
    assert gibbs.learning(ends.on_spinodal - 1e-7, ends.on_spinodal_temperature).entropy == pytest.approx(0, abs=1e-3)
    assert gibbs.learning(1.6, 0.25).teacher_overlap == 1  # beyond the spinodal of this temperature


@pytest.mark.parametrize("temperature", [0.2, 0.33, 1.0])
def test_lines(temperature):
    limit, equal = gibbs.spinodal(temperature), gibbs.equilibrium(temperature)
    assert gibbs.learning(equal, temperature).free_entropy == pytest.approx(0, abs=1e-9)
    assert gibbs.learning(limit + 1e-9, temperature).overlap == 1
    below = [gibbs.learning(limit - distance, temperature).teacher_overlap for distance in (1e-4, 4e-4)]
    end = 2 * below[0] - below[1]  # the branch ends like a square root
    assert gibbs.learning(limit - 1e-8, temperature).teacher_overlap == pytest.approx(end, abs=1e-3)
    frozen = gibbs.zero_entropy(temperature)
    if frozen < limit:
        assert gibbs.learning(frozen, temperature).entropy == pytest.approx(0, abs=1e-9)
        nearer = 0.5 * (limit - frozen)
        before, after = (gibbs.learning(frozen + step, temperature).entropy for step in (-nearer, nearer))
        assert after < 0 < before


def test_high_temperatures_see_the_ratio():
    """Sompolinsky, Tishby and Seung: at high temperatures only alpha / T counts, and the student sees no noise."""
    slow, hot = gibbs.learning(0.8 * 20, 20.0), gibbs.learning(0.8 * 80, 80.0)
    assert hot.teacher_overlap == pytest.approx(slow.teacher_overlap, rel=0.02)
    R = hot.teacher_overlap
    assert math.atanh(R) == pytest.approx(0.8 / math.pi / math.sqrt(1 - R**2), rel=0.02)
    assert hot.overlap == pytest.approx(R**2, rel=0.03)


@pytest.mark.parametrize(("alpha", "temperature"), [(1.2, 0.1), (1.6, 0.35), (30.0, 20.0)])
def test_twice_the_nodes(alpha, temperature, monkeypatch):
    before = vars(gibbs.learning(alpha, temperature))
    monkeypatch.setattr(gibbs, "SPACING", 0.025)
    gibbs._state.cache_clear()
    after = vars(gibbs.learning(alpha, temperature))
    gibbs._state.cache_clear()
    gibbs._spinodal.cache_clear()
    for name in ("teacher_overlap", "overlap", "entropy", "energy"):
        assert after[name] == pytest.approx(before[name], abs=1e-10)


def test_simulation():
    """Metropolis' dynamics of two students in each of 96 samples, from random weights."""
    alpha, temperature, N, samples, sweeps = 0.6, 0.5, 201, 96, 240
    rng = np.random.default_rng(5)
    P = round(alpha * N)
    X = rng.choice(np.array([-1.0, 1.0], np.float32), (samples, N, P))
    X *= np.sign(X.sum(1))[:, None, :]  # the teacher is all ones
    weights = rng.choice(np.array([-1.0, 1.0], np.float32), (2, samples, N))
    fields = np.einsum("rsi,sip->rsp", weights, X)
    R, q, energy = [], [], []
    for sweep in range(sweeps):
        for i in rng.permutation(N):
            moved = fields - 2 * weights[:, :, i, None] * X[:, i]
            rise = (moved < 0).sum(2) - (fields < 0).sum(2)
            accept = rng.random((2, samples)) < np.exp(-np.maximum(rise, 0) / temperature)
            fields = np.where(accept[:, :, None], moved, fields)
            weights[:, :, i] *= np.where(accept, -1, 1)
        if sweep >= 80:
            R.append(weights.mean(2).mean(0))
            q.append((weights[0] * weights[1]).mean(1))
            energy.append((fields < 0).sum(2).mean(0) / N)
    state = gibbs.learning(alpha, temperature)
    for measured, expected in ((R, state.teacher_overlap), (q, state.overlap), (energy, state.energy)):
        of_samples = np.mean(measured, 0)
        error = of_samples.std(ddof=1) / math.sqrt(samples)
        assert abs(of_samples.mean() - expected) < 3 * error + 0.01 * expected


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gibbs.learning(1.0, -0.1), "temperature = -0.1 is out of range"),
        (lambda: gibbs.learning(0.0, 0.1), "alpha = 0 is out of range"),
        (lambda: gibbs.spinodal(math.inf), "temperature = inf must be finite"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()
