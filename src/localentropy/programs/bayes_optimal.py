"""Bayes-optimal learning from a teacher, against the load (glm, the slides on Bayes-optimal errors).

Each start of state evolution has a line. The lines of two starts are the same where there is only one fixed point.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    Context,
    Distinct,
    Ends,
    ExperimentParameters,
    Increasing,
    Task,
    bounds,
    given,
)
from localentropy.programs.parts.teachers import learning, transitions

if TYPE_CHECKING:
    import pandas as pd

SIDE = 1e-9
"""Relative distance from a transition to the point on each side of it."""
COLUMNS = (
    "model", "start", "alpha", "overlap", "specialization", "mse", "free_entropy", "bayes_error", "gibbs_error",
    "label_error", "residual", "linear_overlap", "linear_error",
)  # fmt: skip

Samples = Annotated[float, bounds(quantities.ALPHA)]
"""α, samples per input, or per weight of many units."""


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    model: Literal["perceptron", "binary_perceptron", "phase_retrieval", "committee_2", "committee_large"] = Field(
        description="teacher and student (T)"
    )
    starts: Distinct[tuple[Literal["uninformed", "informed"], ...]] = Field(
        description="where state evolution starts, a line each"
    )
    alphas: Ends[Samples] = Field(
        description="ends of the lines in α, samples per input, or per weight of many units (C)"
    )
    marked: Increasing[Samples] = Field(description="further values of α, those of simulations (C)")
    points: int = given(
        quantities.POINTS,
        "points of a line between two transitions, denser near them; without transitions, even in log α",
        size=True,
    )

    @model_validator(mode="after")
    def _loads_of_two_units(self) -> Parameters:
        largest = max(self.alphas[-1], self.marked[-1])
        most = quantities.ALPHA_OF_TWO_UNITS.high
        if self.model == "committee_2" and largest > most:
            raise ValueError(f"alphas, marked: {largest:g}: the committee of two units takes at most {most:g}")
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One start each."""
    return [{"start": start} for start in parameters.starts]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One line. An informed start has rows only where it stays in the good phase.

    Returns:
        Columns model, start, alpha, overlap (m; of a committee that of the mean weights, `mean_overlap`),
        specialization (of a committee), mse (1 - m, of the others), free_entropy (nats per weight, or per input of two
        units), bayes_error, gibbs_error (missing for phase retrieval), label_error, residual; linear_overlap and
        linear_error of linear regression (two units). The line has a point on each side of each transition.
    """
    import numpy as np
    import pandas as pd

    model, start = parameters.model, task["start"]
    low, high = parameters.alphas
    at = [] if model == "perceptron" else list(asdict(transitions(model)).values())
    inside = sorted({load for load in at if low < load < high})
    if inside:
        part = 0.5 - 0.5 * np.cos(np.linspace(0.0, math.pi, parameters.points))
        ends = zip([low, *(1.0 + SIDE) * np.array(inside)], [*(1.0 - SIDE) * np.array(inside), high], strict=True)
        grid = np.concatenate([left + (right - left) * part for left, right in ends])
    else:
        grid = np.geomspace(low, high, parameters.points)
    # Rounded, so that a marked load on the grid is one row on every machine.
    alphas = {*grid.round(12).tolist(), *parameters.marked}
    if start == "informed" and model != "perceptron":
        alphas = {alpha for alpha in alphas if alpha > transitions(model).spinodal}
    rows = [asdict(learning(model, alpha, start)) for alpha in sorted(alphas)]
    table = pd.DataFrame(rows).rename(columns={"mean_overlap": "overlap"})
    if model == "committee_2":
        from localentropy.theory.committee import least_squares

        regression = [least_squares(alpha) for alpha in table["alpha"]]
        table[["linear_overlap", "linear_error"]] = [[*found] for found in regression]
    return table.assign(model=model, start=start).reindex(columns=list(COLUMNS))
