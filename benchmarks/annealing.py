"""Nanoseconds per attempted flip of the annealing kernels, next to the work that no kernel can do without.

    python benchmarks/annealing.py

N = 1001 weights, P = 500 random patterns, one thread, CPU time, best of five. Number of errors: popcounts of one row.
Energies that see every pattern: the product of a row of ±1 with a vector of floats of single precision.
"""

from collections.abc import Callable

import numpy as np
from timing import fastest

from localentropy.instances.perceptron import Instance, random_patterns
from localentropy.numerics.bits import pack_signs
from localentropy.numerics.compiled import kernel
from localentropy.solvers.binary.anneal import Sweeps, energy_sweeper, sweeper
from localentropy.solvers.binary.bit_kernels import count_bits
from localentropy.solvers.binary.energies import energy_table

N, P, SWEEPS, REPEATS = 1001, 500, 1000, 5
REGIMES = {"hot": (0.5, 55.0), "warm": (1.0, 22.0), "cold": (3.0, 7.0)}
"""Inverse temperature, and the time per attempt that this kernel was to reach, in ns on a Zen 4 server."""


DENSE = {"linear": (0.05, 0.2, 0.5), "cross_entropy": (1.0, 3.0, 10.0)}
"""Energies that see every pattern: inverse temperatures."""
DENSE_TARGET = 0.17
"""ns per pattern and attempt; RRRMC.jl needs 3.24 (1620 ns per attempt at P = 500)."""


@kernel(fastmath=True)
def product_loop(patterns: np.ndarray, slopes: np.ndarray, attempts: int) -> float:
    """Product of one row with a vector per attempt, nothing else."""
    total = 0.0
    i = 0
    for _ in range(attempts):
        i += 619
        if i >= patterns.shape[0]:
            i -= patterns.shape[0]
        row = np.float32(0.0)
        for mu in range(slopes.size):
            row += slopes[mu] * patterns[i, mu]
        total += float(row)
    return total


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
    """Nanoseconds of an attempted flip."""
    return fastest(run, REPEATS) / (SWEEPS * N) * 1e9


def acceptance(
    instance: Instance, run: Sweeps, energies: Callable[[np.ndarray], np.ndarray], weights: np.ndarray, beta: float
) -> float:
    """Mean probability to accept a random flip, over a few configurations of the chain.

    energies takes the sums of the patterns, and gives the energy of each.
    """
    patterns = instance.signed_patterns.astype(int)
    errors = np.zeros(50, np.int64)
    accepted = []
    for _ in range(10):
        run(np.full(50, beta), False, errors)
        sums = patterns @ weights
        changes = energies(sums[:, None] - 2 * patterns * weights).sum(0) - energies(sums).sum()
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
        betas = np.full(SWEEPS, beta)
        run = sweeper(instance, 0.0, weights, stream)
        spent = best_time(lambda: run(betas, False, errors))  # noqa: B023
        fraction = acceptance(instance, run, lambda sums: sums < 1, weights, beta)
        print(
            f"{name}: beta {beta}, acceptance {100 * fraction:.2g} %: {spent:.2f} ns per attempt, "
            f"{spent / limit:.1f} times the popcount loop (to reach: {target:g} ns)"
        )

    patterns = np.ascontiguousarray(instance.signed_patterns.T).astype(np.float32)
    slopes = np.random.default_rng(0).standard_normal(P, np.float32)
    limit = best_time(lambda: product_loop(patterns, slopes, SWEEPS * N)) / P
    print(f"product with a row, float32: {limit:.4f} ns per pattern")
    for energy, inverse_temperatures in DENSE.items():
        table = energy_table(energy, N, P, 1, 1.0)
        for beta in inverse_temperatures:
            weights = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), N)
            stream = np.array([1, 0], np.uint64)
            run = energy_sweeper(instance, 0.0, weights, stream, energy, 1.0)
            schedule = np.full(SWEEPS, beta)
            spent = best_time(lambda: run(schedule, False, errors)) / P  # noqa: B023
            fraction = acceptance(
                instance,
                run,
                lambda sums: table.values[(sums + N + 2) // 2] * table.unit,  # noqa: B023
                weights,
                beta,
            )
            print(
                f"{energy}: beta {beta}, acceptance {100 * fraction:.2g} %: {spent:.4f} ns per pattern and attempt, "
                f"{spent / limit:.1f} times the product (to reach: {DENSE_TARGET:g} ns)"
            )


if __name__ == "__main__":
    main()
