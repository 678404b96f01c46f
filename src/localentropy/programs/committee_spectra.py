"""Hessian spectra at solutions of committee machines (shaping, figures 5 and 6), mean square error, tanh(βx) units.

It reads a table of solutions. A rule is a β, or it names algorithms. Then its β is the smallest of a grid from which on
the machine with tanh units solves what the sign machine solves, at all solutions of these algorithms. If one of them
has no such β on the grid, the rule has none, and there are no eigenvalues. Table: one row for each number.

| column | |
|---|---|
| rule, beta | name of the rule and its β; missing where the grid has none |
| algorithm, sample, alpha | of the solution |
| quantity | largest_eigenvalue, eigenvalue; smallest_beta of this solution alone, where the rule names its algorithm |
| rank | of an eigenvalue, from the smallest; else missing |
| value | missing for a smallest_beta above the grid |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.committee_problems import (
    OfSolutions,
    problem_and_weights,
    random_sizes,
    require_runs,
    runs_of,
)
from localentropy.programs.parts.parameters import Context, Task, bounds, given, require_order

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


Slope = Annotated[float, bounds(quantities.BETA)]


class Parameters(OfSolutions):
    """Parameters of the spectra."""

    rules: dict[str, Slope | tuple[str, ...]] = Field(
        min_length=1, description="rule → β itself, or the algorithms whose solutions must stay valid"
    )
    smallest_beta: float = given(quantities.BETA, "first β of the grid (C)")
    largest_beta: float = given(quantities.BETA, "last β of the grid (C)")
    betas: int = given(quantities.POINTS, "values of β, geometric between (C)")
    whole: bool = Field(description="whether all eigenvalues are computed, or the largest one only")

    def grid(self) -> np.ndarray:
        """The grid of β."""
        import numpy as np

        return np.geomspace(self.smallest_beta, self.largest_beta, self.betas)

    @model_validator(mode="after")
    def _increasing(self) -> Self:
        require_order(self, "smallest_beta", "largest_beta")
        return self


def check_sources(parameters: Parameters, sources: Mapping[str, Any]) -> None:
    """Refuse runs that the table of solutions will not have.

    Raises:
        ValueError: naming what there is.
    """
    made = sources[parameters.solutions]
    named = {f"rules.{name}": rule for name, rule in parameters.rules.items() if isinstance(rule, tuple)}
    require_runs(parameters.solutions, made, parameters.samples, named)


def tasks(parameters: Parameters) -> list[Task]:
    """All solutions of one sample at the β of one rule."""
    return [{"rule": rule, "sample": sample} for rule in parameters.rules for sample in range(parameters.samples)]


def memory(parameters: Parameters, task: Task, sources: Mapping[str, Any]) -> int:
    """Bytes of random patterns, and of the Hessian where all its eigenvalues are computed: images are few."""
    N, P = random_sizes(sources[parameters.solutions])
    return 8 * N * (P + N if parameters.whole else P)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one sample, in the columns above."""
    import numpy as np
    import pandas as pd

    from localentropy.landscape.hessian import hessian_eigenvalues, largest_eigenvalue, smallest_valid_beta

    name, grid = task["rule"], parameters.grid()
    rule, runs = parameters.rules[name], runs_of(context, parameters.solutions, parameters.samples)
    beta, least = rule if isinstance(rule, float) else np.nan, {}
    if isinstance(rule, tuple):
        of_rule = [runs_of(context, parameters.solutions, parameters.samples, each) for each in rule]
        for run in pd.concat(of_rule).itertuples():
            if run.solved:
                least[run.Index] = smallest_valid_beta(*problem_and_weights(context, parameters.solutions, run), grid)
        # NaN if it is missing for one solution: no β of the grid is valid at all of them.
        beta = np.max([*least.values()]) if least else np.nan
    frames = []
    for run in runs[(runs["sample"] == task["sample"]) & (runs["solved"] == 1)].itertuples():
        place = {"rule": name, "beta": beta, "algorithm": run.algorithm, "sample": run.sample, "alpha": run.alpha}
        if run.Index in least:
            frames.append(pd.DataFrame([place | {"quantity": "smallest_beta", "value": least[run.Index]}]))
        if np.isnan(beta):
            continue
        instance, weights = problem_and_weights(context, parameters.solutions, run)
        if parameters.whole:
            values = hessian_eigenvalues(instance, weights, beta)
            frames.append(pd.DataFrame(place | {"quantity": "eigenvalue", "rank": range(len(values)), "value": values}))
            largest = values[-1]
        else:
            largest = largest_eigenvalue(instance, weights, beta)
        frames.append(pd.DataFrame([place | {"quantity": "largest_eigenvalue", "value": largest}]))
    found = "no β of the grid is valid at all solutions" if np.isnan(beta) else f"β = {beta:.3g}"
    context.report(f"rule {name}, sample {task['sample']}: {found}")
    columns = {"rule": "str", "beta": "float64", "algorithm": "str", "sample": "int64", "alpha": "float64"}
    columns |= {"quantity": "str", "rank": "Int64", "value": "float64"}
    table = pd.concat(frames) if frames else pd.DataFrame()
    return table.reindex(columns=list(columns)).astype(columns)
