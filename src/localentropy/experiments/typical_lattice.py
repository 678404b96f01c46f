"""Stabilities and local energy of typical solutions on the lattice of the simulations (overparam, figures 12 and 13).

The sums Σ_i w_i y ξ_i of the simulations are odd integers, and a number of flips is an integer too. Here the density of
the replica theory is integrated over the cells of this lattice, and the flips are counted exactly: what remains between
this and a simulation is what the theory of large N neglects in the solutions themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingValues,
    Load,
    Task,
)
from localentropy.experiments.perceptron_sizes import Grid, distinct_points, sizes

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the theory on the lattice."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    activation: Literal["sign"] = Field(description="nonlinearity σ of the features: ±1 patterns")
    distances: IncreasingValues = Field(description="distances d of the local energy (C)")
    grids: tuple[Grid, ...] = Field(
        min_length=1, description="sizes and margins of the simulations; samples are ignored", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _sizes_exist(self) -> Parameters:
        tasks(self)
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One size and margin each; the grids of several solvers overlap."""
    return distinct_points(parameters.alpha_T, parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Theory at one point.

    Returns:
        Columns quantity, D, N, inv_alpha (N/P), margin, margin_effective, x, value, with the quantities
        `stability_probability` (x: values of the lattice), `mean_stability`, and `local_energy` (x: distance asked
        for); no row where the theory has no solutions.
    """
    import numpy as np
    import pandas as pd

    from localentropy.errors import DomainError
    from localentropy.instances.perceptron import effective_margin, smallest_allowed
    from localentropy.landscape.binary_local_energy import energy_of_sums, numbers_of_flips

    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    margin = task["margin"]
    effective, least = effective_margin(margin, N), smallest_allowed(margin, N)
    try:
        sums, probabilities = lattice_probabilities(parameters.alpha_T, N, P, least, parameters.activation)
    except DomainError:
        return pd.DataFrame()
    flips = numbers_of_flips(parameters.distances, N)
    energies = energy_of_sums(sums, probabilities, flips, N, least)
    stabilities = sums / np.sqrt(N)
    frames = [
        pd.DataFrame({"quantity": "stability_probability", "x": stabilities, "value": probabilities}),
        pd.DataFrame({"quantity": "mean_stability", "x": [np.nan], "value": [stabilities @ probabilities]}),
        pd.DataFrame({"quantity": "local_energy", "x": parameters.distances, "value": energies}),
    ]
    table = pd.concat(frames, ignore_index=True)
    return table.assign(D=task["D"], N=N, inv_alpha=N / P, margin=margin, margin_effective=effective)


def lattice_probabilities(alpha_T: float, N: int, P: int, least: int, activation: str):  # type: ignore[no-untyped-def]
    """The sums h_min, h_min + 2, … and their probabilities: integrals of the density over (s ± 1)/√N."""
    import numpy as np

    from localentropy.replica import random_features as rf

    nodes, weights = np.polynomial.legendre.leggauss(4)
    cells = int(4.0 * np.sqrt(N)) + 1  # to a stability 8 above the margin
    sums = least + 2 * np.arange(cells)
    places = (sums[:, None] + nodes) / np.sqrt(N)
    density = rf.stability_density(places, alpha_T, N / P, (least - 1) / np.sqrt(N), activation)
    probabilities = density @ weights / np.sqrt(N)
    return sums, probabilities / probabilities.sum()
