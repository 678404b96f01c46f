"""Simulations of linear students that minimise an empirical risk (glm, the slides on Bayes and the hidden manifold).

It reads a table of `empirical_risk`, which has each student's loss and regularization at each load. All students of a
sample have the same training set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Distinct,
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    Section,
    TableOf,
    Task,
    given,
    increasing,
    number_of_samples,
    require_distinct_sizes,
)

if TYPE_CHECKING:
    import pandas as pd

SAME_LOAD = 1e-9
"""Relative difference up to which two loads are the same."""


class Size(Section):
    """Training sets of one size of the teacher."""

    d: int = given(quantities.SIZE.within(low=2), "inputs of the teacher")
    samples: int = given(quantities.RUNS.within(low=2), "training sets at each load")


def _by_size(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    increasing(tuple(size.d for size in sizes))
    return sizes


class Parameters(ExperimentParameters):
    """Parameters of the runs."""

    theory: Annotated[str, TableOf("empirical_risk")] = Field(
        description="the experiment whose table has the students' losses and regularizations"
    )
    features: Distinct[tuple[Literal["independent", "nonlinear", "gaussian"], ...]] = Field(
        description="what students see: the teacher's inputs, random features, or Gaussian ones with their covariances",
    )
    students: Distinct[tuple[str, ...]] = Field(description="students of that table")
    alphas: Increasing[LoadOfRuns] = Field(description="loads of that table, samples per weight")
    sizes: Annotated[tuple[Size, ...], Field(min_length=1), AfterValidator(_by_size)] = Field(
        description="inputs of the teacher and number of training sets, by increasing inputs", json_schema_extra=SIZE
    )
    test_samples: int = given(
        quantities.PATTERNS.within(low=0),
        "new inputs that measure the errors on nonlinear features; 0 without these, where errors are exact",
        size=True,
    )

    @model_validator(mode="after")
    def _tested(self) -> Self:
        if ("nonlinear" in self.features) != (self.test_samples > 0):
            raise ValueError(
                f"test_samples = {self.test_samples}: allowed is at least 1 with nonlinear features, and 0 without them"
            )
        return self


def check_sources(parameters: Parameters, sources: Mapping[str, Any]) -> None:
    """Refuse students, loads and features that the table of the theory will not have, and loads of one size.

    Raises:
        ValueError: naming what there is.
    """
    name, theory = parameters.theory, sources[parameters.theory]
    single = [key for key, student in theory.students.items() if not isinstance(student.regularization, tuple)]
    for student in parameters.students:
        if student not in single:
            allowed = ", ".join(single) or "none"
            raise ValueError(
                f"students: {student}: {name} has no such student at one regularization; allowed: {allowed}"
            )
    loads = theory.loads()
    for alpha in parameters.alphas:
        nearest = min(loads, key=lambda load: abs(load - alpha))
        if not math.isclose(alpha, nearest, rel_tol=SAME_LOAD):
            raise ValueError(f"alphas: {alpha}: allowed is a load of {name}; nearest: {nearest:.12g}")
    for size in parameters.sizes:
        p = round(size.d / getattr(theory.features, "inputs_per_feature", 1.0))
        require_distinct_sizes("alphas", parameters.alphas, "n", partial(number_of_samples, weights=p))
    seen = "independent" if theory.features.kind == "independent" else "nonlinear, gaussian"
    for features in parameters.features:
        if features not in seen.split(", "):
            raise ValueError(f"features: {features}: not what the students of {name} see; allowed: {seen}")


def tasks(parameters: Parameters) -> list[Task]:
    """One training set each."""
    return [
        {"features": features, "d": size.d, "alpha": alpha, "sample": sample}
        for features in parameters.features
        for size in parameters.sizes
        for alpha in parameters.alphas
        for sample in range(size.samples)
    ]


def memory(parameters: Parameters, task: Task, sources: Mapping[str, Any]) -> int:
    """Bytes of the inputs: at least one sample for each weight and unit of load."""
    return round(8 * task["alpha"] * task["d"] ** 2) if task["features"] == "independent" else 0


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """All students on one training set.

    Returns:
        Columns features, student, loss, regularization, alpha (n/p), n, p, d, sample, generalization_error (probability
        of a wrong sign), square_error, training_loss, converged. Nonlinear and Gaussian features of one size, load
        and sample have the same teacher, inputs and labels. So the difference of their errors scatters less than each
        error does.
    """
    import numpy as np
    import pandas as pd

    from localentropy import seeds
    from localentropy.instances.linear_features import linear_problem
    from localentropy.solvers.linear_student import train_linear_student

    rows = [_row(parameters, context, student, task) for student in parameters.students]
    features, d, sample = task["features"], task["d"], task["sample"]
    p, made_of = d, {}
    if features != "independent":
        p = round(d / rows[0].inputs_per_feature)
        activation = context.tables[parameters.theory].attrs["parameters"]["features"]["activation"]
        made_of = {"p": p, "activation": activation}
    n = number_of_samples(task["alpha"], p)
    problem = linear_problem(features, n, d, seeds.child(context.seed, "instance", sample=sample), **made_of)
    runs = [
        train_linear_student(problem.inputs, problem.labels, loss=row.loss, regularization=float(row.regularization))
        for row in rows
    ]
    errors = problem.errors(np.array([run.weights for run in runs]), parameters.test_samples)
    return pd.DataFrame(
        {
            "features": features,
            "student": parameters.students,
            "loss": [row.loss for row in rows],
            "regularization": [float(row.regularization) for row in rows],
            "alpha": n / p,
            "n": n,
            "p": p,
            "d": d,
            "sample": sample,
            **errors._asdict(),
            "training_loss": [run.training_loss for run in runs],
            "converged": [run.converged for run in runs],
        }
    )


def _row(parameters: Parameters, context: Context, student: str, task: Task) -> Any:
    """The theory of a student at a load."""
    import numpy as np

    table = context.tables[parameters.theory]
    at_load = np.isclose(table["alpha"], task["alpha"], rtol=SAME_LOAD, atol=0.0)
    return table[(table["student"] == student) & at_load].iloc[0]
