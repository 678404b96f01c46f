"""Solvers of committee machines as parameters: the options of each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.parameters import Section, given

if TYPE_CHECKING:
    from localentropy.instances.committee import Committee
    from localentropy.solvers.solution import Solution


class FocusingOptions(Section):
    """Options of focusing belief propagation."""

    coupling_start: float = given(quantities.COUPLING_START, "first coupling λ (T)")
    coupling_end: float = given(quantities.COUPLING_END, "last coupling λ; geometric between (T)")
    steps: int = given(quantities.COUPLINGS, "values of the coupling (C)")
    replicas: float = given(quantities.REPLICAS_OF_MESSAGES, "virtual replicas y (C)")
    damping: float = given(quantities.DAMPING, "weight of the old messages in an update (C)")
    max_iterations: int = given(quantities.STEPS, "most updates at each coupling (C)")
    tolerance: float = given(quantities.TOLERANCE, "largest change of a mean at convergence (C)")
    stop: Literal["end", "first"] = Field(
        description="end: after all couplings; first: after the first at which there is no train error (C)"
    )

    @model_validator(mode="after")
    def _growing_coupling(self) -> Self:
        if self.coupling_start > self.coupling_end:
            raise ValueError(
                f"coupling_start = {self.coupling_start} must not lie above coupling_end = {self.coupling_end}"
            )
        return self


class DescentOptions(Section):
    """Options of stochastic gradient descent."""

    learning_rate: float = given(quantities.LEARNING_RATE, "step size η, of the gradient summed over a mini-batch (C)")
    batch: int = given(quantities.BATCH, "patterns in a mini-batch (C)")
    beta: float = given(quantities.BETA, "β of the first epoch, the slope of the units tanh(βx) (C)")
    beta_growth: float = given(quantities.BETA_GROWTH, "β is multiplied by 1 + this after each epoch (C)")
    gamma: float = given(quantities.GAMMA_OF_LOSS, "γ of the first epoch, the scale of the cross-entropy (C)")
    gamma_growth: float = given(quantities.GAMMA_GROWTH, "γ is multiplied by 1 + this after each epoch (C)")
    epochs: int = given(quantities.EPOCHS, "most epochs (C)")


class Solver(Section):
    """A solver and its options."""

    solver: str = Field(description="the algorithm (docs/solvers/committee.md)")

    @property
    def function(self) -> str:
        """The solver, as `<module>:<function>`."""
        return f"localentropy.solvers.committee.{self.solver}:committee_{self.solver}"

    def arguments(self, seed: int) -> dict[str, Any]:
        """Arguments of the solver besides the problem."""
        return {"seed": seed, **self.model_dump(exclude={"solver"})}

    def solve(self, instance: Committee, seed: int) -> Solution:
        """One run.

        Args:
            instance: the problem.
            seed: root seed of the run.
        """
        module, _, function = self.function.partition(":")
        solution: Solution = getattr(import_module(module), function)(instance, **self.arguments(seed))
        return solution


class Focusing(Solver, FocusingOptions):
    """Focusing belief propagation. On a tree it has no randomness."""

    solver: Literal["focusing_bp"]


class Rule(Solver):
    """Options that least-action rules share."""

    learning_rate: float = given(quantities.RATE_OF_RULE, "step size η (T)")
    batch: int = given(quantities.BATCH, "patterns in a mini-batch (T)")
    epochs: int = given(quantities.EPOCHS, "most epochs (C)")


class LeastAction(Rule):
    """The least-action rule."""

    solver: Literal["least_action"]
    renormalise: bool = Field(description="divide each unit by its norm after every mini-batch (C)")


class EntropicLeastAction(Rule):
    """The least-action rule on coupled replicas."""

    solver: Literal["entropic_least_action"]
    replicas: int = given(quantities.REPLICAS_OF_RULE, "replicas y (T)")
    coupling: float = given(quantities.COUPLING, "coupling λ of the first epoch (T)")
    coupling_growth: float = given(quantities.COUPLING_GROWTH, "λ is multiplied by 1 + this after each epoch (T)")
    tolerance: float = given(quantities.SPREAD_OF_REPLICAS, "the squared distances of the replicas add up to less (T)")


class Descent(Solver, DescentOptions):
    """Stochastic gradient descent on the cross-entropy."""

    solver: Literal["sgd"]
    stop: Literal["errors", "loss"] = Field(
        description="errors: at the first epoch without any; loss: when the loss is below its tolerance (T)"
    )
    loss_tolerance: float = given(quantities.LOSS, "the loss of a mini-batch at the end, for stop = loss (T)")

    def arguments(self, seed: int) -> dict[str, Any]:
        """Seed and schedule."""
        from localentropy.solvers.committee.sgd import Schedule

        return {"seed": seed, "schedule": Schedule(**self.model_dump(exclude={"solver"}))}


AnySolver = Annotated[Focusing | LeastAction | EntropicLeastAction | Descent, Field(discriminator="solver")]
"""A solver of committee machines, and its options."""
