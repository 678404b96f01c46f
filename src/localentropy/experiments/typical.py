"""Typical solutions: along lines of a phase diagram, or at the sizes and effective margins of simulations.

Lines for random features go in 1/α at fixed α_T and in α_T at fixed 1/α, each from the threshold of its margin on.
Lines for random patterns go in the margin at fixed α, from zero to the largest margin, and in α at the largest margin.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy.experiments.ensembles import EnsembleParameters, RandomFeatures, RandomPatterns
from localentropy.experiments.parameters import (
    SIZE,
    Context,
    IncreasingLoads,
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
    """Parameters of every kind of points."""

    CHOICE = "at"
    FUNCTIONS = ("alpha_c", "kappa_max", "typical")

    at: Literal["lines", "sizes", "margins"] = Field(
        description="whether the points lie on lines through the phase diagram, are those of simulations, or lie on "
        "lines in the margin and at the largest margin"
    )


class AtLoad(Parameters):
    """Points of random features, at an α_T."""

    ensemble: RandomFeatures
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D, but for the lines in α_T (C)")


class Lines(AtLoad):
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


class Sizes(AtLoad):
    """The points of simulations."""

    grids: tuple[Grid, ...] = Field(
        min_length=1, description="sizes and margins of the simulations; samples are ignored", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _sizes_exist(self) -> Sizes:
        tasks(self)
        return self


class Margins(Parameters):
    """Lines in the margin up to the largest, and the largest against α."""

    ensemble: RandomPatterns
    alphas: IncreasingLoads = Field(description="patterns per weight, α, of the lines in the margin (C)")
    smallest_alpha: Load = Field(description="left end of the line in α, whose right end is α_c (C)")
    points: int = Field(
        ge=2, le=1000, description="points of a line, spaced evenly in the margin or in log α", json_schema_extra=SIZE
    )


Parameters.MODELS = {"lines": Lines, "sizes": Sizes, "margins": Margins}


def tasks(parameters: Lines | Sizes | Margins) -> list[Task]:
    """One line each, or one size and margin; the grids of several solvers overlap."""
    if isinstance(parameters, Sizes):
        return distinct_points(parameters.alpha_T, parameters.grids)
    if isinstance(parameters, Margins):
        return [*({"line": "margin", "alpha": alpha} for alpha in parameters.alphas), {"line": "alpha"}]
    return [
        *({"line": "inv_alpha", "margin": margin} for margin in parameters.margins),
        *({"line": "alpha_T", "margin": margin} for margin in parameters.margins_alpha_T),
    ]


def compute(parameters: Lines | Sizes | Margins, task: Task, context: Context) -> pd.DataFrame:
    """One line, or one point.

    Returns:
        Columns alpha_T, inv_alpha (N/P), margin, entropy (nats per weight), q, p, p_d, r, their conjugates,
        error_typical, error_barycenter, residual. Lines have also line and reference (the task's margin as written),
        sizes have D, N and margin_effective (the κ of the continuum that the margin stands for). There is no row where
        there are no solutions. For random patterns: line (`margin` or `alpha`), alpha, margin, entropy, q, q_hat,
        residual.

    Raises:
        DomainError: a line in 1/α that ends before the threshold of its margin, or a load above α_c.
    """
    if isinstance(parameters, Margins):
        return _margins(parameters, task)
    return _point(parameters, task) if isinstance(parameters, Sizes) else _line(parameters, task)


def _margins(parameters: Margins, task: Task) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from localentropy.errors import DomainError

    theory, points = parameters.ensemble.theory, parameters.points
    if task["line"] == "margin":
        largest = theory("kappa_max", task["alpha"])
        line = [(task["alpha"], margin) for margin in np.linspace(0.0, largest, points)]
    else:
        threshold = theory("alpha_c") / BEYOND
        if not parameters.smallest_alpha < threshold:
            raise DomainError(
                f"smallest_alpha = {parameters.smallest_alpha} leaves no line: solutions exist up to "
                f"α = {threshold:.6g}"
            )
        alphas = np.geomspace(parameters.smallest_alpha, threshold, points)
        line = [(alpha, theory("kappa_max", alpha)) for alpha in alphas]
    return pd.DataFrame([asdict(theory("typical", *point)) for point in line]).assign(line=task["line"])


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
