"""Questions: functions of a model. Each also takes a sequence of models, and refuses other arguments in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from functools import singledispatch, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from localentropy.arguments import shown
from localentropy.errors import DomainError
from localentropy.numerics.waiting import counted
from localentropy.theory.model import Asked, Model

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.theory.energies import Energy

Own = ParamSpec("Own")
Answer = TypeVar("Answer")
Given_co = TypeVar("Given_co", covariant=True)


class Question(Protocol[Own, Given_co]):
    """A function whose first argument is a model of any kind that has an answer, or a sequence of models."""

    __name__: str

    def __call__(self, model: Any, /, *arguments: Own.args, **named: Own.kwargs) -> Given_co:
        """The answer; a table for a sequence of models."""

    def register(self, kind: type[Asked], answer: Callable[..., Any]) -> object:
        """Give another kind of models an answer of its own."""

    def check(self, model: object) -> None:
        """Refuse a model that has no answer whatever its parameters are, without solving anything."""


def question(
    *,
    load: bool = True,
    pairs: bool = False,
    teacher: bool | None = None,
    energies: Literal["margin", "hard", "any"] = "margin",
    binary: bool = True,
    of: type[Asked] = Model,
    refuses: Callable[[Any], str] = lambda model: "",
) -> Callable[[Callable[Concatenate[Any, Own], Answer]], Question[Own, Answer]]:
    """A decorator that makes a question of a function of a model.

    Other kinds of models than `of` get an answer of their own by `<question>.register`, as in
    `functools.singledispatch`. A sequence of models gives a table: one row for each model, or all rows of its answer.

    Args:
        load: whether the model must say how many patterns there are.
        pairs: whether the model's solutions must have a Franz-Parisi entropy.
        teacher: True if labels must come from a teacher, False if they must not, None if both are allowed.
        energies: which energies the model may have: only the margin, hard constraints, or any.
        binary: whether the model's weights must be binary.
        of: the class of the models that the function answers for.
        refuses: a function of such a model: why it has no answer, or an empty string.

    Returns:
        The decorator.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.question import question
        >>> @question()
        ... def patterns_per_thousand(model):
        ...     return 1000.0 * model.alpha
        >>> patterns_per_thousand(Perceptron(alpha=0.5))
        500.0
        >>> patterns_per_thousand([Perceptron(alpha=0.1), Perceptron(alpha=0.2)]).iloc[:, -1].tolist()
        [100.0, 200.0]
    """

    def decorate(function: Callable[Concatenate[Any, Own], Answer]) -> Question[Own, Answer]:
        name = function.__name__

        @singledispatch
        def answer(model: Any, *arguments: Any, **named: Any) -> Any:
            raise DomainError(f"{name} is not computed for {type(model).__name__}")

        unknown = answer.dispatch(object)
        answer.register(of, function)

        def check(model: object) -> None:
            refuse(model, allowed)

        def allowed() -> list[str]:
            """Examples of the kinds of the package that have an answer, as they are written; of others their names."""
            kinds = dict.fromkeys(kind for base in answer.registry if base is not object for kind in _kinds(base))
            found = [[given for given in kind.examples if is_answered(kind(**given))] for kind in kinds]
            ours = [_written(kind, given[0]) for kind, given in zip(kinds, found, strict=True) if given]
            return ours or [kind.__name__ for kind in answer.registry if kind is not object]

        def is_answered(model: object) -> bool:
            try:
                refuse(model, list)
            except DomainError:
                return False
            return True

        def takes(energy: Energy, taught: bool) -> bool:
            return not (pairs and taught) and (energies == "any" or (energies == "hard" and energy.hard))

        def refuse(model: object, examples: Callable[[], list[str]]) -> None:
            """Refuse a model that has no answer, naming the kinds of these examples where another kind has one."""
            kind = type(model).__name__

            def others() -> str:
                return f"; allowed are {', '.join(one.partition('(')[0] for one in examples())}"

            if not is_dataclass(model) or isinstance(model, type):
                raise DomainError(f"{name}: {shown(model)} is no model{others()}, such as {examples()[0]}")
            found = answer.dispatch(type(model))
            if found is unknown:
                raise DomainError(f"{name} is not computed for {kind}{others()}")
            if isinstance(model, Model) and teacher and not model.teacher:
                raise DomainError(f"{name} needs a teacher: {kind} has none{others()}")
            if isinstance(model, Model) and teacher is False and model.teacher:
                raise DomainError(f"{name} is computed without a teacher only: {kind} has one{others()}")
            if isinstance(model, Asked) and load:
                model.require_load(name)
            if isinstance(model, Model) and (model.response < 0.0 or (model.response == 0.0 and not model.teacher)):
                raise DomainError(f"response = {model.response:.12g} is out of range: allowed are numbers above 0")
            if isinstance(model, Model) and (energy := model.energy) is not None and not takes(energy, model.teacher):
                if "energy" not in model.parameters():
                    raise DomainError(f"{name} is not computed for {kind}{others()}")
                hint = "leave energy out and set margin"
                if energies == "hard" and not (pairs and model.teacher):
                    hint = f"take one that is 0 or infinite, or {hint}"
                raise DomainError(f"{name} is not computed for {kind} with energy = {energy!r}: {hint}")
            if isinstance(model, Model) and binary and not model.weights.binary:
                raise DomainError(f"{name} is computed for binary weights only: those of {kind} are others{others()}")
            if isinstance(model, Model) and pairs and model.without_pairs:
                raise DomainError(model.without_pairs)
            if found is function and (why := refuses(model)):
                raise DomainError(why)

        def checked(model: Any, *arguments: Any, **named: Any) -> Any:
            check(model)
            return answer(model, *arguments, **named)

        @wraps(function)
        def ask(model: Any, *arguments: Any, **named: Any) -> Any:
            models = None if isinstance(model, str) else _entries(model)
            if models is None:
                return checked(model, *arguments, **named)
            return _table(name, [(each, checked(each, *arguments, **named)) for each in counted(models, name)])

        ask.register, ask.check = answer.register, check  # type: ignore[attr-defined]
        return ask  # type: ignore[return-value]

    return decorate


def _entries(models: object) -> list[Any] | None:
    """The entries of a sequence; None of what has none."""
    try:
        return list(models)  # type: ignore[call-overload,no-any-return]
    except TypeError:  # also of an array without dimensions, which is an Iterable
        return None


def _kinds(base: Any) -> list[Any]:
    """The models of this package among a class and those that derive from it."""
    below = [kind for child in base.__subclasses__() for kind in _kinds(child)]
    ours = is_dataclass(base) and base.__module__.startswith(f"{__name__.partition('.')[0]}.")
    return [base, *below] if ours else below


def _written(kind: type, given: Mapping[str, Any]) -> str:
    return f"{kind.__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def numbers(answer: Any) -> Any:
    """The numbers of an answer that has several of them, by name; any other answer unchanged.

    Args:
        answer: an answer.

    Returns:
        A dictionary, or the answer.

    Example:
        >>> from localentropy.theory import Perceptron, typical
        >>> from localentropy.theory.question import numbers
        >>> "entropy" in numbers(typical(Perceptron(alpha=0.5))), numbers(0.5)
        (True, 0.5)
    """
    if hasattr(answer, "row"):
        return answer.row()
    if is_dataclass(answer):
        return asdict(answer)  # type: ignore[arg-type]
    return answer._asdict() if hasattr(answer, "_asdict") else answer


def _table(name: str, answers: list[tuple[Any, Any]]) -> pd.DataFrame:
    """The parameters of each model beside its answer. An answer that is a number has the question's name."""
    import numpy as np
    import pandas as pd

    def rows(model: Any, answer: Any) -> pd.DataFrame:
        if not isinstance(answer, pd.DataFrame):
            found = numbers(answer)
            answer = found if isinstance(found, dict) else {name: np.ravel(found)}
            several = any(hasattr(value, "__len__") for value in answer.values())
            answer = pd.DataFrame(answer, index=None if several else [0])
        beside = {key: value for key, value in model.parameters().items() if key not in answer}
        return pd.concat([pd.DataFrame(beside, index=answer.index), answer], axis=1)

    found = [rows(model, answer) for model, answer in answers]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()
