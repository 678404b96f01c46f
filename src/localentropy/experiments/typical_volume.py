"""Typical volume of solutions of tree committees with continuous weights, against the load (shaping, the text).

With the two loads at which this description ends: where typical solutions fall into clusters, and where they shrink to
a point.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.parameters import SIZE, Context, ExperimentParameters, Loads, Task, Units

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    units: tuple[Units, ...] = Field(min_length=1, description="units K, a line each (T)")
    alphas: Loads = Field(description="ends of the lines in α, patterns per weight (C)")
    points: int = Field(ge=2, le=1000, description="points of a line, even in α", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """One number of units each."""
    return [{"units": units} for units in parameters.units]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The line of one number of units, and its thresholds.

    Returns:
        Columns units, quantity (`volume`; `clustering`, where the replicon is 1; `capacity`, replica-symmetric), alpha,
        entropy (nats per weight), q, replicon, residual. Of the capacity there is only α. A threshold that is infinite
        or does not exist has no row.

    Raises:
        DomainError: a load above the capacity.
    """
    import math

    import numpy as np
    import pandas as pd

    from localentropy.replica import spherical_tree

    units = float(task["units"])
    line = [
        asdict(spherical_tree.typical(alpha, units)) for alpha in np.linspace(*parameters.alphas, parameters.points)
    ]
    rows = [{"quantity": "volume", **solution} for solution in line]
    if units != 1:
        alpha = spherical_tree.alpha_clustering(units)
        rows.append({"quantity": "clustering", **asdict(spherical_tree.typical(alpha, units))})
    if math.isfinite(capacity := spherical_tree.alpha_rs(units)):
        rows.append({"quantity": "capacity", "units": units, "alpha": capacity})
    return pd.DataFrame(rows)
