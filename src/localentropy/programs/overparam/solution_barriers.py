"""Barriers between solutions that several algorithms find on the same instances (overparam, section I; figure 13).

The instances are those of figures 10 to 13. The runs of simulated annealing, SBPI and MCT0 are those of the overlaps of
figure 13, where sizes are the same.

Table: one row for each pair of runs on one instance.

| column | |
|---|---|
| first, second | solvers of the two runs, in the order of the grid |
| first_run, second_run | numbers of these runs |
| D, P, N, inv_alpha, sample | of the instance; inv_alpha = N/P of these sizes |
| solved | 1 if both runs end without train errors, else 0; then all below is missing |
| distance | between the two solutions |
| barrier_mean | largest train error on the straight path, whose errors are means over all orders of the flips |
| barrier_greedy | the same in the greedy order |
| barrier_bent | the same on the best path with one bend, in the greedy order. The bend is at another solution of the |
| | instance. Only if these paths all have errors it is searched by single flips, too |
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy import quantities, seeds, solvers
from localentropy.programs.parts.parameters import SIZE, Context, Distinct, Task, given
from localentropy.programs.parts.perceptron_sizes import SignParameters, SizeGrid, grid_tasks, pattern_bytes, sizes
from localentropy.programs.parts.perceptron_solvers import solver_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd

    from localentropy.instances.perceptron import Instance


MEASURED = ["distance", "barrier_mean", "barrier_greedy", "barrier_bent"]
"""Columns that only pairs of solutions have."""


class BarrierGrid(SizeGrid):
    """Instances of one latent dimension, and the solvers that run on each of them."""

    solvers: Distinct[tuple[Literal["focusing_bp", "sbpi", "anneal", "mct0"], ...]] = Field(
        description="with their default settings"
    )
    runs: int = given(quantities.RUNS.within(low=2), "runs of each solver on each instance")

    def points(self) -> list[Task]:
        """The sizes, with the solvers."""
        return [point | {"solvers": " ".join(self.solvers), "runs": self.runs} for point in super().points()]


class Parameters(SignParameters):
    """Parameters of the barriers, all at margin 0."""

    proposals: int = given(quantities.PROPOSALS, "flips of the point of the bend that are tried (C)", size=True)
    grids: tuple[BarrierGrid, ...] = Field(
        min_length=1, description="sizes, samples, solvers and runs", json_schema_extra=SIZE
    )

    def modules(self) -> list[str]:
        """The solvers, which are imported by name at run time."""
        return sorted({solver_address(solver) for grid in self.grids for solver in grid.solvers})


def tasks(parameters: Parameters) -> list[Task]:
    """One instance each."""
    return grid_tasks(parameters.grids)


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns and features, and of the sums after each next flip or the messages of focusing BP."""
    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    return pattern_bytes(parameters.alpha_T, task) + 32 * N * P


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one instance, in the columns above."""
    import numpy as np
    import pandas as pd

    from localentropy.instances.perceptron import hidden_manifold

    D, sample = task["D"], task["sample"]
    P, N = sizes(parameters.alpha_T, D, task["inv_alpha"])
    root = seeds.child(context.seed, "instance", sample=sample)
    instance = hidden_manifold(D, P, N, seed=root, activation=parameters.activation)
    found = []
    for name in task["solvers"].split():
        solver = getattr(solvers, name)
        for run in range(task["runs"]):
            seed = seeds.child(context.seed, f"overlaps/{name}", D=D, P=P, N=N, sample=sample, run=run)
            found.append((name, run, solver(instance, seed=seed)))
    solutions = [solution.weights for *_, solution in found if solution.solved]
    table = pd.DataFrame(
        {"first": first, "second": second, "first_run": first_run, "second_run": second_run}
        | {"solved": float(one.solved and other.solved)}
        for (first, first_run, one), (second, second_run, other) in combinations(found, 2)
    ).assign(D=D, P=P, N=N, inv_alpha=N / P, sample=sample, **dict.fromkeys(MEASURED, np.nan))
    seed = seeds.child(context.seed, "barriers", D=D, P=P, N=N, sample=sample)
    table.loc[table["solved"] == 1.0, MEASURED] = _barriers(instance, solutions, parameters.proposals, seed)
    context.report(f"D = {D}, 1/α = {N / P:.3f}, sample {sample}: {len(solutions)} of {len(found)} runs solved")
    return table


def _barriers(instance: Instance, solutions: Sequence[np.ndarray], proposals: int, seed: int) -> np.ndarray:
    """The columns `MEASURED` of all pairs of solutions, in the order of `combinations`, [pairs, columns]."""
    import numpy as np

    from localentropy.landscape.barriers import bent_flip_path, flip_path, mean_flip_path

    # Several runs may end in one solution.
    different, places = np.unique(np.reshape(solutions, (-1, instance.N)), axis=0, return_inverse=True)
    pairs = list(combinations(range(len(different)), 2))
    square = np.zeros((len(MEASURED), len(different), len(different)))
    distance, mean, greedy, bent = square
    for i, j in pairs:
        ends = different[i], different[j]
        distance[i, j] = np.mean(ends[0] != ends[1])
        mean[i, j] = mean_flip_path(instance, *ends).max()
        greedy[i, j] = greedy[j, i] = flip_path(instance, *ends, order="greedy", seed=seed).max()
    for i, j in pairs:
        # With a bend at one end the path is straight.
        bent[i, j] = np.maximum(greedy[i], greedy[j]).min()
        if bent[i, j] > 0.0:
            ends = different[i], different[j]
            path = bent_flip_path(instance, *ends, order="greedy", proposals=proposals, seed=seed)
            bent[i, j] = min(bent[i, j], path.barrier)
    first, second = np.array(list(combinations(places, 2)), int).reshape(-1, 2).T
    found: np.ndarray = square[:, np.minimum(first, second), np.maximum(first, second)].T
    return found
