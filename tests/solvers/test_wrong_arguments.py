"""What every solver does with odd input: it refuses in one line, or works."""

from __future__ import annotations

import math

import numpy as np
import pytest

from localentropy import solvers
from localentropy.errors import DomainError
from localentropy.instances import hidden_manifold, random_patterns

NAMES = ["anneal", "mct0", "sbpi", "belief_propagation", "focusing_bp", "binarynet"]
SMALL = hidden_manifold(D=5, P=20, N=61, seed=0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "options, message",
    [
        ({"margin": -1}, "margin = -1"),
        ({"margin": 1e9}, "margin = 1000000000.0 is out of range"),
        ({"margin": math.nan}, "margin = nan must be finite"),
        ({"margin": "0"}, "margin = '0' is not a number"),
        ({"margin": True}, "margin = True is not a number"),
        ({"margin": None}, "margin = None is not a number"),
        ({"seed": None}, "seed = None is not an integer"),
        ({"seed": 1.5}, "seed = 1.5 is not an integer"),
    ],
)
def test_common_arguments_are_checked_by_every_solver(name, options, message):
    with pytest.raises(DomainError, match=message) as refused:
        getattr(solvers, name)(SMALL, **({"seed": 0} | options))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_instance_and_unknown_arguments_are_refused(name):
    with pytest.raises(DomainError, match=r"instance = ndarray object: allowed is an Instance"):
        getattr(solvers, name)(np.ones((3, 3)), seed=0)
    with pytest.raises(TypeError, match="margins"):
        getattr(solvers, name)(SMALL, seed=0, margins=0.0)


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("anneal", {"sweeps": 2.5}, "sweeps = 2.5 is not an integer"),
        ("anneal", {"sweeps": 10**12}, "sweeps = 1000000000000 is out of range"),
        ("anneal", {"beta_step": math.inf}, "beta_step = inf is out of range"),
        ("anneal", {"beta_start": "1"}, "beta_start = '1' is not a number"),
        ("mct0", {"sweeps": "3"}, "sweeps = '3' is not an integer"),
        ("sbpi", {"theta": "1"}, "theta = '1' is not an integer"),
        ("sbpi", {"reinforcement": math.nan}, "reinforcement = nan is out of range"),
        ("sbpi", {"passes": 1.5}, "passes = 1.5 is not an integer"),
        ("belief_propagation", {"damping": "x"}, "damping = 'x' is not a number"),
        ("belief_propagation", {"max_iterations": 2.5}, "max_iterations = 2.5 is not an integer"),
        ("belief_propagation", {"tolerance": "x"}, "tolerance = 'x' is not a number"),
        ("belief_propagation", {"update": 3}, "update = 3 is not known"),
        ("focusing_bp", {"steps": 2.5}, "steps = 2.5 is not an integer"),
        ("focusing_bp", {"cap": math.nan}, "cap = nan is out of range"),
        ("focusing_bp", {"stop": None}, "stop = None is not known"),
        ("binarynet", {"epochs": 1.5}, "epochs = 1.5 is not an integer"),
        ("binarynet", {"learning_rate": math.nan}, "learning_rate = nan is out of range"),
        ("binarynet", {"spread": "x"}, "spread = 'x' is not a number"),
    ],
)
def test_own_arguments_are_checked_by_type(name, options, message):
    with pytest.raises(DomainError, match=message) as refused:
        getattr(solvers, name)(SMALL, seed=0, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_numpy_small_problems_and_wide_latent_spaces_work(name):
    solve = getattr(solvers, name)
    one = solve(random_patterns(N=31, P=1, seed=0), seed=np.int64(0), margin=np.float32(0.1))
    assert one.solved and len(one.weights) == 31
    wide = hidden_manifold(D=200, P=20, N=601, seed=0)
    found = solve(wide, seed=0)
    assert found.solved == (wide.train_error(found.weights) == 0.0)


def test_an_unknown_solver_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(AttributeError, match=r"'aneal': allowed are anneal, .*, binarynet; nearest is 'anneal'"):
        solvers.aneal  # noqa: B018
