"""Priors: closed forms, one rule against another, derivatives, samples, strong fields, refusals."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.numerics import priors
from localentropy.numerics.priors import Binary, GaussBernoulli, Gaussian, Prior, TwoGaussians, as_prior
from tests.finite_differences import five_point_slope, five_points

ALL = [Gaussian(), Binary(), GaussBernoulli(0.1), GaussBernoulli(1.0), TwoGaussians(0.8), TwoGaussians(0.99)]


@dataclass(frozen=True)
class Signs(Prior):
    """Weights +1 or -1, as a user may write them."""

    largest, strongest, dimension = 1.0, 100.0, 0.0

    def sample(self, stream, d):
        return np.sign(stream.uniform(-1, 1, d))

    def moments(self, field, precision):
        return np.tanh(field), 1 / np.cosh(field) ** 2

    def log_normalization(self, field, precision):
        return np.log(np.cosh(field)) - precision / 2


@pytest.mark.parametrize("m_hat", [1e-9, 0.4, 6.0, 40.0, 100.0])
def test_a_binary_weight_in_weak_and_strong_fields(m_hat):
    site = Binary().site(m_hat)
    root, ends = math.sqrt(m_hat), (-30, -math.sqrt(m_hat) - 2, -math.sqrt(m_hat), -math.sqrt(m_hat) + 2, 30)

    def mean(function):
        def weighted(z):
            return norm.pdf(z) * function(m_hat + root * z)

        return sum(quad(weighted, *piece, epsabs=0, limit=400)[0] for piece in pairwise(ends))

    assert site.mse == pytest.approx(mean(lambda h: math.exp(-h - np.logaddexp(h, -h) + math.log(2))), rel=1e-8)
    entropy = mean(lambda h: np.logaddexp(h, -h) - math.log(2)) - 0.5 * m_hat * (2 - site.mse)
    assert site.entropy == pytest.approx(entropy, abs=1e-9)


@pytest.mark.parametrize("prior", ALL, ids=str)
@pytest.mark.parametrize("m_hat", [1e-3, 0.5, 4.0, 60.0, 1e4])
def test_own_rules_against_the_general_one(prior, m_hat):
    if m_hat > prior.strongest:
        return
    own, general = prior.site(m_hat), Prior.site(prior, m_hat)
    assert own[:2] == pytest.approx(general[:2], rel=1e-9)
    assert own.entropy == pytest.approx(general.entropy, abs=1e-11)


@pytest.mark.parametrize("m_hat", [0.3, 9.0, 70.0])
def test_a_prior_of_ones_own(m_hat):
    assert Signs().site(m_hat) == pytest.approx(Binary().site(m_hat), rel=1e-9)
    ratio = Binary().site(m_hat).ratio
    assert Signs().conjugate(ratio) == pytest.approx(m_hat, rel=1e-8)


@pytest.mark.parametrize("prior", ALL, ids=str)
@pytest.mark.parametrize("m_hat", [0.2, 3.0, 30.0])
def test_entropy_and_mse_belong_together(prior, m_hat):
    """I-MMSE: the entropy's derivative is m_hat/2 times that of 1 - m."""
    sites = [prior.site(m_hat * x) for x in five_points(1, 1e-3)]
    entropy, mse = (five_point_slope([site[part] for site in sites], 1e-3 * m_hat) for part in (2, 1))
    assert entropy == pytest.approx(0.5 * m_hat * mse, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("prior", ALL, ids=str)
def test_samples_in_their_fields(prior):
    """Weights are drawn and seen in noise: mean square, error of the mean, variance, Nishimori's condition."""
    rng, d, m_hat = np.random.default_rng(3), 400_000, 3.0
    w = prior.sample(rng, d)
    field = m_hat * w + math.sqrt(m_hat) * rng.standard_normal(d)
    means, variances = prior.moments(field, np.full(d, m_hat))
    site = prior.site(m_hat)
    divergence = prior.divergence(field, np.full(d, m_hat))
    for values, expected in (
        (w**2, 1.0),
        ((w - means) ** 2, site.mse),
        (np.broadcast_to(variances, d), site.mse),
        (w * means, 1.0 - site.mse),
        (divergence, 0.5 * m_hat * site.mse - site.entropy),
    ):
        assert abs(np.mean(values) - expected) < 4 * np.std(values) / math.sqrt(d) + 1e-12


@pytest.mark.parametrize("prior", ALL, ids=str)
def test_moments_are_derivatives_of_the_normalization(prior):
    precision, step = np.array(2.5), 1e-3
    for field in (-3.0, 0.2, 1.7):
        at = [np.array(x) for x in five_points(field, step)]
        logs = [float(prior.log_normalization(x, precision)) for x in at]
        mean, variance = prior.moments(np.array(field), precision)
        assert float(mean) == pytest.approx(five_point_slope(logs, step), abs=1e-9)
        means = [float(prior.moments(x, precision)[0]) for x in at]
        assert float(variance) == pytest.approx(five_point_slope(means, step), abs=1e-9)


def test_limits():
    """Two Gaussians at 0 and one spike of all weights are Gaussian; nearly binary ones lose what binary ones lose."""
    for m_hat in (0.1, 5.0, 1e6, 1e15):
        assert TwoGaussians(0.0).site(m_hat) == pytest.approx(Gaussian().site(m_hat), rel=1e-8)
        assert GaussBernoulli(1.0).site(m_hat) == pytest.approx(Gaussian().site(m_hat), rel=1e-8)
    assert TwoGaussians(0.999).site(2.0) == pytest.approx(Binary().site(2.0), rel=2e-2)
    for prior in ALL:
        if prior.dimension:
            m_hat = 1e16
            assert m_hat * prior.site(m_hat).mse == pytest.approx(prior.dimension, rel=1e-6)
        else:
            assert prior.site(prior.strongest).mse < 1e-20


@pytest.mark.parametrize("prior", [Binary(), GaussBernoulli(0.02), TwoGaussians(0.95), TwoGaussians(0.999)], ids=str)
@pytest.mark.parametrize("m_hat", [1e-6, 0.5, 40.0])
def test_twice_the_nodes(prior, m_hat, monkeypatch):
    before = prior.site(m_hat)
    monkeypatch.setattr(priors, "MIXTURE_SPACING", 0.025)
    assert prior.site(m_hat) == pytest.approx(before, rel=1e-10, abs=1e-16)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GaussBernoulli(0.0), r"density = 0 is out of range: allowed are \[0.001, 1\]"),
        (lambda: TwoGaussians(1.0), r"centre = 1 is out of range: allowed are \[0, 0.999\]"),
        (lambda: GaussBernoulli("few"), "density = 'few' is not a number"),  # type: ignore[arg-type]
        (lambda: as_prior("binry"), "nearest is 'binary'"),
        (lambda: as_prior(Gaussian), "prior = <class .*Gaussian'>: allowed are gaussian, binary, and a Prior as in"),  # type: ignore[arg-type]
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()
