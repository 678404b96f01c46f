"""Volume of the solutions of tree committees by belief propagation (shaping, Methods; beside the replica theory).

Table: one row for each training set.

| column | |
|---|---|
| alpha, P, N, units | sizes; alpha = P/N of these sizes |
| sample | number of the training set |
| converged | 1 if the messages reached their tolerance, else 0 |
| entropy | log of the fraction of all weights that are solutions, nats per weight; missing where not converged |
| overlap | q of the means, mean over weights |
| residual, iterations | of the last update; number of updates of all messages |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localentropy import quantities, seeds
from localentropy.programs.parts.committee_problems import StoredPatterns
from localentropy.programs.parts.parameters import Context, ExperimentParameters, Task, given

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters, StoredPatterns):
    """Parameters of belief propagation."""

    damping: float = given(quantities.DAMPING, "weight of the old messages in an update (C)")
    max_iterations: int = given(quantities.STEPS, "most updates (C)")
    tolerance: float = given(quantities.TOLERANCE, "largest residual of converged messages (C)")
    samples: int = given(quantities.RUNS, "training sets at each α", size=True)


def tasks(parameters: Parameters) -> list[Task]:
    """One training set each."""
    return [{"P": P, "sample": sample} for P in parameters.patterns() for sample in range(parameters.samples)]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns."""
    return parameters.N * task["P"]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The row of one training set, in the columns above."""
    import pandas as pd

    from localentropy.instances.committee import random_tree_committee
    from localentropy.solvers.committee.belief_propagation import committee_belief_propagation

    root = seeds.child(context.seed, "instance", sample=task["sample"])
    instance = random_tree_committee(parameters.N, task["P"], parameters.units, seed=root)
    options = parameters.model_dump(include={"damping", "max_iterations", "tolerance"})
    beliefs = committee_belief_propagation(instance, **options)
    row = {
        "alpha": instance.P / instance.weights_count,
        "P": instance.P,
        "N": instance.weights_count,
        "units": instance.units,
        "sample": task["sample"],
        "converged": float(bool(beliefs.converged)),
        "entropy": beliefs.entropy,
        "overlap": beliefs.overlap,
        "residual": beliefs.residual,
        "iterations": beliefs.iterations,
    }
    return pd.DataFrame([row])
