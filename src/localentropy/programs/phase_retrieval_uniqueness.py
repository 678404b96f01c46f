"""Whether the teacher is the only zero of the loss, for as many quadratic units as inputs (glm, theorem 3.1).

Table: one row for each training set.

| column | |
|---|---|
| d, n, alpha | sizes; alpha = n/d of these sizes |
| sample | number of the training set |
| unique | 1 if the teacher is the only zero of the loss, else 0; each has a certificate |
| bound | on the largest smallest eigenvalue of the certificate's matrix, whose mean is 1; positive if unique |
| steps | Newton steps |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localentropy import seeds
from localentropy.programs.parts.parameters import Context, Task
from localentropy.programs.parts.phase_retrieval_sizes import GridParameters, sizes_and_loads

if TYPE_CHECKING:
    import pandas as pd


class Parameters(GridParameters):
    """Parameters of the training sets."""


tasks = sizes_and_loads


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the matrices of one training set."""
    from localentropy.landscape.unique_minimum import bytes_of

    grid = parameters.grids[task["grid"]]
    return bytes_of(grid.n(task["alpha"]), grid.d)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """A row for each training set, in the columns above."""
    import pandas as pd

    from localentropy.instances.generalized_linear import generalized_linear
    from localentropy.landscape.unique_minimum import unique_minimum

    grid = parameters.grids[task["grid"]]
    d, n = grid.d, grid.n(task["alpha"])
    rows = []
    for sample in range(grid.samples):
        root = seeds.child(context.seed, "instance", sample=sample)
        found = unique_minimum(generalized_linear(n, d, root, channel="absolute"))
        row = {"d": d, "n": n, "alpha": n / d, "sample": sample, "unique": float(found.unique)}
        rows.append(row | {"bound": found.margin, "steps": found.steps})
    table = pd.DataFrame(rows)
    context.report(f"{grid.words}, α = {n / d:g}: unique in {table['unique'].sum():.0f} of {grid.samples}")
    return table
