"""Questions of the theory along grids of their arguments: all tables that need nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    Tag,
    create_model,
    model_serializer,
    model_validator,
)

from localentropy import quantities
from localentropy.programs.parts.ensembles import BEYOND, AnyEnsemble
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Section,
    Task,
    bounds,
    increasing,
)
from localentropy.quantities import Quantity

if TYPE_CHECKING:
    import pandas as pd


class Question(NamedTuple):
    """A function of `localentropy.theory`.

    Attributes:
        module: where it is defined.
        arguments: of its own, beside those of the model.
        model: whether its first argument is a model.
        narrow: the ranges of arguments, where they are narrower than elsewhere.
        package: of the module.
        fixed: arguments that are the same at every point.
    """

    module: str
    arguments: tuple[str, ...] = ()
    model: bool = True
    narrow: tuple[Quantity, ...] = ()
    package: str = "localentropy.theory"
    fixed: Mapping[str, str] = MappingProxyType({})

    @property
    def home(self) -> str:
        """Dotted name of the module."""
        return f"{self.package}.{self.module}"


_OF_THRESHOLDS = Question("monotonicity", narrow=(quantities.ALPHA_T_OF_THRESHOLDS,))

NUMBERS: Mapping[str, Question] = {
    "alpha_c": Question("typical_solutions"),
    "alpha_le": _OF_THRESHOLDS,
    "alpha_min": _OF_THRESHOLDS,
    "kappa_max": Question("typical_solutions"),
    "kappa_min": Question("monotonicity"),
    "kappa_opt": Question("barycenter"),
    "kappa_u": Question("monotonicity"),
    "optimal_margin_onset": Question("barycenter"),
}
"""Questions whose answers are numbers."""

QUESTIONS: Mapping[str, Question] = {
    **NUMBERS,
    "generalization_errors": Question("typical_solutions"),
    "overparameterized_limit": Question("many_features_limit"),
    "thresholds": _OF_THRESHOLDS,
    "alpha_u": Question("local_entropies"),
    "zero_external_entropy.alpha_u": Question("local_entropies", fixed={"replicas": "zero external entropy"}),
    "typical": Question("typical_solutions"),
    "bayes.transitions": Question("teachers", ("model",), model=False, package="localentropy.programs.parts"),
    "cross_entropy.minimizers": Question(
        "cross_entropy", ("alpha", "gamma"), model=False, narrow=(quantities.ALPHA_OF_MINIMIZERS,)
    ),
    "quadratic_units.unique_minimum": Question("quadratic_units", model=False),
}
"""Name in `localentropy.theory` → what can be asked."""

_INVERSE = "1/"
_INVERSES = tuple(f"{_INVERSE}{name}" for name in NUMBERS if name.startswith("alpha"))
NAMES = (*NUMBERS, *_INVERSES)
"""What may stand for a number: the answer of a question, or one over it if it is a load."""

MODELS: Mapping[str, tuple[str, ...]] = {
    "perceptron": ("alpha", "margin"),
    "random_features": ("alpha_T", "inv_alpha", "margin", "activation"),
    "teacher_student": ("alpha", "margin"),
    "tree_committee": ("alpha", "margin", "activation"),
}
"""Model → its arguments."""

if TYPE_CHECKING:
    Named = str
    Asked = str
else:
    Named = Literal[NAMES]
    Asked = Literal[(*QUESTIONS, *_INVERSES)]

WORDS: Mapping[str, Any] = {
    "model": Literal["binary_perceptron", "phase_retrieval", "committee_2", "committee_large"],
    "activation": Literal["sign", "tanh", "erf", "relu", "identity"],
}
"""Argument that is a word → the words."""

NUMBERED = (quantities.GAMMA, quantities.MARGIN_OF_RUNS, quantities.ALPHA_T, quantities.INV_ALPHA, quantities.ALPHA)
"""Arguments that are numbers. Words vary before them. They vary in this order, the last fastest, lists before lines."""


class _Values(Section):
    """A mapping of which only the keys that were given are kept."""

    @model_serializer(mode="wrap")
    def _given(self, serialize: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if value is not None}

    def given(self) -> dict[str, Any]:
        """The keys and their values, in the order of the class."""
        return {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}


class Line(_Values):
    """A grid between two ends, of the section's number of points."""

    if TYPE_CHECKING:
        to: Any
        spacing: str
        also: tuple[Any, ...]

    @property
    def ends(self) -> tuple[Any, Any]:
        """The two ends, numbers or names."""
        return getattr(self, "from"), self.to

    @property
    def is_open(self) -> bool:
        """Whether an end is the answer of a question."""
        return any(isinstance(end, str) for end in self.ends)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.is_open and not self.ends[0] < self.to:
            raise ValueError(f"from = {self.ends[0]:g} must lie below to = {self.to:g}")
        return self

    def values(self, ends: tuple[float, float], points: int) -> list[float]:
        """The grid between ends that are numbers, with the further values; increasing."""
        import numpy as np

        even = np.geomspace(*ends, points) if self.spacing == "log" else np.linspace(*ends, points)
        return sorted({*even.tolist(), *self.also})


def _different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse values that stand twice, and numbers that do not increase."""
    if len(set(values)) < len(values):
        raise ValueError(f"must differ from each other, got {', '.join(map(str, values))}")
    increasing(tuple(value for value in values if not isinstance(value, str)))
    return values


def _along(one: Any) -> Any:
    """The type of a list of values that vary."""
    return Annotated[tuple[one, ...], Field(min_length=1), AfterValidator(_different)]


def _line_or_list(quantity: Quantity) -> Any:
    """The type of numbers that vary."""
    number = Annotated[float, bounds(quantity)]
    fields: Any = {
        "from": (number | Named, Field(description="left end")),
        "to": (number | Named, Field(description="right end")),
        "spacing": (Literal["log", "linear"], Field(default="log", description="even in the logarithm, or even")),
        "also": (tuple[number, ...], Field(default=(), description="further values")),
    }
    line: Any = create_model("Line", __base__=Line, **fields)
    several = _along(number | Named)
    return Annotated[Annotated[line, Tag("line")] | Annotated[several, Tag("list")], Discriminator(_shape)]


def _shape(value: Any) -> str:
    """Which of the two a value is, by its shape, so that errors are about this one."""
    return "line" if isinstance(value, Mapping | Line) else "list"


def _arguments(name: str, words: str, of_words: Callable[[Any], Any], of_number: Callable[[Quantity], Any]) -> Any:
    """A class with a key for each argument; none of them must be given."""
    fields: Any = {
        key: (of_words(kind) | None, Field(default=None, description="a word")) for key, kind in WORDS.items()
    }
    for each in NUMBERED:
        fields[each.name] = (of_number(each) | None, Field(default=None, description=f"{each.symbol}, {each.words}"))
    return create_model(name, __base__=_Values, __doc__=words, **fields)


Over: Any = _arguments("Over", "Arguments that vary.", _along, _line_or_list)
At: Any = _arguments(
    "At",
    "Arguments that do not vary.",
    lambda kind: kind,
    lambda quantity: Annotated[float, bounds(quantity)] | Named,
)


class Parameters(ExperimentParameters):
    """Parameters of a table."""

    ask: Asked | dict[str, Asked] = Field(
        description="a question of `localentropy.theory`, or several: name of the column, or beginning of the names of "
        "the columns of an answer with several numbers → question"
    )
    ensemble: AnyEnsemble | None = Field(default=None, description="the model that is asked, if the question has one")
    over: Over = Field(
        description="argument → values: a list, or a line `{from, to, spacing, also}`; the name of a question stands "
        "for its answer, `1/alpha_c` for one over it"
    )
    at: At = Field(
        default=At(), description="argument → its value, or the name of a question, which is asked at each point"
    )
    points: Annotated[int, bounds(quantities.POINTS)] | None = Field(
        default=None, description="points of a line", json_schema_extra=SIZE
    )

    def questions(self) -> dict[str, str]:
        """Name of the column, or beginning of the names of the columns → question."""
        if isinstance(self.ask, dict):
            return self.ask
        return {self.ask if self.ask in NUMBERS else "": self.ask}

    def lines(self) -> dict[str, Line]:
        """The arguments that vary along a line."""
        return {name: values for name, values in self.over.given().items() if isinstance(values, Line)}

    def grid(self, line: Line, ends: tuple[float, float]) -> list[float]:
        """The values of a line between two numbers."""
        assert self.points is not None
        return line.values(ends, self.points)

    def named(self) -> set[str]:
        """The questions that are asked, and those whose answers stand for numbers."""
        values = [*self.questions().values(), *self.at.given().values()]
        for along in self.over.given().values():
            values += along.ends if isinstance(along, Line) else along
        return {name for value in values if (name := str(value).removeprefix(_INVERSE)) in QUESTIONS}

    def modules(self) -> list[str]:
        """Dotted names of the functions and of the model that the table depends on."""
        asked = [f"{QUESTIONS[name].home}:{name.rpartition('.')[2]}" for name in self.named()]
        return sorted([*asked, *([self.ensemble.module()] if self.ensemble else [])])

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        asked = sorted(self.named())
        if self.ensemble is None and any(QUESTIONS[name].model for name in asked):
            raise ValueError(f"ensemble: missing; {', '.join(asked)} has a model")
        known = dict.fromkeys(argument for name in asked for argument in QUESTIONS[name].arguments)
        known |= dict.fromkeys(MODELS[self.ensemble.model] if self.ensemble else ())
        over, at = self.over.given(), self.at.given()
        for argument in (*over, *at):
            if argument not in known:
                raise ValueError(f"{argument}: no argument of {', '.join(asked)}; allowed: {', '.join(known)}")
            if argument in over and argument in at:
                raise ValueError(f"{argument}: is in over and in at; drop one")
        needed = {argument for name in asked for argument in QUESTIONS[name].arguments} | ({"alpha_T"} & known.keys())
        for argument in sorted(needed):
            values = over.get(argument, at.get(argument))
            ends = values.ends if isinstance(values, Line) else values if isinstance(values, tuple) else (values,)
            if not {None, *NAMES}.isdisjoint(ends):
                raise ValueError(f"{argument}: {', '.join(asked)} needs its value, and no question stands for it")
        if self.lines() and self.points is None:
            raise ValueError(f"points: missing; {', '.join(self.lines())} varies along a line")
        for name in asked:
            for quantity in QUESTIONS[name].narrow:
                for value in _numbers(over.get(quantity.name, at.get(quantity.name))):
                    if not quantity.has(value):
                        raise ValueError(f"{quantity.name} = {value:g}: {name} is computed in {quantity.interval}")
        return self


def _numbers(values: Any) -> Iterator[float]:
    """The numbers among the values of an argument, or the ends and further values of a line."""
    if isinstance(values, Line):
        values = (*values.ends, *values.also)
    for value in values if isinstance(values, tuple) else (values,):
        if isinstance(value, float | int):
            yield value


def tasks(parameters: Parameters) -> list[Task]:
    """One point each. A line that begins or ends at an answer is in one task."""
    values = {name: along for name, along in parameters.over.given().items() if not isinstance(along, Line)}
    for name, line in parameters.lines().items():
        if not line.is_open:
            values[name] = parameters.grid(line, line.ends)
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The answers at the points of one task.

    Returns:
        Columns of the arguments, and of the answers: a number has the name of its question, or that of `ask`; several
        numbers have their own names, or these after the name in `ask` and `_`. A value that was given as a name is a
        number in the table.

    Raises:
        DomainError: an argument out of range, a line without room between its ends, or no solutions.
        ConvergenceError: a solve failed.
    """
    import pandas as pd

    points = [parameters.at.given() | task]
    for name, line in parameters.lines().items():
        if line.is_open:
            points = [point | {name: value} for point in points for value in _between(parameters, name, point)]
    return pd.DataFrame([_row(parameters, point) for point in points])


def ends(parameters: Parameters, argument: str, known: Mapping[str, Any]) -> tuple[float, float]:
    """The ends of a line as numbers, where other arguments have these values.

    Raises:
        DomainError: no room between them, or no solutions.
    """
    from localentropy.errors import DomainError

    line = parameters.lines()[argument]
    low, high = (
        end if not isinstance(end, str) else _answer(parameters, end, known) * (inwards if "alpha_c" in end else 1.0)
        for end, inwards in zip(line.ends, (BEYOND, 1.0 / BEYOND), strict=True)
    )
    if not low < high:
        where = "".join(f", {name} = {value}" for name, value in known.items())
        written = " to ".join(str(end) for end in line.ends)
        raise DomainError(f"{argument} from {written} leaves no line: {low:.6g} is not below {high:.6g}{where}")
    return low, high


def _between(parameters: Parameters, argument: str, point: Mapping[str, Any]) -> list[float]:
    """The values of a line with an end that is an answer at the point."""
    known = {name: value for name, value in point.items() if value not in NAMES}
    return parameters.grid(parameters.lines()[argument], ends(parameters, argument, known))


def _row(parameters: Parameters, point: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in point.items() if value not in NAMES}
    for name, value in point.items():
        if value in NAMES:
            known[name] = _answer(parameters, value, known)
    row = dict(known)
    for name, question in parameters.questions().items():
        answer = _answer(parameters, question, known)
        several = answer if isinstance(answer, dict) else {"": answer}
        row |= {"_".join(filter(None, (name, key))): value for key, value in several.items() if key not in known}
    return row


def _answer(parameters: Parameters, name: str, known: Mapping[str, Any]) -> Any:
    """The answer of a question, or one over it: a number, or several by name."""
    from localentropy.theory.question import numbers

    if name.startswith(_INVERSE):
        return 1.0 / _answer(parameters, name.removeprefix(_INVERSE), known)
    question = QUESTIONS[name]
    function = getattr(import_module(question.home), name.rpartition(".")[2])
    own = {argument: known[argument] for argument in question.arguments} | dict(question.fixed)
    if not question.model:
        return numbers(function(**own))
    ensemble = parameters.ensemble
    assert ensemble is not None
    of_model = {argument: known[argument] for argument in MODELS[ensemble.model] if argument in known}
    return numbers(function(ensemble.at(**of_model), **own))
