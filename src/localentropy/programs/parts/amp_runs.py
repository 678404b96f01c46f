"""Runs of approximate message passing on training sets of several loads, as parameters."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    Task,
    given,
    number_of_samples,
    require_distinct_sizes,
)


class MessagePassingParameters(ExperimentParameters):
    """Loads, sizes and the options of the solver."""

    alphas: Increasing[LoadOfRuns] = Field(description="labelled inputs per input of a unit, α = n/d (C)")
    tolerance: float = given(quantities.TOLERANCE, "largest change of a mean at convergence (C)")
    epsilon: float = given(quantities.FIRST_FIELD, "standard deviation of the first fields on the weights (C)")
    max_iterations: int = given(
        quantities.STEPS,
        "most updates (C); in a run that does not converge, rounding errors can grow over hundreds of them",
        size=True,
    )
    d: int = given(quantities.SIZE.within(low=2), "inputs of a unit (C)", size=True)
    samples: int = given(quantities.RUNS, "training sets at each α", size=True)

    @model_validator(mode="after")
    def _distinct_sizes(self) -> Self:
        require_distinct_sizes("alphas", self.alphas, "n", lambda alpha: number_of_samples(alpha, self.d))
        return self


def training_sets(parameters: MessagePassingParameters) -> list[Task]:
    """One training set each."""
    return [{"alpha": alpha, "sample": sample} for alpha in parameters.alphas for sample in range(parameters.samples)]


def bytes_of_inputs(parameters: MessagePassingParameters, task: Task) -> int:
    """Bytes of the inputs of a training set."""
    return 8 * number_of_samples(task["alpha"], parameters.d) * parameters.d
