"""Simulated annealing on random patterns: several energies, one schedule (shaping, figures s4 and s5).

On one instance all energies start from the same weights and meet the same random numbers. A run goes through the whole
schedule. Table: one row for each number, in column `value`.

| column | |
|---|---|
| energy, gamma | what is annealed; gamma of the cross-entropy, else missing |
| P, N, alpha | sizes; alpha = P/N of these sizes |
| sample | number of the instance |
| quantity | see below |
| x | inverse temperature of `train_error`, distance of the local entropies, else missing |

| quantity | |
|---|---|
| solved | 1 if the final weights have no training error, else 0 |
| solved_once | 1 if weights without training error were found at some time, else 0 |
| train_error_last, train_error_best | of the final weights, and smallest over the run |
| train_error | on the way |
| local_entropy | of solutions at distance x from the final weights, which may have errors; nats per weight |
| local_entropy_first | the same around the first solution, if there is one |

A local entropy is missing where the messages did not converge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Distance,
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    OddSize,
    Section,
    Task,
    bounds,
    given,
    increasing,
    require_distinct_sizes,
    require_order,
    require_patterns,
)
from localentropy.programs.parts.rows import Rows

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.perceptron import Instance

COLUMNS = {
    "energy": "str",
    **dict.fromkeys(("gamma", "alpha"), "float64"),
    **dict.fromkeys(("P", "N", "sample"), "int64"),
    "quantity": "str",
    **dict.fromkeys(("x", "value"), "float64"),
}


class Energy(Section):
    """An energy, with its runs."""

    energy: Literal["errors", "linear", "cross_entropy"] = Field(description="what is annealed (docs/solvers)")
    gammas: Increasing[Annotated[float, bounds(quantities.GAMMA_OF_ENERGY)]] | None = Field(
        default=None, description="γ of the cross-entropy, a run each (C)"
    )

    @model_validator(mode="after")
    def _gammas_of_cross_entropy(self) -> Energy:
        if (self.gammas is None) == (self.energy == "cross_entropy"):
            raise ValueError(f"gammas = {self.gammas}: cross_entropy needs them, and no other energy takes them")
        return self


def _distinct(energies: tuple[Energy, ...]) -> tuple[Energy, ...]:
    names = [each.energy for each in energies]
    if len(set(names)) < len(names):
        raise ValueError(f"each may be named once, got {', '.join(names)}: the same runs would be counted twice")
    return energies


class Parameters(ExperimentParameters):
    """Parameters of the runs."""

    alphas: Increasing[LoadOfRuns] = Field(description="patterns per weight, α = P/N (C)")
    energies: Annotated[tuple[Energy, ...], Field(min_length=1), AfterValidator(_distinct)] = Field(
        description="energies, all with the same schedule"
    )
    beta_start: float = given(quantities.BETA, "inverse temperature of the first sweep (C)")
    beta_end: float = given(quantities.BETA, "inverse temperature after the last sweep; linear between (C)")
    traced: int = given(quantities.POINTS.within(low=0), "number of β, even in ln β, at which train errors are kept")
    distances: Annotated[tuple[Distance, ...], AfterValidator(increasing)] = Field(
        description="distances d of the local entropies; none if empty (C)"
    )
    sweeps: int = given(quantities.SWEEPS, "sweeps of N attempted flips (C)", size=True)
    N: OddSize = Field(description="weights (C)", json_schema_extra=SIZE)
    samples: int = given(quantities.RUNS, "instances", size=True)

    @model_validator(mode="after")
    def _can_run(self) -> Parameters:
        require_patterns("alphas:", self.alphas[0], "N", self.N)
        require_distinct_sizes("alphas", self.alphas, "P", lambda alpha: round(alpha * self.N))
        require_order(self, "beta_start", "beta_end")
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One load and instance each."""
    return [{"alpha": alpha, "sample": sample} for alpha in parameters.alphas for sample in range(parameters.samples)]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns, of their products with the labels, and of the messages of local entropies."""
    return (14 if parameters.distances else 2) * parameters.N * round(task["alpha"] * parameters.N)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of the runs on one instance, in the columns above."""
    import math

    import pandas as pd

    from localentropy.instances.perceptron import random_patterns

    p, sample = parameters, task["sample"]
    P = round(task["alpha"] * p.N)
    instance = random_patterns(p.N, P, seed=seeds.child(context.seed, "instance", sample=sample))
    seed = seeds.child(context.seed, "algorithm/anneal", P=P, N=p.N, sample=sample)
    tables = []
    for energy in p.energies:
        for gamma in energy.gammas or (math.nan,):
            rows = Rows(COLUMNS, energy=energy.energy, gamma=gamma, P=P, N=p.N, alpha=P / p.N, sample=sample)
            _run(rows, instance, seed, parameters)
            tables.append(rows.frame())
    table = pd.concat(tables, ignore_index=True)
    solved = table.loc[table["quantity"] == "solved_once", "value"]
    context.report(
        f"α = {task['alpha']:g}, sample {sample}: {solved.sum():.0f} of {len(solved)} energies led to a solution"
    )
    return table


def _run(rows: Rows, instance: Instance, seed: int, parameters: Parameters) -> None:
    """One run; what is annealed stands in the rows."""
    import math

    import numpy as np

    from localentropy.landscape.local_entropy import local_entropy
    from localentropy.solvers.binary.anneal import anneal

    p, energy, gamma = parameters, rows.common["energy"], rows.common["gamma"]
    step = (p.beta_end - p.beta_start) / p.sweeps
    solution = anneal(
        instance,
        seed=seed,
        beta_start=p.beta_start,
        beta_step=step,
        sweeps=p.sweeps,
        energy=energy,
        gamma=1.0 if math.isnan(gamma) else gamma,
        stop_at_first=False,
    )
    first = solution.first_weights
    numbers = {
        "solved": solution.solved,
        "solved_once": first is not None,
        "train_error_last": solution.train_errors[-1],
        "train_error_best": solution.best_train_error,
    }
    rows.add({quantity: [value] for quantity, value in numbers.items()})
    betas = np.geomspace(p.beta_start, p.beta_end, p.traced)
    after = np.rint((betas - p.beta_start) / step).astype(int).clip(1)
    rows.add({"train_error": solution.train_errors[after]}, x=betas.tolist())
    for quantity, reference in {"local_entropy": solution.weights, "local_entropy_first": first}.items():
        if p.distances and reference is not None:
            rows.add({quantity: local_entropy(instance, reference, distances=p.distances).entropy}, x=p.distances)
