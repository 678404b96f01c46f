"""Train error of solutions of committee machines when inputs are noisy (shaping, talk).

It reads a table of solutions. Every input of a training pattern is, with a probability, drawn again from its own
training marginal. All solutions meet the same noise. Table: one row for each solution, probability
and draw.

| column | |
|---|---|
| algorithm, sample, P | of the solution |
| probability | of a new value |
| draw | number of the noise |
| train_error | fraction of wrong patterns |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from localentropy import quantities, seeds
from localentropy.programs.parts.committee_problems import (
    OfAlgorithms,
    check_algorithms,
    problem_and_weights,
    random_sizes,
    runs_of,
)
from localentropy.programs.parts.parameters import Context, Increasing, Task, bounds, given

if TYPE_CHECKING:
    import pandas as pd

Probabilities = Increasing[Annotated[float, bounds(quantities.PROBABILITY)]]


class Parameters(OfAlgorithms):
    """Parameters of the noise."""

    probabilities: Probabilities = Field(description="probabilities of a new value for each input (C)")
    draws: int = given(quantities.DRAWS, "noises for each training set (C)", size=True)


check_sources = check_algorithms


def tasks(parameters: Parameters) -> list[Task]:
    """All runs of an algorithm."""
    return [{"algorithm": algorithm} for algorithm in parameters.algorithms]


def memory(parameters: Parameters, task: Task, sources: Mapping[str, Any]) -> int:
    """Bytes of the random numbers, two for each entry of random patterns: images are few."""
    N, P = random_sizes(sources[parameters.solutions])
    return 16 * N * P


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of the solutions of one algorithm, in the columns above."""
    import pandas as pd

    from localentropy.landscape.input_noise import input_noise_error

    runs = runs_of(context, parameters.solutions, parameters.samples, task["algorithm"])
    frames = [pd.DataFrame(columns=["algorithm", "sample", "P", "probability", "draw", "train_error"])]
    for run in runs[runs["solved"] == 1].itertuples():
        instance, weights = problem_and_weights(context, parameters.solutions, run)
        errors = input_noise_error(
            instance,
            weights,
            probabilities=parameters.probabilities,
            draws=parameters.draws,
            seed=seeds.child(context.seed, "input_noise"),
        )
        place = {"algorithm": run.algorithm, "sample": run.sample, "P": run.P}
        for probability, of_draws in zip(parameters.probabilities, errors, strict=True):
            rows = {"probability": probability, "draw": range(parameters.draws), "train_error": of_draws}
            frames.append(pd.DataFrame(place | rows))
    context.report(f"{task['algorithm']}: {int(runs['solved'].sum())} solutions")
    return pd.concat(frames[1:] or frames)
