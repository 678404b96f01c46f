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
SIZES = {"chunks": 1, "threads": 1}


def table(program: Any, **values: Any) -> pd.DataFrame:
    """The rows of all tasks of a program at these parameters."""
    parameters = program.Parameters.of(values).model_validate(values | SIZES)
    rows = [program.compute(parameters, task, CONTEXT) for task in program.tasks(parameters)]
    return pd.concat(rows, ignore_index=True)


def refused(overrides: dict[str, Any], begins: str, parts: list[str]) -> None:
    """A configuration with these values is refused in one line, which begins so and has these parts."""
    with pytest.raises(ConfigError) as caught:
        resolve("smoke", overrides=overrides)
    message = str(caught.value)
    assert message.startswith(f"--config: {begins}") and "\n" not in message, message
    for part in parts:
        assert part in message, message
