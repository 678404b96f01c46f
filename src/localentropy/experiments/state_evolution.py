"""State evolution of message passing from given overlaps (glm, slides on state evolution and on the gap)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from localentropy.experiments.parameters import Context, ExperimentParameters, IncreasingLoads, Task, increasing

if TYPE_CHECKING:
    import pandas as pd

Overlap = Annotated[float, Field(gt=0, lt=1)]
"""With the teacher."""


class Parameters(ExperimentParameters):
    """Parameters of the runs."""

    prior: Literal["gaussian", "binary"] = Field(description="of the teacher's weights (T)")
    channel: Literal["sign", "absolute", "committee"] = Field(
        description="what a label tells: `sign` or `absolute` value of the teacher's pre-activation, or the sign of a "
        "`committee` of infinitely many units (T)"
    )
    alphas: IncreasingLoads = Field(description="α, samples per input, or per weight for the committee (C)")
    starts: Annotated[tuple[Overlap, ...], Field(min_length=1), AfterValidator(increasing)] = Field(
        description="overlaps before the first update; for the committee the specialization (C)"
    )
    updates: int = Field(ge=1, le=100_000, description="updates (C)")


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

    from localentropy.replica import bayes

    alpha, prior, channel = task["alpha"], parameters.prior, parameters.channel
    rows = []
    for start in parameters.starts:
        m = bayes.state_evolution(alpha, parameters.updates, start, prior, channel)
        rows.append({"alpha": alpha, "start": start, "growth": m[0] / start, "overlap": m[-1]})
    return pd.DataFrame(rows).assign(prior=prior, channel=channel)
