"""Solvers of committee machines as parameters: the options of each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    from localentropy.instances.committee import Committee
    from localentropy.solvers.solution import Solution


class FocusingOptions(BaseModel):
    """Options of focusing belief propagation."""

    coupling_start: float = Field(gt=0, le=1e6, description="first coupling λ (T)")
    coupling_end: float = Field(gt=0, le=1e6, description="last coupling λ; geometric between (T)")
    steps: int = Field(ge=1, le=10_000, description="values of the coupling (C)")
    replicas: float = Field(gt=1, le=1000, description="virtual replicas y (C)")
    damping: float = Field(ge=0, lt=1, description="weight of the old messages in an update (C)")
    max_iterations: int = Field(ge=1, le=1_000_000, description="most updates at each coupling (C)")
    tolerance: float = Field(gt=0, lt=1, description="largest change of a mean at convergence (C)")
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


class DescentOptions(BaseModel):
    """Options of stochastic gradient descent."""

    learning_rate: float = Field(gt=0, le=10, description="step size η, of the gradient summed over a mini-batch (C)")
    batch: int = Field(ge=1, le=1_000_000, description="patterns in a mini-batch (C)")
    beta: float = Field(gt=0, le=1e3, description="β of the first epoch, the slope of the units tanh(βx) (C)")
    beta_growth: float = Field(ge=0, le=1, description="β is multiplied by 1 + this after each epoch (C)")
    gamma: float = Field(gt=0, le=1e3, description="γ of the first epoch, the scale of the cross-entropy (C)")
    gamma_growth: float = Field(ge=0, le=1, description="γ is multiplied by 1 + this after each epoch (C)")
    epochs: int = Field(ge=1, le=10_000_000, description="most epochs (C)")


class Solver(BaseModel):
    """A solver and its options."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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


class LeastAction(Solver):
    """The least-action rule."""

    solver: Literal["least_action"]
    learning_rate: float = Field(gt=0, le=10, description="step size η (T)")
    batch: int = Field(ge=1, le=1_000_000, description="patterns in a mini-batch (T)")
    epochs: int = Field(ge=1, le=10_000_000, description="most epochs (C)")


class EntropicLeastAction(LeastAction):
    """The least-action rule on coupled replicas."""

    solver: Literal["entropic_least_action"]  # type: ignore[assignment]
    replicas: int = Field(ge=2, le=1000, description="replicas y (T)")
    coupling: float = Field(gt=0, le=1e6, description="coupling λ of the first epoch (T)")
    coupling_growth: float = Field(ge=0, le=1, description="λ is multiplied by 1 + this after each epoch (T)")
    tolerance: float = Field(gt=0, lt=1, description="the squared distances of the replicas add up to less (T)")


class Descent(Solver, DescentOptions):
    """Stochastic gradient descent on the cross-entropy."""

    solver: Literal["sgd"]
    stop: Literal["errors", "loss"] = Field(
        description="errors: at the first epoch without any; loss: when the loss is below its tolerance (T)"
    )
    loss_tolerance: float = Field(gt=0, lt=1, description="the loss of a mini-batch at the end, for stop = loss (T)")

    def arguments(self, seed: int) -> dict[str, Any]:
        """Seed and schedule."""
        from localentropy.solvers.committee.sgd import Schedule

        return {"seed": seed, "schedule": Schedule(**self.model_dump(exclude={"solver"}))}


AnySolver = Annotated[Focusing | LeastAction | EntropicLeastAction | Descent, Field(discriminator="solver")]
"""A solver of committee machines, and its options."""
