"""State evolution of message passing from given overlaps (glm, slides on state evolution and on the gap)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.parameters import Context, ExperimentParameters, Increasing, Load, Task, bounds, given

if TYPE_CHECKING:
    import pandas as pd

Overlap = Annotated[float, bounds(quantities.OVERLAP_OF_TEACHER.within(ends="()"))]
"""Overlap with the teacher."""


class Parameters(ExperimentParameters):
    """Parameters of the runs."""

    prior: Literal["gaussian", "binary"] = Field(description="of the teacher's weights (T)")
    channel: Literal["sign", "absolute", "relu", "committee"] = Field(
        description="what a label tells: `sign`, `absolute` value or `relu` of the teacher's pre-activation, or the "
        "sign of a `committee` of infinitely many units (T)"
    )
    alphas: Increasing[Load] = Field(description="α, samples per input, or per weight for the committee (C)")
    starts: Increasing[Overlap] = Field(
        description="overlaps before the first update; for the committee the specialization (C)"
    )
    updates: int = given(quantities.UPDATES, "updates (C)")

    @model_validator(mode="after")
    def _weights_of_the_committee(self) -> Parameters:
        if self.channel == "committee" and self.prior != "gaussian":
            raise ValueError(f"prior: {self.prior}: a committee has gaussian weights")
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One load each."""
    return [{"alpha": alpha} for alpha in parameters.alphas]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One load.

    Returns:
        Columns prior, channel, alpha, start, growth (overlap after one update over that before), overlap (after the
        last update).
    """
    import pandas as pd

    from localentropy.theory import bayes, committee

    alpha, prior, channel = task["alpha"], parameters.prior, parameters.channel
    rows = []
    for start in parameters.starts:
        if channel == "committee":
            m = committee.state_evolution(alpha, parameters.updates, start)
        else:
            m = bayes.state_evolution(alpha, parameters.updates, start, prior, channel)
        rows.append({"alpha": alpha, "start": start, "growth": m[0] / start, "overlap": m[-1]})
    return pd.DataFrame(rows).assign(prior=prior, channel=channel)
