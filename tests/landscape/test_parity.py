"""The parity machine: solutions by hand, and how many weights near them are solutions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from localentropy.errors import DomainError
from localentropy.instances.committee import random_tree_committee
from localentropy.landscape.committee_local_entropy import at_distance, committee_solution_fraction
from localentropy.landscape.parity import parity_solution, parity_solves

SMALL = random_tree_committee(N=99, P=24, K=3, seed=4)


def outputs(weights: np.ndarray) -> list[int]:
    """The product of the signs of the units on each pattern, by the definition."""
    found = []
    for pattern in SMALL.data.patterns:
        product = 1
        for k, block in enumerate(np.split(pattern, 3)):
            product *= 1 if weights[k] @ block > 0 else -1
        found.append(product)
    return found


def test_a_solution_gives_every_label_as_the_product_of_its_units() -> None:
    weights = parity_solution(SMALL, seed=0)
    assert np.linalg.norm(weights, axis=1) == pytest.approx(1.0)
    assert outputs(weights) == SMALL.data.labels.tolist() and parity_solves(SMALL, weights)
    flipped = weights * np.array([[-1.0], [1.0], [1.0]])
    assert outputs(flipped) == (-SMALL.data.labels).tolist() and not parity_solves(SMALL, flipped)


def test_units_have_the_largest_margins_of_their_signs() -> None:
    weights = parity_solution(SMALL, seed=0)
    for k in range(3):
        inputs = SMALL.unit_inputs[k].astype(float)
        inputs = inputs * np.sign(inputs @ weights[k])[:, None]
        margin = (inputs @ weights[k]).min()
        shortest = minimize(
            lambda w: w @ w, weights[k] / margin, jac=lambda w: 2 * w, method="SLSQP",
            constraints={"type": "ineq", "fun": lambda w, x=inputs: x @ w - 1.0, "jac": lambda w, x=inputs: x},
            options={"ftol": 1e-12, "maxiter": 500},
        )  # fmt: skip
        assert margin == pytest.approx(1.0 / math.sqrt(shortest.fun), rel=1e-6)


def test_other_seeds_draw_other_representations() -> None:
    one, same, other = (parity_solution(SMALL, seed) for seed in (0, 0, 1))
    assert (one == same).all() and abs(one - other).max() > 0.01 and parity_solves(SMALL, other)


def test_the_fraction_is_that_of_random_weights_at_the_distance() -> None:
    weights, draws = parity_solution(SMALL, seed=0), 1000
    found = committee_solution_fraction(SMALL, weights, distance=0.05, draws=draws, seed=0, machine="parity")
    drawn = at_distance(weights, 0.05, np.random.default_rng(7).standard_normal((draws, 3, 33)))
    solved = np.mean([outputs(one) == SMALL.data.labels.tolist() for one in drawn])
    assert 0.1 < solved < 0.9
    assert found.fraction == pytest.approx(solved, abs=4 * math.sqrt(2 * solved * (1 - solved) / draws))
    majority = committee_solution_fraction(SMALL, weights, distance=0.05, draws=draws, seed=0)
    assert majority.fraction < 0.5 * solved


def test_two_weights_per_unit_are_counted_exactly() -> None:
    """Every unit has two directions at a distance: the fraction is a sum over eight machines."""
    instance = random_tree_committee(N=6, P=2, K=3, seed=3)
    weights = parity_solution(instance, seed=0)
    D = 0.2
    turned = math.acos(1.0 - 2.0 * D) * np.array([1.0, -1.0])
    rotate = [np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in turned]
    both = np.array([[turn @ unit for turn in rotate] for unit in weights])
    exact = np.mean([
        parity_solves(instance, np.array([both[k, choice[k]] for k in range(3)]))
        for choice in itertools.product((0, 1), repeat=3)
    ])  # fmt: skip
    found = committee_solution_fraction(instance, weights, distance=D, draws=4000, seed=0, machine="parity")
    assert 0.0 < exact < 1.0
    assert found.fraction == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000))


def test_what_cannot_be_is_refused() -> None:
    many = random_tree_committee(N=9, P=30, K=3, seed=0)
    with pytest.raises(DomainError, match=r"P = 30 patterns: a unit of 3 inputs cannot have the signs .* P = 6"):
        parity_solution(many, seed=0)
    with pytest.raises(DomainError, match=r"machine = 'parities'.*committee.*parity"):
        committee_solution_fraction(SMALL, np.ones((3, 33)), distance=0.1, draws=9, seed=0, machine="parities")
