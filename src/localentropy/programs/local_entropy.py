"""Local entropy around a solver's solutions, by belief propagation (margins, supplement II.3, figure 3).

The problem is the storage of random patterns. Table: one row for each solution and distance.

| column | |
|---|---|
| sample | number of the instance |
| P, N, alpha | sizes; alpha = P/N of these sizes |
| margin_ref | margin κ̃ asked of the solver |
| solved | 1 if the final weights have it, else 0 |
| smallest_stability | of the final weights |
| peak | mean square of the solver's last magnetizations, 1 if they are one configuration; missing without such |
| margin | margin κ of the solutions that are counted |
| distance | d between them and the final weights |
| entropy | of those at this distance, nats per weight; missing where the messages did not converge |
| field | γ on every weight towards the final weights, half the slope of the entropy in d |
| converged, residual | 1 if the messages reached the tolerance; largest change in the last update |
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Distance,
    Increasing,
    LoadOfRuns,
    Margin,
    OddSize,
    Task,
    given,
    require_patterns,
)
from localentropy.programs.parts.perceptron_sizes import require_margin
from localentropy.programs.parts.perceptron_solvers import SolverParameters, with_options

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.solvers.solution import Solution


class Parameters(SolverParameters):
    """Parameters of the local entropies."""

    alpha: LoadOfRuns = Field(description="patterns per weight, α = P/N (C)")
    margin_ref: Margin = Field(description="margin κ̃ asked of the solver")
    margin: Margin = Field(description="margin κ of the solutions that are counted")
    distances: Increasing[Distance] = Field(description="distances d from the solver's solution (C)")
    N: OddSize = Field(description="weights (C)", json_schema_extra=SIZE)
    samples: int = given(quantities.RUNS, "instances", size=True)

    @property
    def P(self) -> int:
        """Number of patterns."""
        return round(self.alpha * self.N)

    @model_validator(mode="after")
    def _can_be_solved(self) -> Self:
        require_patterns("alpha =", self.alpha, "N", self.N)
        for name in ("margin_ref", "margin"):
            require_margin(name, getattr(self, name), self.N)
        return self


Parameters.MODELS = with_options(Parameters)


def tasks(parameters: Parameters) -> list[Task]:
    """One instance each."""
    return [{"sample": sample} for sample in range(parameters.samples)]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns, of their products with the labels, and of the messages of a local entropy."""
    return 14 * parameters.N * parameters.P


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one instance, in the columns above."""
    import pandas as pd

    from localentropy.instances.perceptron import random_patterns
    from localentropy.landscape.local_entropy import local_entropy

    p, sample = parameters, task["sample"]
    instance = random_patterns(p.N, p.P, seed=seeds.child(context.seed, "instance", sample=sample))
    place = {"P": p.P, "N": p.N, "margin": p.margin_ref, "sample": sample}
    solution = p.solve(instance, margin=p.margin_ref, seed=seeds.child(context.seed, f"algorithm/{p.solver}", **place))
    curve = local_entropy(instance, solution.weights, distances=p.distances, margin=p.margin)
    stability = float(instance.stabilities(solution.weights).min())
    outcome = "solved" if solution.solved else "not solved"
    context.report(f"sample {sample}: {outcome}, smallest stability {stability:.3f}")
    return pd.DataFrame(
        {
            "sample": sample,
            "P": p.P,
            "N": p.N,
            "alpha": p.P / p.N,
            "margin_ref": p.margin_ref,
            "solved": float(solution.solved),
            "smallest_stability": stability,
            "peak": _peak(solution),
            "margin": p.margin,
            "distance": p.distances,
            "entropy": curve.entropy,
            "field": curve.field,
            "converged": curve.converged.astype(float),
            "residual": curve.residual,
        }
    )


def _peak(solution: Solution) -> float:
    """Mean square of the magnetizations that the solver ended with."""
    means = solution.magnetizations
    return math.nan if means is None else float(means @ means) / len(means)
