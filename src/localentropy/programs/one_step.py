"""One step of replica-symmetry breaking around typical solutions (margins, figure s1).

Solutions counted at a distance from a reference are searched for two overlaps: q1 in blocks of replicas, q0 between
blocks. The replicon says whether a small difference grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.ensembles import EnsembleParameters, Perceptron, TreeCommittee
from localentropy.programs.parts.parameters import (
    Context,
    DistanceOfCurve,
    Load,
    Margin,
    Section,
    Task,
    bounds,
    given,
    require_order,
)

if TYPE_CHECKING:
    import pandas as pd


class Family(Section):
    """Curves of one name."""

    alphas: tuple[Load, ...] = Field(min_length=1, description="patterns per weight, α = P/N (C)")
    margins_ref: tuple[Margin | Literal["max"], ...] = Field(
        min_length=1, description="margins κ̃ of the references; `max` is the largest that exists (C)"
    )


class Parameters(EnsembleParameters):
    """Parameters of the search."""

    ensemble: Annotated[Perceptron | TreeCommittee, Field(discriminator="model")]
    margin: Margin = Field(description="margin κ of the solutions that are counted")
    curves: dict[str, Family] = Field(min_length=1, description="families of curves, by name")
    blocks: tuple[Annotated[float, bounds(quantities.REPLICAS_OF_BLOCK)] | Literal["stationary"], ...] = Field(
        min_length=1,
        description="replicas in a block, m; `stationary`: where the entropy does not change with m (C)",
    )
    smallest_distance: DistanceOfCurve = Field(description="left end of the grid of distances d, even in log d (C)")
    largest_distance: DistanceOfCurve = Field(description="right end of the grid (C)")
    points: int = given(quantities.POINTS, "distances of a curve", size=True)

    @model_validator(mode="after")
    def _ordered_distances(self) -> Parameters:
        require_order(self, "smallest_distance", "largest_distance")
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One curve at one size of blocks each."""
    return [
        {"curve": name, "alpha": alpha, "reference": str(margin_ref), "blocks": str(block)}
        for name, family in parameters.curves.items()
        for alpha in family.alphas
        for margin_ref in family.margins_ref
        for block in parameters.blocks
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One curve over the grid of distances.

    Returns:
        Columns curve, alpha, reference (its margin as written), blocks (as written), margin_ref, margin, distance,
        entropy, entropy_rs (replica-symmetric), q0, q1, block, replicon, residual.
    """
    import numpy as np

    from localentropy.theory.one_step import franz_parisi_one_step

    distances = np.geomspace(parameters.smallest_distance, parameters.largest_distance, parameters.points)
    reference, blocks = task["reference"], task["blocks"]
    table = franz_parisi_one_step(
        parameters.ensemble.at(alpha=task["alpha"], margin=parameters.margin),
        distances,
        "max" if reference == "max" else float(reference),
        None if blocks == "stationary" else float(blocks),
    )
    return table.assign(**task, margin_ref=table.attrs["margin_ref"], margin=parameters.margin)
