"""Many runs side by side: their number where the system does not tell which processors are allowed."""

from __future__ import annotations

import os

from localentropy.instances.perceptron import random_patterns
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.sbpi import sbpi


def test_runs_are_made_where_processors_are_only_counted(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    instances = [random_patterns(N=33, P=5, seed=seed) for seed in range(2)]
    assert all(one.solved for one in solve_many(sbpi, instances, seeds=[0, 1]))
