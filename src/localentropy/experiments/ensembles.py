"""The ensembles of problems that the theory's programs take: each is a model of `localentropy.replica`, by its name."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Ensemble(BaseModel):
    """A model and what it takes besides its control parameters and margins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Literal["random_features"] = Field(description="the model, a module of localentropy.replica")
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")

    def theory(self, function: str, *arguments: Any, **named: Any) -> Any:
        """The value of one of the model's functions."""
        found = getattr(import_module(f"localentropy.replica.{self.model}"), function)
        return found(*arguments, **named, **self.model_dump(exclude={"model"}))

    def modules(self, *functions: str) -> list[str]:
        """Dotted names of the model's functions: what a table depends on that is computed with them."""
        return [f"localentropy.replica.{self.model}:{function}" for function in functions]
