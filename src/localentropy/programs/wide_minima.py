"""Largest local entropy of groups of solutions of a tree machine with continuous weights (shaping, figures 1 and s1).

The members of a group have the same overlap with each other. Take all configurations at the members' distance from the
middle of the best group. The entropy, in nats per weight, is the log of the fraction of them that are solutions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Increasing,
    Load,
    Overlap,
    Task,
    Units,
)

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the curves of one machine."""

    machine: Literal["committee", "parity"] = Field(
        description="the output: majority of the units, or their product (T)"
    )
    units: Units = Field(description="hidden units K (T); the parity machine has 3")
    alphas: Increasing[Load] = Field(description="patterns per weight, α = P/N, a curve each (C)")
    overlaps: Increasing[Overlap] = Field(description="overlaps q₁ of a curve", json_schema_extra=SIZE)

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
        DomainError: a load without typical solutions.
    """
    import pandas as pd

    from localentropy.theory import Spherical, group_entropy

    machine, units = parameters.machine, float(parameters.units)
    models = [Spherical(alpha, units, machine) for alpha in parameters.alphas]
    rows = [group_entropy(model, task["overlap"]).assign(alpha=model.alpha) for model in models]
    return pd.concat(rows).assign(machine=machine, units=units)
