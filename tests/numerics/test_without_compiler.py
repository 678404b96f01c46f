"""NUMBA_DISABLE_JIT=1: the interpreter runs every kind of kernel, and gives the numbers of compiled code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localentropy.instances import hidden_manifold
from localentropy.instances.committee import random_full_committee, random_tree_committee
from localentropy.landscape.committee_local_entropy import committee_local_entropy
from localentropy.solvers import anneal, belief_propagation, focusing_bp, mct0, sbpi
from localentropy.solvers.amp import amp
from localentropy.solvers.committee.belief_propagation import committee_belief_propagation
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.sgd import Schedule, committee_sgd
from localentropy.theory import Perceptron, RandomFeatures, patterns, tree_patterns, typical

PROGRAM = f"""
import json, sys
sys.path.append({str(Path(__file__).parent)!r})
from {Path(__file__).stem} import answers
print(json.dumps(answers()))
"""


def theory() -> dict[str, Any]:
    with_teacher = typical(RandomFeatures(alpha_T=3.0, inv_alpha=2.0, margin=0.0, activation="sign"))
    value, gradient, hessian = patterns._cross_entropy(0.4, 0.3, 1.0, 2.0, 0.2)
    return {
        "typical": typical(Perceptron(alpha=0.5, margin=0.1)).entropy,
        "with a teacher": [with_teacher.entropy, with_teacher.r],
        "cross-entropy": [value, *gradient, *hessian.ravel()],
        "a unit of a tree": tree_patterns._one_unit(1.5, 0.5, np.array([-1.0, 0.3]), np.array([0.4, 0.6])),
    }


def binary() -> dict[str, Any]:
    lattice, real = (hidden_manifold(D=5, P=12, N=61, seed=0, activation=name) for name in ("sign", "tanh"))
    solutions = {
        "annealing": anneal(lattice, margin=0.1, seed=0, sweeps=3),
        "annealing of real patterns": anneal(real, margin=0.1, seed=0, sweeps=3),
        "annealing of an energy": anneal(lattice, seed=0, sweeps=3, energy="cross_entropy"),
        "zero temperature": mct0(lattice, margin=0.1, seed=0, sweeps=3),
        "SBPI": sbpi(lattice, margin=0.1, seed=0, passes=3),
        "belief propagation": belief_propagation(real, margin=0.1, seed=0, max_iterations=3),
        "focusing": focusing_bp(lattice, margin=0.1, seed=0, steps=3, max_iterations=2),
        "AMP": amp(lattice, margin=0.1, seed=0, max_iterations=3),
    }
    fields = {f"fields of {name}": solutions[name].magnetizations.tolist() for name in ("belief propagation", "AMP")}
    return {name: solution.weights.tolist() for name, solution in solutions.items()} | fields


def committees() -> dict[str, Any]:
    tree, full = random_tree_committee(N=27, P=8, K=3, seed=0), random_full_committee(N=9, P=8, K=3, seed=0)
    weights = committee_least_action(full, seed=0, epochs=3).weights
    near = committee_local_entropy(full, weights, distances=[0.1], method="expectation_propagation", max_iterations=2)
    return {
        "least action": weights.tolist(),
        "local entropy": near.entropy.tolist(),
        "tree": committee_belief_propagation(tree, max_iterations=3).entropy,
        "focusing committee": committee_focusing_bp(full, seed=0, steps=2, max_iterations=2).weights.tolist(),
        "gradient descent": committee_sgd(tree, seed=0, schedule=Schedule(epochs=3)).weights.tolist(),
    }


def answers() -> dict[str, Any]:
    return theory() | binary() | committees()


@pytest.fixture(scope="module")
def interpreted() -> dict[str, Any]:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error::RuntimeWarning"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_interpreter_and_compiler_agree(interpreted):
    compiled = answers()
    assert interpreted.keys() == compiled.keys()
    for name, answer in compiled.items():
        np.testing.assert_allclose(interpreted[name], answer, rtol=1e-9, atol=1e-9, err_msg=name)
