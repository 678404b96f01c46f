"""Large deviations of the local entropy: where the largest one ceases to grow with distance, and its curves (margins).

The reference is any configuration. The curve at y = infinity bounds the local entropy of all references. Where its
external entropy is negative, typical training sets have no reference that reaches it. The largest local entropy of
those that exist is the one at zero external entropy. The load alpha_U is the one above which the bound does not grow
with distance everywhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.ensembles import EnsemblesParameters
from localentropy.programs.parts.parameters import Context, DistanceOfGroups, Load, Task, given, require_order

if TYPE_CHECKING:
    import pandas as pd

THRESHOLD = "U"
"""The load alpha_U, where a list of loads is asked for."""


class Parameters(EnsemblesParameters):
    """Parameters of the thresholds and curves."""

    zero_external_entropy: tuple[str, ...] = Field(
        description="names of the models with their α_U and their curves at zero external entropy, too (C)"
    )
    curves: dict[str, tuple[Load | Literal["U"], ...]] = Field(
        description="name of a model → loads α of curves of its largest local entropy; `U` is α_U (C)"
    )
    smallest_distance: DistanceOfGroups = Field(description="left end of the curves (C)")
    smallest_distance_typical: DistanceOfGroups = Field(
        description="left end of the curves at zero external entropy: at smaller ones, where y is infinite or "
        "thousands, the solver fails (C)"
    )
    largest_distance: DistanceOfGroups = Field(description="right end of the curves (C)")
    points: int = given(quantities.POINTS, "points of a curve, spaced evenly in ln d", size=True)

    @model_validator(mode="after")
    def _curves_of_models(self) -> Parameters:
        self.require_ensembles("zero_external_entropy", self.zero_external_entropy)
        self.require_ensembles("curves", self.curves)
        for name, alphas in self.curves.items():
            if not alphas or len(set(alphas)) < len(alphas):
                raise ValueError(f"curves: {name}: one load or more, which differ from each other, are needed")
        for key in ("smallest_distance", "smallest_distance_typical"):
            require_order(self, key, "largest_distance")
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One model each."""
    return [{"ensemble": name} for name in parameters.ensembles]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The threshold of one model, and its curves.

    Returns:
        Columns ensemble, line (`alpha_u`: the one row of the threshold at y = infinity; `alpha_u_typical`: that at zero
        external entropy; `curve`: at y = infinity; `curve_typical`: at zero external entropy, at loads other than `U`),
        alpha, load (as asked for), distance (of a threshold: of the tangent), entropy and external_entropy (nats per
        weight), replicas (y), slope (the derivative of the entropy by the distance), residual.
    """
    import numpy as np
    import pandas as pd

    from localentropy.theory.local_entropies import ZERO_EXTERNAL_ENTROPY, alpha_u, local_entropy

    name = task["ensemble"]
    model = parameters.ensembles[name].at
    tangent = alpha_u(model())
    frames = [pd.DataFrame([tangent._asdict() | {"line": "alpha_u", "load": THRESHOLD, "slope": 0.0}])]
    if name in parameters.zero_external_entropy:
        steep = alpha_u(model(), ZERO_EXTERNAL_ENTROPY)
        frames.append(pd.DataFrame([steep._asdict() | {"line": "alpha_u_typical", "load": "", "slope": math.inf}]))
    distances = np.geomspace(parameters.smallest_distance, parameters.largest_distance, parameters.points)
    for load in parameters.curves.get(name, ()):
        alpha = tangent.alpha if load == THRESHOLD else float(load)
        lines: dict[str, tuple[float | str, float]] = {"curve": (math.inf, 0.0)}
        if name in parameters.zero_external_entropy and load != THRESHOLD:
            lines["curve_typical"] = ZERO_EXTERNAL_ENTROPY, parameters.smallest_distance_typical
        for line, (replicas, smallest) in lines.items():
            curve = local_entropy(model(alpha=alpha), distances[distances >= smallest], replicas=replicas)
            columns = ["distance", "entropy", "external_entropy", "replicas", "slope", "residual"]
            frames.append(curve[columns].assign(line=line, alpha=alpha, load=str(load)))
    return pd.concat(frames, ignore_index=True).assign(**task)
