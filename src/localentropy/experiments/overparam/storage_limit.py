"""Interpolation threshold for several nonlinearities next to the storage limit α_T → 0 (overparam, appendix B.3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from localentropy.experiments.parameters import Context, ExperimentParameters, Load, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the storage limit."""

    alpha_T: Load = Field(description="the α_T that stands for the limit α_T → 0 (C)")
    activations: tuple[Literal["sign", "tanh", "erf", "identity"], ...] = Field(
        min_length=2, description="nonlinearities σ of the features, different ones (C)"
    )

    @field_validator("activations")
    @classmethod
    def _different(cls, activations: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(activations)) < len(activations):
            raise ValueError(f"{', '.join(activations)}: each may be named once")
        return activations


def tasks(parameters: Parameters) -> list[Task]:
    """One nonlinearity each."""
    return [{"activation": activation} for activation in parameters.activations]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The threshold for one nonlinearity.

    Returns:
        Columns activation, alpha_T, alpha_c.
    """
    import pandas as pd

    from localentropy.replica import random_features as rf

    alpha_c = rf.alpha_c(parameters.alpha_T, activation=task["activation"])
    return pd.DataFrame([task | {"alpha_T": parameters.alpha_T, "alpha_c": alpha_c}])
