"""A binary student at a temperature: other definitions, twins, Bayes' limit, thresholds, simulation, refusals."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar, root
from scipy.special import ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.theory import bayes, gibbs
from tests.finite_differences import slope_at

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
    by_q = slope_at(lambda q: potential(alpha, temperature, q, R, 0, 0), q, step)
    by_R = slope_at(lambda R: potential(alpha, temperature, q, R, 0, 0), R, step)
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
    state, beta = gibbs.learning(alpha, temperature), 1 / temperature
    slope = slope_at(lambda beta: gibbs.learning(alpha, 1 / beta).free_entropy, beta, 1e-3)
    assert state.energy == pytest.approx(-slope, abs=1e-8)
    assert state.entropy == pytest.approx(state.free_entropy + beta * state.energy, abs=1e-12)
    assert state.generalization_error == pytest.approx(math.acos(state.teacher_overlap) / math.pi)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.24])
def test_temperature_0_is_bayes_posterior(alpha):
    found, posterior = gibbs.learning(alpha, 0.0), bayes.learning(alpha, "binary")
    assert (found.overlap, found.teacher_overlap) == pytest.approx((posterior.overlap,) * 2, abs=1e-10)
    assert found.entropy == pytest.approx(posterior.free_entropy + math.log(2), abs=1e-10)
    near = gibbs.learning(alpha, 0.04)
    assert (near.overlap, near.entropy) == pytest.approx((found.overlap, found.entropy), abs=1e-8)


def test_thresholds_at_temperature_0_are_bayes():
    transitions = bayes.transitions("binary", "sign")
    assert gibbs.spinodal(0.0) == pytest.approx(transitions.algorithmic, abs=1e-10)
    assert gibbs.equilibrium(0.0) == pytest.approx(transitions.information_theoretic, abs=1e-10)
    assert gibbs.zero_entropy(0.0) == pytest.approx(transitions.information_theoretic, abs=1e-10)


def energy_of_zero_entropy(alpha, R, start):
    """The stationary value of f by q, q_hat, R_hat and T at a fixed R, which is e0(R); its slope by R; the place.

    On the plain grid of `potential`. The start is q, ln q_hat, R_hat, T.
    """

    def f(x, R):
        return -x[3] * potential(alpha, x[3], x[0], R, math.exp(x[1]), x[2])

    def gradient(x):
        return [slope_at(lambda x: f(x, R), x, 1e-3, index) for index in range(4)]

    found = root(gradient, start, tol=1e-11)
    assert np.max(np.abs(gradient(found.x))) < 1e-9
    return f(found.x, R), slope_at(lambda R: f(found.x, R), R, 1e-3), found.x


def test_the_frozen_state_is_the_minimum_of_the_energy_of_zero_entropy():
    """Numbers of another program. Its minimum over R is found by another definition: no load is a parameter there."""
    state = gibbs.learning(1.6, 0.1)
    assert (state.teacher_overlap, state.overlap) == pytest.approx((0.847495, 0.816952), abs=6e-7)
    assert (state.energy, state.entropy) == pytest.approx((0.0249359, 0), abs=6e-8)
    assert gibbs.freezing_temperature(1.6) == pytest.approx(0.304284, abs=6e-7)
    place = np.array([0.82, math.log(2.0), 1.9, 0.3])
    values = []
    for R in (0.83, state.teacher_overlap, 0.865):
        energy, slope, place = energy_of_zero_entropy(1.6, R, place)
        values.append((energy, slope))
    assert values[1] == pytest.approx((state.energy, 0), abs=1e-8)
    assert values[0][0] > values[1][0] < values[2][0] and values[0][1] < 0 < values[2][1]


def test_the_glass_ends_where_the_energy_of_zero_entropy_loses_its_minimum():
    """The talk prints 1.63 (Seung, Sompolinsky and Tishby)."""
    place = np.array([0.88, math.log(2.5), 2.6, 0.365])

    def steepest(alpha):
        """The largest slope between the minimum and the barrier."""
        found = minimize_scalar(
            lambda R: -energy_of_zero_entropy(alpha, R, place)[1], bounds=(0.9, 0.92), method="bounded"
        )
        return -found.fun

    assert steepest(1.66) > 0
    assert gibbs.glass_ends() == pytest.approx(brentq(steepest, 1.666, 1.668, xtol=1e-9), abs=1e-7)
    assert gibbs.glass_ends() == pytest.approx(1.666921, abs=6e-7)


@pytest.mark.parametrize("alpha", [1.25, 1.4, 1.6, 1.66])
def test_below_its_temperature_of_zero_entropy_the_student_is_frozen(alpha):
    freezing = gibbs.freezing_temperature(alpha)
    assert gibbs.zero_entropy(freezing) == pytest.approx(alpha, abs=1e-10)
    frozen = gibbs.learning(alpha, 0.5 * freezing)
    assert frozen.free_entropy == pytest.approx(-frozen.energy / (0.5 * freezing))
    for temperature in (0.0, 0.1 * freezing, 0.9 * freezing):
        colder = gibbs.learning(alpha, temperature)
        assert (colder.teacher_overlap, colder.overlap, colder.energy, colder.entropy) == (
            frozen.teacher_overlap, frozen.overlap, frozen.energy, 0.0
        )  # fmt: skip
    if alpha < gibbs.spinodal(freezing) and freezing < 0.33:  # the glass melts into the same state
        assert gibbs.learning(alpha, freezing + 1e-9).overlap == pytest.approx(frozen.overlap, abs=1e-6)


def test_no_state_of_negative_entropy_is_an_answer():
    for alpha in (0.5, 1.24, 1.25, 1.3, 1.49, 1.5, 1.64, 1.65, 1.666, 1.667, 1.8):
        for temperature in (0.0, 0.01, 0.1, 0.3, 0.33, 0.34, 0.36, 0.37, 0.5, 1.0):
            state = gibbs.learning(alpha, temperature)
            assert state.entropy >= 0 and state.energy >= 0
            ends = max(gibbs.spinodal(temperature), gibbs.glass_ends() if temperature < 0.365 else 0)
            assert (state.teacher_overlap == 1) == (alpha > ends)


@pytest.mark.parametrize("temperature", [0.2, 0.3, 1.0])
def test_lines(temperature):
    limit, equal = gibbs.spinodal(temperature), gibbs.equilibrium(temperature)
    assert gibbs.learning(equal, temperature).free_entropy == pytest.approx(0, abs=1e-9)
    assert gibbs.learning(max(limit, gibbs.glass_ends()) + 1e-9, temperature).overlap == 1
    frozen = gibbs.zero_entropy(temperature)
    if frozen < limit:
        assert 0 < gibbs.learning(frozen * (1 - 1e-6), temperature).entropy < 1e-5
        assert gibbs.learning(frozen * (1 + 1e-6), temperature).entropy == 0
        return
    below = [gibbs.learning(limit - distance, temperature).teacher_overlap for distance in (1e-4, 4e-4)]
    end = 2 * below[0] - below[1]  # the branch ends like a square root
    assert gibbs.learning(limit - 1e-8, temperature).teacher_overlap == pytest.approx(end, abs=1e-3)


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
        (lambda: gibbs.spinodal(math.inf), "temperature = inf is out of range"),
        (lambda: gibbs.freezing_temperature(1.7), r"alpha = 1.7 is out of range.*1.6669"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()


def test_the_line_of_zero_entropy_touches_the_spinodal():
    """The load and temperature in docs/glm/theory.md after (46). The entropy at the spinodal changes its sign there."""
    load, temperature = 1.642886, 0.330337
    assert gibbs.spinodal(temperature) == pytest.approx(load, abs=6e-7)
    assert gibbs.zero_entropy(temperature) == pytest.approx(load, abs=6e-7)
    for beside in (temperature - 0.005, temperature + 0.005):
        assert gibbs.zero_entropy(beside) < gibbs.spinodal(beside) - 1e-4
