"""Solvers of the binary perceptron as parameters: a program that runs one of them has the options of that solver."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from localentropy import quantities, solvers
from localentropy.programs.parts.parameters import ExperimentParameters, given
from localentropy.quantities import Quantity

if TYPE_CHECKING:
    from localentropy.instances.perceptron import Instance
    from localentropy.solvers.solution import Solution

    Solver = str
else:
    Solver = Literal[tuple(solvers.MODULES)]

MESSAGES = (quantities.DAMPING, quantities.STEPS, quantities.TOLERANCE, quantities.EPSILON)


def solver_address(solver: str) -> str:
    """`<module>:<function>` of a solver, for stamps: it is imported at run time, so no import shows it."""
    return f"{solvers.MODULES[solver]}:{solver}"


class SolverParameters(ExperimentParameters):
    """Parameters of a program that runs a solver. Each solver adds its own options."""

    CHOICE = "solver"
    solver: Solver = Field(description="the algorithm (docs/solvers)")

    def modules(self) -> list[str]:
        """The solver and the code it uses. A table does not depend on other solvers."""
        return [solver_address(self.solver)]

    def options(self) -> dict[str, Any]:
        """Arguments of the solver."""
        return {option.name: getattr(self, option.name) for option in OPTIONS[self.solver]}

    def solve(self, instance: Instance, *, margin: float, seed: int) -> Solution:
        """One run.

        Args:
            instance: the problem.
            margin: smallest stability κ of a solution.
            seed: root seed of the solver's random numbers.
        """
        solver = getattr(solvers, self.solver)
        if "torch" in sys.modules:  # it has its own pool of threads, outside the job's limit
            sys.modules["torch"].set_num_threads(self.threads)
        solution: Solution = solver(instance, margin=margin, seed=seed, **self.options())
        return solution


OPTIONS: dict[str, tuple[Quantity, ...]] = {
    "anneal": (quantities.BETA_START, quantities.BETA_STEP, quantities.SWEEPS),
    "mct0": (quantities.SWEEPS, quantities.SWEEPS_AFTER),
    "sbpi": (quantities.THETA, quantities.REINFORCEMENT, quantities.PASSES),
    "belief_propagation": MESSAGES,
    "focusing_bp": (*MESSAGES, quantities.COUPLINGS, quantities.REPLICAS_OF_MESSAGES),
    "binarynet": (quantities.SCALE_OF_SIGNS, quantities.RATE_OF_SIGNS, quantities.EPOCHS, quantities.SPREAD),
}
"""Solver → the arguments of its function that a configuration sets. Their values are chosen here."""


def with_options(program: type[SolverParameters]) -> dict[str, type[SolverParameters]]:
    """Solver → a program's parameters and the options of that solver."""
    return {
        solver: create_model(
            f"{program.__name__}_{solver}",
            __base__=program,
            __module__=program.__module__,
            **{one.name: (one.type, given(one, f"{one.words} (C)")) for one in options},  # type: ignore[call-overload]
        )
        for solver, options in OPTIONS.items()
    }
