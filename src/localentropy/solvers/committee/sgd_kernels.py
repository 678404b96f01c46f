"""Kernels of stochastic gradient descent on committee machines, for a CPU: one run at a time.

±1 patterns stay int8, so that those of one run fit in the cache of a core. They are read in the order of the epoch
without being copied.
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, REORDERED, kernel, subroutine
from localentropy.numerics.gaussian_kernels import exp
from localentropy.solvers.committee.kernels import add_all, errors_of, preactivations


@subroutine(fastmath=REORDERED)
def _step(weights: np.ndarray, gradient: np.ndarray, learning_rate: float) -> None:
    """A step down the gradient, then normalisation."""
    square = 0.0
    for i in range(weights.size):
        weights[i] -= learning_rate * gradient[i]
        square += weights[i] * weights[i]
    scale = 1.0 / math.sqrt(square)
    for i in range(weights.size):
        weights[i] *= scale


@kernel(fastmath=FUSED)
def epoch(
    patterns: np.ndarray,
    order: np.ndarray,
    batch: int,
    learning_rate: float,
    beta: float,
    gamma: float,
    weights: np.ndarray,
) -> tuple[int, float]:
    """One epoch of mini-batches, then the number of errors of the sign machine.

    Args:
        patterns: labels times patterns, int8 of ±1, [P, N].
        order: of the patterns in this epoch, [P].
        batch: patterns in a mini-batch; the last one may be shorter.
        learning_rate: η.
        beta: slope of the units tanh(βx).
        gamma: scale of the loss.
        weights: float64, [K, inputs_per_unit]; updated.

    Returns:
        Number of errors, and the loss: the sum over a mini-batch before its step, averaged over mini-batches.
    """
    P = order.size
    K, size = weights.shape
    most = min(batch, P)
    outputs, slopes, gradient = np.empty((most, K)), np.empty(most), np.empty((K, size))
    root = math.sqrt(K)
    loss, batches = 0.0, 0
    for start in range(0, P, batch):
        count = min(batch, P - start)
        batches += 1
        for b in range(count):
            preactivations(patterns[order[start + b]], weights, outputs[b])
        flat = outputs[:count].reshape(-1)
        for i in range(flat.size):
            flat[i] = 1.0 - 2.0 / (1.0 + exp(min(max(2.0 * beta * flat[i], -700.0), 700.0)))
        for b in range(count):
            slopes[b] = 0.0
            for unit in range(K):
                slopes[b] += outputs[b, unit]
        for b in range(count):
            argument = 2.0 * gamma * slopes[b] / root
            loss += (max(-argument, 0.0) + math.log1p(math.exp(-abs(argument)))) / (2.0 * gamma)
        for b in range(count):
            # f'(Δ) β/√K
            argument = min(max(2.0 * gamma * slopes[b] / root, -700.0), 700.0)
            slopes[b] = -beta / (root * (1.0 + exp(argument)))
        gradient[:] = 0.0
        for b in range(count):
            for unit in range(K):
                outputs[b, unit] = slopes[b] * (1.0 - outputs[b, unit] * outputs[b, unit])
        add_all(outputs[:count], patterns, order[start : start + count], gradient)
        for unit in range(K):
            _step(weights[unit], gradient[unit], learning_rate)
    return errors_of(patterns, weights), loss / batches
