"""What the runs of both solvers of the tree committee machine share: the same instances, the same measurements.

A task has all training sets of one overparameterization. Table: one row for each number, in column `value`.

| column | |
|---|---|
| quantity | see below |
| D, P, N, inv_alpha | sizes; inv_alpha = N/P of these sizes |
| sample | number of the training set |
| start | number of the run on this training set; 0 for a deterministic solver |
| other | second run of a pair, else missing |
| sigma | level of noise, else missing |

| quantity | |
|---|---|
| solved | 1 if the weights make no error on the training set, else 0 |
| train_error, test_error | of the weights; on fresh patterns |
| iterations | in the solver's unit |
| overlap | cosine of two solutions of one training set, mean over units; no alignment |
| noise_distance | of solutions: distance to the perturbed ones per unit, mean over draws |
| noise_train_error | of solutions: train error of the perturbed ones, mean over draws |
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy import seeds
from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingOverparameterizations,
    IncreasingValues,
    Load,
    OddSize,
    Task,
)
from localentropy.experiments.rows import Rows

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.committee import TreeCommittee
    from localentropy.solvers.solution import Solution

COLUMNS = {
    "quantity": "str",
    "D": "int64",
    "P": "int64",
    "N": "int64",
    "inv_alpha": "float64",
    "sample": "int64",
    "start": "int64",
    "other": "Int64",
    "sigma": "float64",
    "value": "float64",
}


class CommitteeParameters(ExperimentParameters):
    """Parameters of every solver's runs."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D: large (T), value (C)")
    activation: Literal["sign"] = Field(description="nonlinearity σ of the features: ±1 patterns (T)")
    units: OddSize = Field(le=99, description="hidden units K (C)")
    noise_levels: IncreasingValues = Field(
        description="standard deviations of the relative noise on the weights of solutions (C)"
    )
    D: int = Field(ge=3, le=10_000, description="latent dimension", json_schema_extra=SIZE)
    inv_alphas: IncreasingOverparameterizations = Field(
        description="N/P, with N the nearest multiple of K", json_schema_extra=SIZE
    )
    samples: int = Field(ge=2, le=10_000, description="training sets of each size", json_schema_extra=SIZE)
    test_patterns: int = Field(ge=1, le=10**7, description="fresh patterns of a test error", json_schema_extra=SIZE)
    noise_draws: int = Field(
        ge=1, le=10_000, description="perturbations of each solution at each noise level", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _distinct_sizes(self) -> CommitteeParameters:
        if round(self.alpha_T * self.D) < 1:
            raise ValueError(f"alpha_T = {self.alpha_T} leaves no patterns at D = {self.D}")
        # The same training sets would be counted as others.
        for one, other in pairwise(self.inv_alphas):
            if (N := weights_of(self, one)) == weights_of(self, other):
                raise ValueError(f"inv_alphas: {one} and {other} are the same size, N = {N}: drop one")
        return self


def tasks(parameters: CommitteeParameters) -> list[Task]:
    """One overparameterization each."""
    return [{"inv_alpha": inv_alpha} for inv_alpha in parameters.inv_alphas]


def weights_of(parameters: CommitteeParameters, inv_alpha: float) -> int:
    """The N of an overparameterization: the nearest multiple of K."""
    from localentropy.instances.committee import nearest_divisible

    return nearest_divisible(inv_alpha * round(parameters.alpha_T * parameters.D), parameters.units)


def run_committees(
    solve: Callable[[list[TreeCommittee], list[int]], list[list[Solution]]],
    parameters: CommitteeParameters,
    task: Task,
    context: Context,
    at_once: int = 1,
) -> pd.DataFrame:
    """Rows of one overparameterization.

    Args:
        solve: takes training sets and their numbers, returns the runs on each.
        parameters: of the experiment.
        task: one of `tasks`.
        context: of the experiment.
        at_once: training sets that are made and given to `solve` together; large ones fill the memory.
    """
    from localentropy.instances.committee import tree_committee

    P, N = round(parameters.alpha_T * parameters.D), weights_of(parameters, task["inv_alpha"])
    rows = Rows(COLUMNS, D=parameters.D, P=P, N=N, inv_alpha=N / P)
    for first in range(0, parameters.samples, at_once):
        numbers = list(range(first, min(first + at_once, parameters.samples)))
        instances = [
            tree_committee(
                D=parameters.D,
                P=P,
                N=N,
                K=parameters.units,
                seed=seeds.child(context.seed, "instance", sample=sample),
                activation=parameters.activation,
            )
            for sample in numbers
        ]
        for sample, instance, runs in zip(numbers, instances, solve(instances, numbers), strict=True):
            stream = seeds.entropy(context.seed, "overparam/committee/noise", P=P, N=N, sample=sample)
            _measure(rows, sample, instance, runs, parameters, stream)
    table = rows.frame()
    solved = table.loc[table["quantity"] == "solved", "value"]
    context.report(f"N/P = {N / P:.3f}: {int(solved.sum())} of {len(solved)} runs solved")
    return table


def _measure(
    rows: Rows,
    sample: int,
    instance: TreeCommittee,
    runs: list[Solution],
    parameters: CommitteeParameters,
    stream: int,
) -> None:
    """Add the rows of the runs on one training set."""
    import numpy as np

    from localentropy.landscape.committee import committee_local_energy, committee_overlap

    weights = np.stack([run.weights for run in runs])
    test = instance.test_error(weights, parameters.test_patterns)
    for start, run in enumerate(runs):
        numbers = {
            "solved": [run.solved],
            "train_error": [instance.train_error(run.weights)],
            "test_error": [test[start]],
            "iterations": [run.iterations],
        }
        rows.add(numbers, sample=sample, start=start)
    solutions = [start for start, run in enumerate(runs) if run.solved]
    for start, other in combinations(solutions, 2):
        overlap = committee_overlap(weights[start], weights[other])
        rows.add({"overlap": [overlap]}, sample=sample, start=start, other=other)
    if solutions:
        # The same noise for all solutions of one training set, of whatever solver.
        energy = committee_local_energy(
            instance,
            weights[solutions],
            sigmas=parameters.noise_levels,
            draws=parameters.noise_draws,
            generators=[np.random.Generator(np.random.PCG64(stream)) for _ in solutions],
        )
        draws = {"noise_distance": energy.distance_per_unit, "noise_train_error": energy.train_error}
        rows.noise(parameters.noise_levels, draws, sample=sample, start=solutions)
