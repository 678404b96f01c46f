"""The parity machine: its output is the product of its units. Solutions of it that are made by hand.

Source: `shaping`, section "Not All Devices Are Appropriate"; docs/shaping/theory.md, the parity machine.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from localentropy import seeds
from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, check_committee


def parity_solves(instance: Committee, weights: np.ndarray) -> np.ndarray:
    """Whether the product of the units is the label of every training pattern.

    A unit whose pre-activation is exactly zero has no sign, and the product is no label.

    Args:
        instance: the patterns; K is odd, so the labels may be taken into the pre-activations of all units.
        weights: [K, inputs_per_unit] or [students, K, inputs_per_unit].

    Returns:
        bool, one value or [students].

    Raises:
        DomainError: no committee with ±1 patterns; weights of another shape or not finite.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.landscape.parity import parity_solution, parity_solves
        >>> machine = random_tree_committee(N=99, P=40, K=3, seed=0)
        >>> bool(parity_solves(machine, parity_solution(machine, seed=0)))
        True
    """
    check_committee(instance)
    outputs = np.sign(instance.preactivations(weights)).prod(axis=-1)
    solved: np.ndarray = (outputs > 0.0).all(axis=-1)
    return solved


def parity_solution(instance: Committee, seed: int) -> np.ndarray:
    """Weights of the parity machine that solve all patterns: the largest margins of random internal representations.

    The signs of all units but one are drawn at random for each pattern. The label gives the last one. So each unit is a
    perceptron with P random labels, whose weights of largest margin are found exactly. For large units they exist
    below the load P / inputs_per_unit = 2, which is alpha = 2/K on a tree.

    Args:
        instance: ±1 patterns.
        seed: root seed.

    Returns:
        Units of norm 1, [K, inputs_per_unit].

    Raises:
        DomainError: no committee with ±1 patterns; a unit that cannot have its signs.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.landscape.parity import parity_solution, parity_solves
        >>> instance = random_tree_committee(N=99, P=30, K=3, seed=1)
        >>> bool(parity_solves(instance, parity_solution(instance, seed=1)))
        True
    """
    check_committee(instance)
    stream = seeds.generator(seed, "parity_solution", N=instance.weights_count, P=instance.P)
    signs = stream.choice([-1.0, 1.0], size=(instance.units, instance.P))
    # The label is in the inputs of every unit, so the product of all signs is 1.
    signs[0] = signs[1:].prod(axis=0)
    units = zip(instance.unit_inputs, signs, strict=True)
    return np.array([_largest_margin(inputs * own[:, None]) for inputs, own in units])


def _largest_margin(patterns: np.ndarray) -> np.ndarray:
    """Weights w of norm 1 with the largest smallest w·ξ over patterns [P, n], by their dual.

    The shortest w with w·ξ ≥ 1 is -r[:n] / r[n] of the rest r = A u - b of the least squares with u ≥ 0, where the
    columns of A are (ξ, 1), and b = (0, 1) (least distance programming).

    Raises:
        DomainError: no w has w·ξ > 0 for all patterns.
    """
    columns = np.vstack([patterns.T, np.ones(len(patterns))])
    target = np.zeros(len(columns))
    target[-1] = 1.0
    multipliers, _ = nnls(columns, target, maxiter=100 * len(patterns))
    rest = columns @ multipliers - target
    norm = float(np.linalg.norm(rest[:-1]))
    weights = rest[:-1] / norm if norm > 1e-9 else rest[:-1]
    if not (patterns @ weights > 0.0).all():
        P, n = patterns.shape
        raise DomainError(
            f"P = {P} patterns: a unit of {n} inputs cannot have the signs that were drawn; most can up to P = {2 * n}"
        )
    return weights
