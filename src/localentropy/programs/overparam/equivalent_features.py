"""Solutions on features of equal moments, and of other nonlinearities (overparam, appendices B.1 and F).

SBPI and simulated annealing on binary feature matrices beside Gaussian ones; annealing also on the Gaussian covariate
model, whose patterns are real, beside the ±1 features that it stands for, and on real features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import SIZE, Context, Task, given
from localentropy.programs.parts.perceptron_sizes import InstanceParameters, SizeGrid, grid_tasks, pattern_bytes, sizes

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.perceptron import Instance
    from localentropy.solvers.solution import Solution

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "sbpi": {"gaussian": {}, "binary": {"features": "binary"}},
    "anneal": {
        "gaussian": {},
        "binary": {"features": "binary"},
        "gaussian_covariate": {"gaussian_covariate": True},
        "tanh": {"activation": "tanh"},
        "tanh_binary": {"activation": "tanh", "features": "binary"},
        "erf": {"activation": "erf"},
    },
}
"""Solver → name of the kind of features → what makes them so."""


class Parameters(InstanceParameters):
    """Parameters of the comparison, all at margin 0."""

    sweeps: int = given(quantities.SWEEPS, "most sweeps of the annealing (C)")
    passes: int = given(quantities.PASSES, "most passes of SBPI (C)")
    sbpi: tuple[SizeGrid, ...] = Field(min_length=1, description="sizes and samples of SBPI", json_schema_extra=SIZE)
    anneal: tuple[SizeGrid, ...] = Field(
        min_length=1, description="sizes and samples of annealing", json_schema_extra=SIZE
    )
    test_patterns: int = given(quantities.PATTERNS, "fresh patterns of a test error", size=True)


def tasks(parameters: Parameters) -> list[Task]:
    """One solver, kind of features, size and sample each."""
    return [
        {"solver": solver, "features": features} | task
        for solver, kinds in VARIANTS.items()
        for features in kinds
        for task in grid_tasks(getattr(parameters, solver))
    ]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns and features."""
    return pattern_bytes(parameters.alpha_T, task)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One run.

    Returns:
        Columns solver, features, D, P, N, inv_alpha (N/P), sample, solved, test_error.
    """
    import pandas as pd

    from localentropy import seeds
    from localentropy.instances.perceptron import hidden_manifold

    D, solver, features, sample = task["D"], task["solver"], task["features"], task["sample"]
    P, N = sizes(parameters.alpha_T, D, task["inv_alpha"])
    # Independent instances for each kind of features: their means are compared with independent errors.
    seed = seeds.child(context.seed, f"instance/{solver}/{features}", sample=sample)
    instance = hidden_manifold(D, P, N, seed=seed, **VARIANTS[solver][features])
    solution = _solve(parameters, solver, instance, seed)
    error = instance.test_error(solution.weights, parameters.test_patterns)
    row = task | {"P": P, "N": N, "inv_alpha": N / P, "solved": float(solution.solved), "test_error": error}
    return pd.DataFrame([row])


def _solve(parameters: Parameters, solver: str, instance: Instance, seed: int) -> Solution:
    if solver == "sbpi":
        from localentropy.solvers.binary.sbpi import sbpi

        return sbpi(instance, seed=seed, passes=parameters.passes)
    from localentropy.solvers.binary.anneal import anneal

    return anneal(instance, seed=seed, sweeps=parameters.sweeps)
