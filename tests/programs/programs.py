"""Programs run whole, without the pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from localentropy.errors import ConfigError
from localentropy.pipeline.config import resolve
from localentropy.programs.parts.parameters import Context

CONTEXT = Context(seed=1, data=dict[str, Path](), report=lambda line: None)


def table(program: Any, context: Context = CONTEXT, /, **values: Any) -> pd.DataFrame:
    """The rows of all tasks of a program at these parameters, which the table notes as in the pipeline."""
    parameters = program.Parameters.of(values).model_validate(values)
    tables = [program.compute(parameters, task, context) for task in program.tasks(parameters)]
    rows = pd.concat(tables, ignore_index=True)
    rows.attrs["parameters"] = {"seed": context.seed, **parameters.model_dump(mode="json")}
    return rows


def refused(overrides: dict[str, Any], begins: str, parts: list[str]) -> None:
    """A configuration with these values is refused in one line, which begins so and has these parts."""
    with pytest.raises(ConfigError) as caught:
        resolve("smoke", overrides=overrides)
    message = str(caught.value)
    assert message.startswith(f"--config: {begins}") and "\n" not in message, message
    for part in parts:
        assert part in message, message
