"""Where a binary student at a temperature meets a glass (glm, the slide on first-order transitions)."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from localentropy.experiments.parameters import SIZE, Context, ExperimentParameters, Task, increasing

if TYPE_CHECKING:
    import pandas as pd

Temperature = Annotated[float, Field(ge=0, le=100)]
"""In training errors."""


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    temperatures: Annotated[tuple[Temperature, Temperature], AfterValidator(increasing)] = Field(
        description="ends of the lines in the temperature (C)"
    )
    points: int = Field(ge=2, le=1000, description="points of a line, even in the temperature", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """All lines together: they are points at the same temperatures."""
    return [{"lines": "all"}]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The lines, in samples per weight.

    Returns:
        Columns temperature, spinodal, zero_entropy (missing above the temperature of its largest load, where it turns
        back on unstable states), equilibrium; the same in every row: on_spinodal, on_spinodal_temperature, on_line,
        on_line_temperature (`gibbs.GlassEnds`). These two temperatures have rows too, if they lie in the range.
    """
    import numpy as np
    import pandas as pd

    from localentropy.replica import gibbs

    ends = gibbs.glass_ends()
    low, high = parameters.temperatures
    ending = {at for at in (ends.on_spinodal_temperature, ends.on_line_temperature) if low < at < high}
    rows = [
        {
            "temperature": temperature,
            "spinodal": gibbs.spinodal(temperature),
            "zero_entropy": gibbs.zero_entropy(temperature) if temperature <= ends.on_line_temperature else math.nan,
            "equilibrium": gibbs.equilibrium(temperature),
        }
        for temperature in sorted({*np.linspace(low, high, parameters.points).tolist(), *ending})
    ]
    return pd.DataFrame(rows).assign(**asdict(ends))
