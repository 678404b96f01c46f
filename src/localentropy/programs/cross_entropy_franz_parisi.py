"""Franz–Parisi entropy around weights of least cross-entropy loss, binary perceptron (shaping, figure 3).

The entropy (nats per weight) of weights without errors at normalised Hamming distance d from a minimizer, with its
slope dφ/dd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    Context,
    DistanceOfCurve,
    Ends,
    ExperimentParameters,
    LoadOfMinimizers,
    Section,
    Sharpness,
    Task,
    given,
)

if TYPE_CHECKING:
    import pandas as pd


class Family(Section):
    """Curves at one load."""

    alpha: LoadOfMinimizers = Field(description="patterns per weight, α = P/N (T)")
    gammas: tuple[Sharpness | Literal["inf"], ...] = Field(
        min_length=1,
        description="sharpness γ of the loss; at `inf` typical weights without errors are the minimizers (T)",
    )


class Parameters(ExperimentParameters):
    """Parameters of the curves."""

    curves: tuple[Family, ...] = Field(min_length=1, description="curves, by load")
    distances: Ends[DistanceOfCurve] = Field(description="ends of the grid of distances d (C)")
    points: int = given(quantities.POINTS, "distances of a curve, even in log d", size=True)


def tasks(parameters: Parameters) -> list[Task]:
    """One curve each."""
    return [{"alpha": family.alpha, "gamma": str(gamma)} for family in parameters.curves for gamma in family.gammas]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One curve.

    Returns:
        Columns alpha, gamma, distance, entropy, slope, replicon, residual; bound (entropy of all weights at this
        distance). Entropy, slope and replicon are missing where the replica-symmetric solution has ended.
    """
    import numpy as np
    from scipy.special import entr

    from localentropy.theory.cross_entropy import franz_parisi

    alpha, gamma = task["alpha"], float(task["gamma"])
    d = np.geomspace(*parameters.distances, parameters.points)
    table = franz_parisi(d, alpha, gamma, unsolved="nan")
    return table.assign(alpha=alpha, gamma=gamma, bound=entr(d) + entr(1.0 - d))
