"""Stability density and local energy: normalisation, independent quadrature, limits, quoted numbers."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.theory import (
    Perceptron,
    RandomFeatures,
    TreeCommittee,
    kappa_max,
    local_energy,
    stability_density,
    typical,
)

CASES = [(3.0, 2.0, 0.0, "sign"), (3.0, 5.0, 0.5, "tanh"), (1.0, 1.2, 0.05, "sign"), (5.0, 100.0, 0.0, "erf")]


def moments_of(solution, activation):
    mu_1, noise = {"sign": (np.sqrt(2 / np.pi), 1 - 2 / np.pi)}[activation]
    Q, Q_d = noise * solution.q + mu_1**2 * solution.p, noise + mu_1**2 * solution.p_d
    return Q, Q_d, mu_1 * solution.r


@pytest.mark.parametrize("case", CASES)
def test_density_is_normalised_and_vanishes_below_the_margin(case):
    margin = case[2]
    edges = np.concatenate([margin + np.linspace(0, 3, 60), margin + np.geomspace(3.1, 60, 60)])
    t, weight = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for low, high in itertools.pairwise(edges):
        places = (high - low) / 2 * t + (high + low) / 2
        total += weight @ stability_density(RandomFeatures(*case), places) * (high - low) / 2
    assert total == pytest.approx(1, abs=1e-9)
    below = stability_density(RandomFeatures(*case), [margin - 1e-9, margin - 1.0, -5.0])
    assert (below == 0).all()
    assert stability_density(RandomFeatures(*case), [margin])[0] > 0


def test_density_by_adaptive_quadrature():
    solution = typical(RandomFeatures(3.0, 2.0, 0.1))
    Q, Q_d, R = moments_of(solution, "sign")
    V = Q_d - Q

    def integrand(z, delta):
        log_student = norm.logpdf(delta, np.sqrt(Q) * z, np.sqrt(V)) - log_ndtr((np.sqrt(Q) * z - 0.1) / np.sqrt(V))
        return 2 * norm.pdf(z) * ndtr(R * z / np.sqrt(Q - R * R)) * np.exp(log_student)

    for delta in (0.1, 0.5, 2.0, 5.0):
        exact = quad(integrand, -9, 9, args=(delta,), epsabs=1e-13, limit=200)[0]
        assert stability_density(RandomFeatures(3.0, 2.0, 0.1), delta) == pytest.approx(exact, abs=1e-12)


def test_mode_moves_to_the_origin_as_over_parameterization_falls():
    grid = np.linspace(0, 1, 401)
    modes = [grid[stability_density(RandomFeatures(3.0, inv_alpha), grid).argmax()] for inv_alpha in (1.5, 2, 3, 5, 10)]
    np.testing.assert_allclose(modes, [0, 0.11, 0.21, 0.26, 0.29], atol=0.01)


def test_mean_stability_of_typical_solutions():
    grid = np.linspace(0, 9, 4001)
    assert np.trapezoid(grid * stability_density(RandomFeatures(3.0, 10.0), grid), grid) == pytest.approx(
        0.893, abs=1e-3
    )


def test_local_energy_quoted_and_limits():
    distances = [0.005, 0.01, 0.02, 0.05, 0.1]
    energy = local_energy(RandomFeatures(3.0, 15.0), distances)
    np.testing.assert_allclose(energy, [0.0366, 0.0524, 0.0755, 0.1238, 0.1826], atol=5e-5)
    ends = local_energy(RandomFeatures(3.0, 15.0), [0.0, 1e-8, 0.5, 1.0])
    edge = stability_density(RandomFeatures(3.0, 15.0), 0.0)
    np.testing.assert_allclose(ends, [0, np.sqrt(2 / np.pi) * edge * 1e-4, 0.5, 1], rtol=1e-3, atol=1e-15)
    # The same law at the border of any margin.
    edge = stability_density(RandomFeatures(3.0, 5.0, 0.5), 0.5)
    assert local_energy(RandomFeatures(3.0, 5.0, 0.5), 1e-8) == pytest.approx(
        np.sqrt(2 / np.pi) * edge * 1e-4, rel=1e-3
    )


@pytest.mark.parametrize(
    ("distance", "margin"), [(1e-4, 0.0), (0.03, 0.0), (0.3, 0.1), (0.9, 0.0), (0.01, 0.4), (0.2, 0.6), (0.7, 0.6)]
)
def test_local_energy_by_adaptive_quadrature(distance, margin):
    def integrand(delta):
        below = ndtr((margin - (1 - 2 * distance) * delta) / np.sqrt(4 * distance * (1 - distance)))
        return stability_density(RandomFeatures(3.0, 3.0, margin), [delta])[0] * below

    marks = [margin + 0.01, margin + 0.1, margin + 1.0]
    exact = quad(integrand, margin, margin + 9, points=marks, epsabs=1e-12, limit=200)[0]
    assert local_energy(RandomFeatures(3.0, 3.0, margin), [distance])[0] == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(("alpha_T", "inv_alpha"), [(3.0, 2.0), (3.0, 30.0), (10.0, 100.0)])
def test_half_the_weights_flipped_forget_the_solution(alpha_T, inv_alpha):
    for part in (0.0, 0.5, 0.9):
        margin = part * kappa_max(RandomFeatures(alpha_T, inv_alpha))
        energy = local_energy(RandomFeatures(alpha_T, inv_alpha, margin), [0.0, 0.5 - 1e-9, 0.5, 0.5 + 1e-9, 1.0])
        np.testing.assert_allclose(energy, [0.0, *[ndtr(margin)] * 3, 1.0], atol=1e-8)


def test_few_patterns_are_flipped_like_random_ones():
    """The angle between random weights and their copy is that of the overlap 1 - 2d, for machines that are linear."""
    distances = np.array([0.01, 0.1, 0.3])
    for model in (Perceptron(1e-6), TreeCommittee(1e-6, activation="identity")):
        np.testing.assert_allclose(local_energy(model, distances), np.arccos(1 - 2 * distances) / np.pi, atol=1e-5)
    for activation in ("sign", "relu"):
        with pytest.raises(DomainError, match="not computed for TreeCommittee: its pre-activations are not linear"):
            local_energy(TreeCommittee(0.4, activation=activation), distances)


def test_shapes_and_refusals():
    assert stability_density(RandomFeatures(3.0, 2.0), np.ones((2, 3))).shape == (2, 3)
    assert local_energy(RandomFeatures(3.0, 2.0), 0.1).shape == ()
    with pytest.raises(DomainError, match="stability"):
        stability_density(RandomFeatures(3.0, 2.0), [0.1, np.nan])
    with pytest.raises(DomainError, match=r"distance = 1.1 is out of range: allowed are \[0, 1\]"):
        local_energy(RandomFeatures(3.0, 2.0), [0.1, 1.1])
    with pytest.raises(DomainError, match="no distance given"):
        local_energy(RandomFeatures(3.0, 2.0), [])
    with pytest.raises(DomainError, match="below 1/alpha_c = "):
        stability_density(RandomFeatures(3.0, 0.8), [0.1])
