"""Overlaps between solutions of one instance: several runs of a solver, each with a seed of its own (figure 13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import SIZE, Context, Task, given
from localentropy.programs.parts.perceptron_sizes import SignParameters, SolverGrid, pattern_bytes, sizes

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.solvers.solution import Solution


class OverlapGrid(SolverGrid):
    """Instances of one latent dimension for one solver."""

    solver: Literal["anneal", "mct0", "sbpi"] = Field(description="with its default settings")
    runs: int = given(quantities.RUNS.within(low=2), "runs on each instance")


class Parameters(SignParameters):
    """Parameters of the overlaps, all at margin 0."""

    grids: tuple[OverlapGrid, ...] = Field(
        min_length=1, description="solvers, sizes, samples and runs", json_schema_extra=SIZE
    )


def tasks(parameters: Parameters) -> list[Task]:
    """One solver and size each."""
    return [
        point | {"samples": grid.samples, "runs": grid.runs} for grid in parameters.grids for point in grid.points()
    ]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns and features."""
    return pattern_bytes(parameters.alpha_T, task)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The instances of one solver and size, the same as in the runs of figures 10 to 13.

    Returns:
        One row for each instance: solver, D, P, N, inv_alpha (N/P), sample, runs, solved (number of runs), overlap
        (mean over the pairs of solved runs; missing with fewer than two).
    """
    import numpy as np
    import pandas as pd

    from localentropy.instances.perceptron import hidden_manifold
    from localentropy.landscape.binary_overlaps import overlaps
    from localentropy.solvers.binary.anneal import anneal, mct0
    from localentropy.solvers.binary.sbpi import sbpi

    name = task["solver"]
    solvers: dict[str, Callable[..., Solution]] = {"anneal": anneal, "mct0": mct0, "sbpi": sbpi}
    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    rows = []
    for sample in range(task["samples"]):
        seed = seeds.child(context.seed, "instance", sample=sample)
        instance = hidden_manifold(task["D"], P, N, seed=seed, activation=parameters.activation)
        solutions = []
        for run in range(task["runs"]):
            place = {"D": task["D"], "P": P, "N": N, "sample": sample, "run": run}
            seed = seeds.child(context.seed, f"overlaps/{name}", **place)
            solutions.append(solvers[name](instance, seed=seed))
        solved = [one.weights for one in solutions if one.solved]
        mean = float(overlaps(np.stack(solved))[2].mean()) if len(solved) > 1 else np.nan
        rows.append({"sample": sample, "runs": task["runs"], "solved": len(solved), "overlap": mean})
    table = pd.DataFrame(rows)
    context.report(f"{name}, D = {task['D']}, 1/α = {N / P:.3f}: mean overlap {table['overlap'].mean():.4f}")
    return table.assign(solver=name, D=task["D"], P=P, N=N, inv_alpha=N / P)
