"""Speed of gradient descent on phase retrieval: python benchmarks/descent.py (half a minute, one thread).

CPU time of runs at once and of the same runs one after the other, medians of rounds in which both take turns. All make
the same number of steps. A step has two products with the inputs, which no batch can save: they bound the ratio.
"""

from __future__ import annotations

import torch
from timing import fastest, medians

from localentropy.instances.generalized_linear import generalized_linear
from localentropy.solvers.descent import Descent, descend_phase_retrieval

ROUNDS, ALPHA, TARGET = 5, 4, 5.0


def compare(d: int, units: int, runs: int, steps: int) -> None:
    instances = [generalized_linear(ALPHA * d, d, seed, channel="absolute") for seed in range(runs)]
    rule = Descent(iterations=steps, loss_tolerance=1e-300, speed_tolerance=1e-300)

    def together() -> None:
        descend_phase_retrieval(instances, units=units, seeds=range(runs), descent=rule)

    def in_turn() -> None:
        for seed, instance in enumerate(instances):
            descend_phase_retrieval([instance], units=units, seeds=[seed], descent=rule)

    at_once, sequential = medians(ROUNDS, together, in_turn) / (steps * runs)
    bare = min(products(d, units, group) for group in (1, 4, 16, runs))
    print(
        f"d = {d}, {units} units, {runs} runs: {1e6 * at_once:.1f} µs a step and run at once, "
        f"{1e6 * sequential:.1f} µs one by one, ratio {sequential / at_once:.1f}; to reach: {TARGET:g}; "
        f"at most {sequential / bare:.1f}, as the products alone take {1e6 * bare:.1f} µs"
    )


def products(d: int, units: int, group: int) -> float:
    """Seconds of the two products of a step and run, in a group of runs."""
    inputs, weights = torch.randn(group, ALPHA * d, d).double(), torch.randn(group, units, d).double()

    def both() -> None:
        torch.bmm(torch.bmm(weights, inputs.transpose(1, 2)), inputs)

    return fastest(both, 5, max(1, 2000 // group)) / group


if __name__ == "__main__":
    torch.set_num_threads(1)
    compare(20, 1, 200, 200)
    compare(50, 1, 100, 200)
    compare(100, 1, 40, 200)
    compare(20, 20, 50, 100)
    compare(50, 50, 20, 100)
