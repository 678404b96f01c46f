"""What the runs of all solvers of the binary perceptron share: the same instances, the same measurements.

One experiment per solver (`overparam/solve_*`) names its own solver and options; so a solver's results depend on the
code of that solver alone. Table: one row for each number, in column `value`.

| column | |
|---|---|
| quantity | see below |
| D, P, N, inv_alpha | sizes; inv_alpha = N/P of these sizes |
| margin, margin_effective | κ asked for, and the κ of the continuum that the lattice of the sums stands for |
| sample | number of the instance |
| x | distance of `local_energy`, stability of `stability_count`, else missing |

| quantity | |
|---|---|
| solved | 1 if the final weights have no training error, else 0 |
| train_error_best, train_error_last | smallest over the run, and of the final weights |
| iterations | in the solver's unit |
| test_error | of the final weights, on fresh patterns |
| mean_stability | over the training patterns |
| p_d, r | squared norm and teacher overlap of the projected weights, per latent dimension |
| local_energy | mean train error at exactly round(dN) random flips |
| stability_count | patterns at a value of the lattice of stabilities, final weights of solved runs |
| converged | message passing: 1 if the messages reached their tolerance, else 0 |
| test_error_barycenter, overlap, entropy | belief propagation: of the magnetizations |
| test_error_first | BinaryNet: of the first weights without training error |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from localentropy import seeds
from localentropy.errors import DomainError
from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingOverparameterizations,
    IncreasingValues,
    Load,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.perceptron import Instance
    from localentropy.solvers.solution import Solution


class SizeGrid(BaseModel):
    """Instances of one latent dimension."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    D: int = Field(ge=3, le=10_000, description="latent dimension")
    inv_alphas: IncreasingOverparameterizations = Field(description="N/P, with N the nearest odd number")
    samples: int = Field(ge=1, le=10_000, description="instances of each size")

    def points(self) -> list[Task]:
        """The sizes."""
        return [{"D": self.D, "inv_alpha": inv_alpha} for inv_alpha in self.inv_alphas]


class Grid(SizeGrid):
    """Instances of one latent dimension, at several margins."""

    margins: IncreasingValues = Field(description="margins κ")

    def points(self) -> list[Task]:
        """The sizes and margins."""
        return [point | {"margin": margin} for point in super().points() for margin in self.margins]


class PerceptronParameters(ExperimentParameters):
    """Parameters of every solver's runs."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    activation: Literal["sign"] = Field(description="nonlinearity σ of the features: ±1 patterns")
    distances: IncreasingValues = Field(description="distances d of the local energy (C)")
    stabilities: bool = Field(description="whether the stabilities of solutions are counted")
    test_patterns: int = Field(ge=1, le=10**7, description="fresh patterns of a test error", json_schema_extra=SIZE)
    grids: tuple[Grid, ...] = Field(min_length=1, description="sizes, margins and samples", json_schema_extra=SIZE)

    @model_validator(mode="after")
    def _distinct_sizes(self) -> PerceptronParameters:
        require_distinct(self.alpha_T, self.grids)
        return self

    def options(self) -> dict[str, Any]:
        """The fields that a solver's own parameters add: arguments of the solver."""
        return self.model_dump(exclude=set(PerceptronParameters.model_fields))


def grid_tasks(grids: Iterable[SizeGrid]) -> list[Task]:
    """One size, margin and sample each."""
    return [point | {"sample": sample} for grid in grids for point in grid.points() for sample in range(grid.samples)]


def distinct_points(alpha_T: float, grids: Iterable[SizeGrid]) -> list[Task]:
    """One size and margin each; where grids overlap, the first."""
    points: dict[tuple[Any, ...], Task] = {}
    for grid in grids:
        for point in grid.points():
            points.setdefault(_identity(alpha_T, point), point)
    return list(points.values())


def require_distinct(alpha_T: float, grids: Iterable[SizeGrid]) -> None:
    """Refuse grids with one size and margin twice: the same instances would be counted as others.

    Raises:
        ValueError: naming both entries.
    """
    points: dict[tuple[Any, ...], str] = {}
    for number, grid in enumerate(grids):
        for point in grid.points():
            entry = f"grids[{number}] {', '.join(f'{key} = {value}' for key, value in point.items())}"
            identity = _identity(alpha_T, point)
            if identity in points:
                raise ValueError(f"{points[identity]} and {entry} are the same instances, N = {identity[0]}: drop one")
            points[identity] = entry


def _identity(alpha_T: float, point: Task) -> tuple[Any, ...]:
    """N, then all that tells points apart but 1/α, of which several can give one N."""
    others = {key: value for key, value in point.items() if key != "inv_alpha"}
    return sizes(alpha_T, point["D"], point["inv_alpha"])[1], *others.values()


def sizes(alpha_T: float, D: int, inv_alpha: float) -> tuple[int, int]:
    """P, and the odd N nearest to inv_alpha P.

    Raises:
        DomainError: no patterns.
    """
    P = round(alpha_T * D)
    if P < 1:
        raise DomainError(f"alpha_T = {alpha_T} leaves no patterns at D = {D}: allowed: at least {0.5 / D:.3g}")
    return P, 2 * round((inv_alpha * P - 1) / 2) + 1


def run_solver(
    name: str, solver: Callable[..., Solution], parameters: PerceptronParameters, task: Task, context: Context
) -> pd.DataFrame:
    """Rows of one run."""
    import pandas as pd

    from localentropy.instances.perceptron import effective_margin, hidden_manifold

    D, margin, sample = task["D"], task["margin"], task["sample"]
    P, N = sizes(parameters.alpha_T, D, task["inv_alpha"])
    instance = hidden_manifold(
        D, P, N, seed=seeds.child(context.seed, "instance", sample=sample), activation=parameters.activation
    )
    solution = solver(
        instance,
        margin=margin,
        seed=seeds.child(context.seed, f"algorithm/{name}", D=D, P=P, N=N, margin=margin, sample=sample),
        **parameters.options(),
    )
    table = pd.DataFrame(_measurements(instance, solution, parameters, margin), columns=["quantity", "x", "value"])
    outcome = "solved" if solution.solved else "not solved"
    context.report(f"D = {D}, 1/α = {N / P:.3f}, κ = {margin:g}, sample {sample}: {outcome}")
    effective = effective_margin(margin, N)
    return table.assign(sample=sample, D=D, P=P, N=N, inv_alpha=N / P, margin=margin, margin_effective=effective)


def _measurements(
    instance: Instance, solution: Solution, parameters: PerceptronParameters, margin: float
) -> list[tuple[str, float, float]]:
    import math

    import numpy as np

    from localentropy.landscape.binary_local_energy import expected_flip_energy

    weights, n = solution.weights, parameters.test_patterns
    stabilities = instance.stabilities(weights)
    assert instance.features is not None and instance.teacher is not None
    projected = instance.features.T @ weights / math.sqrt(instance.N)
    numbers = {
        "solved": float(solution.solved),
        "train_error_best": solution.best_train_error,
        "train_error_last": instance.train_error(weights, margin),
        "iterations": float(solution.iterations),
        "mean_stability": float(stabilities.mean()),
        "p_d": float(projected @ projected / len(projected)),
        "r": float(instance.teacher @ projected / len(projected)),
    }
    if solution.converged is not None:
        numbers["converged"] = float(solution.converged)
    # One pass over the test patterns for all weights of interest.
    students = {"test_error": weights}
    if solution.magnetizations is not None and solution.entropy is not None:
        students["test_error_barycenter"] = solution.magnetizations
        numbers |= {"entropy": solution.entropy, "overlap": float(np.mean(solution.magnetizations**2))}
    if (first := getattr(solution, "first_weights", None)) is not None:
        students["test_error_first"] = first
    numbers |= dict(zip(students, instance.test_error(np.stack([*students.values()]), n).tolist(), strict=True))
    rows = [(quantity, math.nan, value) for quantity, value in numbers.items()]
    energies = expected_flip_energy(instance, weights, distances=parameters.distances, margin=margin)
    rows += [("local_energy", d, energy) for d, energy in zip(parameters.distances, energies.tolist(), strict=True)]
    if parameters.stabilities and solution.solved:
        values, counts = np.unique(np.rint(instance.sums(weights)), return_counts=True)
        root = math.sqrt(instance.N)
        rows += [("stability_count", float(s) / root, float(count)) for s, count in zip(values, counts, strict=True)]
    return rows
