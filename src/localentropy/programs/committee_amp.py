"""Approximate message passing for a committee of two units, to compare with theory (glm, the slides on hidden units).

Table: one row for each training set.

| column | |
|---|---|
| alpha, n, d | sizes; alpha = n/d of these sizes |
| sample | number of the training set |
| overlap | of the mean of the units with the teacher's, m_11 + m_12, for a teacher of units of length √d |
| specialization | \\|m_11 - m_12\\| |
| error | probability that the label of the largest probability is wrong, from drawn inputs |
| converged | 1 if the means reached their tolerance, else 0 |
| iterations | updates of all means |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localentropy import seeds
from localentropy.programs.parts.amp_runs import MessagePassingParameters, bytes_of_inputs, training_sets
from localentropy.programs.parts.parameters import Context, Task, number_of_samples

if TYPE_CHECKING:
    import pandas as pd

NEW_INPUTS = 100_000
"""Drawn for the error of a run: its standard error is at most 0.0016."""


class Parameters(MessagePassingParameters):
    """Parameters of the runs."""


tasks = training_sets
memory = bytes_of_inputs


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The row of one training set, in the columns above."""
    import pandas as pd

    from localentropy.instances.committee_teacher import committee_teacher
    from localentropy.solvers.committee_amp import committee_amp

    p, sample = parameters, task["sample"]
    n = number_of_samples(task["alpha"], p.d)
    instance = committee_teacher(n, p.d, seeds.child(context.seed, "instance", sample=sample))
    run = committee_amp(
        instance,
        seed=seeds.child(context.seed, "algorithm/committee_amp", sample=sample),
        max_iterations=p.max_iterations,
        tolerance=p.tolerance,
        epsilon=p.epsilon,
    )
    overlap, specialization = instance.overlaps(run.weights)
    seed = seeds.child(context.seed, "test", n=n, sample=sample)
    row = {
        "alpha": n / p.d,
        "n": n,
        "d": p.d,
        "sample": sample,
        "overlap": overlap,
        "specialization": specialization,
        "error": instance.error(run.weights, run.covariance, samples=NEW_INPUTS, seed=seed),
        "converged": float(run.converged),
        "iterations": run.iterations,
    }
    context.report(f"α = {n / p.d:g}, sample {sample}: overlap {overlap:.4f}, specialization {specialization:.4f}")
    return pd.DataFrame([row])
