"""Where a binary student at a temperature meets a glass (glm, the slide on first-order transitions)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import Context, Ends, ExperimentParameters, Task, bounds, given

if TYPE_CHECKING:
    import pandas as pd

Temperature = Annotated[float, bounds(quantities.TEMPERATURE)]
"""Temperature of a student, in training errors."""


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    temperatures: Ends[Temperature] = Field(description="ends of the lines in the temperature (C)")
    points: int = given(quantities.POINTS, "points of a line, even in the temperature", size=True)


def tasks(parameters: Parameters) -> list[Task]:
    """All lines together: they are points at the same temperatures."""
    return [{"lines": "all"}]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The lines, in samples per weight.

    Returns:
        Columns temperature, metastable_end (where the glass ends, or at higher temperatures the spinodal, whichever is
        larger), zero_entropy and glass_energy (both missing above the temperature where the glass ends), equilibrium;
        the same in every row: glass_end, glass_end_temperature. This temperature has a row too, and the one above which
        the spinodal is larger, if they lie in the range. `glass_energy` is the number of training errors per weight of
        the glass at the load zero_entropy. It is the same at this temperature and below.
    """
    import numpy as np
    import pandas as pd
    from scipy.optimize import brentq

    from localentropy.theory import gibbs

    end = gibbs.glass_ends()
    last = gibbs.freezing_temperature(end)
    low, high = parameters.temperatures
    corner = brentq(lambda temperature: gibbs.spinodal(temperature) - end, 0.0, last)
    ending = {temperature for temperature in (corner, last) if low < temperature < high}
    rows = []
    for temperature in sorted({*np.linspace(low, high, parameters.points).tolist(), *ending}):
        load = gibbs.zero_entropy(temperature) if temperature <= last else math.nan
        rows.append(
            {
                "temperature": temperature,
                "metastable_end": max(gibbs.spinodal(temperature), end),
                "zero_entropy": load,
                "glass_energy": math.nan if math.isnan(load) else gibbs.learning(min(load, end), 0.0).energy,
                "equilibrium": gibbs.equilibrium(temperature),
            }
        )
    return pd.DataFrame(rows).assign(glass_end=end, glass_end_temperature=last)
