"""Bayes-optimal learning from a teacher, against the load (glm, the slides on Bayes-optimal errors).

Each start of state evolution has a line. The lines of two starts are the same where there is only one fixed point.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from localentropy.experiments.parameters import SIZE, Context, Distinct, ExperimentParameters, Task, increasing

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.replica import bayes

SIDE = 1e-9
"""Relative distance from a transition to the point on each side of it."""
COLUMNS = (
    "model", "start", "alpha", "overlap", "specialization", "mse", "free_entropy", "bayes_error", "gibbs_error",
    "label_error", "residual",
)  # fmt: skip

Samples = Annotated[float, Field(gt=0, le=100)]
"""α, samples per input, or per weight of many units."""


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    model: Literal["perceptron", "binary_perceptron", "phase_retrieval", "committee_2", "committee_large"] = Field(
        description="teacher and student (T)"
    )
    starts: Distinct[tuple[Literal["uninformed", "informed"], ...]] = Field(
        description="where state evolution starts, a line each"
    )
    alphas: Annotated[tuple[Samples, Samples], AfterValidator(increasing)] = Field(
        description="ends of the lines in α, samples per input, or per weight of many units (C)"
    )
    marked: Annotated[tuple[Samples, ...], Field(min_length=1), AfterValidator(increasing)] = Field(
        description="further values of α, those of simulations (C)"
    )
    points: int = Field(
        ge=2,
        le=1000,
        description="points of a line between two transitions, denser near them; without transitions, even in log α",
        json_schema_extra=SIZE,
    )


def tasks(parameters: Parameters) -> list[Task]:
    """One start each."""
    return [{"start": start} for start in parameters.starts]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One line. An informed start has rows only where it stays in the good phase.

    Returns:
        Columns model, start, alpha, overlap (m; of a committee that of the mean weights, `mean_overlap`),
        specialization (of a committee), mse (1 - m, of the others), free_entropy (nats per weight, or per input of two
        units), bayes_error, gibbs_error (missing for phase retrieval), label_error, residual. The line has a point on
        each side of each transition.
    """
    import numpy as np
    import pandas as pd

    from localentropy.replica import bayes

    model, start = parameters.model, task["start"]
    low, high = parameters.alphas
    at = [] if model == "perceptron" else list(asdict(bayes.transitions(model)).values())
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
        alphas = {alpha for alpha in alphas if alpha > bayes.transitions(model).spinodal}
    rows = [asdict(_fixed_point(model, alpha, start)) for alpha in sorted(alphas)]
    table = pd.DataFrame(rows).rename(columns={"mean_overlap": "overlap"})
    return table.assign(model=model, start=start).reindex(columns=list(COLUMNS))


def _fixed_point(model: str, alpha: float, start: str) -> bayes.Perceptron | bayes.PhaseRetrieval | bayes.Committee:
    from localentropy.replica import bayes

    if model == "phase_retrieval":
        return bayes.phase_retrieval(alpha, start)
    if model == "committee_2":
        return bayes.committee(alpha, 2, start)
    if model == "committee_large":
        return bayes.committee(alpha, math.inf, start)
    return bayes.perceptron(alpha, "binary" if model == "binary_perceptron" else "gaussian", start)
