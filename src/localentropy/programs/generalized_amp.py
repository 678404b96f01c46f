"""Approximate message passing for a Bayes-optimal student, to compare with theory (glm, the slides on its algorithm).

Table: one row for each training set.

| column | |
|---|---|
| prior, channel | of the teacher |
| alpha, n, d | sizes; alpha = n/d of these sizes |
| sample | number of the training set |
| overlap | m of the posterior means with the teacher |
| self_overlap | q, mean square of the posterior means; q = m on average (Nishimori) |
| cosine | between the means and the teacher: the judge of a recovered teacher |
| variance | mean posterior variance of a weight |
| converged | 1 if the means reached their tolerance or the variance vanished, else 0 |
| iterations | updates of all means |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy import seeds
from localentropy.programs.parts.amp_runs import MessagePassingParameters, bytes_of_inputs, training_sets
from localentropy.programs.parts.parameters import Context, Task, number_of_samples

if TYPE_CHECKING:
    import pandas as pd


class Parameters(MessagePassingParameters):
    """Parameters of the runs."""

    prior: Literal["gaussian", "binary"] = Field(description="of the teacher's weights (T)")
    channel: Literal["sign", "absolute", "relu"] = Field(description="what a label tells of the teacher's sum (T)")


tasks = training_sets
memory = bytes_of_inputs


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The row of one training set, in the columns above."""
    import pandas as pd

    from localentropy.instances.generalized_linear import generalized_linear
    from localentropy.solvers.generalized_amp import generalized_amp

    p, sample = parameters, task["sample"]
    n = number_of_samples(task["alpha"], p.d)
    root = seeds.child(context.seed, "instance", sample=sample)
    instance = generalized_linear(n, p.d, root, prior=p.prior, channel=p.channel)
    run = generalized_amp(
        instance,
        seed=seeds.child(context.seed, "algorithm/generalized_amp", sample=sample),
        max_iterations=p.max_iterations,
        tolerance=p.tolerance,
        epsilon=p.epsilon,
    )
    row = {
        "prior": p.prior,
        "channel": p.channel,
        "alpha": n / p.d,
        "n": n,
        "d": p.d,
        "sample": sample,
        "overlap": instance.overlap(run.weights),
        "self_overlap": float(run.overlaps[-1]),
        "cosine": instance.cosine(run.weights),
        "variance": run.variance,
        "converged": float(run.converged),
        "iterations": run.iterations,
    }
    context.report(f"α = {n / p.d:g}, sample {sample}: overlap {row['overlap']:.4f}, {run.iterations} iterations")
    return pd.DataFrame([row])
