"""What a run of every solver with a random start begins and ends with."""

from __future__ import annotations

import numpy as np

from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, unit_norm
from localentropy.seeds import generator
from localentropy.solvers.solution import Solution


def random_start(
    instance: Committee, seed: int, algorithm: str, replicas: int = 1
) -> tuple[np.ndarray, np.random.Generator]:
    """Initial weights, uniform in [−1, 1] and then normalised, and the generator of the orders of the patterns.

    Args:
        instance: the problem.
        seed: root seed of the run.
        algorithm: name of the stream, `algorithm/<this>`.
        replicas: machines.

    Returns:
        [replicas, K, inputs_per_unit], with norm 1 for each unit, and the generator.

    Raises:
        DomainError: units with one input.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.committee.runs import random_start
        >>> weights, stream = random_start(random_tree_committee(N=99, P=20, K=3, seed=0), 0, "own", replicas=5)
        >>> weights.shape
        (5, 3, 33)
    """
    K, size = instance.units, instance.inputs_per_unit
    if size < 2:
        raise DomainError("inputs_per_unit = 1: one weight of norm 1 is a sign and cannot move; allowed are at least 2")
    stream = generator(seed, f"algorithm/{algorithm}", K=K, N=instance.weights_count, P=instance.P)
    return unit_norm(stream.uniform(-1.0, 1.0, (replicas, K, size))), stream


def solution(
    instance: Committee, weights: np.ndarray, errors: list[int], cpu_seconds: float, converged: bool | None = None
) -> Solution:
    """What a run returns.

    Args:
        instance: the problem.
        weights: the weights it ended with, [K, inputs_per_unit].
        errors: number of patterns in error, at the start and after every epoch.
        cpu_seconds: processor time.
        converged: whether it reached the tolerance of its stop rule, if it has one.

    Returns:
        The weights with units of norm 1, and the train errors as fractions.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.committee.runs import solution
        >>> machine = random_tree_committee(N=99, P=20, K=3, seed=0)
        >>> ended = solution(machine, np.ones((3, 33)), errors=[12, 8], cpu_seconds=0.1)
        >>> ended.solved, ended.iterations, ended.train_errors.tolist()
        (False, 1, [0.6, 0.4])
    """
    weights = unit_norm(weights.astype(np.float64))
    return Solution(
        weights=weights,
        solved=instance.train_error(weights) == 0.0,
        iterations=len(errors) - 1,
        train_errors=np.array(errors) / instance.P,
        cpu_seconds=cpu_seconds,
        converged=converged,
    )
