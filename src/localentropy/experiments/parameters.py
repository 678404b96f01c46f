"""The base of every program's typed parameters, and the kinds of values that recur in them.

A program is a module of `experiments/`, or of `experiments/<paper>/` where only that paper needs it. It defines
`class Parameters(ExperimentParameters)` with one described, bounded field per parameter and no defaults: values live in
`config/`. Its functions are

    tasks(parameters) -> list of dicts of scalars: the units of work, each small enough to be lost and redone;
    compute(parameters, task, context) -> tidy pandas.DataFrame of that task;
    memory(parameters, task) -> bytes of the arrays that the sizes decide, where these can be many. A task that needs
        more than the machine has is refused before it runs;
    check_sources(parameters, sources), where the program reads tables: raises ValueError for what they will not have.
        `sources` are the parameters of the experiments that make them, by name.

A task's rows depend on its arguments only. So the table does not depend on the number of chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import pandas as pd

Task = dict[str, Any]

SIZE: dict[str, Any] = {"size": True}
"""Marks a field as a size, `Field(..., json_schema_extra=SIZE)`. Files of scales set sizes, and no physics."""


@dataclass(frozen=True)
class TableOf:
    """Marks a field as the name of an experiment, `<paper>/<name>`, whose table the program reads.

    `solutions: Annotated[str, TableOf("committee_solutions")] = Field(description=…)`; `Context.tables` has the rows.

    Attributes:
        program: the program of that experiment.
    """

    program: str


class ExperimentParameters(BaseModel):
    """Base of every program's parameters: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    DATASETS: ClassVar[tuple[str, ...]] = ()
    """Names of the prepared datasets that the program reads."""

    program: str = Field(
        default="",
        description="the program that computes the table; without it the one that is called as the section",
    )
    chunks: int = Field(
        ge=1,
        le=1000,
        description="number of jobs the tasks are dealt to (changes no result)",
        json_schema_extra=SIZE,
    )
    threads: int = Field(
        ge=1,
        le=64,
        description="threads of each job (part of the configuration: sums on several threads round differently)",
        json_schema_extra=SIZE,
    )

    CHOICE: ClassVar[str] = ""
    """The field whose value decides which other fields there are, if there is one; `a.b` is the field b of a."""
    MODELS: ClassVar[Mapping[str, type[ExperimentParameters]]] = {}
    """Its values, and the model of each."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> type[ExperimentParameters]:
        """The model of these values."""
        value: Any = values
        for name in cls.CHOICE.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return cls.MODELS.get(str(value), cls)

    @classmethod
    def table_fields(cls) -> dict[str, str]:
        """The fields that name an experiment whose table is read → the program of that experiment."""
        fields = cls.model_fields.items()
        return {name: mark.program for name, at in fields for mark in at.metadata if isinstance(mark, TableOf)}

    def tables(self) -> list[str]:
        """The experiments, `<paper>/<name>`, whose tables the program reads."""
        return [getattr(self, name) for name in self.table_fields()]

    def modules(self) -> list[str]:
        """Dotted names of the modules that the table depends on besides the program's imports, for these parameters."""
        return []


@dataclass(frozen=True)
class Context:
    """The arguments of a task besides its parameters.

    Attributes:
        seed: root of the random streams (`localentropy.seeds`).
        data: names in the parameters' `DATASETS` → prepared files, and those that the tables were made from.
        report: logs one line of progress.
        checkpoint: a path that names the task. A task of more than ten minutes keeps its state in files whose names
            begin with it, and removes them at the end.
        identity: the code and the data that the task's rows depend on besides parameters and seed. A task must not
            continue from a state with another identity.
        tables: experiments that the parameters name (`TableOf`) → rows; `attrs["parameters"]` has their parameters.
    """

    seed: int
    data: Mapping[str, Path]
    report: Callable[[str], None]
    checkpoint: Path | None = None
    identity: str = ""
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)


class Experiment(Protocol):
    """The interface of a program."""

    __name__: str
    __file__: str | None
    Parameters: type[ExperimentParameters]

    def tasks(self, parameters: Any) -> list[Task]:
        """Units of work in table order."""

    def compute(self, parameters: Any, task: Task, context: Context) -> pd.DataFrame:
        """Rows of one task."""


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError(f"must be odd (a sum of ±1 over an even number can tie); nearest: {value + 1}")
    return value


Ordered = TypeVar("Ordered", bound=tuple[Any, ...])


def increasing(values: Ordered) -> Ordered:
    """The values, if they increase strictly; a validator of grids."""
    for previous, following in pairwise(values):
        if not following > previous:
            raise ValueError(f"must increase strictly, but {following} follows {previous}")
    return values


Names = TypeVar("Names", bound=tuple[str, ...])


def _distinct(names: Names) -> Names:
    if len(set(names)) < len(names):
        raise ValueError(f"must differ from each other, got {', '.join(names)}")
    return names


def require_distinct_sizes(name: str, values: Sequence[float], symbol: str, size: Callable[[float], int]) -> None:
    """Refuse values of a grid that give one size: they have the same instances, which would be counted as others.

    Args:
        name: of the grid.
        values: strictly increasing.
        symbol: of the size.
        size: of a value.

    Raises:
        ValueError: naming both values.
    """
    for one, other in pairwise(values):
        if size(one) == size(other):
            raise ValueError(f"{name}: {one} and {other} are the same size, {symbol} = {size(one)}: drop one")


Distinct = Annotated[Names, Field(min_length=1), AfterValidator(_distinct)]
"""Several different words."""

OddSize = Annotated[int, Field(ge=1), AfterValidator(_odd)]
"""A number of ±1 entries whose sum must not vanish."""

Load = Annotated[float, Field(gt=0, le=1e3)]
"""Constraint density, or load: patterns per degree of freedom, α = P/N or α_T = P/D."""

Overparameterization = Annotated[float, Field(gt=0, le=1e6)]
"""Student weights per pattern, 1/α = N/P."""

Margin = Annotated[float, Field(ge=0, le=10)]
"""Smallest stability asked of every pattern, in the units of stability of the source."""

Distance = Annotated[float, Field(gt=0, lt=1)]
"""Normalised Hamming distance, d = (1 − overlap)/2."""

Units = Literal[1, 3, "inf"]
"""Hidden units K of a tree machine whose theory is known."""

Sharpness = Annotated[float, Field(ge=0.1, le=100)]
"""γ of the cross-entropy loss ln(1 + exp(−2γx))/(2γ) of a stability x."""

IncreasingSizes = Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1), AfterValidator(increasing)]
"""A grid of positive sizes, strictly increasing."""

IncreasingLoads = Annotated[tuple[Load, ...], Field(min_length=1), AfterValidator(increasing)]
"""A grid of loads, strictly increasing."""

Loads = Annotated[tuple[Load, Load], AfterValidator(increasing)]
"""The two ends of a grid of loads."""

IncreasingOverparameterizations = Annotated[
    tuple[Overparameterization, ...], Field(min_length=1), AfterValidator(increasing)
]
"""A grid of overparameterizations, strictly increasing."""

IncreasingValues = Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(min_length=1), AfterValidator(increasing)]
"""A grid of non-negative values, strictly increasing."""

IncreasingMargins = Annotated[tuple[Margin, ...], Field(min_length=1), AfterValidator(increasing)]
"""A grid of margins, strictly increasing."""

FlipDistances = Annotated[
    tuple[Annotated[float, Field(ge=0, le=1)], ...], Field(min_length=1), AfterValidator(increasing)
]
"""A grid of fractions of weights that are flipped, strictly increasing."""

NoiseLevels = Annotated[
    tuple[Annotated[float, Field(ge=0, le=1e6)], ...], Field(min_length=1), AfterValidator(increasing)
]
"""A grid of standard deviations of the relative noise on weights, strictly increasing."""

IncreasingDistances = Annotated[tuple[Distance, ...], Field(min_length=1), AfterValidator(increasing)]
"""A grid of distances, strictly increasing."""
