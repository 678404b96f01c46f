"""Runs of a solver of the tree committee machine: both solvers on the same instances, with the same measurements.

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

from collections.abc import Sequence
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from localentropy import quantities, seeds
from localentropy.programs.parts.committee_solvers import DescentOptions, FocusingOptions
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    Noise,
    OddUnits,
    OverparameterizationOfRuns,
    Task,
    given,
    require_distinct_sizes,
    require_patterns,
)
from localentropy.programs.parts.rows import Rows

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.committee import TreeCommittee
    from localentropy.solvers.solution import Solution

COLUMNS = {
    "quantity": "str",
    **dict.fromkeys(("D", "P", "N"), "int64"),
    "inv_alpha": "float64",
    **dict.fromkeys(("sample", "start"), "int64"),
    "other": "Int64",
    **dict.fromkeys(("sigma", "value"), "float64"),
}


class Parameters(ExperimentParameters):
    """Parameters of the runs of both solvers. Each solver adds its own options."""

    CHOICE = "solver"
    solver: Literal["focusing_bp", "sgd"] = Field(description="the algorithm (docs/solvers/committee.md)")
    alpha_T: LoadOfRuns = Field(description="patterns per latent dimension, α_T = P/D: large (T), value (C)")
    activation: Literal["sign"] = Field(description="nonlinearity σ of the features: ±1 patterns (T)")
    units: OddUnits = Field(description="hidden units K (C)")
    noise_levels: Increasing[Noise] = Field(
        description="standard deviations of the relative noise on the weights of solutions (C)"
    )
    D: int = given(quantities.SIZE.within(low=3), "latent dimension", size=True)
    inv_alphas: Increasing[OverparameterizationOfRuns] = Field(
        description="N/P, with N the nearest multiple of K", json_schema_extra=SIZE
    )
    samples: int = given(quantities.RUNS.within(low=2), "training sets of each size", size=True)
    test_patterns: int = given(quantities.PATTERNS, "fresh patterns of a test error", size=True)
    noise_draws: int = given(quantities.DRAWS, "perturbations of each solution at each noise level", size=True)

    def modules(self) -> list[str]:
        """The solver and the code it uses. A table does not depend on the other solver."""
        return [f"localentropy.solvers.committee.{self.solver}"]

    @property
    def P(self) -> int:
        """Number of patterns."""
        return round(self.alpha_T * self.D)

    def weights(self, inv_alpha: float) -> int:
        """N, the multiple of K that is nearest to inv_alpha P."""
        from localentropy.instances.committee import nearest_divisible

        return nearest_divisible(inv_alpha * self.P, self.units)

    def options(self) -> dict[str, Any]:
        """Arguments of the solver: the fields that its model adds."""
        return self.model_dump(exclude=set(Parameters.model_fields))

    def at_once(self) -> int:
        """Training sets that are made and solved together: large ones fill the memory."""
        return 1

    def solve(self, instances: list[TreeCommittee], samples: Sequence[int], seed: int) -> list[list[Solution]]:
        """The runs on each training set, under a root seed."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _distinct_sizes(self) -> Parameters:
        require_patterns("alpha_T =", self.alpha_T, "D", self.D)
        # Two values of N/P with the same N have the same training sets.
        require_distinct_sizes("inv_alphas", self.inv_alphas, "N", self.weights)
        return self


class Focusing(FocusingOptions, Parameters):
    """Focusing belief propagation."""

    def solve(self, instances: list[TreeCommittee], samples: Sequence[int], seed: int) -> list[list[Solution]]:
        """One run on each training set; it has no randomness."""
        solver = import_module(self.modules()[0]).committee_focusing_bp
        return [[solver(instance, **self.options())] for instance in instances]


class Descent(DescentOptions, Parameters):
    """Stochastic gradient descent, from several starts on each training set."""

    epochs_after: int = given(quantities.EPOCHS_AFTER, "epochs after the first solution, of which the last is kept (C)")
    starts: int = given(quantities.RUNS.within(low=2), "runs on each training set", size=True)
    device: Literal["cpu", "cuda"] = Field(description="where the machines are trained", json_schema_extra=SIZE)

    @model_validator(mode="after")
    def _weights_can_move(self) -> Descent:
        smallest = self.inv_alphas[0]
        if self.weights(smallest) < 2 * self.units:
            raise ValueError(
                f"inv_alphas: {smallest} leaves a unit one weight, which has norm 1 and cannot move; allowed: at least "
                f"{1.5 * self.units / self.P:.3g}"
            )
        return self

    def at_once(self) -> int:
        """A GPU is filled by the runs on all training sets; a CPU makes one run after the other."""
        return 1 if self.device == "cpu" else self.samples

    def solve(self, instances: list[TreeCommittee], samples: Sequence[int], seed: int) -> list[list[Solution]]:
        """Runs from several starts on each training set."""
        import torch

        torch.set_num_threads(self.threads)
        descent, options = import_module(self.modules()[0]), self.options()
        device, starts = options.pop("device"), range(options.pop("starts"))
        runs = descent.committee_sgd_many(
            [instance for instance in instances for _ in starts],
            seeds=[
                seeds.child(seed, "algorithm/committee_sgd", sample=sample, start=start)
                for sample in samples
                for start in starts
            ],
            schedule=descent.Schedule(**options),
            device=device,
        )
        return [runs[first : first + len(starts)] for first in range(0, len(runs), len(starts))]


Parameters.MODELS = {"focusing_bp": Focusing, "sgd": Descent}


def tasks(parameters: Parameters) -> list[Task]:
    """One overparameterization each."""
    return [{"inv_alpha": inv_alpha} for inv_alpha in parameters.inv_alphas]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns and of the features that they are made with, for all training sets made at once."""
    together = min(parameters.at_once(), parameters.samples)
    return together * parameters.weights(task["inv_alpha"]) * (parameters.P + 8 * parameters.D)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one overparameterization, in the columns above."""
    from localentropy.instances.committee import tree_committee

    D, P, K, N = parameters.D, parameters.P, parameters.units, parameters.weights(task["inv_alpha"])
    rows = Rows(COLUMNS, D=D, P=P, N=N, inv_alpha=N / P)
    for first in range(0, parameters.samples, parameters.at_once()):
        samples = range(first, min(first + parameters.at_once(), parameters.samples))
        roots = [seeds.child(context.seed, "instance", sample=sample) for sample in samples]
        instances = [tree_committee(D, P, N, K, seed=root, activation=parameters.activation) for root in roots]
        runs = parameters.solve(instances, samples, context.seed)
        for sample, instance, of_instance in zip(samples, instances, runs, strict=True):
            stream = seeds.entropy(context.seed, "overparam/committee/noise", P=P, N=N, sample=sample)
            _measure(rows, sample, instance, of_instance, parameters, stream)
    table = rows.frame()
    solved = table.loc[table["quantity"] == "solved", "value"]
    context.report(f"N/P = {N / P:.3f}: {int(solved.sum())} of {len(solved)} runs solved")
    return table


def _measure(
    rows: Rows,
    sample: int,
    instance: TreeCommittee,
    runs: list[Solution],
    parameters: Parameters,
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
        # All solutions of one training set meet the same noise, for both solvers.
        energy = committee_local_energy(
            instance,
            weights[solutions],
            sigmas=parameters.noise_levels,
            draws=parameters.noise_draws,
            generators=[np.random.Generator(np.random.PCG64(stream)) for _ in solutions],
        )
        draws = {"noise_distance": energy.distance_per_unit, "noise_train_error": energy.train_error}
        rows.noise(parameters.noise_levels, draws, sample=sample, start=solutions)
