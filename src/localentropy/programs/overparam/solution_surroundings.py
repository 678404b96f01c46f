"""What lies around solutions of several algorithms on the same instances of random features (overparam, section II).

Table: one row for each run and distance.

| column | |
|---|---|
| solver, D, P, N, inv_alpha, sample | of the run; inv_alpha = N/P of these sizes |
| solved | 1 if the final weights have no training error, else 0; then all below is missing |
| small_stabilities | fraction of the training patterns with a stability of at most `small_stability` |
| barycentre_overlap | cosine with the mean of all solutions, by message passing; missing where it did not converge |
| distance | d from the solution |
| entropy | of the solutions at this distance, nats per weight; missing where the messages did not converge |
| slope | of the entropy in d, twice the field towards the solution |
| converged | 1 if the messages reached the tolerance |
| local_energy | mean train error at round(dN) random flips |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from localentropy import quantities, seeds, solvers
from localentropy.programs.parts.parameters import SIZE, Context, Distance, Increasing, Task, given
from localentropy.programs.parts.perceptron_sizes import SignParameters, SolverGrid, grid_tasks, pattern_bytes, sizes
from localentropy.programs.parts.perceptron_solvers import solver_address

if TYPE_CHECKING:
    import pandas as pd


class SolutionGrid(SolverGrid):
    """Instances of one latent dimension for one solver."""

    solver: Literal["anneal", "mct0", "sbpi", "focusing_bp", "binarynet"] = Field(
        description="with its default settings"
    )


class Parameters(SignParameters):
    """Parameters of the surroundings, all at margin 0."""

    distances: Increasing[Distance] = Field(description="distances d from a solution (C)")
    small_stability: float = given(quantities.MARGIN, "largest stability that counts as small (C)")
    grids: tuple[SolutionGrid, ...] = Field(
        min_length=1, description="solvers, sizes and samples", json_schema_extra=SIZE
    )

    def modules(self) -> list[str]:
        """The solvers, which are imported by name at run time."""
        return sorted({solver_address(grid.solver) for grid in self.grids})


def tasks(parameters: Parameters) -> list[Task]:
    """One run each."""
    return grid_tasks(parameters.grids)


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns and features, and of the messages of focusing BP."""
    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    return pattern_bytes(parameters.alpha_T, task) + 12 * N * P


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns above."""
    import numpy as np
    import pandas as pd

    from localentropy.instances.perceptron import hidden_manifold
    from localentropy.landscape.binary_local_energy import expected_flip_energy
    from localentropy.landscape.feature_local_entropy import feature_local_entropy
    from localentropy.solvers.amp import two_level_amp

    D, name, sample = task["D"], task["solver"], task["sample"]
    P, N = sizes(parameters.alpha_T, D, task["inv_alpha"])
    root = seeds.child(context.seed, "instance", sample=sample)
    instance = hidden_manifold(D, P, N, seed=root, activation=parameters.activation)
    seed = seeds.child(context.seed, f"algorithm/{name}", D=D, P=P, N=N, margin=0.0, sample=sample)
    solution = getattr(solvers, name)(instance, seed=seed)
    row: dict[str, Any] = {"solver": name, "D": D, "P": P, "N": N, "inv_alpha": N / P, "sample": sample}
    row |= {"solved": float(solution.solved), "small_stabilities": np.nan, "barycentre_overlap": np.nan}
    row |= {"distance": parameters.distances, "entropy": np.nan, "slope": np.nan, "converged": 0.0}
    row |= {"local_energy": np.nan}
    if solution.solved:
        weights = solution.weights
        all_solutions = two_level_amp(instance, seed=seeds.child(context.seed, "barycentre", sample=sample))
        curve = feature_local_entropy(instance, weights, distances=parameters.distances)
        if all_solutions.converged and (mean := all_solutions.magnetizations) is not None:
            row["barycentre_overlap"] = float(weights @ mean / np.linalg.norm(mean) / np.sqrt(N))
        row["small_stabilities"] = float(np.mean(instance.stabilities(weights) <= parameters.small_stability))
        row |= {"entropy": curve.entropy, "slope": 2.0 * curve.field, "converged": curve.converged.astype(float)}
        row["local_energy"] = expected_flip_energy(instance, weights, distances=parameters.distances)
    context.report(f"{name}, D = {D}, 1/α = {N / P:.3f}, sample {sample}: {'' if solution.solved else 'not '}solved")
    return pd.DataFrame(row)
