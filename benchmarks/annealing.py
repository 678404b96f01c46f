"""Nanoseconds per attempted flip of the annealing kernel, next to the popcounts that no kernel can do without.

    python benchmarks/annealing.py

N = 1001 weights, P = 500 random patterns, one thread, CPU time, best of five.
"""

import math
import time
from collections.abc import Callable

import numpy as np

from localentropy.instances.bits import pack_signs
from localentropy.instances.perceptron import Instance, random_patterns
from localentropy.numerics.compiled import kernel
from localentropy.solvers.anneal import sweeper
from localentropy.solvers.bit_kernels import count_bits

N, P, SWEEPS, REPEATS = 1001, 500, 1000, 5
REGIMES = {"hot": (0.5, 55.0), "warm": (1.0, 22.0), "cold": (3.0, 7.0)}
"""Inverse temperature, and the time per attempt that this kernel was to reach, in ns on a Zen 4 server."""


@kernel
def popcount_loop(bits: np.ndarray, mask: np.ndarray, attempts: int) -> np.uint64:
    """AND and popcount of one row per attempt, nothing else."""
    count = np.uint64(0)
    i = np.uint64(0)
    size = np.uint64(bits.shape[0])
    for _ in range(attempts):
        i += np.uint64(619)
        i -= size * np.uint64(i >= size)
        row = np.uint64(0)
        for j in range(mask.size):
            row += count_bits(bits[i, j] & mask[j])
        count += row
    return count


def best_time(run: Callable[[], object]) -> float:
    run()
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return min(times) / (SWEEPS * N) * 1e9


def acceptance(instance: Instance, weights: np.ndarray, stream: np.ndarray, beta: float) -> float:
    """Mean probability to accept a random flip, over a few configurations of the chain."""
    run, patterns = sweeper(instance, 0.0, weights, stream), instance.signed_patterns.astype(int)
    errors = np.zeros(50, np.int64)
    accepted = []
    for _ in range(10):
        run(np.full(50, math.exp(-beta)), False, errors)
        sums = patterns @ weights
        changes = (sums[:, None] - 2 * patterns * weights < 1).sum(0) - (sums < 1).sum()
        accepted.append(np.exp(-beta * np.maximum(changes, 0)).mean())
    return float(np.mean(accepted))


def main() -> None:
    instance = random_patterns(N=N, P=P, seed=0)
    bits = pack_signs(instance.signed_patterns.T)
    limit = best_time(lambda: popcount_loop(bits, bits[0], SWEEPS * N))
    print(f"popcount loop, {bits.shape[1]} words: {limit:.2f} ns")
    errors = np.zeros(SWEEPS, np.int64)
    for name, (beta, target) in REGIMES.items():
        weights = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), N)
        stream = np.array([1, 0], np.uint64)
        boltzmann = np.full(SWEEPS, math.exp(-beta))
        run = sweeper(instance, 0.0, weights, stream)
        spent = best_time(lambda: run(boltzmann, False, errors))  # noqa: B023
        fraction = acceptance(instance, weights, stream, beta)
        print(
            f"{name}: beta {beta}, acceptance {100 * fraction:.2g} %: {spent:.2f} ns per attempt, "
            f"{spent / limit:.1f} times the popcount loop (to reach: {target:g} ns)"
        )


if __name__ == "__main__":
    main()
