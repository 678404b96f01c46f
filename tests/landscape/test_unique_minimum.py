"""Whether the teacher is the only zero of the loss: certificates of both kinds, and slow checks at few inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import null_space

from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import GeneralizedLinear, generalized_linear
from localentropy.landscape.unique_minimum import Uniqueness, unique_minimum


def problem(n: int, d: int, seed: int) -> GeneralizedLinear:
    return generalized_linear(n, d, seed, channel="absolute")


def has_certificate(found: Uniqueness, instance: GeneralizedLinear) -> bool:
    """Multipliers that show that there is no other zero: the conditions as they are written."""
    axis = instance.teacher / np.linalg.norm(instance.teacher)
    u = instance.inputs @ axis
    v = instance.inputs @ null_space(axis[None, :])
    weights = found.multipliers
    size = np.abs(weights).sum()
    exact = np.abs(weights @ u**2) < 1e-9 * size and np.abs((weights * u) @ v).max() < 1e-9 * size
    return bool(exact and np.linalg.eigvalsh((v * weights[:, None]).T @ v)[0] > 0)


def is_another_zero(found: Uniqueness, instance: GeneralizedLinear) -> bool:
    """A positive semidefinite matrix with the same labels that is not the teacher's."""
    squares = instance.labels**2
    outputs = np.einsum("ni,ij,nj->n", instance.inputs, found.other, instance.inputs)
    own = np.outer(instance.teacher, instance.teacher)
    apart = np.linalg.norm(found.other - own) / np.linalg.norm(own)
    lowest = np.linalg.eigvalsh(found.other)[0] / np.linalg.norm(own)
    off = np.abs(outputs - squares).max() / squares.max()
    return bool(off < 1e-8 * apart and apart > 1e-6 and lowest > -1e-12 * apart)


@pytest.mark.parametrize("d", [2, 3, 5, 20, 40])
def test_every_answer_has_its_certificate(d: int) -> None:
    answers = set()
    for alpha in (0.5, 1.0, 1.5, 2.0, 2.3, 3.0, 4.0):
        for seed in range(3):
            instance = problem(max(1, round(alpha * d)), d, seed)
            found = unique_minimum(instance)
            answers.add(found.unique)
            assert (found.margin > 0) is found.unique
            if found.unique:
                assert has_certificate(found, instance) and found.other.size == 0
            else:
                assert is_another_zero(found, instance) and found.multipliers.size == 0
    assert answers == {True, False}


def test_no_multipliers_are_better_than_the_bound() -> None:
    instance = problem(30, 18, 4)
    found = unique_minimum(instance)
    assert not found.unique and -1.0 < found.margin < 0.0
    axis = instance.teacher / np.linalg.norm(instance.teacher)
    u = instance.inputs @ axis
    v = instance.inputs @ null_space(axis[None, :])
    free = null_space(np.concatenate([(v * u[:, None]).T, (u**2)[None, :]]))
    traces = (v**2).sum(axis=1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        weights = free @ rng.standard_normal(free.shape[1])
        weights *= 17.0 / (weights @ traces)
        assert np.linalg.eigvalsh((v * weights[:, None]).T @ v)[0] <= found.margin


def by_search(instance: GeneralizedLinear) -> float:
    """The largest smallest eigenvalue, of norm 1, of C over all changes [[a, b], [b, C]] that keep every label.

    The changes are a space of one or two dimensions, which is searched point by point. If it is positive there is
    another zero, and if it is negative there is none.
    """
    d = instance.d
    axis = instance.teacher / np.linalg.norm(instance.teacher)
    x = instance.inputs @ np.concatenate([axis[:, None], null_space(axis[None, :])], axis=1)
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    rows = np.stack([x[:, i] * x[:, j] * (1.0 if i == j else 2.0) for i, j in pairs], axis=1)
    changes = null_space(rows)
    assert changes.shape[1] in (1, 2)
    angles = np.linspace(0.0, 2.0 * math.pi, 20001 if changes.shape[1] == 2 else 3)
    best = -math.inf
    for angle in angles:
        entries = changes @ np.array([math.cos(angle), math.sin(angle)])[: changes.shape[1]]
        matrix = np.zeros((d, d))
        for (i, j), entry in zip(pairs, entries, strict=True):
            matrix[i, j] = matrix[j, i] = entry
        best = max(best, float(np.linalg.eigvalsh(matrix[1:, 1:])[0]))
    return best


@pytest.mark.parametrize(("d", "n"), [(2, 2), (3, 4), (3, 5), (4, 8), (4, 9)])
def test_a_search_through_all_changes_finds_the_same(d: int, n: int) -> None:
    for seed in range(12):
        instance = problem(n, d, seed)
        best = by_search(instance)
        if abs(best) > 1e-3:  # the search has a finite step
            assert unique_minimum(instance).unique is (best < 0), (seed, best)


def test_few_inputs_are_never_enough_and_many_always_are() -> None:
    for d in (5, 15):
        assert not any(unique_minimum(problem(d, d, seed)).unique for seed in range(5))
        assert all(unique_minimum(problem(d * (d + 1) // 2, d, seed)).unique for seed in range(5))


def test_the_scale_and_the_frame_do_not_matter() -> None:
    instance = problem(26, 12, 3)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))[0]
    teacher = 7.0 * turn @ instance.teacher
    inputs = 0.1 * instance.inputs @ turn.T
    turned = GeneralizedLinear(inputs, np.abs(inputs @ teacher), teacher, "gaussian", "absolute", 0)  # type: ignore[arg-type]
    assert unique_minimum(turned).unique == unique_minimum(instance).unique


def test_signs_and_single_weights_are_refused() -> None:
    with pytest.raises(DomainError, match=r"channel = Sign\(\): allowed is Absolute\(\)"):
        unique_minimum(generalized_linear(8, 4, 0))
    with pytest.raises(DomainError, match="d = 1 is out of range"):
        unique_minimum(problem(3, 1, 0))
    with pytest.raises(DomainError, match="instance = list object"):
        unique_minimum([1.0])  # type: ignore[arg-type]
