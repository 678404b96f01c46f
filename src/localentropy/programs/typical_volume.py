"""Typical volume of solutions of tree committees with continuous weights, against the load (shaping, the text).

With the two loads at which this description ends: where typical solutions fall into clusters, and where they shrink to
a point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import Context, Ends, ExperimentParameters, Load, Task, Units, given

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    units: tuple[Units, ...] = Field(min_length=1, description="units K, a line each (T)")
    alphas: Ends[Load] = Field(description="ends of the lines in α, patterns per weight (C)")
    points: int = given(quantities.POINTS, "points of a line, even in α", size=True)


def tasks(parameters: Parameters) -> list[Task]:
    """One number of units each."""
    return [{"units": units} for units in parameters.units]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The line of one number of units, and its thresholds.

    Returns:
        Columns units, quantity (`volume`; `clustering`, where the replicon is 1; `capacity`, replica-symmetric;
        `capacity_one_step`, with one step of symmetry breaking), alpha, entropy (nats per weight), q, replicon,
        residual. Of the capacities there is only α. A threshold that is infinite or does not exist has no row.

    Raises:
        DomainError: a load above the capacity.
    """
    import math

    import numpy as np
    import pandas as pd

    from localentropy.theory.capacity import capacity_one_step, capacity_rs
    from localentropy.theory.spherical import Spherical
    from localentropy.theory.spherical_tree import alpha_clustering
    from localentropy.theory.typical_solutions import typical

    units = float(task["units"])
    machine = Spherical(units=units)
    line = [Spherical(alpha, units) for alpha in np.linspace(*parameters.alphas, parameters.points)]
    rows: list[dict[str, Any]] = [{"quantity": "volume", **typical(model).row()} for model in line]
    if units != 1:
        rows.append({"quantity": "clustering", **typical(Spherical(alpha_clustering(machine), units)).row()})
    if math.isfinite(capacity := capacity_rs(machine)):
        rows.append({"quantity": "capacity", "units": units, "alpha": capacity})
        broken = capacity_one_step(machine).alpha
        rows.append({"quantity": "capacity_one_step", "units": units, "alpha": broken})
    return pd.DataFrame(rows).drop(columns="margin")
