"""Capacities of continuous weights: limits, another minimizer on plain grids, Monte Carlo, distances by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.numerics.quadrature import unit_legendre
from localentropy.theory import (
    Spherical,
    alpha_c,
    alpha_clustering,
    capacity,
    capacity_one_step,
    capacity_rs,
    de_almeida_thouless,
)


def plain_cost(q_0, w, margin):
    """-E_v ln E_u exp(-w dist^2 / 2) of one unit on plain grids; a strong price moves u far up."""
    v, u = np.linspace(-8.5, 8.5, 261), np.linspace(-9, 26, 4376)
    distance = np.maximum(margin - math.sqrt(q_0) * v[:, None] - math.sqrt(1 - q_0) * u, 0)
    inside = (np.exp(-0.5 * w * distance**2) * norm.pdf(u)).sum(1) * (u[1] - u[0])
    return -(norm.pdf(v) * np.log(inside)).sum() * (v[1] - v[0])


@pytest.mark.parametrize("margin", [-0.5, -1.0, -2.0])
def test_negative_margins_against_another_minimizer(margin):
    def plain(place):
        q_0, w = 1 / (1 + math.exp(-place[0])), math.exp(place[1])
        stretch = 1 + w * (1 - q_0)
        return 0.5 * (math.log(stretch) + w * q_0 / stretch) / plain_cost(q_0, w, margin)

    found = capacity_one_step(Spherical(units=1, margin=margin))
    start = [math.log(found.q_0 / (1 - found.q_0)) + 0.3, math.log(found.w) - 0.3]
    other = minimize(plain, start, method="Powell", options={"xtol": 1e-6, "ftol": 1e-12})
    assert found.alpha == pytest.approx(other.fun, rel=1e-8)
    assert found.q_0 == pytest.approx(1 / (1 + math.exp(-other.x[0])), rel=1e-3)
    assert found.residual < 1e-9
    perceptron = Spherical(units=1, margin=margin)
    assert de_almeida_thouless(perceptron) < found.alpha < capacity_rs(perceptron)


def test_the_perceptron_without_a_negative_margin_is_replica_symmetric():
    """Gardner's 2, and her integral."""
    assert capacity_one_step(Spherical(units=1)).alpha == pytest.approx(2, abs=1e-14)
    z = np.linspace(-12, 12, 200001)
    for margin in (-3.0, -1.0, -0.1, 0.3, 2.0, 50.0):
        squared = (norm.pdf(z) * np.maximum(z + margin, 0) ** 2).sum() * (z[1] - z[0])
        assert capacity_rs(Spherical(units=1, margin=margin)) == pytest.approx(1 / squared, rel=1e-8)
    # Continuous at 0, to second order in the margin.
    near = capacity_one_step(Spherical(units=1, margin=-0.01))
    assert near.alpha == pytest.approx(capacity_rs(Spherical(units=1, margin=-0.01)), rel=1e-6)


def test_three_units():
    """Digits of a second program, which is not in the repository.

    One step is below the replica-symmetric capacity, and above clustering.
    """
    committee, parity = capacity_one_step(Spherical(units=3)), capacity_one_step(Spherical(units=3, machine="parity"))
    assert committee.alpha == pytest.approx(3.1458, abs=6e-5)
    assert (committee.q_0, committee.w) == pytest.approx((0.640, 21.25), rel=2e-3)
    assert parity.alpha == pytest.approx(4.998, abs=6e-4)
    assert alpha_clustering(Spherical(units=3)) < committee.alpha < capacity_rs(Spherical(units=3))
    assert max(committee.residual, parity.residual) < 1e-7
    for machine, found in (("committee", committee), ("parity", parity)):
        for q_0, softness in itertools.product((0.05, 0.3, 0.6, 0.8), (2.0, 7.0, 30.0)):
            cost = capacity._three_units_cost(machine == "parity", q_0, softness, 0.5)
            assert capacity._volume(q_0, softness) / cost > found.alpha


@pytest.mark.parametrize("machine", ["committee", "parity"])
def test_without_breaking_it_is_the_replica_symmetric_capacity(machine):
    cost = capacity._three_units_cost(machine == "parity", 0.3, 1e-4, 2.0)
    symmetric = capacity_rs(Spherical(units=3, machine=machine))
    assert capacity._volume(0.3, 1e-4) / cost == pytest.approx(symmetric, rel=1e-3)


def signs_are_right(signs, machine):
    return np.prod(signs) > 0 if machine == "parity" else np.sum(signs) > 0


@pytest.mark.parametrize("machine", ["committee", "parity"])
def test_the_mean_inside_a_cluster(machine):
    """Monte Carlo; the distance from where the machine is right by trying all signs."""
    rng, softness, nodes = np.random.default_rng(3), 3.0, unit_legendre(capacity.OWN)
    patterns = [np.array(signs) for signs in itertools.product((-1, 1), repeat=3)]
    for mean in ([-2.0, -1.5, -1.0], [-1.0, -0.5, 0.3], [-2.0, 0.1, 2.0], [0.2, 0.5, 1.0]):
        x = np.array(mean) + rng.standard_normal((100_000, 3))
        squared = [(np.minimum(signs * x, 0) ** 2).sum(1) for signs in patterns if signs_are_right(signs, machine)]
        price = np.exp(-0.5 * softness * np.min(squared, axis=0))
        right = capacity._product_right if machine == "parity" else capacity._majority_right
        found = right.py_func(np.array(mean), softness, *nodes)
        assert abs(price.mean() - found) < 4 * price.std() / math.sqrt(len(x))


@pytest.mark.parametrize("margin", [-0.3, -1.0, -2.0])
def test_de_almeida_and_thouless(margin):
    """The replicon and the saddle point on a plain grid, by derivatives of ln H."""
    alpha = de_almeida_thouless(Spherical(units=1, margin=margin))
    z = np.linspace(-9, 9, 20001)
    weight = norm.pdf(z) * (z[1] - z[0])

    def means(q):
        h = (margin - math.sqrt(q) * z) / math.sqrt(1 - q)
        g = np.exp(norm.logpdf(h) - log_ndtr(-h))
        return weight @ g**2, weight @ (g * (g - h)) ** 2

    low, high = 1e-6, 1 - 1e-6
    for _ in range(60):  # the overlap grows with the load
        q = 0.5 * (low + high)
        low, high = (q, high) if q / (1 - q) < alpha * means(q)[0] else (low, q)
    assert alpha * means(q)[1] == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Spherical(units=2), "units = 2 is out of range: allowed are 1, 3"),
        (lambda: Spherical(units="3"), "units = '3' is not a number: allowed are 1, 3, math.inf"),  # type: ignore[arg-type]
        (lambda: capacity_one_step(Spherical(units=math.inf)), "units = inf is out of range"),
        (lambda: Spherical(units=1, machine="parity"), "units = 1 is out of range: the parity machine"),
        (lambda: Spherical(units=3, margin=-1.0), "margin = -1 is out of range: 3 units"),
        (lambda: alpha_c(Spherical(units=1, margin=-1.0)), "ask capacity_one_step"),
        (lambda: alpha_c(Spherical(units=3)), "ask capacity_one_step"),
        (lambda: capacity_one_step(Spherical(units=1, margin=-1e-4)), "margin = -0.0001 is out of range"),
        (lambda: capacity_rs(Spherical(units=1, margin=math.nan)), "margin = nan"),
        (lambda: de_almeida_thouless(Spherical(units=1, margin=0.5)), "margin = 0.5 is out of range"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()
