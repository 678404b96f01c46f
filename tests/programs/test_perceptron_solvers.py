"""Options of the solvers in configurations."""

from __future__ import annotations

import inspect

import pytest

from localentropy import solvers
from localentropy.programs.parts.perceptron_solvers import OPTIONS
from localentropy.programs.solve import Parameters


@pytest.mark.parametrize("solver", solvers.MODULES)
def test_options_are_arguments_of_the_solver_and_fields_of_its_parameters(solver: str) -> None:
    arguments = inspect.signature(getattr(solvers, solver)).parameters
    fields = Parameters.of({"solver": solver}).model_fields
    assert len(OPTIONS[solver]) > 0
    for option in OPTIONS[solver]:
        default = arguments[option.name].default
        assert type(default) is option.type and option.has(default)
        assert fields[option.name].annotation is option.type
    others = set(fields) - set(Parameters.model_fields)
    assert others == {option.name for option in OPTIONS[solver]}
