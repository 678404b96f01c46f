"""Sizes of the binary perceptron's instances, and grids of sizes. No instance is counted twice."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.errors import DomainError
from localentropy.programs.parts.parameters import (
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    Margin,
    OverparameterizationOfRuns,
    Section,
    Task,
    given,
    require_no_repetition,
    require_patterns,
)


class SizeGrid(Section):
    """Instances of one latent dimension."""

    D: int = given(quantities.SIZE.within(low=3), "latent dimension")
    inv_alphas: Increasing[OverparameterizationOfRuns] = Field(description="N/P, with N the nearest odd number")
    samples: int = given(quantities.RUNS, "instances of each size")

    def points(self) -> list[Task]:
        """The sizes."""
        return [{"D": self.D, "inv_alpha": inv_alpha} for inv_alpha in self.inv_alphas]


class SolverGrid(SizeGrid):
    """Instances of one latent dimension for one solver."""

    solver: str

    def points(self) -> list[Task]:
        """The solver and its sizes."""
        return [{"solver": self.solver} | point for point in super().points()]


class Grid(SizeGrid):
    """Instances of one latent dimension, at several margins."""

    margins: Increasing[Margin] = Field(description="margins κ")

    def points(self) -> list[Task]:
        """The sizes and margins."""
        return [point | {"margin": margin} for point in super().points() for margin in self.margins]


class InstanceParameters(ExperimentParameters):
    """Parameters of runs on instances of the binary perceptron. No instance is in them twice."""

    alpha_T: LoadOfRuns = Field(description="patterns per latent dimension, α_T = P/D (C)")

    @model_validator(mode="after")
    def _distinct_sizes(self) -> Self:
        for name, value in self:
            if isinstance(value, tuple) and value and isinstance(value[0], SizeGrid):
                require_distinct(name, self.alpha_T, value)
        return self


class SignParameters(InstanceParameters):
    """Parameters of runs on instances with ±1 patterns."""

    activation: Literal["sign"] = Field(description="nonlinearity σ of the features: ±1 patterns")


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


def require_distinct(name: str, alpha_T: float, grids: Iterable[SizeGrid]) -> None:
    """Refuse grids with one size and margin twice: the same instances would be counted as others.

    Raises:
        ValueError: naming both entries.
    """
    points = [
        (number, point, _identity(alpha_T, point)) for number, grid in enumerate(grids) for point in grid.points()
    ]
    require_no_repetition(
        (
            f"{name}[{number}] {', '.join(f'{key} = {value}' for key, value in point.items())}",
            same,
            f"instances, N = {same[0]}",
        )
        for number, point, same in points
    )


def require_margin(name: str, margin: float, N: int) -> None:
    """Refuse a margin that no weights reach: the stability of a ±1 pattern is at most √N.

    Raises:
        ValueError: naming the margin.
    """
    if margin > math.sqrt(N):
        raise ValueError(f"{name} = {margin:g}: allowed is 0 to √N = {math.sqrt(N):.6g} at N = {N}")


def _identity(alpha_T: float, point: Task) -> tuple[Any, ...]:
    """N, then all that tells points apart but 1/α, of which several can give one N."""
    others = {key: value for key, value in point.items() if key != "inv_alpha"}
    N = sizes(alpha_T, point["D"], point["inv_alpha"])[1]
    require_margin("margin", point.get("margin", 0.0), N)
    return N, *others.values()


def sizes(alpha_T: float, D: int, inv_alpha: float) -> tuple[int, int]:
    """P, and the odd N nearest to inv_alpha P.

    Raises:
        DomainError: no patterns, or more patterns or weights than there may be.
    """
    require_patterns("alpha_T =", alpha_T, "D", D)
    P = round(alpha_T * D)
    N = 2 * round((inv_alpha * P - 1) / 2) + 1
    if max(P, N) > quantities.SIZE.high:
        raise DomainError(
            f"alpha_T = {alpha_T:g} and inv_alpha = {inv_alpha:g} are P = {P:.3g} and N = {N:.3g} at D = {D}: allowed: "
            f"at most {quantities.SIZE.high}"
        )
    return P, N


def pattern_bytes(alpha_T: float, task: Task) -> int:
    """Memory of the patterns of a task, and of the features that they are made with."""
    D = task["D"]
    P, N = sizes(alpha_T, D, task["inv_alpha"])
    return N * (P + 8 * D)
