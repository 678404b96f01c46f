"""Committee machines as classifiers of scikit-learn."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from localentropy.arguments import require_choice
from localentropy.estimators.classifier import TwoClasses
from localentropy.instances.committee import Committee, FullCommittee, TreeCommittee
from localentropy.instances.perceptron import Instance
from localentropy.quantities import UNITS
from localentropy.solvers.solution import Solution

ARCHITECTURES: dict[str, type[Committee]] = {"tree": TreeCommittee, "full": FullCommittee}
# Imported by name at run time: gradient descent needs PyTorch.
SOLVERS = {
    "least_action": "localentropy.solvers.committee.least_action",
    "entropic_least_action": "localentropy.solvers.committee.entropic_least_action",
    "focusing_bp": "localentropy.solvers.committee.focusing_bp",
    "sgd": "localentropy.solvers.committee.sgd",
}
"""Solver with a seed → its module."""


class CommitteeClassifier(TwoClasses):
    """The majority of K units sign(w_l·x_l) with real weights of norm 1, on ±1 inputs.

    Args:
        solver: "least_action", "entropic_least_action", "focusing_bp" or "sgd", which needs PyTorch.
        units: K, odd.
        architecture: "tree", where each unit has inputs of its own, or "full", where each unit sees all.
        fit_intercept: append inputs that are always 1: one, or on a tree as few as each unit needs to have the same
            number of inputs, two or more.
        binarize: an input becomes +1 above its median over the training set, and −1 elsewhere. A training set that is
            all ±1 stays as it is. If False, inputs must be ±1.
        random_state: an integer is the seed of the solver; None, or a random state, draws one.
        solver_options: more arguments of the solver.

    Raises:
        DomainError: from `fit`: an unknown solver or architecture, an even K, or what the solver refuses.

    Example:
        >>> from localentropy.estimators import CommitteeClassifier
        >>> from localentropy.instances import random_patterns
        >>> data = random_patterns(N=99, P=50, seed=0)
        >>> classifier = CommitteeClassifier("least_action", units=3, fit_intercept=False, random_state=0)
        >>> classifier.fit(data.patterns, data.labels).score(data.patterns, data.labels)
        1.0
    """

    def __init__(
        self,
        solver: str = "focusing_bp",
        *,
        units: int = 3,
        architecture: str = "tree",
        fit_intercept: bool = True,
        binarize: bool = True,
        random_state: Any = None,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.solver = solver
        self.units = units
        self.architecture = architecture
        self.fit_intercept = fit_intercept
        self.binarize = binarize
        self.random_state = random_state
        self.solver_options = solver_options

    def _constants(self, inputs: int) -> int:
        if self.architecture == "full":
            return 1
        K = UNITS.require(self.units)
        size = max(2, inputs // K + 1)  # of a unit
        return size * K - inputs

    def _machine(self, data: Instance) -> Committee:
        machine = ARCHITECTURES[require_choice("architecture", self.architecture, ARCHITECTURES)]
        return machine(data, self.units)

    def _solve(self, problem: Committee, seed: int) -> Solution:
        require_choice("solver", self.solver, SOLVERS)
        solve = getattr(importlib.import_module(SOLVERS[self.solver]), f"committee_{self.solver}")
        solution: Solution = solve(problem, seed=seed, **(self.solver_options or {}))
        return solution

    def _fields(self, problem: Committee) -> np.ndarray:
        votes: np.ndarray = np.sign(problem.preactivations(self.solution_.weights)).sum(1)
        return votes
