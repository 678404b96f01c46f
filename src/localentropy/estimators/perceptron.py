"""The perceptron with ±1 weights as a classifier of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localentropy import solvers
from localentropy.arguments import require_choice
from localentropy.estimators.classifier import TwoClasses
from localentropy.instances.perceptron import Instance
from localentropy.solvers.solution import Solution


class BinaryPerceptronClassifier(TwoClasses):
    """The sign of Σ_i w_i x_i with weights w_i = ±1, which a solver of `localentropy.solvers` looks for.

    Args:
        solver: "anneal", "mct0", "sbpi", "belief_propagation", "focusing_bp" or "binarynet", which needs PyTorch.
        margin: κ, the smallest stability that the solver asks for.
        fit_intercept: append inputs that are always 1: two if the number of inputs is odd, else one. So the number of
            weights is odd, as it must be for ±1 inputs.
        binarize: an input becomes +1 above its median over the training set, and −1 elsewhere. A training set that is
            all ±1 stays as it is. "sbpi" needs ±1 inputs.
        random_state: an integer is the seed of the solver; None, or a random state, draws one.
        solver_options: more arguments of the solver.

    Raises:
        DomainError: from `fit`: an unknown solver, or what the solver refuses.

    Example:
        >>> from localentropy.estimators import BinaryPerceptronClassifier
        >>> from localentropy.instances import hidden_manifold
        >>> data = hidden_manifold(D=101, P=303, N=607, seed=0)
        >>> classifier = BinaryPerceptronClassifier("sbpi", fit_intercept=False, random_state=0)
        >>> classifier.fit(data.patterns, data.labels).score(data.patterns, data.labels)
        1.0
    """

    def __init__(
        self,
        solver: str = "focusing_bp",
        *,
        margin: float = 0.0,
        fit_intercept: bool = True,
        binarize: bool = False,
        random_state: Any = None,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.solver = solver
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.binarize = binarize
        self.random_state = random_state
        self.solver_options = solver_options

    def _constants(self, inputs: int) -> int:
        return 1 + inputs % 2

    def _solve(self, problem: Instance, seed: int) -> Solution:
        solve = getattr(solvers, require_choice("solver", self.solver, solvers.MODULES))
        solution: Solution = solve(problem, margin=self.margin, seed=seed, **(self.solver_options or {}))
        return solution

    def _fields(self, problem: Instance) -> np.ndarray:
        return problem.stabilities(self.solution_.weights)
