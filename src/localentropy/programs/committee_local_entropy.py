"""Local entropy around solutions of committee machines (shaping, figures 4 and 6).

It reads a table of solutions. Table: one row for each run and distance.

| column | |
|---|---|
| algorithm, sample, units, P, N, alpha, solved | of the run, as in the table of solutions |
| distance | D = (1 − S)/2, with S the overlap with the solution in each unit |
| entropy | log of the fraction of all weights there that are solutions, nats per weight; missing where not converged |
| converged, residual, iterations | of the messages; 0, missing and 0 around runs that ended without a solution |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.programs.parts.committee_problems import OfAlgorithms, check_algorithms, problem_and_weights, runs_of
from localentropy.programs.parts.parameters import SIZE, Context, Distance, Increasing, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(OfAlgorithms):
    """Parameters of the local entropies."""

    distances: Increasing[Distance] = Field(description="distances D from a solution (C)", json_schema_extra=SIZE)


check_sources = check_algorithms


def tasks(parameters: Parameters) -> list[Task]:
    """All runs of an algorithm on one sample."""
    return [
        {"algorithm": name, "sample": sample} for sample in range(parameters.samples) for name in parameters.algorithms
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of the runs of one algorithm on one sample, in the columns above."""
    import pandas as pd

    from localentropy.landscape.committee_local_entropy import committee_local_entropy

    frames = []
    runs = runs_of(context, parameters.solutions, parameters.samples, task["algorithm"])
    for run in runs[runs["sample"] == task["sample"]].itertuples():
        curve = {"distance": parameters.distances, "entropy": float("nan"), "converged": 0.0}
        curve |= {"residual": float("nan"), "iterations": 0}
        if run.solved:
            found = committee_local_entropy(
                *problem_and_weights(context, parameters.solutions, run), distances=parameters.distances
            )
            curve |= {"entropy": found.entropy, "converged": found.converged.astype(float)}
            curve |= {"residual": found.residual, "iterations": found.iterations}
        same = {name: getattr(run, name) for name in ("algorithm", "sample", "units", "P", "N", "alpha", "solved")}
        frames.append(pd.DataFrame(same | curve))
        converged = f"{frames[-1]['converged'].sum():.0f} of {len(frames[-1])} distances converged"
        context.report(f"{run.algorithm}, P = {run.P}, sample {run.sample}: {converged}")
    return pd.concat(frames)
