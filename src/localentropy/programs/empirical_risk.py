"""Linear students that minimise an empirical risk, against the load (glm, the slides on Bayes and the hidden manifold).

The teacher gives signs. Students see its inputs, or random features of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    Context,
    Ends,
    ExperimentParameters,
    Increasing,
    Section,
    Task,
    bounds,
    given,
)

if TYPE_CHECKING:
    import pandas as pd

Strength = Annotated[float, bounds(quantities.REGULARIZATION)]
"""Regularization λ, of λ |w|² / 2 beside the sum of the losses."""

Samples = Annotated[float, bounds(quantities.SAMPLES)]
"""α, samples per weight."""


class IndependentInputs(Section):
    """The teacher's inputs, independent Gaussians."""

    kind: Literal["independent"] = Field(description="the teacher's own inputs, or random features of them")


class RandomFeatures(Section):
    """Random features f(F^T c / sqrt(d)) of the teacher's inputs c."""

    kind: Literal["random_features"] = Field(description="the teacher's own inputs, or random features of them")
    inputs_per_feature: float = given(quantities.INPUTS_PER_FEATURE, "inputs of the teacher per feature, d/p (T)")
    activation: Literal["erf", "sign", "tanh", "identity"] = Field(description="nonlinearity f of the features (T)")


class Student(Section):
    """A loss and its regularization."""

    loss: Literal["square", "logistic", "hinge", "huber"] = Field(
        description="(y - x)²/2, ln(1 + exp(-yx)), max(0, 1 - yx), or Huber's loss"
    )
    regularization: Strength | Literal["optimal"] | Ends[Strength] = Field(
        description="λ; `optimal` for the smallest generalization error at each α; or both ends of a grid"
    )


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    features: Annotated[IndependentInputs | RandomFeatures, Field(discriminator="kind")] = Field(
        description="what the students see"
    )
    students: dict[str, Student] = Field(min_length=1, description="students, by name, a line or a map each")
    alphas: Ends[Samples] = Field(description="ends of the lines in α, samples per weight of a student (C)")
    marked: Increasing[Samples] = Field(description="further values of α, those of simulations and around peaks (C)")
    points: int = given(quantities.POINTS, "points of a line, even in log α; of a grid, even in log λ", size=True)

    def loads(self) -> list[float]:
        """Values of α."""
        import numpy as np

        # Rounded, so that a marked load on the grid is one row on every machine.
        return sorted({*np.geomspace(*self.alphas, self.points).round(12).tolist(), *self.marked})


def tasks(parameters: Parameters) -> list[Task]:
    """One student at one load each."""
    return [{"student": name, "alpha": alpha} for name in parameters.students for alpha in parameters.loads()]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One student at one load, at one regularization or at those of a grid.

    Returns:
        Columns student, loss, regularization (the number), inputs_per_feature (missing for independent inputs), alpha,
        generalization_error (probability of a wrong sign), square_error, training_loss, overlap (M), norm (Q),
        residual.
    """
    import math

    import numpy as np
    import pandas as pd

    from localentropy.theory import erm, hidden_manifold

    features, alpha = parameters.features, task["alpha"]
    student = parameters.students[task["student"]]
    loss = student.loss

    def fit(strength: float) -> erm.Fit:
        if isinstance(features, RandomFeatures):
            return hidden_manifold.fit(alpha, features.inputs_per_feature, loss, strength, features.activation)
        return erm.fit(alpha, loss, strength)

    def best() -> float:
        if isinstance(features, RandomFeatures):
            return hidden_manifold.optimal_regularization(alpha, features.inputs_per_feature, loss, features.activation)
        return erm.optimal_regularization(alpha, loss)

    if student.regularization == "optimal":
        strengths = [best()]
    elif isinstance(student.regularization, tuple):
        strengths = np.geomspace(*student.regularization, parameters.points).tolist()
    else:
        strengths = [student.regularization]
    rows = []
    for strength in strengths:
        found = fit(strength)
        rows.append(
            {
                "student": task["student"],
                "loss": loss,
                "regularization": strength,
                "inputs_per_feature": features.inputs_per_feature if isinstance(features, RandomFeatures) else math.nan,
                "alpha": alpha,
                "generalization_error": found.generalization_error,
                "square_error": found.square_error,
                "training_loss": found.training_loss,
                "overlap": found.overlap,
                "norm": found.norm,
                "residual": found.residual,
            }
        )
    return pd.DataFrame(rows)
