"""Where typical solutions are in dense regions of solutions: margins against α, for several models (margins).

Three margins of references bound the phases at each number α of patterns per weight. From κ_min on, the Franz–Parisi
entropy is nowhere negative. From κ_u on, it grows with distance up to its maximum. κ_max is the largest. Each line ends
where its margin reaches zero or κ_max: κ_max at α_c, κ_u at α'_LE, κ_min at α_min.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.ensembles import EnsemblesParameters
from localentropy.programs.parts.parameters import Context, Distinct, Increasing, Load, Task, given

if TYPE_CHECKING:
    import pandas as pd

LINES = ("kappa_max", "kappa_u", "kappa_min")
"""Questions to the models."""
FINER = 10
"""A line of κ_max has this many times as many points: they cost a thousandth of the others."""


class Parameters(EnsemblesParameters):
    """Parameters of the lines."""

    lines: Distinct[tuple[str, ...]] = Field(
        description="names of the models with whole lines; of the others only the ends"
    )
    smallest_alpha: Load = Field(description="left end of the lines in α (C)")
    alphas_marked: Increasing[Load] = Field(description="further values of α on the lines, the figures' own (C)")
    points: int = given(
        quantities.POINTS,
        "points of a line of κ_u or κ_min, denser towards its end; one of κ_max has ten times as many",
        size=True,
    )

    @model_validator(mode="after")
    def _lines_of_models(self) -> Parameters:
        self.require_ensembles("lines", self.lines)
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One model each."""
    return [{"ensemble": name} for name in parameters.ensembles]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The lines of one model, or their ends.

    Returns:
        Columns ensemble, line (`kappa_max`, `kappa_u` or `kappa_min`), alpha, margin, end (whether it is the line's),
        distance (at the end of κ_u: of the horizontal tangent).

    Raises:
        DomainError: a line that would end before it begins.
    """
    import numpy as np
    import pandas as pd

    from localentropy.errors import DomainError
    from localentropy.theory.monotonicity import kappa_min, kappa_u, thresholds
    from localentropy.theory.typical_solutions import kappa_max

    model, left = parameters.ensembles[task["ensemble"]].at, parameters.smallest_alpha
    margin_of = dict(zip(LINES, (kappa_max, kappa_u, kappa_min), strict=True))
    found = thresholds(model())
    ends = {
        "kappa_max": {"alpha": found.alpha_c, "margin": 0.0},
        "kappa_u": {"alpha": found.alpha_le, "margin": found.kappa_max, "distance": found.distance},
        "kappa_min": {"alpha": found.alpha_min, "margin": kappa_max(model(alpha=found.alpha_min))},
    }
    rows = []
    for line in LINES:
        right = ends[line]["alpha"]
        alphas: list[float] = []
        if task["ensemble"] in parameters.lines:
            if not left < right:
                raise DomainError(f"smallest_alpha = {left} leaves no line of {line}: it ends at α = {right:.6g}")
            marked = {alpha for alpha in parameters.alphas_marked if left < alpha < right}
            angles = np.linspace(0.0, 0.5 * np.pi, parameters.points * (FINER if line == "kappa_max" else 1))[:-1]
            alphas = sorted({*(left + (right - left) * np.sin(angles)).tolist(), *marked})
        rows += [
            {"line": line, "alpha": alpha, "margin": margin_of[line](model(alpha=alpha)), "end": False}
            for alpha in alphas
        ]
        rows.append({"line": line, "end": True, **ends[line]})
    return pd.DataFrame(rows).assign(**task)
