"""Speed of what is measured around solutions: python benchmarks/landscape.py (a few seconds, one thread).

Dress against coat, 500 patterns, 784 inputs, K = 9, around a solution of least-action learning; CPU time, medians of
rounds in which all take turns, so that a busy machine slows them alike.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from timing import medians

from localentropy.data.embedded import read_embedded
from localentropy.instances.committee import FullCommittee, dress_coat_committee
from localentropy.landscape.committee_local_entropy import committee_local_entropy
from localentropy.landscape.hessian import largest_eigenvalue
from localentropy.solvers.committee.least_action import committee_least_action

K, BETA, UPDATES, ROUNDS = 9, 25.0, 4, 5


def weight_space(instance: FullCommittee) -> None:
    """What one update costs where it inverts the matrix of all weights of a unit: nothing else is done."""
    inputs = instance.data.signed_patterns / math.sqrt(instance.data.N)
    factors = np.linspace(-0.1, 1.0, instance.P)
    for _ in range(K):
        matrix = inputs.T @ (factors[:, None] * inputs) + 25.0 * np.eye(instance.data.N)
        covariance = np.linalg.inv(matrix)
        np.sum((inputs @ covariance) * inputs, axis=1)


def automatic(instance: FullCommittee, weights: np.ndarray) -> float:
    """The largest eigenvalue with products by torch, as one writes it: the gradient of gradient times vector."""
    patterns = torch.from_numpy(instance.data.signed_patterns.astype(np.float64))
    units = torch.from_numpy(weights).requires_grad_()
    output = torch.tanh(torch.tanh(BETA * patterns @ units.T).sum(1) / math.sqrt(K))
    (gradient,) = torch.autograd.grad(((1.0 - output) ** 2).mean(), units, create_graph=True)

    def product(vector: np.ndarray) -> np.ndarray:
        along = torch.from_numpy(vector.reshape(weights.shape))
        (bend,) = torch.autograd.grad(gradient, units, along, retain_graph=True)
        return bend.numpy().ravel()

    operator = LinearOperator((weights.size, weights.size), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(weights.size)
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def main() -> None:
    torch.set_num_threads(1)
    dataset = read_embedded("dress_coat", Path(__file__).parents[1] / "data")
    instance = dress_coat_committee(dataset, K)
    weights = committee_least_action(instance, seed=0, learning_rate=1e-4).weights

    def entropy(updates: int) -> None:
        committee_local_entropy(instance, weights, distances=[0.02], max_iterations=updates)

    one, more, plain = medians(ROUNDS, lambda: entropy(1), lambda: entropy(1 + UPDATES), lambda: weight_space(instance))
    update = (more - one) / UPDATES
    print(
        f"expectation propagation, one update: {update:.2f} s (target 2), {update / plain:.2f} of inverting the "
        f"matrices of all weights, {plain:.2f} s; start and first update {one:.2f} s"
    )
    assert math.isclose(largest_eigenvalue(instance, weights, BETA), automatic(instance, weights), rel_tol=1e-9)
    ours, torchs = medians(
        ROUNDS, lambda: largest_eigenvalue(instance, weights, BETA), lambda: automatic(instance, weights)
    )
    print(
        f"largest eigenvalue of the Hessian, {instance.weights_count} weights: {ours:.2f} s, the same with products of "
        f"torch.autograd {torchs:.2f} s ({torchs / ours:.1f} times ours)"
    )


if __name__ == "__main__":
    main()
