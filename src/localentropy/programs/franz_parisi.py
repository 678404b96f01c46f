"""Franz–Parisi entropy around typical solutions (overparam, figures 3 and 4; margins, figures 3, 4, 6 and 7).

The entropy (nats per weight) of solutions at normalised Hamming distance d from a reference drawn uniformly among the
solutions of a margin, with its slope dφ/dd: families of curves, over reference margins and over 1/α or α.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.ensembles import EnsembleParameters, RandomFeatures, RandomPatterns
from localentropy.programs.parts.parameters import (
    Context,
    DistanceOfCurve,
    Load,
    Margin,
    Overparameterization,
    Section,
    Task,
    given,
    require_order,
)

if TYPE_CHECKING:
    import pandas as pd

OfLargest = Annotated[str, Field(pattern=r"^(0?\.\d+ )?max$", examples=["max", "0.9 max"])]
"""`max`, the largest margin that exists, or a part of it: `0.9 max`."""

CLOSER = tuple(2.0**power for power in range(-6, 3))
"""Distances from a zero of a curve that are computed besides the grid, in steps of the grid."""

OfThreshold = Annotated[str, Field(pattern=r"^([01]?\.\d+ )?LE$", examples=["LE", "0.995 LE"])]
"""`LE`, the local-entropy threshold, 1/α_LE or α_LE, or a multiple of it: `0.995 LE`."""


class Family(Section):
    """Curves of one name."""

    margins_ref: tuple[Margin | OfLargest, ...] = Field(
        min_length=1,
        description="margins κ̃ of the references; `max` is the largest that exists, `0.9 max` a part of it (C)",
    )
    margin: Margin | Literal["same"] | None = Field(
        default=None, description="margin κ of the solutions that are counted; `same`: κ̃; without it the section's"
    )


class RandomFeaturesFamily(Family):
    """Curves at several 1/α."""

    margins_ref: tuple[Margin | OfLargest | Literal["kappa_u"], ...] = Field(
        min_length=1,
        description="margins κ̃ of the references; `max` is the largest that exists, `0.9 max` a part of it, `kappa_u` "
        "the smallest around which the curve grows up to its maximum (C)",
    )
    inv_alphas: tuple[Overparameterization | OfThreshold, ...] = Field(
        default=(), description="1/α; `0.995 LE` is 0.995/α_LE; without them the section's (C)"
    )

    @model_validator(mode="after")
    def _margin_of_kappa_u(self) -> RandomFeaturesFamily:
        if self.margin == "same" and "kappa_u" in self.margins_ref:
            raise ValueError("margin = same has no kappa_u among its margins_ref: give margin a number")
        return self


class RandomPatternsFamily(Family):
    """Curves at several α."""

    alphas: tuple[Load | OfThreshold, ...] = Field(
        default=(), description="α; `0.995 LE` is 0.995 α_LE; without them the section's (C)"
    )


class Parameters(EnsembleParameters):
    """Parameters of the Franz–Parisi curves of every model."""

    CHOICE = "ensemble.model"
    CONTROL: ClassVar[str]
    """The control parameter that families vary: `inv_alpha` or `alpha`."""

    margin: Margin = Field(description="margin κ of the solutions that are counted")
    smallest_distance: DistanceOfCurve = Field(description="left end of the grid of distances d")
    largest_distance: DistanceOfCurve | Literal["typical"] = Field(
        description="right end of the grid of distances d; `typical`: where the curve is highest"
    )
    bound: bool = Field(description="whether the entropy of all configurations, without patterns, is a curve too")
    spacing: Literal["log", "log and linear"] = Field(
        description="grid of distances: evenly spaced in log d, or half of it so and half of it in d"
    )
    points: int = given(quantities.POINTS, "distances of a curve; with log and linear two fewer", size=True)

    def model(self, **controls: float) -> Any:
        """The model of the theory at what families vary, and at a margin."""
        return self.ensemble.at(**controls)

    def threshold(self) -> float:
        """The local-entropy threshold, 1/α_LE or α_LE."""
        from localentropy.theory.monotonicity import alpha_le

        threshold = alpha_le(self.model())
        return 1.0 / threshold if self.CONTROL == "inv_alpha" else threshold

    @model_validator(mode="after")
    def _ordered_distances(self) -> Parameters:
        if self.largest_distance == "typical":
            if self.bound:
                raise ValueError("bound = true needs a number as largest_distance: that curve has no typical distance")
        else:
            require_order(self, "smallest_distance", "largest_distance")
        return self


class OfRandomFeatures(Parameters):
    """Parameters for random features."""

    CONTROL = "inv_alpha"
    ensemble: RandomFeatures
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    inv_alpha: Overparameterization = Field(description="student weights per pattern, 1/α = N/P (C)")
    curves: dict[str, RandomFeaturesFamily] = Field(min_length=1, description="families of curves, by name")

    @model_validator(mode="after")
    def _alpha_T_of_thresholds(self) -> OfRandomFeatures:
        low, high = quantities.ALPHA_T_OF_THRESHOLDS.low, quantities.ALPHA_T_OF_THRESHOLDS.high
        at_threshold = any(isinstance(value, str) for family in self.curves.values() for value in family.inv_alphas)
        if at_threshold and not low <= self.alpha_T <= high:
            raise ValueError(f"alpha_T = {self.alpha_T:g}: curves at LE are computed from {low:g} to {high:g}")
        return self

    def model(self, **controls: float) -> Any:
        """The model at control parameters, a margin and the section's α_T."""
        return self.ensemble.at(alpha_T=self.alpha_T, **controls)


class OfRandomPatterns(Parameters):
    """Parameters for independent random patterns."""

    CONTROL = "alpha"
    ensemble: RandomPatterns
    alpha: Load = Field(description="patterns per weight, α = P/N (C)")
    curves: dict[str, RandomPatternsFamily] = Field(min_length=1, description="families of curves, by name")


Parameters.MODELS = {
    "random_features": OfRandomFeatures,
    "perceptron": OfRandomPatterns,
    "tree_committee": OfRandomPatterns,
    "teacher_student": OfRandomPatterns,
}


def tasks(parameters: OfRandomFeatures | OfRandomPatterns) -> list[Task]:
    """One curve each."""
    control = parameters.CONTROL
    return [{"curve": "bound"}] * parameters.bound + [
        {
            "curve": name,
            control: value,
            "margin_ref": margin_ref,
            "margin": parameters.margin if family.margin is None else family.margin,
        }
        for name, family in parameters.curves.items()
        for value in getattr(family, f"{control}s") or (getattr(parameters, control),)
        for margin_ref in family.margins_ref
    ]


def compute(parameters: OfRandomFeatures | OfRandomPatterns, task: Task, context: Context) -> pd.DataFrame:
    """One curve over the grid of distances.

    Returns:
        Columns curve, inv_alpha or alpha, reference (the task's margin as written), margin_ref, margin, distance,
        entropy, slope, replicon, residual, distance_typical and entropy_typical (where and how high the curve's maximum
        is). Entropy, slope and replicon are missing where the replica-symmetric solution has ended.
    """
    import pandas as pd
    from scipy.special import entr

    right = parameters.largest_distance
    if task["curve"] == "bound":
        d = _grid(parameters, right)
        return pd.DataFrame({"curve": "bound", "reference": "bound", "distance": d, "entropy": entr(d) + entr(1.0 - d)})
    from localentropy.theory.franz_parisi_entropy import franz_parisi, typical_distance
    from localentropy.theory.monotonicity import kappa_u
    from localentropy.theory.typical_solutions import kappa_max, typical

    control = parameters.CONTROL
    value, margin_ref, margin = task[control], task["margin_ref"], task["margin"]
    if isinstance(value, str):
        value = _multiple(value) * parameters.threshold()
    if margin_ref == "kappa_u":
        margin_ref = kappa_u(parameters.model(**{control: value}, margin=margin))
    elif isinstance(margin_ref, str):
        margin_ref = _multiple(margin_ref) * kappa_max(parameters.model(**{control: value}))
    margin = margin_ref if margin == "same" else margin
    model = parameters.model(**{control: value}, margin=margin)
    if right == "typical":
        right = typical_distance(model, margin_ref)
    curve = franz_parisi(model, _grid(parameters, right), margin_ref, unsolved="nan")
    closer = near_zeros(curve["distance"].to_numpy(), curve["entropy"].to_numpy())
    parts = [curve, franz_parisi(model, closer, margin_ref, unsolved="nan")] if len(closer) else [curve]
    return (
        pd.concat(parts)
        .sort_values("distance", ignore_index=True)
        .assign(
            curve=task["curve"],
            **{control: value},
            reference=str(task["margin_ref"]),
            margin_ref=margin_ref,
            margin=margin,
            distance_typical=curve.attrs["typical_distance"],
            entropy_typical=typical(model).entropy,
        )
    )


def _multiple(value: str) -> float:
    """The factor of `0.9 max`."""
    factor, _, _ = value.rpartition(" ")
    return float(factor) if factor else 1.0


def _grid(parameters: Parameters, right: Any) -> Any:
    """Distances up to `right`."""
    import numpy as np

    ends, points = (parameters.smallest_distance, right), parameters.points
    return np.geomspace(*ends, points) if parameters.spacing == "log" else log_and_linear(ends, points)


def near_zeros(distances: Any, entropies: Any) -> Any:
    """Distances that come closer and closer to each change of sign, so that a curve is round there on any axis.

    Args:
        distances: grid, in its order, [points].
        entropies: on it, [points]; missing where there is none.

    Returns:
        Further distances between the ends of the grid, in their order.

    >>> import numpy as np
    >>> near_zeros(np.array([0.1, 0.2]), np.array([-1.0, 1.0])).round(3)
    array([0.1  , 0.125, 0.138, 0.144, 0.147, 0.148, 0.152, 0.153, 0.156,
           0.163, 0.175])
    """
    import numpy as np

    at = np.flatnonzero(entropies[:-1] * entropies[1:] < 0.0)
    steps = distances[at + 1] - distances[at]
    zeros = distances[at] - entropies[at] * steps / (entropies[at + 1] - entropies[at])
    closer = np.union1d(*(zeros + sign * np.outer(CLOSER, steps) for sign in (-1.0, 1.0)))
    return closer[(closer > distances[0]) & (closer < distances[-1])]


def log_and_linear(ends: tuple[float, float], points: int) -> Any:
    """A grid even in the logarithm in one half, and even in the other. Both have both ends, so two points are fewer."""
    import numpy as np

    half = points // 2
    return np.union1d(np.geomspace(*ends, points - half), np.linspace(*ends, half))
