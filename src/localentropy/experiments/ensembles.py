"""The ensembles of problems for programs on the theory. Each names a model of `localentropy.replica`."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from localentropy.experiments.parameters import ExperimentParameters


class Ensemble(BaseModel):
    """A model, and its arguments besides control parameters and margins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Literal["random_features"] = Field(description="the model, a module of localentropy.replica")
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")

    def theory(self, function: str, *arguments: Any, **named: Any) -> Any:
        """The value of one of the model's functions."""
        found = getattr(import_module(f"localentropy.replica.{self.model}"), function)
        return found(*arguments, **named, **self.model_dump(exclude={"model"}))


class EnsembleParameters(ExperimentParameters):
    """Parameters of a program that evaluates the theory of an ensemble."""

    FUNCTIONS: ClassVar[tuple[str, ...]]
    """Functions of the model that the program calls."""

    ensemble: Ensemble

    def modules(self) -> list[str]:
        """Dotted names of the model's functions that the table depends on."""
        return [f"localentropy.replica.{self.ensemble.model}:{function}" for function in self.FUNCTIONS]
