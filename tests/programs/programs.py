"""Programs run whole, without the pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from localentropy.programs.parts.parameters import Context

CONTEXT = Context(seed=1, data=dict[str, Path](), report=lambda line: None)
SIZES = {"chunks": 1, "threads": 1}


def table(program: Any, **values: Any) -> pd.DataFrame:
    """The rows of all tasks of a program at these parameters."""
    parameters = program.Parameters.of(values).model_validate(values | SIZES)
    rows = [program.compute(parameters, task, CONTEXT) for task in program.tasks(parameters)]
    return pd.concat(rows, ignore_index=True)
