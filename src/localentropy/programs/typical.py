"""Typical solutions on random features: along lines of a phase diagram, or at the sizes and margins of simulations.

Lines go in 1/α at fixed α_T and in α_T at fixed 1/α, each from the threshold of its margin on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.ensembles import BEYOND, EnsembleParameters, RandomFeatures
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Ends,
    Increasing,
    Load,
    Margin,
    Overparameterization,
    Task,
    given,
)
from localentropy.programs.parts.perceptron_sizes import Grid, distinct_points, sizes

if TYPE_CHECKING:
    import pandas as pd


class Parameters(EnsembleParameters):
    """Parameters of both kinds of points."""

    CHOICE = "at"

    ensemble: RandomFeatures
    at: Literal["lines", "sizes"] = Field(
        description="whether the points lie on lines through the phase diagram, or are those of simulations"
    )
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D, but for the lines in α_T (C)")


class Lines(Parameters):
    """Lines through the phase diagram."""

    largest_inv_alpha: Overparameterization = Field(description="right end of the lines in 1/α (C)")
    margins: tuple[Margin | Literal["max"], ...] = Field(
        min_length=1, description="margins κ of the lines in 1/α; `max` follows the largest that exists (C)"
    )
    inv_alpha: Overparameterization = Field(description="1/α of the lines in α_T (C)")
    alphas_T: Ends[Load] = Field(description="ends of the lines in α_T (C)")
    margins_alpha_T: Increasing[Margin] = Field(description="margins κ of the lines in α_T (C)")
    points: int = given(quantities.POINTS, "points of a line, spaced evenly in its logarithm", size=True)


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
    from localentropy.theory.typical_solutions import typical

    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    effective = effective_margin(task["margin"], N)
    try:
        solution = typical(parameters.ensemble.at(alpha_T=parameters.alpha_T, inv_alpha=N / P, margin=effective))
    except DomainError:
        return pd.DataFrame()
    named = {"D": task["D"], "N": N, "margin": task["margin"], "margin_effective": effective}
    return pd.DataFrame([solution.row() | named])


def _line(parameters: Lines, task: Task) -> pd.DataFrame:
    import numpy as np
    import pandas as pd
    from scipy.optimize import brentq

    from localentropy.errors import DomainError
    from localentropy.theory.typical_solutions import alpha_c, kappa_max, typical

    model = parameters.ensemble.at
    fixed = 0.0 if task["margin"] == "max" else task["margin"]
    if task["line"] == "inv_alpha":
        threshold = 1.0 / alpha_c(model(alpha_T=parameters.alpha_T, margin=fixed))
        if not threshold < parameters.largest_inv_alpha:
            raise DomainError(
                f"largest_inv_alpha = {parameters.largest_inv_alpha} leaves no line of margin {task['margin']}: "
                f"solutions exist from 1/α = {threshold:.6g} on"
            )
        inv_alphas = np.geomspace(threshold * BEYOND, parameters.largest_inv_alpha, parameters.points)
        line = [(parameters.alpha_T, inv_alpha) for inv_alpha in inv_alphas]
    else:

        def surplus(log_alpha_T: float) -> float:
            return parameters.inv_alpha * alpha_c(model(alpha_T=float(np.exp(log_alpha_T)), margin=fixed)) - 1.0

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
        at = {"alpha_T": alpha_T, "inv_alpha": inv_alpha}
        margin = kappa_max(model(**at)) if task["margin"] == "max" else fixed
        rows.append(typical(model(**at, margin=margin)).row())
    return pd.DataFrame(rows).assign(line=task["line"], reference=str(task["margin"]))
