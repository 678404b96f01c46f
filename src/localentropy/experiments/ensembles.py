"""The ensembles of problems for programs on the theory. Each names a model of `localentropy.replica`."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from localentropy.experiments.parameters import ExperimentParameters


class Ensemble(BaseModel):
    """A model, and its arguments besides control parameters and margins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(description="the model, a module of localentropy.replica")

    def theory(self, function: str, *arguments: Any, **named: Any) -> Any:
        """The value of one of the model's functions."""
        found = getattr(import_module(f"localentropy.replica.{self.model}"), function)
        return found(*arguments, **named, **self.model_dump(exclude={"model"}))


class RandomFeatures(Ensemble):
    """A binary perceptron on random features of a teacher's inputs. Its control parameters are α_T and 1/α."""

    model: Literal["random_features"] = Field(description="the model, a module of localentropy.replica")
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")


class Perceptron(Ensemble):
    """A binary perceptron on random patterns."""

    model: Literal["perceptron"] = Field(description="the model, a module of localentropy.replica")


class TreeCommittee(Ensemble):
    """A tree committee of infinitely many binary perceptrons on random patterns."""

    model: Literal["tree_committee"] = Field(description="the model, a module of localentropy.replica")
    activation: Literal["sign", "relu", "erf", "tanh", "identity"] = Field(description="activation g of the units")


class TeacherStudent(Ensemble):
    """A binary perceptron on a binary teacher's random patterns."""

    model: Literal["teacher_student"] = Field(description="the model, a module of localentropy.replica")


RandomPatterns = Annotated[Perceptron | TreeCommittee | TeacherStudent, Field(discriminator="model")]
"""Models of independent random patterns. Their control parameter is α, the number of patterns per weight."""


class EnsembleParameters(ExperimentParameters):
    """Parameters of a program that evaluates the theory of an ensemble."""

    FUNCTIONS: ClassVar[tuple[str, ...]]
    """Functions of the model that the program calls."""

    ensemble: Annotated[RandomFeatures | Perceptron | TreeCommittee | TeacherStudent, Field(discriminator="model")]

    def modules(self) -> list[str]:
        """Dotted names of the model's functions that the table depends on."""
        return [f"localentropy.replica.{self.ensemble.model}:{function}" for function in self.FUNCTIONS]
