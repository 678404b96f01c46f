"""Stabilities of typical solutions and their local energy (overparam, figures 12 and 13): densities, or on the lattice.

The sums Σ_i w_i y ξ_i of simulations are odd integers, and a number of flips is an integer too. On the lattice the
density of the theory is integrated over the cells of this lattice, and the flips are counted exactly. What then remains
between theory and simulation is what the theory of large N neglects in the solutions themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.ensembles import EnsembleParameters, RandomFeatures
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Flips,
    Increasing,
    Load,
    Margin,
    Overparameterization,
    Task,
    given,
)
from localentropy.programs.parts.perceptron_sizes import Grid, distinct_points, sizes

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


class Parameters(EnsembleParameters):
    """Parameters of both densities and lattices."""

    CHOICE = "at"
    ensemble: RandomFeatures
    at: Literal["density", "lattice"] = Field(
        description="whether stabilities have a density, or are values of the lattice of simulations"
    )
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")


class Density(Parameters):
    """Curves at several 1/α."""

    inv_alphas: Increasing[Overparameterization] = Field(description="student weights per pattern, 1/α = N/P (C)")
    margin: Margin = Field(description="margin κ of the solutions")
    largest_stability: float = given(quantities.LARGEST_STABILITY, "right end of the grid of stabilities")
    largest_distance: float = given(
        quantities.FLIPS.within(ends="()"), "right end of the grid of distances of the local energy"
    )
    points: int = given(quantities.POINTS, "points of each grid", size=True)


class Lattice(Parameters):
    """The sizes and margins of simulations."""

    distances: Increasing[Flips] = Field(description="distances d of the local energy (C)")
    grids: tuple[Grid, ...] = Field(
        min_length=1, description="sizes and margins of the simulations; samples are ignored", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _sizes_exist(self) -> Lattice:
        tasks(self)
        return self


Parameters.MODELS = {"density": Density, "lattice": Lattice}


def tasks(parameters: Density | Lattice) -> list[Task]:
    """One 1/α each, or one size and margin; the grids of several solvers overlap."""
    if isinstance(parameters, Lattice):
        return distinct_points(parameters.alpha_T, parameters.grids)
    return [{"inv_alpha": inv_alpha} for inv_alpha in parameters.inv_alphas]


def compute(parameters: Density | Lattice, task: Task, context: Context) -> pd.DataFrame:
    """The distribution of the stabilities and the local energy at one point.

    Returns:
        Columns quantity, inv_alpha (N/P), margin, x, value, with the quantities `density` (x: stability) and
        `local_energy` (x: distance). On the lattice also D, N and margin_effective, and in the place of the density
        `stability_probability` (x: values of the lattice) and `mean_stability`; no row where there are no solutions.
    """
    return _lattice(parameters, task) if isinstance(parameters, Lattice) else _density(parameters, task)


def _density(parameters: Density, task: Task) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from localentropy.theory.stabilities import local_energy, stability_density

    model = parameters.ensemble.at(alpha_T=parameters.alpha_T, inv_alpha=task["inv_alpha"], margin=parameters.margin)
    stabilities = np.linspace(parameters.margin, parameters.largest_stability, parameters.points)
    distances = np.linspace(0.0, parameters.largest_distance, parameters.points)
    common = {"inv_alpha": task["inv_alpha"], "margin": parameters.margin}
    density = stability_density(model, stabilities)
    energy = local_energy(model, distances)
    return pd.concat(
        [
            pd.DataFrame(common | {"quantity": "density", "x": stabilities, "value": density}),
            pd.DataFrame(common | {"quantity": "local_energy", "x": distances, "value": energy}),
        ],
        ignore_index=True,
    )


def _lattice(parameters: Lattice, task: Task) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from localentropy.errors import DomainError
    from localentropy.instances.perceptron import effective_margin, smallest_allowed
    from localentropy.landscape.binary_local_energy import energy_of_sums, numbers_of_flips

    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    margin = task["margin"]
    effective, least = effective_margin(margin, N), smallest_allowed(margin, N)
    try:
        sums, probabilities = _probabilities(parameters, N, P, least)
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


def _probabilities(parameters: Lattice, N: int, P: int, least: int) -> tuple[np.ndarray, np.ndarray]:
    """The sums h_min, h_min + 2, … and their probabilities: integrals of the density over (s ± 1)/√N."""
    import numpy as np

    from localentropy.theory.stabilities import stability_density

    nodes, weights = np.polynomial.legendre.leggauss(4)
    cells = min(int(4.0 * np.sqrt(N)), (N - least) // 2) + 1  # to a stability 8 above the margin; a sum is at most N
    sums = least + 2 * np.arange(cells)
    places = (sums[:, None] + nodes) / np.sqrt(N)
    margin = (least - 1) / np.sqrt(N)
    model = parameters.ensemble.at(alpha_T=parameters.alpha_T, inv_alpha=N / P, margin=margin)
    density = stability_density(model, places)
    probabilities = density @ weights / np.sqrt(N)
    return sums, probabilities / probabilities.sum()
