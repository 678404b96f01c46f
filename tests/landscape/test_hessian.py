"""Hessian of committees with tanh units: against automatic differentiation, many digits, and cases worked by hand."""

import math

import mpmath
import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.instances.committee import (
    FullCommittee,
    TreeCommittee,
    random_full_committee,
    random_tree_committee,
    unit_norm,
)
from localentropy.instances.perceptron import Instance
from localentropy.landscape import hessian as module
from localentropy.landscape.hessian import hessian_eigenvalues, largest_eigenvalue, smallest_valid_beta
from localentropy.quantities import BETA


def automatic(instance, weights, beta):
    """The matrix by torch, from the loss as the text has it."""
    K, size = weights.shape
    patterns = torch.from_numpy(instance.data.patterns.astype(float))
    labels = torch.from_numpy(instance.data.labels.astype(float))
    tree = isinstance(instance, TreeCommittee)

    def loss(flat):
        units = flat.view(K, size)
        fields = torch.einsum("pki,ki->pk", patterns.view(-1, K, size), units) if tree else patterns @ units.T
        output = torch.tanh(torch.tanh(beta * fields).sum(1) / math.sqrt(K))
        return ((labels - output) ** 2).mean()

    matrix = torch.autograd.functional.hessian(loss, torch.from_numpy(unit_norm(weights)).flatten())
    return matrix.numpy()


@pytest.mark.parametrize("make", [random_tree_committee, random_full_committee])
@pytest.mark.parametrize(("K", "N", "beta"), [(1, 12, 1.0), (3, 12, 0.3), (3, 12, 4.0), (5, 20, 1.7), (9, 18, 90.0)])
def test_spectrum_is_that_of_automatic_differentiation(make, K, N, beta):
    instance = make(N=N, P=30, K=K, seed=K)
    weights = np.random.default_rng(0).standard_normal((K, instance.inputs_per_unit))
    expected = np.linalg.eigvalsh(automatic(instance, weights, beta))
    found = hessian_eigenvalues(instance, weights, beta)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("make", [random_tree_committee, random_full_committee])
@pytest.mark.parametrize("beta", [0.5, 20.0])
def test_product_is_that_of_automatic_differentiation(make, beta):
    instance = make(N=15, P=40, K=3, seed=1)
    random = np.random.default_rng(1)
    weights = random.standard_normal((3, instance.inputs_per_unit))
    vector = random.standard_normal(weights.size)
    expected = automatic(instance, weights, beta) @ vector
    found = module._Terms(instance, weights, beta).product(vector)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("make", "N"), [(random_tree_committee, 153), (random_full_committee, 51)])
@pytest.mark.parametrize("beta", [1.5, 25.0, 90.0])
def test_largest_eigenvalue_is_the_last_of_all(make, N, beta):
    instance = make(N=N, P=120, K=3, seed=2)
    weights = np.random.default_rng(3).standard_normal((3, instance.inputs_per_unit))
    all_of_them = hessian_eigenvalues(instance, weights, beta)
    assert largest_eigenvalue(instance, weights, beta) == pytest.approx(all_of_them[-1], rel=1e-9)
    # The start is fixed, so a second call has the same bits.
    assert largest_eigenvalue(instance, weights, beta) == largest_eigenvalue(instance, weights, beta)


@pytest.mark.parametrize("beta", [0.5, 10.0, 40.0, 90.0])
def test_digits_stay_where_a_unit_is_far_out(beta):
    """One pattern of one unit: the only eigenvalue that is not 0 is that of the direction of the pattern."""
    weights = np.array([0.48, 0.6, 0.64])
    instance = TreeCommittee(Instance(np.array([[1, 1, -1]], np.int8), np.array([1], np.int8), 0), 1)
    with mpmath.workdps(80):
        x = sum(mpmath.mpf(float(w)) * s for w, s in zip(weights / np.linalg.norm(weights), (1, 1, -1), strict=True))
        exact = 3 * mpmath.diff(lambda y: (1 - mpmath.tanh(mpmath.tanh(beta * y))) ** 2, x, 2)
    values = hessian_eigenvalues(instance, weights[None], beta)
    largest = values[np.argmax(np.abs(values))]
    assert largest == pytest.approx(float(exact), rel=1e-11)


def test_nothing_overflows_at_any_steepness():
    for make in (random_tree_committee, random_full_committee):
        instance = make(N=27, P=20, K=9, seed=0)
        weights = np.random.default_rng(0).standard_normal((9, instance.inputs_per_unit))
        for beta in (1e3, 1e6, 1e9):
            values = hessian_eigenvalues(instance, weights, beta)
            assert np.isfinite(values).all()
            assert largest_eigenvalue(instance, weights, beta) == pytest.approx(values[-1], rel=1e-9, abs=1e-300)


def test_norms_of_the_units_do_not_matter():
    instance = random_full_committee(N=10, P=20, K=3, seed=0)
    weights = np.random.default_rng(0).standard_normal((3, 10))
    stretched = weights * [[3.0], [0.01], [1e200]]
    np.testing.assert_allclose(
        hessian_eigenvalues(instance, stretched, 2.0), hessian_eigenvalues(instance, weights, 2.0), atol=1e-13
    )
    betas = np.geomspace(0.1, 100, 200)
    labels = np.sign(np.sign(instance.data.patterns @ weights.T).sum(1)).astype(np.int8)
    solved = FullCommittee(Instance(instance.data.patterns, labels, 0), 3)
    assert smallest_valid_beta(solved, stretched, betas) == smallest_valid_beta(solved, weights, betas) > 0.1


def test_smallest_beta_of_one_pattern_by_hand():
    """Two units right by a, one wrong by b > 2a: 2 tanh βa > tanh βb from some β on.

    With b = 3a and t = tanh βa the condition is 2t > (3t + t³)/(1 + 3t²), so 5t² > 1: βa > artanh(1/√5) = 0.4812.
    """
    # Two inputs for each unit, weights with w·ξ = a, a and −3a.
    a = 0.3
    weights = np.array([[a, 0.0], [a, 0.0], [-3 * a, 0.0]])
    weights[:, 1] = np.sqrt(1 - weights[:, 0] ** 2)
    # ξ = (1, 1): w·ξ is the sum; turn each unit so that this sum is the wanted number.
    angle = np.arcsin(weights[:, 0] / math.sqrt(2)) - math.pi / 4
    weights = np.stack([np.sin(angle + math.pi / 2), np.sin(angle)], axis=1)
    np.testing.assert_allclose(weights.sum(1), [a, a, -3 * a], atol=1e-12)
    instance = TreeCommittee(Instance(np.ones((1, 6), np.int8), np.ones(1, np.int8), 0), 3)
    border = math.atanh(1 / math.sqrt(5)) / a
    grid = [border * factor for factor in (0.5, 0.99, 1.01, 1.2, 3.0)]
    assert smallest_valid_beta(instance, weights, grid) == grid[2]
    assert smallest_valid_beta(instance, weights, grid[::-1]) == grid[2]
    assert math.isnan(smallest_valid_beta(instance, weights, grid[:2]))
    assert math.isnan(smallest_valid_beta(instance, -weights, grid))


def test_an_error_at_a_larger_beta_counts():
    """Units at 1, −1/3 and −1/3 are right at small β, and wrong at large β, where only signs count."""
    wanted = np.array([1.0, -1 / 3, -1 / 3])
    angle = np.arcsin(wanted / math.sqrt(2)) - math.pi / 4
    weights = np.stack([np.sin(angle + math.pi / 2), np.sin(angle)], axis=1)
    instance = TreeCommittee(Instance(np.ones((1, 6), np.int8), np.ones(1, np.int8), 0), 3)
    np.testing.assert_allclose(instance.preactivations(weights)[0], wanted, atol=1e-12)
    assert smallest_valid_beta(instance, weights, [0.1, 0.2]) == 0.1
    assert math.isnan(smallest_valid_beta(instance, weights, [0.1, 0.2, 50.0]))


def test_nothing_overflows_at_the_largest_beta():
    instance = random_tree_committee(N=30, P=5, K=3, seed=0)
    assert not hessian_eigenvalues(instance, np.ones((3, 10)) + np.arange(10) / 7, BETA.high).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one, w: hessian_eigenvalues(one, w, 0.0), "beta = 0 is out of range"),
        (lambda one, w: largest_eigenvalue(one, w, math.inf), "beta = inf is out of range"),
        (lambda one, w: largest_eigenvalue(one, w[:, :2], 1.0), "weights of shape (3, 2): allowed is (3, 4)"),
        (lambda one, w: hessian_eigenvalues(one, 0 * w, 1.0), "weights: a unit is all zeros"),
        (lambda one, w: hessian_eigenvalues(w, w, 1.0), "instance = ndarray object: allowed is a TreeCommittee"),
        (lambda one, w: largest_eigenvalue(one.data, w, 1.0), "instance = Instance object: allowed is a TreeCommittee"),
        (lambda one, w: smallest_valid_beta(one, w, []), "no beta given"),
        (lambda one, w: smallest_valid_beta(one, w, [1.0, -2.0]), "beta = -2 is out of range: allowed are (0, 1e+100]"),
    ],
)
def test_wrong_arguments(call, message):
    instance = random_tree_committee(N=12, P=5, K=3, seed=0)
    with pytest.raises(DomainError) as error:
        call(instance, np.ones((3, 4)))
    assert message in str(error.value)
