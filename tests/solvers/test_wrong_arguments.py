"""What every solver does with odd but valid input, and what is said of a solver that is none.

What they refuse is in `tests/robustness/test_odd_arguments.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from localentropy import solvers
from localentropy.instances import hidden_manifold, random_patterns

NAMES = ["anneal", "mct0", "sbpi", "belief_propagation", "focusing_bp", "binarynet"]


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
