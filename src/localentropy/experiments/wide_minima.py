"""Largest local entropy of groups of solutions of a tree machine with continuous weights (shaping, figures 1 and s1).

The members of a group have the same overlap with each other. Take all configurations at the members' distance from the
middle of the best group. The entropy, in nats per weight, is the log of the fraction of them that are solutions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingLoads,
    Task,
    Units,
    increasing,
)

if TYPE_CHECKING:
    import pandas as pd

Overlap = Annotated[float, Field(ge=1e-3, le=0.9999)]
"""Of two members of a group, q₁."""


class Parameters(ExperimentParameters):
    """Parameters of the curves of one machine."""

    machine: Literal["committee", "parity"] = Field(
        description="the output: majority of the units, or their product (T)"
    )
    units: Units = Field(description="hidden units K (T); the parity machine has 3")
    alphas: IncreasingLoads = Field(description="patterns per weight, α = P/N, a curve each (C)")
    overlaps: Annotated[tuple[Overlap, ...], Field(min_length=1), AfterValidator(increasing)] = Field(
        description="overlaps q₁ of a curve", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _three_units(self) -> Parameters:
        if self.machine == "parity" and self.units != 3:
            raise ValueError(f"units = {self.units}: the parity machine has 3")
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One overlap each: the loads share its averages over patterns."""
    return [{"overlap": overlap} for overlap in parameters.overlaps]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The local entropies at one overlap.

    Returns:
        Columns machine, units, alpha, overlap, entropy, d_0, pattern_term (what the paper prints), annealed (−α ln 2),
        residual.

    Raises:
        DomainError: a load at which there are no groups.
    """
    import pandas as pd

    from localentropy.replica.spherical_tree import local_entropy

    machine, units = parameters.machine, float(parameters.units)
    rows = [local_entropy(task["overlap"], alpha, units, machine).assign(alpha=alpha) for alpha in parameters.alphas]
    return pd.concat(rows).assign(machine=machine, units=units)
