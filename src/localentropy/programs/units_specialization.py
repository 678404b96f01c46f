"""The load at which the units of a committee specialize, against their number (glm, the slide on the gap)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Increasing,
    Task,
    bounds,
)

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the loads."""

    units: Increasing[Annotated[int, bounds(quantities.UNITS_OF_STUDENT)]] = Field(
        description="hidden units K; odd numbers have no ties (C)", json_schema_extra=SIZE
    )


def tasks(parameters: Parameters) -> list[Task]:
    """One number of units each."""
    return [{"units": units} for units in parameters.units]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One number of units.

    Returns:
        Columns units and alpha, samples per input from which the state without specialization is unstable.
    """
    import pandas as pd

    from localentropy.theory.committee_units import specialization

    return pd.DataFrame([task | {"alpha": specialization(task["units"])}])
