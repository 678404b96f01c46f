"""Approximate message passing that resolves the features' correlations, on the instances of the solvers' runs.

Its fixed points obey the replica theory of typical solutions, which belief propagation's do not (overparam, figures 2
and 9; docs/solvers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import SIZE, Context, Task, given
from localentropy.programs.parts.perceptron_sizes import Grid, InstanceParameters, grid_tasks, pattern_bytes, sizes

if TYPE_CHECKING:
    import pandas as pd


class Parameters(InstanceParameters):
    """Parameters of the runs."""

    damping: float = given(quantities.DAMPING, "share of the old fields that an update keeps (C)")
    max_iterations: int = given(quantities.STEPS, "most iterations (C)")
    tolerance: float = given(quantities.TOLERANCE, "largest change of a magnetization at convergence (C)")
    grids: tuple[Grid, ...] = Field(min_length=1, description="sizes, margins and samples", json_schema_extra=SIZE)
    test_patterns: int = given(quantities.PATTERNS, "fresh patterns of a test error", size=True)


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns and features."""
    return pattern_bytes(parameters.alpha_T, task)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One run.

    Returns:
        Columns D, P, N, inv_alpha (N/P), margin, margin_effective, sample, converged, overlap (the mean squared
        magnetization q), test_error_barycenter.
    """
    import pandas as pd

    from localentropy import seeds
    from localentropy.instances.perceptron import effective_margin, hidden_manifold
    from localentropy.solvers.amp import two_level_amp

    D, margin, sample = task["D"], task["margin"], task["sample"]
    P, N = sizes(parameters.alpha_T, D, task["inv_alpha"])
    # The stream of the solvers' runs: the same instances.
    seed = seeds.child(context.seed, "instance", sample=sample)
    instance = hidden_manifold(D, P, N, seed=seed)
    solution = two_level_amp(
        instance,
        margin=margin,
        seed=seed,
        damping=parameters.damping,
        max_iterations=parameters.max_iterations,
        tolerance=parameters.tolerance,
    )
    assert solution.magnetizations is not None
    measured = {
        "converged": float(bool(solution.converged)),
        "overlap": solution.overlap,
        "test_error_barycenter": instance.test_error(solution.magnetizations, parameters.test_patterns),
    }
    point = task | {"P": P, "N": N, "inv_alpha": N / P, "margin_effective": effective_margin(margin, N)}
    return pd.DataFrame([point | measured])
