"""Typical solutions: along lines of the phase diagram, or at the sizes and effective margins of simulations.

Lines go in 1/α at fixed α_T and in α_T at fixed 1/α, each from the threshold of its margin on.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy.experiments.ensembles import EnsembleParameters
from localentropy.experiments.parameters import (
    SIZE,
    Context,
    IncreasingValues,
    Load,
    Loads,
    Margin,
    Overparameterization,
    Task,
)
from localentropy.experiments.perceptron_sizes import Grid, distinct_points, sizes

if TYPE_CHECKING:
    import pandas as pd

BEYOND = 1.0 + 1e-9
"""Lines begin at a threshold times this factor: the threshold has the rounding of its root."""


class Parameters(EnsembleParameters):
    """Parameters of both kinds of points."""

    CHOICE = "at"
    FUNCTIONS = ("alpha_c", "kappa_max", "typical")

    at: Literal["lines", "sizes"] = Field(description="whether the points lie on lines or are those of simulations")
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D, but for the lines in α_T (C)")


class Lines(Parameters):
    """Lines through the phase diagram."""

    largest_inv_alpha: Overparameterization = Field(description="right end of the lines in 1/α (C)")
    margins: tuple[Margin | Literal["max"], ...] = Field(
        min_length=1, description="margins κ of the lines in 1/α; `max` follows the largest that exists (C)"
    )
    inv_alpha: Overparameterization = Field(description="1/α of the lines in α_T (C)")
    alphas_T: Loads = Field(description="ends of the lines in α_T (C)")
    margins_alpha_T: IncreasingValues = Field(description="margins κ of the lines in α_T (C)")
    points: int = Field(
        ge=2, le=1000, description="points of a line, spaced evenly in its logarithm", json_schema_extra=SIZE
    )


class Sizes(Parameters):
    """The points of simulations."""

    grids: tuple[Grid, ...] = Field(
        min_length=1, description="sizes and margins of the simulations; samples are ignored", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _sizes_exist(self) -> Sizes:
        tasks(self)
        return self


Parameters.MODELS = {"lines": Lines, "sizes": Sizes}


def tasks(parameters: Lines | Sizes) -> list[Task]:
    """One line each, or one size and margin; the grids of several solvers overlap."""
    if isinstance(parameters, Sizes):
        return distinct_points(parameters.alpha_T, parameters.grids)
    return [
        *({"line": "inv_alpha", "margin": margin} for margin in parameters.margins),
        *({"line": "alpha_T", "margin": margin} for margin in parameters.margins_alpha_T),
    ]


def compute(parameters: Lines | Sizes, task: Task, context: Context) -> pd.DataFrame:
    """One line, or one point.

    Returns:
        Columns alpha_T, inv_alpha (N/P), margin, entropy (nats per weight), q, p, p_d, r, their conjugates,
        error_typical, error_barycenter, residual. Lines have also line and reference (the task's margin as written),
        sizes have D, N and margin_effective (the κ of the continuum that the margin stands for). There is no row where
        there are no solutions.

    Raises:
        DomainError: a line in 1/α that ends before the threshold of its margin.
    """
    return _point(parameters, task) if isinstance(parameters, Sizes) else _line(parameters, task)


def _point(parameters: Sizes, task: Task) -> pd.DataFrame:
    import pandas as pd

    from localentropy.errors import DomainError
    from localentropy.instances.perceptron import effective_margin

    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    effective = effective_margin(task["margin"], N)
    try:
        solution = parameters.ensemble.theory("typical", parameters.alpha_T, N / P, effective)
    except DomainError:
        return pd.DataFrame()
    named = {"D": task["D"], "N": N, "margin": task["margin"], "margin_effective": effective}
    return pd.DataFrame([asdict(solution) | named])


def _line(parameters: Lines, task: Task) -> pd.DataFrame:
    import numpy as np
    import pandas as pd
    from scipy.optimize import brentq

    from localentropy.errors import DomainError

    theory = parameters.ensemble.theory
    fixed = 0.0 if task["margin"] == "max" else task["margin"]
    if task["line"] == "inv_alpha":
        threshold = 1.0 / theory("alpha_c", parameters.alpha_T, fixed)
        if not threshold < parameters.largest_inv_alpha:
            raise DomainError(
                f"largest_inv_alpha = {parameters.largest_inv_alpha} leaves no line of margin {task['margin']}: "
                f"solutions exist from 1/α = {threshold:.6g} on"
            )
        inv_alphas = np.geomspace(threshold * BEYOND, parameters.largest_inv_alpha, parameters.points)
        line = [(parameters.alpha_T, inv_alpha) for inv_alpha in inv_alphas]
    else:

        def surplus(log_alpha_T: float) -> float:
            return parameters.inv_alpha * theory("alpha_c", float(np.exp(log_alpha_T)), fixed) - 1.0

        logs = np.log(np.geomspace(parameters.alphas_T[0], parameters.alphas_T[1], parameters.points))
        solvable = np.array([surplus(log) for log in logs]) >= 0.0
        alphas_T = np.exp(logs[solvable])
        if solvable.any() and not solvable[0]:
            first = int(np.argmax(solvable))
            threshold = np.exp(brentq(surplus, logs[first - 1], logs[first], xtol=1e-12))
            alphas_T = np.append(threshold * BEYOND, alphas_T)
        line = [(alpha_T, parameters.inv_alpha) for alpha_T in alphas_T]
    rows = []
    for alpha_T, inv_alpha in line:
        margin = theory("kappa_max", alpha_T, inv_alpha) if task["margin"] == "max" else fixed
        rows.append(asdict(theory("typical", alpha_T, inv_alpha, margin)))
    return pd.DataFrame(rows).assign(line=task["line"], reference=str(task["margin"]))
