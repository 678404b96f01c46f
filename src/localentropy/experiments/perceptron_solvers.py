"""Solvers of the binary perceptron as parameters: a program that runs one of them has the options of that solver."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from localentropy.experiments.parameters import ExperimentParameters
from localentropy.solvers import MODULES

if TYPE_CHECKING:
    from localentropy.instances.perceptron import Instance
    from localentropy.solvers.solution import Solution


class SolverParameters(ExperimentParameters):
    """Parameters of a program that runs a solver. Each solver adds its own options."""

    CHOICE = "solver"
    solver: Literal["anneal", "mct0", "sbpi", "belief_propagation", "focusing_bp", "binarynet"] = Field(
        description="the algorithm (docs/solvers)"
    )

    def modules(self) -> list[str]:
        """The solver and the code it uses. A table does not depend on other solvers."""
        return [f"{MODULES[self.solver]}:{self.solver}"]

    def options(self) -> dict[str, Any]:
        """Arguments of the solver: the fields that its model adds."""
        names = set(OPTIONS[self.solver].model_fields) - set(SolverParameters.model_fields)
        return self.model_dump(include=names)

    def solve(self, instance: Instance, *, margin: float, seed: int) -> Solution:
        """One run.

        Args:
            instance: the problem.
            margin: smallest stability κ of a solution.
            seed: root seed of the solver's random numbers.
        """
        module, _, function = self.modules()[0].partition(":")
        solver = getattr(import_module(module), function)
        if "torch" in sys.modules:  # it has its own pool of threads, outside the job's limit
            sys.modules["torch"].set_num_threads(self.threads)
        solution: Solution = solver(instance, margin=margin, seed=seed, **self.options())
        return solution


class Annealing(SolverParameters):
    """Simulated annealing on the number of errors."""

    beta_start: float = Field(gt=0, le=1000, description="first inverse temperature: linear schedule (T), value (C)")
    beta_step: float = Field(ge=0, le=1000, description="increase of the inverse temperature in each sweep (C)")
    sweeps: int = Field(ge=1, le=10_000_000, description="most sweeps (C)")


class ZeroTemperature(SolverParameters):
    """Monte Carlo at zero temperature."""

    sweeps: int = Field(ge=1, le=10_000_000, description="most sweeps (C)")


class StochasticBeliefPropagation(SolverParameters):
    """Stochastic BP-inspired learning."""

    theta: int = Field(ge=1, le=1001, description="largest sum that is reinforced, a value of the lattice (C)")
    reinforcement: float = Field(ge=0, le=1, description="probability p_s of a reinforcement (C)")
    passes: int = Field(ge=1, le=10_000_000, description="most passes over the patterns (C)")


class MessagePassing(SolverParameters):
    """Belief propagation."""

    damping: float = Field(ge=0, lt=1, description="weight of the old fields in an update (C)")
    max_iterations: int = Field(ge=1, le=1_000_000, description="most updates, at each coupling (C)")
    tolerance: float = Field(gt=0, lt=1, description="largest change of a magnetization at convergence (C)")
    epsilon: float = Field(ge=0, lt=1, description="range of the random initial magnetizations (C)")


class Focusing(MessagePassing):
    """Focusing belief propagation."""

    steps: int = Field(ge=1, le=10_000, description="values of the coupling (C)")
    replicas: float = Field(gt=1, le=1000, description="virtual replicas y (C)")


class BinaryNet(SolverParameters):
    """Gradient descent on real weights whose signs are the student's."""

    logit_scale: float = Field(gt=0, le=1e6, description="c√N, the scale of the pre-activation in the loss (C)")
    learning_rate: float = Field(gt=0, le=1, description="step size of Adam (C)")
    epochs: int = Field(ge=1, le=10_000_000, description="full-batch updates (C)")
    spread: float = Field(gt=0, le=1, description="range of the initial real weights (C)")


OPTIONS: dict[str, type[SolverParameters]] = {
    "anneal": Annealing,
    "mct0": ZeroTemperature,
    "sbpi": StochasticBeliefPropagation,
    "belief_propagation": MessagePassing,
    "focusing_bp": Focusing,
    "binarynet": BinaryNet,
}
"""Solver → the model of its options."""


def with_options(program: type[SolverParameters]) -> dict[str, type[SolverParameters]]:
    """Solver → a program's parameters and the options of that solver."""
    return {
        solver: create_model(options.__name__, __base__=(options, program), __module__=program.__module__)
        for solver, options in OPTIONS.items()
    }
