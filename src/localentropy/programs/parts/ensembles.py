"""Ensembles of problems, for programs on the theory. Each stands for the model of the theory with its class name."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import Field

from localentropy.programs.parts.parameters import ExperimentParameters, Section

BEYOND = 1.0 + 1e-9
"""A line that begins or ends at a capacity keeps this factor from it: the capacity has the rounding of its root."""


class Ensemble(Section):
    """A model, and its arguments besides control parameters and margins."""

    model: str = Field(description="the model, a module of localentropy.theory")

    def at(self, **controls: Any) -> Any:
        """The model of the theory at control parameters and a margin; other arguments take the place of its own."""
        kind = getattr(import_module(f"localentropy.theory.{self.model}"), type(self).__name__)
        return kind(**self.model_dump(exclude={"model"}) | controls)

    def module(self) -> str:
        """Dotted name of the model, for stamps: `at` imports the model at run time, so no import shows it."""
        return f"localentropy.theory.{self.model}:{type(self).__name__}"


class RandomFeatures(Ensemble):
    """A binary perceptron on random features of a teacher's inputs. Its control parameters are α_T and 1/α."""

    model: Literal["random_features"] = Field(description="the model, a module of localentropy.theory")
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")


class Perceptron(Ensemble):
    """A binary perceptron on random patterns."""

    model: Literal["perceptron"] = Field(description="the model, a module of localentropy.theory")


class TreeCommittee(Ensemble):
    """A tree committee of infinitely many binary perceptrons on random patterns."""

    model: Literal["tree_committee"] = Field(description="the model, a module of localentropy.theory")
    activation: Literal["sign", "relu", "erf", "tanh", "identity"] = Field(description="activation g of the units")


class TeacherStudent(Ensemble):
    """A binary perceptron on a binary teacher's random patterns."""

    model: Literal["teacher_student"] = Field(description="the model, a module of localentropy.theory")


RandomPatterns = Annotated[Perceptron | TreeCommittee | TeacherStudent, Field(discriminator="model")]
"""Models of independent random patterns. Their control parameter is α, the number of patterns per weight."""


AnyEnsemble = Annotated[RandomFeatures | Perceptron | TreeCommittee | TeacherStudent, Field(discriminator="model")]
"""All models."""


class EnsemblesParameters(ExperimentParameters):
    """Parameters of a program that evaluates the theory of several models."""

    ensembles: dict[str, RandomPatterns] = Field(min_length=1, description="models, by name (C)")

    def modules(self) -> list[str]:
        """Dotted names of the models that the table depends on."""
        return sorted({ensemble.module() for ensemble in self.ensembles.values()})

    def require_ensembles(self, key: str, names: Iterable[str]) -> None:
        """Refuse names that no model has.

        Raises:
            ValueError: naming the key, the first of them, and the models.
        """
        for name in names:
            if name not in self.ensembles:
                raise ValueError(f"{key}: {name} is not one of the ensembles: {', '.join(self.ensembles)}")


class EnsembleParameters(ExperimentParameters):
    """Parameters of a program that evaluates the theory of an ensemble."""

    ensemble: AnyEnsemble

    def modules(self) -> list[str]:
        """Dotted name of the model that the table depends on."""
        return [self.ensemble.module()]
