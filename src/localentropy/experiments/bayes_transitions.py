"""Loads at which Bayes-optimal learning changes (glm, the slides on transitions)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy.experiments.parameters import Context, Distinct, ExperimentParameters, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the transitions."""

    models: Distinct[tuple[Literal["binary_perceptron", "phase_retrieval", "committee_2", "committee_large"], ...]] = (
        Field(description="models, a row each (T)")
    )


def tasks(parameters: Parameters) -> list[Task]:
    """One model each."""
    return [{"model": model} for model in parameters.models]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The transitions of one model.

    Returns:
        Columns model; weak, spinodal, information_theoretic, algorithmic (samples per input, or per weight for the
        large committee; infinite where there is none).
    """
    import pandas as pd

    from localentropy.replica import bayes

    return pd.DataFrame([task | asdict(bayes.transitions(task["model"]))])
