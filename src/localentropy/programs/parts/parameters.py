"""The base of every program's typed parameters, and the kinds of values that recur in them.

A program is a module of `programs/`, or of `programs/<paper>/` where only that paper needs it. It draws nothing.
It defines `class Parameters(ExperimentParameters)` with one described, bounded field per parameter and no defaults:
values live in `config/`. The parameters of a program on the theory derive from `EnsembleParameters`, and
`parameters.ensemble.at(alpha=…, margin=…)` is the model that it asks. Its functions are

    tasks(parameters) -> list of dicts of scalars: the units of work, each small enough to be lost and redone. They
        follow from the parameters alone, because they must be known before any table exists;
    compute(parameters, task, context) -> tidy pandas.DataFrame of that task. Random numbers come from
        `seeds.generator(context.seed, "instance", …)` with the values that define the task. Heavy libraries are
        imported inside, because the workflow imports every program to read its parameters;
    memory(parameters, task) -> bytes of the arrays that the sizes decide, where these can be many. A task that needs
        more than the machine has is refused before it runs. Where the program reads tables it is
        memory(parameters, task, sources), with `sources` as below, in JSON;
    check_sources(parameters, sources), where the program reads tables: raises ValueError for what they will not have.
        `sources` are the parameters of the experiments that make them, by name.

A task's rows depend on its arguments only. So the table does not depend on the number of chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from localentropy import quantities
from localentropy.errors import DomainError
from localentropy.quantities import Quantity

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


def bounds(quantity: Quantity) -> Any:
    """The range of a quantity, for `Annotated`: `Load = Annotated[float, bounds(quantities.ALPHA)]`."""
    return Field(**_limits(quantity))


def given(quantity: Quantity, description: str, *, size: bool = False) -> Any:
    """A field whose values are those of a quantity, `samples: int = given(quantities.RUNS, "instances", size=True)`.

    Args:
        quantity: what the field is.
        description: what it is in this program.
        size: whether files of scales set it; see `SIZE`.
    """
    return Field(description=description, json_schema_extra=SIZE if size else None, **_limits(quantity))


def _limits(quantity: Quantity) -> dict[str, Any]:
    lower = "gt" if quantity.ends[0] == "(" else "ge"
    upper = "lt" if quantity.ends[1] == ")" else "le"
    return {lower: quantity.low, upper: quantity.high}


class Section(BaseModel):
    """A part of the configuration: immutable, without unknown keys, with finite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ExperimentParameters(Section):
    """Base of every program's parameters."""

    DATASETS: ClassVar[tuple[str, ...]] = ()
    """Names of the prepared datasets that the program reads, if they do not depend on the parameters."""

    program: str = Field(
        default="",
        description="the program that computes the table; without it the one that is called as the section",
    )
    chunks: Annotated[int, bounds(quantities.CHUNKS)] = Field(
        default=1, description="number of jobs that share the tasks (changes no result)", json_schema_extra=SIZE
    )
    threads: Annotated[int, bounds(quantities.THREADS)] = Field(
        default=1,
        description="threads of each job (part of the configuration: sums on several threads round differently)",
        json_schema_extra=SIZE,
    )

    CHOICE: ClassVar[str] = ""
    """The field whose value decides which other fields there are, if there is one; `a.b` is the field b of a."""
    MODELS: ClassVar[Mapping[str, type[ExperimentParameters]]] = {}
    """Value of the field `CHOICE` → the class of parameters."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> type[ExperimentParameters]:
        """The class of parameters for these values."""
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

    def datasets(self) -> tuple[str, ...]:
        """Names of the prepared datasets that the program reads."""
        return self.DATASETS

    def modules(self) -> list[str]:
        """Modules that the table depends on besides the program's imports, for these parameters.

        They are code that the parameters choose, such as a solver: dotted names, or `<module>:<function>`.
        """
        return []


@dataclass(frozen=True)
class Context:
    """The arguments of a task besides its parameters.

    Attributes:
        seed: root of the random streams (`localentropy.seeds`).
        data: the parameters' `datasets()` → prepared files, and those that the tables were made from.
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


def require_order(parameters: BaseModel, low: str, high: str) -> None:
    """Refuse a field that does not lie below another one.

    Args:
        parameters: what has the fields.
        low: name of the one that must be smaller.
        high: name of the other one.

    Raises:
        ValueError: naming both, with their values.
    """
    least, most = getattr(parameters, low), getattr(parameters, high)
    if not least < most:
        raise ValueError(f"{low} = {least} must lie below {high} = {most}")


def require_patterns(name: str, load: float, symbol: str, size: int) -> None:
    """Refuse a load at which there is no pattern.

    Args:
        name: of the load, with the sign before its value: `alpha =`, or `alphas:` of a grid.
        load: patterns per weight or input.
        symbol: of the size.
        size: weights or inputs.

    Raises:
        DomainError: naming the load, the size and the smallest load.
    """
    if round(load * size) < 1:
        raise DomainError(f"{name} {load} leaves no patterns at {symbol} = {size}: allowed: at least {0.5 / size:.3g}")


def number_of_samples(alpha: float, weights: int) -> int:
    """The number n of samples at a load: the integer nearest to alpha times the number of weights, and at least 1."""
    return max(1, round(alpha * weights))


def require_no_repetition(entries: Iterable[tuple[str, Hashable, str]]) -> None:
    """Refuse two entries of grids for the same runs, which would be counted as others.

    Args:
        entries: what it is called, what makes it the same as another, and what is then the same, in words.

    Raises:
        ValueError: naming both entries.
    """
    seen: dict[Hashable, str] = {}
    for entry, identity, same in entries:
        if identity in seen:
            raise ValueError(f"{seen[identity]} and {entry} are the same {same}: drop one")
        seen[identity] = entry


Distinct = Annotated[Names, Field(min_length=1), AfterValidator(_distinct)]
"""Several different words."""

Value = TypeVar("Value")

Increasing = Annotated[tuple[Value, ...], Field(min_length=1), AfterValidator(increasing)]
"""A grid, strictly increasing."""

Ends = Annotated[tuple[Value, Value], AfterValidator(increasing)]
"""The two ends of a grid."""

Load = Annotated[float, bounds(quantities.ALPHA)]
"""Constraint density, or load: patterns per degree of freedom, α = P/N or α_T = P/D."""

LoadOfRuns = Annotated[float, bounds(quantities.ALPHA_OF_RUNS)]
"""A load of problems that are drawn."""

LoadOfMinimizers = Annotated[float, bounds(quantities.ALPHA_OF_MINIMIZERS)]
"""A load α of minimizers of the cross-entropy."""

Overlap = Annotated[float, bounds(quantities.OVERLAP)]
"""Overlap of two members of a group, q₁."""

Overparameterization = Annotated[float, bounds(quantities.INV_ALPHA)]
"""Student weights per pattern, 1/α = N/P."""

OverparameterizationOfRuns = Annotated[float, bounds(quantities.INV_ALPHA_OF_RUNS)]
"""Student weights per pattern of problems that are drawn."""

Margin = Annotated[float, bounds(quantities.MARGIN_OF_RUNS)]
"""Smallest stability asked of every pattern, in the units of stability of the source."""

Distance = Annotated[float, bounds(quantities.DISTANCE)]
"""Normalised Hamming distance of a sphere around a solution, d = (1 − overlap)/2."""

DistanceOfCurve = Annotated[float, bounds(quantities.DISTANCE_OF_CURVE)]
"""Normalised Hamming distance of a curve of the theory."""

DistanceOfGroups = Annotated[float, bounds(quantities.DISTANCE_OF_GROUPS)]
"""Distance of a solution from the reference of its group."""

Sharpness = Annotated[float, bounds(quantities.GAMMA)]
"""γ of the cross-entropy loss ln(1 + exp(−2γx))/(2γ) of a stability x."""

Flips = Annotated[float, bounds(quantities.FLIPS)]
"""Fraction of weights that are flipped."""

Noise = Annotated[float, bounds(quantities.NOISE)]
"""Standard deviation of the relative noise on weights."""

Size = Annotated[int, bounds(quantities.SIZE)]
"""A size of a problem or network."""

OddSize = Annotated[int, bounds(quantities.SIZE), AfterValidator(_odd)]
"""A number of ±1 entries whose sum must not vanish."""

OddUnits = Annotated[int, bounds(quantities.UNITS), AfterValidator(_odd)]
"""Hidden units K of a committee machine."""

Units = Literal[1, 3, "inf"]
"""Hidden units K of a tree machine whose theory is known."""
