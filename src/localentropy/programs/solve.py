"""Runs of a solver of the binary perceptron: all solvers on the same instances, with the same measurements.

Table: one row for each number, in column `value`.

| column | |
|---|---|
| quantity | see below |
| D, P, N, inv_alpha | sizes; inv_alpha = N/P of these sizes |
| margin, margin_effective | κ asked for, and the κ of the continuum that the lattice of the sums stands for |
| sample | number of the instance |
| x | distance of `local_energy`, stability of `stability_count`, else missing |

| quantity | |
|---|---|
| solved | 1 if the final weights have no training error, else 0 |
| train_error_best, train_error_last | smallest over the run, and of the final weights |
| iterations | in the solver's unit; of MCT0 those to the first solution |
| test_error | of solutions, on fresh patterns |
| mean_stability | over the training patterns |
| p_d, r | squared norm and teacher overlap of the projected weights, per latent dimension |
| local_energy | mean train error at exactly round(dN) random flips |
| stability_count | patterns at a value of the lattice of stabilities, final weights of solved runs |
| converged | message passing: 1 if the messages reached their tolerance, else 0 |
| test_error_barycenter, overlap, entropy | belief propagation: of the magnetizations |
| test_error_first | BinaryNet, and MCT0 with sweeps after: of the first weights without training error |
| local_energy_first, stability_count_first | MCT0 with sweeps after: of the same weights |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import SIZE, Context, Flips, Increasing, Task, given
from localentropy.programs.parts.perceptron_sizes import Grid, SignParameters, grid_tasks, pattern_bytes, sizes
from localentropy.programs.parts.perceptron_solvers import SolverParameters, with_options

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.perceptron import HiddenManifold
    from localentropy.solvers.solution import Solution


class Parameters(SignParameters, SolverParameters):
    """Parameters of the runs of all solvers."""

    distances: Increasing[Flips] = Field(description="distances d of the local energy (C)")
    stabilities: bool = Field(description="whether the stabilities of solutions are counted")
    test_patterns: int = given(quantities.PATTERNS, "fresh patterns of a test error", size=True)
    grids: tuple[Grid, ...] = Field(min_length=1, description="sizes, margins and samples", json_schema_extra=SIZE)


Parameters.MODELS = with_options(Parameters)


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns and features, and of the messages of a solver that has them."""
    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    messages = 12 * N * P if parameters.solver in ("belief_propagation", "focusing_bp") else 0
    return pattern_bytes(parameters.alpha_T, task) + messages


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns above."""
    import pandas as pd

    from localentropy.instances.perceptron import effective_margin, hidden_manifold

    name, D, margin, sample = parameters.solver, task["D"], task["margin"], task["sample"]
    P, N = sizes(parameters.alpha_T, D, task["inv_alpha"])
    seed = seeds.child(context.seed, "instance", sample=sample)
    instance = hidden_manifold(D, P, N, seed=seed, activation=parameters.activation)
    seed = seeds.child(context.seed, f"algorithm/{name}", D=D, P=P, N=N, margin=margin, sample=sample)
    solution = parameters.solve(instance, margin=margin, seed=seed)
    table = pd.DataFrame(_measurements(instance, solution, parameters, margin), columns=["quantity", "x", "value"])
    outcome = "solved" if solution.solved else "not solved"
    context.report(f"D = {D}, 1/α = {N / P:.3f}, κ = {margin:g}, sample {sample}: {outcome}")
    effective = effective_margin(margin, N)
    return table.assign(sample=sample, D=D, P=P, N=N, inv_alpha=N / P, margin=margin, margin_effective=effective)


def _measurements(
    instance: HiddenManifold, solution: Solution, parameters: Parameters, margin: float
) -> list[tuple[str, float, float]]:
    import math

    import numpy as np

    from localentropy.landscape.binary_local_energy import expected_flip_energy

    weights, n = solution.weights, parameters.test_patterns
    stabilities = instance.stabilities(weights)
    projected = instance.features.T @ weights / math.sqrt(instance.N)
    numbers = {
        "solved": float(solution.solved),
        "train_error_best": solution.best_train_error,
        "train_error_last": instance.train_error(weights, margin),
        "iterations": float(solution.iterations),
        "mean_stability": float(stabilities.mean()),
        "p_d": float(projected @ projected / len(projected)),
        "r": float(instance.teacher @ projected / len(projected)),
    }
    if solution.converged is not None:
        numbers["converged"] = float(solution.converged)
    # One pass over the test patterns for all weights of interest.
    students = {"test_error": weights} if solution.solved else {}
    if solution.magnetizations is not None and solution.entropy is not None:
        students["test_error_barycenter"] = solution.magnetizations
        numbers |= {"entropy": solution.entropy, "overlap": float(np.mean(solution.magnetizations**2))}
    if solution.first_weights is not None:
        students["test_error_first"] = solution.first_weights
    if students:
        errors = instance.test_error(np.stack([*students.values()]), n)
        numbers |= dict(zip(students, errors.tolist(), strict=True))
    measured = {"": weights}
    if parameters.solver == "mct0" and solution.first_weights is not None:
        measured["_first"] = solution.first_weights
        numbers["iterations"] = float(np.argmin(solution.train_errors))
    rows = [(quantity, math.nan, value) for quantity, value in numbers.items()]
    for which, each in measured.items():
        energies = expected_flip_energy(instance, each, distances=parameters.distances, margin=margin)
        rows += [(f"local_energy{which}", d, e) for d, e in zip(parameters.distances, energies.tolist(), strict=True)]
        if parameters.stabilities and solution.solved:
            values, counts = np.unique(np.rint(instance.sums(each)), return_counts=True)
            at = (values / math.sqrt(instance.N)).tolist()
            rows += [(f"stability_count{which}", x, float(count)) for x, count in zip(at, counts, strict=True)]
    return rows
